"""On which protocol and connection a battery lasts longest over each link, in sentences derived by fixed rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wirelab.report.campaign import Campaign
from wirelab.report.model import Scenario
from wirelab.report.numbers import plain
from wirelab.report.protocols import is_secure
from wirelab.report.statement import Statement, listed
from wirelab.schema.bounds import Bounds
from wirelab.units import with_bounds

ALIKE = 0.99
"""Lives are alike from this share of the longest on: radios are modelled, and differ by more than that."""
_MOST_NAMES = 3
_HREF = "#energy"


def battery_lives(campaign: Campaign) -> Iterator[Statement]:
    """A sentence for each link with several scenarios that have a battery life."""
    for link in dict.fromkeys(scenario.plan.link_name for scenario in campaign.scenarios):
        known = [(scenario, life) for scenario in campaign.scenarios if (life := _life(scenario, link))]
        if len(known) > 1:
            yield _of_link(link, sorted(known, key=lambda each: -each[1]["typical"]))


def _of_link(link: str, known: Sequence[tuple[Scenario, Bounds]]) -> Statement:
    (_, longest), (last, shortest) = known[0], known[-1]
    if shortest["typical"] >= ALIKE * longest["typical"]:
        text = f"{link}: the battery lasts {_days(longest)} with each of {len(known)} scenarios, within 1 %."
        return Statement(text, href=_HREF)
    more = []
    for secure, words in ((True, "encrypted"), (False, "unencrypted")):
        mine = [each for each in known if is_secure(each[0].series.protocol) is secure]
        if mine and mine[0] != known[0]:
            more.append(Statement(f"With {words} protocols: {_longest(link, mine)}."))
    more.append(Statement(f"The shortest life is {_days(shortest)}, with {_name(last, link)}."))
    return Statement(f"{link}: the battery lasts longest with {_longest(link, known)}.", more, href=_HREF)


def _longest(link: str, known: Sequence[tuple[Scenario, Bounds]]) -> str:
    """The scenarios with the longest life, those within 1 % included, and that life."""
    longest = known[0][1]
    names = [_name(scenario, link) for scenario, life in known if life["typical"] >= ALIKE * longest["typical"]]
    shown, others = names[:_MOST_NAMES], len(names) - _MOST_NAMES
    words = listed([*shown, f"{others} more"] if others > 0 else shown)
    return f"{words}: {_days(longest)}"


def _name(scenario: Scenario, link: str) -> str:
    """Its levels without the link, as words: `coap new`."""
    return " ".join(part for part in scenario.name.split(", ") if part != link)


def _days(life: Bounds) -> str:
    return with_bounds(*(plain(life[bound]) for bound in ("typical", "low", "high"))) + " days"


def _life(scenario: Scenario, link: str) -> Bounds | None:
    if scenario.plan.link_name != link or scenario.estimates is None or not scenario.plotted:
        return None
    energy = scenario.estimates.get("energy")
    return None if energy is None else energy["battery_days"]
