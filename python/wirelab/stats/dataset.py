"""A campaign's tables as samples."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wirelab.errors import WirelabError
from wirelab.launcher import launched
from wirelab.metrics.exchange_rows import TRIAL_KEYS, exchange_types
from wirelab.metrics.registry import DELAYS, EXCHANGE_METRICS, Metric
from wirelab.metrics.resources import USED
from wirelab.metrics.sampled import sampled
from wirelab.metrics.steps import next_command
from wirelab.metrics.tables import read_table, scan_table
from wirelab.metrics.trial_rows import TRIAL_TYPES
from wirelab.schema import LinkFacts, LinkSpec, link_key
from wirelab.schema.campaign import PLAN, read_plan
from wirelab.schema.estimates import Downloads, Messages, Outcomes, SizeOutcomes
from wirelab.schema.plan import Level, Plan, Scenario
from wirelab.stats.estimate.sample import Sample
from wirelab.stats.units import UNITS

if TYPE_CHECKING:
    import polars as pl

OF_A_TRIAL = {"throughput"}
"""Metrics of which a trial has one value, over all its exchanges, those that timed out too."""

_HITS = ("retransmissions", "lost_packets", "client_retransmissions")


@dataclass(frozen=True)
class Measured:
    """One metric in one scenario. `hit[i]` marks which of trial i's values a retransmission or loss touched; None if
    that was not seen.
    """

    metric: Metric
    unit: str
    sample: Sample
    hit: tuple[NDArray[np.bool_], ...] | None
    horizon_s: float | None = None
    """Where time-outs count in its mean; None if a time-out says nothing about its value."""
    undisturbed: Sample | None = None
    """The sample of a delay without the exchanges that the emulator disturbed; None if it disturbed none."""
    replicates: tuple[int, ...] = ()
    """Of the sample's trials. Empty of what a trial has once."""


