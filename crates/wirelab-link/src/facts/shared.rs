//! What is known of a stage that both directions share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Kept, QueueFacts};
use crate::impairment::SleepSpec;

/// What is known of one stage that both directions share. Every field has to be given: a fact that does not apply is said to be none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedFacts {
    /// Its key in the link's description.
    pub key: String,
    /// In people's words, with every number.
    pub words: String,
    /// Rate of its frames.
    pub rate_bps: Option<u64>,
    /// How long a packet of a lone sender takes, by its size; sizes outside all pieces: not known. Empty if it takes no time.
    pub service: Vec<Service>,
    /// For how long packets hold it.
    pub airtime: Option<Airtime>,
    /// Share of frames lost although they were repeated. A packet is lost with any of its frames.
    pub frame_loss: f64,
    /// True if the delay of a packet that meets no other differs by chance.
    pub random: bool,
    /// True if its senders contend for it, so that frames of two may collide.
    pub contends: bool,
    /// What may wait, by direction.
    pub queue: Option<SharedQueue>,
    /// The depths of a radio's sleep, from light to deep.
    pub sleeps: Vec<SleepSpec>,
    /// True if downlink packets pass only after an uplink packet of their flow.
    pub opened_by_uplink: bool,
    /// How long no packet has passed when a UDP flow's state ends.
    pub silence_ns: Option<u64>,
    /// What that time is called.
    pub silence_words: Option<String>,
    /// True if the treatment of a packet depends on its flow.
    pub tells_flows_apart: bool,
    /// Where packets are counted that enter and do not leave, by direction: uplink, downlink; sorted.
    pub keeps: [Vec<Kept>; 2],
}

/// How long a packet takes of one lone sender, for sizes of a range: means, linear in the packet's IP bytes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Service {
    /// Smallest size.
    pub from_bytes: u32,
    /// Largest size, itself included.
    pub to_bytes: u32,
    /// From arrival to the last bit if no other station sends: of a packet without bytes.
    pub idle_ns: f64,
    /// For each byte.
    pub idle_ns_per_byte: f64,
    /// From one packet to the next that waits already: of a packet without bytes.
    pub busy_ns: f64,
    /// For each byte.
    pub busy_ns_per_byte: f64,
}

/// For how long a packet holds a medium that it alone uses: means, to about a twelfth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Airtime {
    /// For each frame.
    pub per_frame_ns: f64,
    /// For each byte sent.
    pub per_byte_ns: f64,
    /// IP bytes that are not sent, for their headers are compressed.
    pub compressed_bytes: u32,
    /// Bytes sent in a frame; `None`: a frame for each packet.
    pub frame_bytes: Option<u32>,
}

/// What may wait at a shared stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedQueue {
    /// Of the uplink's packets.
    pub uplink: Option<QueueFacts>,
    /// Of the downlink's packets.
    pub downlink: Option<QueueFacts>,
}

/// Mean cost of a packet that gets through, when each try may be lost and costs more.
pub(crate) fn mean_over_tries(lost: f64, costs: &[f64]) -> f64 {
    let weights: Vec<f64> = (0..costs.len()).map(|tries| lost.powi(tries as i32) * (1.0 - lost)).collect();
    let total: f64 = weights.iter().sum();
    let sums: Vec<f64> = costs
        .iter()
        .scan(0.0, |sum, cost| {
            *sum += cost;
            Some(*sum)
        })
        .collect();
    if total == 0.0 {
        return sums.last().copied().unwrap_or(0.0);
    }
    weights.iter().zip(&sums).map(|(weight, sum)| weight * sum).sum::<f64>() / total
}
