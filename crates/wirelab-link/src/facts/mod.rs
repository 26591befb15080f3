//! What is known of a link without sending a packet through it: the types that the control plane reads. Each impairment says its own facts in its
//! own file; nothing here knows a kind.
//!
//! Quantities carry their units: `_ns` nanoseconds, `_bytes` octets, `_bps` bits per second; shares and probabilities are fractions in `[0, 1]`.

mod linear;
mod link_facts;
mod schedule;
mod shared;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use link_facts::{DirectionFacts, LinkFacts, Step};
pub use schedule::OverTime;
pub(crate) use shared::mean_over_tries;
pub use shared::{Airtime, Service, SharedFacts, SharedQueue};

use crate::impairment::correlated::share_below;
use crate::impairment::loss::stationary::stationary;
use crate::queue::QueueSpec;

/// What is known of one stage of a chain. Every field has to be given: a fact that does not apply is said to be none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// In people's words, with every number.
    pub words: String,
    /// What it loses on purpose; `None` if nothing.
    pub loss: Option<LossFacts>,
    /// What it adds to a packet's delay without queues and other packets; `None` if nothing.
    pub delay: Option<DelayFacts>,
    /// How fast packets pass; `None` without a limit.
    pub rate: Option<RateFacts>,
    /// What may wait; `None` of a stage without a queue.
    pub queue: Option<QueueFacts>,
    /// Delay, rate and loss that change with time.
    pub over_time: Option<OverTime>,
    /// Times without a link.
    pub away: Option<Away>,
    /// Packets that leave twice.
    pub duplicated: Option<Chance>,
    /// Packets with an inverted bit.
    pub corrupted: Option<Chance>,
    /// Packets that are delayed, so that later ones overtake them.
    pub held_back: Option<Chance>,
    /// Where packets are counted that enter and do not leave, sorted.
    pub keeps: Vec<Kept>,
    /// True if it does something to packets one by one, so that many have to be sent to measure it.
    pub per_packet: bool,
    /// True if a packet may overtake an earlier one of its flow.
    pub overtakes: bool,
    /// True if it needs packets as they are on a wire, with their checksums and no larger than the MTU; with offloads they are not.
    pub of_one_packet: bool,
    /// Why the delay of a packet that meets no other has no one figure.
    pub varies: Option<String>,
}

/// Where packets are counted that a stage keeps: inside at the end, or dropped with this cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kept {
    /// Dropped by active queue management.
    Aqm,
    /// Inside.
    Held,
    /// Dropped without an address mapping.
    Nat,
    /// Dropped while there was no link.
    Outage,
    /// Dropped for want of room.
    QueueFull,
    /// Dropped by the link layer after its last retry.
    Retries,
}

/// Loss on purpose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LossFacts {
    /// Share of packets lost in the long run; `None` if it depends on when packets are sent.
    pub share: Option<f64>,
    /// Variance of a long run's loss count over that of independent loss; `None` if it is not known.
    pub design_effect: Option<f64>,
    /// Probability that a packet after a time without loss is lost.
    pub first: f64,
    /// Probability that its repetition is lost too.
    pub again: f64,
    /// Losses that are known beforehand.
    pub pattern: Option<Pattern>,
    /// A chain of states that moves with each packet.
    pub chain: Option<LossChain>,
    /// A state that moves with time.
    pub in_time: Option<InTime>,
}

/// Packets that are lost by their number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pattern {
    /// Length of the pattern, packets.
    pub period: u64,
    /// Positions that are lost, ascending, from 0.
    pub lost: Vec<u64>,
    /// It begins again at its end; else all later packets pass.
    pub repeat: bool,
}

/// A Markov chain that moves with each packet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LossChain {
    /// Row by row, the probability of moving from one state to another.
    pub transitions: Vec<Vec<f64>>,
    /// Loss probability in each state.
    pub loss: Vec<f64>,
    /// Share of each state in the long run, from the first state on.
    pub stationary: Vec<f64>,
}

impl LossChain {
    /// Of transitions that can be built: others have no share of any state.
    pub fn new(transitions: Vec<Vec<f64>>, loss: Vec<f64>) -> Self {
        let stationary = stationary(&transitions).unwrap_or_else(|_| vec![0.0; loss.len()]);
        Self { transitions, loss, stationary }
    }
}

/// A loss probability that moves between two values with time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InTime {
    /// The states of two instants are correlated by exp(-decay x the time between them).
    pub decay_per_ns: f64,
    /// Variance of the loss probability.
    pub variance: f64,
}

