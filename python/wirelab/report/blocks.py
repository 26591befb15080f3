"""What a section of the report is made of.

Sections build blocks from data; templates turn blocks into HTML and know no data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from string import ascii_lowercase

from markupsafe import Markup

from wirelab.report.numbers import DASH, Estimate, Unit, interval, plain

MOST_LETTERS = 150
"""Of the columns of a table that fits the width of a page."""


@dataclass(frozen=True)
class Cell:
    """One cell.

    `reason` says why there is no value, or a caveat of the value; it becomes a note under the table. `tone` colours
    it: good, bad, unsure, clear (bold); a `weak` one says the same with less weight.
    """

    text: str
    title: str | None = None
    href: str | None = None
    reason: str | None = None
    tone: str | None = None
    swatch: int | None = None
    spoken: str | None = None
    weak: bool = False


@dataclass(frozen=True)
class Notes:
    """The reasons of a table's cells, each once, in order of appearance.

    They differ by letters, unless there is one alone and a dash is all that it explains.
    """

    reasons: Sequence[str]
    lettered: bool

    @classmethod
    def of(cls, cells: Iterable[Cell]) -> Notes:
        """Those of some cells."""
        noted = [cell for cell in cells if cell.reason]
        reasons = list(dict.fromkeys(str(cell.reason) for cell in noted))
        return cls(reasons, len(reasons) > 1 or any(cell.text != DASH for cell in noted))

    def letter(self, cell: Cell) -> str:
        """The letter of a cell's reason; empty if it needs none."""
        return self.letters[self.reasons.index(cell.reason)] if cell.reason and self.lettered else ""

    @property
    def letters(self) -> list[str]:
        """The letter of each reason: a to z, then aa to az."""
        return [("a" if i >= len(ascii_lowercase) else "") + ascii_lowercase[i % 26] for i in range(len(self.reasons))]


@dataclass(frozen=True)
class Column:
    """A column; `unit` stands in its header."""

    title: str
    unit: str = ""
    numeric: bool = True


@dataclass(frozen=True)
class Table:
    """A table with its caption.

    The first `row_headers` cells of each row name the row; with two, the first is written once for rows that share
    it. The first column of a `pinned` table stays where it is while the others scroll.
    """

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    row_headers: int = 1
    pinned: bool = False
    kind: str = field(default="table", init=False)

    @property
    def empty(self) -> list[int]:
        """Columns without any value, except those that name the row."""
        columns = range(self.row_headers, len(self.columns))
        return [i for i in columns if self.rows and all(_is_missing(row[i]) for row in self.rows)]

    @property
    def shown(self) -> Table:
        """The table without its empty columns, unless nothing else is in it."""
        kept = [i for i in range(len(self.columns)) if i not in self.empty]
        if len(kept) == self.row_headers:
            return self
        rows = [[row[i] for i in kept] for row in self.rows]
        return replace(self, columns=[self.columns[i] for i in kept], rows=rows)

    @property
    def dense(self) -> bool:
        """Whether it is too wide for a page as long as each interval stays in one line."""
        longest = [max([len(column.title) / 2, *(_longest(row[i].text) for row in self.rows)]) for i, column in
                   enumerate(self.columns)]  # fmt: skip
        return sum(longest) + len(longest) > MOST_LETTERS

    @property
    def left_out(self) -> str:
        """Which columns are not shown, and why they are empty."""
        if len(self.shown.columns) == len(self.columns):
            return ""
        whys = {i: " or ".join(dict.fromkeys(str(row[i].reason) for row in self.rows)) for i in self.empty}
        names: dict[str, list[str]] = {}
        for i, why in whys.items():
            names.setdefault(why, []).append(self.columns[i].title.replace(" [interval]", ""))
        return "Columns left out: " + "; ".join(f"{', '.join(titles)} ({why})" for why, titles in names.items())

    @property
    def notes(self) -> Notes:
        """Why values are missing."""
        return Notes.of(cell for row in self.rows for cell in row)

    @property
    def spans(self) -> list[int]:
        """For each row, how many rows its first cell stands for; 0 if an earlier one's does."""
        firsts = [row[0].text for row in self.rows]
        starts = [i for i, first in enumerate(firsts) if self.row_headers < 2 or i == 0 or first != firsts[i - 1]]
        spans = dict(zip(starts, (b - a for a, b in zip(starts, [*starts[1:], len(firsts)], strict=True)), strict=True))
        return [spans.get(i, 0) for i in range(len(firsts))]


@dataclass(frozen=True)
class Figure:
    """A chart with its words and its data tables, perhaps none. `label` is what a screen reader says instead of it."""

    title: str
    label: str
    caption: str
    svg: Markup
    tables: Sequence[Table]
    open: bool = False
    kind: str = field(default="figure", init=False)


@dataclass(frozen=True)
class Grid:
    """Figures side by side if there is room."""

    title: str
    figures: Sequence[Figure]
    kind: str = field(default="grid", init=False)


@dataclass(frozen=True)
class Legend:
    """What the marks of the following charts mean: text, slot of the palette and, for series, shape and dash."""

    entries: Sequence[LegendEntry]
    kind: str = field(default="legend", init=False)


@dataclass(frozen=True)
class LegendEntry:
    """One mark of a legend: a series has a shape, a dash and a key by which charts know it, a part of a bar none."""

    text: str
    color: str
    note: str = ""
    shape: str | None = None
    dash: str = ""
    key: str = ""


@dataclass(frozen=True)
class Prose:
    """A paragraph."""

    text: str
    kind: str = field(default="prose", init=False)


