"""CPU waiting of a scenario's endpoints: delay that comes from the machine, not from a protocol or a link.

The kernel counts how long a ready thread waited (`/proc/PID/schedstat`), and how much CPU time a hypervisor gave to
others. Both are set against the time of the exchanges, as the link's timing error is against the round trip.
A host under a limit waits for that on purpose, and the kernel counts both as one: the other hosts tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wirelab.metrics.base import WAITED
from wirelab.schema.campaign import JOURNAL, read_journal
from wirelab.schema.estimates import AnalysedScenario, EndpointWaits, Grade
from wirelab.stats.dataset import Dataset
from wirelab.stats.link.grade import GRADES, LATENESS_FLOOR_S, LIMITED_SHARE, UNUSABLE_SHARE
from wirelab.stats.link.report import kept_trials
from wirelab.units import format_duration

if TYPE_CHECKING:
    import polars as pl

ROLES = ("client", "server")
WAITS = tuple(f"{role}_run_delay_ns" for role in ROLES)


def endpoint_waits(dataset: Dataset) -> dict[str, EndpointWaits]:
    """For each scenario with trials that count: `wait_s` of both endpoints for each exchange, its `share` of the
    exchange, `steal` (CPUs that the machine did not have), `flag`, `why`, and `cure`: what to do about it.
    """
    import polars as pl

    summed = (pl.len().alias("exchanges"), _busy_ns().sum().alias("busy_ns"))
    rows = dataset.exchanges.group_by("trial").agg(*summed).collect()
    trials = kept_trials(dataset).join(rows, on="trial", how="inner")
    jobs = _jobs(dataset)
    return {
        str(scenario): _judged(mine, max((jobs.get(trial, 1) for trial in mine["trial"]), default=1))
        for (scenario,), mine in trials.group_by("scenario")
    }


@dataclass(frozen=True, slots=True)
class Wait:
    """CPU waiting of a scenario's endpoints, by the scenario's name, and the resulting quality."""

    name: str
    share: float | None
    steal: float | None
    flag: Grade
    why: str
    wait_s: float | None = None
    median_wait_s: float | None = None
    most_wait_s: float | None = None

    def of(self, statistic: str) -> float | None:
        """Seconds of CPU waiting in a statistic of delays: on average in a mean, in the median trial in a median, and
        in the worst trial in any other quantile; None if it cannot be taken away.
        """
        if self.wait_s is None or statistic == "sd" or (self.steal or 0.0) > LIMITED_SHARE:
            return None
        typical = self.wait_s if self.median_wait_s is None else self.median_wait_s
        most = self.wait_s if self.most_wait_s is None else self.most_wait_s
        return {"mean": self.wait_s, "mean-of-completed": self.wait_s, "median": typical}.get(statistic, most)


def waits_by_scenario(scenarios: Iterable[AnalysedScenario]) -> dict[str, Wait]:
    """Those of `estimates.json`, by the scenario's key."""
    known = ((each, each["endpoints"]) for each in scenarios)
    return {each["key"]: _wait(each["name"], waits) for each, waits in known if waits is not None}


def _wait(name: str, waits: EndpointWaits) -> Wait:
    seconds = (waits["wait_s"], waits.get("median_wait_s"), waits.get("most_wait_s"))
    return Wait(name, waits["share"], waits["steal"], waits["flag"], waits["why"], *seconds)


def stolen(waits: Mapping[str, Wait]) -> dict[str, Wait]:
    """The same for CPU times: of what was waited only what a hypervisor took, which counts as a thread's CPU time
    where the kernel does not take it out (`CONFIG_PARAVIRT_TIME_ACCOUNTING`). A `share` is of a CPU here.
    """
    return {
        key: Wait(side.name, side.steal, side.steal, flag, why)
        for key, side in waits.items()
        for flag, why in _stolen(side.steal)
    }


def _jobs(dataset: Dataset) -> dict[str, int]:
    """The number of parallel trials during each trial, itself included."""
    return {entry.trial: entry.lanes for entry in read_journal(dataset.folder / JOURNAL)[0]}


def _busy_ns() -> pl.Expr:
    """The duration of an exchange, or the wait until its timeout."""
    import polars as pl

    # A wait before the start keeps no endpoint busy.
    delay_ns = pl.col("end_to_end_delay_ns") - WAITED
    return pl.coalesce(delay_ns, pl.col("end_ns") - pl.col("start_ns"), pl.lit(0))


def _judged(trials: pl.DataFrame, jobs: int) -> EndpointWaits:
    counted = trials.filter(_was_counted())
    wait_s = share = median_s = most_s = None
    reasons: list[tuple[Grade, str]] = []
    if counted.is_empty() or not counted["busy_ns"].sum():
        reasons.append(("good", "how long endpoints waited for a CPU was not counted"))
    else:
        waited = sum(int(counted[name].sum()) for name in WAITS)
        wait_s = waited / int(counted["exchanges"].sum()) / 1e9
        share = waited / int(counted["busy_ns"].sum())
        each = (
            sum((counted[name].fill_null(0) for name in WAITS), start=counted["exchanges"] * 0) / counted["exchanges"]
        )
        median_s, most_s = float(each.median()) / 1e9, float(each.max()) / 1e9  # type: ignore[arg-type]
        reasons.append(_waited(wait_s, share))
    steal = _steal(trials)
    reasons += _stolen(steal)
    flag = max((grade for grade, _ in reasons), key=GRADES.index)
    why = "; ".join(words for grade, words in reasons if grade == flag)
    cure = None
    if flag != GRADES[0]:
        cure = _cure(jobs) if reasons[0][0] == flag else "run it when the machine is quieter"
    return {
        "wait_s": wait_s, "median_wait_s": median_s, "most_wait_s": most_s, "share": share, "steal": steal,
        "flag": flag, "why": why, "cure": cure,
    }  # fmt: skip


def _cure(jobs: int) -> str:
    """The fix for CPU waiting: a trial that ran alone was not delayed by others."""
    return f"{'run fewer trials at a time (--jobs), or ' * (jobs > 1)}stop other programs"


def _was_counted() -> pl.Expr:
    """Whether each host's wait was counted, or cannot be distinguished from its limit, and that of one was."""
    import polars as pl

    known = pl.all_horizontal(
        pl.col(wait).is_not_null() | pl.col(f"{role}_throttled_ns").is_not_null()
        for role, wait in zip(ROLES, WAITS, strict=True)
    )
    return known & pl.any_horizontal(pl.col(wait).is_not_null() for wait in WAITS)


def _waited(wait_s: float, share: float) -> tuple[Grade, str]:
    part = f"{share:.1%} of its duration" if share <= 1 else f"{share:.1f} times its duration"
    words = f"endpoints waited {format_duration(round(wait_s * 1e9))} for a CPU in each exchange, {part}"
    if wait_s <= LATENESS_FLOOR_S or share <= LIMITED_SHARE:
        return "good", words
    return ("unusable" if share > UNUSABLE_SHARE else "limited"), words


def _stolen(steal: float | None) -> list[tuple[Grade, str]]:
    """Grade and words, if it was too much."""
    if steal is None or steal <= LIMITED_SHARE:
        return []
    return [("unusable" if steal > UNUSABLE_SHARE else "limited", f"a hypervisor gave {steal:.1%} of a CPU to others")]


def _steal(trials: pl.DataFrame) -> float | None:
    """CPUs that were stolen on average while the trials ran."""
    counted = trials.drop_nulls(["stolen_cpu_ns", "duration_ns"])
    total = int(counted["duration_ns"].sum())
    return int(counted["stolen_cpu_ns"].sum()) / total if total else None
