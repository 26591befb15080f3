"""Plans and a host that runs them in no time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from tests.asked import ask
from wirelab.clock.host import RefusedError
from wirelab.runner.topology import LaneAddresses
from wirelab.schema import (
    Closed,
    Delay,
    DirectionReport,
    HostFacts,
    LatenessHistogram,
    LinkReport,
    LinkSpec,
    NewConnection,
    OpenLanes,
    RequestResponse,
    TrialRequest,
    TrialResult,
    TrialStatus,
    link_key,
)
from wirelab.schema.host import HostAddress, LinkAddresses
from wirelab.schema.plan import Block, ExperimentRecord, Implementations, Plan, Scenario, Stop, Trial

Behaviour = Callable[[TrialRequest, int], TrialResult | RefusedError | None]


def link_report(packets: int = 100, late: int = 0, worst_ns: int = 1) -> LinkReport:
    """A report with so many packets, of which some came 5 ms late, and one as late as `worst_ns`."""
    histogram = LatenessHistogram(
        upper_ns=(1_000, 1_000_000, 5_000_000), packets=(packets - late, 0, late), max_ns=worst_ns
    )
    direction = DirectionReport(
        received=packets, delivered=packets, dropped=(), held=0, received_bytes=0, delivered_bytes=0, lateness=histogram
    )
    return LinkReport(directions=(direction,), kernel_drops=0, oversized=0, clock_step=False)


def result(trial: str, status: TrialStatus = TrialStatus.DONE, link: LinkReport | None = None) -> TrialResult:
    """How a trial went."""
    return TrialResult(
        trial=trial, status=status, error=None if status is TrialStatus.DONE else "because", start_ns=1, end_ns=2,
        start_realtime_ns=3, endpoints=(), link=link or link_report(),
    )  # fmt: skip


def make_plan(
    scenarios: int = 2, blocks: int = 3, *, least: int | None = None, name: str = "fake", client: str = "builtin"
) -> Plan:
    """A plan of so many scenarios and blocks."""
    workload = RequestResponse(
        upload_bytes=30,
        download_bytes=0,
        exchanges=1,
        arrival=Closed(),
        concurrency=1,
        timeout_ns=10**9,
        connection=NewConnection(),
    )
    link = LinkSpec(uplink=(Delay(delay_ns=10**7),), downlink=(Delay(delay_ns=10**7),))
    points = tuple(
        Scenario(
            key=f"{index:064x}", identity=f"{index:064x}", name=f"scenario {index}", levels={"protocol": "http1"},
            points=(), protocol="http1",
            settings={"expect-continue": False}, implementation=Implementations(client=client, server="builtin"),
            link=link, link_name="clean", workload=workload, congestion_control="cubic",
            expected_exchange_ns=10**7, expected_trial_ns=10**8,
        )
        for index in range(scenarios)
    )  # fmt: skip
    stop = Stop(replicates=(least or blocks, blocks), interval=None, budget_ns=None)
    record = ExperimentRecord(
        name=name, title="Fake", metric="end-to-end-delay", doi=None, claims=None, file="fake.toml", factors={},
        choices={}, sets={}, stop=stop, preview=None,
    )  # fmt: skip
    trials = [
        Block(
            block=block,
            trials=tuple(
                Trial(trial=f"t{s}-{block:04d}", scenario=p.key, replicate=block, link_seed=1, endpoint_seed=1)
                for s, p in enumerate(points)
            ),
        )
        for block in range(blocks)
    ]
    facts = {link_key(link): ask(link)}
    return Plan(
        experiment=record, identity_version=1, seed=1, link_facts=facts, stall_ns=25_000_000,
        scenarios=points, blocks=tuple(trials),
    )  # fmt: skip


def addresses(server: str = "10.0.0.2", ipv6: str | None = None) -> LaneAddresses:
    """A client and a server on one link."""
    client = HostAddress(host="client", ipv4="10.0.0.1", ipv6=None if ipv6 is None else "fd00::1")
    far = HostAddress(host="server", ipv4=server, ipv6=ipv6)
    return LaneAddresses((LinkAddresses(name="main", near=(client,), far=(far,)),))


class FakeHost:
    """Answers each trial in the order in which it was started, as `behaviour` says; `None` is one that never ends."""

    def __init__(self, behaviour: Behaviour | None = None) -> None:
        self.behaviour = behaviour or (lambda request, _: result(request.trial))
        self.started: list[TrialRequest] = []
        self.most_at_once = 0
        self.closed = False
        self.replaced = 0
        self._waiting: deque[TrialRequest] = deque()
        self._attempts: dict[str, int] = {}

    def open(self, lanes: OpenLanes) -> HostFacts:
        raise AssertionError("these tests open no lanes")

    def replace(self) -> None:
        self.replaced += 1
        self._waiting.clear()

    def lane(self, number: int) -> int:
        return number

    def ask_agent(self, arguments: Sequence[str], seed: int) -> None:
        raise AssertionError("these tests make no files")

    def clock_ns(self) -> int:
        return 0

    def start(self, request: TrialRequest) -> None:
        assert request.lane not in {other.lane for other in self._waiting}, "a lane takes one trial at a time"
        self.started.append(request)
        self._waiting.append(request)
        self.most_at_once = max(self.most_at_once, len(self._waiting))

    def cancel(self, trial: str) -> None:
        self._waiting = deque(request for request in self._waiting if request.trial != trial)
        self.behaviour = lambda request, _: result(request.trial, TrialStatus.CANCELLED)
        self._waiting.extend(request for request in self.started if request.trial == trial)

    def wait(self, timeout_s: float) -> TrialResult | RefusedError | None:
        if not self._waiting:
            return None
        request = self._waiting[0]
        attempt = self._attempts[request.trial] = self._attempts.get(request.trial, 0) + 1
        answer = self.behaviour(request, attempt)
        if answer is not None:
            self._waiting.popleft()
        return answer

    def close(self) -> None:
        self.closed = True


class Ears:
    """Remembers what a run said."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.last = None

    def update(self, progress: object) -> None:
        self.last = progress

    def say(self, words: str) -> None:
        self.said.append(words)
