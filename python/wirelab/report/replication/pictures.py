"""Pictures of a replication: printed magnitudes, counts over the grid of choices, and claims that turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from wirelab.report.blocks import Block, Figure, Grid, Group, Prose
from wirelab.report.figures.replicated import CurveAxis, Ratio, RatioAxis, Specification, Strip, curve, forest, strips
from wirelab.report.model import level_words
from wirelab.report.numbers import COUNT, Estimate, interval, plain
from wirelab.report.replication import words
from wirelab.schema.replication import ReplicatedClaim, Replication

NO_NUMBERS = "This paper prints no numbers."
MAGNITUDES = ("ratio", "quotient", "count", "share-beyond")
"""Forms of parts whose printed number is compared with ours."""
LONGEST = 38
"""Letters of a label at a curve, of some 40 that have room."""
LEGEND = (
    "Circle, green: the part is confirmed. Cross, red: contradicted. Diamond, brown: inconclusive. "
    "Square, grey: it judges nothing here, for it is fitted, outside the verdict, or of a claim without a verdict."
)


def magnitudes(records: Sequence[Replication]) -> list[Block]:
    """The forest plot of the papers that print numbers, and which print none."""
    silent = [record["paper"] for record in records if not ratios(record)]
    rows = [ratio for record in records for ratio in ratios(record)]
    factor = max((record["factor"] for record in records), default=1.25)
    drawn = forest("forest", "ours over each printed magnitude, with its interval", rows, RatioAxis(factor))
    if drawn is None:
        return [Prose(NO_NUMBERS if not any(record["printed"] for record in records) else "No magnitude was measured.")]
    title = f"Ours / paper, with 95 % intervals; the band is the tolerance, a factor of {factor:g} either way"
    caption = f"{LEGEND} Beyond a factor of 100: at the edge.{words.without_rule(records)}"
    if silent and len(records) > 1:
        caption += f" No printed magnitudes: {', '.join(silent)}."
    return [Grid("", [Figure(title, "forest plot of printed magnitudes", caption, drawn, [])])]


def counts(records: Sequence[Replication]) -> list[Block]:
    """The strips of all claims."""
    found = [_strip(claim) for record in records for claim in record["claims"]]
    drawn = strips("strips", "points that confirm and contradict each claim", found)
    if drawn is None:
        return []
    caption = (
        "Green: confirmed. Red: contradicted. "
        "Brown: neither, since the verdict is inconclusive there or depends on the outlier rule. "
        "Numbers: confirmed / contradicted, of the points that were run. "
        "Points where a claim is fitted do not count."
    )
    title = "At how many points each claim is confirmed (green) and contradicted (red)"
    return [Grid("", [Figure(title, "k of m of each claim", caption, drawn, [])])]


def _strip(claim: ReplicatedClaim) -> Strip:
    over, measured = claim["over_grid"], words.kind(claim) != words.NOT_MEASURED
    counted = (over["confirmed"], over["not_decided"], over["contradicted"]) if over else (0, 0, 0)
    return Strip(claim["id"], *counted, "" if measured else "not measured")


def ratios(record: Replication) -> list[Ratio]:
    """Rows of the forest plot; only a part that decides a verdict has its colour."""
    found = []
    for claim in record["claims"]:
        for part in claim["parts"]:
            printed, ours = part["paper"], Estimate.of(part["ours"])
            if part["form"] not in MAGNITUDES or not isinstance(printed, int | float) or printed <= 0:
                continue
            if ours is None or ours.point is None or ours.point <= 0:
                continue
            low, high = (None if end is None else end / printed for end in (ours.low, ours.high))
            row = f"{part['id']}  ({printed:.3g})"
            judges = part["decides"] and claim["verdict"] not in {None, "fitted"}
            standing = part["verdict"] if judges else "judges nothing"
            tip = f"{part['id']}: paper {plain(printed)}, ours {interval(ours, COUNT)}; {standing}"
            tone = words.tone(part["verdict"] if judges else None)
            found.append(Ratio(row, ours.point / printed, low, high, tone, tip))
    return found


def curves(record: Replication) -> Iterator[Block]:
    """A specification curve of each claim that turns."""
    for claim in record["claims"]:
        if words.flipped(claim):
            drawn = _curve(claim, record)
            title = f"{claim['id']}: {claim['text']}"
            known = any(each["value"] is not None for each in claim["points"] if each["counts"])
            ours = "our estimate above, the levels of its choices below" if known else "the levels of its choices"
            line = " Dashed: what the paper prints." if known and _printed(claim) is not None else ""
            caption = (
                f"Each column is a point of the grid: {ours}. "
                f"Green: confirmed there. Red: contradicted. Brown: neither.{line}"
            )
            figure = Figure(title, f"specification curve of {claim['id']}", caption, drawn, [])
            yield Group(f"{claim['id']} turns with choices", [figure], open=True, printed=True)


def _curve(claim: ReplicatedClaim, record: Replication) -> Markup:
    counted = [each for each in claim["points"] if each["counts"]]
    at = [record["points"][each["at"]] for each in counted]
    paths = [path for path in at[0] if len({levels.get(path) for levels in at}) > 1]
    named = {path: dict.fromkeys(level for levels in at if (level := levels.get(path)) is not None) for path in paths}
    rows = [_level(path, level, paths) for path, each in named.items() for level in each]
    points = [
        Specification(
            each["value"], each["low"], each["high"], words.tone(each["standing"]),
            [_level(path, level, paths) for path, level in levels.items() if path in paths],
            f"{words.standing(each['standing'])}: {words.levels(levels)}"
            + ("" if each["value"] is None else f"; {plain(each['value'])}, n = {each['n']:,}"),
        )
        for each, levels in zip(counted, at, strict=True)
    ]  # fmt: skip
    order = sorted(points, key=lambda each: (each.tone, each.value if each.value is not None else 0.0))
    if all(each.value is not None for each in points):
        order = sorted(points, key=lambda each: each.value or 0.0)
    part = words.shown(claim, None)
    title = "ours" if part is None else f"ours, {part['id']}"
    label = f"specification curve of {claim['id']}"
    return curve(f"curve-{claim['id']}", label, order, rows, CurveAxis(title, _printed(claim)))


def _printed(claim: ReplicatedClaim) -> float | None:
    """The number of the paper that our estimate is to be compared with."""
    return float(claim["paper"]) if isinstance(claim["paper"], float | int) else None


def _level(path: str, level: str, paths: Sequence[str]) -> str:
    """A level in words; by the last names of its path if they are long, for a label is cut off."""
    written = level_words(path, level)
    return written if len(written) <= LONGEST else f"{words.last_names(path, paths)} {level}"
