//! Rows of captures, and of their ledger of bytes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One IP packet of a capture (pcap, pcapng) as `wirelab-agent capture` prints it: a line of JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapturedPacket {
    /// When it was captured, since 1970, by the clock of the machine that captured it.
    pub at_ns: u64,
    /// The address that it came from.
    pub source: Option<String>,
    /// The address that it went to.
    pub destination: Option<String>,
    /// Number of its transport flow, from 0 in order of appearance.
    pub flow: u32,
    /// True from client to server. The client sent the SYN; if none was captured, it has the higher port, or else sent first.
    pub uplink: bool,
    /// IP bytes.
    pub size_bytes: u32,
    /// `tcp`, `udp`, `icmp`, the protocol's number, or `unknown` where too little was captured.
    pub transport: String,
    /// Bytes of transport payload.
    pub payload_bytes: u32,
    /// TCP flags as letters (`S`, `A`, `P`, `F`, `R`), in that order.
    pub tcp_flags: Option<String>,
    /// TCP sequence number relative to the flow's first.
    pub tcp_sequence: Option<u32>,
    /// TCP acknowledgement number relative to the other side's first.
    pub tcp_acknowledgement: Option<u32>,
    /// A TCP segment that repeats, at least in part, a captured sequence range (or SYN, FIN).
    pub retransmission: bool,
}

/// What the bytes of a captured trial were spent on, as `wirelab-agent ledger` prints it: a line of JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ledger {
    /// The trial's folder, as given on the command line.
    pub trial: String,
    /// What the client sent, then what the server did.
    pub directions: [LedgerBytes; 2],
}

/// IP bytes that one end sent, each counted once: but for `packets`, `total` and `link_layer` the parts sum to `total`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LedgerBytes {
    /// Packets.
    pub packets: u64,
    /// All of their bytes.
    pub total: u64,
    /// IP headers of packets that carry something.
    pub ip: u64,
    /// TCP and UDP headers of these; short headers of QUIC, and its frames but for what they carry.
    pub transport: u64,
    /// TCP segments with SYN, FIN or RST that carry nothing, whole.
    pub connection: u64,
    /// TCP segments that only acknowledge, and datagrams of QUIC that do, whole.
    pub acknowledgements: u64,
    /// Payload that TCP retransmitted, without headers.
    pub retransmitted: u64,
    /// Handshakes, tickets and alerts of TLS and DTLS, with their records; QUIC packets with long headers.
    pub handshake: u64,
    /// What protects the application's bytes: headers of records, nonces and tags.
    pub protection: u64,
    /// What the application protocol made: its headers and what it carries.
    pub application: u64,
    /// What could not be opened for want of a secret: protection and application together, and early data of QUIC.
    pub sealed: u64,
    /// Packets that are neither TCP nor UDP, and fragments.
    pub other: u64,
    /// What the emulated link's own layer adds to `total`: headers of frames and fragments, each sent once, without preambles and without frames
    /// that the layer adds; below 0 where it compresses more than it adds. Null of a link without frames: one without a rate or a medium.
    pub link_layer: Option<i64>,
}
