"""Workloads of a trial's endpoints (`crates/wirelab-schema/src/workload.rs`)."""

from __future__ import annotations

from abc import abstractmethod
from math import ceil
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from wirelab.schema.base import Border, Unsigned, is_default

SETTLE_NS = 2 * 10**9
"""How long a link must be silent before it rests."""
LONGEST_REST_NS = 70 * 10**9
"""The longest that a client waits for its link to rest."""


class Closed(Border):
    """The next exchange starts when one ends."""

    process: Literal["closed"] = "closed"

    @property
    def gap_ns(self) -> None:
        """There is none."""


class _OpenLoop(Border):
    """Messages at instants of their own. The last one has a gap behind it, as the others have."""

    @property
    @abstractmethod
    def gap_ns(self) -> float:
        """The mean time from one message of a client to the next."""

    def span_ns(self, messages: int) -> float:
        """From the first of so many messages to the end of the last one's gap, on average."""
        return messages * self.gap_ns

    def most_within(self, time_ns: int) -> int:
        """How many messages are due within a time, on average or at most."""
        return ceil(time_ns / self.gap_ns)


class Fixed(_OpenLoop):
    """Open loop, evenly spaced."""

    process: Literal["fixed"] = "fixed"
    rate_hz: float

    @property
    def gap_ns(self) -> float:
        return 1e9 / self.rate_hz


class Poisson(_OpenLoop):
    """Open loop, exponential gaps."""

    process: Literal["poisson"] = "poisson"
    rate_hz: float

    @property
    def gap_ns(self) -> float:
        return 1e9 / self.rate_hz


class Periodic(_OpenLoop):
    """Open loop, one message in each interval."""

    process: Literal["periodic"] = "periodic"
    interval_ns: Unsigned
    jitter_ns: Unsigned = Field(default=0, exclude_if=is_default)
    """Each message is due up to half of it earlier or later."""

    @property
    def gap_ns(self) -> float:
        return float(self.interval_ns)


class Bursts(_OpenLoop):
    """Open loop, a burst of messages in each interval."""

    process: Literal["bursts"] = "bursts"
    interval_ns: Unsigned
    rate_hz: float
    """Of the messages of a burst."""
    duration_ns: Unsigned
    """Of a burst: none begins at its end or later."""

    @property
    def size(self) -> int:
        """Messages of a burst."""
        return max(1, ceil(self.duration_ns * self.rate_hz / 1e9 - 1e-6))

    @property
    def gap_ns(self) -> float:
        return self.interval_ns / self.size

    @property
    def pause_ns(self) -> float:
        """From the last message of a burst to the first of the next."""
        return self.interval_ns - (self.size - 1) * 1e9 / self.rate_hz

    def span_ns(self, messages: int) -> float:
        return float(ceil(messages / self.size) * self.interval_ns)

    def most_within(self, time_ns: int) -> int:
        whole, rest_ns = divmod(time_ns, self.interval_ns)
        return whole * self.size + min(self.size, ceil(rest_ns * self.rate_hz / 1e9))


OpenLoop = Fixed | Poisson | Periodic | Bursts


class IdleStart(Border):
    """One message in each interval of the link's clock, which is put forward between them."""

    process: Literal["idle-start"] = "idle-start"
    interval_ns: Unsigned

    @property
    def gap_ns(self) -> float:
        """The time from one message to the next, on the link's clock."""
        return float(self.interval_ns)

    @property
    def rest_ns(self) -> int:
        """What is waited for in real time between two messages, if the link is silent."""
        return min(self.interval_ns, SETTLE_NS)

    def most_within(self, time_ns: int) -> int:
        """How many messages there are within a time of the link's clock."""
        return ceil(time_ns / self.interval_ns)


ArrivalSpec = Annotated[Closed | OpenLoop | IdleStart, Field(discriminator="process")]


class NewConnection(Border):
    """A new connection for each exchange."""

    policy: Literal["new"] = "new"


class Resumed(Border):
    """A new connection for each exchange, which resumes the session of the one before."""

    policy: Literal["resumed"] = "resumed"


class Persistent(Border):
    """Connections opened when first needed and kept."""

    policy: Literal["persistent"] = "persistent"
    connections: Unsigned


ConnectionPolicy = Annotated[NewConnection | Resumed | Persistent, Field(discriminator="policy")]


