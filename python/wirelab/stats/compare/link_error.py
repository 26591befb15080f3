"""The effect of the link's own error on a comparison: an effect that the error could explain is not evidence.

An emulator that is late by some time on average makes a round trip longer by that, each way. How many round trips two
protocols differ in is not known here, so an effect is the protocols' own only from `MULTIPLE` times that error on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from wirelab.metrics.link import mean_lateness_ns
from wirelab.metrics.registry import CPU_TIMES, DELAYS, UNTIMED
from wirelab.schema import is_netem
from wirelab.schema.estimates import ComparisonRecord, Grade, LinkRecord, Quality
from wirelab.stats.compare.scenarios import Without
from wirelab.stats.dataset import Dataset
from wirelab.stats.estimate.model import Comparison, Estimate
from wirelab.stats.link.grade import GRADES
from wirelab.stats.link.report import kept_trials, lateness_histograms
from wirelab.stats.machine.endpoint_waits import Wait, stolen

Reason = tuple[Grade, str, str]
"""A grade, its cause, and why."""

MULTIPLE = 10
"""An effect of so many times the error is the protocols'; one below the error itself is the emulator's."""


def round_trip_errors(dataset: Dataset) -> dict[str, float]:
    """Mean timing error of the emulator over a round trip, in seconds, of each scenario whose link carried packets.

    None of a link that netem ran: how late it was is not known, only how late packets went into it.
    """
    netem = {scenario.key for scenario in dataset.scenarios if is_netem(scenario.link)}
    found = {}
    for (scenario,), trials in kept_trials(dataset).group_by("scenario"):
        if scenario in netem:
            continue
        ways = [mean_lateness_ns(list(lateness_histograms(dataset, trials["trial"], index))) for index in (0, 1)]
        if any(way is not None for way in ways):
            found[str(scenario)] = sum(way or 0.0 for way in ways) / 1e9
    return found


def link_rows(dataset: Dataset, rows: Iterable[LinkRecord]) -> dict[str, list[LinkRecord]]:
    """The rows of `links` that each scenario's link has."""
    found = list(rows)
    return {
        scenario.key: [row for row in found if row["link_name"] == scenario.link_name] for scenario in dataset.scenarios
    }


def comparison_record(
    comparison: Comparison,
    errors: Mapping[str, float],
    rows: Mapping[str, list[LinkRecord]],
    waits: Mapping[str, Wait],
    without: Mapping[str, list[Without]] | None = None,
) -> ComparisonRecord:
    """A comparison as `estimates.json` has it, with what its link is good for.

    That is the worst of the link's own grade, of what its endpoints waited for a CPU, as far as that is in the metric,
    and of the effect, if that is a delay. `without` are the ratios of a delay with CPU waiting, or exchanges that the
    emulator disturbed, taken away: either matters only where the result does not survive that.
    """
    sides = (comparison.a, comparison.b)
    error = max((errors[side] for side in sides if side in errors), default=None)
    is_delay = comparison.metric in DELAYS and comparison.metric not in UNTIMED
    counted = waits_in([comparison.metric], waits)
    if is_delay and without is not None:
        counted = {key: wait for key, wait in counted.items() if key in sides and wait.of("mean") is None}
    reasons = scenario_reasons(sides, rows, counted)
    if comparison.metric in UNTIMED:
        reasons.append(("good", "the effect", "neither counts nor CPU times depend on how late the link was"))
    elif comparison.metric in DELAYS:
        reasons.append(_against_error(comparison.shift, error))
    else:
        words = "of what is no delay, what the link's timing error adds is in the link's own grade"
        reasons.append(("good", "the effect", words))
    without = without or {}
    means = [*reasons, *_not_without(comparison.ratio_of_means, without.get("mean", []))]
    medians = [*reasons, *_not_without(comparison.ratio_of_medians, without.get("median", []))]
    record: ComparisonRecord = {
        "metric": comparison.metric, "a": comparison.a, "b": comparison.b,
        "ratio_of_means": comparison.ratio_of_means.record(), "ratio_of_medians": comparison.ratio_of_medians.record(),
        "shift": comparison.shift.record(), "cliffs_delta": comparison.cliffs_delta.record(),
        "p": comparison.p, "p_adjusted": comparison.p_adjusted, "family": comparison.family,
        "link": _quality(medians, error),
    }  # fmt: skip
    if is_delay:
        record["link_of_means"] = _quality(means, error)
    if (ratio := comparison.ratio_of_percentiles) is not None:
        record["ratio_of_percentiles"] = ratio.record()
        percentiles = [*reasons, *_not_without(ratio, without.get("percentile", []))]
        record["link_of_percentiles"] = _quality(percentiles, error)
    return record


