"""The workload as written, and the `WorkloadSpec` it means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, PlainValidator, WithJsonSchema

from wirelab.experiment.file.arrival import Arrival, WorkloadKeyError, arrival_spec, read_rate
from wirelab.experiment.file.pages import DEFAULT, Pages, WrittenPage, check_size
from wirelab.experiment.file.quantities import Duration, PositiveDuration, Size, Table, positive
from wirelab.experiment.file.request import WrittenPublish, WrittenRequest
from wirelab.experiment.file.retry import WrittenRetry
from wirelab.experiment.file.waiting import WrittenWait
from wirelab.schema import (
    Closed,
    Device,
    Fixed,
    IdleStart,
    NewConnection,
    PageLoads,
    Persistent,
    PubSub,
    RequestResponse,
    Resumed,
    Retry,
    Stream,
    Telemetry,
    WorkloadSpec,
)
from wirelab.schema.workload import ArrivalSpec, Connected, ConnectionPolicy
from wirelab.units import UnitError, duration_ns, format_share, share, size_bytes

MAX_CONNECTIONS = 10_000
MAX_CLIENTS = 1_000
MAX_DRIFT = 0.01
TIMEOUT_NS = 10 * 10**9
LOAD_TIMEOUT_NS = 60 * 10**9
"""Of a whole page."""
HEAD_BYTES = 12
"""Index and instant of publication, with which every message of `pubsub` and `stream` begins."""
_DEVICE = ("start-phase", "drift", "message-time", "handshake-time")
_ARRIVAL = ("arrival", "interval", "jitter")
_ASKING = ("connection", "exchanges", "clients", "concurrency", *_ARRIVAL, "timeout", "retry", *_DEVICE)
KIND = "workload.kind"
KEYS: Mapping[str, tuple[str, ...]] = {
    "request-response": ("upload", "download", "request", *_ASKING),
    "telemetry": ("message", "publish", *_ASKING),
    "pubsub": ("message", "messages", "subscribers", "wait", *_ARRIVAL, "timeout"),
    "stream": ("message", "messages", "subscribers", "rate", "playout-delay", "timeout"),
    "page": ("page", "loads", "timeout", "request-delay"),
}
"""What belongs to each kind of workload, besides `kind`."""
ABOUT: Mapping[str, str] = {
    "request-response": "A client sends requests, a server answers each: an upload and a download of given sizes.",
    "telemetry": "A client sends readings. Each exchange ends when the client knows that the server's application has "
    "the reading. The protocol decides what acknowledges it (docs/concepts/equal-work.md).",
    "pubsub": "State changes reach each client that waits for them: from the publisher's application to the "
    "subscriber's, on one clock.",
    "stream": "Messages at a steady rate reach each client that waits, as media for a player with a buffer. Measured "
    "are how late they come, and how often the player stalls.",
    "page": "A client loads a page as a browser does: the document, then what it names as its bytes arrive. Each load "
    "begins without connections and with an empty cache (docs/guide/pages.md).",
}
"""Each kind in words."""


def read_connection(value: object) -> NewConnection | Resumed | Persistent:
    """`"new"`, `"resumed"`, `"persistent"` (one connection) or `{ persistent = N }`."""
    match value:
        case "new":
            return NewConnection()
        case "resumed":
            return Resumed()
        case "persistent":
            return Persistent(connections=1)
        case {"persistent": int(connections), **rest} if not rest and connections is not True:
            if not 1 <= connections <= MAX_CONNECTIONS:
                raise UnitError("is not a number of connections", hint=f"1 to {MAX_CONNECTIONS}")
            return Persistent(connections=connections)
    raise UnitError("is not a connection policy", hint='write "new", "resumed", "persistent" or { persistent = 4 }')


def read_download(value: object) -> int | tuple[int, ...]:
    """`"612 B"`, or `["11 MB", "612 B"]`: sizes that exchanges take in turn."""
    if not isinstance(value, list):
        return size_bytes(value)
    if not value:
        raise UnitError("has no size", hint='write "612 B" or ["11 MB", "612 B"]')
    sizes = tuple(size_bytes(size) for size in value)
    return sizes if len(sizes) > 1 else sizes[0]


def read_drift(value: object) -> int:
    """`"20 ppm"` as billionths."""
    drift = share(value)
    if drift > MAX_DRIFT:
        raise UnitError(f"is more than {format_share(MAX_DRIFT)}", hint='such as "20 ppm"')
    return round(drift * 1e9)


Connection = Annotated[
    ConnectionPolicy,
    BeforeValidator(read_connection),
    WithJsonSchema(
        {
            "anyOf": [
                {"enum": ["new", "resumed", "persistent"]},
                {
                    "type": "object",
                    "required": ["persistent"],
                    "properties": {"persistent": {"type": "integer", "minimum": 1}},
                },
            ]
        }
    ),
]


Download = Annotated[
    int | tuple[int, ...],
    PlainValidator(read_download),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "pattern": r"^\s*[0-9.]", "examples": ["3.5 kB"]},
                {"type": "array", "minItems": 1, "items": {"type": "string", "pattern": r"^\s*[0-9.]"}},
            ]
        }
    ),
]
Drift = Annotated[int, PlainValidator(read_drift), WithJsonSchema({"type": "string", "examples": ["20 ppm"]})]
Rate = Annotated[float, PlainValidator(read_rate), WithJsonSchema({"type": "string", "examples": ["25 /s"]})]


def _with_kinds(schema: dict[str, Any]) -> None:
    """Begin the description of each key with the kinds of workload that have it."""
    for key, each in schema["properties"].items():
        kinds = [kind for kind, keys in KEYS.items() if key in keys]
        if kinds and len(kinds) < len(KEYS):
            each["description"] = f"{', '.join(kinds)}: {each['description']}"


class WorkloadTable(Table):
    """What the endpoints do. A key counts in the kinds that its description names, else in all."""

    model_config = ConfigDict(json_schema_extra=_with_kinds)

    kind: Literal["request-response", "telemetry", "pubsub", "stream", "page"] = Field(
        default="request-response",
        description="What the endpoints do.",
    )
    upload: Size = Field(
        default=0,
        description="Size of the request body. More than 0 makes the request a POST.",
        json_schema_extra={"default": "0 B"},
    )
    download: Download = Field(
        default=0,
        description="Size of the response body. Of a list, the exchanges of each client ask for the sizes in turn, "
        "without an upload. Each size then has delays of its own.",
        json_schema_extra={"default": "0 B"},
    )
    request: WrittenRequest = Field(
        default=None,
        description="The request of every exchange, in place of those that built-in servers answer. Its body is the "
        "upload. The built-in server answers it with `download` (docs/guide/own-protocol.md).",
        examples=["none", {"path": "/api/items"}, {"method": "PUT", "path": "/api/items/1", "body": "item.json"}],
        json_schema_extra={"default": "none"},
    )
    message: Size = Field(
        default=100,
        description="Size of a message.",
        json_schema_extra={"default": "100 B"},
    )
    publish: WrittenPublish = Field(
        default=None,
        description="Where every message goes, in place of what built-in brokers take. Its body is the message "
        "(docs/guide/own-protocol.md).",
        examples=["none", {"topic": "sensors/1"}, {"topic": "sensors/1", "body": "reading.json"}],
        json_schema_extra={"default": "none"},
    )
    connection: Connection = Field(
        default=NewConnection(),
        description="`new`: a connection for each exchange. `resumed`: the same, and it resumes the session of the one "
        "before. `persistent`: one connection for all; `{ persistent = 4 }`: four.",
        examples=[{"persistent": 4}],
        validate_default=False,
        json_schema_extra={"default": "new"},
    )
    exchanges: int = Field(default=10, ge=1, le=2**32 - 1, description="Exchanges of each client in a trial.")
    clients: int = Field(
        default=1,
        ge=1,
        le=MAX_CLIENTS,
        description="Independent clients. Each has connections, sessions and arrivals of its own.",
    )
    messages: int = Field(default=10, ge=1, le=2**32 - 1, description="Messages of a trial.")
    subscribers: int = Field(
        default=1, ge=1, le=MAX_CLIENTS, description="Clients that wait for messages. Each is sent every message."
    )
    wait: WrittenWait = Field(
        default=Connected(),
        description="How a subscriber waits. `connected`: it stays connected. "
        '`{ check-in = "10 min", stay = "2 s" }`: it opens a connection every 10 minutes, takes what waits for it, '
        "and closes it after 2 s without a message. "
        '`{ poll = "10 min" }`: it asks every 10 minutes on a connection that stays open, and the answer comes at '
        "once. A subscriber's first contact is at its start, and the others are at a phase drawn from the trial's seed "
        "(docs/guide/commands.md).",
        examples=["connected", {"check-in": "10 min", "stay": "2 s"}, {"poll": "10 min"}],
        validate_default=False,
        json_schema_extra={"default": "connected"},
    )
    concurrency: int = Field(
        default=1, ge=1, le=10_000, description="Exchanges of a client that may run at the same time."
    )
    arrival: Arrival | None = Field(
        default=None,
        description="When exchanges start, or messages are published. `closed`: when the one before has ended. "
        "`periodic`: one in each `interval`, which is the default with an interval. `poisson`: at random, on average "
        'one in each interval. `{ burst = "2 /s", for = "10 s" }`: so many in the first part of each interval. '
        "`idle-start`: one in each interval of the link's clock, which is put forward in between "
        "(docs/guide/sleeping-devices.md). "
        '`{ fixed = "10 /s" }` and `{ poisson = "10 /s" }`: at this mean rate, without an interval. By default '
        '`closed`. `pubsub` cannot be closed: `{ fixed = "10 /s" }`.',
        examples=[
            "closed",
            "periodic",
            "idle-start",
            {"burst": "2 /s", "for": "10 s"},
            {"fixed": "10 /s"},
            {"poisson": "10 /s"},
        ],
    )
    interval: Annotated[int | None, *positive(duration_ns, "10 min")] = Field(
        default=None,
        description="The time from one message of a client to its next, or from one burst to the next. The last "
        "message is followed by this time as well, so that a trial is as long as all its intervals.",
    )
    jitter: Duration = Field(
        default=0,
        description="Each periodic message comes up to half of this earlier or later, drawn from the trial's seed. "
        "At most the interval.",
        json_schema_extra={"default": "0 s"},
    )
    rate: Rate = Field(default=25.0, description="Messages per second.", json_schema_extra={"default": "25 /s"})
    playout_delay: PositiveDuration = Field(
        default=2 * 10**8,
        description="What the player buffers before it plays the first message.",
        json_schema_extra={"default": "200 ms"},
    )
    page: WrittenPage = Field(
        default=DEFAULT,
        description="A built-in page (`wirelab list pages`), a document that names images of the same size, or a "
        "folder of your own (docs/guide/pages.md).",
        examples=["fischer2021", {"objects": 20, "object-size": "10 kB"}, {"site": "DIR"}],
    )
    request_delay: Duration = Field(
        default=0,
        description="Each request of a page waits so long before it is sent, as developer tools of a browser hold "
        "requests back. Over HTTP/1.1 it holds its connection meanwhile. A pushed resource is not requested.",
        json_schema_extra={"default": "0 s"},
    )
    loads: int = Field(default=10, ge=1, le=2**32 - 1, description="Loads in a trial, one after another.")
    timeout: Annotated[int | None, *positive(duration_ns, "10 s")] = Field(
        default=None,
        description="An exchange or a message that takes longer has timed out. Of a page it is the time of a whole "
        "load, by default 60 s. For a subscriber that comes at intervals the default is an interval longer.",
        json_schema_extra={"default": "10 s"},
    )
    retry: WrittenRetry = Field(
        default=None,
        description="A client keeps messages that failed, and sends them again after a back-off. Later ones wait "
        "behind them. `{}` has the defaults of all keys. It needs an open loop and a `concurrency` of 1. With "
        '`"none"` a message that failed is lost.',
        examples=["none", {}, {"first": "2 s", "longest": "5 min", "keep": "12 h"}],
        json_schema_extra={"default": "none"},
    )

    start_phase: Duration = Field(
        default=0,
        description="Each client begins up to so much later, at an instant drawn from the trial's seed.",
        json_schema_extra={"default": "0 s"},
    )
    drift: Drift = Field(
        default=0,
        description="The largest error of a client's oscillator, drawn from the trial's seed. The gaps between its "
        "arrivals have it.",
        examples=["20 ppm"],
        json_schema_extra={"default": "0 ppm"},
    )
    message_time: Duration = Field(
        default=0,
        description="How long a client computes for each exchange before it sends it.",
        json_schema_extra={"default": "0 s"},
    )
    handshake_time: Duration = Field(
        default=0,
        description="How long a client computes for each connection before it opens it.",
        json_schema_extra={"default": "0 s"},
    )

    def device(self) -> Device | None:
        """None of an ideal machine."""
        found = Device(
            start_phase_ns=self.start_phase,
            drift_ppb=self.drift,
            message_ns=self.message_time,
            handshake_ns=self.handshake_time,
        )
        return None if found == Device() else found

    def _retry(self, timeout_ns: int) -> Retry | None:
        arrival = self._arrival() or Closed()
        return None if self.retry is None else self.retry.retry(arrival, self.concurrency, timeout_ns)

    def _arrival(self) -> ArrivalSpec | None:
        return arrival_spec(self.arrival, self.interval, self.jitter)

    def spec(self, pages: Pages | None = None) -> WorkloadSpec:
        """What the data plane gets. Raises `WorkloadKeyError` for a value that does not go with the kind, and
        what is wrong with a folder that is to be a page.
        """
        timeout_ns = self.timeout or (LOAD_TIMEOUT_NS if self.kind == "page" else TIMEOUT_NS)
        least = {"request-response": 0, "telemetry": 1}.get(self.kind, HEAD_BYTES)
        if self.message < least:
            raise WorkloadKeyError("message", f"a message of {self.kind} has at least {least} B", f"{least} B or more")
        match self.kind:
            case "request-response":
                if self.upload and not isinstance(self.download, int):
                    what = "several sizes go without an upload: the answer to a POST has one"
                    raise WorkloadKeyError("download", what, hint='upload = "0 B", or one size')
                if self.request is not None and self.upload:
                    raise WorkloadKeyError("upload", "the body of the request is the upload", hint="remove one of them")
                return RequestResponse(
                    upload_bytes=self.upload if self.request is None else len(self.request.body),
                    download_bytes=self.download,
                    exchanges=self.exchanges,
                    clients=self.clients,
                    arrival=self._arrival() or Closed(),
                    concurrency=self.concurrency,
                    timeout_ns=timeout_ns,
                    connection=self.connection,
                    device=self.device(),
                    retry=self._retry(timeout_ns),
                    request=None if self.request is None else self.request.request(),
                )
            case "telemetry":
                own = None if self.publish is None else self.publish.message()
                body = b"" if self.publish is None else self.publish.body
                if body and "message" in self.model_fields_set:
                    raise WorkloadKeyError("message", "the body is the message", hint="remove one of them")
                return Telemetry(
                    message_bytes=len(body) or self.message,
                    exchanges=self.exchanges,
                    clients=self.clients,
                    arrival=self._arrival() or Closed(),
                    concurrency=self.concurrency,
                    timeout_ns=timeout_ns,
                    connection=self.connection,
                    device=self.device(),
                    retry=self._retry(timeout_ns),
                    publish=own,
                )
            case "pubsub":
                arrival = self._arrival() or Fixed(rate_hz=10)
                if isinstance(arrival, Closed):
                    what = "pubsub has no answer that the next message could wait for"
                    raise WorkloadKeyError("arrival", what, hint='such as arrival = { fixed = "10 /s" }')
                if isinstance(arrival, IdleStart):
                    what = "pubsub has no client that sends and asks its link to rest"
                    raise WorkloadKeyError("arrival", what, hint='arrival = "periodic", with --clock virtual')
                return PubSub(
                    message_bytes=self.message,
                    messages=self.messages,
                    subscribers=self.subscribers,
                    arrival=arrival,
                    timeout_ns=self.timeout or TIMEOUT_NS + self.wait.every_ns,
                    wait=self.wait,
                )
            case "stream":
                return Stream(
                    message_bytes=self.message,
                    messages=self.messages,
                    subscribers=self.subscribers,
                    rate_hz=self.rate,
                    timeout_ns=timeout_ns,
                    playout_delay_ns=self.playout_delay,
                )
            case "page":
                try:
                    check_size(self.page)
                except UnitError as error:
                    raise WorkloadKeyError("page", str(error), error.hint) from None
                identity = (pages or Pages()).identity(self.page)
                return PageLoads(
                    page=identity, loads=self.loads, timeout_ns=timeout_ns, request_delay_ns=self.request_delay
                )
