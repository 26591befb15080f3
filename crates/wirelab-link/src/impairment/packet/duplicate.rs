//! Duplication: some packets leave twice.

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

const ABOUT: &str = "Duplication: some packets leave twice at the same instant, the copy right after its original; later stages \
    of the chain treat them as two packets (a copy before a rate takes its airtime, a loss may take either). Copies are not copied again, as in \
    netem. netem hands the copy to its whole chain once more, so that it meets another delay. With correlation (netem's) copied packets come in \
    bursts, and there are fewer than configured; see `loss`. Packet-indexed.";

/// Duplication: some packets leave twice, at the same instant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DuplicateSpec {
    /// Probability per packet.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub probability: f64,
    /// netem's correlation of successive draws (0 to 1).
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub correlation: f64,
}

impl Spec for DuplicateSpec {
    const ABOUT: &'static str = ABOUT;
    const SLOT: Slot = Slot::Duplicate;

    fn build(&self, seed: Seed, at: &Place) -> Result<Box<dyn Impairment>, SpecError> {
        let (probability, correlation) = chance(self.probability, self.correlation, at)?;
        Ok(Box::new(Settled::new(Duplicate { probability, draws: Correlated::new(correlation, seed) })))
    }

    fn facts(&self) -> Facts {
        let (share, correlated) = (words::share(self.probability), words::correlated(self.correlation));
        Facts {
            words: format!("{share} sent twice{correlated}"),
            loss: None,
            delay: None,
            rate: None,
            queue: None,
            over_time: None,
            away: None,
            duplicated: Some(Chance::of(self.probability, self.correlation)),
            corrupted: None,
            held_back: None,
            keeps: vec![],
            per_packet: true,
            overtakes: false,
            of_one_packet: false,
            varies: None,
        }
    }

    fn netem(&self, _at: &Place) -> Result<NetemStage, NetemRefusal> {
        let Self { probability, correlation } = *self;
        Ok(NetemStage::Duplicate(netem::Chance { probability, correlation }))
    }

    fn examples() -> Vec<Self> {
        [0.0, 0.25].map(|correlation| Self { probability: 0.3, correlation }).into()
    }

    fn arbitrary(choices: &mut Choices<'_>) -> Self {
        Self { probability: choices.fraction(), correlation: choices.correlation() }
    }
}

/// Lets some packets leave twice: one draw for each packet, copies included. Where a chain has several such stages, a packet may get several
/// copies, which all bear its sequence.
#[derive(Debug)]
struct Duplicate {
    probability: Probability,
    draws: Correlated,
}

impl Effect for Duplicate {
    fn apply(&mut self, packet: Packet, now: Instant, out: &mut StageExit) {
        let copy =
            (self.draws.chance(self.probability) && !packet.copy).then(|| Packet { copy: true, ..packet.clone() });
        out.depart(packet, now);
        if let Some(copy) = copy {
            out.duplicate();
            out.depart(copy, now);
        }
    }
}
