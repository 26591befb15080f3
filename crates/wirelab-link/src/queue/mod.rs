//! The buffers before a rate.

mod codel;
mod drop_tail;
mod fq_codel;
mod spec;

use std::fmt;
use std::num::NonZeroU32;
use std::time::Duration;

pub(crate) use self::codel::{Codel, Parameters};
pub(crate) use self::drop_tail::DropTail;
pub(crate) use self::fq_codel::FqCodel;
pub use self::spec::QueueSpec;
pub(crate) use self::spec::room_words;
use crate::impairment::stage_exit::StageExit;
use crate::{Instant, Packet};

/// The queue before a rate, and which packets it drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// First in, first out; an arrival that does not fit is dropped. What becomes of a packet is settled when it arrives.
    DropTail(Limit),
    /// CoDel (RFC 8289), which drops from the head when a packet is taken.
    Codel {
        /// TARGET: acceptable standing delay.
        target: Duration,
        /// INTERVAL: about the longest round trip.
        interval: Duration,
        /// Bytes that may wait; an arrival that does not fit is dropped.
        bytes: u64,
    },
    /// FQ-CoDel (RFC 8290).
    FqCodel {
        /// TARGET of each queue's CoDel.
        target: Duration,
        /// INTERVAL of each queue's CoDel.
        interval: Duration,
        /// Number of queues.
        flows: NonZeroU32,
        /// Bytes that a queue may send in its turn.
        quantum_bytes: NonZeroU32,
        /// Packets that may wait in all queues together; beyond them the longest queue loses.
        packets: u32,
    },
}

/// What may wait in a drop-tail queue, whichever bound is reached first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Bytes, as the server of the queue counts them; `None` for any number.
    pub bytes: Option<u64>,
    /// Packets; `None` for any number.
    pub packets: Option<u32>,
}

impl Limit {
    /// Any number of packets may wait.
    pub const NONE: Self = Self { bytes: None, packets: None };

    /// As many packets as have `bytes` together.
    pub const fn bytes(bytes: u64) -> Self {
        Self { bytes: Some(bytes), packets: None }
    }

    /// So many packets, of any size.
    pub const fn packets(packets: u32) -> Self {
        Self { bytes: None, packets: Some(packets) }
    }
}

/// Active queue management: a queue that may drop packets when the next is taken.
pub(crate) trait Aqm: fmt::Debug + Send {
    /// Append a packet, at the instant of its arrival. Packets dropped for lack of room, this one or others, go to `exit`.
    fn push(&mut self, waiting: Waiting, exit: &mut StageExit);

    /// Take the next packet to be sent at `now`. Drops go to `exit`; `None` leaves the queue empty.
    fn pop(&mut self, now: Instant, exit: &mut StageExit) -> Option<Waiting>;

    /// Take the first packet out, unseen by the management.
    fn steal(&mut self) -> Option<Waiting>;

    /// How many packets wait.
    fn len(&self) -> usize;
}

/// A packet in a queue.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) packet: Packet,
    /// What it counts, with what is added to its IP bytes.
    pub(crate) bytes: u64,
    /// When it came to the queue.
    pub(crate) arrival: Instant,
}
