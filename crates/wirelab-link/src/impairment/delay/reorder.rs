//! Reordering: some packets are delayed, so that later ones overtake them.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::facts::{Chance, DelayFacts, Facts, Kept};
use crate::impairment::correlated::Correlated;
use crate::impairment::settled::{Effect, Settled};
use crate::impairment::spec::{Slot, Spec};
use crate::impairment::stage_exit::StageExit;
use crate::netem::{self, NetemRefusal, NetemStage};
use crate::spec::values::{chance, is_zero};
use crate::spec::{Choices, Place, SpecError, words};
use crate::{Impairment, Instant, Packet, Probability, Seed};

const ABOUT: &str = "Reordering: some packets are delayed for a while, and those that come in that time overtake them; all others \
    pass without delay. A delayed packet that nothing overtakes is only late, so a sparse sender sees less reordering than configured: the share of \
    late packets by RFC 4737 is smaller than the probability. netem's `reorder` is the converse: it delays all packets but some, which then are \
    early. With correlation (netem's) delayed packets come in bursts, and there are fewer than configured; see `loss`. Packet-indexed.";

/// Reordering: some packets are delayed, and later ones overtake them (late packets by RFC 4737).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReorderSpec {
    /// Probability per packet of being delayed.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub probability: f64,
    /// For how long.
    pub by_ns: u64,
    /// netem's correlation of successive draws (0 to 1).
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub correlation: f64,
}

impl Spec for ReorderSpec {
    const ABOUT: &'static str = ABOUT;
    const SLOT: Slot = Slot::Reorder;

    fn build(&self, seed: Seed, at: &Place) -> Result<Box<dyn Impairment>, SpecError> {
        let (probability, correlation) = chance(self.probability, self.correlation, at)?;
        let (by, draws) = (Duration::from_nanos(self.by_ns), Correlated::new(correlation, seed));
        Ok(Box::new(Settled::new(Reorder { probability, by, draws })))
    }

    fn facts(&self) -> Facts {
        let held_back = Chance { by_ns: Some(self.by_ns), ..Chance::of(self.probability, self.correlation) };
        let delay = DelayFacts {
            mean_ns: held_back.share * self.by_ns as f64,
            reach_ns: 0.0,
            spread_ns: self.by_ns,
            random: true,
        };
        let (share, by) = (words::share(self.probability), words::time(self.by_ns));
        Facts {
            words: format!("{share} held back for {by}{}", words::correlated(self.correlation)),
            loss: None,
            delay: Some(delay),
            rate: None,
            queue: None,
            over_time: None,
            away: None,
            duplicated: None,
            corrupted: None,
            held_back: Some(held_back),
            keeps: vec![Kept::Held],
            per_packet: true,
            overtakes: true,
            of_one_packet: false,
            varies: None,
        }
    }

    fn netem(&self, at: &Place) -> Result<NetemStage, NetemRefusal> {
        let at_once = netem::Chance { probability: 1.0 - self.probability, correlation: self.correlation };
        Ok(NetemStage::Reorder { delay_ns: netem::nanoseconds(self.by_ns, &at.key("by_ns"), "reorder")?, at_once })
    }

    fn examples() -> Vec<Self> {
        [0.0, 0.25].map(|correlation| Self { probability: 0.3, by_ns: 10_000_000, correlation }).into()
    }

    fn arbitrary(choices: &mut Choices<'_>) -> Self {
        let by_ns = choices.micros(0..20_000);
        Self { probability: choices.fraction(), by_ns, correlation: choices.correlation() }
    }
}

/// Holds some packets back: one draw for each packet.
#[derive(Debug)]
struct Reorder {
    probability: Probability,
    by: Duration,
    draws: Correlated,
}

impl Effect for Reorder {
    fn apply(&mut self, packet: Packet, now: Instant, out: &mut StageExit) {
        let departure = if self.draws.chance(self.probability) { now + self.by } else { now };
        out.depart(packet, departure);
    }

    fn settles_when_polled(&self) -> bool {
        true
    }
}
