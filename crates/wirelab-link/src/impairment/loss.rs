use super::correlated::{Correlated, Correlation};
use super::outlet::Outlet;
use super::settled::{Effect, Settled};
use crate::{DropCause, Instant, Packet, Probability, Seed};

pub(super) const ABOUT: &str = "Loss with one probability for all packets (netem's `loss random`): without correlation each packet is lost whatever \
    happened to the others. With correlation, draws follow one another as in netem (sch_netem.c, get_crandom): each is (1 - correlation) x a \
    uniform number + correlation x the draw before, and a packet is lost if its draw is below the probability. Losses then come in bursts, but \
    far fewer are lost than told, as in netem, for such draws crowd around 1/2: of a told 30 %, 23.3 % are lost with a correlation of 25 % and \
    12.9 % with 50 %; of a told 10 %, 1.75 % and 0.11 %; of a told 1 %, two packets in a million with 25 %. 50 % stay 50 %, and above that more \
    are lost than told. For bursts with a stated mean take `gilbert-elliott`. \
    Packet-indexed: two stacks that send different numbers of packets see different losses from the same seed.";

/// Decides which packets are lost.
pub trait LossModel: Send {
    /// See [`Impairment::start`](crate::Impairment::start).
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
}

impl<M: LossModel> Lossy<M> {
    /// A stage that drops by `model`.
    pub fn new(model: M) -> Settled<Self> {
        Settled::new(Self { model })
    }
}

impl<M: LossModel> Effect for Lossy<M> {
    fn start(&mut self, origin: Instant) {
        self.model.start(origin);
    }

    fn apply(&mut self, packet: Packet, now: Instant, out: &mut Outlet) {
        if self.model.loses(now) {
            out.drop(packet, now, DropCause::Loss);
        } else {
            out.depart(packet, now);
        }
    }
}

/// Loss with one probability: independent, or with netem's correlation. One draw for each packet.
#[derive(Debug)]
pub struct Independent {
    probability: Probability,
    draws: Correlated,
}

impl Independent {
    /// Loss with `probability`.
    pub fn new(probability: Probability, seed: Seed) -> Self {
        Self::correlated(probability, Correlation::default(), seed)
    }

    /// Loss of packets whose correlated draws are below `probability`. Their share is another, see [`IMPAIRMENTS`](crate::IMPAIRMENTS).
    pub fn correlated(probability: Probability, correlation: Correlation, seed: Seed) -> Self {
        Self { probability, draws: Correlated::new(correlation, seed) }
    }
}

impl LossModel for Independent {
    fn loses(&mut self, _now: Instant) -> bool {
        self.draws.chance(self.probability)
    }
}
