//! A queue's description: JSON, what it builds, and what is known of it.

use std::num::NonZeroU32;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Queue;
use crate::spec::values::{at_most, limit};
use crate::spec::{Choices, Place, SpecError, words};

/// Maximum number of queues of FQ-CoDel, as in Linux.
const MAX_FLOWS: u32 = 1 << 16;

/// The queue before a rate, and which packets it drops.
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

impl QueueSpec {
    /// The queue, if it can work.
    pub fn build(&self, at: &Place) -> Result<Queue, SpecError> {
        let interval = |interval_ns: u64| match interval_ns {
            0 => Err(at.key("interval_ns").error("an interval of 0 drops everything that waits")),
            _ => Ok(Duration::from_nanos(interval_ns)),
        };
        let above_zero = |value: u32, name, what| NonZeroU32::new(value).ok_or_else(|| at.key(name).error(what));
        Ok(match *self {
            Self::DropTail { bytes, packets } => Queue::DropTail(limit(bytes, packets, at)?),
            Self::Codel { target_ns, interval_ns, bytes } => {
                Queue::Codel { target: Duration::from_nanos(target_ns), interval: interval(interval_ns)?, bytes }
            }
            Self::FqCodel { target_ns, interval_ns, flows, quantum_bytes, packets } => {
                at_most(flows, MAX_FLOWS, "the maximum number of queues in Linux", &at.key("flows"))?;
                let by_turns_of_none = "a queue cannot send by turns of 0 bytes";
                Queue::FqCodel {
                    target: Duration::from_nanos(target_ns),
                    interval: interval(interval_ns)?,
                    flows: above_zero(flows, "flows", "flows cannot be hashed to 0 queues")?,
                    quantum_bytes: above_zero(quantum_bytes, "quantum_bytes", by_turns_of_none)?,
                    packets,
                }
            }
        })
    }

    /// The name of its active queue management.
    pub const fn aqm(&self) -> Option<&'static str> {
        match self {
            Self::DropTail { .. } => None,
            Self::Codel { .. } => Some("codel"),
            Self::FqCodel { .. } => Some("fq-codel"),
        }
    }

    /// True if a packet's wait depends on its flow.
    pub const fn tells_flows_apart(&self) -> bool {
        matches!(self, Self::FqCodel { .. })
    }

    /// Bytes that may wait, if they are bounded.
    pub const fn bytes(&self) -> Option<u64> {
        match *self {
            Self::DropTail { bytes, .. } => bytes,
            Self::Codel { bytes, .. } => Some(bytes),
            Self::FqCodel { .. } => None,
        }
    }

    /// Packets that may wait, if they are bounded.
    pub const fn packets(&self) -> Option<u32> {
        match *self {
            Self::DropTail { packets, .. } => packets,
            Self::Codel { .. } => None,
            Self::FqCodel { packets, .. } => Some(packets),
        }
    }

    /// In people's words.
    pub fn words(&self) -> String {
        match *self {
            Self::DropTail { bytes, packets } => room_words(bytes, packets),
            Self::Codel { target_ns, interval_ns, bytes } => {
                format!("CoDel ({}, {}) of {}", words::time(target_ns), words::time(interval_ns), words::size(bytes))
            }
            Self::FqCodel { target_ns, interval_ns, packets, .. } => {
                format!("FQ-CoDel ({}, {}) of {packets} packets", words::time(target_ns), words::time(interval_ns))
            }
        }
    }

    /// One of each discipline.
    pub fn examples() -> Vec<Self> {
        let (target_ns, interval_ns) = (5_000_000, 100_000_000);
        vec![
            Self::DropTail { bytes: Some(100_000), packets: None },
            Self::Codel { target_ns, interval_ns, bytes: 100_000 },
            Self::FqCodel { target_ns, interval_ns, flows: 1024, quantum_bytes: 1514, packets: 1000 },
        ]
    }

    /// One of any discipline, with parameters so small that a short train feels them.
    pub fn arbitrary(choices: &mut Choices<'_>) -> Self {
        let discipline = choices.number(0..3);
        let (target_ns, interval_ns) = (choices.micros(0..5000), choices.micros(1..20_000));
        match discipline {
            0 => Self::DropTail {
                bytes: choices.maybe(|choices| choices.number(0..10_000)),
                packets: Some(choices.small(0..10)),
            },
            1 => Self::Codel { target_ns, interval_ns, bytes: choices.number(0..20_000) },
            _ => Self::FqCodel {
                target_ns,
                interval_ns,
                flows: choices.small(1..4),
                quantum_bytes: choices.small(1..3000),
                packets: choices.small(0..20),
            },
        }
    }
}

/// The bounds of a drop-tail queue in people's words.
pub(crate) fn room_words(bytes: Option<u64>, packets: Option<u32>) -> String {
    let bounds = [bytes.map(words::size), packets.map(|packets| format!("{packets} packets"))];
    bounds.into_iter().flatten().collect::<Vec<_>>().join(" or ")
}