@dataclass(frozen=True)
class Items:
    """A list of sentences."""

    items: Sequence[str]
    kind: str = field(default="items", init=False)


@dataclass(frozen=True)
class Code:
    """Something to copy: a command, a BibTeX entry."""

    text: str
    label: str
    kind: str = field(default="code", init=False)


@dataclass(frozen=True)
class Definitions:
    """Terms and what they mean; with `ids`, each has an anchor and is what links describe themselves by."""

    terms: Sequence[tuple[str, str]]
    ids: Sequence[str] = ()
    kind: str = field(default="definitions", init=False)


@dataclass(frozen=True)
class Group:
    """Blocks behind a summary that a reader opens. `anchor` can be linked to; `printed` opens it on paper."""

    summary: str
    blocks: Sequence[Block]
    open: bool = False
    anchor: str | None = None
    printed: bool = False
    kind: str = field(default="group", init=False)


@dataclass(frozen=True)
class Links:
    """Relative links to files."""

    links: Sequence[tuple[str, str]]
    kind: str = field(default="links", init=False)


@dataclass(frozen=True)
class Claim:
    """A published claim with our verdict; `parts` are claims that it is made of.

    `ours` is at the page's level, `judged` the interval that decided, at a level of its own.
    """

    id: str
    text: str
    form: str
    paper: Cell
    ours: Cell
    judged: Cell
    n: Cell
    verdict: Cell
    grade: Cell
    otherwise: Sequence[Cell]
    """Verdicts by the publication's own standards."""
    why: str
    contradiction: str | None
    published: str | None
    parts: Sequence[Claim]

    @property
    def printed(self) -> bool:
        """Whether the publication prints a number for one of its parts."""
        return _printed(self.parts)


@dataclass(frozen=True)
class Claims:
    """A table of claims whose rows open. `otherwise` are the publication's standards by which they were judged too."""

    caption: str
    claims: Sequence[Claim]
    otherwise: Sequence[str]
    kind: str = field(default="claims", init=False)

    @property
    def printed(self) -> bool:
        """Whether the publication prints a number for one of them."""
        return _printed(self.claims)

    @property
    def notes(self) -> Notes:
        """Why values that are shown are missing."""
        parts = [cell for claim in self.claims for cell in _cells(claim.parts)]
        otherwise = [cell for claim in self.claims for cell in claim.otherwise]
        return Notes.of([*_cells(self.claims), *otherwise, *parts])


@dataclass(frozen=True)
class Replicated:
    """A published claim over several campaigns: its verdict, a cell for each column, its text, the reason in one
    sentence, and more sentences that a reader opens.
    """

    id: str
    verdict: Cell
    cells: Sequence[Cell]
    text: str
    why: Cell
    more: Sequence[str] = ()


@dataclass(frozen=True)
class ReplicatedClaims:
    """A table of such claims; `columns` are those of their cells."""

    caption: str
    columns: Sequence[Column]
    claims: Sequence[Replicated]
    kind: str = field(default="replicated", init=False)

    @property
    def notes(self) -> Notes:
        """Why values are missing."""
        return Notes.of(cell for claim in self.claims for cell in (claim.verdict, *claim.cells))


Block = Table | Figure | Grid | Legend | Prose | Items | Code | Definitions | Group | Links | Claims | ReplicatedClaims


@dataclass(frozen=True)
class Section:
    """A titled part of the page. `id` is its anchor, `line` one sentence that stands above its charts, and `short` its
    title in the navigation.
    """

    id: str
    title: str
    blocks: Sequence[Block]
    line: str = ""
    short: str = ""


def flat(blocks: Iterable[Block], group: str = "") -> Iterator[tuple[Block, str]]:
    """Blocks with those of grids and groups, and the words of the groups that they are in."""
    for block in blocks:
        if isinstance(block, Grid):
            yield from ((figure, group) for figure in block.figures)
        elif isinstance(block, Group):
            yield from flat(block.blocks, ", ".join(filter(None, [group, block.summary])))
        else:
            yield block, group


def _longest(text: str) -> int:
    """Letters of its longest part: a number or its interval."""
    return max(map(len, text.partition(" [")))


def _is_missing(cell: Cell) -> bool:
    return cell.text == DASH and cell.reason is not None and cell.spoken is None


def _printed(claims: Sequence[Claim]) -> bool:
    return any(claim.paper.reason is None for claim in claims)


def _cells(claims: Sequence[Claim]) -> Iterator[Cell]:
    printed = _printed(claims)
    for claim in claims:
        yield from (claim.verdict, *[claim.paper] * printed, claim.ours, claim.judged, claim.n, claim.grade)


def dash(reason: str) -> Cell:
    """A cell without a value, and why."""
    return Cell(DASH, title=reason, reason=reason)


def number(value: float | None, places: int | None = None, reason: str = "not recorded") -> Cell:
    """A cell with a number that has no interval."""
    return dash(reason) if value is None else Cell(plain(value, places))


def estimate(value: Estimate | None, unit: Unit, reason: str = "not estimated") -> Cell:
    """A cell with a point and its interval; hovering says level, n and method."""
    if value is None or value.point is None:
        return dash((value.method if value else "") or reason)
    words = [f"{value.level:.0%} interval" if value.level and value.low is not None else "no interval"]
    if value.n is not None:
        words.append(f"n = {value.n:,}")
    if value.method:
        words.append(value.method)
    return Cell(interval(value, unit), title=", ".join(words))
