"""Scenarios of an open loop that were offered more than was served: both rates, and what limits them.

Their delays grow as long as a trial lasts, so that a median says how long that was and nothing of the protocol. A limit
of our own client makes a scenario unusable: it measured the client.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from wirelab.metrics.link import DIRECTIONS
from wirelab.metrics.offered import Growth, growth
from wirelab.metrics.resources import SPAN
from wirelab.schema import Clock, LinkFacts, WorkloadSpec, is_netem
from wirelab.schema.estimates import AnalysedScenario, End, EndpointWaits, EndUse, Grade, OfferedRecord
from wirelab.schema.plan import Scenario
from wirelab.schema.workload import Closed, IdleStart, PageLoads, Persistent, PubSub, RequestWorkload, Stream
from wirelab.stats.dataset import Dataset
from wirelab.stats.estimate.descriptive import mean_and_sd
from wirelab.stats.estimate.model import LEVEL, Estimate
from wirelab.stats.estimate.sample import Sample
from wirelab.stats.link.grade import GRADES
from wirelab.stats.link.over_time import mean_rate_bps
from wirelab.stats.link.report import kept_trials
from wirelab.stats.machine.carried import Carried, carried, enough
from wirelab.units import format_duration

if TYPE_CHECKING:
    import polars as pl

MOST_SLOPE = 0.05
"""Delays that grow faster show that fewer than 95 of 100 messages are served in the time in which they come."""
USED_UP, IDLE = 0.9, 0.5
"""Shares of a CPU: with more an endpoint limits, with less it does not."""
CLIENT_LATE = 0.1
"""Share of the growth that a client may be late with a free place."""
MOST_OF_GROWTH = 0.5
FULL = 0.95
"""Share of a link's rate."""
LESS = "offer less, or run fewer trials at a time (--jobs)"
OVERLOADED = "more was offered than was served"
ROLES: tuple[End, ...] = ("client", "server")
_UNITS = (("/s", 1), ("/min", 60), ("/h", 3600))
_WHERE = ("the uplink", "the downlink")


def offered(dataset: Dataset, waits: Mapping[str, EndpointWaits]) -> dict[str, OfferedRecord]:
    """For each scenario of an open loop with enough messages in a trial, by its key."""
    found = {}
    for scenario in dataset.scenarios:
        if not _is_open(scenario.workload):
            continue
        rows = dataset.rows(scenario.key)
        subscribers = isinstance(scenario.workload, PubSub | Stream)
        each = (growth(part, subscribers=subscribers) for part in rows.partition_by("trial", maintain_order=True))
        if growths := [one for one in each if one is not None]:
            found[scenario.key] = _record(dataset, scenario, growths, waits.get(scenario.key))
    return found


def overloads(scenarios: Sequence[AnalysedScenario]) -> dict[str, str]:
    """The rates and the limit of each scenario that was offered more than was served, by its key."""
    records = ((each["key"], each.get("offered")) for each in scenarios)
    return {key: overload_words(record) for key, record in records if record is not None and not record["keeps_up"]}


def overload_words(record: OfferedRecord) -> str:
    """`50 /s offered, 9.8 /s served (at most 1 message at a time, each takes 102 ms)`."""
    return f"{rates(record)} ({record['why']})" if record["why"] else rates(record)


def rates(record: OfferedRecord) -> str:
    """`50 /s offered, 9.8 /s served`."""
    offered_text, served_text = rate_texts(record)
    return f"{offered_text} offered, {served_text} served"


def rate_texts(record: OfferedRecord) -> tuple[str, str]:
    """`50 /s` and `9.8 /s`, both in the unit of the first."""
    unit, seconds = next(((unit, s) for unit, s in _UNITS if record["offered_hz"] * s >= 1), _UNITS[-1])
    first, second = (float(f"{hz * seconds:.3g}") for hz in (record["offered_hz"], record["served_hz"]))
    return f"{first:,g} {unit}", f"{second:,g} {unit}"


class Limit(NamedTuple):
    """What limits the rate of service, why, what to do about it, and the quality of what was measured."""

    limit: Literal["client", "places", "protocol", "server", "link", "not known"]
    why: str
    cure: str | None = None
    flag: Grade = GRADES[0]


def _is_open(workload: WorkloadSpec) -> bool:
    """Whether messages come at their own times, and not when the ones before have ended."""
    if isinstance(workload, PageLoads):
        return False
    return isinstance(workload, Stream) or not isinstance(workload.arrival, Closed | IdleStart)


