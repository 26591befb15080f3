"""What a campaign measured of each choice: bytes and joules of a message, and when its acknowledgement came.

Everything is of a steady state: a trial's first message is left out, with the opening of its connection. What opens a
connection again later is counted.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from wirelab.answer.choose.ranking import Parts
from wirelab.answer.choose.timers import Silence, silences
from wirelab.metrics.base import CARRIED_OUT
from wirelab.metrics.energy_settings import Equipment
from wirelab.metrics.intervals import DeviceClock, Part, parts
from wirelab.metrics.no_day import OVERLOADED, why_no_day
from wirelab.metrics.radio import LoggedTrial, logged_trials
from wirelab.schema.bounds import Bounds
from wirelab.stats.estimate.descriptive import quantile
from wirelab.stats.estimate.model import LEVEL, Estimate
from wirelab.stats.estimate.proportion import Share, share
from wirelab.stats.estimate.sample import Sample
from wirelab_energy import Packet, partition

if TYPE_CHECKING:
    import polars as pl

    from wirelab.schema.plan import Scenario
    from wirelab.stats.dataset import Dataset

DELAY = "end-to-end-delay"
NEAR = 0.1
"""If so much of a deadline more or less decides otherwise, it decides nothing."""
LEAST_TRIALS = 3
"""Of fewer a share has no interval: that of two trials is about 90 points wide, whatever was counted."""
_NOTHING = Estimate(None, None, None, LEVEL, 0, "no values")


@dataclass
class OfChoice:
    """What was measured of one scenario. `data_bytes` are IP bytes of a message by replicate, and `energies` its joules
    by the name of radio settings and by replicate.
    """

    data_bytes: dict[int, float] = field(default_factory=dict)
    energies: dict[str, dict[int, Parts]] = field(default_factory=dict)
    messages: int = 0
    lost: int = 0
    """Messages that timed out or failed, and those that nothing answers and that the link did not deliver."""
    lost_share: Estimate = _NOTHING
    p50_s: Estimate | None = None
    p95_s: Estimate | None = None
    late: Estimate | None = None
    """Share of messages that were not acknowledged within the deadline; None without one."""
    late_near: tuple[float, float] | None = None
    """The same share with a deadline that is shorter by `NEAR` of it, and with one that is longer by it."""
    no_energy: str | None = None
    """Why a message has no energy; None if it has."""
    unchecked: int = 0
    """Messages that nothing answers, and that were not compared with packets."""
    silences: set[Silence] = field(default_factory=set)
    """Before packets at the device."""
    failed_trials: int = 0
    """Their messages are not among these."""
    failure: str | None = None
    """What the first of them says."""

    @property
    def within(self) -> Estimate | None:
        """Share of messages that were acknowledged within the deadline; None without one."""
        if self.late is None:
            return None
        point, high, low = (
            None if end is None else 1 - end for end in (self.late.point, self.late.low, self.late.high)
        )
        return replace(self.late, point=point, low=low, high=high)

    @property
    def trials(self) -> int:
        """Those of which packets are known."""
        return len(self.data_bytes)


def measured(
    dataset: Dataset, equipments: Mapping[str, Mapping[str, Equipment]], deadline_ns: int | None
) -> dict[str, OfChoice]:
    """Of each scenario by its key. `equipments`: by the link's name, radios by the names of their settings."""
    found: dict[str, OfChoice] = {}
    steady_rows = replace(dataset, exchanges=_without_first(dataset.exchanges).collect().lazy())
    for scenario in dataset.scenarios:
        one = found[scenario.key] = OfChoice(no_energy=why_no_day(scenario, dataset.plan.known))
        _outcomes(one, dataset, steady_rows, scenario, deadline_ns)
    replicates: dict[str, int] = dict(dataset.trials.select("trial", "replicate").iter_rows())
    for trial in _logged(dataset):
        one, steady = found[trial.scenario.key], _Steady(trial)
        replicate = replicates[trial.trial]
        one.data_bytes[replicate] = steady.data_bytes()
        one.silences |= steady.silences()
        if steady.overloaded:
            # Nor have the trials before it.
            one.no_energy, one.energies = OVERLOADED, {}
        if one.no_energy is None:
            for name, equipment in equipments.get(trial.scenario.link_name, {}).items():
                one.energies.setdefault(name, {})[replicate] = steady.energies(equipment)
    return found