/// Delay without queues.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DelayFacts {
    /// Mean; of a schedule over its repetition, else at its end.
    pub mean_ns: f64,
    /// How far jitter moves 999 of 1,000 packets from the mean at most.
    pub reach_ns: f64,
    /// About how far a packet may be moved, a coarse bound.
    pub spread_ns: u64,
    /// True if it differs by chance.
    pub random: bool,
}

/// How fast packets pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateFacts {
    /// Sustained rate; `None` if there is not always a limit.
    pub mean_bps: Option<u64>,
    /// What a sender gets that always has a packet.
    pub busy_bps: f64,
    /// A packet that meets no other uses whole quanta of so many bytes.
    pub quantum_bytes: Option<u32>,
    /// Bytes counted for each packet in addition to its IP length.
    pub overhead_bytes: u32,
    /// The rate at which a packet is sent that meets no other; `None` if it leaves without delay or the rate varies.
    pub lone_bps: Option<u64>,
    /// The one rate that a train of packets shows.
    pub steady_bps: Option<u64>,
    /// Why the rate varies.
    pub changes: Option<String>,
    /// Why few packets pass in a given time.
    pub sparse: Option<String>,
}

impl RateFacts {
    /// One rate at all times.
    pub const fn steady(rate_bps: u64, overhead_bytes: u32) -> Self {
        Self {
            mean_bps: Some(rate_bps),
            busy_bps: rate_bps as f64,
            quantum_bytes: None,
            overhead_bytes,
            lone_bps: Some(rate_bps),
            steady_bps: Some(rate_bps),
            changes: None,
            sparse: None,
        }
    }
}

/// What may wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueFacts {
    /// Bytes, if they are bounded.
    pub bytes: Option<u64>,
    /// Packets, if they are bounded.
    pub packets: Option<u32>,
    /// True if a packet's wait depends on its flow.
    pub fair: bool,
    /// The name of its active queue management.
    pub aqm: Option<String>,
}

impl QueueFacts {
    /// Of a drop-tail queue.
    pub const fn drop_tail(bytes: Option<u64>, packets: Option<u32>) -> Self {
        Self { bytes, packets, fair: false, aqm: None }
    }
}

impl From<&QueueSpec> for QueueFacts {
    fn from(queue: &QueueSpec) -> Self {
        let aqm = queue.aqm().map(str::to_owned);
        Self { bytes: queue.bytes(), packets: queue.packets(), fair: queue.tells_flows_apart(), aqm }
    }
}

/// Times without a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Away {
    /// How long each lasts.
    pub duration_ns: u64,
    /// From the beginning of one to that of the next; `None` if there is only one.
    pub every_ns: Option<u64>,
    /// True if packets are held until its end.
    pub holds: bool,
}

/// What befalls packets with a probability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Chance {
    /// As configured.
    pub probability: f64,
    /// Share of packets in the long run.
    pub share: f64,
    /// True if draws are correlated.
    pub correlated: bool,
    /// For how long a packet is delayed.
    pub by_ns: Option<u64>,
}

impl Chance {
    /// Of netem's draws.
    pub fn of(probability: f64, correlation: f64) -> Self {
        let share = share_below(probability, correlation);
        Self { probability, share, correlated: correlation > 0.0, by_ns: None }
    }
}

impl LossFacts {
    /// Of losses that are independent of one another.
    pub fn independent(probability: f64) -> Self {
        Self { design_effect: Some(1.0), ..Self::of_share(probability) }
    }

    /// Of losses of which only the share in the long run is known.
    pub fn of_share(share: f64) -> Self {
        Self {
            share: Some(share),
            design_effect: None,
            first: share,
            again: share,
            pattern: None,
            chain: None,
            in_time: None,
        }
    }

    /// Of a chain that moves with each packet.
    pub fn of_chain(chain: LossChain) -> Self {
        let (share, again) = linear::loss_of_chain(&chain);
        let design_effect = linear::design_effect(&chain, share);
        Self { design_effect, again, chain: Some(chain), ..Self::of_share(share) }
    }
}

/// Where the packets are counted that a queue of this discipline keeps.
pub(crate) fn kept_by(queue: &QueueSpec) -> Vec<Kept> {
    let aqm = queue.aqm().map(|_| Kept::Aqm);
    aqm.into_iter().chain([Kept::Held, Kept::QueueFull]).collect()
}
