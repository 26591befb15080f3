"""What both directions of a link share: the medium, the client's radio, address translation."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field, PlainValidator, ValidationInfo, field_validator, model_validator

from wirelab.experiment.file.quantities import (
    BitRate,
    Duration,
    Overhead,
    PartTable,
    PositiveDuration,
    Share,
    Size,
    Table,
    choose,
)
from wirelab.experiment.link.rate import Limit
from wirelab.schema import (
    Dependence,
    Ieee802154,
    MediumSpec,
    NatSpec,
    RadioSpec,
    Serialiser,
    SleepSpec,
    Unmapped,
    Wifi,
)
from wirelab.units import UnitError, format_duration

US = 1000
MAX_SLEEPS = 16
MOST_COMPRESSED_BYTES = 48
"""Headers of IPv6 and UDP."""
MOST_MAC_BYTES = 114
"""Of a frame's 127 bytes, so that a fragment (RFC 4944 section 5.3) has 5 of header and 8 of its own."""
SHORTEST_EXCHANGE_NS = 1000
"""Of frames on the air besides their bytes, as the data plane has it: each has to be computed."""
UDP_TIMEOUT_NS = 120 * 10**9
"""RFC 4787, REQ-5: not before 2 minutes."""
TRANSITORY_TIMEOUT_NS = 240 * 10**9
"""RFC 5382, REQ-5: not before 4 minutes."""
TCP_TIMEOUT_NS = 7440 * 10**9
"""RFC 5382, REQ-5: not before 2 hours 4 minutes."""
MOST_MAPPINGS = 65_536
Port = Annotated[int, Field(ge=1, le=65_535)]
Remotes = Literal["endpoint-independent", "address-dependent", "address-and-port-dependent"]


class SerialiserTable(PartTable):
    """A link rate that both directions share, such as a gateway's bottleneck: one packet at a time."""

    kind: Literal["serialiser"] = "serialiser"
    rate: BitRate = Field(description="Rate that both directions share.")
    queue: Limit = Field(description="Bytes or packets that may wait at each station.")
    overhead: Overhead = Field(default=0, description="Bytes added to each packet's IP length.")

    def spec(self) -> Serialiser:
        return Serialiser(
            rate_bps=self.rate,
            queue_bytes=self.queue.bytes,
            queue_packets=self.queue.packets,
            overhead_bytes=self.overhead,
        )


class WifiTable(PartTable):
    """Wi-Fi: air shared by CSMA/CA.

    Defaults are those of the OFDM PHY at 20 MHz (IEEE 802.11-2020, table 17-21), a header without QoS and ACKs at
    24 Mbit/s.
    """

    kind: Literal["wifi"]
    rate: BitRate = Field(description="Rate of data frames.")
    queue: Limit = Field(description="Bytes or packets that may wait at each station.")
    overhead: Overhead = Field(
        default=36, description="MAC header, LLC and FCS of each packet.", json_schema_extra={"default": "36 B"}
    )
    preamble: Duration = Field(
        default=20 * US, description="Preamble and PHY header of a data frame.", json_schema_extra={"default": "20 us"}
    )
    ack: Duration = Field(
        default=28 * US, description="Duration of an ACK with its preamble.", json_schema_extra={"default": "28 us"}
    )
    slot: PositiveDuration = Field(default=9 * US, description="Slot time.", json_schema_extra={"default": "9 us"})
    sifs: Duration = Field(
        default=16 * US, description="Short interframe space (SIFS).", json_schema_extra={"default": "16 us"}
    )
    difs: Duration = Field(
        default=34 * US, description="DCF interframe space (DIFS).", json_schema_extra={"default": "34 us"}
    )
    cw_min: int = Field(default=15, ge=0, le=65535, description="Smallest contention window (CWmin), in slots.")
    cw_max: int = Field(default=1023, ge=0, le=65535, description="Largest contention window (CWmax), in slots.")
    retries: int = Field(
        default=6, ge=0, le=255, description="How often a frame is retransmitted; dot11ShortRetryLimit is one more."
    )
    frame_error: Share = Field(default=0.0, description="Probability that a data frame is not received.")

    @model_validator(mode="after")
    def _windows(self) -> WifiTable:
        if self.cw_max < self.cw_min:
            raise UnitError(f"cw-max {self.cw_max} is less than cw-min {self.cw_min}")
        return self

    @model_validator(mode="after")
    def _takes_time(self) -> WifiTable:
        exchange = self.preamble + self.sifs + self.ack + self.difs
        if exchange < SHORTEST_EXCHANGE_NS:
            what = f"preamble, sifs, ack and difs together take {format_duration(exchange)}"
            raise UnitError(what, hint=f"at least {format_duration(SHORTEST_EXCHANGE_NS)}")
        return self

    def spec(self) -> Wifi:
        return Wifi(
            rate_bps=self.rate,
            overhead_bytes=self.overhead,
            preamble_ns=self.preamble,
            ack_ns=self.ack,
            slot_ns=self.slot,
            sifs_ns=self.sifs,
            difs_ns=self.difs,
            cw_min=self.cw_min,
            cw_max=self.cw_max,
            retries=self.retries,
            frame_error=self.frame_error,
            queue_bytes=self.queue.bytes,
            queue_packets=self.queue.packets,
        )


