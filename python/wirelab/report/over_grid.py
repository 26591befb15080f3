"""Claims over the grid of choices: in a table, and in one sentence."""

from __future__ import annotations

from collections.abc import Sequence

from wirelab.report.blocks import Block, Cell, Column, Prose, Table, dash
from wirelab.report.model import level_words
from wirelab.report.numbers import plain
from wirelab.report.statement import Statement, listed
from wirelab.schema.verdicts import ClaimRecord, EffectAt, GridRecord, OverGrid, Standing, Verdicts

CAPTION = "Each claim over the grid of choices"
NOTHING_DECLARED: GridRecord = {"frozen": None, "primary": None, "choices": [], "interpretations": []}
WORDS: dict[Standing, str] = {"depends-on-outlier-rule": "depends on the outlier rule"}
TONES: dict[Standing, str] = {"confirmed": "good", "contradicted": "bad"}


def blocks(verdicts: Verdicts) -> list[Block]:
    """Range, counts, primary verdict and deciding choice of each claim; none if no claim was judged over a grid."""
    judged = [(claim, over) for claim in verdicts["claims"] if (over := claim.get("over_grid")) is not None]
    if not judged:
        return []
    grid = verdicts.get("grid", NOTHING_DECLARED)
    columns = [
        Column("claim", numeric=False), Column("our estimate, range"), Column("confirmed"), Column("contradicted"),
        Column("not decided"), Column("primary", numeric=False), Column("deciding choice", numeric=False),
        Column("fitted at", numeric=False),
    ]  # fmt: skip
    rows = [
        [
            Cell(claim["id"], title=claim["text"]), _range(over),
            *(_of(over[key], over) for key in ("confirmed", "contradicted")), _not_decided(over),
            _primary(over, grid), _deciding(over, grid), _fitted(over),
        ]
        for claim, over in judged
    ]  # fmt: skip
    return [Prose(_about([over for _, over in judged], grid)), Table(CAPTION, columns, rows)]


def statements(claims: Sequence[ClaimRecord], grid: GridRecord | None = None) -> list[Statement]:
    """One sentence on what is the same at every point and what depends on choices; none if one point was judged."""
    found = [(claim["id"], over) for claim in claims if (over := claim.get("over_grid")) and over["points"] > 1]
    if not found:
        return []
    kinds: dict[str, list[str]] = {}
    more = []
    for name, over in found:
        kind = _kind(over)
        kinds.setdefault(kind, []).append(name)
        if kind == DEPENDS:
            more.append(Statement(f"{name}: {_counted(over)}{_turning(over, grid or NOTHING_DECLARED)}."))
    words = "; ".join(f"{listed(names)}: {kind}" for kind in KINDS if (names := kinds.get(kind)))
    most = max(over["points"] for _, over in found)
    return [Statement(f"Over up to {most} points of the grid of choices, {words}.", more, href="#claims")]


def interpretation_title(interpretation: str, grid: GridRecord) -> str:
    """An interpretation in words; its name if the grid has none."""
    return next((each["title"] for each in grid["interpretations"] if each["name"] == interpretation), interpretation)


DEPENDS = "depends on choices"
KINDS = (
    "confirmed at every point", "contradicted at every point", DEPENDS,
    "confirmed at some points, contradicted at none", "contradicted at some points, confirmed at none",
    "decided at no point",
)  # fmt: skip


def _kind(over: OverGrid) -> str:
    confirmed, contradicted = over["confirmed"], over["contradicted"]
    if over["robust"]:
        return KINDS[0] if confirmed else KINDS[1]
    if confirmed and contradicted:
        return DEPENDS
    return KINDS[3] if confirmed else KINDS[4] if contradicted else KINDS[5]


def _counted(over: OverGrid) -> str:
    return f"of {over['points']} points {over['confirmed']} confirmed and {over['contradicted']} contradicted"


def _turning(over: OverGrid, grid: GridRecord) -> str:
    deciding = over["deciding"]
    if deciding is None:
        return ""
    title = _title(deciding["path"], grid)
    return f"; {title} turns the verdict in {deciding['flips']} of {deciding['pairs']} pairs that differ in it alone"


def _title(path: str, grid: GridRecord) -> str:
    return next((each["title"] for each in grid["choices"] if each["path"] == path), path)


def _about(judged: Sequence[OverGrid], grid: GridRecord) -> str:
    points, sizes = max(over["points"] for over in judged), [over["size"] for over in judged if over["size"]]
    whole = f" of {max(sizes)}" if sizes else ""
    words = [
        f"Each claim is judged at every point of the grid of choices that was run: at most {points}{whole}.",
        "“k of m” counts the points with this verdict, by the publication’s outlier rule too if it has one.",
        "The deciding choice turns confirmed into contradicted most often while all others stay alike.",
        "A claim that is fitted at an interpretation agrees there by construction, and is not counted.",
    ]
    return " ".join([*words, _frozen(grid)])


def _frozen(grid: GridRecord) -> str:
    if grid["frozen"] is None:
        return "The grid is not frozen."
    later = {
        what: sum(each["after_the_fact"] for each in tables)
        for what, tables in (("choices", grid["choices"]), ("interpretations", grid["interpretations"]))
    }
    written = listed([f"{what} ({count})" for what, count in later.items() if count] or ["nothing"])
    at, first = grid["frozen"]["at"], grid.get("first_trial")
    late = f"Claims and grid were frozen at {at}, after the first trial of {first}: they were written with data."
    if first is not None and first < at:
        return late
    return f"Claims and grid were frozen at {at}; written after data existed: {written}."


def _range(over: OverGrid) -> Cell:
    effect = over["effect"]
    if effect is None:
        return dash("its parts have no single estimate")
    least, largest = effect["least"], effect["largest"]
    title = f"least with {_levels(least)}; largest with {_levels(largest)}"
    return Cell(f"{plain(least['value'])} to {plain(largest['value'])}", title=title)


def _levels(at: EffectAt) -> str:
    return ", ".join(level_words(path, level) for path, level in at["levels"].items())


def _of(count: int, over: OverGrid) -> Cell:
    if not over["points"]:
        return dash("no point counts")
    return Cell(f"{count} of {over['points']}", tone="clear" if over["robust"] and count else None)


def _not_decided(over: OverGrid) -> Cell:
    cell, ruled = _of(over["not_decided"], over), over["depends_on_outlier_rule"]
    if not ruled:
        return cell
    return Cell(cell.text, title=f"at {ruled} the verdict depends on the outlier rule")


def _primary(over: OverGrid, grid: GridRecord) -> Cell:
    if grid["primary"] is None:
        return dash("the publication has no primary interpretation")
    standing = over["interpretations"].get(grid["primary"])
    if standing is None:
        return dash("the primary interpretation was not run")
    return Cell(
        WORDS.get(standing, standing),
        tone=TONES.get(standing, "unsure"),
        title=interpretation_title(grid["primary"], grid),
    )


def _deciding(over: OverGrid, grid: GridRecord) -> Cell:
    deciding = over["deciding"]
    if deciding is None:
        return dash("no choice alone turns its verdict")
    pairs = f"{deciding['flips']} of {deciding['pairs']} pairs that differ in it alone"
    return Cell(f"{_title(deciding['path'], grid)} turns the verdict in {pairs}")


def _fitted(over: OverGrid) -> Cell:
    names = [name for name, standing in over["interpretations"].items() if standing == "fitted"]
    return Cell(", ".join(names)) if names else dash("fitted at no interpretation")
