//! What background traffic reports.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What one end of background traffic carried: the last line on the stdout of `wirelab-agent traffic`, printed on SIGTERM.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrafficReport {
    /// When it began: it listened, or started its first flow. CLOCK_MONOTONIC.
    pub begin_ns: u64,
    /// When it received SIGTERM.
    pub end_ns: u64,
    /// One for each connection that a server accepted or each flow that a client keeps up, in the order in which they began.
    pub flows: Vec<TrafficFlow>,
}

/// A flow, as one end saw it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrafficFlow {
    /// Bytes handed to the kernel: of TCP, also those that have not arrived yet; of ICMP, the requests' payloads.
    pub sent_bytes: u64,
    /// Bytes that arrived: of ICMP, the replies' payloads.
    pub received_bytes: u64,
    /// How often a client connected: more than once if connections broke. 0 of ICMP and at a server.
    pub connections: u32,
}
