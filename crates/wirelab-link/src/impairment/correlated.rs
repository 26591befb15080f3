//! Draws that depend on the one before, as netem makes them.

use std::f64::consts::{LN_2, PI, TAU};

use crate::random::{Generator, Purpose};
use crate::{ParameterError, Probability, Seed};

/// Most draws that a correlated stage makes before its first packet.
const LONGEST_PAST: f64 = 1e6;
/// The largest number below 1.
const BELOW_ONE: f64 = 1.0 - f64::EPSILON / 2.0;

/// netem's correlation of successive draws: the share of a draw that is its predecessor, from 0 (none) to 1 (always the first draw).
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Correlation(f64);

impl Correlation {
    /// Refuses what is outside [0, 1], and NaN.
    pub fn new(value: f64) -> Result<Self, ParameterError> {
        let refused = || ParameterError::new(format!("{value} is not a correlation (0 to 1)"));
        (0.0..=1.0).contains(&value).then_some(Self(value)).ok_or_else(refused)
    }

    /// The share.
    pub const fn get(self) -> f64 {
        self.0
    }
}

/// Draws as netem's `get_crandom` makes them (Linux, net/sched/sch_netem.c): each is (1 - correlation) x a uniform number + correlation x the
/// draw before. One number of the generator for each draw.
///
/// Such draws average 1/2 as uniform ones do, but with sqrt((1 - correlation) / (1 + correlation)) of their standard deviation: they are not
/// uniform. The first comes from their stationary distribution (netem takes a uniform number for the one before it); above a
/// correlation of 0.99996 some of a uniform number is left in it, for no more than a million draws are made before it. Without correlation they
/// are the generator's own.
#[derive(Debug)]
pub(crate) struct Correlated {
    correlation: f64,
    last: f64,
    generator: Generator,
}

impl Correlated {
    pub(crate) fn new(correlation: Correlation, seed: Seed) -> Self {
        let mut draws =
            Self { correlation: correlation.0, last: 0.0, generator: Generator::new(seed, Purpose::Packet) };
        if correlation.0 > 0.0 {
            draws.last = draws.generator.unit();
            for _ in 0..past(correlation) {
                draws.unit();
            }
        }
        draws
    }

    /// In [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        let uniform = self.generator.unit();
        if self.correlation == 0.0 {
            return uniform;
        }
        self.last = ((1.0 - self.correlation) * uniform + self.correlation * self.last).min(BELOW_ONE);
        self.last
    }

    /// True with `probability` if there is no correlation; with it, less often for a probability below 1/2 and more often for one above.
    pub(crate) fn chance(&mut self, probability: Probability) -> bool {
        self.unit() < probability.get()
    }

    /// Uniform in [0, 1) and independent of all else: one number of the generator.
    pub(crate) fn independent_unit(&mut self) -> f64 {
        self.generator.unit()
    }

    /// Standard normal and independent of all else: two numbers of the generator.
    pub(crate) fn independent_normal(&mut self) -> f64 {
        self.generator.normal()
    }

    pub(crate) fn is_correlated(&self) -> bool {
        self.correlation > 0.0
    }
}

/// How many draws it takes until nothing is left of the first in 53 bits. With a correlation of 1 the first stays for ever.
fn past(correlation: Correlation) -> u32 {
    if correlation.0 == 1.0 { 0 } else { (53.0 * LN_2 / -libm::log(correlation.0)).ceil().min(LONGEST_PAST) as u32 }
}

/// Terms of the Fourier series of a correlated draw's distribution.
const TERMS: usize = 4096;
/// Draws of the past that are counted one by one; those before are normal together.
const COUNTED_PAST: i32 = 200;

/// How often correlated draws are below `probability`: uniform ones are as often as it says.
pub(crate) fn share_below(probability: f64, correlation: f64) -> f64 {
    if correlation == 0.0 || correlation == 1.0 || probability <= 0.0 || probability >= 1.0 {
        return probability;
    }
    let waves = (1..).zip(factors(correlation)).map(|(term, factor)| {
        let turns = f64::from(term) * (probability - 0.5);
        factor * libm::sin(TAU * turns)
    });
    probability + waves.sum::<f64>()
}

