//! Propagation delay, constant or with jitter.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::jitter::{Jitter, JitterSpec};
use crate::facts::{DelayFacts, Facts, Kept};
use crate::impairment::correlated::{Correlated, draw_weights};
use crate::impairment::settled::{Effect, Settled};
use crate::impairment::spec::{Slot, Spec};
use crate::impairment::stage_exit::StageExit;
use crate::netem::{self, NetemRefusal, NetemSpread, NetemStage};
use crate::spec::values::{correlation, is_zero};
use crate::spec::{Choices, Place, SpecError, words};
use crate::{Impairment, Instant, Packet, Seed};

const ABOUT: &str = "Propagation delay: each packet leaves a while after it arrives. Without jitter the delay is constant. With \
    jitter it is drawn for each packet around the mean; a negative delay counts as 0. Unless overtaking is set packets are never reordered, \
    unlike with netem's jitter: one that would overtake leaves together with its predecessor, so that at high packet rates the mean delay \
    exceeds the configured one. Normal draws: Box and Muller, Ann. Math. Statist. 29 (1958) 610. pareto and pareto-normal are the tables of \
    those names that come with netem (iproute2, netem/pareto.c and netem/paretonormal.c, from NIST Net), computed and not looked up: sigma x 4/3 \
    x ((1 - u)^(-1/3) - 3/2), cut at 4 sigma, which leaves a mean of -0.03 sigma and a standard deviation of 0.82 sigma; and three quarters of \
    that plus a quarter of the normal quantile of the same u, with -0.02 and 0.83 sigma. A table is inverted, linear between its quantiles. \
    With correlation, u is (1 - correlation) x a uniform number + correlation x the u before, as netem makes it (sch_netem.c, get_crandom), \
    for the normal distribution too. Such u crowd around 1/2: a uniform jitter keeps sqrt((1 - correlation) / (1 + correlation)) of its spread, \
    others about as much. netem itself looks up the remainder of u by the table's size, which leaves nothing of the correlation, nor of the \
    crowding; here u is inverted whole.";

/// Propagation delay. With jitter, departures never overtake one another unless `overtaking` is set: a packet that would leaves with its
/// predecessor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DelaySpec {
    /// Mean one-way delay.
    pub delay_ns: u64,
    /// Spread around the mean; absent means constant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<JitterSpec>,
    /// netem's correlation of successive draws (0 to 1).
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub correlation: f64,
    /// Packets leave by their own delay, also before packets that came earlier, as netem's jitter has it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub overtaking: bool,
}

impl Spec for DelaySpec {
    const ABOUT: &'static str = ABOUT;
    const SLOT: Slot = Slot::Delay;

    fn build(&self, seed: Seed, at: &Place) -> Result<Box<dyn Impairment>, SpecError> {
        let correlation = correlation(self.correlation, at)?;
        let jitter = self.jitter.as_ref().map(|jitter| jitter.build(&at.key("jitter"))).transpose()?;
        Ok(Box::new(Settled::new(Delay {
            mean: Duration::from_nanos(self.delay_ns),
            jitter: jitter.map(|jitter| (jitter, Correlated::new(correlation, seed))),
            overtaking: self.overtaking,
            last_departure: Instant::default(),
        })))
    }

    fn facts(&self) -> Facts {
        let spread = self.jitter.as_ref().map(|jitter| format!(" {}", jitter.words())).unwrap_or_default();
        let correlated = words::correlated(self.correlation);
        let overtaking = if self.overtaking { ", overtaking" } else { "" };
        Facts {
            words: format!("{}{spread}{correlated}{overtaking}", words::time(self.delay_ns)),
            loss: None,
            delay: Some(self.delay_facts()),
            rate: None,
            queue: None,
            over_time: None,
            away: None,
            duplicated: None,
            corrupted: None,
            held_back: None,
            keeps: vec![Kept::Held],
            per_packet: false,
            overtakes: self.overtaking,
            of_one_packet: false,
            varies: None,
        }
    }

