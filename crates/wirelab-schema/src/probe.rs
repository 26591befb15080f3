//! Plans of probes that calibrate a link, and what their ends report.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::AddressFamily;

/// The probes that the two ends of a slot send through a link to measure it: `wirelab-agent probes PLAN` at each of them.
///
/// Every probe is a UDP datagram. The port of the client's side tells which flow it belongs to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProbePlan {
    /// When the plan begins, CLOCK_MONOTONIC. An end that starts later begins then.
    pub start_ns: u64,
    /// From the beginning until the ends listen no more.
    pub duration_ns: u64,
    /// Family of the ends' addresses.
    #[serde(default)]
    pub family: AddressFamily,
    /// Port of the server's side.
    pub server_port: u16,
    /// In order of their beginning; those of one direction do not overlap.
    pub flows: Vec<ProbeFlow>,
}

/// Probes of one direction and one port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProbeFlow {
    /// True from client to server.
    pub uplink: bool,
    /// Port of the client's side.
    pub client_port: u16,
    /// When the first burst is sent, from the plan's beginning.
    pub begin_ns: u64,
    /// Number of bursts.
    pub bursts: u32,
    /// From the beginning of one burst to that of the next.
    pub every_ns: u64,
    /// Each burst is sent later by up to this, so that probes do not fall into step with anything.
    pub spread_ns: u64,
    /// Probes of a burst, sent one right after the other.
    pub packets: u32,
    /// UDP payload, at least 16.
    pub payload_bytes: u16,
}
