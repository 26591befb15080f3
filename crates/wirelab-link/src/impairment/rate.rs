use std::num::NonZeroU64;

use super::outlet::Outlet;
use super::serialiser::Serialiser;
use crate::queue::DropTail;
use crate::{Counters, DropCause, Dropped, Impairment, Instant, Packet};

pub(super) const ABOUT: &str = "Serialisation at a fixed rate behind a bounded drop-tail queue: a packet takes (IP bytes + overhead-bytes) x 8 / \
    rate to send and leaves with its last bit; the next waits. queue-bytes may wait behind the packet being sent; an arrival that does not fit \
    is dropped. An idle rate takes a packet of any size. Exact integer arithmetic, with no burst allowance (unlike a token bucket such as \
    tbf). A loss behind it has used its airtime, as on a radio; a loss before it has not.";

/// A fixed rate behind a drop-tail queue. A departure is settled on arrival.
#[derive(Debug)]
pub struct Rate {
    serialiser: Serialiser,
    /// For each packet that waits behind the one being sent, when its own sending begins.
    waiting: DropTail<Instant>,
    outlet: Outlet,
}

impl Rate {
    /// `queue_bytes` may wait behind the packet being sent; each packet counts with `overhead_bytes` on top of its IP bytes.
    pub fn new(rate_bps: NonZeroU64, queue_bytes: u64, overhead_bytes: u32) -> Self {
        Self {
            serialiser: Serialiser::new(rate_bps, overhead_bytes),
            waiting: DropTail::new(queue_bytes),
            outlet: Outlet::default(),
        }
    }
}

impl Impairment for Rate {
    fn handle_packet(&mut self, packet: Packet, now: Instant) {
        self.outlet.receive();
        while self.waiting.front().is_some_and(|begins| *begins <= now) {
            self.waiting.pop();
        }
        let begins = self.serialiser.free_at();
        if begins > now && self.waiting.push(self.serialiser.bytes(packet.size), begins).is_err() {
            self.outlet.drop(packet, now, DropCause::QueueFull);
        } else {
            let departure = self.serialiser.send(packet.size, now);
            self.outlet.depart(packet, departure);
        }
    }

    fn poll_packet(&mut self, now: Instant) -> Option<(Instant, Packet)> {
        self.outlet.poll_packet(now)
    }

    fn poll_dropped(&mut self) -> Option<Dropped> {
        self.outlet.poll_dropped()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.outlet.poll_timeout()
    }

    fn counters(&self) -> Counters {
        self.outlet.counters(0)
    }
}