@dataclass(frozen=True)
class Dataset:
    """Plan and tables of a campaign. Many exchanges stay on the disk until they are asked for."""

    folder: Path
    plan: Plan
    exchanges: pl.LazyFrame
    trials: pl.DataFrame
    _last: dict[str, pl.DataFrame] = field(init=False, repr=False, compare=False, default_factory=dict)
    """The exchanges of the scenario that was asked for last."""

    @classmethod
    def read(cls, campaign: Path) -> Dataset:
        """Raises `WirelabError` if the campaign has not been measured, or a table is torn."""
        import polars as pl

        for name in ("plan.json", "exchanges.parquet", "trials.parquet"):
            if not (campaign / name).exists():
                hint = next_command(campaign) if name != "plan.json" else "name a campaign's folder"
                raise WirelabError(f"{campaign} has no {name}", hint=hint)
        plan = read_plan(campaign)
        trials = read_table(campaign / "trials.parquet", types=TRIAL_TYPES)
        types: dict[str, type[pl.DataType]] = {**TRIAL_KEYS, **exchange_types(plan.scenarios), "disturbed": pl.Boolean}
        exchanges = scan_table(campaign / "exchanges.parquet", types=types)
        excluded = trials.filter(pl.col("excluded"))["trial"].implode()
        return cls(campaign, plan, exchanges.filter(~pl.col("trial").is_in(excluded)), trials)

    @property
    def scenarios(self) -> tuple[Scenario, ...]:
        return self.plan.scenarios

    @cached_property
    def _identities(self) -> dict[str, str]:
        return {scenario.key: scenario.identity for scenario in self.scenarios}

    def link_facts(self, link: LinkSpec) -> LinkFacts:
        """What the plan knows of a link. Raises `WirelabError` if it knows nothing: another version wrote it."""
        facts = self.plan.link_facts.get(link_key(link))
        if facts is None:
            what = f"{self.folder / PLAN} says nothing of link {link_key(link)}: another version wrote it"
            raise WirelabError(what, hint=launched(f"run FILE --out {self.folder} --fresh"))
        return facts

    def rng(self, *names: str) -> np.random.Generator:
        """A generator seeded by the campaign's seed and what it is for, so that another scenario or metric changes
        nothing. A name that is a scenario's key stands for the scenario's identity.
        """
        what = [self._identities.get(name, name) for name in names]
        digest = hashlib.sha256("\0".join([str(self.plan.seed), *what]).encode()).digest()
        return np.random.default_rng(int.from_bytes(digest[:16], "big"))

    def rows(self, scenario: str) -> pl.DataFrame:
        """The exchanges of a scenario, by its key."""
        import polars as pl

        if scenario not in self._last:
            self._last.clear()
            self._last[scenario] = self.exchanges.filter(pl.col("scenario") == scenario).collect()
        return self._last[scenario]

    @cached_property
    def disturbed(self) -> tuple[int, int]:
        """During how many exchanges the link was late, and of how many."""
        import polars as pl

        late, exchanges = self.exchanges.select(pl.col("disturbed").sum(), pl.len()).collect().row(0)
        return int(late or 0), int(exchanges)

    def outcomes(self, scenario: str) -> Outcomes:
        """How many exchanges ended how, in how many trials, without excluded ones.

        Trials that are not done are among the trials; exchanges that they recorded are counted apart, and nowhere else.
        A trial that a protocol or program does not do at all is unsupported and not failed.
        """
        import polars as pl

        rows = self.rows(scenario)
        trials = self.trials.filter(pl.col("scenario") == scenario)
        counts = dict(rows.group_by("outcome").len().iter_rows())
        kept = trials.filter(~pl.col("excluded"))
        failed = kept.filter(~pl.col("status").is_in(["done", "unsupported"]))
        return {
            "exchanges": len(rows),
            "completed": int(counts.get("completed", 0)),
            "sent": int(counts.get("sent", 0)), "arrived": _arrived(kept) if counts.get("sent") else None,
            "failed": int(counts.get("failed", 0)),
            "timed-out": int(counts.get("timed-out", 0)), "unsupported": int(counts.get("unsupported", 0)),
            "trials": len(kept), "failed_trials": len(failed),
            "unsupported_trials": int((kept["status"] == "unsupported").sum()),
            "exchanges_of_failed_trials": int(failed["uncounted"].sum()),
            "not-confirmed": int(failed["not_confirmed"].sum()), "excluded_trials": len(trials) - len(kept),
        }  # fmt: skip

    def unanswered(self, scenario: str, *, undisturbed: bool = False) -> list[tuple[int, int]]:
        """Of each trial: exchanges that timed out or failed, and all that the protocol supports and answers; or only
        those of them that the emulator left undisturbed.
        """
        import polars as pl

        answerable = ~pl.col("outcome").is_in(["unsupported", "sent"])
        rows = self.rows(scenario).filter(answerable)
        if undisturbed:
            rows = rows.filter(~pl.col("disturbed").fill_null(value=False))
        missing = (pl.col("outcome") != "completed").sum().alias("missing")
        trials = rows.group_by("trial", maintain_order=True).agg(missing, pl.len().alias("exchanges"))
        return [(int(row["missing"]), int(row["exchanges"])) for row in trials.iter_rows(named=True)]

    def messages(self, scenario: str) -> Messages | None:
        """What happened to the messages of `pubsub` and `stream`, over the trials that are done; None of another
        workload. `stalls` is None without a player.
        """
        import polars as pl

        trials = self.trials.filter(
            (pl.col("scenario") == scenario) & ~pl.col("excluded") & (pl.col("status") == "done")
        )
        if trials["lost_messages"].null_count() == len(trials):
            return None
        stalls = trials["stalls"]
        return {
            "lost": int(trials["lost_messages"].sum()),
            "duplicate": int(trials["duplicate_messages"].sum()),
            "stalls": None if stalls.null_count() == len(stalls) else int(stalls.sum()),
        }

    def downloads(self, scenario: str) -> Downloads | None:
        """Of the `largest` and the `smallest` of downloads that take turns: `bytes`, and how many exchanges of it ended
        how. None where all have one size.
        """
        rows = self.rows(scenario)
        if "download_bytes" not in rows.columns:
            return None
        rows = rows.drop_nulls("download_bytes")
        if rows["download_bytes"].n_unique() < 2:
            return None
        sizes = rows["download_bytes"].unique().sort()
        return {"largest": _ends(rows, sizes[-1]), "smallest": _ends(rows, sizes[0])}

    def horizon_s(self, scenario: str) -> float:
        """Where time-outs count in means of delays: the time-out of the scenario's workload."""
        return self.plan.scenario(scenario).workload.timeout_ns / 1e9

    def measured(self, scenario: str) -> Iterator[Measured]:
        """Every exchange metric that has a value in this scenario, or of which time-outs are all that is known; then
        what endpoints used in each trial.
        """
        yield from self._exchanged(scenario)
        yield from self._used(scenario)

    def _used(self, scenario: str) -> Iterator[Measured]:
        import polars as pl

        done = (pl.col("scenario") == scenario) & (pl.col("status") == "done") & ~pl.col("excluded")
        trials = self.trials.filter(done).sort("replicate", "trial")
        for metric in USED:
            unit, factor = UNITS.get(metric.unit, (metric.unit, 1.0))
            values = trials.select(value=metric.value)["value"].cast(pl.Float64).drop_nulls().to_numpy() * factor
            known = values[np.isfinite(values)]
            if len(known):
                yield Measured(metric, unit, Sample.of([value] for value in known), None)

    def _exchanged(self, scenario: str) -> Iterator[Measured]:
        import polars as pl

        rows = self.rows(scenario)
        order = rows.select(pl.arg_sort_by("replicate", "trial", "client", "index"))
        if not order.to_series().is_sorted():
            rows = rows.select(pl.all().gather(order.to_series()))
        if len(rows) == 0:
            return
        starts = np.flatnonzero(rows["trial"] != rows["trial"].shift(1).fill_null(""))
        replicates = tuple(rows["replicate"].gather(starts).to_list())
        touched = _touched(rows)
        calm = ~rows["disturbed"].fill_null(value=False).to_numpy()
        kind = self.plan.scenario(scenario).workload.kind
        for metric in EXCHANGE_METRICS:
            found = sampled(rows, metric, kind)
            if found is None:
                continue
            unit, factor = UNITS.get(metric.unit, (metric.unit, 1.0))
            values, late = found.values * factor, np.split(found.late, starts[1:])
            masks = np.split(found.use, starts[1:])
            parts = [part[mask] for part, mask in zip(np.split(values, starts[1:]), masks, strict=True)]
            counts = tuple(int(part.sum()) for part in late)
            censored, unknown = (counts, 0) if found.censored else ((0,) * len(late), sum(counts))
            if metric.name in OF_A_TRIAL:
                unknown = sum(bool(part.any()) and not len(values) for part, values in zip(late, parts, strict=True))
            hit = None
            if touched is not None:
                hit = tuple(t[mask] for t, mask in zip(np.split(touched, starts[1:]), masks, strict=True))
            horizon_s = self.horizon_s(scenario) if found.censored else None
            undisturbed = None
            if metric.name in DELAYS and not calm.all():
                each = zip(np.split(values, starts[1:]), masks, late, np.split(calm, starts[1:]), strict=True)
                left = [(part[mask & quiet], int((timed & quiet).sum())) for part, mask, timed, quiet in each]
                undisturbed = Sample(
                    tuple(part for part, _ in left), tuple(count * found.censored for _, count in left)
                )
            sample = Sample(tuple(parts), censored, unknown)
            yield Measured(metric, unit, sample, hit, horizon_s, undisturbed, replicates)


