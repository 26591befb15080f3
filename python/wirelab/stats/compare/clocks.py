"""Whether a campaign under the virtual clock agrees with the same one in real time, cell by cell.

A cell is a scenario. In real time a machine also computes, which takes no time under the virtual clock. What it adds is
the difference of the medians in the lossless cell of the same protocol and factors: the offset, which is added to the
virtual delays. The limits are those of `equivalence`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wirelab.errors import WirelabError
from wirelab.launcher import launched
from wirelab.metrics.registry import DELAYS, EXCHANGE_METRICS
from wirelab.metrics.sampled import sampled
from wirelab.schema import Clock
from wirelab.schema.campaign import JOURNAL, read_journal
from wirelab.schema.estimates import Grade
from wirelab.schema.plan import Scenario
from wirelab.stats.compare.equivalence import MANY, Delays, Measure, Verdict, measures, offset
from wirelab.stats.compare.link_error import Reason, link_rows, scenario_reasons
from wirelab.stats.dataset import Dataset
from wirelab.stats.estimate.model import finite
from wirelab.stats.estimate.proportion import LEAST_TRIALS
from wirelab.stats.estimate.sample import Floats
from wirelab.stats.link.grade import GRADES, configured
from wirelab.stats.link.report import links
from wirelab.stats.machine.endpoint_waits import endpoint_waits

MANY_FAILED = 0.05
"""From this share of exchanges without a delay on, a note says so."""


@dataclass(frozen=True, slots=True)
class Side:
    """One clock's side of a cell: exchanges of any outcome, the share without a delay, and the median in seconds, which
    is None if it is not known. No offset is in it.
    """

    exchanges: int
    failed: float
    median_s: float | None


@dataclass(frozen=True, slots=True)
class Cell:
    """A scenario on both sides. `offset_s` is None if no lossless cell has the same factors."""

    name: str
    live: Side
    virtual: Side
    offset_s: float | None
    reference: str | None
    """The name of the cell of which the offset was taken."""
    measures: tuple[Measure, ...]
    paired: bool
    """Whether trials with the same seed were compared as pairs. Trials that only one side has are left out then."""
    quality: Grade
    """Of the live side and of its reference: their links, and what their endpoints waited for a CPU."""
    why: str

    @property
    def verdict(self) -> Verdict | None:
        """`differs` if a measure does, and `agrees` if all do; None of a reference with nothing else to compare.

        An unusable live side shows nothing about the virtual one.
        """
        found = {each.verdict for each in self.measures}
        if self.quality == GRADES[-1] or not self.live.exchanges or not self.virtual.exchanges:
            return Verdict.INCONCLUSIVE
        worst = (Verdict.DIFFERS, Verdict.INCONCLUSIVE, Verdict.AGREES)
        return next((each for each in worst if each in found), None)

    @property
    def is_reference(self) -> bool:
        """Whether its offset is its own."""
        return self.reference == self.name


@dataclass(frozen=True, slots=True)
class Agreement:
    """All cells in the order of the plan, and what else a reader must know of them."""

    metric: str
    cells: tuple[Cell, ...]
    notes: tuple[str, ...]


def agreement(live: Dataset, virtual: Dataset) -> Agreement:
    """Compare two campaigns of one experiment. Raises `WirelabError` if they are not of the two clocks, or of other
    scenarios, or if the experiment's headline metric is not a delay.
    """
    _require_clocks(live, virtual)
    metric = _metric(live, virtual)
    theirs = _matching(live, virtual)
    every = {
        each.key: (_delays(live, each, metric), _delays(virtual, theirs[each.key], metric)) for each in live.scenarios
    }
    same_seed = live.plan.seed == virtual.plan.seed
    pairs = {key: _pairs(*sides) if same_seed else None for key, sides in every.items()}
    delays = {key: pairs[key] or (list(sides[0].values()), list(sides[1].values())) for key, sides in every.items()}
    references = {each.key: _reference(live, each) for each in live.scenarios}
    offsets = {
        key: offset(*delays[key], live.rng(key, metric, "offset"))
        for key in {each.key for each in references.values() if each is not None}
        if all(delays[key])
    }
    reasons, cells = _reasons(live), []
    for each in live.scenarios:
        reference, sides = references[each.key], delays[each.key]
        taken = offsets.get(reference.key) if reference is not None else None
        own = reference is not None and reference.key == each.key
        paired = pairs[each.key] is not None
        found = measures(*sides, taken, live.rng(each.key, metric, "agreement"), reference=own, paired=paired)
        shift_s = None if taken is None else finite(taken.median.point)
        name = None if reference is None else reference.name
        ours, virtually = _side(sides[0]), _side(sides[1])
        known = reasons[each.key] + ([] if reference is None or own else reasons[reference.key])
        cells.append(Cell(each.name, ours, virtually, shift_s, name, found, paired, *_worst(known)))
    return Agreement(metric, tuple(cells), tuple(_notes(live, virtual, cells)))


def _require_clocks(live: Dataset, virtual: Dataset) -> None:
    clocks = live.plan.clock, virtual.plan.clock
    if clocks == (Clock.LIVE, Clock.VIRTUAL):
        return
    if clocks == (Clock.VIRTUAL, Clock.LIVE):
        what = f"{live.folder} ran under the virtual clock, and {virtual.folder} in real time"
        raise WirelabError(what, hint=f"swap them: {launched(f'clock compare {virtual.folder} {live.folder}')}")
    name = live.plan.experiment.name
    how, other = ("in real time", "virtual") if clocks[0] is Clock.LIVE else ("under the virtual clock", "live")
    raise WirelabError(
        f"{live.folder} and {virtual.folder} both ran {how}",
        hint=f"{launched(f'run {name} --clock {other} --out DIR')} makes the other one",
    )


def _metric(live: Dataset, virtual: Dataset) -> str:
    ours, theirs = live.plan.experiment, virtual.plan.experiment
    if ours.metric != theirs.metric:
        what = f"{live.folder} has the headline metric {ours.metric}, and {virtual.folder} has {theirs.metric}"
        raise WirelabError(what, hint="run the same experiment with both clocks")
    if ours.metric not in DELAYS:
        raise WirelabError(
            f"the headline metric of {live.folder} is {ours.metric}, which is not a delay",
            hint='the clocks are compared by delays: metric = "end-to-end-delay" in the experiment',
        )
    return ours.metric


def _matching(live: Dataset, virtual: Dataset) -> dict[str, Scenario]:
    """The virtual scenario of each live one, by the latter's key. Names do not count: they may be of other settings."""
    ours, theirs = ({each.identity: each for each in side.scenarios} for side in (live, virtual))
    for one, other, mine, others in ((live, virtual, ours, theirs), (virtual, live, theirs, ours)):
        lacking = [scenario.name for identity, scenario in mine.items() if identity not in others]
        if lacking:
            same = lacking[0] in {scenario.name for scenario in others.values()}
            why = ", which has it with another link, workload or setting" if same else ""
            what = f"{len(lacking)} of {len(mine)} scenarios of {one.folder} are not in {other.folder}"
            name = one.plan.experiment.name
            raise WirelabError(
                f"{what}, such as '{lacking[0]}'{why}",
                hint=f"run the same experiment and --set with both clocks; {one.folder} is of {name}",
            )
    return {scenario.key: theirs[identity] for identity, scenario in ours.items()}


