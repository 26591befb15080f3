//! What a link process counted during one trial.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the link process counted and measured while one trial ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkReport {
    /// One entry for each direction: uplink first, then downlink.
    pub directions: Vec<DirectionReport>,
    /// Packets that the kernel lost: at the endpoints' interfaces or the link's receive ring, before the link process could read them; after it,
    /// if the kernel did not accept them (also counted under `queue-full` of their direction); and, with the backend netem, those that no qdisc
    /// accounts for. Any invalidates the trial.
    pub kernel_drops: u64,
    /// Frames longer than the MTU (segmentation offload left on). Any invalidates the trial.
    pub oversized: u64,
    /// The real-time clock stepped while the trial ran, so kernel stamps could not be mapped to monotonic time. Invalidates the trial.
    pub clock_step: bool,
    /// Packets that captures lack because the disk was slower than they came. The link carried them, and its log has them.
    #[serde(default)]
    pub left_out_of_captures: u64,
    /// How often the link's clock was put forward.
    #[serde(default)]
    pub rests: u64,
    /// By how much in all.
    #[serde(default)]
    pub rested_ns: u64,
}

/// One direction of a trial's link. At every instant received + originated + duplicated = delivered + dropped + held.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DirectionReport {
    /// IP packets taken from the sender's interface.
    pub received: u64,
    /// Packets of the link's own: resets of its address translation.
    #[serde(default)]
    pub originated: u64,
    /// Copies that the link made.
    #[serde(default)]
    pub duplicated: u64,
    /// IP packets put on the receiver's interface.
    pub delivered: u64,
    /// Packets dropped by impairments, by cause, in the order of [`DropCause`].
    pub dropped: Vec<DropCount>,
    /// Packets still inside when the trial ended.
    pub held: u64,
    /// IP bytes received.
    pub received_bytes: u64,
    /// IP bytes delivered.
    pub delivered_bytes: u64,
    /// Timing error: the instant at which a packet was handed to the receiver's interface minus its computed departure time. With the backend
    /// netem: the instant at which it was handed to netem minus its arrival.
    pub lateness: LatenessHistogram,
}

/// How many packets one cause dropped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DropCount {
    /// Why.
    pub cause: DropCause,
    /// How many.
    pub packets: u64,
}

/// Why the link dropped a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DropCause {
    /// Configured loss (`loss`, `gilbert-elliott`, …, `schedule`).
    Loss,
    /// A bounded queue was full.
    QueueFull,
    /// CoDel kept the standing queue short.
    Aqm,
    /// There was no link (`outage`).
    Outage,
    /// The link layer gave up after its last retry, or found no free air.
    Retries,
    /// No address mapping was left (`nat`).
    Nat,
}

/// Timing errors of delivered packets. The upper edges of the buckets grow by a factor of 2^(1/4) from 1 us.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatenessHistogram {
    /// Upper edge of each bucket; the last bucket holds everything above the edge before it.
    pub upper_ns: Vec<u64>,
    /// Packets in each bucket.
    pub packets: Vec<u64>,
    /// Largest timing error.
    pub max_ns: u64,
}
