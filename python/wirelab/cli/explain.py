"""`wirelab explain`: why one scenario takes longer than another."""

from __future__ import annotations

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
    "--clock", type=click.Choice(["live", "virtual"]), default="virtual", show_default=True,
    help="What measures the time. A limit on CPU time needs `live`.",
)  # fmt: skip
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
    help="Folder for all results.  [results/explain-NAME]",
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
    clock: str,
    out: Path | None,
    jobs: int | None,
    *,
    as_json: bool,
) -> int:
    """Split the difference of two means by phase and cause.

    A and B are protocols, or scenarios of an experiment by their names or by a level that only they have. Both run with
    each set of what their link does taken away: propagation, rate, loss, and so on. What a cause makes is its average
    over all orders of taking causes away, so that the shares sum to the difference. What is left over a link that does
    nothing is called unexplained. Exits with 1 if a scenario has no completed exchange.
    """
    from rich.console import Console

    from wirelab.limits import require_limits
    from wirelab.report.explain.page import write_explained

    require_limits(starts=True)
    given = [*sets, *message_sets(None, link, send), *([] if loss is None else [f"link.loss={loss}"])]
    loaded = _experiment(source, (first, second), [*given, f"clock={clock}"])
    a, b = (_scenario(loaded, words) for words in (first, second))
    if a is b:
        raise WirelabError(f"A and B are one scenario: {a.name}", hint="name two that differ")
    folder = not_an_option(out) if out is not None else RESULTS / f"explain-{loaded.name}"
    record = _explained(loaded, (a, b), folder, jobs, Console(stderr=True, highlight=False))
    text = write_explained(record, folder, PAGE)
    if as_json:
        click.echo(text)
    else:
        click.echo("\n".join(_lines(record)))
        click.echo(f"Page    {folder / PAGE}")
    return 0


def _experiment(source: str | None, names: Sequence[str], sets: list[str]) -> Experiment:
    """The experiment that has A and B, without what its other levels cost."""
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
    own = {scenario.digest() for scenario in pair}
    rest = [each for side in sides for each in side.scenarios()]
    rest += swapped.mixed.values()
    others = {each.digest(): each for each in rest if each.digest() not in own}
    plan, keys = _plan(loaded, pair, list(others.values()))
    return _split(loaded, sides, swapped, _run(loaded, plan, folder, jobs, console), keys)


def _plan(loaded: Experiment, pair: Sequence[Scenario], others: Sequence[Scenario]) -> tuple[Plan, dict[str, str]]:
    """One plan of all, with captures of the two scenarios themselves, and its keys by the digests of scenarios."""
    from wirelab.plan import make_plan

    most = loaded.stop.replicates[1]
    stop = loaded.stop.model_copy(update={"replicates": (most, most), "interval": None, "budget": None})
    base = replace(loaded, stop=stop, claims=None, factors={}, choices={}, interpretations={})
    captured = make_plan(replace(base, scenarios=tuple(pair), capture=True))
    plain = make_plan(replace(base, scenarios=tuple(others), capture=False))
    blocks = tuple(
        one.model_copy(update={"trials": (*one.trials, *other.trials)})
        for one, other in zip(captured.blocks, plain.blocks, strict=True)
    )
    scenarios = (*captured.scenarios, *plain.scenarios)
    plan = captured.model_copy(
        update={
            "scenarios": scenarios, "blocks": blocks, "link_facts": {**captured.link_facts, **plain.link_facts},
            "stall_ns": min(captured.stall_ns, plain.stall_ns),
        }
    )  # fmt: skip
    digests = [each.digest() for each in (*pair, *others)]
    return plan, {digest: scenario.key for digest, scenario in zip(digests, scenarios, strict=True)}


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
    try:
        difference, shares = explain.shares(first, second, found)
        records = [_side(side, dataset, keys, found.mean(side.scenario)) for side in sides]
    except ValueError as error:
        raise RunError(f"{error}, so that nothing can be compared", hint=launched(f"show {dataset.folder}")) from None
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
        otherwise=[each for side in sides for each in explain.otherwise(side, found)],
        warnings=[*_warnings(records)],
    )


def _side(side: Side, dataset: Dataset, keys: dict[str, str], mean: Mean) -> SideRecord:
    from wirelab.answer.measured import energy, spent
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
        mean_s=mean,
        trials=outcomes["trials"],
        exchanges=outcomes["exchanges"],
        completed=outcomes["completed"],
        energy=energy(dataset, key),
        spent=spent(dataset, key),
    )


def _warnings(records: Iterable[SideRecord]) -> Iterable[str]:
    for side in records:
        if (left := side["exchanges"] - side["completed"]) > 0:
            yield (
                f"{side['name']}: {left:,} of {side['exchanges']:,} exchanges did not complete. They are left out, so "
                "its mean is of survivors."
            )
        if side["trials"] < 5:
            yield f"{side['name']}: intervals are of {side['trials']} trials only."


def _lines(record: Explained) -> Iterable[str]:
    from wirelab.cli.text import columns
    from wirelab.report.explain import words

    yield from (words.lead(record), words.cause(record), "", *words.sides(record), *record["warnings"], "")
    yield columns(words.shares(record), right=range(2, 7))
    yield from ("", *words.levels(record))
    if record["otherwise"]:
        yield "\nWhat programs could do otherwise, each alone:"
        yield from map(words.otherwise, record["otherwise"])
    for title, rows in words.resources(record):
        yield f"\n{title}:"
        yield columns(rows, right=range(1, 4))
    yield f"\n{words.programs(record)}"
