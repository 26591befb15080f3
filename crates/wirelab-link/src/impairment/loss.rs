use super::outlet::Outlet;
use crate::random::{Generator, Purpose};
use crate::{Counters, DropCause, Dropped, Impairment, Instant, Packet, Probability, Seed};

pub(super) const ABOUT: &str = "Independent loss: each packet is lost with the same probability, whatever happened to the others (netem's \
    `loss random`). Packet-indexed: two stacks that send different numbers of packets see different losses from the same seed.";

/// Decides which packets are lost.
pub trait LossModel: Send {
    /// See [`Impairment::start`].
    fn start(&mut self, _origin: Instant) {}

    /// True if the next packet, at `now`, is lost. Takes the same number of draws from the packets' generator for every packet.
    fn loses(&mut self, now: Instant) -> bool;
}

/// A stage that drops what its model says, and takes no time.
///
/// Where it stands matters: behind a rate, lost packets have used their airtime, as on a radio; before it, they never load the rate.
#[derive(Debug)]
pub struct Lossy<M> {
    model: M,
    outlet: Outlet,
}

impl<M: LossModel> Lossy<M> {
    /// A stage that drops by `model`.
    pub fn new(model: M) -> Self {
        Self { model, outlet: Outlet::default() }
    }
}

impl<M: LossModel> Impairment for Lossy<M> {
    fn start(&mut self, origin: Instant) {
        self.model.start(origin);
    }

    fn handle_packet(&mut self, packet: Packet, now: Instant) {
        self.outlet.receive();
        if self.model.loses(now) {
            self.outlet.drop(packet, now, DropCause::Loss);
        } else {
            self.outlet.depart(packet, now);
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

/// Independent loss: one draw for each packet.
#[derive(Debug)]
pub struct Independent {
    probability: Probability,
    generator: Generator,
}

impl Independent {
    /// Loss with `probability`.
    pub fn new(probability: Probability, seed: Seed) -> Self {
        Self { probability, generator: Generator::new(seed, Purpose::Packet) }
    }
}

impl LossModel for Independent {
    fn loses(&mut self, _now: Instant) -> bool {
        self.generator.chance(self.probability)
    }
}
