"""Everything registered in the data plane (`crates/wirelab-schema/src/describe.rs`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Annotated, Literal

from pydantic import Field

from wirelab.schema.base import Received
from wirelab.schema.endpoint import Role, SettingValue
from wirelab.schema.generated import generated


class ChoiceValues(Received):
    """One of these words."""

    type: Literal["choice"] = "choice"
    choices: tuple[str, ...]
    """The words that it may be."""


class BooleanValues(Received):
    """True or false."""

    type: Literal["boolean"] = "boolean"


class IntegerValues(Received):
    """A whole number, or one of some words; `unit` is empty for a count."""

    type: Literal["integer"] = "integer"
    minimum: int
    """Smallest value."""
    maximum: int
    """Largest value."""
    unit: str
    """Unit of the number; null without one."""
    words: tuple[str, ...] = ()
    """Words that it may be instead of a number."""


class SettingDescription(Received):
    """One setting of a protocol."""

    name: str
    about: str
    values: Annotated[ChoiceValues | BooleanValues | IntegerValues, Field(discriminator="type")]
    default: SettingValue
    stands_for: dict[str, dict[str, SettingValue]] = Field(default_factory=dict)
    """Of a choice: values of other settings that are left to their default."""


class RoundTrips(Received):
    """Round trips of each part of an exchange on a new connection."""

    transport: int
    security: int
    session: int
    request: int


class RoundTripChange(Received):
    """Round trips of one part with another value of a setting."""

    setting: str
    value: SettingValue
    part: Literal["transport", "security", "session", "request"]
    round_trips: int


class FlowControl(Received):
    """The flow control window, and the settings that set it."""

    default_window_bytes: int | None = None
    """Of an exchange that is no page's load; none if it is wide enough to be no limit."""
    stream_settings: tuple[str, ...]
    connection_settings: tuple[str, ...]
    streams_setting: str


class PacketDiscovery(Received):
    """A setting that finds the largest packet of a path, and how many bytes packets carry if it is off."""

    setting: str
    packet_bytes: int


class CongestionControl(Received):
    """What one connection reaches under random loss depends on."""

    setting: str | None = None
    """The setting with the algorithm's name; none if it is the kernel's TCP, whose algorithm the experiment names."""
    packet_bytes: int
    """Application bytes of a full packet."""
    discovery: PacketDiscovery | None = None
    constants: dict[str, str]
    """Of each algorithm, with their source."""


TimerKind = Literal["probes", "asks", "closes", "forgets"]
"""What an end does after a silence: it sends something; it sends something and ends the connection without an answer;
it ends the connection; it forgets what the next connection would resume.
"""


class Timer(Received):
    """A silence after which an end does something of its own accord."""

    name: str
    """The setting with its length, of which 0 turns it off; or words, if its length is fixed."""
    fixed_ns: int | None = None
    times: int = 1
    """It runs out so often in the length that the setting says."""
    unless: str | None = None
    """The setting that turns it off if it is on."""
    only_with: str | None = None
    """The setting without which it does not run."""
    kind: TimerKind


class Length(Received):
    """A length of time."""

    name: str
    """The setting that has it, or what has it, in words, if it is fixed."""
    fixed_ns: int | None = None


class Timing(Received):
    """The properties that determine the time of an exchange, other than its link and its workload."""

    round_trips: RoundTrips
    changes: tuple[RoundTripChange, ...] = ()
    sequential: bool = False
    """Whether a connection carries one exchange at a time."""
    flow_control: FlowControl | None = None
    block_setting: str | None = None
    """The setting with the size of the blocks that carry a body, a round trip each."""
    timer_setting: str | None = None
    """The setting, in milliseconds, with the first retransmission time-out."""
    unannounced_bytes: int | None = None
    """A longer body waits a round trip on a new connection."""
    congestion: CongestionControl | None = None
    """Of its transport; none if it has none, or if it is not known."""
    timers: tuple[Timer, ...] = ()
    opening_bytes: tuple[int, int] | None = None
    """IP bytes, up and down, that a new connection takes before its first request; none if it is not known."""
    opening_limit: Length | None = None
    """After how long without progress its client gives up opening a connection."""
    opening_timer: Length | None = None
    """After how long without an answer the first packet of a new connection is retransmitted."""
    least_datagram_bytes: int | None = None
    """The smallest UDP payload that a path has to carry."""

    @classmethod
    def usual(cls, transport: str, *, secure: bool) -> Timing:
        """Of a protocol of which nothing else is known: TCP's handshake, one round trip of security, one request."""
        trips = RoundTrips(transport=int(transport == "tcp"), security=int(secure), session=0, request=1)
        return cls(round_trips=trips)


