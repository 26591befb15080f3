use std::time::Duration;

use super::correlated::{Correlated, Correlation};
use super::jitter::Jitter;
use super::outlet::Outlet;
use super::settled::{Effect, Settled};
use crate::{Instant, Packet, Seed};

pub(super) const ABOUT: &str = "Propagation delay: each packet leaves a while after it arrives. Without jitter the delay is constant. With \
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

/// Propagation delay. A packet that would overtake its predecessor leaves with it, unless told otherwise.
#[derive(Debug)]
pub struct Delay {
    mean: Duration,
    jitter: Option<(Jitter, Correlated)>,
    overtaking: bool,
    last_departure: Instant,
}

impl Delay {
    /// The same delay for every packet.
    pub fn constant(delay: Duration) -> Settled<Self> {
        Self::of(delay, None)
    }

    /// A delay drawn for each packet.
    pub fn with_jitter(mean: Duration, jitter: Jitter, correlation: Correlation, seed: Seed) -> Settled<Self> {
        Self::of(mean, Some((jitter, Correlated::new(correlation, seed))))
    }

    fn of(mean: Duration, jitter: Option<(Jitter, Correlated)>) -> Settled<Self> {
        Settled::new(Self { mean, jitter, overtaking: false, last_departure: Instant::default() })
    }

    fn draw(&mut self) -> Duration {
        let Some((jitter, draws)) = &mut self.jitter else { return self.mean };
        let mean = u64::try_from(self.mean.as_nanos()).unwrap_or(u64::MAX);
        Duration::from_nanos(mean.saturating_add_signed(jitter.draw(draws).round() as i64))
    }
}

impl Settled<Delay> {
    /// Let packets leave by their own delay, also before packets that came earlier.
    #[must_use]
    pub fn overtaking(mut self) -> Self {
        self.effect.overtaking = true;
        self
    }
}

impl Effect for Delay {
    fn apply(&mut self, packet: Packet, now: Instant, out: &mut Outlet) {
        let departure = now + self.draw();
        self.last_departure = if self.overtaking { departure } else { departure.max(self.last_departure) };
        out.depart(packet, self.last_departure);
    }

    fn settles_when_polled(&self) -> bool {
        self.overtaking
    }
}
