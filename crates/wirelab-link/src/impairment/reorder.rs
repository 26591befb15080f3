use std::time::Duration;

use super::correlated::{Correlated, Correlation};
use super::outlet::Outlet;
use super::settled::{Effect, Settled};
use crate::{Instant, Packet, Probability, Seed};

pub(super) const ABOUT: &str = "Reordering: some packets are held back for a while, and those that come in that time overtake them; all others \
    pass at once. A packet held back that nothing overtakes is only late, so that a sparse sender sees less reordering than told: the share of \
    late packets by RFC 4737 is smaller than the probability. netem's `reorder` is the converse: it delays all packets but some, which then are \
    early. With correlation (netem's) packets held back come in bursts, and there are fewer than told; see `loss`. Packet-indexed.";

/// Holds some packets back: one draw for each packet.
#[derive(Debug)]
pub struct Reorder {
    probability: Probability,
    by: Duration,
    draws: Correlated,
}

impl Reorder {
    /// A stage that holds packets back for `by`, with `probability` if there is no correlation.
    pub fn new(probability: Probability, by: Duration, correlation: Correlation, seed: Seed) -> Settled<Self> {
        Settled::new(Self { probability, by, draws: Correlated::new(correlation, seed) })
    }
}

impl Effect for Reorder {
    fn apply(&mut self, packet: Packet, now: Instant, out: &mut Outlet) {
        let departure = if self.draws.chance(self.probability) { now + self.by } else { now };
        out.depart(packet, departure);
    }

    fn settles_when_polled(&self) -> bool {
        true
    }
}