def _pairs(live: Mapping[int, Floats], virtual: Mapping[int, Floats]) -> tuple[Delays, Delays] | None:
    """The trials that both sides have, by replicate; None if they are too few, or not of as many exchanges."""
    common = [each for each in live if each in virtual]
    if len(common) < LEAST_TRIALS or any(len(live[each]) != len(virtual[each]) for each in common):
        return None
    return [live[each] for each in common], [virtual[each] for each in common]


def _delays(dataset: Dataset, scenario: Scenario, metric: str) -> dict[int, Floats]:
    """Seconds of the exchanges of each trial by its replicate, infinite of those that did not complete. What is not
    supported, and what nothing answers, is no exchange here.
    """
    import polars as pl

    outcome = ~pl.col("outcome").is_in(["unsupported", "sent"])
    rows = dataset.rows(scenario.key).filter(outcome)
    rows = rows.sort("replicate", "trial", "client", "index")
    definition = next(each for each in EXCHANGE_METRICS if each.name == metric)
    found = sampled(rows, definition, scenario.workload.kind) if len(rows) else None
    values = np.full(len(rows), np.inf) if found is None else np.where(found.use, found.values / 1e9, np.inf)
    starts = np.flatnonzero(rows["trial"] != rows["trial"].shift(1).fill_null(""))
    parts = zip(rows["replicate"].gather(starts).to_list(), np.split(values, starts[1:]), strict=False)
    return dict(parts)


def _reference(dataset: Dataset, scenario: Scenario) -> Scenario | None:
    """The lossless scenario that is most like this one: itself, or the one whose link's delay is the nearest."""
    delays = {
        each.key: abs(_delay_s(dataset, each) - _delay_s(dataset, scenario))
        for each in dataset.scenarios
        if _others(each) == _others(scenario) and _lossless(dataset, each)
    }
    if scenario.key in delays:
        return scenario
    return dataset.plan.scenario(min(delays, key=lambda key: delays[key])) if delays else None


