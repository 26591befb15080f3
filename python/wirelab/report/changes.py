"""What `compare` found, in words and as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from wirelab.report.blocks import Cell, Column, Table
from wirelab.report.compared import Case, Compared
from wirelab.report.numbers import COUNT, PERCENT, UNITS, Estimate, Unit, exact, plain, with_unit
from wirelab.report.sections.common import metric_words
from wirelab.schema.changes import Change, Changes, FirstDifference, MeasureChange, PacketsChange, ScenarioChange
from wirelab.schema.estimates import EXACT, EXACT_IN_PHASES
from wirelab.statistic import MEAN

SHARE = "share that completed"
METRICS = {
    "wire-bytes": "IP bytes",
    "wire-up-packets": "packets up",
    "wire-down-packets": "packets down",
    "round-trips": "round trips",
}
UNUSABLE = "the quality is unusable: "
"""How the reason of a scenario begins whose numbers may be those of the machine."""
MOST_LISTED = 3
WIDEST = 100
"""An end of a ratio's interval is shown up to so many times the ratio, or 1 if that is farther, and down to as small a
part: those of few trials would have many digits.
"""
SAME = frozenset({EXACT, EXACT_IN_PHASES})
"""Methods of what is the same in each trial."""


def compared(changes: Changes) -> Compared:
    """Everything that is shown of it."""
    packets = (
        line
        for each in changes["scenarios"]
        if "packets" in each
        for line in packets_words(scenario_name(each), each["packets"])
    )
    cases = (case for scenario in changes["scenarios"] for case in _cases(scenario))
    said = [*sides(changes), *notes(changes)]
    return Compared(_names(changes), headline(changes), table(changes), [*packets], said, [*cases])


def _names(changes: Changes) -> str:
    """`before and after`, or of two sides of a run `cubic and bbr in quickstart`."""
    old, new, by = changes["old"], changes["new"], changes["by"] or ""
    before, after = (side["differs"].get(by) or side["differs"].get(f"{by}.name") for side in (old, new))
    if old["campaign"] != new["campaign"] or before is None or after is None:
        return f"{old['campaign']} and {new['campaign']}"
    return f"{before} and {after} in {new['campaign']}"


def _cases(scenario: ScenarioChange) -> Iterator[Case]:
    """A test fails if it fails the job: whatever is larger or smaller, and another packet."""
    name = scenario_name(scenario)
    for measure in scenario["measures"]:
        changed = measure["change"] in {"larger", "smaller"}
        tag: Literal["failure", "skipped"] | None = (
            "failure" if changed else "skipped" if measure["change"] == "inconclusive" else None
        )
        which = "new / old" if measure["metric"] is not None else "new − old"
        values = f"{_value(measure, 'old')} → {_value(measure, 'new')}, {which} {effect(measure)}"
        message = ": ".join(filter(None, [values, measure["why"]]))
        yield Case(name, subject(measure), tag, message)
    if "packets" in scenario:
        differ = scenario["packets"]["differing"] > 0
        yield Case(name, "packets", "failure" if differ else None, " ".join(packets_words(name, scenario["packets"])))


def headline(changes: Changes) -> str:
    """One sentence: what became worse, what changed, or that nothing did."""
    every = [(scenario, measure) for scenario in changes["scenarios"] for measure in scenario["measures"]]
    number = sum(map(_is_compared, changes["scenarios"]))
    match changes["verdict"]:
        case "slower":
            worse = [each for each in every if each[1]["worse"]]
            scenarios = len({id(scenario) for scenario, _ in worse})
            return f"Worse in {scenarios} of {_scenarios(number)}: {_named(*_first(worse))}."
        case "changed":
            changed = [each for each in every if each[1]["change"] in {"larger", "smaller"}]
            if not changed:
                return _packets_alone(changes, number)
            scenarios = len({id(scenario) for scenario, _ in changed})
            where = f"{scenarios} of {_scenarios(number)}"
            return f"Changed, and not for the worse, in {where}: {_named(*_first(changed))}."
        case "unchanged" if changes["comparisons"] == 0 and changes["clock"] == "virtual":
            return f"Unchanged: the same packets or values in each trial of {_scenarios(number)}."
        case "unchanged":
            return f"Unchanged: no difference above {margin(changes)} in {_scenarios(number)}."
    return _open_headline(changes)


def _packets_alone(changes: Changes, number: int) -> str:
    """What differs although no measure of so many scenarios is shown to."""
    other = [each for each in changes["scenarios"] if "packets" in each and each["packets"]["differing"]]
    measures = [measure for each in changes["scenarios"] for measure in each["measures"]]
    unsure = sum(measure["change"] == "inconclusive" for measure in measures)
    more = f" and {len(other) - 1} more" if len(other) > 1 else ""
    packets = f"Other packets in {len(other)} of {_scenarios(number)}: {scenario_name(other[0])}{more}"
    if unsure:
        return f"{packets}. {unsure} of {len(measures)} comparisons {'is' if unsure == 1 else 'are'} inconclusive."
    return f"{packets}. No measure changed by more than {margin(changes)}."


def _open_headline(changes: Changes) -> str:
    """What keeps all of it open."""
    every = [(scenario, measure) for scenario in changes["scenarios"] for measure in scenario["measures"]]
    where = _scenarios(len(changes["scenarios"]))
    if not every:
        return f"Inconclusive: {where}, and none has an exchange."
    unusable = {id(scenario) for scenario, measure in every if (measure["why"] or "").startswith(UNUSABLE)}
    others = [measure for scenario, measure in every if id(scenario) not in unusable]
    open_ones = sum(measure["change"] == "inconclusive" for measure in others)
    unclear = f"{open_ones} of {len(others)} comparisons" + " of the others" * bool(unusable)
    unclear += f" say{'s' * (open_ones == 1)} neither a change nor none"
    if unusable:
        more = f", and {unclear}" if open_ones else ""
        return f"Inconclusive: the quality of {len(unusable)} of {where} is unusable{more}."
    return f"Inconclusive: {unclear}."


def margin(changes: Changes) -> str:
    """`5 %`."""
    return f"{changes['margin'] * 100:.3g} %"


def subject(measure: MeasureChange) -> str:
    """`median of end-to-end delay`."""
    metric = measure["metric"]
    if metric in METRICS and measure["of"] == MEAN:
        return METRICS[metric]
    return SHARE if metric is None else _statistic(measure["of"], metric)


def _statistic(of: str, metric: str) -> str:
    return f"{of} of {METRICS.get(metric) or metric_words(metric)}"


def effect(measure: MeasureChange) -> str:
    """`1.27 [1.18, 1.36]`, or `−2.0 points [−3.1, −0.9]` of a share."""
    found = Estimate.of(measure["effect"])
    if found is None or found.point is None:
        return "–"
    if measure["metric"] is None:
        return with_unit(found, Unit("points", 1e2)) if found.method != EXACT else f"{plain(found.point * 100)} points"
    if found.method == EXACT:
        return plain(found.point, 4)
    return _wide(found, found.point) or with_unit(found, COUNT)


def _wide(found: Estimate, point: float) -> str | None:
    """`1.00 [< 0.0100, > 100]` of an interval that says next to nothing; None of another."""
    low, high, least, most = found.low, found.high, min(point, 1) / WIDEST, max(point, 1) * WIDEST
    if point <= 0 or low is None or high is None or least <= low <= high <= most:
        return None
    ends = plain(low) if low >= least else f"< {plain(least)}", plain(high) if high <= most else f"> {plain(most)}"
    return f"{plain(point)} [{', '.join(ends)}]"


def table(changes: Changes) -> Table:
    """A row for each measure of each scenario. What is asked first comes first, also where a phone cuts the row."""
    rows = [
        [
            Cell(scenario_name(scenario)),
            Cell(subject(measure)),
            Cell(_change(measure), title=measure["why"], tone=_tone(measure)),
            Cell(effect(measure)),
            Cell(_value(measure, "old")),
            Cell(_value(measure, "new")),
        ]
        for scenario in changes["scenarios"]
        for measure in scenario["measures"]
    ]
    columns = [
        Column("scenario", numeric=False), Column("measure", numeric=False), Column("change", numeric=False),
        Column(f"new / old [{changes['each_level'] * 100:.4g} %]"), Column("old [95 %]"), Column("new [95 %]"),
    ]  # fmt: skip
    return Table("Changes", columns, rows, row_headers=2)


def scenario_name(scenario: ScenarioChange) -> str:
    """Its name: `h2, clean`, or with what differs `h2, clean → lossy`."""
    olds, news = (name.split(", ") for name in (scenario["old_name"], scenario["name"]))
    if len(olds) != len(news):
        return f"{', '.join(olds)} → {', '.join(news)}"
    return ", ".join(old if old == new else f"{old} → {new}" for old, new in zip(olds, news, strict=True))


def notes(changes: Changes) -> Iterator[str]:
    """How it was decided, and what limits it, a sentence or two each."""
    if changes["comparisons"]:
        number = changes["comparisons"]
        yield (
            f"A change is larger than {margin(changes)} by its whole interval. {number} "
            f"{'intervals hold' if number > 1 else 'interval holds'}{' together' * (number > 1)} with a chance of "
            f"{changes['level'] * 100:.3g} %."
        )
    sides = [each for found in changes["scenarios"] for m in found["measures"] for each in (m["old"], m["new"])]
    if any(each["method"] in SAME for each in sides):
        few = any(each["point"] is not None and each["low"] is None and each["high"] is None for each in sides)
        yield f"A number without an interval is the same in each trial{', or of too few values for one' * few}."
    yield from _open(changes)
    for words, names in (("old", changes["only_old"]), ("new", changes["only_new"])):
        if names:
            yield f"Only on the {words} side, and not compared: {_some(names)}."
    yield from changes["warnings"]


def _open(changes: Changes) -> Iterator[str]:
    """Why scenarios are inconclusive, if it is not the width of an interval, and which have no value on both sides."""
    unusable = {
        scenario_name(scenario): each["why"].removeprefix(UNUSABLE)
        for scenario in changes["scenarios"]
        for each in scenario["measures"]
        if each["why"] is not None and each["why"].startswith(UNUSABLE)
    }
    if unusable:
        name, why = next(iter(unusable.items()))
        yield f"Inconclusive in {_scenarios(len(unusable))} of unusable quality. The first: {name}: {why}."
    if silent := [scenario_name(each) for each in changes["scenarios"] if not _is_compared(each)]:
        yield f"Without an exchange on either side, and not compared: {_some(silent)}."


def _is_compared(scenario: ScenarioChange) -> bool:
    return bool(scenario["measures"]) or "packets" in scenario


def sides(changes: Changes) -> Iterator[str]:
    """`Old  results/before, measured 2026-11-28 with version 0.1.0; congestion-control cubic`."""
    for words in ("old", "new"):
        side = changes["old"] if words == "old" else changes["new"]
        facts = [
            *([f"measured {side['measured']}"] if side["measured"] else []),
            *([f"version {side['version']}"] if side["version"] else []),
            *([_some([f"{path} {value}" for path, value in side["differs"].items()])] if side["differs"] else []),
        ]
        yield f"{words.capitalize()}  {', '.join([side['campaign'], *facts])}"


def packets_words(name: str, found: PacketsChange) -> Iterator[str]:
    """What changed in the packets of a scenario, a sentence each."""
    first, trials = found["first"], found["trials"]
    if first is None:
        yield f"{name}: the same packets at the same times in {_trials(trials)}."
        return
    yield f"{name}: {difference_words(first)}."
    counts = (("packets", found["packets"]), ("IP bytes", found["size_bytes"]), ("flights", found["flights"]))
    totals = [f"{old:,} → {new:,} {words}" for words, (old, new) in counts if old != new]
    how_many = f"{found['differing']} of {_trials(trials)} {'differs' if found['differing'] == 1 else 'differ'}"
    yield f"  {how_many}, with {', '.join(totals) if totals else 'as many packets, bytes and flights'}."


def difference_words(first: FirstDifference) -> str:
    """`first change at packet 4 (TLS or QUIC handshake): client to server, … becomes …, +1,184 B`."""
    phase = "" if first["phase"] is None else f" ({first['phase']})"
    head = f"first change at packet {first['packet']}{phase}"
    if first["old"] is None:
        return f"{head}: one more packet, {first['new']}"
    if first["new"] is None:
        return f"{head}: there is none, and there was {first['old']}"
    more = first["more_bytes"]
    size = f", {'+' if more > 0 else '−'}{abs(more):,} B" if more else ""
    return f"{head}: {first['old']}, becomes {first['new']}{size}"


def _named(scenario: ScenarioChange, measure: MeasureChange) -> str:
    by, name = effect(measure), scenario_name(scenario)
    if measure["metric"] is None:
        return f"{name}, the {SHARE} changes by {by}"
    return f"{name}, the {_statistic(measure['of'], measure['metric'])} is {by} times the old one"


def _first(each: Sequence[tuple[ScenarioChange, MeasureChange]]) -> tuple[ScenarioChange, MeasureChange]:
    """The largest change."""
    return max(each, key=lambda pair: _size(pair[1]))


def _size(measure: MeasureChange) -> float:
    point = measure["effect"]["point"] or 0.0
    if measure["metric"] is None:
        return abs(point) + 1
    return max(point, 1 / point) if point else 0.0


def _value(measure: MeasureChange, side: str) -> str:
    found = Estimate.of(measure["old"] if side == "old" else measure["new"])
    unit = COUNT if measure["metric"] in METRICS else UNITS.get(measure["unit"], Unit(measure["unit"]))
    unit = PERCENT if measure["unit"] == "share" else unit
    return exact(found, unit) if found is not None and found.method in SAME else with_unit(found, unit)


def _change(measure: MeasureChange) -> str:
    change: Change = measure["change"]
    if change in {"larger", "smaller"} and measure["worse"]:
        return f"{change}: worse"
    return change


def _tone(measure: MeasureChange) -> str | None:
    if measure["worse"]:
        return "bad"
    return "unsure" if measure["change"] == "inconclusive" else None


def _some(texts: Sequence[str]) -> str:
    more = len(texts) - MOST_LISTED
    return ", ".join(texts[:MOST_LISTED]) + (f" and {more} more" if more > 0 else "")


def _scenarios(number: int) -> str:
    return f"{number} scenario{'s' * (number != 1)}"


def _trials(number: int) -> str:
    return f"{number} pair{'s' * (number != 1)} of trials"
