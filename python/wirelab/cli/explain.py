"""`wirelab explain`: why one scenario takes longer than another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wirelab.cli.arguments import load, load_source, message_sets, set_option
from wirelab.cli.campaigns import RESULTS, not_an_option
from wirelab.errors import WirelabError, did_you_mean
from wirelab.launcher import launched

if TYPE_CHECKING:
    from rich.console import Console

    from wirelab.answer.explain import Side, Swapped
    from wirelab.experiment.experiment import Experiment
    from wirelab.experiment.grid.scenario import Scenario
    from wirelab.schema.explain import Explained, Mean
    from wirelab.schema.explain import Side as SideRecord
    from wirelab.schema.plan import Plan
    from wirelab.stats.dataset import Dataset

MESSAGE = "message"
"""The shipped experiment that is explained if none is named."""
DEFAULTS = {"workload.exchanges": "100", "stop.replicates": "10"}
"""Of it, unless --set says otherwise: means under loss need more exchanges than an enumeration."""
PAGE = "explain.html"
CAMPAIGN = "explain-"
"""Before the experiment's name in that of the campaign: its folder is of nothing else."""
NAME_LETTERS = 60
"""Of each scenario in the folder's name, which the file system limits."""
_UNSAFE = re.compile(r"[^A-Za-z0-9.]+")
SOME_TRIALS = 10
"""Of each scenario, where the experiment has a range."""


@click.command("explain", short_help="Split the difference of two scenarios by what causes it.")
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option(
    "--of", "source", metavar="FILE|CAMPAIGN",
    help="The experiment that has the scenarios A and B.  [one message over a new connection]",
)  # fmt: skip
@click.option(
    "--link", metavar="DURATION|NAME", help="A round trip such as '20 ms', or a link that `list links` names."
)
@click.option("--loss", metavar="RATE", help="Loss of the link each way, such as '2 %'.")
@click.option("--send", metavar="SIZE", help="Bytes of the message, such as 30B.")
@set_option
@click.option(
    "--clock", type=click.Choice(["live", "virtual"]),
    help="What measures the time, whatever the experiment says. A limit on CPU time needs `live`.  [virtual]",
)  # fmt: skip
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
    help="Folder for all results.  [results/explain-NAME-A-B]",
)  # fmt: skip
@click.option(
    "--jobs", "-j", type=click.IntRange(1, 256), metavar="N", help="Trials at a time.  [chosen for this machine]"
)
@click.option("--json", "as_json", is_flag=True, help="Print explain.json instead of the tables.")
def command(  # noqa: PLR0913, PLR0917 (one parameter for each option)
    first: str,
    second: str,
    source: str | None,
    link: str | None,
    loss: str | None,
    send: str | None,
    sets: tuple[str, ...],
    clock: str | None,
    out: Path | None,
    jobs: int | None,
    *,
    as_json: bool,
) -> int:
    """Split the difference of two means by phase and cause.

    A and B are protocols, or scenarios of an experiment by their names or by a level that only they have. Both run with
    each set of what their link does taken away: propagation, rate, loss, and so on. What a cause contributes is
    averaged over all orders of taking causes away, so that the shares sum to the difference. What is left over a link
    that does nothing is called unexplained. Exits with 1 if a scenario has no completed exchange.
    """
    from rich.console import Console

    from wirelab.limits import require_limits
    from wirelab.report.explain.page import write_explained

    require_limits(starts=True)
    given = [*sets, *message_sets(None, link, send), *([] if loss is None else [f"link.loss={loss}"])]
    own = any(text.partition("=")[0].strip() == "clock" for text in given)
    if own and clock is not None:
        raise WirelabError("--clock and --set clock exclude each other", hint="remove one of them")
    given += [] if own else [f"clock={clock or 'virtual'}"]
    loaded = _experiment(source, (first, second), given)
    a, b = (_scenario(loaded, words) for words in (first, second))
    if a is b:
        raise WirelabError(f"A and B are one scenario: {a.name}", hint="name two that differ")
    names = "-".join(_UNSAFE.sub("-", each.name)[:NAME_LETTERS] for each in (a, b))
    folder = not_an_option(out) if out is not None else RESULTS / f"{CAMPAIGN}{loaded.name}-{names}"
    record = _explained(loaded, (a, b), folder, jobs, Console(stderr=True, highlight=False))
    text = write_explained(record, folder, PAGE)
    if as_json:
        click.echo(text)
    else:
        click.echo("\n".join(_lines(record)))
        click.echo(f"Page    {folder / PAGE}")
    return 0


