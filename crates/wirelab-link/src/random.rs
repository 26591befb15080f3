//! Seeded random generators, one for each impairment of each link.

use std::f64::consts::TAU;
use std::fmt;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::{Direction, ParameterError};

/// Names one impairment of one link: each has its own generators, so that changing one reseeds no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Seed {
    /// Seed of the link.
    pub link: u64,
    /// Whose chain the impairment is in.
    pub direction: Direction,
    /// Its position in the chain, from 0; `u16::MAX` for the medium.
    pub index: u16,
}

/// What the draws of one generator decide.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub(crate) enum Purpose {
    /// The loss or delay of a packet.
    Packet = 0,
    /// The path of a hidden state in time.
    Path = 1,
    /// How long a station waits for the air.
    Backoff = 2,
}

/// A probability: a fraction from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Probability(f64);

impl Probability {
    /// 0.
    pub const NEVER: Self = Self(0.0);
    /// How far from what it should be a sum of probabilities may be, for each was rounded.
    pub const ROUNDING: f64 = 1e-9;

    /// Refuses what is outside [0, 1], and NaN.
    pub fn new(value: f64) -> Result<Self, ParameterError> {
        let refused = || ParameterError::new(format!("{value} is not a probability (0 to 1)"));
        (0.0..=1.0).contains(&value).then_some(Self(value)).ok_or_else(refused)
    }

    /// The fraction.
    pub const fn get(self) -> f64 {
        self.0
    }
}

/// The crate's only source of randomness: ChaCha8, in the conversions written out here, so that no release of a library changes a result.
///
/// Logarithm and cosine come from `libm`, not from the platform, so that every machine draws the same.
#[derive(Clone)]
pub(crate) struct Generator(ChaCha8Rng);

impl Generator {
    /// The generator of `seed` for `purpose`.
    ///
    /// The 32-byte key is `wirelab` and a zero byte, the link's seed (little-endian), the impairment's index in its chain (little-endian, 8
    /// bytes), then direction (0 uplink, 1 downlink), purpose (0 packet, 1 path, 2 back-off) and six zero bytes. ChaCha makes unrelated
    /// streams of different keys, so no further hash is needed.
    pub(crate) fn new(seed: Seed, purpose: Purpose) -> Self {
        let mut key = [0; 32];
        key[..7].copy_from_slice(b"wirelab");
        key[8..16].copy_from_slice(&seed.link.to_le_bytes());
        key[16..24].copy_from_slice(&u64::from(seed.index).to_le_bytes());
        key[24] = seed.direction as u8;
        key[25] = purpose as u8;
        Self(ChaCha8Rng::from_seed(key))
    }

    /// Uniform in [0, 1): the upper 53 bits of one draw.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform on 0 to `bound` - 1, up to one part in 2^64 / `bound`: the upper half of the product of one draw and `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// True with `probability`: one draw.
    pub(crate) fn chance(&mut self, probability: Probability) -> bool {
        self.unit() < probability.0
    }

    /// Standard normal by Box and Muller (1958), cosine branch: two draws.
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * libm::log(1.0 - self.unit())).sqrt();
        radius * libm::cos(TAU * self.unit())
    }

    /// Exponential with `mean` by inversion: one draw.
    pub(crate) fn exponential(&mut self, mean: f64) -> f64 {
        -libm::log(1.0 - self.unit()) * mean
    }

    /// Go on at the beginning of one of the 2^64 streams of this key (ChaCha's nonce). A new generator is at the beginning of stream 0.
    pub(crate) fn enter_stream(&mut self, stream: u64) {
        self.0.set_stream(stream);
        self.0.set_word_pos(0);
    }
}

