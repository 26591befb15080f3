"""Recovery from outages and what they lost, in sentences derived from estimates by fixed rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wirelab.report.campaign import Campaign
from wirelab.report.model import Scenario
from wirelab.report.numbers import plain
from wirelab.report.smallest_median import MOST_CONDITIONS
from wirelab.report.statement import Statement
from wirelab.schema.recovery import RecoveryRecord

_HREF = "#recovery"
_Met = tuple[Scenario, RecoveryRecord]


def recoveries(campaign: Campaign) -> Iterator[Statement]:
    """A sentence for each condition in which messages met an outage."""
    conditions = [
        (", ".join(filter(None, (group.title, condition.label))), met)
        for group in campaign.groups
        for condition in group.conditions
        if (met := [(s, s.recovery) for s in condition.scenarios if s.key in group.own and s.recovery is not None])
    ]
    for where, met in conditions[:MOST_CONDITIONS]:
        yield _in_condition(where, met)
    if (more := len(conditions) - MOST_CONDITIONS) > 0:
        yield Statement(f"{more} more conditions are in section Outages and recovery.", href=_HREF)


def _in_condition(where: str, met: Sequence[_Met]) -> Statement:
    known = (
        (median_s, scenario.series.label) for scenario, record in met if (median_s := _median_s(record)) is not None
    )
    medians = [(f"{plain(median_s)} s", label) for median_s, label in sorted(known)]
    parts = [f"the median recovery from an outage takes {_range(medians)}"] if medians else []
    affected, lost, late = (sum(record[what] for _, record in met) for what in ("affected", "lost", "late"))
    parts.append(f"{lost:,} of {affected:,} affected messages were lost and {late:,} came late")
    more = [
        Statement(f"{what}: {'; '.join(names)}.")
        for what, names in (
            ("Not recovered", [_of(s, r["not_recovered"], r["outages"]) for s, r in met if r["not_recovered"]]),
            ("Lost", [_of(s, r["lost"], r["affected"]) for s, r in met if r["lost"]]),
        )
        if names
    ]
    return Statement(f"{where}: {'; '.join(parts)}.", more, href=_HREF)


def _range(medians: Sequence[tuple[str, str]]) -> str:
    """From the shortest to the longest, each with its protocol."""
    (shortest, first), (longest, last) = medians[0], medians[-1]
    if shortest != longest:
        return f"{shortest} ({first}) to {longest} ({last})"
    return shortest + f" ({first})" * (len(medians) == 1)


def _of(scenario: Scenario, count: int, of: int) -> str:
    return f"{scenario.series.label} {count:,} of {of:,}"


def _median_s(record: RecoveryRecord) -> float | None:
    return None if record["recovery"] is None else record["recovery"]["median_s"]
