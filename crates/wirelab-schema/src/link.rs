use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An emulated path between the hosts of a lane: one chain of impairments per direction.
///
/// `uplink` carries packets from the first host (the client) to the last (the server), `downlink` the other way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// Impairments that packets from client to server pass, in this order.
    pub uplink: Vec<ImpairmentSpec>,
    /// Impairments that packets from server to client pass, in this order.
    pub downlink: Vec<ImpairmentSpec>,
    /// A stage that both directions share (half-duplex air, a gateway's bottleneck); passed after the direction's own chain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub medium: Option<MediumSpec>,
    /// Sleep of the client's radio, which both directions share: uplink packets pass it before their chain, downlink packets after theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radio: Option<RadioSpec>,
    /// Address translation at the far end of the path: uplink packets pass it after everything else, downlink packets before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nat: Option<NatSpec>,
    /// MTU of the endpoints' interfaces, IP bytes: the kernel fragments (IPv4, RFC 791; IPv6, RFC 8200) and TCP announces its MSS as on any such
    /// interface. Absent means that of the lanes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu: Option<u32>,
    /// Which addresses the endpoints talk by. Absent means IPv4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<AddressFamily>,
}

/// A version of IP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AddressFamily {
    /// RFC 791.
    #[default]
    Ipv4,
    /// RFC 8200. Needs an MTU of at least 1280.
    Ipv6,
}

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

fn is_zero(value: &f64) -> bool {
    *value == 0.0
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

/// A stage that both directions and all hosts share: one frame at a time, each port behind its own bounded drop-tail queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum MediumSpec {
    /// A serialiser that ports use in turn, without contention or errors.
    Serialiser {
        /// Rate at which packets are serialised, counting IP bytes plus `overhead_bytes` for each packet.
        rate_bps: u64,
        /// Bytes that may wait for each port.
        queue_bytes: u64,
        /// Bytes added to each packet's IP length.
        #[serde(default)]
        overhead_bytes: u32,
    },
    /// Air shared by CSMA/CA as in IEEE 802.11's distributed coordination function: a frame for each packet, an ACK for each frame, retries with
    /// doubling contention windows, collisions where two stations count down to the same slot.
    Wifi {
        /// Rate of data frames, counting IP bytes plus `overhead_bytes`.
        rate_bps: u64,
        /// Bytes of MAC header, LLC and FCS for each packet.
        overhead_bytes: u32,
        /// Preamble and PHY header of a data frame.
        preamble_ns: u64,
        /// Duration of an ACK frame with its preamble.
        ack_ns: u64,
        /// Slot time.
        slot_ns: u64,
        /// SIFS.
        sifs_ns: u64,
        /// DIFS.
        difs_ns: u64,
        /// CWmin, slots.
        cw_min: u32,
        /// CWmax, slots.
        cw_max: u32,
        /// How often a frame is sent again before it is dropped; dot11ShortRetryLimit is one more, for it counts the first try.
        retries: u32,
        /// Probability that a data frame is not received, whatever its size.
        frame_error: f64,
        /// Bytes that may wait for each port.
        queue_bytes: u64,
    },
    /// IEEE 802.15.4 (2.4 GHz O-QPSK) under 6LoWPAN: fragments (RFC 4944), unslotted CSMA-CA, ACKs and retries; a datagram dies with one frame.
    Ieee802154 {
        /// Bytes that header compression (RFC 6282) saves of each datagram's IP and UDP headers.
        compressed_bytes: u32,
        /// Bytes of MAC header and FCS in each data frame.
        mac_bytes: u32,
        /// Probability that a data frame is not received.
        frame_error: f64,
        /// macMaxFrameRetries.
        retries: u32,
        /// macMaxCSMABackoffs.
        max_backoffs: u32,
        /// macMinBE.
        min_be: u32,
        /// macMaxBE.
        max_be: u32,
        /// Bytes that may wait for each port.
        queue_bytes: u64,
    },
}

/// How the client's radio goes to sleep while no packet passes in either direction, and what waking takes. It starts in the deepest sleep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RadioSpec {
    /// From light to deep: C-DRX, DRX or eDRX, PSM; or Wi-Fi's power save.
    pub sleeps: Vec<SleepSpec>,
    /// IP bytes that the network keeps for a sleeping client; beyond them packets are dropped.
    pub buffer_bytes: u64,
}

/// One depth of sleep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SleepSpec {
    /// How long no packet has passed when it begins.
    pub after_ns: u64,
    /// How often the client listens, from the instant at which this sleep began; absent means never, so that downlink packets wait for an uplink
    /// packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle_ns: Option<u64>,
    /// How long waking takes, before an uplink packet may go or after a downlink packet was announced.
    pub wake_ns: u64,
}

/// Address translation that keeps ports, as Linux's does: a mapping begins with an uplink packet and ends after a time without packets; downlink
/// packets without a mapping are dropped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NatSpec {
    /// Idle time after which a UDP mapping ends (RFC 4787, REQ-5: at least 2 minutes).
    pub udp_timeout_ns: u64,
    /// Idle time after which a TCP mapping ends (RFC 5382, REQ-5: at least 2 hours 4 minutes).
    pub tcp_timeout_ns: u64,
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

/// One direction of a trial's link. At every instant received + duplicated = delivered + dropped + held.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DirectionReport {
    /// IP packets taken from the sender's interface.
    pub received: u64,
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
    /// Loss that was asked for (`loss`, `gilbert-elliott`, …, `schedule`).
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