impl fmt::Debug for Generator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Generator(at word {})", self.0.get_word_pos())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEED: Seed = Seed { link: 1, direction: Direction::Uplink, index: 0 };

    fn generator() -> Generator {
        Generator::new(SEED, Purpose::Packet)
    }

    #[test]
    fn draws_are_the_same_for_ever() {
        // From another implementation of ChaCha8 (in Python) with the documented key, and IEEE 754 arithmetic on its output.
        let mut generator = generator();
        let draws: Vec<_> = (0..3).map(|_| generator.0.next_u64()).collect();
        assert_eq!(draws, [14715369639542603930, 13713632336888873342, 8683835844429501685]);
        assert_eq!(generator.unit(), 0.5298495758254869);
        assert_eq!(generator.normal(), 0.24379545925362633);
        assert_eq!((generator.exponential(1.0) * 1e9).round(), 42_895_631.0);
    }

    #[test]
    fn every_impairment_direction_link_and_purpose_draws_from_its_own_stream() {
        let first = |seed, purpose| Generator::new(seed, purpose).0.next_u64();
        let mut draws = vec![
            first(SEED, Purpose::Packet),
            first(SEED, Purpose::Path),
            first(SEED, Purpose::Backoff),
            first(Seed { link: 2, ..SEED }, Purpose::Packet),
            first(Seed { index: 1, ..SEED }, Purpose::Packet),
            first(Seed { direction: Direction::Downlink, ..SEED }, Purpose::Packet),
        ];
        draws.sort_unstable();
        draws.dedup();
        assert_eq!(draws.len(), 6);
    }

    #[test]
    fn draws_below_a_bound_are_uniform_and_never_reach_it() {
        let mut generator = generator();
        let mut counts = [0u32; 10];
        (0..1_000_000).for_each(|_| counts[generator.below(10) as usize] += 1);
        // Five standard errors of a tenth of a million.
        assert!(counts.iter().all(|count| count.abs_diff(100_000) < 1500), "{counts:?}");
        assert_eq!(generator.below(1), 0);
    }

    #[test]
    fn certainty_and_impossibility_are_exact() {
        let mut generator = generator();
        let (never, always) = (Probability::new(0.0).unwrap(), Probability::new(1.0).unwrap());
        assert!((0..10_000).all(|_| !generator.chance(never) && generator.chance(always)));
        assert!([-0.1, 1.1, f64::NAN, f64::INFINITY].iter().all(|value| Probability::new(*value).is_err()));
    }

    #[test]
    fn normal_draws_have_the_moments_of_the_normal_distribution() {
        let mut generator = generator();
        let draws: Vec<f64> = (0..1_000_000).map(|_| generator.normal()).collect();
        let moment = |power| draws.iter().map(|draw| draw.powi(power)).sum::<f64>() / draws.len() as f64;
        // Five standard errors of each moment over a million draws: sqrt(1, 2, 15, 96) / 1000.
        assert!(moment(1).abs() < 0.005, "mean {}", moment(1));
        assert!((moment(2) - 1.0).abs() < 0.0071, "second moment {}", moment(2));
        assert!(moment(3).abs() < 0.0194, "third moment {}", moment(3));
        assert!((moment(4) - 3.0).abs() < 0.049, "fourth moment {}", moment(4));
    }

    #[test]
    fn the_streams_of_draws_differ_and_each_is_repeatable() {
        let [mut first, mut again] = [generator(), generator()];
        let draws = |generator: &mut Generator, stream| {
            generator.enter_stream(stream);
            [(); 50].map(|()| generator.unit())
        };
        let other = draws(&mut again, u64::MAX);
        assert_eq!(draws(&mut again, 0), [(); 50].map(|()| first.unit()));
        assert_eq!(draws(&mut again, u64::MAX), other);
        assert_ne!(draws(&mut again, 1), other);
    }

    #[test]
    fn exponential_draws_have_the_mean_and_the_tail_of_the_exponential_distribution() {
        let mut generator = generator();
        let draws: Vec<f64> = (0..1_000_000).map(|_| generator.exponential(1.0)).collect();
        let average = draws.iter().sum::<f64>() / draws.len() as f64;
        let beyond = draws.iter().filter(|draw| **draw > 3.0).count() as f64 / draws.len() as f64;
        assert!((average - 1.0).abs() < 0.005, "mean {average}");
        assert!((beyond - (-3.0f64).exp()).abs() < 0.0011, "beyond three means {beyond}");
    }
}