def _experiment(source: str | None, names: Sequence[str], sets: list[str]) -> Experiment:
    """The experiment that has A and B."""
    from wirelab.schema import registered

    if source is None:
        known = {protocol.name for protocol in registered().protocols}
        own = {text.partition("=")[0].strip() for text in sets}
        sets = [*sets, *(f"{key}={value}" for key, value in DEFAULTS.items() if key not in own)]
        if known.intersection(names) and "protocol" not in own:
            sets.append(f"protocol={','.join(dict.fromkeys(names))}")
        return load(MESSAGE, sets)
    return load_source(source, sets)


def _scenario(experiment: Experiment, words: str) -> Scenario:
    """The scenario of this name, or the only one with this level."""
    from wirelab.experiment.grid.scenario import label

    named = [each for each in experiment.scenarios if each.name == words]
    found = named or [
        each for each in experiment.scenarios if words in {label(path, level) for path, level in each.levels.items()}
    ]
    names = [each.name for each in found or experiment.scenarios]
    if len(found) == 1:
        return found[0]
    if found:
        raise WirelabError(f"{words} may be {len(found)} scenarios", hint=f"name one of them: {_listed(names)}")
    hint = did_you_mean(words, names) or f"scenarios: {_listed(names)}"
    raise WirelabError(f"{experiment.source.shown} has no scenario {words}", hint=hint)


def _listed(names: Sequence[str]) -> str:
    most = 8
    quoted = [f"'{name}'" for name in names[:most]]
    return ", ".join(quoted) + (f", and {len(names) - most} more" if len(names) > most else "")


def _explained(
    loaded: Experiment, pair: tuple[Scenario, Scenario], folder: Path, jobs: int | None, console: Console
) -> Explained:
    """Run everything that the shares need, and split the difference."""
    from wirelab.answer.explain import MOST_CAUSES, Side, Swapped
    from wirelab.link_facts import asking
    from wirelab.runner.start import require_clock
    from wirelab.schema import PageLoads
    from wirelab.schema.workload import RequestWorkload

    require_clock(loaded.clock)
    for scenario in pair:
        if not isinstance(scenario.workload, RequestWorkload | PageLoads):
            what = f"{scenario.name}: its exchanges have no phases ({scenario.workload.kind})"
            raise WirelabError(what, hint="explain request-response, telemetry or page")
        if len(scenario.links) > 1:
            raise WirelabError(f"{scenario.name} has several links", hint="explain a client, a link and a server")
    with asking() as ask:
        sides = tuple(Side.of(scenario, ask) for scenario in pair)
    if (most := max(len(side.causes) for side in sides)) > MOST_CAUSES:
        raise WirelabError(f"a link does {most} things to packets: more than {MOST_CAUSES} take too many runs",
                           hint="remove some of them")  # fmt: skip
    swapped = Swapped.of(*pair, loaded.scenarios)
    everything = [*pair, *swapped.mixed.values(), *(each for side in sides for each in side.scenarios())]
    distinct: dict[str, Scenario] = {}
    for each in everything:
        distinct.setdefault(each.digest(), each)
    plan, keys = _plan(loaded, [*distinct.values()])
    return _split(loaded, sides, swapped, _run(loaded, plan, folder, jobs, console), keys)


def _plan(loaded: Experiment, scenarios: Sequence[Scenario]) -> tuple[Plan, dict[str, str]]:
    """One plan of all, a campaign of its own, and its keys by the digests of scenarios."""
    from wirelab.answer import explain
    from wirelab.plan import make_plan
    from wirelab.schema import Clock, is_netem

    stop = loaded.stop.model_copy(update={"replicates": (_replicates(loaded),) * 2, "interval": None, "budget": None})
    # Captures say what bytes were spent on. They take CPU time, which counts under the live clock alone.
    capture = loaded.clock is Clock.VIRTUAL and not any(is_netem(each.link) for each in scenarios)
    own = replace(
        loaded, name=f"{CAMPAIGN}{loaded.name}", stop=stop, claims=None, factors={}, choices={}, interpretations={},
        scenarios=tuple(scenarios), capture=capture,
    )  # fmt: skip
    plan = make_plan(own)
    blocks = tuple(block.model_copy(update={"trials": explain.with_one_seed(block.trials)}) for block in plan.blocks)
    plan = plan.model_copy(update={"blocks": blocks})
    return plan, {each.digest(): planned.key for each, planned in zip(scenarios, plan.scenarios, strict=True)}


