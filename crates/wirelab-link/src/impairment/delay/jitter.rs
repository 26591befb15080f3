//! How far delays are spread around their mean. It draws no number itself.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::normal_quantile::normal_quantile;
use crate::ParameterError;
use crate::impairment::correlated::Correlated;
use crate::spec::values::ascending;
use crate::spec::{Choices, Place, SpecError, words};

/// Distribution of the one-way delay around its mean. Negative delays are clamped to 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "distribution", rename_all = "kebab-case", deny_unknown_fields)]
pub enum JitterSpec {
    /// Normal with this standard deviation.
    Normal {
        /// Standard deviation.
        sigma_ns: u64,
    },
    /// Uniform on mean ± this half-width.
    Uniform {
        /// Half-width.
        half_width_ns: u64,
    },
    /// netem's `pareto` table: Pareto with shape 3, shifted to mean 0 and scaled as netem does.
    Pareto {
        /// netem's jitter.
        sigma_ns: u64,
    },
    /// netem's `paretonormal` table: a quarter normal, three quarters Pareto.
    ParetoNormal {
        /// netem's jitter.
        sigma_ns: u64,
    },
    /// A table of quantiles: offsets from the mean at equally spaced probabilities from 0 to 1, linear between them.
    Table {
        /// In ascending order, at least two.
        offsets_ns: Vec<i64>,
    },
}

impl JitterSpec {
    /// The distribution, if it is one.
    pub fn build(&self, at: &Place) -> Result<Jitter, SpecError> {
        Ok(match self {
            Self::Normal { sigma_ns } => Jitter::Normal { sigma: Duration::from_nanos(*sigma_ns) },
            Self::Uniform { half_width_ns } => Jitter::Uniform { half_width: Duration::from_nanos(*half_width_ns) },
            Self::Pareto { sigma_ns } => Jitter::Pareto { sigma: Duration::from_nanos(*sigma_ns) },
            Self::ParetoNormal { sigma_ns } => Jitter::ParetoNormal { sigma: Duration::from_nanos(*sigma_ns) },
            Self::Table { offsets_ns } => {
                let at = at.key("offsets_ns");
                ascending(offsets_ns, &at)?;
                Jitter::Table(Quantiles::new(offsets_ns.clone()).map_err(|what| at.error(what))?)
            }
        })
    }

    /// About how far it moves a packet, ns: a bound for most packets.
    pub(crate) fn about_ns(&self) -> u64 {
        match self {
            Self::Normal { sigma_ns } => sigma_ns.saturating_mul(3),
            Self::Uniform { half_width_ns } => *half_width_ns,
            Self::Pareto { sigma_ns } | Self::ParetoNormal { sigma_ns } => sigma_ns.saturating_mul(4),
            Self::Table { offsets_ns } => match &offsets_ns[..] {
                [first, .., last] => last.abs_diff(*first),
                _ => 0,
            },
        }
    }

    /// In people's words.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Normal { sigma_ns } => format!("± {} (normal, standard deviation)", words::time(*sigma_ns)),
            Self::Uniform { half_width_ns } => format!("± {} (uniform)", words::time(*half_width_ns)),
            Self::Pareto { sigma_ns } => format!("± {} (netem's pareto)", words::time(*sigma_ns)),
            Self::ParetoNormal { sigma_ns } => format!("± {} (netem's paretonormal)", words::time(*sigma_ns)),
            Self::Table { offsets_ns } => format!("with a spread of {} quantiles", offsets_ns.len()),
        }
    }

    /// One of each distribution.
    pub fn examples() -> Vec<Self> {
        let (sigma_ns, half_width_ns, offsets_ns) = (2_000_000, 3_000_000, vec![-4_000_000, -1_000_000, 0, 5_000_000]);
        let table = Self::Table { offsets_ns };
        let netems = [Self::Pareto { sigma_ns }, Self::ParetoNormal { sigma_ns }];
        [Self::Normal { sigma_ns }, Self::Uniform { half_width_ns }, table].into_iter().chain(netems).collect()
    }

    /// One of any distribution.
    pub fn arbitrary(choices: &mut Choices<'_>) -> Self {
        let distribution = choices.number(0..5);
        let sigma_ns = choices.micros(0..5000);
        match distribution {
            0 => Self::Normal { sigma_ns },
            1 => Self::Uniform { half_width_ns: sigma_ns },
            2 => Self::Pareto { sigma_ns },
            3 => Self::ParetoNormal { sigma_ns },
            _ => {
                let mut offsets_ns = choices.list(2..10, |choices| choices.number(0..10_000_000) as i64 - 5_000_000);
                offsets_ns.sort_unstable();
                Self::Table { offsets_ns }
            }
        }
    }
}

/// netem's NETEM_DIST_SCALE: a table's entry of this is one jitter.
const DIST_SCALE: f64 = 8192.0;
/// A table's largest entry, in jitters.
const LARGEST: f64 = 32767.0 / DIST_SCALE;
/// Probabilities between which the tables of iproute2 know the normal distribution: they step through 16384 of them in fours.
const NORMAL_TABLE: [f64; 2] = [0.5 / 16384.0, 16380.5 / 16384.0];

/// Spread of the delay around its mean. A delay drawn below 0 counts as 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Jitter {
    /// Normal with this standard deviation: two draws for each packet, one if they are correlated.
    Normal {
        /// Standard deviation.
        sigma: Duration,
    },
    /// Uniform on the mean ± this: one draw for each packet.
    Uniform {
        /// Half of the distribution's width.
        half_width: Duration,
    },
    /// netem's table `pareto`: one draw for each packet.
    Pareto {
        /// netem's jitter; the standard deviation is 0.82 of it.
        sigma: Duration,
    },
    /// netem's table `paretonormal`: one draw for each packet.
    ParetoNormal {
        /// netem's jitter; the standard deviation is 0.83 of it.
        sigma: Duration,
    },
    /// A table: one draw for each packet.
    Table(Quantiles),
}

