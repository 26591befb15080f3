"""A campaign's one grade, the same wherever it is shown. Computes no statistic: it is the worst that estimates hold."""

from __future__ import annotations

from collections.abc import Iterator

from wirelab.report.campaign import Campaign
from wirelab.report.model import Json
from wirelab.stats.link import GRADES

PREVIEW = "preview, no result"


def grade(campaign: Campaign) -> str:
    """The worst flag of the links, and of what the endpoints waited for. A preview is no result, whatever they are."""
    if campaign.preview:
        return PREVIEW
    found = [flag for flag, _ in _flags(campaign.estimates)]
    return max(found, key=GRADES.index) if found else "not graded"


def reasons(estimates: Json) -> list[str]:
    """What makes the grade less than the best: each reason once, with where it holds."""
    where: dict[str, list[str]] = {}
    for flag, (place, why) in _flags(estimates):
        if flag != GRADES[0]:
            where.setdefault(f"{flag}: {why}", []).append(place)
    return [f"{', '.join(places)}: {reason}." for reason, places in where.items()]


def _flags(estimates: Json) -> Iterator[tuple[str, tuple[str, str]]]:
    for link in estimates.get("links") or []:
        if link.get("flag") in GRADES:
            yield str(link["flag"]), (f"{link.get('link_name')} {link.get('direction')}", str(link.get("why")))
    for scenario in estimates.get("scenarios") or []:
        if (endpoints := scenario.get("endpoints")) is not None:
            yield str(endpoints["flag"]), (str(scenario["name"]), str(endpoints["why"]))