/// Share of correlated draws in each of `cells` equal parts of [0, 1], which divide twice the number of terms.
pub(crate) fn draw_weights(cells: usize, correlation: f64) -> Vec<f64> {
    if correlation == 0.0 || correlation == 1.0 {
        return vec![1.0 / cells as f64; cells];
    }
    let factors = factors(correlation);
    // The sines at a cell's edge repeat: sin(2 pi term (edge / cells - 1/2)).
    let sines: Vec<f64> = (0..2 * cells).map(|part| libm::sin(PI * part as f64 / cells as f64)).collect();
    let below = |edge: usize| {
        let step = (2 * edge + cells) % (2 * cells);
        let mut at = 0;
        let waves = factors.iter().map(|factor| {
            at += step;
            at -= if at >= 2 * cells { 2 * cells } else { 0 };
            factor * sines[at]
        });
        (edge as f64 / cells as f64 + waves.sum::<f64>()).clamp(0.0, 1.0)
    };
    let mut edges: Vec<f64> = (1..cells).map(below).collect();
    edges.push(1.0);
    edges.into_iter().scan(0.0, |before, edge| Some((edge - std::mem::replace(before, edge)).max(0.0))).collect()
}

/// Waves turned by less differ from none by less than half of the last bit of 1.
const NO_TURN: f64 = 5e-9;
/// What is below adds nothing to a share.
const NO_WAVE: f64 = 1e-18;

/// A draw is (1 - c) x the sum of c^k x uniform ones. Its distribution on [0, 1] is a Fourier series whose coefficients are products of sinc.
fn factors(correlation: f64) -> Vec<f64> {
    let left = (1.0 - correlation) * correlation.powi(2 * COUNTED_PAST) / (1.0 + correlation) / 12.0;
    let weights: Vec<f64> = (0..COUNTED_PAST).map(|past| (1.0 - correlation) * correlation.powi(past)).collect();
    let factor = |term: usize| {
        let term = term as f64;
        let turns = weights.iter().map(|weight| term * weight).take_while(|turn| *turn > NO_TURN);
        let counted: f64 = turns.map(sinc).product();
        counted * libm::exp(-2.0 * PI * PI * term * term * left) / (PI * term)
    };
    let mut factors: Vec<f64> = (1..=TERMS).map(factor).collect();
    factors.truncate(factors.iter().rposition(|factor| factor.abs() > NO_WAVE).map_or(0, |last| last + 1));
    factors
}

fn sinc(value: f64) -> f64 {
    let turned = PI * value;
    if turned == 0.0 { 1.0 } else { libm::sin(turned) / turned }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Direction;

    fn draws(correlation: f64, link: u64) -> Correlated {
        Correlated::new(Correlation::new(correlation).unwrap(), Seed { link, direction: Direction::Uplink, index: 0 })
    }

    #[test]
    fn without_correlation_the_draws_are_the_generators() {
        let mut generator = Generator::new(Seed { link: 1, direction: Direction::Uplink, index: 0 }, Purpose::Packet);
        let mut draws = draws(0.0, 1);
        assert!((0..100).all(|_| draws.unit() == generator.unit()));
    }

    #[test]
    fn each_draw_is_netems_mixture_of_a_uniform_number_and_the_draw_before() {
        for correlation in [1e-9, 0.25, 0.5, 0.999] {
            let mut draws = draws(correlation, 1);
            let mut uniform = draws.generator.clone();
            for _ in 0..1000 {
                let before = draws.last;
                assert_eq!(draws.unit(), (1.0 - correlation) * uniform.unit() + correlation * before);
            }
        }
    }

    #[test]
    fn complete_correlation_repeats_the_first_draw() {
        let mut draws = draws(1.0, 1);
        let first = draws.unit();
        assert!((0..1000).all(|_| draws.unit() == first));
    }

    #[test]
    fn first_draws_have_the_moments_and_the_second_the_correlation_of_the_stationary_process() {
        for correlation in [0.25, 0.9] {
            let pairs: Vec<[f64; 2]> = (0..20_000)
                .map(|link| {
                    let mut draws = draws(correlation, link);
                    [draws.unit() - 0.5, draws.unit() - 0.5]
                })
                .collect();
            let average = |of: fn(&[f64; 2]) -> f64| pairs.iter().map(of).sum::<f64>() / pairs.len() as f64;
            let variance = (1.0 - correlation) / (1.0 + correlation) / 12.0;
            // Five standard errors: of a variance sqrt(2 / 20000) at most, as for normal draws.
            assert!(average(|pair| pair[0]).abs() < 5.0 * (variance / 20_000.0).sqrt());
            assert!((average(|pair| pair[0] * pair[0]) / variance - 1.0).abs() < 0.05);
            assert!((average(|pair| pair[0] * pair[1]) / variance - correlation).abs() < 0.05);
        }
    }

    #[test]
    fn certainty_and_impossibility_are_exact() {
        let (never, always) = (Probability::new(0.0).unwrap(), Probability::new(1.0).unwrap());
        for correlation in [0.0, 1e-300, 0.3, 1.0] {
            let mut draws = draws(correlation, 1);
            assert!((0..10_000).all(|_| !draws.chance(never) && draws.chance(always)));
        }
        assert!([-0.1, 1.1, f64::NAN].iter().all(|value| Correlation::new(*value).is_err()));
    }
}
