"""`wirelab plan FILE`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wirelab.cli.arguments import (
    budget_option,
    experiment_argument,
    experiment_clock_option,
    link_option,
    load,
    set_option,
    site_option,
    with_clock,
    with_page,
)
from wirelab.cli.precheck import budget_jobs, precheck, within_budget
from wirelab.cli.text import columns
from wirelab.runner.minutes import time_words
from wirelab.schema import Clock
from wirelab.units import format_duration, format_size

if TYPE_CHECKING:
    from wirelab.runner.jobs import Jobs
    from wirelab.schema.plan import Level, Plan, Scenario

MOST_PAGES = 6


@click.command(short_help="Print what an experiment would run and how long it takes; start nothing.")
@experiment_argument
@set_option
@site_option
@link_option
@budget_option
@click.option(
    "--jobs",
    "-j",
    type=click.IntRange(1, 256),
    metavar="N",
    help="Trials at a time.  [chosen for this machine]",
)
@experiment_clock_option
@click.option("--json", "as_json", is_flag=True, help="Print plan.json.")
def command(  # noqa: PLR0913, PLR0917 (one parameter for each option)
    experiment: str,
    sets: tuple[str, ...],
    site: Path | None,
    link: str | None,
    budget: int | None,
    jobs: int | None,
    clock: str | None,
    *,
    as_json: bool,
) -> None:
    """Print what an experiment would run and how long it takes; start nothing.

    FILE is a path, or the name of a shipped experiment. Times are rough estimates, and so is the room on the disk under
    the virtual clock, whose kernel need not be there. Exits with 2 if a scenario cannot
    run on this machine.
    """
    from wirelab.plan import make_plan
    from wirelab.runner.jobs import Jobs
    from wirelab.runner.start import planned_jobs

    loaded = load(experiment, (*with_page(sets, site, link), *with_clock(clock)))
    plan = make_plan(loaded)
    chosen = planned_jobs(plan) if jobs is None else Jobs(jobs, "as asked")
    if budget is not None:
        plan = within_budget(plan, loaded, budget, budget_jobs(plan, chosen.number))
    left, fails = precheck(plan, loaded, chosen.number)
    click.echo(json.dumps(plan.to_json(), ensure_ascii=False) if as_json else _words(left, chosen, _around(plan)))
    if fails:
        click.get_current_context().exit(2)


def _pages(plan: Plan) -> list[str]:
    """A line for each page."""
    from wirelab.schema import PageLoads
    from wirelab.site import count

    pages: dict[str, str] = {}
    for workload in (scenario.workload for scenario in plan.scenarios):
        if isinstance(workload, PageLoads):
            page, loads = workload.page, count(workload.loads, "load")
            much = f"{count(page.resources, 'resource')}, {format_size(page.body_bytes)}"
            pages[f"{page.sha256} {loads}"] = f"page {page.name}: {much}, {loads} a trial"
    more = len(pages) - MOST_PAGES
    return [*list(pages.values())[:MOST_PAGES], *([f"and {count(more, 'more page')}"] * (more > 0))]


def _around(plan: Plan) -> list[str]:
    """How many points every combination of choices makes, and each interpretation, with what cannot run here."""
    from wirelab.report.model import level_words
    from wirelab.site import count

    record, lines = plan.experiment, []
    if record.vary_choices == "together":
        paths = {*record.choices, *(path for levels in record.interpretations.values() for path in levels)}
        points = {
            frozenset((path, str(level)) for path, level in point.items() if path in paths)
            for scenario in plan.scenarios for point in scenario.points
        }  # fmt: skip
        lines.append(f"every combination of the choices: {count(len(points), 'point')} of the grid")
    for name, levels in record.interpretations.items():
        words = ", ".join(level_words(path, str(level)) for path, level in levels.items())
        lines.append(f"interpretation {name}: {words or 'as the factors'}; {count(len(_of(plan, levels)), 'scenario')}")
    return lines


def _of(plan: Plan, levels: Mapping[str, Level]) -> list[Scenario]:
    """The scenarios of an interpretation: every other choice is at its base."""
    from wirelab.experiment.grid.scenario import shorten

    factors, choices = plan.experiment.factors, plan.experiment.choices
    base = {path: shorten(factors[path][0]) for path in choices if path in factors}
    at = {**base, **levels}
    paths = {*choices, *levels}
    return [
        scenario
        for scenario in plan.scenarios
        if any({path: point[path] for path in paths & point.keys()} == at for point in scenario.points)
    ]


def _words(plan: Plan, jobs: Jobs, around: Sequence[str]) -> str:
    from wirelab.experiment.duration.trial import runs_alone
    from wirelab.runner.progress import jobs_words
    from wirelab.site import count

    record = plan.experiment
    least, most = record.stop.replicates
    replicates = str(most) if least == most else f"{least} to {most}"
    exchanges = sum(scenario.workload.rows for scenario in plan.scenarios) * most
    up_to = "" if least == most else "up to "
    lines = [
        f"{record.name}: {record.title}",
        f"{count(len(plan.scenarios), 'scenario')} x {replicates} replicates: "
        f"{up_to}{count(plan.trials, 'trial')}, {count(exchanges, 'exchange')}",
        time_words(plan, jobs.number),
        f"{jobs_words(jobs.number)}: {jobs.why}",
    ]
    if plan.clock is Clock.LIVE and (alone := sum(map(runs_alone, plan.scenarios))):
        lines.append(f"{alone} of the scenarios run one at a time: their exchanges are short or fill a CPU")
    if (preview := record.preview) is not None:
        lines.append(
            f"QUICK RUN for {format_duration(preview.budget_ns)}: {preview.replicates[1]} of {preview.replicates[0]} "
            f"replicates, {preview.exchanges[1]} of {preview.exchanges[0]} exchanges a trial; not conclusive"
        )
    lines += [*around, *_pages(plan)]
    rows = [("scenario", "link", "exchanges", "about, each exchange")]
    rows += [
        (each.name, each.link_name, str(each.workload.rows * most), format_duration(each.expected_exchange_ns))
        for each in plan.scenarios
    ]
    return "\n".join([*lines, "", columns(rows, right=(2, 3))])
