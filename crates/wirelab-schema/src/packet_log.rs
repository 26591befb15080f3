//! The header of a packet log.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::LinkSpec;

/// Header of a packet log: the magic, the header's length as a little-endian `u32`, then JSON of this type.
///
/// Records follow, each little-endian: `sequence u64, port u16, fate u8, header_len u8, size u32 (IP bytes), arrival_ns u64, departure_ns u64
/// (of a dropped packet: when it was dropped; of a held one: when the trial ended), lateness_ns u64 (unless delivered: 0)`, then `header_len`
/// bytes from the IP header on, as they arrived; of a translated packet as the client's side knows it. Records are in the order in which packets were
/// delivered or dropped. A torn last record is ignored.
///
/// The lower half of `fate` is a position in [`PacketOutcome`], the upper half are flags: 0x80, the packet is a copy that the link made (there may be
/// several of one `sequence`); 0x40, the link inverted one of its bits, and the last field is then `lateness_ns u32` (at most 4.29 s),
/// `corrupted_bit u32` (counted from the first of the IP header); 0x20, an address translation let the packet pass, or its like before, and `port u16` and 16 bytes of address
/// (IPv4 mapped, RFC 4291 section 2.5.5.2) stand before its bytes: the client's end as the server's side knows it; 0x10, the packet is a reset that the
/// link made in answer to the packet of the same `sequence`. A reader refuses other outcomes.
///
/// A record with the outcome [`PacketOutcome::Rest`] is not a packet: at `arrival_ns` the link's clock was put forward by `departure_ns - arrival_ns`.
/// Its `sequence` is that of the next packet to arrive, its size 0, and no packet bytes follow. All instants of the log are of CLOCK_MONOTONIC, which does
/// not jump.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PacketLogHeader {
    /// [`SCHEMA_VERSION`](crate::SCHEMA_VERSION) of the writer.
    pub schema_version: u32,
    /// The trial's link, so that the log can be replayed.
    pub link: LinkSpec,
    /// Seed of the trial's link.
    pub seed: u64,
    /// The host at each port, by its number: even on the near side, odd on the far one. A number without a host has an empty name.
    pub ports: Vec<String>,
}

/// Delivered, held, or why dropped; the lower half of the `fate` byte is the position in this list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PacketOutcome {
    /// Put on the receiver's interface.
    Delivered,
    /// Lost at random.
    Loss,
    /// Dropped by a full queue.
    QueueFull,
    /// Still inside when the trial ended.
    Held,
    /// Dropped by active queue management.
    Aqm,
    /// Dropped while there was no link.
    Outage,
    /// Dropped by the link layer after its last retry, or because the air was never free.
    Retries,
    /// Dropped because no address mapping was left.
    Nat,
    /// Not a packet: the link's clock was put forward (idle start).
    Rest,
}

/// One packet as `wirelab-agent dissect` prints it: a line of JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DissectedPacket {
    /// Order of arrival at the link, from 0.
    pub sequence: u64,
    /// True from client to server.
    pub uplink: bool,
    /// IP bytes.
    pub size_bytes: u32,
    /// When it reached the link, CLOCK_MONOTONIC.
    pub arrival_ns: u64,
    /// When it left, or was dropped.
    pub departure_ns: u64,
    /// Timing error of the emulator.
    pub lateness_ns: u64,
    /// Delivered, held, or why dropped.
    #[serde(rename = "fate")]
    pub outcome: PacketOutcome,
    /// The link made it: a copy of the packet of the same `sequence`.
    pub copy: bool,
    /// The link inverted one of its bits.
    pub corrupted: bool,
    /// The link made it: a reset in answer to the packet of the same `sequence`.
    pub originated: bool,
    /// The client's end as the server's side knows it, if an address translation let the packet pass.
    pub outer_end: Option<String>,
    /// The address translation gave its flow another end than that of the packet before.
    pub rebound: bool,
    /// `tcp`, `udp`, `icmp`, the protocol's number, or `unknown` if the log kept too few bytes.
    pub transport: String,
    /// The client side's port, if the transport has ports; a later fragment has those of its datagram's first.
    pub client_port: Option<u16>,
    /// The server side's port.
    pub server_port: Option<u16>,
    /// Bytes of transport payload.
    pub payload_bytes: u32,
    /// TCP flags as letters (`S`, `A`, `P`, `F`, `R`), in that order.
    pub tcp_flags: Option<String>,
    /// TCP sequence number relative to the flow's first.
    pub tcp_sequence: Option<u32>,
    /// TCP acknowledgement number relative to the other side's first.
    pub tcp_acknowledgement: Option<u32>,
    /// A TCP segment that repeats a sequence range (or SYN, FIN), or a confirmable CoAP message that was sent before; never a copy.
    pub retransmission: bool,
    /// A spurious retransmission: the link had delivered the original.
    pub spurious: bool,
    /// QUIC long-header type (`initial`, `0-rtt`, `handshake`, `retry`, `version-negotiation`) or `1-rtt`, for UDP that looks like QUIC;
    /// coalesced packets joined by `+`, as far as the log kept their headers.
    pub quic_packet: Option<String>,
}