def _arrived(trials: pl.DataFrame) -> int | None:
    """Of the messages that were sent, those that the link delivered; None if a trial was not compared."""
    compared = trials.filter((trials["status"] == "done") & (trials["sent"] > 0))["arrived"]
    return None if compared.null_count() else int(compared.sum())


def _ends(rows: pl.DataFrame, size_bytes: int) -> SizeOutcomes:
    """The outcomes of downloads of one size."""
    ends = rows.filter(rows["download_bytes"] == size_bytes)["outcome"]
    completed, timed_out = int((ends == "completed").sum()), int((ends == "timed-out").sum())
    return {"bytes": size_bytes, "exchanges": len(ends), "completed": completed, "timed-out": timed_out}


def _touched(rows: pl.DataFrame) -> NDArray[np.bool_] | None:
    """The exchanges with a retransmitted or lost packet; None if no column shows it."""
    import polars as pl

    columns = [name for name in _HITS if name in rows.columns and rows[name].null_count() < len(rows)]
    if not columns:
        return None
    hits = rows.select(pl.any_horizontal(pl.col(name).fill_null(0) > 0 for name in columns)).to_series()
    return np.asarray(hits.to_numpy(), dtype=np.bool_)


def points(scenario: Scenario) -> list[dict[str, Level]]:
    """The points of the grid that a scenario stands for; a factor that does not touch it makes several."""
    own: dict[str, Level] = {"protocol": scenario.protocol, "link": scenario.link_name}
    return [{**own, **point} for point in scenario.points or (scenario.levels,)]
