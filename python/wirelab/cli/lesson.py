"""`wirelab lesson`: one idea of networking, shown by a campaign that runs while the reader waits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wirelab.cli.arguments import set_option
from wirelab.cli.campaigns import RESULTS, not_an_option
from wirelab.errors import WirelabError

if TYPE_CHECKING:
    from wirelab.lessons.lesson import Lesson
    from wirelab.report.lesson.page import Contents

PAGE = "lesson.html"
LIST = "list"


@click.command("lesson", short_help="Show one idea of networking by a run of less than a minute.")
@click.argument("name", metavar="[list|NAME]", default=LIST)
@set_option
@click.option(
    "--seed", type=click.IntRange(min=0), metavar="N", help="Seed of everything random: a number of your own."
)
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
    help="Folder for all results.  [results/lesson-NAME]",
)  # fmt: skip
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser.")
def command(name: str, sets: tuple[str, ...], seed: int | None, out: Path | None, *, opens: bool) -> int:
    """Run the experiment of a lesson under the virtual clock, and write a page of it.

    The page has the idea, two charts of what was run, one exchange as packets, a question, and a lab sheet with its
    key. `list` names the lessons. With another --seed, the same experiment has other random losses. Where the virtual
    clock does not run, such as on ARM, the page is the one that ships.
    """
    from wirelab.cli.text import columns
    from wirelab.lessons.lesson import find_lesson, lesson_names
    from wirelab.limits import require_limits
    from wirelab.report.lesson.page import lesson_page
    from wirelab.report.page import write_text

    if name == LIST:
        click.echo(columns([(each, find_lesson(each).title) for each in lesson_names()]))
        return 0
    require_limits(starts=True)
    lesson = find_lesson(name)
    own = f"lesson-{name}" if seed is None else f"lesson-{name}-seed-{seed}"
    folder = RESULTS / own if out is None else not_an_option(out)
    changed = [*sets, *([] if seed is None else [f"seed={seed}"])]
    status = 0
    if (why := _why_not()) is None:
        run = _exact if lesson.verb == "exact" else _campaign
        contents, status = run(lesson, changed, folder)
        page = write_text(folder / PAGE, lesson_page(lesson, contents))
    else:
        page = _shipped(name, why, folder, changed=bool(changed))
    for paragraph in lesson.idea:
        click.echo(paragraph)
    click.echo(f"\nQuestion  {lesson.question}")
    click.echo(f"Page      {page}")
    if opens:
        click.launch(str(page.resolve()))
    return status


def _why_not() -> WirelabError | None:
    """Why the virtual clock does not run here; None if it does."""
    from wirelab.runner.start import require_clock
    from wirelab.schema import Clock

    try:
        require_clock(Clock.VIRTUAL)
    except WirelabError as why:
        return why
    return None


def _shipped(name: str, why: WirelabError, folder: Path, *, changed: bool) -> Path:
    """Write the page that ships, and say that nothing was run. Raises `WirelabError` if the experiment was changed."""
    from wirelab.lessons.shipped import shipped_page
    from wirelab.report.page import write_text

    if changed:
        raise why
    click.echo(f"Not run on this machine: {why.what}. The page has the results that ship with Wirelab.", err=True)
    if why.hint:
        click.echo(f"hint: {why.hint}", err=True)
    return write_text(folder / PAGE, shipped_page(name))


def _campaign(lesson: Lesson, changed: Sequence[str], folder: Path) -> tuple[Contents, int]:
    """Run the lesson's experiment, or continue it. Gives an exit code too."""
    from rich.console import Console

    from wirelab.cli.run import How, planned, run_campaign
    from wirelab.report.campaign import load
    from wirelab.report.lesson.charts import scenario_of
    from wirelab.report.lesson.page import of_campaign

    # What a reader sets comes last, and so counts.
    loaded, plan = planned(lesson.experiment, (*lesson.sets, *changed), budget=None, seed=None, jobs=None)
    for case in lesson.cases:
        scenario_of(case, plan.scenarios)
    run_campaign(loaded, plan, folder, How(probes=False), Console(stderr=True, highlight=False))
    campaign = load(folder, folder)
    return of_campaign(lesson, campaign, changed), 1 if campaign.failed else 0


def _exact(lesson: Lesson, changed: Sequence[str], folder: Path) -> tuple[Contents, int]:
    """Enumerate the lost packets of the lesson's exchange, or continue."""
    from wirelab.cli.exact import BEYOND_S, LOSSES, PAGE, Options, enumerated
    from wirelab.report.exact.page import write_exact
    from wirelab.report.lesson.charts import UNCHANGED
    from wirelab.report.lesson.page import of_exact

    set_ = {key: value for key, _, value in (each.partition("=") for each in changed)}
    protocols = set_.get("protocol")
    shown = {lesson.packets.case, *(chart.of for chart in lesson.charts if chart.kind == "prices")}
    if protocols is not None and not shown <= {each.strip() for each in protocols.split(",")}:
        raise WirelabError(f"the lesson shows {', '.join(sorted(shown))} ({protocols})", "--set protocol", UNCHANGED)
    record = enumerated(lesson.experiment, (*lesson.sets, *changed), Options(LOSSES, BEYOND_S), folder, None)
    write_exact(record, folder, PAGE)
    return of_exact(lesson, record, folder, changed), 0
