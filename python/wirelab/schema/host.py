"""Requests to the host and its replies, a line of JSON each (`crates/wirelab-schema/src/host.rs`)."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, TypeAdapter

from wirelab.schema.base import Border, Received, Unsigned, is_default
from wirelab.schema.link import LinkReport
from wirelab.schema.link_spec import LinkSpec


class LaneLink(Border):
    """Who is on a link: hosts where the uplink begins, and where it ends."""

    name: str
    """Name of the link."""
    near: tuple[str, ...]
    """Hosts where the uplink begins."""
    far: tuple[str, ...]
    """Hosts where it ends."""


class Clock(StrEnum):
    """What measures a trial's time."""

    LIVE = "live"
    """This machine's clock."""
    VIRTUAL = "virtual"
    """The clock of a time-travelling kernel, which jumps over idle time; computing takes none of it."""


class OpenLanes(Border):
    """Lanes to make; without links a client and a server, and `main` between them."""

    lanes: Unsigned
    mtu: Unsigned = 1500
    offloads: bool = False
    netem: bool = False
    cpu_quota: bool = False
    clock: Clock = Clock.LIVE
    facts_known: bool = Field(default=False, exclude_if=is_default)
    links: tuple[LaneLink, ...] = ()


class OpenRequest(OpenLanes):
    """Make the lanes; once, first."""

    id: Unsigned
    op: Literal["open"] = "open"


class EventReady(Border):
    """Ready when it prints its ready event on stdout."""

    by: Literal["event"] = "event"
    timeout_ns: Unsigned


class TcpConnectReady(Border):
    """Ready when a TCP connection made inside its namespace is accepted."""

    by: Literal["tcp-connect"] = "tcp-connect"
    port: Unsigned
    timeout_ns: Unsigned


class UdpBoundReady(Border):
    """Ready when a UDP socket is bound in its namespace."""

    by: Literal["udp-bound"] = "udp-bound"
    port: Unsigned
    timeout_ns: Unsigned


ReadyCondition = Annotated[EventReady | TcpConnectReady | UdpBoundReady, Field(discriminator="by")]


class RestartPlan(Border):
    """An outage of a process: it is killed, and the same command is run again later."""

    after_ns: Unsigned
    """When it is killed, counted from the start of the trial's last process."""
    down_ns: Unsigned
    """How long until it is started again."""
    every_ns: Unsigned | None = Field(default=None, exclude_if=is_default)
    """From one kill to the next; absent means that there is one only."""


class Restarted(Received):
    """One restart of a process; instants are of CLOCK_MONOTONIC."""

    stopped_ns: Unsigned
    """When it was killed."""
    ready_ns: Unsigned | None = None
    """When it was ready again; null if the trial was over before."""


class EndpointProcess(Border):
    """One process of a trial."""

    name: str
    host: str
    command: tuple[str, ...]
    environment: dict[str, str] = Field(default_factory=dict)
    directory: Path
    stdout: Path
    stderr: Path
    ready: ReadyCondition | None = None
    ends_trial: bool
    restart: RestartPlan | None = Field(default=None, exclude_if=is_default)


class CaptureFiles(Border):
    """Captures of one trial, each of what one host's interface saw."""

    client: Path
    server: Path
    key_logs: tuple[Path, ...] = ()


class LinkTrial(Border):
    """A trial's request for a link other than the lane's first."""

    link: LinkSpec
    seed: Unsigned
    packet_log: Path | None = None
    rests: bool = Field(default=False, exclude_if=is_default)


class ConfirmRequest(Border):
    """The client whose exchanges are compared with the packets of the trial's first link."""

    parameters: Path
    stamp_tolerance_ns: Unsigned = 0
    received: Path | None = None
    """What a server of our own writes of the messages that it received; none of another, which may answer early."""


class TrialRequest(Border):
    """One trial: the lane's first link with its seed, the other ones by name, and its processes in start order."""

    trial: str
    lane: Unsigned
    link: LinkSpec
    link_seed: Unsigned
    packet_log: Path | None = None
    rests: bool = Field(default=False, exclude_if=is_default)
    """Whether its clock is put forward when the client asks for it: an idle start."""
    other_links: dict[str, LinkTrial] = Field(default_factory=dict)
    header_bytes: Unsigned
    capture: CaptureFiles | None = None
    congestion_control: str
    cpu_shares: dict[str, float] = Field(default_factory=dict)
    confirm: ConfirmRequest | None = None
    endpoints: tuple[EndpointProcess, ...]
    timeout_ns: Unsigned