def quality_of(comparison: ComparisonRecord, statistic: str) -> Quality:
    """The quality of a comparison's ratio: of `mean` (and of what rests on it, `sd`), `median`, or `percentile`."""
    whole = comparison["link"]
    if statistic == "percentile":
        return comparison.get("link_of_percentiles", whole)
    return whole if statistic == "median" else comparison.get("link_of_means", whole)


def _quality(reasons: Sequence[Reason], error: float | None) -> Quality:
    flag = max((grade for grade, *_ in reasons), key=GRADES.index)
    why = "; ".join(dict.fromkeys(words for grade, _, words in reasons if grade == flag))
    causes = list(dict.fromkeys(cause for grade, cause, _ in reasons if grade == flag != GRADES[0]))
    return {"flag": flag, "why": why, "causes": causes, "error_s": error}


def _not_without(ratio: Estimate, without: Sequence[Without]) -> Iterator[Reason]:
    """What the side of 1 on which the ratio lies is not the same without."""
    side = _side(ratio)
    for each in without:
        if side and _side(each.ratio) != side:
            for cause in each.causes:
                yield "unusable", cause, f"the difference does not survive taking away {each.words}"


def _side(ratio: Estimate) -> int:
    """1 if the interval lies above 1, -1 if below, 0 if neither is known."""
    if ratio.low is not None and ratio.low > 1:
        return 1
    return -1 if ratio.high is not None and ratio.high < 1 else 0


def waits_in(metrics: Collection[str], waits: Mapping[str, Wait]) -> Mapping[str, Wait]:
    """CPU waiting of endpoints, if it affects any of these metrics."""
    if not UNTIMED.issuperset(metrics):
        return waits
    return {} if CPU_TIMES.isdisjoint(metrics) else stolen(waits)


def scenario_reasons(
    keys: Sequence[str], rows: Mapping[str, list[LinkRecord]], waits: Mapping[str, Wait]
) -> list[Reason]:
    """Grade, cause and words of what scenarios are good for by themselves: by their links, and the longest wait."""
    measured = [row for key in keys for row in rows.get(key, [])]
    reasons: list[Reason] = [
        (row["flag"], "the link", f"{row['direction']}: {row['why']}")
        for row in measured
        if row["flag"] != "not measured"
    ]
    return reasons + list(_starved([waits[key] for key in keys if key in waits]))


def _starved(waits: Iterable[Wait]) -> Iterator[Reason]:
    """The side that waited the most for a CPU, by name."""
    ranked = sorted(waits, key=lambda side: (GRADES.index(side.flag), side.share or 0.0))
    if ranked:
        yield ranked[-1].flag, "the machine", f"{ranked[-1].name}: {ranked[-1].why}"


def _against_error(shift: Estimate, error: float | None) -> Reason:
    if error is None:
        return "limited", "the link", "how late the link was is not known"
    point, low, high = shift.point, shift.low, shift.high
    if point is None or low is None or high is None or low <= 0 <= high:
        return "good", "the effect", "no difference is claimed"
    effect, words = abs(point), f"the link's mean error of {error * 1e3:.2g} ms a round trip"
    if effect < error:
        return "unusable", "the effect", f"the difference of {effect * 1e3:.2g} ms is smaller than {words}"
    if effect < MULTIPLE * error:
        return (
            "limited",
            "the effect",
            f"the difference of {effect * 1e3:.2g} ms is less than {MULTIPLE} times {words}",
        )
    return "good", "the effect", f"the difference is at least {MULTIPLE} times {words}"