/// Quantiles of a distribution at equally spaced probabilities from 0 to 1, linear between them: nanoseconds from the mean delay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quantiles(Vec<i64>);

impl Quantiles {
    /// Refuses fewer than two, and what does not ascend.
    pub fn new(offsets_ns: Vec<i64>) -> Result<Self, ParameterError> {
        if offsets_ns.len() < 2 {
            return Err(ParameterError::new("a table has two offsets or more"));
        }
        if let Some(pair) = offsets_ns.windows(2).find(|pair| pair[1] < pair[0]) {
            return Err(ParameterError::new(format!("offsets ascend, but {} ns follows {} ns", pair[1], pair[0])));
        }
        Ok(Self(offsets_ns))
    }

    fn at(&self, probability: f64) -> f64 {
        let position = probability * (self.0.len() - 1) as f64;
        let index = (position as usize).min(self.0.len() - 2);
        let [low, high] = [self.0[index] as f64, self.0[index + 1] as f64];
        low + (high - low) * (position - index as f64)
    }
}

impl Jitter {
    /// How far from the mean the next delay is, nanoseconds.
    pub(crate) fn draw(&self, draws: &mut Correlated) -> f64 {
        match self {
            Self::Normal { sigma } if !draws.is_correlated() => draws.independent_normal() * sigma.as_nanos() as f64,
            _ => self.quantile(draws.unit()),
        }
    }

    /// How far from the mean the delay is that a share `probability` of the packets do not exceed, nanoseconds.
    pub fn quantile(&self, probability: f64) -> f64 {
        let nanoseconds = |duration: &Duration| duration.as_nanos() as f64;
        match self {
            Self::Normal { sigma } => normal_quantile(probability) * nanoseconds(sigma),
            Self::Uniform { half_width } => (2.0 * probability - 1.0) * nanoseconds(half_width),
            Self::Pareto { sigma } => pareto_quantile(probability) * nanoseconds(sigma),
            Self::ParetoNormal { sigma } => pareto_normal_quantile(probability) * nanoseconds(sigma),
            Self::Table(quantiles) => quantiles.at(probability),
        }
    }
}

/// iproute2, netem/pareto.c (from NIST Net): shape 3, less its mean of 3/2, by 4/3, cut where a table's entry ends.
fn pareto_quantile(probability: f64) -> f64 {
    (4.0 / 3.0 * (1.0 / libm::cbrt(1.0 - probability) - 1.5)).min(LARGEST)
}

/// iproute2, netem/paretonormal.c (from NIST Net): a quarter of the one quantile and three of the other.
fn pareto_normal_quantile(probability: f64) -> f64 {
    let [lowest, highest] = NORMAL_TABLE;
    0.25 * normal_quantile(probability.clamp(lowest, highest)) + 0.75 * pareto_quantile(probability)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCALE: i32 = 8192;

    /// Entry `index` of 4096 as iproute2's netem/pareto.c prints it.
    fn pareto_entry(index: i32) -> i32 {
        let value = 1.0 / libm::pow(f64::from(65536 - 16 * index) / 65536.0, 1.0 / 3.0);
        libm::rint(((value - 1.5) * (4.0 / 3.0) * f64::from(SCALE)).min(32767.0)) as i32
    }

    /// Every fourth entry of the table of normal quantiles in iproute2's netem/normal.c and paretonormal.c.
    fn normal_entries() -> Vec<f64> {
        let mut table = vec![0.0; 16385];
        let mut x = -10.0;
        while x < 10.05 {
            table[libm::rint(16384.0 * (0.5 + 0.5 * libm::erf(x / 2f64.sqrt()))) as usize] = x;
            x += 0.00005;
        }
        table.into_iter().step_by(4).take(4096).collect()
    }

    #[test]
    fn pareto_is_what_iproute2_tabulates() {
        for index in 0..4096 {
            let ours = pareto_quantile(f64::from(index) / 4096.0);
            assert!((ours * DIST_SCALE - f64::from(pareto_entry(index))).abs() <= 0.5 + 1e-6, "entry {index}");
        }
    }

    #[test]
    fn pareto_normal_is_what_iproute2_tabulates() {
        for (index, normal) in (0..).zip(normal_entries()) {
            // Integers throughout, as in netem/paretonormal.c.
            let entry = (libm::rint(normal * DIST_SCALE) as i32 + 3 * pareto_entry(index)) / 4;
            // The two quantiles that its entry adds are half a step apart.
            let [low, high] = [0.0, 0.5].map(|step| pareto_normal_quantile((f64::from(4 * index) + step) / 16384.0));
            let entry = f64::from(entry) / DIST_SCALE;
            assert!((low - 3e-4..=high + 3e-4).contains(&entry), "entry {index}: {entry} outside {low} to {high}");
        }
    }

    #[test]
    fn a_table_is_linear_between_its_quantiles() {
        let quantiles = Quantiles::new(vec![-1000, 0, 3000]).unwrap();
        let at = [0.0, 0.25, 0.5, 0.75, 1.0].map(|probability| quantiles.at(probability));
        assert_eq!(at, [-1000.0, -500.0, 0.0, 1500.0, 3000.0]);
    }

    #[test]
    fn a_table_has_at_least_two_quantiles_and_they_ascend() {
        assert!(Quantiles::new(vec![1]).is_err());
        assert!(Quantiles::new(vec![1, 0]).is_err());
        assert!(Quantiles::new(vec![1, 1]).is_ok());
    }
}