class Device(Border):
    """The device of each client: when it begins, how exact its oscillator is, and how long it computes."""

    start_phase_ns: Unsigned = 0
    """The latest that a client begins, at an instant drawn from the trial's seed."""
    drift_ppb: Unsigned = 0
    """The largest error of a client's oscillator, in billionths; drawn from the trial's seed."""
    message_ns: Unsigned = 0
    """Computing before each exchange."""
    handshake_ns: Unsigned = 0
    """Computing before each connection."""


class Retry(Border):
    """How a client keeps messages and sends them again, in order, after a back-off."""

    first_ns: Unsigned
    """The first back-off."""
    factor_percent: Unsigned
    """Each further one by the one before."""
    longest_ns: Unsigned
    """The longest, before its jitter."""
    jitter_percent: Unsigned
    """Each back-off is up to half of this longer or shorter."""
    keep_ns: Unsigned
    """From its intended start on. A message that is kept for longer has timed out."""
    backlog: Unsigned
    """Messages that a client keeps. One more drops the oldest, which has failed."""


class RequestWorkload(Border):
    """Clients ask, and each answer ends an exchange."""

    exchanges: Unsigned
    clients: Unsigned = 1
    arrival: ArrivalSpec
    concurrency: Unsigned
    timeout_ns: Unsigned
    connection: ConnectionPolicy
    device: Device | None = Field(default=None, exclude_if=is_default)
    """Absent of an ideal device, which begins at once and computes in no time."""
    retry: Retry | None = Field(default=None, exclude_if=is_default)
    """Absent if a message that failed is lost."""

    @property
    def rows(self) -> int:
        """Exchanges of a trial."""
        return self.exchanges * self.clients

    @property
    def gap_ns(self) -> float | None:
        """The mean time between messages of a client; None if each begins when the one before has ended."""
        return self.arrival.gap_ns

    @property
    def phases_vary(self) -> bool:
        """Whether trials differ by when clients begin, or by the gaps between their arrivals."""
        device = self.device or Device()
        jitters = isinstance(self.arrival, Periodic) and self.arrival.jitter_ns > 0
        return jitters or device.start_phase_ns > 0 or (device.drift_ppb > 0 and not isinstance(self.arrival, Closed))

    def scaled(self, factor: float) -> Self:
        """The same with a share of the exchanges."""
        return self.model_copy(update={"exchanges": max(1, int(self.exchanges * factor))})

    def to_json(self) -> dict[str, Any]:
        """What one client does is what it would do if there were no populations, and has the same key."""
        found = super().to_json()
        return {key: value for key, value in found.items() if (key, value) != ("clients", 1)}


class OwnRequest(Border):
    """A request of the user's own, of HTTP or CoAP."""

    method: str
    """Such as `PUT`."""
    target: str
    """Path and query."""
    fields: tuple[tuple[str, str], ...] = Field(default=(), exclude_if=is_default)
    """Header fields of HTTP, in their order. Of CoAP only `content-format`, with a number."""
    body: str = Field(default="", exclude_if=is_default)
    """The body in base64; empty without one."""


class RequestResponse(RequestWorkload):
    """A client sends requests, a server answers each."""

    kind: Literal["request-response"] = "request-response"
    upload_bytes: Unsigned
    download_bytes: Unsigned | tuple[Unsigned, ...]
    """Response body size. Of several sizes, exchanges take turns. Of an own request it is what the built-in server
    answers with, and other sizes are right too.
    """
    request: OwnRequest | None = Field(default=None, exclude_if=is_default)
    """The request of every exchange. Absent if it is one that built-in servers answer."""

    @property
    def downloads(self) -> tuple[int, ...]:
        """Sizes of the answers, which the exchanges of a client take in turn."""
        return (self.download_bytes,) if isinstance(self.download_bytes, int) else self.download_bytes


class OwnMessage(Border):
    """A message of the user's own, of MQTT or AMQP."""

    topic: str
    """The topic of MQTT, or the address of AMQP."""
    body: str = Field(default="", exclude_if=is_default)
    """The body in base64; empty if it is random."""


class Telemetry(RequestWorkload):
    """A client hands readings over and knows that the server has them."""

    kind: Literal["telemetry"] = "telemetry"
    message_bytes: Unsigned
    publish: OwnMessage | None = Field(default=None, exclude_if=is_default)
    """Where every reading goes, and what it says. Absent if it is what built-in brokers take."""

    @property
    def upload_bytes(self) -> int:
        """A reading is what a request carries."""
        return self.message_bytes

    @property
    def downloads(self) -> tuple[int, ...]:
        """Its answer carries nothing."""
        return (0,)


