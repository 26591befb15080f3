"""A campaign's answer for the terminal. Every number is looked up in its estimates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from wirelab.cli.text import columns
from wirelab.experiment.library import experiment_names
from wirelab.launcher import launched
from wirelab.report.grade import graded, reasons
from wirelab.report.missing import why_missing
from wirelab.report.model import Condition
from wirelab.report.numbers import DASH, Estimate, Unit, ended, plain, with_unit
from wirelab.report.ranking import kinds, value, why_unranked
from wirelab.report.sections.common import metric_words
from wirelab.report.sections.outcomes import commonest_errors
from wirelab.report.sections.recovery import recovery_line
from wirelab.report.waiting import by_waiting, waiting_name
from wirelab.schema import LinkBackend
from wirelab.statistic import MEDIAN, key_of
from wirelab.stats.link.grade import GRADES
from wirelab.stats.machine.offered import OVERLOADED, rates
from wirelab.units import format_size

if TYPE_CHECKING:
    from wirelab.report.campaign import Campaign
    from wirelab.report.model import Scenario


MOST_TABLES = 12
MOST_REASONS = 3
MOST_OUTAGES = 12
NO_INTERVAL = "no interval: "
"""How the method of an estimate without an interval begins; the reason follows."""


def link_line(campaign: Campaign) -> str:
    """`link   configured 10 ms, measured 10.006 ms (p99 +0.03 ms)  quality good`: the worst direction, the grade and
    the reasons for it.
    """
    rows = [row for row in campaign.links if row["measured"]["delay_error_s"]["p50"] is not None]
    if not rows:
        by_netem = any(row["backend"] == LinkBackend.NETEM for row in campaign.links)
        return f"link   run by netem, which keeps no log  {_quality(campaign)}" if by_netem else "link   not measured"
    worst = max(rows, key=lambda row: (_rank(row["flag"]), row["measured"]["delay_error_s"]["p99"] or 0.0))
    configured, error = worst["configured"]["delay_s"], worst["measured"]["delay_error_s"]
    p50, p99 = error["p50"] or 0.0, error["p99"] or 0.0
    where = f" ({worst['link_name']} {worst['direction']})" if len(rows) > 1 else ""
    line = (
        f"link   configured {configured * 1e3:g} ms, measured {(configured + p50) * 1e3:.3f} ms "
        f"(p99 +{p99 * 1e3:.3f} ms){where}  {_quality(campaign)}"
    )
    why = reasons(campaign.estimates)
    rest = len(why) - MOST_REASONS
    more = [f"       {rest} more reason{'s are' if rest > 1 else ' is'} in the report"] * (rest > 0)
    return "\n".join([line, *(f"       {reason}" for reason in why[:MOST_REASONS]), *more])


def _quality(campaign: Campaign) -> str:
    """`quality good`; of a quick run that it is one, which is not a quality."""
    return graded(campaign) if campaign.quick_run else f"quality {graded(campaign)}"


def _rank(flag: str) -> int:
    return GRADES.index(flag) if flag in GRADES else -1


def tables(campaign: Campaign) -> Iterator[str]:
    """A table for each condition, its protocols ranked, encrypted and unencrypted ones apart, or one for neighbours
    that have the same protocol alone, and why some values are missing; a big grid is left to the report.

    Where ways of waiting are compared, a condition has them all in one table.
    """
    if waiting := by_waiting(campaign):
        conditions = [(label, Condition(label, tuple(scenarios))) for label, scenarios in waiting]
        runs = [[each] for each in conditions]
        named = waiting_name
    else:
        conditions = [
            (
                ", ".join(filter(None, (group.title, condition.label, kind))),
                Condition(condition.label, tuple(scenarios)),
            )
            for group in campaign.groups
            for condition in group.conditions
            for kind, scenarios in kinds(campaign, condition.scenarios)
            if not group.own.isdisjoint(scenario.key for scenario in scenarios)
        ]
        runs = [list(run) for _, run in groupby(conditions, lambda each: _only_protocol(each[1]) or each[0])]
        named = _series_label
    shown = [condition for run in runs[:MOST_TABLES] for _, condition in run]
    scenarios = [scenario for condition in shown for scenario in condition.scenarios]
    has_other = any(_other_value(campaign, scenario) != DASH for scenario in scenarios)
    for run in runs[:MOST_TABLES]:
        rows = [(label, _rows(campaign, condition, named, has_other=has_other)) for label, condition in run]
        if (protocol := _only_protocol(run[0][1])) is not None and len(run) > 1:
            rows = [(protocol, [(label, *values) for label, [[_, *values]] in rows])]
        for head, lines in rows:
            yield columns([_head(campaign, head, has_other=has_other), *lines], right=range(2, len(lines[0])))
    if why := _missing(campaign, scenarios, has_other=has_other):
        yield "\n".join(why)
    if more := len(conditions) - len(shown):
        yield f"{more} more condition{'s are' if more > 1 else ' is'} in the report."


def recovery_lines(campaign: Campaign) -> list[str]:
    """What outages did to each scenario: the time to recovery, and messages that were lost or late."""
    found = [(each.name, line) for each in campaign.scenarios if (line := recovery_line(each)) is not None]
    lines = [f"Outage  {name}: {line}" for name, line in found[:MOST_OUTAGES]]
    more = len(found) - MOST_OUTAGES
    return [*lines, *([f"        {more} more scenario{'s are' if more > 1 else ' is'} in the report"] * (more > 0))]


def _only_protocol(condition: Condition) -> str | None:
    """The protocol of a condition with only one."""
    labels = [scenario.series.label for scenario in condition.scenarios]
    return labels[0] if len(labels) == 1 else None


def next_commands(campaign: Campaign, folder: Path) -> str:
    """Where to go from here."""
    shown = [each.series for each in campaign.scenarios if each.outcomes and each.outcomes["exchanges"]]
    if not shown:
        return f"Next    look at the records of the trials: {folder / 'trials'}"
    one = f" --protocol {shown[0].protocol}"
    name = campaign.experiment.name
    new = f" | {launched(f'new mine.toml --from {name}')}" if name in experiment_names() else ""
    return f"Next    {launched(f'show {folder}{one} --slowest')}{new}"


def _head(campaign: Campaign, label: str, *, has_other: bool) -> tuple[str, ...]:
    ranks = f"{metric_words(campaign.metric)}: {campaign.statistic} [95 %]"
    return (label, ranks, *([_other(campaign)] * has_other), "bytes on the wire", "completed / attempted")


def _other(campaign: Campaign) -> str:
    """What stands next to the statistic that ranks."""
    return "p95" if campaign.statistic == MEDIAN else MEDIAN


def _series_label(scenario: Scenario) -> str:
    return scenario.series.label


def _rows(
    campaign: Campaign, condition: Condition, named: Callable[[Scenario], str], *, has_other: bool
) -> list[tuple[str, ...]]:
    values = [(scenario, value(campaign, scenario)) for scenario in condition.scenarios]
    ranked = sorted(values, key=lambda pair: _point(pair[1], float("inf")))
    return [(named(each), *_values(campaign, each, ranks, has_other=has_other)) for each, ranks in ranked]


def _values(campaign: Campaign, scenario: Scenario, ranks: Estimate | None, *, has_other: bool) -> tuple[str, ...]:
    ends = scenario.outcomes
    above = scenario.above_s(campaign.metric, key_of(campaign.statistic)) is not None
    return (
        _ranks(scenario, ranks, scenario.unit(campaign.metric), above=above),
        *([_other_value(campaign, scenario)] * has_other),
        _wire(scenario),
        DASH if ends is None else ended(ends),
    )


def _other_value(campaign: Campaign, scenario: Scenario) -> str:
    unit = scenario.unit(campaign.metric)
    other = scenario.estimate(campaign.metric, "0.95" if campaign.statistic == MEDIAN else MEDIAN)
    return DASH if other is None or other.point is None else f"{plain(other.point * unit.per_base)} {unit.symbol}"


def _ranks(scenario: Scenario, ranks: Estimate | None, unit: Unit, *, above: bool) -> str:
    """The statistic that ranks; of delays that only grow, the rates of messages instead."""
    if scenario.overload is not None and ranks is None:
        return rates(scenario.overload)
    return "above the timeout" if above else with_unit(ranks, unit)


def _wire(scenario: Scenario) -> str:
    both = [scenario.estimate(f"wire-{direction}-bytes", "mean") for direction in ("up", "down")]
    points = [estimate.point for estimate in both if estimate is not None and estimate.point is not None]
    return format_size(sum(points)) if len(points) == 2 else DASH


def _missing(campaign: Campaign, scenarios: Iterable[Scenario], *, has_other: bool) -> list[str]:
    """The reason of each dash of the tables, and of each missing interval, each once."""
    found: dict[tuple[str, str], list[str]] = {}

    def lacks(what: str, scenario: Scenario, why: str) -> None:
        labels = found.setdefault((what, why), [])
        labels += [scenario.series.label] * (scenario.series.label not in labels)

    few, errors = False, commonest_errors(campaign)
    for scenario in scenarios:
        ranks = value(campaign, scenario)
        p95 = scenario.estimate(campaign.metric, "0.95")
        few |= p95 is None and campaign.statistic == MEDIAN and scenario.metric(campaign.metric) is not None
        if scenario.overload is not None and ranks is None:
            if has_other:
                lacks(f"{DASH} {_other(campaign)}", scenario, OVERLOADED)
        elif scenario.outcomes is not None and _has_none(campaign, scenario):
            what = "delay" if scenario.outcomes["sent"] else campaign.statistic
            why = why_unranked(campaign, scenario)
            error, _ = errors.get(scenario.key, (None, 0))
            lacks(f"{DASH} {what}", scenario, why if error is None else f"{why} ({error})")
        elif ranks is not None and ranks.point is not None and ranks.method.startswith(NO_INTERVAL):
            why = f"{ranks.method.removeprefix(NO_INTERVAL)} (n = {ranks.n:,})"
            lacks(f"no interval of the {campaign.statistic}", scenario, why)
        if _wire(scenario) == DASH:
            lacks(f"{DASH} bytes on the wire", scenario, why_missing(scenario, "wire-up-bytes"))
    lines = [f"{what} of {', '.join(labels)}: {why}" for (what, why), labels in found.items()]
    too_few = f"{DASH} p95 of fewer than 100 values is not estimated" if has_other else "p95 needs 100 values or more"
    return [too_few] * few + lines


def _has_none(campaign: Campaign, scenario: Scenario) -> bool:
    """Whether it has no value of the statistic that ranks, not even one above the timeout."""
    ranks = value(campaign, scenario)
    above = scenario.above_s(campaign.metric, key_of(campaign.statistic)) is not None
    return (ranks is None or ranks.point is None) and not above


def _point(estimate: Estimate | None, default: float) -> float:
    return estimate.point if estimate is not None and estimate.point is not None else default
