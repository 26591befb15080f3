"""`wirelab explain`: why one scenario takes longer than another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wirelab.cli.arguments import Short, load, load_source, message_sets, set_option, with_clock
from wirelab.cli.campaigns import RESULTS, not_an_option
from wirelab.errors import WirelabError

if TYPE_CHECKING:
    from rich.console import Console

    from wirelab.experiment.experiment import Experiment
    from wirelab.experiment.grid.scenario import Scenario
    from wirelab.schema.explain import Explained
    from wirelab.schema.plan import Plan
    from wirelab.stats.dataset import Dataset

MESSAGE = "message"
"""The shipped experiment that is explained if none is named."""
DEFAULTS = {"workload.exchanges": "100", "stop.replicates": "10"}
"""Of it, unless --set says otherwise: means under loss need more exchanges than an enumeration."""
PAGE = "explain.html"
NAME_LETTERS = 60
"""Of each scenario in the folder's name, which the file system limits."""
_UNSAFE = re.compile(r"[^A-Za-z0-9.]+")


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

    from wirelab.answer.pair import pair_of
    from wirelab.answer.runs import CAMPAIGN
    from wirelab.limits import require_limits
    from wirelab.report.explain.page import write_explained

    require_limits(starts=True)
    given = [*message_sets(sets, link=link, loss=loss, send=send)]
    own = any(text.partition("=")[0].strip() == "clock" for text in given)
    if own and clock is not None:
        raise WirelabError("--clock and --set clock exclude each other", hint="remove one of them")
    given += [] if own else with_clock(clock or "virtual")
    loaded = _experiment(source, (first, second), given)
    pair = pair_of(loaded, first, second)
    names = "-".join(_UNSAFE.sub("-", each.name)[:NAME_LETTERS] for each in pair)
    folder = not_an_option(out) if out is not None else RESULTS / f"{CAMPAIGN}{loaded.name}-{names}"
    record = _explained(loaded, pair, folder, jobs, Console(stderr=True, highlight=False))
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
        # Another kind has other keys, which the message's defaults are not of.
        defaults = {} if "workload.kind" in own else DEFAULTS
        sets = [*sets, *(f"{key}={value}" for key, value in defaults.items() if key not in own)]
        if known.intersection(names) and "protocol" not in own:
            sets.append(Short("A B", "protocol", ",".join(dict.fromkeys(names))))
        return load(MESSAGE, sets)
    return load_source(source, sets)


def _explained(
    loaded: Experiment, pair: tuple[Scenario, Scenario], folder: Path, jobs: int | None, console: Console
) -> Explained:
    """Run everything that the shares need, and split the difference."""
    from wirelab.answer import explained, runs
    from wirelab.answer.explain import Side, Swapped
    from wirelab.link_facts import asking
    from wirelab.plan import make_plan
    from wirelab.report.sections.plan import link_words
    from wirelab.report.workload_words import workload_words
    from wirelab.runner.start import require_clock

    require_clock(loaded.clock)
    with asking() as ask:
        first, second = (Side.of(scenario, ask) for scenario in pair)
    swapped = Swapped.of(*pair, loaded.scenarios)
    scenarios = runs.needed((first, second), swapped)
    plan = runs.with_one_seed_a_block(make_plan(runs.campaign_of(loaded, scenarios)))
    keys = {each.digest(): planned.key for each, planned in zip(scenarios, plan.scenarios, strict=True)}
    campaign = explained.Campaign(_run(loaded, plan, folder, jobs, console), keys)
    return explained.record(
        loaded, (first, second), swapped, campaign,
        lambda scenario: (link_words(scenario.facts[0]), workload_words(scenario.workload)),
    )  # fmt: skip


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
