//! Bursty loss by the Gilbert-Elliott model, a state that moves with each packet.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::model::{LossModel, average_words, lossy};
use crate::facts::{Facts, LossChain, LossFacts};
use crate::impairment::spec::{Slot, Spec};
use crate::netem::{NetemLoss, NetemRefusal, NetemStage};
use crate::random::{Generator, Purpose};
use crate::spec::values::named;
use crate::spec::{Choices, Place, SpecError, words};
use crate::{Impairment, Instant, Probability, Seed};

const ABOUT: &str = "Bursty loss by the Gilbert-Elliott model (Gilbert, BSTJ 39 (1960) 1253; Elliott, BSTJ 42 (1963) 1977) in \
    netem's parametrisation, `loss gemodel p r 1-h 1-k`: a hidden state is good or bad; with each packet it goes bad with p and good with r; a \
    packet is lost with bad-loss (1-h) or good-loss (1-k) by the state before its own transition, as in netem's `loss_gilb_ell`. It starts in its \
    stationary distribution, where netem starts good. Mean loss is (p x bad-loss + r x good-loss) / (p + r). Packet-indexed: a burst lasts \
    a number of packets, so it outlives any silence of a sparse sender, and two stacks see different losses from the same seed.";

/// Gilbert-Elliott loss in netem's parametrisation and convention: the state before the packet's transition decides whether it is lost. Starts
/// in the stationary distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliottSpec {
    /// Probability per packet of moving from the good to the bad state.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub p: f64,
    /// Probability per packet of moving from the bad to the good state.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub r: f64,
    /// Loss probability in the bad state (netem's `1-h`).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub bad_loss: f64,
    /// Loss probability in the good state (netem's `1-k`).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub good_loss: f64,
}

impl GilbertElliottSpec {
    /// What decides which packets are lost.
    pub fn model(&self, seed: Seed, at: &Place) -> Result<impl LossModel + use<>, SpecError> {
        let values = [("p", self.p), ("r", self.r), ("bad_loss", self.bad_loss), ("good_loss", self.good_loss)];
        let [p, r, bad_loss, good_loss] = named(values, at)?;
        Ok(GilbertElliott::new(p, r, bad_loss, good_loss, seed))
    }
}

impl Spec for GilbertElliottSpec {
    const ABOUT: &'static str = ABOUT;
    const SLOT: Slot = Slot::Loss;

    fn build(&self, seed: Seed, at: &Place) -> Result<Box<dyn Impairment>, SpecError> {
        Ok(lossy(self.model(seed, at)?))
    }

    fn facts(&self) -> Facts {
        let Self { p, r, bad_loss, good_loss } = *self;
        let chain = LossChain::new(vec![vec![1.0 - p, p], vec![r, 1.0 - r]], vec![good_loss, bad_loss]);
        let mut loss = LossFacts::of_chain(chain);
        if r + bad_loss > 0.0 {
            // A burst is worn down by the repetitions that it causes: a packet meets its beginning.
            loss.again = bad_loss * (1.0 - r);
            loss.first = p * bad_loss / (1.0 - (1.0 - bad_loss) * (1.0 - r)) + good_loss;
        } else if let Some(share) = loss.share {
            (loss.first, loss.again) = (share, share);
        }
        let share = average_words([p, bad_loss], [r, good_loss]);
        let lasts =
            if r > 0.0 { format!("{} packets on average", words::significant(1.0 / r, 3)) } else { "ever".to_owned() };
        Facts {
            words: format!("{share} lost, in bursts that lose {} for {lasts}", words::share(bad_loss)),
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
        let Self { p, r, bad_loss, good_loss } = *self;
        Ok(NetemStage::Drop(NetemLoss::GilbertElliott { p, r, bad_pass: 1.0 - bad_loss, good_loss }))
    }

    fn examples() -> Vec<Self> {
        vec![Self { p: 0.01, r: 0.1, bad_loss: 0.7, good_loss: 0.001 }]
    }

    fn arbitrary(choices: &mut Choices<'_>) -> Self {
        let [p, r, bad_loss, good_loss] = [(); 4].map(|()| choices.fraction());
        Self { p, r, bad_loss, good_loss }
    }
}

/// Gilbert-Elliott loss that moves with each packet: two draws for each, the transition before the loss.
#[derive(Debug)]
struct GilbertElliott {
    p: Probability,
    r: Probability,
    bad_loss: Probability,
    good_loss: Probability,
    bad: bool,
    generator: Generator,
}

impl GilbertElliott {
    /// A model that goes bad with `p` and good with `r`. If both are 0 it stays good for ever.
    fn new(p: Probability, r: Probability, bad_loss: Probability, good_loss: Probability, seed: Seed) -> Self {
        let mut generator = Generator::new(seed, Purpose::Packet);
        // A product, not a quotient: with p = r = 0 there is no stationary share to divide out.
        let bad = generator.unit() * (p.get() + r.get()) < p.get();
        Self { p, r, bad_loss, good_loss, bad, generator }
    }
}

impl LossModel for GilbertElliott {
    fn loses(&mut self, _now: Instant) -> bool {
        let (leave, loss) = if self.bad { (self.r, self.bad_loss) } else { (self.p, self.good_loss) };
        self.bad ^= self.generator.chance(leave);
        self.generator.chance(loss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Direction;

    fn model(p: f64, r: f64, bad_loss: f64, good_loss: f64, link: u64) -> GilbertElliott {
        let [p, r, bad_loss, good_loss] = [p, r, bad_loss, good_loss].map(|value| Probability::new(value).unwrap());
        GilbertElliott::new(p, r, bad_loss, good_loss, Seed { link, direction: Direction::Uplink, index: 0 })
    }

    #[test]
    fn the_state_before_the_transition_decides() {
        for seed in 0..100 {
            let mut alternating = model(1.0, 1.0, 1.0, 0.0, seed);
            let bad = alternating.bad;
            let lost = [(); 4].map(|()| alternating.loses(Instant::default()));
            assert_eq!(lost, [bad, !bad, bad, !bad]);
        }
    }

    #[test]
    fn it_starts_in_its_stationary_distribution() {
        let bad = (0..20_000).filter(|seed| model(0.1, 0.3, 1.0, 0.0, *seed).bad).count();
        // 0.25 ± 5 standard errors.
        assert!((4694..=5306).contains(&bad), "{bad} of 20000 start bad");
    }

    #[test]
    fn a_state_that_is_never_entered_or_never_left_stays() {
        for seed in 0..1000 {
            assert!(!model(0.0, 0.0, 1.0, 0.0, seed).bad);
            assert!(!model(0.0, 0.5, 1.0, 0.0, seed).bad);
            assert!(model(0.5, 0.0, 1.0, 0.0, seed).bad);
        }
    }
}