class RunTrial(TrialRequest):
    """Run one trial in a free lane."""

    id: Unsigned
    op: Literal["run-trial"] = "run-trial"


class Cancel(Border):
    """End a running trial now."""

    id: Unsigned
    op: Literal["cancel"] = "cancel"
    trial: str


class HostAddress(Received):
    """Addresses of a host on one link."""

    host: str
    ipv4: str
    ipv6: str | None = None


class LinkAddresses(Received):
    """The hosts of a link with their addresses, the same for every parallel trial."""

    name: str
    near: tuple[HostAddress, ...]
    far: tuple[HostAddress, ...]


class HostFacts(Received):
    """The machine as the campaign ran on it."""

    kernel: str
    cpu: str
    cpus: Unsigned
    memory_bytes: Unsigned
    rootless: bool
    link_scheduling: str
    link_cpu: Unsigned | None = None
    settings: dict[str, str]
    links: tuple[LinkAddresses, ...]


class TrialStatus(StrEnum):
    """How a trial ended."""

    DONE = "done"
    FAILED = "failed"
    UNSUPPORTED = "unsupported"
    TIMED_OUT = "timed-out"
    CANCELLED = "cancelled"


class EndpointResult(Received):
    """The result of one endpoint."""

    name: str
    exit_code: int | None = None
    signal: int | None = None
    cpu_user_ns: Unsigned | None = None
    cpu_system_ns: Unsigned | None = None
    run_delay_ns: Unsigned | None = None
    peak_memory_bytes: Unsigned | None = None
    cpu_ready_ns: Unsigned | None = None
    voluntary_switches: Unsigned | None = None
    involuntary_switches: Unsigned | None = None
    proportional_memory_bytes: Unsigned | None = None
    memory_samples: Unsigned = 0
    instructions: Unsigned | None = None
    restarts: tuple[Restarted, ...] = Field(default=(), exclude_if=is_default)
    stderr_tail: str


class CpuLimit(Received):
    """A limit on the CPU time of a host's processes, and what it did in one trial."""

    quota_ns: Unsigned
    period_ns: Unsigned
    periods: Unsigned
    throttled_periods: Unsigned
    throttled_ns: Unsigned


class NotConfirmed(Received):
    """An exchange that its client calls complete, and that the packets do not confirm."""

    client: Unsigned
    index: Unsigned
    reason: str


class Confirmation(Received):
    """What the packets say of the exchanges that a client calls complete."""

    checked: Unsigned
    not_confirmed: tuple[NotConfirmed, ...]
    not_checked: str | None = None
    """Why other exchanges, or all, were not compared; null if all were."""
    unread: str | None = None
    """Why the client's rows cannot be read; its trial fails."""
    sent: Unsigned = 0
    """Messages that nothing answers and that were compared."""
    arrived: Unsigned = 0
    """Of these, messages whose bytes the link had delivered when the trial ended."""


class TrialResult(Received):
    """How a trial went; instants are nanoseconds of CLOCK_MONOTONIC unless named otherwise."""

    trial: str
    status: TrialStatus
    error: str | None = None
    start_ns: Unsigned
    end_ns: Unsigned
    start_realtime_ns: Unsigned
    steal_ns: Unsigned | None = None
    endpoints: tuple[EndpointResult, ...]
    link: LinkReport
    other_links: dict[str, LinkReport] = Field(default_factory=dict)
    cpu_limits: dict[str, CpuLimit] = Field(default_factory=dict)
    confirmation: Confirmation | None = None
    """What the packets say of the exchanges that the client calls complete; null if that was not asked."""


class Opened(HostFacts):
    """The lanes are there."""

    id: Unsigned
    result: Literal["opened"] = "opened"


class TrialDone(TrialResult):
    """The trial is over, however it ended."""

    id: Unsigned
    result: Literal["trial"] = "trial"


class Cancelled(Received):
    """Cancelled, or already over."""

    id: Unsigned
    result: Literal["cancelled"] = "cancelled"


class HostError(Received):
    """The request could not be carried out; nothing of it is left."""

    id: Unsigned
    result: Literal["error"] = "error"
    message: str
    hint: str | None = None


HostReply = Annotated[Opened | TrialDone | Cancelled | HostError, Field(discriminator="result")]

_REPLY: TypeAdapter[Opened | TrialDone | Cancelled | HostError] = TypeAdapter(
    HostReply, config=ConfigDict(defer_build=True)
)


def parse_reply(line: str | bytes) -> Opened | TrialDone | Cancelled | HostError:
    """The reply on one line of the host's stdout."""
    return _REPLY.validate_json(line)
