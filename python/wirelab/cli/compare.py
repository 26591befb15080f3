"""`wirelab compare`: what changed between two campaigns, or between two sides of one, with an exit code."""

from __future__ import annotations

import json
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wirelab.cli.arguments import QuantityType
from wirelab.cli.campaigns import existing
from wirelab.cli.expectations import INCONCLUSIVE
from wirelab.errors import Where, WirelabError
from wirelab.launcher import launched
from wirelab.units import share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from wirelab.report.compared import Compared
    from wirelab.schema.changes import Changes, ExactChanges
    from wirelab.schema.exact import Exact

SLOWER, CHANGED = 4, 5
"""Exit codes."""


margin_option = click.option(
    "--margin", type=QuantityType("share", share, may_be_0=True), default="5 %", metavar="SHARE",
    help="A change up to this counts as none.  [5 %]",
)  # fmt: skip


@click.command("compare", short_help="Compare two runs: what changed, with an exit code.")
@click.argument("old", metavar="OLD", type=click.Path(path_type=Path))
@click.argument("new", metavar="[NEW]", required=False, type=click.Path(path_type=Path))
@click.option("--by", metavar="KEY", help="What may differ between the sides, such as congestion-control.")
@margin_option
@click.option("--fail-if-inconclusive", is_flag=True, help="Exit with 6 if nothing changed, but something may have.")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
@click.option(
    "--markdown", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Also write it as Markdown."
)
@click.option(
    "--junit", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Also write it as JUnit XML."
)
@click.option(
    "--html", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Also write a page with charts."
)
def command(  # noqa: PLR0913, PLR0917 (one parameter for each option)
    old: Path,
    new: Path | None,
    by: str | None,
    margin: float,
    markdown: Path | None,
    junit: Path | None,
    html: Path | None,
    *,
    fail_if_inconclusive: bool,
    as_json: bool,
) -> int:
    """Compare each scenario of OLD with the same one of NEW: two runs, as folders, names under results/, or files of
    `run --keep`; or two folders of `exact`.

    The scenarios may differ in their programs alone, or in KEY and what is below it. Without NEW, two sides of one run
    are compared that differ in KEY alone, the first value being the old one; both were measured in turns. Exits with 4
    if something is worse (longer, or fewer completed), with 5 if something else changed, and with 0 if nothing did.
    """
    from wirelab.answer.compare.kept import opened
    from wirelab.limits import require_limits
    from wirelab.report import changes as of_runs
    from wirelab.report.exact import changes as of_exact
    from wirelab.report.junit import of_comparison as as_tests
    from wirelab.report.markdown import of_comparison
    from wirelab.report.page import write_text

    require_limits(starts=False)
    names = [each for each in (old, new) if each is not None]
    record: Changes | ExactChanges
    page: Callable[[], str]
    with ExitStack() as stack:
        folders = [stack.enter_context(opened(_existing(each))) for each in names]
        enumerations = [found for each in folders if (found := _enumeration(each)) is not None]
        if enumerations:
            record = _exactly(names, enumerations, by, margin)
            shown = of_exact.compared(record)
            page = partial(_page_of_enumerations, shown, *enumerations)
        else:
            record = _compared(names, folders, by, margin)
            shown = of_runs.compared(record)
            page = partial(_page_of_runs, record, shown)
    for path, text_of in ((markdown, of_comparison), (junit, as_tests)):
        if path is not None:
            write_text(path, text_of(shown))
    if html is not None:
        write_text(html, page())
    click.echo(json.dumps(record, ensure_ascii=False, allow_nan=False) if as_json else "\n".join(lines(shown)))
    return exit_code(record, shown, inconclusive_fails=fail_if_inconclusive)


def _existing(path: Path) -> Path:
    """A campaign's folder, or a file that --keep wrote."""
    from wirelab.schema.archive import is_archive

    if is_archive(path) and not path.exists():
        raise WirelabError(f"no such file ({path})", hint=f"{launched(f'run FILE --keep {path}')} writes it")
    return path if is_archive(path) and path.is_file() else existing(path)


def _compared(names: Sequence[Path], folders: Sequence[Path], by: str | None, margin: float) -> Changes:
    """One campaign by a key, or two."""
    from wirelab.answer.compare import pairing
    from wirelab.answer.compare.record import Campaign, changes, require_alike

    olds, *rest = (Campaign.read(folder) for folder in folders)
    if not rest:
        if by is None:
            hint = f"name another run, or what differs in this one: {launched(f'compare {names[0]} --by KEY')}"
            raise WirelabError("one run, and nothing to compare it with", Where("--by"), hint)
        news, found = olds, pairing.within(olds.plan, by)
    else:
        [news] = rest
        if olds.folder.resolve() == news.folder.resolve():
            hint = f"two sides of it: {launched(f'compare {names[0]} --by KEY')}"
            raise WirelabError("OLD and NEW are one run", hint=hint)
        require_alike(olds.plan, news.plan, (names[0], names[1]))
        found = pairing.between(olds.plan, news.plan, by)
    return changes(olds, news, found, margin)


def _enumeration(folder: Path) -> Exact | None:
    """What `exact` found in a folder; None if it is a run's."""
    from wirelab.schema.exact import EXACT, read_exact

    return read_exact(folder / EXACT) if (folder / EXACT).is_file() else None


def _exactly(names: Sequence[Path], enumerations: Sequence[Exact], by: str | None, margin: float) -> ExactChanges:
    """Two enumerations."""
    from wirelab.answer.compare.enumerated import exact_changes

    if by is not None:
        raise WirelabError("is for runs, and this is an enumeration", Where("--by"), "leave it out")
    if len(enumerations) < 2 or len(names) < 2 or names[0].resolve() == names[1].resolve():
        what = "an enumeration is compared with another one of the same exchange"
        raise WirelabError(what, hint=launched("exact FILE --out DIR"))
    first, second = enumerations
    return exact_changes(first, second, (str(names[0]), str(names[1])), margin)


def _page_of_runs(record: Changes, shown: Compared) -> str:
    from wirelab.report.compared_page import of_runs

    return of_runs(record, shown)


def _page_of_enumerations(shown: Compared, old: Exact, new: Exact) -> str:
    from wirelab.report.compared_page import of_enumerations

    return of_enumerations(shown, old, new)


def exit_code(record: Changes | ExactChanges, shown: Compared, *, inconclusive_fails: bool) -> int:
    """4 if something is worse, 5 if something else changed, 6 if something is inconclusive and that fails, else 0."""
    if record["verdict"] == "slower":
        return SLOWER
    if record["verdict"] == "changed":
        return CHANGED
    return INCONCLUSIVE if inconclusive_fails and any(each.tag == "skipped" for each in shown.cases) else 0


def lines(shown: Compared) -> Iterator[str]:
    """What a terminal shows."""
    from wirelab.cli.text import columns

    yield shown.headline
    yield ""
    head = [column.title for column in shown.table.columns]
    rows = [[cell.text for cell in row] for row in shown.table.rows]
    before = [None, *(row[0] for row in rows)]
    named = [["" if row[0] == last else row[0], *row[1:]] for row, last in zip(rows, before, strict=False)]
    numbers = [index for index, column in enumerate(shown.table.columns) if column.numeric]
    yield columns([head, *named], right=numbers)
    yield ""
    if shown.packets:
        yield from (*shown.packets, "")
    yield from shown.notes