/// One packet at the radio of a host on the near side, as `wirelab-agent dissect --radio HOST` prints it: a line of JSON, in order of `at_ns`.
///
/// Packets that the host sent are always listed; packets to the host only if they were delivered. Copies that the link made are included.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RadioPacket {
    /// The packet log, as given on the command line.
    pub log: String,
    /// When the host sent or received it, including the emulator's timing error; CLOCK_MONOTONIC.
    pub at_ns: u64,
    /// How far the link's clock was ahead: the sum of its rests so far. The radio's own time is `at_ns + rested_ns`.
    #[serde(default)]
    pub rested_ns: u64,
    /// The host sent it.
    pub uplink: bool,
    /// IP bytes.
    pub size_bytes: u32,
    /// The near side's port, if the transport has ports.
    pub client_port: Option<u16>,
}

/// One transport flow of a trial as `wirelab-agent dissect --flows` prints it: a line of JSON. Counts by direction: uplink, then downlink.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Flow {
    /// The packet log the flow is in, as given on the command line.
    pub log: String,
    /// `tcp`, `udp`, …
    pub transport: String,
    /// The host on the near side; null if no host there sent a packet of it.
    #[serde(default)]
    pub near: Option<String>,
    /// The client side's port.
    pub client_port: Option<u16>,
    /// The server side's port.
    pub server_port: Option<u16>,
    /// First arrival at the link.
    pub first_ns: u64,
    /// Last departure or drop.
    pub last_ns: u64,
    /// Packets that reached the link; not the resets that it made.
    pub packets: [u64; 2],
    /// IP bytes that reached the link.
    pub bytes: [u64; 2],
    /// Copies that the link made.
    pub duplicated: [u64; 2],
    /// Packets dropped, copies included.
    pub dropped: [u64; 2],
    /// Retransmitted TCP segments, or confirmable CoAP messages without DTLS; null if packets do not show it, as with QUIC and DTLS.
    pub retransmissions: Option<[u64; 2]>,
    /// Spurious retransmissions: the link had delivered the original.
    pub spurious: Option<[u64; 2]>,
    /// Packets in turn: each reached the link after the one before had arrived from the other side. Two are a round trip.
    pub turns: u64,
    /// Packets for which the address translation no longer had the mapping of those before.
    pub expiries: Vec<MappingExpiry>,
}

/// A packet of a flow for which the address translation no longer had a mapping, although it had one for those before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MappingExpiry {
    /// When it reached the link.
    pub at_ns: u64,
    /// What it did with it, and with those after it.
    pub treatment: ExpiryTreatment,
}

/// What an address translation did with a flow without a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ExpiryTreatment {
    /// It gave the flow another end.
    NewEnd,
    /// It dropped the packets without a word.
    Dropped,
    /// It dropped them and answered with a reset.
    Reset,
}

/// What `wirelab-agent replay` prints of a packet log: a line of JSON. The log's arrivals were run through a new chain with the same seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReplayReport {
    /// The packet log, as given on the command line.
    pub log: String,
    /// Packets in the log, copies included.
    pub packets: u64,
    /// Packets that differ in outcome, arrival, departure or corrupted bit between log and replay, and packets that are missing from the log.
    pub mismatches: u64,
    /// The first of them.
    pub first_mismatch: Option<ReplayMismatch>,
    /// Delivered packets of each direction, by the log: from the client first, then from the server.
    pub directions: [DeliveredPackets; 2],
}

/// Packets of one direction that were delivered, without copies that the link made, by the impairments that they met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeliveredPackets {
    /// How many.
    pub packets: u64,
    /// Packets of which the link made a copy, delivered or not.
    pub duplicated: u64,
    /// Packets with an inverted bit.
    pub corrupted: u64,
    /// Packets that left before one of the same host that had arrived earlier (RFC 4737 section 3).
    pub reordered: u64,
}

/// A packet on which a log and its replay disagree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReplayMismatch {
    /// Order of arrival at the link, from 0.
    pub sequence: u64,
    /// True for a copy that the link made.
    pub copy: bool,
    /// True for a reset that the link made.
    pub originated: bool,
    /// What the log says; null if the log lacks the packet.
    pub logged: Option<ReplayedPacket>,
    /// What the chain says; null if the log lacks the packet's arrival.
    pub replayed: Option<ReplayedPacket>,
}

/// One packet of a log or its replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReplayedPacket {
    /// Delivered, held, or why dropped.
    #[serde(rename = "fate")]
    pub outcome: PacketOutcome,
    /// When it reached the link.
    pub arrival_ns: u64,
    /// When it left or was dropped; of a held packet, when the trial ended.
    pub departure_ns: u64,
    /// The client's end as the server's side knows it, if an address translation let the packet pass.
    pub outer_end: Option<String>,
    /// The bit that the link inverted, counted from the first of the IP header; null if it inverted none.
    pub corrupted_bit: Option<u32>,
}
