"""`wirelab exact`: every pattern of lost packets instead of a sample."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from wirelab.cli.arguments import DurationType, QuantityType, load_source, message_sets, set_option
from wirelab.cli.campaigns import RESULTS, not_an_option
from wirelab.errors import Where, WirelabError
from wirelab.launcher import launched
from wirelab.schema.exact import ENUMERATED
from wirelab.units import UnitError, format_duration, format_share, share

if TYPE_CHECKING:
    from wirelab.enumeration.answer import Grown
    from wirelab.enumeration.loss import Loss, State
    from wirelab.enumeration.question import Question
    from wirelab.enumeration.search import Asked
    from wirelab.enumeration.single import Singles
    from wirelab.enumeration.tree import Pattern
    from wirelab.experiment.experiment import Experiment
    from wirelab.runner.exact import Found
    from wirelab.schema.exact import Exact
    from wirelab.schema.link_answer import AskLink
    from wirelab.schema.plan import Plan
    from wirelab_energy import Radio

MESSAGE = "message"
"""The shipped experiment that is enumerated if none is named."""
PAGE = "exact.html"
LOSSES = ("1 %", "2 % within 0.5 %")
BEYOND_S = (0.2, 1.0, 5.0)
WITHIN = 1e-3
BUDGET_NS = 180 * 10**9


class DurationsType(click.ParamType[tuple[int, ...]]):
    """Durations with their units, as nanoseconds, ascending."""

    name = "durations"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Read `200 ms, 1 s`."""
        if not isinstance(value, str):
            return tuple(value)
        each = DurationType("s")
        return tuple(sorted({each.convert(text.strip(), param, ctx) for text in value.split(",")}))


@click.command("exact", short_help="Enumerate lost packets: exact probabilities of long delays.")
@click.argument("experiment", metavar="[FILE|CAMPAIGN]", required=False)
@click.option("--protocols", metavar="NAME,...", help="Protocols to enumerate, instead of the experiment's.")
@click.option(
    "--link", metavar="DURATION|NAME", help="A round trip such as '20 ms', or a link that `list links` names."
)
@click.option("--send", metavar="SIZE", help="Bytes of the message, such as 30B.")
@set_option
@click.option(
    "--loss", "losses", multiple=True, metavar="RATE|TABLE",
    help="A loss each way that probabilities are bounded for, or keys of a link, such as "
    "'{ uplink.loss = \"2 %\" }'. May be repeated.  [1 %, and 2 % within 0.5 %; of a campaign its own losses]",
)  # fmt: skip
@click.option(
    "--beyond", type=DurationsType(), metavar="DURATION,...", default="200 ms, 1 s, 5 s", show_default=True,
    help="Delays: how probable is it that an exchange takes longer?",
)  # fmt: skip
@click.option(
    "--within", type=QuantityType("share", share), metavar="SHARE", default="0.1 %", show_default=True,
    help="How far apart the bounds of a probability may be, unless --loss says it.",
)  # fmt: skip
@click.option(
    "--state", type=click.Choice(["stationary", "good", "bad"]), default="stationary", show_default=True,
    help="State of Gilbert-Elliott loss at the first packet.",
)  # fmt: skip
@click.option("--seeds", type=click.IntRange(1, 1000), default=1, show_default=True, metavar="N",
              help="Seeds of random choices inside the programs; probabilities are exact for each.")  # fmt: skip
