"""Whether scenarios keep the bounds that an experiment expects: by the whole interval, or inconclusive."""

from __future__ import annotations

from collections.abc import Sequence

from wirelab.schema.estimates import EXACT, EXACT_IN_PHASES, AnalysedScenario, EstimateRecord, LinkRecord
from wirelab.schema.estimates.expectations import ExpectationRecord, Kept
from wirelab.schema.estimates.links import CertificateRecord
from wirelab.schema.expectation import Expectation
from wirelab.statistic import MEAN, MEDIAN, key_of, least_values, quantile_of
from wirelab.stats.dataset import Dataset, points
from wirelab.stats.estimate.model import LEVEL
from wirelab.stats.estimate.proportion import Share
from wirelab.stats.link.grade import GRADES
from wirelab.stats.quality import of_scenario


def judged(
    dataset: Dataset,
    scenarios: Sequence[AnalysedScenario],
    links: Sequence[LinkRecord],
    certificates: Sequence[CertificateRecord],
) -> list[ExpectationRecord]:
    """Each expectation with each scenario that it is about."""
    found = []
    for each in dataset.plan.experiment.expect:
        for planned, scenario in zip(dataset.scenarios, scenarios, strict=True):
            if each.is_about(points(planned)):
                quality = of_scenario(scenario, planned.link_name, links, certificates)
                unusable = quality[1] if quality is not None and quality[0] == GRADES[-1] else None
                found.append(_judge(dataset, each, scenario, unusable))
    return found


def _judge(
    dataset: Dataset, expected: Expectation, scenario: AnalysedScenario, unusable: str | None
) -> ExpectationRecord:
    estimate, missing = _estimate(dataset, expected, scenario)
    verdict: Kept
    why: str | None
    if unusable is not None:
        verdict, why = "inconclusive", f"the quality is unusable: {unusable}"
    elif expected.metric is not None and none_completed(scenario):
        verdict, why = "missed", "no exchange completed"
    elif estimate is None:
        verdict, why = "inconclusive", missing
    else:
        verdict, why = verdict_of(expected, estimate)
    return {
        "subject": expected.subject,
        "bound": f"{expected.sign} {expected.written}",
        "scenario": scenario["key"],
        "name": scenario["name"],
        "verdict": verdict,
        "why": why,
        "unit": expected.unit,
        "estimate": estimate,
    }


def none_completed(scenario: AnalysedScenario) -> bool:
    """Whether exchanges were tried and all of them failed or timed out, or every trial failed before one."""
    ends = scenario["denominators"]
    tried = ends["failed"] + ends["timed-out"] + ends["not-confirmed"] + ends["failed_trials"]
    return tried > 0 and not ends["completed"] and not ends["sent"]


def _estimate(
    dataset: Dataset, expected: Expectation, scenario: AnalysedScenario
) -> tuple[EstimateRecord | None, str | None]:
    """The statistic, or why there is none."""
    if expected.metric is None:
        ends = dataset.unanswered(scenario["key"])
        if not ends:
            return None, "no exchange was to be answered"
        share = Share(tuple(size - missing for missing, size in ends), tuple(size for _, size in ends))
        return share.estimate(LEVEL).record(), None
    record = scenario["metrics"].get(expected.metric)
    if record is None:
        return None, f"no {expected.metric} was measured"
    if expected.statistic in {MEDIAN, MEAN}:
        return record["median" if expected.statistic == MEDIAN else "mean"], None
    found = record["quantiles"].get(key_of(expected.statistic))
    if found is None:
        needs = least_values(quantile_of(expected.statistic))
        return None, f"the {expected.statistic} needs {needs:,} values, and there are {record['n']:,}"
    return found, None


def verdict_of(expected: Expectation, estimate: EstimateRecord) -> tuple[Kept, str | None]:
    """By the whole interval: an end that is not known decides nothing."""
    low, high = estimate["low"], estimate["high"]
    if estimate["method"] in {EXACT, EXACT_IN_PHASES}:
        low = high = estimate["point"]
    below = expected.sign in {"<", "<="}
    worst, best = (high, low) if below else (low, high)
    if worst is not None and expected.holds(worst):
        return "kept", None
    if best is not None and not expected.holds(best):
        return "missed", None
    if worst is None:
        return "inconclusive", f"the interval has no {'upper' if below else 'lower'} end: {estimate['method']}"
    return "inconclusive", "the bound lies inside the interval"
