"""`wirelab compare`: what changed between two campaigns, or between two sides of one, with an exit code."""

from __future__ import annotations

import json
from contextlib import ExitStack
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
    from collections.abc import Iterator

    from wirelab.schema.changes import Changes

SLOWER, CHANGED = 4, 5
"""Exit codes."""
NUMBERS = 2, 3, 4
"""Columns of the table."""


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
def command(  # noqa: PLR0913, PLR0917 (one parameter for each option)
    old: Path,
    new: Path | None,
    by: str | None,
    margin: float,
    markdown: Path | None,
    junit: Path | None,
    *,
    fail_if_inconclusive: bool,
    as_json: bool,
) -> int:
    """Compare each scenario of OLD with the same one of NEW: two runs, as folders, names under results/, or files of
    `run --keep`.

    The scenarios may differ in their programs alone, or in KEY and what is below it. Without NEW, two sides of one run
    are compared that differ in KEY alone, the first value being the old one; both were measured in turns. Exits with 4
    if something is worse (longer, or fewer completed), with 5 if something else changed, and with 0 if nothing did.
    """
    from wirelab.answer.compare.kept import opened
    from wirelab.limits import require_limits

    require_limits(starts=False)
    with ExitStack() as stack:
        folders = [stack.enter_context(opened(_existing(each))) for each in (old, new) if each is not None]
        record = _compared([each for each in (old, new) if each is not None], folders, by, margin)
    _export(record, markdown, junit)
    if as_json:
        click.echo(json.dumps(record, ensure_ascii=False, allow_nan=False))
    else:
        click.echo("\n".join(lines(record)))
    return exit_code(record, inconclusive_fails=fail_if_inconclusive)


def _existing(path: Path) -> Path:
    """A campaign's folder, or a file that --keep wrote."""
    from wirelab.schema.archive import is_archive

    return path if is_archive(path) and path.is_file() else existing(path)


def _compared(names: list[Path], folders: list[Path], by: str | None, margin: float) -> Changes:
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


def exit_code(record: Changes, *, inconclusive_fails: bool) -> int:
    """4 if something is worse, 5 if something else changed, 6 if nothing is decided and that fails, else 0."""
    match record["verdict"]:
        case "slower":
            return SLOWER
        case "changed":
            return CHANGED
        case "inconclusive" if inconclusive_fails:
            return INCONCLUSIVE
    open_ones = any(each["change"] == "inconclusive" for one in record["scenarios"] for each in one["measures"])
    return INCONCLUSIVE if inconclusive_fails and open_ones else 0


def _export(record: Changes, markdown: Path | None, junit: Path | None) -> None:
    from wirelab.report import junit as tests
    from wirelab.report import markdown as tables
    from wirelab.report.page import write_text

    for path, text_of in ((markdown, tables.of_changes), (junit, tests.of_changes)):
        if path is not None:
            write_text(path, text_of(record))


def lines(record: Changes) -> Iterator[str]:
    """What a terminal shows."""
    from wirelab.cli.text import columns
    from wirelab.report import changes as words

    yield words.headline(record)
    yield ""
    found = words.table(record)
    head = [column.title for column in found.columns]
    rows = [[cell.text for cell in row] for row in found.rows]
    before = [None, *(row[0] for row in rows)]
    named = [["" if row[0] == last else row[0], *row[1:]] for row, last in zip(rows, before, strict=False)]
    yield columns([head, *named], right=NUMBERS)
    packets = [each for each in record["scenarios"] if "packets" in each]
    if packets:
        yield ""
    for scenario in packets:
        yield from words.packets_words(scenario["name"], scenario["packets"])
    yield ""
    yield from words.sides(record)
    yield from words.notes(record)