@click.option(
    "--budget", type=DurationType("min"), metavar="DURATION", default="3 min", show_default=True,
    help="Stop after about this long. What is left open is sampled in its last quarter.",
)  # fmt: skip
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
    help="Folder for all results.  [results/exact-NAME]",
)  # fmt: skip
@click.option(
    "--jobs", "-j", type=click.IntRange(1, 256), metavar="N", help="Runs at a time.  [chosen for this machine]"
)
@click.option("--json", "as_json", is_flag=True, help="Print exact.json instead of the tables.")
def command(  # noqa: PLR0913, PLR0917 (one parameter for each option)
    experiment: str | None,
    protocols: str | None,
    link: str | None,
    send: str | None,
    sets: tuple[str, ...],
    losses: tuple[str, ...],
    beyond: tuple[int, ...],
    within: float,
    state: Literal["stationary", "good", "bad"],
    seeds: int,
    budget: int,
    out: Path | None,
    jobs: int | None,
    *,
    as_json: bool,
) -> int:
    """Run one exchange again and again under the virtual clock, each time with other packets lost.

    It goes on until each probability of a long delay is bounded as narrowly as --within and --loss ask. The same runs
    have bounds for every loss rate. It says what the loss of each packet costs, the worst case within few losses, and
    from which loss rate on another protocol is better. FILE is a path, or the name of a shipped experiment. The loss of
    its links is enumerated too. Of CAMPAIGN the results are kept in its folder, and `analyze` and `report` show them
    next to its sample. Exits with 1 if a run failed, or was no function of the packets that were lost.
    """
    from wirelab.limits import require_limits
    from wirelab.report.exact.page import write_exact

    require_limits(starts=True)
    source = Path(experiment or MESSAGE)
    kept = source / ENUMERATED if source.is_dir() else RESULTS / f"exact-{source.stem}"
    folder = kept if out is None else not_an_option(out)
    beyond_s = tuple(delay / 1e9 for delay in sorted(beyond))
    options = Options(losses or (() if source.is_dir() else LOSSES), beyond_s, within, state, seeds, budget)
    given = message_sets(sets, protocols=protocols, link=link, send=send)
    record = enumerated(experiment or MESSAGE, given, options, folder, jobs)
    text = write_exact(record, folder, PAGE)
    if as_json:
        click.echo(text)
    else:
        from wirelab.report.exact.words import lines

        for line in lines(record):
            click.echo(line)
        click.echo(f"Page    {folder / PAGE}")
        click.echo(f"Next    {launched(f'show {shlex.quote(str(folder))} --cost')}")
        if source.is_dir() and folder == kept:
            campaign = shlex.quote(str(source))
            click.echo(f"        {launched(f'analyze {campaign}')}; {launched(f'report {campaign}')}")
    return 0


@dataclass(frozen=True)
class Options:
    """What the options ask for. `beyond_s` is ascending."""

    losses: tuple[str, ...]
    beyond_s: tuple[float, ...]
    within: float = WITHIN
    state: State = "stationary"
    seeds: int = 1
    budget_ns: int = BUDGET_NS


def enumerated(experiment: str, sets: Sequence[str], options: Options, folder: Path, jobs: int | None) -> Exact:
    """Run what the bounds need, and make the record of it."""
    from wirelab.enumeration.question import questions
    from wirelab.enumeration.single import singles
    from wirelab.link_facts import asking
    from wirelab.plan import make_plan
    from wirelab.runner.campaign import require_makeable
    from wirelab.schema import Clock

    loaded = load_source(experiment, sets)
    if loaded.source.document.get("clock") == Clock.LIVE:
        what = "in real time no run repeats another: a difference would not be that of a lost packet"
        raise WirelabError(what, loaded.source.where(("clock",)), 'clock = "virtual"')
    with asking() as ask:
        given = dict(_asked(text, ask, options) for text in options.losses)
        single = singles(loaded, ask, options.seeds, options.state)
    plan = make_plan(single.experiment)
    require_makeable(folder)
    _require_within_timeout(plan, options.beyond_s[-1])
    asked = questions(plan, single, given, options.beyond_s, options.within)
    if not asked:
        what = "no link of the experiment loses packets, and no loss is given"
        raise WirelabError(what, loaded.source.where(("link",)), "--loss '1 %'")
    found = _runs_of(loaded, plan, asked, folder, (options.budget_ns / 1e9, jobs))
    return _record(loaded, plan, found, (single, options.beyond_s, folder))


def _runs_of(
    loaded: Experiment, plan: Plan, asked: Sequence[Question], folder: Path, limits: tuple[float, int | None]
) -> Found:
    """All runs, with their progress shown. `limits` are the budget in seconds, and how many run at a time."""
    from rich.console import Console

    from wirelab.cli.progress import LiveLine
    from wirelab.cli.terminate import terminated_as_interrupted
    from wirelab.metrics.draws import draws_of
    from wirelab.runner.exact import How, enumerate_losses
    from wirelab.runner.start import virtual_jobs

    budget_s, jobs = limits
    with terminated_as_interrupted() as check, LiveLine(Console(stderr=True, highlight=False)) as line:

        def tell(runs: int, elapsed_s: float, urgency: float, doing: str) -> None:
            check()
            apart = f"the widest bounds are {urgency:.3g} times as far apart as they may be"
            far = "bounded" if urgency <= 1 else apart if math.isfinite(urgency) else "not yet bounded"
            words = f"{runs} runs, {doing}: {far}"
            line.show(min(1.0, 1 / max(urgency, 1e-9)), words, elapsed_s)

        how = How(budget_s, jobs or virtual_jobs(plan).number, draws_of, tell, loaded.source.folder)
        return enumerate_losses(plan, folder, asked, how)