    fn netem(&self, at: &Place) -> Result<NetemStage, NetemRefusal> {
        let delay_ns = netem::nanoseconds(self.delay_ns, &at.key("delay_ns"), "delay")?;
        let Some(jitter) = &self.jitter else { return Ok(NetemStage::Delay { delay_ns, spread: None }) };
        if self.correlation > 0.0 {
            let what = "netem takes the remainder of a correlated number, which leaves nothing of it";
            return Err(NetemRefusal::new(&at.key("correlation"), "jitter-correlation", what));
        }
        let at = at.key("jitter");
        let jitter = jitter.build(&at).map_err(|error| NetemRefusal::of(error, "jitter"))?;
        let spread = NetemSpread { table: netem::table(&jitter, &at)?, overtaking: self.overtaking };
        Ok(NetemStage::Delay { delay_ns, spread: Some(spread) })
    }

    fn examples() -> Vec<Self> {
        let constant = Self { delay_ns: 10_000_000, jitter: None, correlation: 0.0, overtaking: false };
        let spread = |jitter| Self { jitter: Some(jitter), ..constant.clone() };
        let overtaking =
            Self { overtaking: true, correlation: 0.5, ..spread(JitterSpec::Uniform { half_width_ns: 9_000_000 }) };
        let spreads: Vec<_> = JitterSpec::examples().into_iter().map(spread).collect();
        [constant.clone(), overtaking].into_iter().chain(spreads).collect()
    }

    fn arbitrary(choices: &mut Choices<'_>) -> Self {
        let jitter = choices.maybe(JitterSpec::arbitrary);
        let overtaking = choices.flag();
        let correlation = if jitter.is_some() { choices.correlation() } else { 0.0 };
        Self { delay_ns: choices.micros(0..20_000), jitter, correlation, overtaking }
    }
}

/// Equal steps of probability over which a distribution is averaged.
const CELLS: usize = 4096;
/// Probabilities between which 999 of 1,000 packets are.
const REACH: [f64; 2] = [0.0005, 0.9995];

impl DelaySpec {
    fn delay_facts(&self) -> DelayFacts {
        let mean = self.delay_ns as f64;
        let jitter = self.jitter.as_ref().and_then(|jitter| jitter.build(&Place::new("jitter")).ok());
        let Some(jitter) = jitter else {
            return DelayFacts { mean_ns: mean, reach_ns: 0.0, spread_ns: 0, random: false };
        };
        let delay = |probability: f64| (mean + jitter.quantile(probability)).max(0.0);
        let middles = (0..CELLS).map(|cell| (cell as f64 + 0.5) / CELLS as f64);
        let weights = draw_weights(CELLS, self.correlation);
        let mean_ns: f64 = middles.zip(weights).map(|(middle, weight)| weight * delay(middle)).sum();
        let reach_ns = REACH.iter().map(|end| (delay(*end) - mean_ns).abs()).fold(0.0, f64::max);
        let spread_ns = self.jitter.as_ref().map_or(0, JitterSpec::about_ns);
        DelayFacts { mean_ns, reach_ns, spread_ns, random: true }
    }
}

/// Propagation delay. A packet that would overtake its predecessor leaves with it, unless configured otherwise.
#[derive(Debug)]
struct Delay {
    mean: Duration,
    jitter: Option<(Jitter, Correlated)>,
    overtaking: bool,
    last_departure: Instant,
}

impl Delay {
    fn draw(&mut self) -> Duration {
        let Some((jitter, draws)) = &mut self.jitter else { return self.mean };
        let mean = u64::try_from(self.mean.as_nanos()).unwrap_or(u64::MAX);
        Duration::from_nanos(mean.saturating_add_signed(jitter.draw(draws).round() as i64))
    }
}

impl Effect for Delay {
    fn apply(&mut self, packet: Packet, now: Instant, out: &mut StageExit) {
        let departure = now + self.draw();
        self.last_departure = if self.overtaking { departure } else { departure.max(self.last_departure) };
        out.depart(packet, self.last_departure);
    }

    fn settles_when_polled(&self) -> bool {
        self.overtaking
    }
}
