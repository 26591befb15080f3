"""On which protocol and connection a battery lasts longest over each link, in sentences derived by fixed rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wirelab.report.campaign import Campaign
from wirelab.report.grade import scenario_quality
from wirelab.report.grid import Factors
from wirelab.report.model import Scenario
from wirelab.report.numbers import plain
from wirelab.report.protocols import is_secure
from wirelab.report.smallest_median import MOST_CONDITIONS
from wirelab.report.statement import Statement, listed
from wirelab.schema.bounds import Bounds
from wirelab.stats.link.grade import GRADES
from wirelab.units import with_bounds

ALIKE = 0.99
"""Lives are alike from this share of the longest on: radios are modelled, and differ by more than that."""
CONNECTION = "workload.connection"
"""A factor that a device may choose, so that its levels are compared as protocols are."""
_MOST_NAMES = 3
_HREF = "#energy"


def battery_lives(campaign: Campaign) -> Iterator[Statement]:
    """A sentence for each condition with several scenarios that have a battery life; connections are compared."""
    factors = Factors.of(campaign.plan, campaign.scenarios).without(CONNECTION)
    conditions = [
        (", ".join(filter(None, (group.title, condition.label))), condition.scenarios)
        for group in factors.groups(campaign.scenarios)
        for condition in group.conditions
    ]
    found = [said for where, scenarios in conditions if (said := _in_condition(campaign, where, scenarios))]
    yield from found[:MOST_CONDITIONS]
    if (more := len(found) - MOST_CONDITIONS) > 0:
        yield Statement(
            f"{more} more conditions have battery lives in section Energy of the client's radio.", href=_HREF
        )
    if found:
        yield Statement(
            "Ranges of battery lives are those of the models' constants, which all protocols of a link share.",
            [Statement("Self-discharge is left out.")],
            href=_HREF,
        )


def _in_condition(campaign: Campaign, where: str, scenarios: Sequence[Scenario]) -> Statement | None:
    """The lives of scenarios that did the same work, and why others are left out."""
    lives = [(scenario, life) for scenario in scenarios if (life := _life(scenario))]
    if len(lives) < 2:
        return None
    out = {scenario.key: why for scenario, _ in lives if (why := left_out(campaign, scenario))}
    known = sorted((each for each in lives if each[0].key not in out), key=lambda each: -each[1]["typical"])
    names = [f"{_name(scenario)}, {out[scenario.key]}" for scenario, _ in lives if scenario.key in out]
    more = [Statement(f"Left out: {'; '.join(names)}.", href="#outcomes")] if names else []
    if known:
        return _of(where, known, more)
    return Statement(f"{where}: no battery lives are compared.", more, href=_HREF)


def _of(where: str, known: Sequence[tuple[Scenario, Bounds]], left_out: Sequence[Statement]) -> Statement:
    (first, longest), (last, shortest) = known[0], known[-1]
    if len(known) == 1:
        return Statement(f"{where}: the battery lasts {_days(longest)} with {_name(first)}.", left_out, href=_HREF)
    if shortest["typical"] >= ALIKE * longest["typical"]:
        text = f"{where}: the battery lasts {_days(longest)} with each of {len(known)} scenarios, within 1 %."
        return Statement(text, left_out, href=_HREF)
    more = []
    for secure, words in ((True, "encrypted"), (False, "unencrypted")):
        mine = [each for each in known if is_secure(each[0].series.protocol) is secure]
        if mine and mine[0] != known[0]:
            more.append(Statement(f"With {words} protocols: {_longest(mine)}."))
    more.append(Statement(f"The shortest life is {_days(shortest)}, with {_name(last)}."))
    return Statement(f"{where}: the battery lasts longest with {_longest(known)}.", [*more, *left_out], href=_HREF)


def left_out(campaign: Campaign, scenario: Scenario) -> str | None:
    """Why a scenario did not do the work of the others; None if it did."""
    if (ends := scenario.outcomes) is None:
        return "no message completed"
    if not scenario.complete:
        done, failed = ends["completed"] + ends["sent"], ends["failed_trials"]
        trials = f", {failed:,} of {ends['trials']:,} trials failed" if failed else ""
        return f"{done:,} of {ends['exchanges']:,} completed{trials}"
    if scenario.overload is not None:
        return "overloaded"
    return "of unusable quality" if scenario_quality(campaign, scenario) == GRADES[-1] else None


def _longest(known: Sequence[tuple[Scenario, Bounds]]) -> str:
    """The scenarios with the longest life, those within 1 % included, and that life."""
    longest = known[0][1]
    names = [_name(scenario) for scenario, life in known if life["typical"] >= ALIKE * longest["typical"]]
    shown, others = names[:_MOST_NAMES], len(names) - _MOST_NAMES
    words = listed([*shown, f"{others} more"] if others > 0 else shown)
    return f"{words}: {_days(longest)}"


def _name(scenario: Scenario) -> str:
    """Its protocol and connection: `coap new`."""
    connection = scenario.plan.levels.get(CONNECTION)
    return " ".join([scenario.series.label, *([] if connection is None else [str(connection)])])


def _days(life: Bounds) -> str:
    return with_bounds(*(plain(life[bound]) for bound in ("typical", "low", "high"))) + " days"


def _life(scenario: Scenario) -> Bounds | None:
    if scenario.estimates is None or not scenario.plotted:
        return None
    energy = scenario.estimates.get("energy")
    return None if energy is None else energy["battery_days"]