def _others(scenario: Scenario) -> str:
    """All that a scenario is, but its link."""
    levels = {path: level for path, level in scenario.levels.items() if path.split(".")[0] != "link"}
    return json.dumps([scenario.protocol, scenario.implementation.to_json(), levels], sort_keys=True)


def _lossless(dataset: Dataset, scenario: Scenario) -> bool:
    facts = [dataset.link_facts(link) for link in scenario.links]
    return all(
        stage.loss is None for link in facts for way in (link.uplink, link.downlink) for stage in way.stages
    ) and not any(shared.frame_loss for link in facts for shared in link.shared)


def _delay_s(dataset: Dataset, scenario: Scenario) -> float:
    facts = dataset.link_facts(scenario.link)
    return sum(configured(way, facts.shared).delay_s for way in (facts.uplink, facts.downlink))


def _side(trials: Delays) -> Side:
    if not trials:
        return Side(0, 0.0, None)
    every: Floats = np.concatenate(list(trials))
    with np.errstate(invalid="ignore"):
        median = finite(float(np.median(every)))
    return Side(len(every), float(np.mean(~np.isfinite(every))), median)


def _reasons(live: Dataset) -> dict[str, list[Reason]]:
    rows, waits = link_rows(live, links(live)), endpoint_waits(live)
    return {
        each.key: scenario_reasons([each.key], rows, {})
        + [(waits[key]["flag"], "the machine", waits[key]["why"]) for key in [each.key] if key in waits]
        for each in live.scenarios
    }


def _worst(reasons: list[Reason]) -> tuple[Grade, str]:
    flag = max((grade for grade, *_ in reasons), key=GRADES.index, default=GRADES[0])
    return flag, "; ".join(dict.fromkeys(words for grade, _, words in reasons if grade == flag))


def _notes(live: Dataset, virtual: Dataset, cells: Sequence[Cell]) -> Iterator[str]:
    poor = [cell for cell in cells if cell.quality != GRADES[0]]
    if poor:
        worst = max(poor, key=lambda cell: GRADES.index(cell.quality))
        yield (
            f"The live side is not of good quality in {len(poor)} of {len(cells)} cells, and shows nothing where it is "
            f"unusable; {worst.name}: {worst.quality}, {worst.why}."
        )
    disturbed, exchanges = live.disturbed
    if disturbed:
        yield f"The live link was late during {disturbed:,} of {exchanges:,} exchanges."
    if scattered := [
        (each.scatter, cell.name) for cell in cells for each in cell.measures if each.scatter > each.most > 0
    ]:
        share, name = max(scattered)
        where = f"{len(scattered)} of {len(cells)} cells"
        yield (
            f"In {where} the live side scatters without loss more than a distance may be; {name}: {share:.1%} "
            "lie beyond the tolerance. Run it on a quiet machine, or with fewer --jobs."
        )
    for cell in cells:
        shares = cell.live.failed, cell.virtual.failed
        if max(shares) > MANY_FAILED:
            yield f"{cell.name}: {shares[0]:.1%} of live and {shares[1]:.1%} of virtual exchanges did not complete."
        if not cell.live.exchanges or not cell.virtual.exchanges:
            yield f"{cell.name}: no exchange on {'the live' if not cell.live.exchanges else 'the virtual'} side."
    for words, side in (("live", live), ("virtual", virtual)):
        if missing := sum(side.outcomes(each.key)["failed_trials"] for each in side.scenarios):
            yield f"{missing} trials of the {words} campaign are not done, and their exchanges do not count."
        if side.plan.experiment.preview:
            yield f"The {words} campaign is a quick run, scaled down to a budget: not conclusive."
    if alone := [cell for cell in cells if cell.reference is None]:
        yield (
            f"No offset was taken in {len(alone)} of {len(cells)} cells, such as {alone[0].name}: "
            "no lossless cell has the same other factors."
        )
    if few := [cell for cell in cells if min(cell.live.exchanges, cell.virtual.exchanges) < MANY]:
        yield (
            f"In {len(few)} of {len(cells)} cells a side has fewer than {MANY:,} exchanges: "
            "only medians are compared there, within 15 %."
        )
    builds = [{entry.agent for entry in read_journal(each.folder / JOURNAL)[0]} for each in (live, virtual)]
    if builds[0] != builds[1]:
        yield "The two campaigns ran with different builds of the agent."