class Ieee802154Table(PartTable):
    """IEEE 802.15.4 at 2.4 GHz under 6LoWPAN, with the standard's defaults (IEEE 802.15.4-2020, table 8-94)."""

    kind: Literal["ieee802154"]
    queue: Limit = Field(description="Bytes or packets that may wait at each station.")
    compressed: Overhead = Field(
        default=0, description="Bytes that header compression (RFC 6282) saves of each datagram."
    )
    mac: Overhead = Field(
        default=23,
        description="MAC header and FCS of each data frame; the default has two 64-bit addresses.",
        json_schema_extra={"default": "23 B"},
    )
    frame_error: Share = Field(default=0.0, description="Probability that a data frame is not received.")
    retries: int = Field(default=3, ge=0, le=7, description="How often a frame is retransmitted (macMaxFrameRetries).")
    max_backoffs: int = Field(
        default=4, ge=0, le=5, description="How often busy air is tried again (macMaxCsmaBackoffs)."
    )
    min_be: int = Field(default=3, ge=0, le=8, description="Smallest backoff exponent (macMinBe).")
    max_be: int = Field(default=5, ge=3, le=8, description="Largest backoff exponent (macMaxBe).")

    @model_validator(mode="after")
    def _fits(self) -> Ieee802154Table:
        if self.mac > MOST_MAC_BYTES:
            raise UnitError(f"mac {self.mac} B leaves too little of a frame", hint=f"at most {MOST_MAC_BYTES} B")
        if self.compressed > MOST_COMPRESSED_BYTES:
            raise UnitError(f"compressed {self.compressed} B is more than IPv6 and UDP have", hint="at most 48 B")
        if self.max_be < self.min_be:
            raise UnitError(f"max-be {self.max_be} is less than min-be {self.min_be}")
        return self

    def spec(self) -> Ieee802154:
        return Ieee802154(
            compressed_bytes=self.compressed,
            mac_bytes=self.mac,
            frame_error=self.frame_error,
            retries=self.retries,
            max_backoffs=self.max_backoffs,
            min_be=self.min_be,
            max_be=self.max_be,
            queue_bytes=self.queue.bytes,
            queue_packets=self.queue.packets,
        )


_MEDIA: dict[str, type[SerialiserTable | WifiTable | Ieee802154Table]] = {
    "serialiser": SerialiserTable,
    "wifi": WifiTable,
    "ieee802154": Ieee802154Table,
}


def read_medium(value: object, info: ValidationInfo) -> MediumSpec | None:
    """A table with a kind, by default a serialiser; or `"none"`."""
    if value == "none":
        return None
    table: SerialiserTable | WifiTable | Ieee802154Table = choose("kind", _MEDIA, value, info, default="serialiser")
    return table.spec()


class SleepTable(Table):
    """One depth of sleep."""

    after: Duration = Field(
        description="Time without a packet after which this sleep begins. Each sleep has a longer one."
    )
    cycle: PositiveDuration | None = Field(
        default=None,
        description="How often the client listens. Without it never: downlink packets wait for an uplink packet.",
    )
    wake: Duration = Field(description="How long waking up takes.")

    def spec(self) -> SleepSpec:
        return SleepSpec(after_ns=self.after, cycle_ns=self.cycle, wake_ns=self.wake)


