use std::collections::VecDeque;

use crate::{Counters, DropCause, Dropped, Instant, Packet};

/// The way out of a stage: packets whose departure or drop is settled, until they are collected, and the stage's accounts.
#[derive(Debug, Default)]
pub(crate) struct Outlet {
    received: u64,
    delivered: u64,
    dropped: u64,
    departures: VecDeque<(Instant, Packet)>,
    drops: VecDeque<Dropped>,
}

impl Outlet {
    /// Count a packet handed to the stage.
    pub(crate) fn receive(&mut self) {
        self.received += 1;
    }

    /// `packet` leaves at `instant`, no earlier than the one before it.
    pub(crate) fn depart(&mut self, packet: Packet, instant: Instant) {
        debug_assert!(self.departures.back().is_none_or(|(last, _)| *last <= instant));
        self.departures.push_back((instant, packet));
    }

    /// `packet` is dropped.
    pub(crate) fn drop(&mut self, packet: Packet, at: Instant, cause: DropCause) {
        self.dropped += 1;
        self.drops.push_back(Dropped { packet, at, cause });
    }

    pub(crate) fn poll_packet(&mut self, now: Instant) -> Option<(Instant, Packet)> {
        if self.poll_timeout()? > now {
            return None;
        }
        self.delivered += 1;
        self.departures.pop_front()
    }

    pub(crate) fn poll_dropped(&mut self) -> Option<Dropped> {
        self.drops.pop_front()
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.departures.front().map(|(instant, _)| *instant)
    }

    /// The accounts, when the stage itself keeps `waiting` packets besides those in the outlet.
    pub(crate) fn counters(&self, waiting: usize) -> Counters {
        let held = (self.departures.len() + waiting) as u64;
        Counters { received: self.received, delivered: self.delivered, dropped: self.dropped, held }
    }
}
