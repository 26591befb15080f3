"""The quality of the links and endpoints behind a verdict, from `estimates.json`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from wirelab.metrics.registry import DELAYS, UNTIMED
from wirelab.schema.estimates import ComparisonRecord, Estimates, Grade, LinkRecord
from wirelab.schema.verdicts import VerdictQuality
from wirelab.stats.compare.link_error import link_rows, quality_of, scenario_reasons, waits_in
from wirelab.stats.dataset import Dataset
from wirelab.stats.link.grade import DISTURBED, GRADES
from wirelab.stats.machine.endpoint_waits import Wait, waits_by_scenario
from wirelab.stats.machine.offered import OVERLOADED, overloads

SURVIVED = {"the machine", DISTURBED}
"""The causes of a quality that a decided verdict survives without."""


@dataclass(frozen=True)
class Grades:
    """Comparisons with the quality of their links; rows of links and CPU waiting by scenario; and both rates of each
    scenario that was offered more than was served.
    """

    comparisons: tuple[ComparisonRecord, ...]
    rows: Mapping[str, list[LinkRecord]]
    waits: Mapping[str, Wait]
    overloads: Mapping[str, str]

    @classmethod
    def of(cls, dataset: Dataset, estimates: Estimates) -> Grades:
        """Those of the estimates of a dataset."""
        rows = link_rows(dataset, estimates["links"])
        scenarios = estimates["scenarios"]
        return cls(tuple(estimates["comparisons"]), rows, waits_by_scenario(scenarios), overloads(scenarios))

    def unusable(self, scenario: str, metric: str, statistic: str) -> str | None:
        """Why no verdict may rest on a statistic of the scenario; None if one may. CPU waiting that can be taken away
        from delays is not a reason: the verdict must survive that.
        """
        waits = waits_in([metric], self.waits)
        wait = waits.get(scenario)
        if wait is not None and self.wait_s(scenario, metric, statistic) is not None:
            waits = {}
        for flag, _, why in scenario_reasons([scenario], self.rows, waits):
            if flag == GRADES[-1]:
                return why
        return None

    def overload(self, scenario: str, metric: str) -> str | None:
        """Why a metric of the scenario must not be used, if more was offered to it than was served; None if it may.
        Counts and CPU times are the same at any rate.
        """
        rates = self.overloads.get(scenario)
        return None if rates is None or metric in UNTIMED else f"{OVERLOADED}: {rates}"

    def wait_s(self, scenario: str, metric: str, statistic: str) -> float | None:
        """CPU waiting in a statistic of delays that is not of good quality for it; None if there is none."""
        wait = self.waits.get(scenario)
        if wait is None or wait.flag == GRADES[0] or metric not in DELAYS - UNTIMED:
            return None
        return wait.of(statistic)

    def worst(
        self,
        scenarios: Collection[str],
        metrics: Collection[str],
        statistics: Collection[str],
        *,
        decided: bool = False,
    ) -> VerdictQuality | None:
        """The worst flag of what a verdict on these metrics rests on, and why: of their statistics in the comparisons
        between its scenarios, and of the links and endpoints of scenarios that none compares. None if nothing was
        graded. A verdict that is decided survived without the CPU waiting in its delays and without disturbed
        exchanges, so that these do not count.
        """
        waits = waits_in(metrics, self.waits)
        if decided and DELAYS.issuperset(metrics):
            waits = {key: wait for key, wait in waits.items() if any(wait.of(each) is None for each in statistics)}
        mine = [
            (each, [quality_of(each, statistic) for statistic in statistics])
            for each in self.comparisons
            if each["metric"] in metrics and each["a"] in scenarios and each["b"] in scenarios
        ]
        if decided:
            mine = [
                (each, found)
                for each, found in mine
                if SURVIVED.isdisjoint(cause for one in found for cause in one["causes"])
            ]
        compared = {side for each, _ in mine for side in (each["a"], each["b"])}
        alone = [scenario_reasons([key], self.rows, waits) for key in scenarios if key not in compared]
        found = [
            _worst("comparisons", [[(one["flag"], one["why"]) for one in found] for _, found in mine if found]),
            _worst("scenarios", [[(flag, why) for flag, _, why in reasons] for reasons in alone if reasons]),
        ]
        graded = [each for each in found if each is not None]
        if not graded:
            return None
        worst = max((flag for flag, _ in graded), key=GRADES.index)
        return {"flag": worst, "why": "; ".join(why for flag, why in graded if flag == worst)}


def _worst(what: str, reasons: Iterable[Iterable[tuple[Grade, str]]]) -> tuple[Grade, str] | None:
    """The worst flag, for how many it applies, and the reason of the first."""
    each = [max(found, key=lambda reason: GRADES.index(reason[0])) for found in reasons]
    if not each:
        return None
    flag = max((flag for flag, _ in each), key=GRADES.index)
    whys = [why for mine, why in each if mine == flag]
    how_many = f"its {what.removesuffix('s')}" if len(each) == 1 else f"{len(whys)} of its {len(each)} {what}"
    return flag, f"{how_many}: {whys[0]}"