def _record(loaded: Experiment, plan: Plan, found: Found, asked: tuple[Singles, Sequence[float], Path]) -> Exact:
    """The record of what was found, with what the runs' folders say of packets."""
    from wirelab.enumeration import answer
    from wirelab.enumeration.record import About, record
    from wirelab.metrics.draws import words_of
    from wirelab.report.sections.plan import link_words
    from wirelab.report.workload_words import workload_words

    single, beyond_s, folder = asked
    radios = [_radio(loaded, plan, each) for each in found.grown]
    scenarios = [
        answer.scenario(each, words_of(folder, each.trial), _joules(each, radio, folder))
        for each, radio in zip(found.grown, radios, strict=True)
    ]
    about = About(
        links=[*map(link_words, single.links)],
        workloads=[workload_words(scenario.workload) for scenario in plan.scenarios],
        kernel=f"{found.kernel.version} (virtual clock)",
        radios=[radio.label for radio in radios if radio is not None],
        seconds=found.seconds,
    )
    return record(plan, found.grown, scenarios, beyond_s, about)


def _radio(loaded: Experiment, plan: Plan, grown: Grown) -> Radio | None:
    """That of the client on its link."""
    from wirelab.metrics.energy_settings import Settings

    energy = plan.experiment.energy
    if loaded.energy is None or energy is None:
        return None
    scenario = next(each for each in plan.scenarios if each.name == grown.name)
    equipment = Settings.of(energy, loaded.energy.files(loaded.source.folder)).of_link(scenario.link_name)
    return None if equipment is None else equipment.radio


def _joules(grown: Grown, radio: Radio | None, folder: Path) -> dict[Pattern, float]:
    """What the packets of each kept run cost a radio; nothing without one."""
    from wirelab.metrics.radio import joules_of

    if radio is None:
        return {}
    return dict(zip(grown.kept, joules_of(folder, [*grown.kept.values()], radio), strict=True))


def _asked(text: str, ask: AskLink, options: Options) -> tuple[str, Asked]:
    """A loss that was asked for, with its name: `2 %`, or `2 % within 0.5 %`."""
    from wirelab.enumeration.search import Asked

    written, separator, apart = text.rpartition(" within ")
    if text.rstrip().endswith(" within"):
        raise WirelabError(f"does not say within what ({text})", Where("--loss"), "'2 % within 0.5 %'")
    try:
        within = share(apart.strip()) if separator else options.within
    except UnitError as error:
        raise WirelabError(f"{apart} {error}", Where("--loss"), error.hint or "'2 % within 0.5 %'") from None
    if not within:
        raise WirelabError(f"bounds are never 0 apart ({text})", Where("--loss"), "'2 % within 0.5 %'")
    name, loss = _loss(written if separator else text, ask, options.state)
    return name, Asked(loss, within)


def _loss(text: str, ask: AskLink, state: State) -> tuple[str, Loss]:
    """The loss of a rate, or of the keys of a link, with its name."""
    from wirelab.enumeration.link import NotEnumerableError, loss_of
    from wirelab.experiment.link.single import single_link
    from wirelab.report.sections.plan import link_words

    is_table = text.lstrip().startswith("{")
    try:
        facts = ask(single_link(text if is_table else f'{{ loss = "{text}" }}', (), ask))
        found = loss_of(facts, state)
    except NotEnumerableError as refusal:
        raise WirelabError(f"{refusal.what} ({text})", Where("--loss"), refusal.hint) from None
    except WirelabError as error:
        key = error.where.key if isinstance(error.where, Where) else None
        hint = error.hint or "such as '2 %', or keys of a link: '{ uplink.loss = \"2 %\" }'"
        raise WirelabError(error.what, Where("--loss", key=key), hint) from None
    if found is None:
        raise WirelabError(f"loses nothing ({text})", Where("--loss"), "such as --loss '1 %'")
    return link_words(facts) if is_table else format_share(share(text)), found


def _require_within_timeout(plan: Plan, longest_s: float) -> None:
    """An exchange that timed out is longer than any delay up to its time-out, and than no other for sure."""
    for scenario in plan.scenarios:
        if scenario.workload.timeout_ns < longest_s * 1e9:
            timeout = format_duration(scenario.workload.timeout_ns)
            what = f"{format_duration(round(longest_s * 1e9))} is beyond the time-out of {scenario.name}, {timeout}"
            longer = format_duration(round(longest_s * 1e9)).replace(" ", "")
            raise WirelabError(what, Where("--beyond"), f"--set workload.timeout={longer}")