class NeededSetting(Received):
    """A setting that must have one of some values."""

    setting: str
    values: tuple[SettingValue, ...]
    """The one to propose first."""
    what: str
    """What they give, in words."""


class WaitDescription(Received):
    """A way in which a protocol's subscribers can wait, in addition to staying connected."""

    by: Literal["check-in", "poll"]
    needs: tuple[NeededSetting, ...] = ()


class SuccessStatus(Received):
    """The success status of an answer to a request without a body and to one with a body."""

    fetched: int
    stored: int


class Topics(Received):
    """Topics or addresses that messages go to."""

    called: str
    without: str
    """Characters that one cannot have."""


class ProtocolDescription(Received):
    """One protocol."""

    name: str
    title: str
    about: str
    libraries: tuple[str, ...]
    transport: str
    default_port: int
    secure: bool
    echo: bool = False
    """Whether it has no application protocol and sends back what it is sent: the reference for the others."""
    http_version: str | None = None
    success: SuccessStatus | None = None
    topics: Topics | None = None
    """Where its messages go; none if a message names no place."""
    timing: Timing
    roles: tuple[Role, ...]
    workloads: tuple[str, ...]
    waits: tuple[WaitDescription, ...] = ()
    """How its subscribers can wait, other than connected."""
    settings: tuple[SettingDescription, ...]

    @property
    def builtin(self) -> bool:
        """False for a user-defined protocol, which only third-party programs speak."""
        return bool(self.libraries)

    def unanswered(self, workload: str, settings: Mapping[str, SettingValue]) -> str | None:
        """The setting with which nothing answers a message of this kind of workload, such as `qos = 0`, so that it can
        only be sent; None if something answers.
        """
        for change in self.timing.changes if workload == "telemetry" else ():
            if (change.part, change.round_trips) == ("request", 0) and settings.get(change.setting) == change.value:
                return f"{change.setting} = {change.value}"
        return None

    def waiting(self, by: str) -> WaitDescription | None:
        """That way of waiting, if its subscribers have it."""
        return next((each for each in self.waits if each.by == by), None)

    def setting(self, name: str) -> SettingDescription | None:
        """The setting of that name."""
        return next((setting for setting in self.settings if setting.name == name), None)


class ImpairmentDescription(Received):
    """One kind of impairment or shared stage."""

    kind: str
    about: str
    slot: Literal["outage", "rate", "loss", "corrupt", "duplicate", "delay", "reorder"] | None = None
    """Where it stands in a direction unless an experiment says otherwise; none of a shared stage."""


class Description(Received):
    """Everything registered."""

    schema_version: int
    protocols: tuple[ProtocolDescription, ...]
    impairments: tuple[ImpairmentDescription, ...]
    shared: tuple[ImpairmentDescription, ...]
    """Stages that both directions of a link share."""

    def names(self, which: Callable[[ProtocolDescription], bool]) -> frozenset[str]:
        """Names of the protocols that have a property."""
        return frozenset(protocol.name for protocol in self.protocols if which(protocol))

    def with_protocols(self, protocols: Iterable[ProtocolDescription]) -> Description:
        """The same, and protocols of the user's own."""
        return self.model_copy(update={"protocols": (*self.protocols, *protocols)})

    def protocol(self, name: str) -> ProtocolDescription | None:
        """The protocol of that name."""
        return next((protocol for protocol in self.protocols if protocol.name == name), None)


@cache
def registered() -> Description:
    """What this version has: `schema/protocols.json`, from the wheel or from the checkout."""
    return Description.model_validate_json(generated("protocols.json"))