def vary_radio(
    found: Mapping[str, OfChoice], dataset: Dataset, equipments: Mapping[str, Mapping[str, Equipment]]
) -> None:
    """Add the energies of other settings of the radio, of one trial each: `found` has what is varied, by keys. It is of
    the first replicate that all of them have, whose phases are alike.
    """
    replicates: dict[str, int] = dict(dataset.trials.select("trial", "replicate").iter_rows())
    known = [set(each.data_bytes) for each in found.values() if each.no_energy is None and each.data_bytes]
    common = min(set.intersection(*known), default=None) if known else None
    for trial in _logged(dataset, found):
        key = trial.scenario.key
        if replicates[trial.trial] != common or found[key].no_energy is not None:
            continue
        steady = _Steady(trial)
        for name, equipment in equipments.get(trial.scenario.link_name, {}).items():
            found[key].energies.setdefault(name, {})[replicates[trial.trial]] = steady.energies(equipment)


def _logged(dataset: Dataset, wanted: Container[str] | None = None) -> Iterator[LoggedTrial]:
    trials = logged_trials(
        dataset.folder, dataset.plan, dataset.exchanges.collect(), dataset.trials,
        lambda key: wanted is None or key in wanted,
    )  # fmt: skip
    return (trial for trial in trials if trial.rows and trial.packets)


def bounds_of(trials: Iterable[Parts]) -> Bounds:
    """The mean over trials, with all constants of the radio at each bound."""
    sums = [
        (
            math.fsum(part["low"] for part in trial.values()),
            math.fsum(part["typical"] for part in trial.values()),
            math.fsum(part["high"] for part in trial.values()),
        )
        for trial in trials
    ]
    low, typical, high = (math.fsum(each) / len(sums) for each in zip(*sums, strict=True))
    return {"low": low, "typical": typical, "high": high}


def _without_first(exchanges: pl.LazyFrame) -> pl.LazyFrame:
    """All but the first message of each trial, or its only one."""
    import polars as pl

    first = pl.col("index") == pl.col("index").min().over("trial")
    return exchanges.filter(~first | (pl.len().over("trial") == 1))


def _outcomes(one: OfChoice, dataset: Dataset, steady: Dataset, scenario: Scenario, deadline_ns: int | None) -> None:
    import polars as pl

    of_scenario = dataset.trials.filter((pl.col("scenario") == scenario.key) & ~pl.col("excluded"))
    failed = of_scenario.filter(pl.col("status") != "done")
    if len(failed):
        one.failed_trials = len(failed)
        one.failure = next((text.rstrip(".") for text in failed["error"] if text), str(failed["status"][0]))
    supported = pl.col("outcome") != "unsupported"
    rows = steady.rows(scenario.key).filter(supported)
    unanswered = (pl.col("outcome") == "sent").sum().alias("sent")
    lost = (~pl.col("outcome").is_in([*CARRIED_OUT])).sum().alias("lost")
    trials = rows.group_by("trial", maintain_order=True).agg(lost, unanswered, pl.len().alias("messages"))
    in_all = dataset.rows(scenario.key).filter(supported).group_by("trial").agg(unanswered.alias("sent_in_all"))
    for more in (in_all, of_scenario.select("trial", "arrived")):
        trials = trials.join(more, on="trial", how="left", maintain_order="left")
    one.unchecked = int(trials.filter(pl.col("arrived").is_null())["sent"].sum())
    # Nobody says so of a message that nothing answers, but packets do. Which one they lack is not known: it counts.
    vanished = (pl.col("sent_in_all") - pl.col("arrived")).clip(lower_bound=0).fill_null(0)
    trials = trials.with_columns(pl.col("lost") + pl.min_horizontal(vanished, "sent"))
    one.messages, one.lost = len(rows), int(trials["lost"].sum())
    if one.messages:
        one.lost_share = share_of_trials(trials["lost"].to_list(), trials["messages"].to_list())
    sample = next((each.sample for each in steady.measured(scenario.key) if each.metric.name == DELAY), None)
    if sample is None:
        return
    counted = _with_failures(sample, rows)
    one.p50_s, one.p95_s = quantile(counted, 0.5), quantile(counted, 0.95)
    timeout_ns = scenario.workload.timeout_ns
    if deadline_ns is not None and deadline_ns <= timeout_ns:
        late = Share.beyond(counted, deadline_ns / 1e9)
        one.late = share_of_trials(late.successes, late.sizes)
        # Nobody knows what came after the time-out.
        shorter_ns, longer_ns = (1 - NEAR) * deadline_ns, min((1 + NEAR) * deadline_ns, timeout_ns)
        one.late_near = Share.beyond(counted, shorter_ns / 1e9).point, Share.beyond(counted, longer_ns / 1e9).point


