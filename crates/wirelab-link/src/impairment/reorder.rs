use std::time::Duration;

use super::correlated::{Correlated, Correlation};
use super::outlet::Outlet;
use crate::{Counters, Dropped, Impairment, Instant, Packet, Probability, Seed};

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
    outlet: Outlet,
}

impl Reorder {
    /// A stage that holds packets back for `by`, with `probability` if there is no correlation.
    pub fn new(probability: Probability, by: Duration, correlation: Correlation, seed: Seed) -> Self {
        Self { probability, by, draws: Correlated::new(correlation, seed), outlet: Outlet::default() }
    }
}

impl Impairment for Reorder {
    fn handle_packet(&mut self, packet: Packet, now: Instant) {
        self.outlet.receive();
        let departure = if self.draws.chance(self.probability) { now + self.by } else { now };
        self.outlet.depart(packet, departure);
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
        true
    }

    fn counters(&self) -> Counters {
        self.outlet.counters(0)
    }
}
