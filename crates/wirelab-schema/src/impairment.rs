use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One effect on packets. The order of a chain matters: the departure instant of one stage is the arrival instant of the next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ImpairmentSpec {
    /// Propagation delay. With jitter, departures never overtake one another unless `overtaking` is set: a packet that would leaves with its
    /// predecessor.
    Delay {
        /// Mean one-way delay.
        delay_ns: u64,
        /// Spread around the mean; absent means constant.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        jitter: Option<JitterSpec>,
        /// netem's correlation of successive draws (0 to 1).
        #[serde(default, skip_serializing_if = "is_zero")]
        correlation: f64,
        /// Packets leave by their own delay, also before packets that came earlier, as netem's jitter has it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        overtaking: bool,
    },
    /// Loss with the same probability for each packet; independent without `correlation`.
    Loss {
        /// Loss probability per packet.
        probability: f64,
        /// netem's correlation of successive draws (0 to 1).
        #[serde(default, skip_serializing_if = "is_zero")]
        correlation: f64,
    },
    /// netem's `loss state`: a Markov chain of four states (1 received, 2 received within a burst, 3 lost within a burst, 4 lost alone) that
    /// moves with each packet.
    FourState {
        /// From received to lost within a burst.
        p13: f64,
        /// From lost within a burst to received.
        p31: f64,
        /// From lost within a burst to received within a burst.
        p32: f64,
        /// From received within a burst to lost within a burst.
        p23: f64,
        /// From received to lost alone.
        p14: f64,
    },
    /// Loss by a Markov chain of any number of states that moves with each packet; the state before the packet's transition decides its fate.
    /// Starts in the stationary distribution.
    Markov {
        /// Row by row, the probability of moving from one state to another; each row sums to 1.
        transitions: Vec<Vec<f64>>,
        /// Loss probability in each state.
        loss: Vec<f64>,
    },
    /// Loss by a given pattern, one character for each packet: `0` passes, `1` is lost.
    LossPattern {
        /// At least one character.
        pattern: String,
        /// Begin again at its end; else all packets after it pass.
        repeat: bool,
    },
    /// Reordering: some packets are held back, and those behind overtake them (late packets by RFC 4737).
    Reorder {
        /// Probability per packet of being held back.
        probability: f64,
        /// For how long.
        by_ns: u64,
        /// netem's correlation of successive draws (0 to 1).
        #[serde(default, skip_serializing_if = "is_zero")]
        correlation: f64,
    },
    /// Duplication: some packets leave twice, at the same instant.
    Duplicate {
        /// Probability per packet.
        probability: f64,
        /// netem's correlation of successive draws (0 to 1).
        #[serde(default, skip_serializing_if = "is_zero")]
        correlation: f64,
    },
    /// Corruption: one random bit of some packets is inverted, behind the link layer's header.
    Corrupt {
        /// Probability per packet.
        probability: f64,
        /// netem's correlation of successive draws (0 to 1).
        #[serde(default, skip_serializing_if = "is_zero")]
        correlation: f64,
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
    /// Serialisation at a fixed rate behind a queue.
    Rate {
        /// Rate at which packets are serialised, counting IP bytes plus `overhead_bytes` for each packet.
        rate_bps: u64,
        /// What waits behind the packet being sent, in bytes of the same base as the rate.
        queue: QueueSpec,
        /// Bytes added to each packet's IP length, for example 14 for an Ethernet header. May be 0.
        #[serde(default)]
        overhead_bytes: u32,
    },
    /// A token bucket: packets leave at once while there are tokens, which come at a rate. Starts full.
    TokenBucket {
        /// Rate of tokens.
        rate_bps: u64,
        /// Size of the bucket, in bytes of the same base as the rate; a larger packet is dropped.
        burst_bytes: u64,
        /// What waits for tokens.
        queue: QueueSpec,
        /// Bytes added to each packet's IP length.
        #[serde(default)]
        overhead_bytes: u32,
    },
    /// Delivery opportunities as mahimahi records them: at each a link can deliver 1500 bytes; unused ones are lost. Begins again at its end.
    DeliveryTrace {
        /// Milliseconds from the trace's beginning, in order; the last is the trace's length and is above 0.
        opportunities_ms: Vec<u32>,
        /// What waits for an opportunity.
        queue: QueueSpec,
        /// Bytes added to each packet's IP length.
        #[serde(default)]
        overhead_bytes: u32,
    },
    /// Delay, rate and loss that change at given instants, counted from the link's first packet.
    Schedule {
        /// In order of their instants; the first at 0.
        points: Vec<SchedulePoint>,
        /// Begin again after this; absent means that the last point holds for ever.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repeat_ns: Option<u64>,
        /// What waits behind the packet being sent.
        queue: QueueSpec,
        /// Bytes added to each packet's IP length.
        #[serde(default)]
        overhead_bytes: u32,
    },
    /// Times without a link, counted from the link's first packet: an outage, or with `hold_bytes` a handover.
    Outage {
        /// When the first begins.
        start_ns: u64,
        /// How long each lasts.
        duration_ns: u64,
        /// From the beginning of one to that of the next; absent means that there is one only.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        every_ns: Option<u64>,
        /// IP bytes that are kept meanwhile and leave at its end; absent means that all are dropped.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hold_bytes: Option<u64>,
    },
    /// A sender that may use only a share of the time: after each packet it is silent for airtime × (1 / share − 1) (ETSI EN 300 220, LoRaWAN).
    DutyCycle {
        /// Rate at which packets are serialised, counting IP bytes plus `overhead_bytes` for each packet.
        rate_bps: u64,
        /// Share of the time that may be used, above 0 and at most 1.
        share: f64,
        /// What waits.
        queue: QueueSpec,
        /// Bytes added to each packet's IP length.
        #[serde(default)]
        overhead_bytes: u32,
    },
}

/// What waits before a rate, and who is dropped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "discipline", rename_all = "kebab-case", deny_unknown_fields)]
pub enum QueueSpec {
    /// First in, first out; an arrival that does not fit is dropped.
    DropTail {
        /// Bytes that may wait, behind the packet being sent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bytes: Option<u64>,
        /// Packets that may wait. At least one of the two bounds is given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        packets: Option<u32>,
    },
    /// CoDel (RFC 8289) with a drop-tail bound.
    Codel {
        /// TARGET: acceptable standing delay.
        target_ns: u64,
        /// INTERVAL: about the longest round trip.
        interval_ns: u64,
        /// Bytes that may wait.
        bytes: u64,
    },
    /// FQ-CoDel (RFC 8290): flows served by deficit round robin, each with CoDel.
    FqCodel {
        /// TARGET of each flow's CoDel.
        target_ns: u64,
        /// INTERVAL of each flow's CoDel.
        interval_ns: u64,
        /// Number of queues that flows are hashed to.
        flows: u32,
        /// Bytes that a queue may send in its turn.
        quantum_bytes: u32,
        /// Packets that may wait in all queues together.
        packets: u32,
    },
}

/// What holds from an instant on; each absent value means: none (no delay, no limit, no loss).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SchedulePoint {
    /// From when, counted from the link's first packet.
    pub at_ns: u64,
    /// One-way delay. Packets do not overtake one another when it falls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ns: Option<u64>,
    /// Rate; 0 means that nothing is sent until the next point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_bps: Option<u64>,
    /// Loss probability per packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<f64>,
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
    /// netem's `pareto` table: Pareto with shape 3, shifted to mean 0 and scaled as netem does.
    Pareto {
        /// netem's jitter.
        sigma_ns: u64,
    },
    /// netem's `paretonormal` table: a quarter normal, three quarters Pareto.
    ParetoNormal {
        /// netem's jitter.
        sigma_ns: u64,
    },
    /// A table of quantiles: offsets from the mean at equally spaced probabilities from 0 to 1, linear between them.
    Table {
        /// In ascending order, at least two.
        offsets_ns: Vec<i64>,
    },
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}
