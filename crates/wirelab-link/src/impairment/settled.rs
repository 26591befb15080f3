//! Stages that settle a packet's departure when it arrives.

use super::stage_exit::StageExit;
use crate::{Counters, Dropped, Impairment, Instant, Packet};

/// What a stage does to a packet if its outcome is known on arrival: it leaves at an instant known when it arrives, or is dropped.
pub(crate) trait Effect: Send {
    /// See [`Impairment::start`].
    fn start(&mut self, _origin: Instant) {}

    /// Let `packet`, which arrives at `now`, depart or drop it, and its copies too.
    fn apply(&mut self, packet: Packet, now: Instant, out: &mut StageExit);

    /// See [`Impairment::settles_when_polled`].
    fn settles_when_polled(&self) -> bool {
        false
    }
}

/// A stage whose effect on a packet is settled when it arrives: all that remains is to wait for its departure.
#[derive(Debug)]
pub(crate) struct Settled<E> {
    pub(crate) effect: E,
    exit: StageExit,
}

impl<E> Settled<E> {
    pub(crate) fn new(effect: E) -> Self {
        Self { effect, exit: StageExit::default() }
    }
}

impl<E: Effect> Impairment for Settled<E> {
    fn start(&mut self, origin: Instant) {
        self.effect.start(origin);
    }

    fn handle_packet(&mut self, packet: Packet, now: Instant) {
        self.exit.receive();
        self.effect.apply(packet, now, &mut self.exit);
    }

    fn poll_packet(&mut self, now: Instant) -> Option<(Instant, Packet)> {
        self.exit.poll_packet(now)
    }

    fn poll_dropped(&mut self) -> Option<Dropped> {
        self.exit.poll_dropped()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.exit.poll_timeout()
    }

    fn settles_when_polled(&self) -> bool {
        self.effect.settles_when_polled()
    }

    fn poll_held(&mut self) -> Option<Packet> {
        self.exit.poll_held()
    }

    fn counters(&self) -> Counters {
        self.exit.counters(0)
    }
}
