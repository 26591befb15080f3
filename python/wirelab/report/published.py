"""The publication's printed numbers, as `verdicts.json` carries them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from wirelab.claims.samples import same_level
from wirelab.report.campaign import Campaign
from wirelab.report.model import Scenario, metric_name


@dataclass(frozen=True)
class Published:
    """Mean and standard deviation that a publication prints for one scenario and metric, in milliseconds."""

    metric: str
    mean_ms: float | None
    sd_ms: float | None


def published_numbers(campaign: Campaign) -> dict[tuple[str, str], Published]:
    """Times by scenario key and metric; empty without a publication. Other metrics are shown only with their claim.

    A scenario has a number if its levels contain those of the number.
    """
    found: dict[tuple[str, str], dict[str, float]] = {}
    for row in [] if campaign.verdicts is None else campaign.verdicts["published_numbers"]:
        for scenario in campaign.scenarios:
            measured = scenario.metric(row["metric"])
            if (measured is None or measured["unit"] == "s") and _matches(scenario, row["levels"]):
                found.setdefault((scenario.key, metric_name(row["metric"])), {})[row["statistic"]] = row["value"] * 1e3
    return {key: Published(key[1], values.get("mean"), values.get("sd")) for key, values in found.items()}


def removed_outliers(campaign: Campaign) -> bool:
    """Whether the publication removed outliers, so that its claims are judged by its rule too."""
    return any(claim["under_published_rule"] for claim in campaign.claims)


def _matches(scenario: Scenario, levels: Mapping[str, str]) -> bool:
    return any(all(same_level(point.get(path), level) for path, level in levels.items()) for point in scenario.points)
