"""Sections of the page of a replication."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from markupsafe import Markup

from wirelab.report import predictions
from wirelab.report.blocks import (
    Block,
    Cell,
    Column,
    Figure,
    Grid,
    Group,
    Legend,
    LegendEntry,
    Prose,
    Replicated,
    ReplicatedClaims,
    Section,
    Table,
    dash,
)
from wirelab.report.figures.replicated import (
    Pair,
    Ratio,
    Specification,
    Strip,
    curve,
    forest,
    scatter,
    strips,
)
from wirelab.report.model import level_words
from wirelab.report.numbers import COUNT, UNITS, Estimate, interval, plain
from wirelab.report.palette import looks
from wirelab.report.protocols import title as protocol_title
from wirelab.report.replication import words
from wirelab.schema.replication import ReplicatedClaim, ReplicatedNumber, ReplicatedPart, Replication

NO_NUMBERS = "This paper prints no numbers."
MAGNITUDES = ("ratio", "quotient", "count", "share-beyond")
"""Forms of parts whose printed number is compared with ours."""
LEGEND = (
    "Green: the part is confirmed. Red: contradicted. Yellow: inconclusive. "
    "Grey: it judges nothing here, for it is fitted, outside the verdict, or of a claim without a verdict."
)
RAW = " The paper removed outliers before it printed; ours are without its rule."


def future(records: Sequence[Replication]) -> list[Block]:
    """A line for each piece of work that the papers leave; none without any."""
    rows = [
        [Cell(record["paper"]), Cell(each["text"]), Cell(each["found"] or f"Not yet measured: {each['not_yet']}")]
        for record in records
        for each in record["future"]
    ]
    columns = [Column(title, numeric=False) for title in ("paper", "future work", "here")]
    return [Table("What the papers leave for future work", columns, rows)] if rows else []


def sections(record: Replication) -> list[Section]:
    """All of one paper."""
    found = [
        Section("claims", "Claims", [table([record]), Prose(about([record]))]),
        Section("magnitudes", "Printed magnitudes", magnitudes([record])),
        Section("numbers", "Printed numbers", [*_numbers(record), *predictions.blocks(record)]),
        Section("grid", "Over the grid of choices", [*counts([record]), *_curves(record)]),
        Section("future", "Future work of the paper", future([record])),
        Section("campaigns", "Campaigns", [campaigns([record])]),
    ]
    return [section for section in found if section.blocks]


def table(records: Sequence[Replication]) -> ReplicatedClaims:
    """A row for each claim."""
    columns = [
        Column("paper"), Column("ours [interval]"), Column("n"), Column("range over the grid"),
        Column("deciding choice", numeric=False), Column("confirmed / contradicted"), Column("quality", numeric=False),
    ]  # fmt: skip
    rows = [
        Replicated(
            claim["id"], words.verdict(claim, record),
            [
                words.paper(claim), words.ours(claim), Cell(f"{claim['n']:,}"), words.effect(claim),
                words.deciding(claim, record), words.counted(claim), words.quality(claim),
            ],
            claim["text"], words.why(claim),
        )
        for record in records
        for claim in record["claims"]
    ]  # fmt: skip
    return ReplicatedClaims("Verdict in the primary interpretation, and range over the grid of choices", columns, rows)


def about(records: Sequence[Replication]) -> str:
    """How to read the table, and what stands behind it."""
    rates = " or ".join(f"{rate:.0%}" for rate in sorted({record["error_rate"] for record in records}))
    whose = "the paper has" if len(records) == 1 else "its paper has"
    both = f" If {whose} an outlier rule, a verdict is decided only if it is the same with and without it."
    return (
        "The verdict is that of the primary interpretation; all other points widen the range and the counts. "
        "Of two campaigns at one point, the one with more exchanges a scenario speaks. "
        f"Each campaign is a family of its own: at most {rates} chance of one wrong decision or more in each. "
        "A claim whose parts come from several campaigns rests on several families. "
        "What would decide a claim is an extrapolation from its interval."
        f"{both * any(record['outlier_rule'] for record in records)} {' '.join(map(_frozen, records))}"
    )


def _frozen(record: Replication) -> str:
    frozen = record["grid"]["frozen"]
    when = "not frozen" if frozen is None else f"frozen {frozen['at']}"
    return f"Claims and grid of {record['paper']}: {when}."


def magnitudes(records: Sequence[Replication]) -> list[Block]:
    """The forest plot of the papers that print numbers, and which print none."""
    several = len(records) > 1
    silent = [record["paper"] for record in records if not ratios(record, several=several)]
    rows = [ratio for record in records for ratio in ratios(record, several=several)]
    factor = max((record["factor"] for record in records), default=1.25)
    drawn = forest("forest", "ours over each printed magnitude, with its interval", rows, factor)
    if drawn is None:
        return [Prose(NO_NUMBERS if not any(record["printed"] for record in records) else "No magnitude was measured.")]
    title = f"Ours / paper, with 95 % intervals; the band is the tolerance, a factor of {factor:g} either way"
    caption = f"{LEGEND} Beyond a factor of 100: at the edge.{RAW * any(record['outlier_rule'] for record in records)}"
    if silent and several:
        caption += f" No printed magnitudes: {', '.join(silent)}."
    return [Figure(title, "forest plot of printed magnitudes", caption, drawn, [])]


def counts(records: Sequence[Replication]) -> list[Block]:
    """The strips of all claims."""
    found = [
        Strip(claim["id"], *(over[key] if over else 0 for key in ("confirmed", "not_decided", "contradicted")))
        for record in records
        for claim in record["claims"]
        for over in [claim["over_grid"]]
    ]
    drawn = strips("strips", "points that confirm and contradict each claim", found)
    if drawn is None:
        return []
    caption = (
        "Numbers: confirmed / contradicted, of the points that were run. Points where a claim is fitted do not count."
    )
    return [Figure("At how many points each claim is confirmed (green) and contradicted (red)", "k of m of each claim",
                   caption, drawn, [])]  # fmt: skip


def campaigns(records: Sequence[Replication]) -> Table:
    """What was run."""
    columns = [
        Column("paper", numeric=False), Column("campaign", numeric=False), Column("clock", numeric=False),
        Column("measured", numeric=False), Column("version", numeric=False), Column("kernel", numeric=False),
        Column("scenarios"), Column("trials"), Column("exchanges"), Column("completed"), Column("duration", "h"),
        Column("quality", numeric=False), Column("digest", numeric=False),
    ]  # fmt: skip
    rows = []
    for record in records:
        for each in record["campaigns"]:
            sets = ", ".join(f"{path}={','.join(values)}" for path, values in each["sets"].items())
            quick = " (quick run, not conclusive)" if each["quick"] else ""
            rows.append(
                [
                    Cell(record["paper"]), Cell(f"{each['experiment']}{quick}", title=each.get("why") or sets or None),
                    Cell(each["clock"]), _known(each["measured"]), _known(each["version"]), _known(each["kernel"]),
                    Cell(f"{each['scenarios']:,}"), Cell(f"{each['trials']:,}"), Cell(f"{each['exchanges']:,}"),
                    Cell(f"{each['completed']:,}"),
                    dash("not recorded") if each["seconds"] is None else Cell(plain(each["seconds"] / 3600)),
                    Cell(each["quality"]),
                    dash("only the virtual clock gives one") if each["digest"] is None
                    else Cell(each["digest"][:12], title=each["digest"]),
                ]
            )  # fmt: skip
    return Table("Campaigns, of emulation only", columns, rows, row_headers=2)


def _known(text: str | None) -> Cell:
    return dash("not recorded") if text is None else Cell(text)


def ratios(record: Replication, *, several: bool) -> list[Ratio]:
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
            row = f"{part['id']}  {_short(part, several=several)}"
            judges = part["decides"] and claim["verdict"] not in {None, "fitted"}
            standing = part["verdict"] if judges else "judges nothing"
            tip = f"{part['id']}: paper {plain(printed)}, ours {interval(ours, COUNT)}; {standing}"
            tone = words.tone(part["verdict"] if judges else None)
            found.append(Ratio(row, ours.point / printed, low, high, tone, tip))
    return found


def _short(part: ReplicatedPart, *, several: bool) -> str:
    printed = part["paper"]
    return f"({printed:g})" if several or not isinstance(printed, str) else ""


def _numbers(record: Replication) -> Iterator[Block]:
    """A scatter plot for each interpretation and unit."""
    if not record["printed"]:
        yield Prose(NO_NUMBERS)
        return
    if not record["numbers"]:
        yield Prose(f"Of {record['printed']} printed numbers none was measured in a named interpretation.")
        return
    protocols = list(dict.fromkeys(_protocol(each) for each in record["numbers"]))
    slots = dict(zip(protocols, looks([(name, "") for name in protocols]), strict=True))
    yield Legend(
        [
            LegendEntry(_protocol_words(name, record), f"var(--s{look.slot})", shape=look.shape)
            for name, look in slots.items()
            if name
        ]
    )
    figures: list[Figure] = []
    for name in dict.fromkeys(each["interpretation"] for each in record["numbers"]):
        mine = [each for each in record["numbers"] if each["interpretation"] == name]
        for base in dict.fromkeys(record["units"][each["metric"]] for each in mine):
            unit = UNITS.get(base, COUNT)
            here = [each for each in mine if record["units"][each["metric"]] == base]
            pairs = [_pair(each, unit.per_base, unit.symbol, slots[_protocol(each)].slot) for each in here]
            anchor = f"scatter-{len(figures)}"
            drawn = scatter(anchor, "printed numbers against ours", pairs, record["factor"], unit.symbol or "1")
            if drawn is not None:
                fitted = sum(each["fitted"] for each in here)
                caption = f"{len(here)} numbers, {fitted} of them fitted (hollow). The band is a factor of "
                caption += f"{record['factor']:g} either way.{RAW * record['outlier_rule']}"
                title = words.interpretation(name, record)
                primary = " (primary)" if name == record["primary"] and name is not None else ""
                figures.append(
                    Figure(f"{title}{primary}", "scatter plot", caption, drawn,
                           [_numbers_table(here, unit.per_base, unit.symbol, record)])
                )  # fmt: skip
    yield Grid("Every printed number against ours", figures)


def _protocol(number: ReplicatedNumber) -> str:
    return number["levels"].get("protocol", "")


def _protocol_words(name: str, record: Replication) -> str:
    return record["labels"].get(name) or protocol_title(name)


def _pair(number: ReplicatedNumber, scale: float, unit: str, slot: int) -> Pair:
    ours = number["ours"]
    point, low, high = (None if end is None else end * scale for end in (ours["point"], ours["low"], ours["high"]))
    assert point is not None
    at = ", ".join(number["levels"].values())
    tip = f"{number['statistic']} {number['metric']}, {at}: paper {plain(number['paper'] * scale)} {unit}"
    tip += f", ours {plain(point)} {unit}{', fitted' * number['fitted']}"
    return Pair(number["paper"] * scale, point, low, high, slot, number["fitted"], tip)


def _numbers_table(numbers: Sequence[ReplicatedNumber], scale: float, unit: str, record: Replication) -> Table:
    columns = [Column("number", numeric=False), Column("paper", unit), Column("ours", unit), Column("ours / paper")]
    rows = []
    for each in numbers:
        at = ", ".join(record["labels"].get(level, level) for level in each["levels"].values())
        name = f"{each['statistic']} {record['labels'].get(each['metric'], each['metric'])}, {at}"
        point = each["ours"]["point"] or math.nan
        ratio = plain(point / each["paper"]) if each["paper"] else "–"
        fitted = " (fitted)" * each["fitted"]
        rows.append(
            [Cell(f"{name}{fitted}"), Cell(plain(each["paper"] * scale)), Cell(plain(point * scale)), Cell(ratio)]
        )
    return Table("Printed numbers and ours", columns, rows)


def _curves(record: Replication) -> Iterator[Block]:
    for claim in record["claims"]:
        if words.flipped(claim):
            drawn = _curve(claim, record)
            title = f"{claim['id']}: {claim['text']}"
            caption = "Each column is a point of the grid: our estimate above, the levels of its choices below."
            figure = Figure(title, f"specification curve of {claim['id']}", caption, drawn, [])
            yield Group(f"{claim['id']} turns with choices", [figure], open=True, printed=True)


def _curve(claim: ReplicatedClaim, record: Replication) -> Markup:
    counted = [each for each in claim["points"] if each["counts"]]
    at = [record["points"][each["at"]] for each in counted]
    paths = [path for path in at[0] if len({levels.get(path) for levels in at}) > 1]
    named = {path: dict.fromkeys(level for levels in at if (level := levels.get(path)) is not None) for path in paths}
    rows = [_level(path, level) for path, each in named.items() for level in each]
    points = [
        Specification(
            each["value"], each["low"], each["high"], words.tone(each["standing"]),
            [_level(path, level) for path, level in levels.items() if path in paths],
            f"{words.standing(each['standing'])}: {words.levels(levels)}"
            + ("" if each["value"] is None else f"; {plain(each['value'])}, n = {each['n']:,}"),
        )
        for each, levels in zip(counted, at, strict=True)
    ]  # fmt: skip
    order = sorted(points, key=lambda each: (each.tone, each.value if each.value is not None else 0.0))
    if all(each.value is not None for each in points):
        order = sorted(points, key=lambda each: each.value or 0.0)
    return curve(f"curve-{claim['id']}", f"specification curve of {claim['id']}", order, rows, "ours")


def _level(path: str, level: str) -> str:
    written = level_words(path, level)
    return written if len(written) <= 40 else f"{written[:38]} …"
