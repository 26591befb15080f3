//! A link that rests: its clock is put forward over a time in which nothing happens. It reads no clock, as the link inside it.

use std::fmt;
use std::time::Duration;

use crate::{Counters, Dropped, Impairment, Instant, Packet};

/// A link whose clock can be put forward while nothing is inside. Whatever counts time in it goes on during a rest as if the time had passed: a radio
/// falls asleep, an address translation forgets, an outage or a schedule comes to its next point.
///
/// Instants of its callers are those of their own clock, which does not jump: the link's clock is ahead of it by all rests so far.
pub struct Resting {
    link: Box<dyn Impairment>,
    ahead: Duration,
    /// Drops that a caller has collected.
    collected: u64,
}

/// A link with packets inside, or with drops that no caller has collected yet: it does not rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy {
    /// How many.
    pub packets: u64,
}

impl fmt::Display for Busy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the link has {} packets inside", self.packets)
    }
}

impl std::error::Error for Busy {}

impl Resting {
    /// `link`, which has not rested.
    pub fn new(link: Box<dyn Impairment>) -> Self {
        Self { link, ahead: Duration::ZERO, collected: 0 }
    }

    /// Put the link's clock forward by `gap`. The caller has polled it by the instant at which that happens.
    pub fn rest(&mut self, gap: Duration) -> Result<(), Busy> {
        match self.inside() {
            0 => {
                self.ahead = self.ahead.saturating_add(gap);
                Ok(())
            }
            packets => Err(Busy { packets }),
        }
    }

    /// How far the link's clock is ahead.
    pub fn ahead(&self) -> Duration {
        self.ahead
    }

    /// Packets that have not left, and drops that were not collected.
    pub fn inside(&self) -> u64 {
        let Counters { held, dropped, .. } = self.link.counters();
        held + dropped.saturating_sub(self.collected)
    }

    /// An instant of its callers as the link has it.
    fn inner(&self, instant: Instant) -> Instant {
        instant + self.ahead
    }

    /// An instant of the link as its callers have it.
    fn outer(&self, instant: Instant) -> Instant {
        instant - self.ahead
    }

    fn hand_out(&self, packet: Packet) -> Packet {
        Packet { arrival: self.outer(packet.arrival), ..packet }
    }
}

impl Impairment for Resting {
    fn start(&mut self, origin: Instant) {
        self.link.start(self.inner(origin));
    }

    fn handle_packet(&mut self, packet: Packet, now: Instant) {
        let arrival = self.inner(packet.arrival);
        self.link.handle_packet(Packet { arrival, ..packet }, self.inner(now));
    }

    fn poll_packet(&mut self, now: Instant) -> Option<(Instant, Packet)> {
        let (departure, packet) = self.link.poll_packet(self.inner(now))?;
        Some((self.outer(departure), self.hand_out(packet)))
    }

    fn poll_dropped(&mut self) -> Option<Dropped> {
        let Dropped { packet, at, cause } = self.link.poll_dropped()?;
        self.collected += 1;
        Some(Dropped { packet: self.hand_out(packet), at: self.outer(at), cause })
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.link.poll_timeout().map(|due| self.outer(due))
    }

    fn settles_when_polled(&self) -> bool {
        self.link.settles_when_polled()
    }

    fn poll_held(&mut self) -> Option<Packet> {
        self.link.poll_held().map(|packet| self.hand_out(packet))
    }

    fn sending(&self) -> Option<u64> {
        self.link.sending()
    }

    fn counters(&self) -> Counters {
        self.link.counters()
    }
}
