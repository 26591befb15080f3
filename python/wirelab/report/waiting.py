"""How ways of waiting for messages compare over each link: delay, energy and messages that did not arrive, in sentences
derived from estimates by fixed rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from wirelab.report.battery import ALIKE, left_out
from wirelab.report.campaign import Campaign
from wirelab.report.grid import Factors
from wirelab.report.model import Scenario, level_words
from wirelab.report.numbers import MILLISECONDS, Estimate, Unit, with_unit
from wirelab.report.ranking import kinds, value
from wirelab.report.sections.common import metric_words
from wirelab.report.smallest_median import MOST_CONDITIONS
from wirelab.report.statement import Statement, listed
from wirelab.schema.bounds import Bounds
from wirelab.schema.workload import Connected, PubSub
from wirelab.statistic import words_of
from wirelab.units import format_duration, format_energy

SECONDS = Unit("s")
LONG_S = 10
"""From so many seconds on, delays are in seconds and not in milliseconds."""
_WAIT_PATHS = ("workload", "workload.wait")
_MOST_NAMES = 3
_HREF = "#messages"


class _Value(NamedTuple):
    """A number of a scenario, with the bounds within which it does not differ from others."""

    scenario: Scenario
    point: float
    low: float
    high: float
    words: str


def by_waiting(campaign: Campaign) -> list[tuple[str, list[Scenario]]]:
    """Scenarios that did the same work, apart from how a subscriber waited and from settings of protocols, each list
    with its condition in words. Empty if the campaign does not vary how a subscriber waits, or judges claims.
    """
    ran = [scenario for scenario in campaign.scenarios if scenario.key not in campaign.unsupported]
    if campaign.verdicts or len({wait for each in ran if (wait := way(each)) is not None}) < 2:
        return []
    factors = Factors.of(campaign.plan, ran)
    for path in factors.varied:
        if path in _WAIT_PATHS or path.startswith("protocols."):
            factors = factors.without(path)
    found = [
        (", ".join(filter(None, (group.title, condition.label, kind))), scenarios)
        for group in factors.groups(ran)
        for condition in group.conditions
        for kind, scenarios in kinds(campaign, condition.scenarios)
        if scenarios
    ]
    return found if all(_same_work(scenarios) for _, scenarios in found) else []


def way(scenario: Scenario) -> str | None:
    """How a scenario's subscriber waits, such as `check-in every 10 min`; None without one."""
    workload = scenario.plan.workload
    if not isinstance(workload, PubSub):
        return None
    wait = workload.wait
    return wait.by if isinstance(wait, Connected) else f"{wait.by} every {format_duration(wait.every_ns)}"


def waiting_name(scenario: Scenario) -> str:
    """A protocol, how its subscriber waits, and the settings that vary: `coap connected (ping-interval 100 s)`."""
    settings = _settings(scenario)
    return f"{scenario.series.label} {way(scenario)}" + f" ({settings})" * bool(settings)


def ways_of_waiting(campaign: Campaign) -> Iterator[Statement]:
    """A sentence for each condition, with a line for each way of waiting and with what did not do the work."""
    found = [_in_condition(campaign, where, scenarios) for where, scenarios in by_waiting(campaign)]
    yield from found[:MOST_CONDITIONS]
    if (more := len(found) - MOST_CONDITIONS) > 0:
        yield Statement(f"{more} more conditions are in section Messages.", href=_HREF)
    if found:
        text = "Energies are of a message with the time until the next one. " * bool(_energies(campaign.scenarios))
        yield Statement(f"{text}Differences between ways of waiting are not tested.", href=_HREF)


