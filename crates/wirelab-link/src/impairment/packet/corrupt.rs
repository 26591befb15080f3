//! Corruption: one bit of some packets is inverted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::facts::{Chance, Facts};
use crate::impairment::correlated::Correlated;
use crate::impairment::settled::{Effect, Settled};
use crate::impairment::spec::{Slot, Spec};
use crate::impairment::stage_exit::StageExit;
use crate::netem::{self, NetemRefusal, NetemStage};
use crate::spec::values::{chance, is_zero};
use crate::spec::{Choices, Place, SpecError, words};
use crate::{Impairment, Instant, Packet, Probability, Seed};

const ABOUT: &str = "Corruption: one bit of some packets is inverted, each bit of the IP packet alike (the link layer's header is \
    spared, unlike in netem). The receiver's IP, TCP and UDP checksums find a single wrong bit wherever they cover it, so such a packet is \
    mostly lost, but only at the receiver, which counts it. A packet that was corrupted before keeps its one wrong \
    bit. With correlation (netem's) corrupted packets come in bursts, and there are fewer than configured; see `loss`. Packet-indexed.";

/// Corruption: one random bit of some packets is inverted, after the link layer's header.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CorruptSpec {
    /// Probability per packet.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub probability: f64,
    /// netem's correlation of successive draws (0 to 1).
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub correlation: f64,
}

impl Spec for CorruptSpec {
    const ABOUT: &'static str = ABOUT;
    const SLOT: Slot = Slot::Corrupt;

    fn build(&self, seed: Seed, at: &Place) -> Result<Box<dyn Impairment>, SpecError> {
        let (probability, correlation) = chance(self.probability, self.correlation, at)?;
        Ok(Box::new(Settled::new(Corrupt { probability, draws: Correlated::new(correlation, seed) })))
    }

    fn facts(&self) -> Facts {
        let (share, correlated) = (words::share(self.probability), words::correlated(self.correlation));
        Facts {
            words: format!("{share} with one bit inverted{correlated}"),
            loss: None,
            delay: None,
            rate: None,
            queue: None,
            over_time: None,
            away: None,
            duplicated: None,
            corrupted: Some(Chance::of(self.probability, self.correlation)),
            held_back: None,
            keeps: vec![],
            per_packet: true,
            overtakes: false,
            of_one_packet: true,
            varies: None,
        }
    }

    fn netem(&self, _at: &Place) -> Result<NetemStage, NetemRefusal> {
        let Self { probability, correlation } = *self;
        Ok(NetemStage::Corrupt(netem::Chance { probability, correlation }))
    }

    fn examples() -> Vec<Self> {
        [0.0, 0.25].map(|correlation| Self { probability: 0.3, correlation }).into()
    }

    fn arbitrary(choices: &mut Choices<'_>) -> Self {
        Self { probability: choices.fraction(), correlation: choices.correlation() }
    }
}

/// Marks the bit to invert in some packets: two draws for each packet, whether and which.
///
/// Only [`Packet::corrupted_bit`] is set. This crate does not know where in `data` the IP header begins, so the sender of the packet inverts it.
#[derive(Debug)]
struct Corrupt {
    probability: Probability,
    draws: Correlated,
}

impl Effect for Corrupt {
    fn apply(&mut self, mut packet: Packet, now: Instant, out: &mut StageExit) {
        let corrupts = self.draws.chance(self.probability);
        let bit = (self.draws.independent_unit() * (f64::from(packet.size) * 8.0)) as u32;
        if corrupts && packet.size > 0 {
            packet.corrupted_bit.get_or_insert(bit);
        }
        out.depart(packet, now);
    }
}
