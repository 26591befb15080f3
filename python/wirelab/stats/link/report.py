"""Each link and direction of a campaign: configured, measured, graded; and the emulator's timing error by lane."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from wirelab.errors import WirelabError
from wirelab.metrics.link import lateness_quantile
from wirelab.schema import LatenessHistogram, backend_of, is_netem, link_key
from wirelab.schema.campaign import read_result
from wirelab.schema.estimates import Grade, LaneLateness, LinkMeasured, LinkRecord, Replay, Way
from wirelab.schema.plan import Scenario
from wirelab.stats.dataset import Dataset
from wirelab.stats.estimate.model import LEVEL
from wirelab.stats.link.effects import effects
from wirelab.stats.link.grade import GRADES, Counts, configured, grade, measured_loss
from wirelab.stats.link.loss_path import LossPath

if TYPE_CHECKING:
    import polars as pl

NETEM = "loss is as configured, by netem's counters; its delays are for the probes to judge: it keeps no log"
_SIDES: tuple[tuple[Way, str, int], ...] = (("uplink", "up", 0), ("downlink", "down", 1))


def links(dataset: Dataset) -> list[LinkRecord]:
    """One row for each distinct link and direction, over the trials that count."""
    import polars as pl

    kept = kept_trials(dataset)
    distinct: dict[tuple[str, str], list[Scenario]] = defaultdict(list)
    for scenario in dataset.scenarios:
        distinct[scenario.link_name, link_key(scenario.link)].append(scenario)
    rows: list[LinkRecord] = []
    for scenarios in distinct.values():
        trials = kept.filter(pl.col("scenario").is_in([scenario.key for scenario in scenarios]))
        link = scenarios[0].link
        spans = trials["duration_ns"].drop_nulls().to_list()
        facts = dataset.link_facts(link)
        ways = (facts.uplink, facts.downlink)
        up, down = (configured(way, facts.shared, spans) for way in ways)
        for (direction, prefix, index), way, what in zip(_SIDES, ways, (up, down), strict=True):
            histograms = list(lateness_histograms(dataset, trials["trial"], index))
            p99 = _seconds(lateness_quantile(histograms, 0.99))
            counts = list(_counts(trials, prefix, LossPath.of(way)))
            netem = is_netem(link)
            found = [] if netem else effects(way, trials, prefix)
            off = [reason for effect in found if (reason := effect.grade()) is not None]
            broken: list[tuple[Grade, str]] = [("unusable", reason) for reason in _broken(trials)]
            flag, why = grade(what, counts, p99, up.delay_s + down.delay_s, [*broken, *off])
            if netem and flag == GRADES[0]:
                why = NETEM
            p50 = _seconds(lateness_quantile(histograms, 0.5))
            largest = _seconds(max((histogram.max_ns for histogram in histograms), default=None))
            # netem's own timing error for a packet is not known.
            errors = (None, None, None) if netem else (p50, p99, largest)
            as_configured = what.over(counts).record()
            measured: LinkMeasured = {
                "delay_error_s": {"p50": errors[0], "p99": errors[1], "max": errors[2]},
                "loss": measured_loss(what.over(counts), counts).record(),
                "packets": int(trials[f"{prefix}_received"].sum() or 0),
            }
            for effect in found:
                as_configured[effect.name] = effect.configured
                measured[effect.name] = effect.measured(LEVEL).record()
            rows.append(
                {
                    "link_name": scenarios[0].link_name, "direction": direction, "backend": backend_of(link),
                    "configured": as_configured, "measured": measured, "flag": flag, "why": why,
                }
            )  # fmt: skip
    return rows


def replay(dataset: Dataset) -> Replay | None:
    """The number of trials whose replay matches the log packet for packet; None if none was replayed."""
    import polars as pl

    # netem keeps no log that could be.
    netem = [scenario.key for scenario in dataset.scenarios if is_netem(scenario.link)]
    done = kept_trials(dataset).filter(~pl.col("scenario").is_in(netem))
    replayed = done.drop_nulls("replay_packets")
    if replayed.is_empty():
        return None
    return {
        "trials": done.height,
        "replayed": replayed.height,
        "reproduced": int((replayed["replay_mismatches"] == 0).sum()),
        "packets": int(replayed["replay_packets"].sum()),
        "mismatches": int(replayed["replay_mismatches"].sum()),
    }


def lateness_by_lane(dataset: Dataset) -> list[LaneLateness]:
    """Timing error of every packet by lane, excluded trials too: they say what the lane was like."""
    rows: list[LaneLateness] = []
    for (lane,), trials in sorted(dataset.trials.drop_nulls("lane").group_by("lane")):
        histograms = [h for index in (0, 1) for h in lateness_histograms(dataset, trials["trial"], index)]
        if not histograms:
            continue
        p50, p99, p999 = (_seconds(lateness_quantile(histograms, q)) for q in (0.5, 0.99, 0.999))
        rows.append(
            {
                "lane": int(str(lane)), "packets": sum(sum(histogram.packets) for histogram in histograms),
                "p50_s": p50, "p99_s": p99, "p999_s": p999,
                "max_s": max(histogram.max_ns for histogram in histograms) / 1e9,
            }
        )  # fmt: skip
    return rows


def kept_trials(dataset: Dataset) -> pl.DataFrame:
    """Trials that count."""
    import polars as pl

    return dataset.trials.filter(~pl.col("excluded") & (pl.col("status") == "done"))


def lateness_histograms(dataset: Dataset, trials: Iterable[str], index: int) -> Iterator[LatenessHistogram]:
    """Timing error of each of these trials in one direction (0: uplink) as `result.json` has it."""
    for trial in trials:
        path = dataset.folder / "trials" / trial / "result.json"
        if not path.exists():
            continue
        try:
            directions = read_result(path).link.directions
        except WirelabError:
            # Of a discarded or damaged trial: the tables name it, and nothing else of it counts.
            continue
        if index < len(directions):
            yield directions[index].lateness


def _counts(trials: pl.DataFrame, prefix: str, path: LossPath) -> Iterator[Counts]:
    """Trials of one link; their replicate stands for the seed, which is drawn from the link and the replicate alone."""
    for row in trials.iter_rows(named=True):
        if row[f"{prefix}_received"] is not None:
            counts = {name.removeprefix(f"{prefix}_"): value or 0 for name, value in row.items()}
            reached, unsure = path.reached(counts)
            yield Counts(reached, counts["lost"], row["replicate"], unsure)


def _broken(trials: pl.DataFrame) -> Iterator[str]:
    for column, words in (
        ("kernel_drops", "packets were dropped by the kernel"),
        ("oversized", "frames were longer than the MTU"),
        ("clock_step", "trials saw the clock step"),
    ):
        count = int(trials[column].cast(int).sum() or 0)
        if count:
            yield f"{count} {words}"
    if wrong := int((trials["replay_mismatches"] > 0).sum()):
        yield f"{wrong} of {trials.height} trials have packets that do not match a replay of their log"


def _seconds(nanoseconds: int | None) -> float | None:
    return None if nanoseconds is None else nanoseconds / 1e9
