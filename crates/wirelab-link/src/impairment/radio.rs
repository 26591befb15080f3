use std::collections::VecDeque;

use super::outlet::Outlet;
use super::sleep::{RadioState, Sleep, SleepMachine};
use crate::{Counters, Direction, DropCause, Dropped, Impairment, Instant, Packet};

/// Sleep of the client's radio, which both directions share: packets pass at once while it is awake.
///
/// An uplink packet wakes it; a downlink packet is kept by the network until the client listens, then announced, and wakes it too (see
/// [`SleepMachine`]). While it wakes, all packets wait for the same instant and then pass in the order in which they came. A client that does
/// not listen in its deepest sleep never gets a downlink packet that waits then, unless it sends one itself.
#[derive(Debug)]
pub struct Radio {
    machine: SleepMachine,
    buffer_bytes: u64,
    kept_bytes: u64,
    waiting: VecDeque<Packet>,
    outlet: Outlet,
}

impl Radio {
    /// A client's radio with these `sleeps`, from light to deep, for which the network keeps `buffer_bytes` IP bytes of downlink packets.
    ///
    /// # Panics
    ///
    /// If a sleep begins before a lighter one, or a cycle is 0.
    pub fn new(sleeps: Vec<Sleep>, buffer_bytes: u64) -> Self {
        let machine = SleepMachine::new(sleeps);
        Self { machine, buffer_bytes, kept_bytes: 0, waiting: VecDeque::new(), outlet: Outlet::default() }
    }

    fn advance(&mut self, now: Instant) {
        while let Some(interval) = self.machine.poll_interval(now) {
            if interval.state == RadioState::Waking {
                self.release(interval.until);
            }
        }
    }

    fn release(&mut self, now: Instant) {
        self.kept_bytes = 0;
        for packet in self.waiting.drain(..) {
            self.outlet.depart(packet, now);
        }
    }

    /// False where the network has no room for a downlink packet.
    fn keep(&mut self, packet: &Packet) -> bool {
        let kept = self.kept_bytes.saturating_add(packet.size.into());
        let fits = kept <= self.buffer_bytes;
        if fits {
            self.kept_bytes = kept;
        }
        fits
    }
}

impl Impairment for Radio {
    fn start(&mut self, origin: Instant) {
        self.machine.start(origin);
    }

    fn handle_packet(&mut self, packet: Packet, now: Instant) {
        self.advance(now);
        self.outlet.receive();
        let passes = match packet.port.direction() {
            Direction::Uplink => self.machine.handle_uplink(now),
            Direction::Downlink if self.machine.state() == RadioState::Awake || self.keep(&packet) => {
                self.machine.handle_downlink(now)
            }
            Direction::Downlink => return self.outlet.drop(packet, now, DropCause::QueueFull),
        };
        if passes {
            self.outlet.depart(packet, now);
        } else {
            self.waiting.push_back(packet);
            self.advance(now);
        }
    }

    fn poll_packet(&mut self, now: Instant) -> Option<(Instant, Packet)> {
        self.advance(now);
        self.outlet.poll_packet(now)
    }

    fn poll_dropped(&mut self) -> Option<Dropped> {
        self.outlet.poll_dropped()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let wakes = if self.waiting.is_empty() { None } else { self.machine.poll_timeout() };
        wakes.into_iter().chain(self.outlet.poll_timeout()).min()
    }

    fn poll_held(&mut self) -> Option<Packet> {
        self.outlet.poll_held().or_else(|| self.waiting.pop_front())
    }

    fn settles_when_polled(&self) -> bool {
        true
    }

    fn counters(&self) -> Counters {
        self.outlet.counters(self.waiting.len())
    }
}
