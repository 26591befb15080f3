use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One IP packet of a capture (pcap, pcapng) as `wirelab-agent capture` prints it: a line of JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapturedPacket {
    /// When it was captured, since 1970, by the clock of the machine that captured it.
    pub at_ns: u64,
    /// Number of its transport flow, from 0 in order of appearance.
    pub flow: u32,
    /// True from client to server. The client sent the SYN; where none was captured, it has the higher port, or else sent first.
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
    /// A TCP segment some of whose sequence range (or SYN, FIN) was captured before.
    pub retransmission: bool,
}