def _in_condition(campaign: Campaign, where: str, scenarios: Sequence[Scenario]) -> Statement:
    out = {scenario.key: why for scenario in scenarios if (why := left_out(campaign, scenario))}
    mine = [scenario for scenario in scenarios if scenario.key not in out]
    delays, energies = _delays(campaign, mine), _energies(mine)
    statistic = words_of(campaign.statistic)
    parts = [f"the lowest {statistic} of {metric_words(campaign.metric)} is with {_lowest(delays)}"] * bool(delays)
    parts += [f"the lowest energy {'is ' * (not parts)}with {_lowest(energies)}"] * bool(energies)
    more = []
    for each in dict.fromkeys(way(scenario) for scenario in mine):
        words = [*_range(delays, each, f"{statistic} "), *_range(energies, each, "energy ")]
        more += [Statement(f"{each}: {'; '.join(words)}.")] if words else []
    if out:
        names = [f"{waiting_name(scenario)}, {out[scenario.key]}" for scenario in scenarios if scenario.key in out]
        more.append(Statement(f"Left out: {'; '.join(names)}.", href="#outcomes"))
    return Statement(f"{where}: {', and '.join(parts) or 'no way of waiting can be compared'}.", more, href=_HREF)


def _delays(campaign: Campaign, scenarios: Iterable[Scenario]) -> list[_Value]:
    """The statistic that ranks, the lowest first."""
    known: list[tuple[Scenario, Estimate, float]] = [
        (scenario, found, found.point)
        for scenario in scenarios
        if scenario.compared(campaign.metric)
        and (found := value(campaign, scenario)) is not None
        and found.point is not None
    ]
    unit = campaign.unit
    if unit is MILLISECONDS and max((point for *_, point in known), default=0) >= LONG_S:
        unit = SECONDS
    return _ordered(
        _Value(
            scenario,
            point,
            point if found.low is None else found.low,
            point if found.high is None else found.high,
            with_unit(found, unit),
        )
        for scenario, found, point in known
    )


def _energies(scenarios: Iterable[Scenario]) -> list[_Value]:
    """The energy of a message with its interval, the lowest first. The ranges of models are the same for all."""
    return _ordered(
        _Value(scenario, joules["typical"], joules["typical"], joules["typical"], format_energy(joules["typical"]))
        for scenario in scenarios
        if (joules := _interval_j(scenario)) is not None
    )


def _interval_j(scenario: Scenario) -> Bounds | None:
    energy = None if scenario.estimates is None else scenario.estimates.get("energy")
    return None if energy is None else energy["interval_j"]


def _ordered(values: Iterable[_Value]) -> list[_Value]:
    return sorted(values, key=lambda each: each.point)


def _lowest(values: Sequence[_Value]) -> str:
    """The scenarios with the lowest value, those included that are within 1 % or whose intervals overlap."""
    first = values[0]
    names = [
        waiting_name(each.scenario) for each in values if each.low <= first.high or ALIKE * each.low <= first.point
    ]
    shown, others = names[:_MOST_NAMES], len(names) - _MOST_NAMES
    return listed([*shown, f"{others} more"] if others > 0 else shown)


def _range(values: Sequence[_Value], wait: str | None, before: str) -> Iterator[str]:
    """From the lowest to the highest of one way of waiting, each with its protocol."""
    mine = [each for each in values if way(each.scenario) == wait]
    if not mine:
        return
    first, last = mine[0], mine[-1]
    if first.words != last.words:
        words = f"{first.words} ({_protocol(first.scenario)}) to {last.words} ({_protocol(last.scenario)})"
    else:
        words = first.words + f" ({_protocol(first.scenario)})" * (len(mine) == 1)
    yield f"{before}{words}"


def _protocol(scenario: Scenario) -> str:
    return ", ".join(filter(None, (scenario.series.label, _settings(scenario))))


def _settings(scenario: Scenario) -> str:
    """Levels of the protocol's own settings."""
    own = f"{scenario.series.protocol} "
    levels = scenario.plan.levels.items()
    words = (level_words(path, str(level)) for path, level in levels if path.startswith("protocols."))
    return ", ".join(each.removeprefix(own) for each in words)


def _same_work(scenarios: Sequence[Scenario]) -> bool:
    """Whether their workloads differ only in how a subscriber waits, and in the time-out that follows from it."""
    alike = {"wait": Connected(), "timeout_ns": 0}
    first, *others = (scenario.plan.workload.model_copy(update=alike) for scenario in scenarios)
    return isinstance(first, PubSub) and all(each == first for each in others)