def _record(
    dataset: Dataset, scenario: Scenario, growths: Sequence[Growth], waits: EndpointWaits | None
) -> OfferedRecord:
    slope = _slope(dataset, scenario, growths)
    offered_hz = sum(each.offered_hz for each in growths) / len(growths)
    trials = kept_trials(dataset)
    trials = trials.filter(trials["scenario"] == scenario.key)
    ends = {role: _use(trials, role) for role in ROLES}
    record: OfferedRecord = {
        "offered_hz": offered_hz, "served_hz": offered_hz, "slope": slope.record(), "keeps_up": True,
        "limit": "none", "why": "", "cure": None, "flag": GRADES[0], "ends": ends,
    }  # fmt: skip
    # Two or three trials make a wide interval, although each of them may show the growth by itself.
    if max(slope.low or 0.0, min(each.low for each in growths)) <= MOST_SLOPE:
        return record
    loads = [] if is_netem(scenario.link) else list(_loads(dataset.link_facts(scenario.link), trials))
    over = 1 + max(slope.point or 0.0, 0.0)
    case = replace(
        _Case.of(scenario, growths, ends, loads, waits), over=over, carried=carried(dataset.plan.known, scenario, over)
    )
    found = next(case.limits(), None) or Limit("not known", case.unknown())
    return {
        **record,
        "served_hz": offered_hz / over, "keeps_up": False,
        "limit": found.limit, "why": found.why, "cure": found.cure, "flag": found.flag,
        "growth": {"places": case.places, "late": case.late, "inside": case.inside},
    }  # fmt: skip


def _slope(dataset: Dataset, scenario: Scenario, growths: Sequence[Growth]) -> Estimate:
    """The mean over trials; of one trial its own."""
    if len(growths) == 1:
        [one] = growths
        method = "Theil-Sen slope, with the interval of Sen (1968) within one trial"
        return Estimate(one.slope, one.low, one.high, LEVEL, one.messages, method)
    mean, _ = mean_and_sd(Sample.of([each.slope] for each in growths), dataset.rng(scenario.key, "offered"))
    return replace(mean, method=f"mean of each trial's Theil-Sen slope: {mean.method}")


@dataclass(frozen=True)
class _Case:
    """A scenario with what may limit it: shares of the growth of its delays, and of CPUs and of the link's rate."""

    scenario: Scenario
    places: float | None
    late: float | None
    inside: float
    taken_s: float
    ends: dict[End, EndUse]
    loads: list[tuple[str, float]]
    waits: EndpointWaits | None
    over: float = 1.0
    """How many times what is served is offered."""
    carried: Carried | None = None
    """How many messages the connections carry at a time; None where the protocol does not limit them."""

    @property
    def virtual(self) -> bool:
        """Whether computing takes no time."""
        return self.scenario.clock is Clock.VIRTUAL

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        growths: Sequence[Growth],
        ends: dict[End, EndUse],
        loads: list[tuple[str, float]],
        waits: EndpointWaits | None,
    ) -> _Case:
        waiting, inside = sum(each.waiting for each in growths), sum(each.inside for each in growths)
        known = [each.places for each in growths if each.places is not None]
        whole = waiting + inside
        places = sum(known) / whole if whole > 0 and len(known) == len(growths) else None
        late = None if places is None else max(waiting / whole - places, 0.0)
        taken_s = sum(each.taken_s for each in growths) / len(growths)
        return cls(scenario, places, late, inside / whole if whole > 0 else 0.0, taken_s, ends, loads, waits)

    def limits(self) -> Iterator[Limit]:
        """What was seen to limit it, our own client first."""
        if not self.virtual:
            yield from self._client()
            yield from self._server()
        for where, load in self.loads:
            if load >= FULL:
                yield Limit("link", f"{where} got {load:.0%} of what its rate carries")
        workload = self.scenario.workload
        if isinstance(workload, RequestWorkload) and (self.places or 0.0) >= MOST_OF_GROWTH:
            yield _all_places(workload, self.taken_s, self.over, self.carried)
        if not isinstance(workload, RequestWorkload) and self.inside < MOST_OF_GROWTH:
            yield Limit("server", "messages were published late")
        if self.inside >= MOST_OF_GROWTH and (self.virtual or self._used("server", IDLE) is False):
            yield Limit("protocol", f"messages wait for each other {_where(workload)}, and the server {self._busy()}")

    def unknown(self) -> str:
        """Why nothing is known to limit it."""
        whys = ["what limits it is not known"]
        if isinstance(self.scenario.workload, RequestWorkload) and self.places is None:
            whys.append("the client does not say when a place was free")
        if self.inside >= MOST_OF_GROWTH:
            whys.append(f"the server {self._busy()}")
        return ": ".join([whys[0], " and ".join(whys[1:])] if whys[1:] else whys)

    def _client(self) -> Iterator[Limit]:
        """A device with a limit on purpose is what was to be measured."""
        flag, cure = (GRADES[0], None) if "client" in self.scenario.cpu else (GRADES[-1], LESS)
        if self.late is not None and self.late > CLIENT_LATE:
            why = f"the client began messages late with a free place, {self.late:.0%} of the growth"
            yield Limit("client", why, cure, flag)
        if self._used("client", USED_UP):
            yield Limit("client", f"the client {self._busy('client')}", cure, flag)
        if self._starved() == "client":
            yield Limit("client", f"the client waited for a CPU: {self._contention}", cure, flag)

    def _server(self) -> Iterator[Limit]:
        if self._used("server", USED_UP):
            yield Limit("server", f"the server {self._busy()}")
        if self._starved() == "server":
            yield Limit("server", f"the server waited for a CPU: {self._contention}", LESS, GRADES[-1])

    def _used(self, role: End, share: float) -> bool | None:
        """Whether an endpoint used more than a share of a CPU, or of its host's limit; None if not known."""
        cpu = self.ends[role]["cpu"]
        return None if cpu is None else cpu > share * min(self.scenario.cpu.get(role, 1.0), 1.0)

    def _busy(self, role: End = "server") -> str:
        """How much of a CPU an endpoint used, in words."""
        cpu = self.ends[role]["cpu"]
        if self.virtual:
            return "computes in no time"
        return f"used {'an unknown share' if cpu is None else f'{cpu:.0%}'} of a CPU"

    def _starved(self) -> End | None:
        """The endpoint that waited longer for a CPU, if both together waited too long for anything to be usable."""
        if self.waits is None or self.waits["flag"] != GRADES[-1]:
            return None
        client, server = (self.ends[role]["waited"] or 0.0 for role in ROLES)
        return "server" if server > client else "client"

    @property
    def _contention(self) -> str:
        return "" if self.waits is None else self.waits["why"]


