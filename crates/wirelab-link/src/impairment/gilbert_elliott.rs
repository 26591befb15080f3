use super::loss::LossModel;
use crate::random::{Generator, Purpose};
use crate::{Instant, Probability, Seed};

pub(super) const ABOUT: &str = "Bursty loss by the Gilbert-Elliott model (Gilbert, BSTJ 39 (1960) 1253; Elliott, BSTJ 42 (1963) 1977) in \
    netem's parametrisation, `loss gemodel p r 1-h 1-k`: a hidden state is good or bad; with each packet it goes bad with p and good with r; a \
    packet is lost with bad-loss (1-h) or good-loss (1-k) by the state before its own transition, as in netem's `loss_gilb_ell`. It starts in its \
    stationary distribution, where netem starts good. Mean loss is (p x bad-loss + r x good-loss) / (p + r). Packet-indexed: a burst lasts \
    a number of packets, so it outlives any silence of a sparse sender, and two stacks see different losses from the same seed.";

/// Gilbert-Elliott loss that moves with each packet: two draws for each, the transition before the loss.
#[derive(Debug)]
pub struct GilbertElliott {
    p: Probability,
    r: Probability,
    bad_loss: Probability,
    good_loss: Probability,
    bad: bool,
    generator: Generator,
}

impl GilbertElliott {
    /// A model that goes bad with `p` and good with `r`. If both are 0 it stays good for ever.
    pub fn new(p: Probability, r: Probability, bad_loss: Probability, good_loss: Probability, seed: Seed) -> Self {
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
