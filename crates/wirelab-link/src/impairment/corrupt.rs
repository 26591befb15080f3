use super::correlated::{Correlated, Correlation};
use super::outlet::Outlet;
use super::settled::{Effect, Settled};
use crate::{Instant, Packet, Probability, Seed};

pub(super) const ABOUT: &str = "Corruption: one bit of some packets is inverted, each bit of the IP packet alike (the link layer's header is \
    spared, unlike in netem). The receiver's IP, TCP and UDP checksums find a single wrong bit wherever they cover it, so that such a packet is \
    mostly lost, but behind everything that the link does, and counted by the receiver. A packet that was corrupted before keeps its one wrong \
    bit. With correlation (netem's) corrupted packets come in bursts, and there are fewer than told; see `loss`. Packet-indexed.";

/// Marks the bit to invert in some packets: two draws for each packet, whether and which.
///
/// Only [`Packet::corrupted_bit`] is set. This crate does not know where in `data` the IP header begins, so whoever sends the packet inverts it.
#[derive(Debug)]
pub struct Corrupt {
    probability: Probability,
    draws: Correlated,
}

impl Corrupt {
    /// A stage that corrupts packets, with `probability` if there is no correlation.
    pub fn new(probability: Probability, correlation: Correlation, seed: Seed) -> Settled<Self> {
        Settled::new(Self { probability, draws: Correlated::new(correlation, seed) })
    }
}

impl Effect for Corrupt {
    fn apply(&mut self, mut packet: Packet, now: Instant, out: &mut Outlet) {
        let corrupts = self.draws.chance(self.probability);
        let bit = (self.draws.independent_unit() * (f64::from(packet.size) * 8.0)) as u32;
        if corrupts && packet.size > 0 {
            packet.corrupted_bit.get_or_insert(bit);
        }
        out.depart(packet, now);
    }
}