class PubSubWorkload(Border):
    """Subscribers wait and get messages."""

    message_bytes: Unsigned
    messages: Unsigned
    subscribers: Unsigned = 1
    timeout_ns: Unsigned

    @property
    def rows(self) -> int:
        """Messages of a trial, each once for each subscriber."""
        return self.messages * self.subscribers

    @property
    @abstractmethod
    def published(self) -> OpenLoop:
        """When messages are published."""

    @property
    def gap_ns(self) -> float:
        """The mean time between messages."""
        return self.published.gap_ns

    @property
    def upload_bytes(self) -> int:
        """A subscriber sends nothing."""
        return 0

    @property
    def downloads(self) -> tuple[int, ...]:
        """The bytes that a subscriber receives."""
        return (self.message_bytes,)

    def scaled(self, factor: float) -> Self:
        """The same with a share of the messages."""
        return self.model_copy(update={"messages": max(1, int(self.messages * factor))})


class Connected(Border):
    """A subscriber stays connected."""

    by: Literal["connected"] = "connected"

    @property
    def every_ns(self) -> int:
        """From one contact to the next; 0 of one that is always there."""
        return 0


class CheckIn(Border):
    """A subscriber opens a connection at intervals, takes what waits for it, and closes it."""

    by: Literal["check-in"] = "check-in"
    every_ns: Unsigned
    stay_ns: Unsigned
    """It closes the connection after so long without a message."""


class Poll(Border):
    """A subscriber keeps its connection open, and asks on it at intervals for what is new."""

    by: Literal["poll"] = "poll"
    every_ns: Unsigned


Wait = Annotated[Connected | CheckIn | Poll, Field(discriminator="by")]
"""How a subscriber waits for messages, by `by`."""


def _is_connected(wait: object) -> bool:
    return isinstance(wait, Connected)


class PubSub(PubSubWorkload):
    """The changes of a state reach the clients that wait for them."""

    kind: Literal["pubsub"] = "pubsub"
    arrival: ArrivalSpec
    wait: Wait = Field(default=Connected(), exclude_if=_is_connected)
    """How a subscriber waits."""

    @property
    def published(self) -> OpenLoop:
        assert not isinstance(self.arrival, Closed | IdleStart), "it is an open loop"
        return self.arrival


class Stream(PubSubWorkload):
    """Messages at a steady rate to a player."""

    kind: Literal["stream"] = "stream"
    rate_hz: float
    playout_delay_ns: Unsigned

    @property
    def published(self) -> OpenLoop:
        return Fixed(rate_hz=self.rate_hz)


class PageIdentity(Border):
    """What tells pages apart, and how much there is of one."""

    name: str
    """The display name."""
    sha256: str
    """Of the manifest, and with it of every body."""
    resources: Unsigned
    """With the document."""
    body_bytes: Unsigned


class PageLoads(Border):
    """A client loads a page as a browser with an empty cache does, one load after another; a row is a load."""

    kind: Literal["page"] = "page"
    loads: Unsigned
    """Loads in a trial."""
    timeout_ns: Unsigned
    """A load that takes longer has timed out."""
    request_delay_ns: Unsigned = Field(default=0, exclude_if=is_default)
    """How long each request waits before it is sent, and holds a connection that it shares with none. A push is not
    requested, and waits for nothing.
    """
    page: PageIdentity
    """Which page."""

    @property
    def rows(self) -> int:
        """Loads of a trial."""
        return self.loads

    @property
    def gap_ns(self) -> None:
        """None: each load begins when the one before has ended."""

    @property
    def upload_bytes(self) -> int:
        """A page is only fetched."""
        return 0

    @property
    def downloads(self) -> tuple[int, ...]:
        """The resources of a load."""
        return (self.page.body_bytes,)

    def scaled(self, factor: float) -> Self:
        """The same with a share of the loads."""
        return self.model_copy(update={"loads": max(1, int(self.loads * factor))})


WorkloadSpec = Annotated[RequestResponse | Telemetry | PubSub | Stream | PageLoads, Field(discriminator="kind")]
"""The workload of a trial's endpoints, by `kind`."""
