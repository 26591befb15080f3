use std::collections::VecDeque;
use std::time::Duration;

use super::outlet::Outlet;
use super::sleep::{RadioState, Sleep, SleepMachine};
use crate::{Counters, Direction, DropCause, Dropped, Impairment, Instant, Packet, ParameterError};

pub(super) const ABOUT: &str = "Sleep of the client's radio, which both directions share: connected DRX, idle DRX and eDRX, PSM (3GPP TS 36.321, \
    clause 5.7; TS 36.304, clause 7; TS 24.301, clause 5.3.11), or Wi-Fi's power save (IEEE Std 802.11-2012, clause 10.2). It starts in its \
    deepest sleep, and sleeps when no packet has been sent or received for a time. An uplink packet wakes it; a downlink packet is kept by the network \
    until the client listens, every cycle of the present sleep, and wakes it then; without a cycle it waits for an uplink packet. While it wakes, \
    packets of both directions wait, of each as many bytes as the buffer holds; the rest is dropped. It does not sleep while it sends: in the shared \
    medium, or in the uplink up to the end of its first stage with a rate; nor while it receives: in the medium, or at the rate of the downlink's last such \
    stage. Idle listening, random access and messages of the control plane are in the times told, not modelled.";

/// Sleep of the client's radio, which both directions share: packets pass at once while it is awake.
///
/// An uplink packet wakes it; a downlink packet is kept by the network until the client listens, then announced, and wakes it too (see
/// [`SleepMachine`]). While it wakes, all packets wait for the same instant and then pass in the order in which they came. A client that does
/// not listen in its deepest sleep never gets a downlink packet that waits then, unless it sends one itself.
///
/// A packet passes in no time here. That the client sends or receives it for longer is what [`Link`](crate::Link) tells it.
#[derive(Debug)]
pub struct Radio {
    machine: SleepMachine,
    buffer_bytes: u64,
    /// For each direction, the bytes that wait.
    waiting_bytes: [u64; 2],
    waiting: VecDeque<Packet>,
    outlet: Outlet,
}

impl Radio {
    /// A client's radio with these `sleeps`, from light to deep, for which the network keeps `buffer_bytes` IP bytes of downlink packets; the client
    /// keeps as many of uplink packets while it wakes. Refuses what [`SleepMachine::new`] refuses.
    pub fn new(sleeps: Vec<Sleep>, buffer_bytes: u64) -> Result<Self, ParameterError> {
        let (machine, outlet) = (SleepMachine::new(sleeps)?, Outlet::default());
        Ok(Self { machine, buffer_bytes, waiting_bytes: [0; 2], waiting: VecDeque::new(), outlet })
    }

    /// From `now` on the client sends or receives, or does neither any more.
    pub(crate) fn handle_transfer(&mut self, transfers: bool, now: Instant) {
        self.advance(now);
        self.machine.handle_transfer(transfers, now);
    }

    /// A downlink packet comes at `now` that the client has been receiving for `airtime`.
    pub(crate) fn handle_reception(&mut self, airtime: Duration, now: Instant) {
        self.advance(now);
        if self.machine.handle_reception(airtime, now) {
            self.release(now);
        }
    }

    fn advance(&mut self, now: Instant) {
        while let Some(interval) = self.machine.poll_interval(now) {
            if interval.state == RadioState::Waking {
                self.release(interval.until);
            }
        }
    }

    fn release(&mut self, now: Instant) {
        self.waiting_bytes = [0; 2];
        for packet in self.waiting.drain(..) {
            self.outlet.depart(packet, now);
        }
    }

    /// False where there is no room for a packet to wait.
    fn keep(&mut self, packet: &Packet) -> bool {
        let waiting = &mut self.waiting_bytes[packet.port.direction().index()];
        let bytes = waiting.saturating_add(packet.size.into());
        let fits = bytes <= self.buffer_bytes;
        if fits {
            *waiting = bytes;
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
        if self.machine.state() != RadioState::Awake && !self.keep(&packet) {
            return self.outlet.drop(packet, now, DropCause::QueueFull);
        }
        let passes = match packet.port.direction() {
            Direction::Uplink => self.machine.handle_uplink(now),
            Direction::Downlink => self.machine.handle_downlink(now),
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
