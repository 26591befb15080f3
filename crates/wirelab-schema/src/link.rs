use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An emulated path between the hosts of a lane: one chain of impairments per direction.
///
/// `uplink` carries packets from the first host (the client) to the last (the server), `downlink` the other way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// Impairments that packets from client to server pass, in this order.
    pub uplink: Vec<ImpairmentSpec>,
    /// Impairments that packets from server to client pass, in this order.
    pub downlink: Vec<ImpairmentSpec>,
    /// A stage that both directions share (half-duplex air, a gateway's bottleneck); passed after the direction's own chain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub medium: Option<MediumSpec>,
}

/// One effect on packets. The order of a chain matters: the departure instant of one stage is the arrival instant of the next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ImpairmentSpec {
    /// Propagation delay. With jitter, departures never overtake one another (no reordering): a packet that would leaves with its predecessor.
    Delay {
        /// Mean one-way delay.
        delay_ns: u64,
        /// Spread around the mean; absent means constant.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        jitter: Option<JitterSpec>,
    },
    /// Independent loss: each packet is lost with the same probability.
    Loss {
        /// Loss probability per packet.
        probability: f64,
    },
    /// Gilbert-Elliott loss in netem's parametrisation and convention: the state before the packet's transition decides its fate. Starts in the
    /// stationary distribution.
    GilbertElliott {
        /// Probability per packet of moving from the good to the bad state.
        p: f64,
        /// Probability per packet of moving from the bad to the good state.
        r: f64,
        /// Loss probability in the bad state (netem's `1-h`).
        bad_loss: f64,
        /// Loss probability in the good state (netem's `1-k`).
        good_loss: f64,
    },
    /// Gilbert-Elliott loss whose state evolves in time, so that a burst passes while a sparse sender is silent. Starts stationary.
    GilbertElliottTime {
        /// Mean sojourn in the good state (exponential).
        good_ns: u64,
        /// Mean sojourn in the bad state (exponential).
        bad_ns: u64,
        /// Loss probability in the bad state.
        bad_loss: f64,
        /// Loss probability in the good state.
        good_loss: f64,
    },
    /// Serialisation at a fixed rate behind a bounded drop-tail queue.
    Rate {
        /// Rate at which packets are serialised, counting IP bytes plus `overhead_bytes` for each packet.
        rate_bps: u64,
        /// Bytes (same base as the rate) that may wait behind the packet being sent; arrivals beyond are dropped.
        queue_bytes: u64,
        /// Bytes added to each packet's IP length, for example 14 for an Ethernet header. May be 0.
        #[serde(default)]
        overhead_bytes: u32,
    },
}

/// Distribution of the one-way delay around its mean. Negative delays are clamped to 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "distribution", rename_all = "kebab-case", deny_unknown_fields)]
pub enum JitterSpec {
    /// Normal with this standard deviation.
    Normal {
        /// Standard deviation.
        sigma_ns: u64,
    },
    /// Uniform on mean ± this half-width.
    Uniform {
        /// Half-width.
        half_width_ns: u64,
    },
}

/// A shared serialiser: one packet at a time over both directions and all hosts, each behind its own bounded drop-tail queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MediumSpec {
    /// Rate at which packets are serialised, counting IP bytes plus `overhead_bytes` for each packet.
    pub rate_bps: u64,
    /// Bytes that may wait for each port.
    pub queue_bytes: u64,
    /// Bytes added to each packet's IP length.
    #[serde(default)]
    pub overhead_bytes: u32,
}

/// What the link process counted and measured while one trial ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkReport {
    /// One entry for each direction: uplink first, then downlink.
    pub directions: Vec<DirectionReport>,
    /// Packets that the kernel dropped before the link process could read them (socket or device queue overflow). Any invalidates the trial.
    pub kernel_drops: u64,
    /// Frames longer than the MTU (segmentation offload left on). Any invalidates the trial.
    pub oversized: u64,
    /// The real-time clock stepped while the trial ran, so kernel stamps could not be mapped to monotonic time. Invalidates the trial.
    pub clock_step: bool,
}

/// One direction of a trial's link. At every instant received = delivered + dropped + held.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DirectionReport {
    /// IP packets taken from the sender's interface.
    pub received: u64,
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
    /// Lateness: the instant at which a packet was handed to the receiver's interface minus the instant at which the chain said it left.
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
    /// Random loss (`loss`, `gilbert-elliott`, `gilbert-elliott-time`).
    Loss,
    /// A bounded queue was full.
    QueueFull,
}

/// Lateness of delivered packets, in buckets whose upper edges grow by a factor of 2^(1/4) from 1 us.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatenessHistogram {
    /// Upper edge of each bucket; the last bucket holds everything above the edge before it.
    pub upper_ns: Vec<u64>,
    /// Packets in each bucket.
    pub packets: Vec<u64>,
    /// Largest lateness seen.
    pub max_ns: u64,
}