def _replicates(loaded: Experiment) -> int:
    """The experiment's own number; of a range a few."""
    least, most = loaded.stop.replicates
    return most if least == most else min(most, max(least, SOME_TRIALS))


def _run(loaded: Experiment, plan: Plan, folder: Path, jobs: int | None, console: Console) -> Dataset:
    """The measured campaign; a folder that has some of it is continued."""
    from wirelab.cli.run import How, run_trials
    from wirelab.metrics.dataset import measure
    from wirelab.runner.disk import faults_as_errors
    from wirelab.runner.lock import locked
    from wirelab.stats.dataset import Dataset

    run_trials(loaded, plan, folder, How(jobs=jobs, probes=False), console)
    with faults_as_errors(folder), locked(folder):
        measure(folder)
    return Dataset.read(folder)


def _split(
    loaded: Experiment, sides: Sequence[Side], swapped: Swapped, dataset: Dataset, keys: dict[str, str]
) -> Explained:
    from wirelab import __version__
    from wirelab.answer import explain
    from wirelab.answer.measured import measured
    from wirelab.errors import RunError
    from wirelab.schema.explain import EXPLAINED_VERSION, Explained

    found = measured(dataset, keys)
    first, second = sides
    replicates = explain.counted(sides, found)
    if not replicates:
        what = "no trial has a completed exchange in every scenario, so that nothing can be compared"
        raise RunError(what, hint=launched(f"show {dataset.folder}"))
    difference, shares = explain.shares(first, second, found, replicates)
    records = [_side(side, dataset, keys, (found.mean(side.scenario, replicates), len(replicates))) for side in sides]
    return Explained(
        schema_version=EXPLAINED_VERSION,
        version=__version__,
        experiment=loaded.name,
        title=loaded.title,
        clock=loaded.clock.value,
        first=records[0],
        second=records[1],
        difference_s=difference,
        shares=shares,
        levels=explain.of_levels(swapped, found),
        what_ifs=[each for side in sides for each in explain.what_ifs(side, found)],
        warnings=[*explain.warnings(records), *_lost_trials(dataset)],
    )


def _lost_trials(dataset: Dataset) -> Iterable[str]:
    for scenario in dataset.scenarios:
        outcomes = dataset.outcomes(scenario.key)
        if lost := outcomes["failed_trials"] + outcomes["excluded_trials"]:
            total = outcomes["trials"] + outcomes["excluded_trials"]
            yield f"{scenario.name}: {lost} of {total} trials failed, or are left out."
        if outcomes["failed"]:
            failed = f"{outcomes['failed']:,} of {outcomes['exchanges']:,} exchanges failed"
            yield f"{scenario.name}: {failed}. They have no time and are left out."


def _side(side: Side, dataset: Dataset, keys: dict[str, str], of: tuple[Mean, int]) -> SideRecord:
    from wirelab.answer.measured import energy, radio, spent
    from wirelab.report.sections.plan import link_words
    from wirelab.report.workload_words import workload_words
    from wirelab.schema.explain import Side as SideRecord

    scenario = side.scenario
    key = keys[scenario.digest()]
    outcomes = dataset.outcomes(key)
    return SideRecord(
        name=scenario.name,
        protocol=scenario.protocol,
        client=scenario.implementation["client"],
        server=scenario.implementation["server"],
        link=link_words(scenario.facts[0]),
        workload=workload_words(scenario.workload),
        mean_s=of[0],
        trials=of[1],
        exchanges=outcomes["exchanges"],
        completed=outcomes["completed"],
        timed_out=outcomes["timed-out"],
        radio=radio(dataset, scenario.link_name),
        energy=energy(dataset, key),
        spent=spent(dataset, key),
    )


def _lines(record: Explained) -> Iterable[str]:
    from wirelab.cli.text import columns
    from wirelab.report.explain import words

    yield from (words.lead(record), words.cause(record), "", *words.sides(record), *record["warnings"], "")
    yield columns(words.shares(record), right=range(2, 7))
    yield from ("", *words.levels(record))
    if record["what_ifs"]:
        yield "\nWhat programs could do otherwise, each alone:"
        yield from map(words.what_if, record["what_ifs"])
    for title, rows in words.resources(record):
        yield f"\n{title}:"
        yield columns(rows, right=range(1, 4))
    yield f"\n{words.programs(record)}"