class RadioTable(PartTable):
    """How the client's radio goes to sleep while no packet passes, and what waking takes."""

    sleeps: list[SleepTable] = Field(
        min_length=1,
        max_length=MAX_SLEEPS,
        description="Depths of sleep, from light to deep. A trial begins in the deepest.",
    )
    buffer: Size = Field(
        description="Bytes that the network keeps for a sleeping client, and the client while it wakes up."
    )

    @model_validator(mode="after")
    def _deepens(self) -> RadioTable:
        for number, (light, deep) in enumerate(pairwise(self.sleeps), 2):
            if deep.after <= light.after:
                raise UnitError(f"sleep {number} begins no later than the one before", hint="from light to deep")
        return self

    def spec(self) -> RadioSpec:
        return RadioSpec(sleeps=tuple(sleep.spec() for sleep in self.sleeps), buffer_bytes=self.buffer)


class NatTable(PartTable):
    """Address translation (NAT) whose mappings end after an idle time (RFC 4787, RFC 5382).

    After that time, the client's next packet has another port. A server that knows its client by address and port does
    not recognize it. Each host keeps its address.
    """

    udp: PositiveDuration = Field(
        default=UDP_TIMEOUT_NS,
        description="Idle time after which a mapping of UDP ends (RFC 4787, REQ-5).",
        json_schema_extra={"default": "2 min"},
    )
    tcp: PositiveDuration = Field(
        default=TCP_TIMEOUT_NS,
        description="Idle time after which a mapping of an established TCP connection ends (RFC 5382, REQ-5).",
        json_schema_extra={"default": "124 min"},
    )
    tcp_transitory: PositiveDuration = Field(
        default=TRANSITORY_TIMEOUT_NS,
        description="The same of a TCP connection that opens, has closed, or was reset (RFC 5382, REQ-5).",
        json_schema_extra={"default": "4 min"},
    )
    mapping: Remotes = Field(
        default="endpoint-independent",
        description="Which destinations share a mapping: all, those of one address, or one address and port.",
    )
    filtering: Remotes = Field(
        default="address-dependent",
        description="Who may send through a mapping: everybody, or only addresses, or addresses and ports, that the "
        "client has sent to.",
    )
    inbound_refresh: bool = Field(
        default=True, description="Packets from outside keep a mapping too (RFC 4787, REQ-6)."
    )
    keep_port: bool = Field(default=False, description="A mapping has the client's own port if that is free.")
    ports: list[Port] = Field(
        default=[1024, 65_535],
        min_length=2,
        max_length=2,
        description="The first and the last port that mappings have otherwise.",
    )
    table: int = Field(default=MOST_MAPPINGS, ge=1, le=MOST_MAPPINGS, description="The most mappings at a time.")
    unmapped: Literal["drop", "reset"] = Field(
        default="drop",
        description="What becomes of a TCP segment without a mapping that opens no connection: it is dropped, or also "
        "answered by a reset.",
    )

    @field_validator("ports", mode="after")
    @classmethod
    def _ports_are_a_range(cls, ports: list[int]) -> list[int]:
        first, last = ports
        if first > last:
            raise UnitError(f"the first port, {first}, is above the last, {last}", hint=f"write [{last}, {first}]")
        return ports

    def spec(self) -> NatSpec:
        first, last = self.ports
        return NatSpec(
            mapping=Dependence(self.mapping),
            filtering=Dependence(self.filtering),
            udp_timeout_ns=self.udp,
            tcp_transitory_timeout_ns=self.tcp_transitory,
            tcp_established_timeout_ns=self.tcp,
            inbound_refresh=self.inbound_refresh,
            keep_port=self.keep_port,
            ports=(first, last),
            table_size=self.table,
            unmapped_segment=Unmapped(self.unmapped),
        )


Medium = Annotated[
    MediumSpec | None,
    PlainValidator(read_medium, json_schema_input_type=Literal["none"] | SerialiserTable | WifiTable | Ieee802154Table),
]
