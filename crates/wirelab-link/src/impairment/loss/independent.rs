//! Loss with one probability for all packets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::model::{LossModel, lossy};
use crate::facts::{Facts, LossChain, LossFacts};
use crate::impairment::correlated::{Correlated, share_below};
use crate::impairment::spec::{Slot, Spec};
use crate::netem::{Chance, NetemLoss, NetemRefusal, NetemStage};
use crate::spec::values::{chance, is_zero};
use crate::spec::{Choices, Place, SpecError, words};
use crate::{Impairment, Instant, Probability, Seed};

const ABOUT: &str = "Loss with one probability for all packets (netem's `loss random`): without correlation the losses of packets are \
    independent. With correlation, draws follow one another as in netem (sch_netem.c, get_crandom): each is (1 - correlation) x a \
    uniform number + correlation x the draw before, and a packet is lost if its draw is below the probability. Losses then come in bursts, but \
    far fewer are lost than configured, as in netem, since such draws concentrate around 1/2: of a configured 30 %, 23.3 % are lost with a \
    correlation of 25 % and 12.9 % with 50 %; of 10 %, 1.75 % and 0.11 %; of 1 %, two packets in a million with 25 %. 50 % stay 50 %, and above \
    that more are lost than configured. For bursts with a stated mean take `gilbert-elliott`. \
    Packet-indexed: two stacks that send different numbers of packets see different losses from the same seed.";

/// Loss with the same probability for each packet; independent without `correlation`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LossSpec {
    /// Loss probability per packet.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub probability: f64,
    /// netem's correlation of successive draws (0 to 1).
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub correlation: f64,
}

impl LossSpec {
    /// What decides which packets are lost.
    pub fn model(&self, seed: Seed, at: &Place) -> Result<impl LossModel + use<>, SpecError> {
        let (probability, correlation) = chance(self.probability, self.correlation, at)?;
        Ok(Independent { probability, draws: Correlated::new(correlation, seed) })
    }
}

impl Spec for LossSpec {
    const ABOUT: &'static str = ABOUT;
    const SLOT: Slot = Slot::Loss;

    fn build(&self, seed: Seed, at: &Place) -> Result<Box<dyn Impairment>, SpecError> {
        Ok(lossy(self.model(seed, at)?))
    }

    fn facts(&self) -> Facts {
        let correlated = words::correlated(self.correlation);
        let alone = || LossChain::new(vec![vec![1.0]], vec![self.probability]);
        let share = share_below(self.probability, self.correlation);
        let loss = LossFacts {
            design_effect: (self.correlation == 0.0).then_some(1.0),
            chain: (self.correlation == 0.0).then(alone),
            ..LossFacts::of_share(share)
        };
        Facts {
            words: format!("{} lost{correlated}", words::share(self.probability)),
            loss: Some(loss),
            delay: None,
            rate: None,
            queue: None,
            over_time: None,
            away: None,
            duplicated: None,
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
        Ok(NetemStage::Drop(NetemLoss::Independent(Chance { probability, correlation })))
    }

    fn examples() -> Vec<Self> {
        [(0.1, 0.0), (0.3, 0.25)].map(|(probability, correlation)| Self { probability, correlation }).into()
    }

    fn arbitrary(choices: &mut Choices<'_>) -> Self {
        Self { probability: choices.fraction(), correlation: choices.correlation() }
    }
}

/// Loss with one probability: independent, or with netem's correlation. One draw for each packet.
#[derive(Debug)]
struct Independent {
    probability: Probability,
    draws: Correlated,
}

impl LossModel for Independent {
    fn loses(&mut self, _now: Instant) -> bool {
        self.draws.chance(self.probability)
    }
}