def share_of_trials(successes: Sequence[int], sizes: Sequence[int]) -> Estimate:
    """A share of messages, whose interval allows for what the messages of one trial have in common."""
    found, trials = share(successes, sizes, LEVEL), sum(size > 0 for size in sizes)
    if trials >= LEAST_TRIALS:
        return found
    return replace(found, low=None, high=None, method=f"no interval: {trials} trial{'s' * (trials != 1)}")


def _with_failures(sample: Sample, rows: pl.DataFrame) -> Sample:
    """A message that failed was never acknowledged, so it counts as later than any that was."""
    failed = int((rows["outcome"] == "failed").sum())
    if not failed or not sample.censored:
        return sample
    return Sample(sample.trials, (sample.censored[0] + failed, *sample.censored[1:]), sample.unknown)


class _Steady:
    """The steady state of a trial: all from its second message on, or its only one."""

    def __init__(self, trial: LoggedTrial) -> None:
        self._parts = parts(trial.rows, trial.scenario.workload, trial.packets)
        self._packets = [each.on_device for each in trial.packets]
        messages = [nth for nth, part in enumerate(self._parts) if part.kind == "message"]
        first, self._messages = (messages[0] + 1, len(messages) - 1) if len(messages) > 1 else (messages[0], 1)
        self._counted = [nth for nth in range(first, len(self._parts)) if self._parts[nth].kind != "closing"]
        clock, self._end_ns = DeviceClock(trial.packets), self._parts[-1].start_ns
        self.overloaded = any(clock.at(row["start_ns"]) > self._end_ns for row in trial.rows)
        """Whether a message was begun after the last interval was over."""

    def data_bytes(self) -> float:
        """IP bytes of a message, both directions, with what follows it until the next."""
        sizes = _sizes(self._parts, self._packets)
        return math.fsum(sizes[nth] for nth in self._counted) / self._messages

    def silences(self) -> set[Silence]:
        """Before each packet at the device but the first, also of the first message."""
        return silences([(packet.time_ns, packet.up) for packet in self._packets])

    def energies(self, equipment: Equipment) -> Parts:
        """Joules from one message to the next, by state of the radio."""
        cuts = [part.start_ns for part in self._parts[1:]]
        _, found = partition(equipment.radio, self._packets, self._parts[0].start_ns, self._end_ns, cuts)
        sums: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
        for nth in self._counted:
            for state, spent in found[nth].states.items():
                joules = (spent.joules.low, spent.joules.typical, spent.joules.high)
                sums[state] = [before + more / self._messages for before, more in zip(sums[state], joules, strict=True)]
        return {state: Bounds(low=low, typical=typical, high=high) for state, (low, typical, high) in sums.items()}


def _sizes(found: Sequence[Part], packets: Sequence[Packet]) -> dict[int, int]:
    """IP bytes in each part, both directions."""
    sums: defaultdict[int, int] = defaultdict(int)
    at = 0
    for packet in packets:
        while at + 1 < len(found) and found[at + 1].start_ns <= packet.time_ns:
            at += 1
        sums[at] += packet.size
    return sums