def _all_places(workload: RequestWorkload, taken_s: float, over: float, by: Carried | None) -> Limit:
    most = min(workload.concurrency, workload.exchanges)
    if by is not None and by.messages <= most:
        at_once = f"{by.messages} message{'s' * (by.messages > 1)} at a time"
        more = f", and raise workload.concurrency to {by.enough}" * (by.enough > workload.concurrency)
        return Limit("protocol", f"at most {at_once} {_where(workload)}", f"{by.cure}{more}")
    at_once = f"at most {most} message{'s' * (most > 1)} at a time{' of each client' * (workload.clients > 1)}"
    why = f"{at_once}, each takes {format_duration(round(taken_s * 1e9))}"
    return Limit("places", why, f"raise workload.concurrency to {enough(most, over)}")


def _where(workload: WorkloadSpec | RequestWorkload) -> str:
    policy = workload.connection if isinstance(workload, RequestWorkload) else None
    if isinstance(policy, Persistent):
        return f"on {policy.connections} persistent connection{'s' * (policy.connections > 1)}"
    return "in the protocol"


def _use(trials: pl.DataFrame, role: End) -> EndUse:
    """The CPU time of an endpoint beyond its idle cost, and its wait for a CPU, over the time of the exchanges."""
    work = trials[f"{role}_cpu_ns"] - trials[f"{role}_cpu_idle_ns"]
    return {"cpu": _share(work, trials[SPAN]), "waited": _share(trials[f"{role}_run_delay_ns"], trials[SPAN])}


def _share(part: pl.Series, whole: pl.Series) -> float | None:
    known = part.is_not_null() & whole.is_not_null()
    total = int(whole.filter(known).sum())
    return max(int(part.filter(known).sum()), 0) / total if total else None


def _loads(facts: LinkFacts, trials: pl.DataFrame) -> Iterator[tuple[str, float]]:
    """Each stage with a rate: what it is of, and for how much of the exchanges' time it had packets to send."""
    spans_ns = trials[SPAN].drop_nulls().to_list()
    whole_ns = sum(spans_ns)
    if not whole_ns:
        return
    sums = [(int(trials[f"{way}_received"].sum()), int(trials[f"{way}_received_bytes"].sum())) for way in DIRECTIONS]
    for where, direction, (packets, size) in zip(_WHERE, (facts.uplink, facts.downlink), sums, strict=True):
        for stage in direction.stages:
            rate_bps = mean_rate_bps(stage, spans_ns)
            if rate_bps and stage.rate is not None:
                bits = 8 * (size + packets * stage.rate.overhead_bytes)
                yield where, bits * 1e9 / rate_bps / whole_ns
    for shared in facts.shared:
        taken_ns = sum(
            packets * piece.busy_ns + size * piece.busy_ns_per_byte
            for packets, size in sums
            for piece in shared.service
            if packets and piece.from_bytes <= size / packets <= piece.to_bytes
        )
        yield "the shared medium", taken_ns / whole_ns
