//! Stages that settle a packet's departure when it arrives.

use super::outlet::Outlet;
use crate::{Counters, Dropped, Impairment, Instant, Packet};

/// What a stage does to a packet that settles its fate at once: it leaves at an instant known when it arrives, or is dropped.
pub(crate) trait Effect: Send {
    /// See [`Impairment::start`].
    fn start(&mut self, _origin: Instant) {}

    /// Let `packet`, which arrives at `now`, depart or drop it, and its copies too.
    fn apply(&mut self, packet: Packet, now: Instant, out: &mut Outlet);

    /// See [`Impairment::settles_when_polled`].
    fn settles_when_polled(&self) -> bool {
        false
    }
}

/// A stage whose effect on a packet is settled when it arrives: all that remains is to wait for its departure.
#[derive(Debug)]
pub(crate) struct Settled<E> {
    pub(crate) effect: E,
    outlet: Outlet,
}

impl<E> Settled<E> {
    pub(crate) fn new(effect: E) -> Self {
        Self { effect, outlet: Outlet::default() }
    }
}

impl<E: Effect> Impairment for Settled<E> {
    fn start(&mut self, origin: Instant) {
        self.effect.start(origin);
    }

    fn handle_packet(&mut self, packet: Packet, now: Instant) {
        self.outlet.receive();
        self.effect.apply(packet, now, &mut self.outlet);
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

    fn settles_when_polled(&self) -> bool {
        self.effect.settles_when_polled()
    }

    fn poll_held(&mut self) -> Option<Packet> {
        self.outlet.poll_held()
    }

    fn counters(&self) -> Counters {
        self.outlet.counters(0)
    }
}
