//! A stage's exit: packets that have left or were dropped, and its accounts.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

use crate::{Counters, DropCause, Dropped, Instant, Packet};

/// A stage's exit and its accounts: packets with a settled departure or drop, until they are collected, and the counts of the stage.
#[derive(Debug, Default)]
pub(crate) struct StageExit {
    received: u64,
    originated: u64,
    duplicated: u64,
    delivered: u64,
    dropped: u64,
    /// Departures in order.
    departures: VecDeque<Departure>,
    /// Departures that were settled after a later one.
    overtaking: BinaryHeap<Reverse<Departure>>,
    settled: u64,
    drops: VecDeque<Dropped>,
}

#[derive(Debug)]
struct Departure {
    instant: Instant,
    /// Packets that leave at one instant do so in the order in which that was settled.
    order: u64,
    packet: Packet,
}

impl StageExit {
    /// Count a packet handed to the stage.
    pub(crate) fn receive(&mut self) {
        self.received += 1;
    }

    /// Count a packet of the stage's own, which then departs as any packet.
    pub(crate) fn originate(&mut self) {
        self.originated += 1;
    }

    /// Count a copy made by the stage, which then departs or is dropped as any packet.
    pub(crate) fn duplicate(&mut self) {
        self.duplicated += 1;
    }

    /// `packet` leaves at `instant`.
    pub(crate) fn depart(&mut self, packet: Packet, instant: Instant) {
        let departure = Departure { instant, order: self.settled, packet };
        self.settled += 1;
        if self.departures.back().is_none_or(|last| last.instant <= instant) {
            self.departures.push_back(departure);
        } else {
            self.overtaking.push(Reverse(departure));
        }
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
        let overtaking = match (self.departures.front(), self.overtaking.peek()) {
            (Some(first), Some(Reverse(other))) => other < first,
            (first, _) => first.is_none(),
        };
        let departure = if overtaking {
            self.overtaking.pop().map(|Reverse(departure)| departure)
        } else {
            self.departures.pop_front()
        };
        departure.map(|departure| (departure.instant, departure.packet))
    }

    pub(crate) fn poll_dropped(&mut self) -> Option<Dropped> {
        self.drops.pop_front()
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        let overtaking = self.overtaking.peek().map(|Reverse(departure)| departure.instant);
        self.departures.front().map(|departure| departure.instant).into_iter().chain(overtaking).min()
    }

    /// Take out a packet that has not left yet: in order, but for those that overtake. It counts as neither delivered nor dropped.
    pub(crate) fn poll_held(&mut self) -> Option<Packet> {
        let departure = self.departures.pop_front().or_else(|| self.overtaking.pop().map(|Reverse(other)| other));
        departure.map(|departure| departure.packet)
    }

    /// The accounts, when the stage itself keeps `waiting` packets in addition to those in the exit.
    pub(crate) fn counters(&self, waiting: usize) -> Counters {
        let held = (self.departures.len() + self.overtaking.len() + waiting) as u64;
        let Self { received, originated, duplicated, delivered, dropped, .. } = *self;
        Counters { received, originated, duplicated, delivered, dropped, held }
    }
}

impl Ord for Departure {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.instant, self.order).cmp(&(other.instant, other.order))
    }
}

impl PartialOrd for Departure {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Departure {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Departure {}
