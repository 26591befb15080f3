use super::correlated::{Correlated, Correlation};
use super::outlet::Outlet;
use super::settled::{Effect, Settled};
use crate::{Instant, Packet, Probability, Seed};

pub(super) const ABOUT: &str = "Duplication: some packets leave twice at the same instant, the copy right behind its original; what stands behind \
    in the chain treats them as two packets (a copy before a rate takes its airtime, a loss may take either). Copies are not copied again, as in \
    netem. netem hands the copy to its whole chain once more, so that it meets another delay. With correlation (netem's) copied packets come in \
    bursts, and there are fewer than told; see `loss`. Packet-indexed.";

/// Lets some packets leave twice: one draw for each packet, copies included.
#[derive(Debug)]
pub struct Duplicate {
    probability: Probability,
    draws: Correlated,
}

impl Duplicate {
    /// A stage that copies packets, with `probability` if there is no correlation.
    ///
    /// Where a chain has several such stages, a packet may get several copies, which all bear its sequence.
    pub fn new(probability: Probability, correlation: Correlation, seed: Seed) -> Settled<Self> {
        Settled::new(Self { probability, draws: Correlated::new(correlation, seed) })
    }
}

impl Effect for Duplicate {
    fn apply(&mut self, packet: Packet, now: Instant, out: &mut Outlet) {
        let copy =
            (self.draws.chance(self.probability) && !packet.copy).then(|| Packet { copy: true, ..packet.clone() });
        out.depart(packet, now);
        if let Some(copy) = copy {
            out.duplicate();
            out.depart(copy, now);
        }
    }
}
