use std::time::Duration;

use super::outlet::Outlet;
use crate::random::{Generator, Purpose};
use crate::{Counters, Dropped, Impairment, Instant, Packet, Seed};

pub(super) const ABOUT: &str = "Propagation delay: each packet leaves a while after it arrives. Without jitter the delay is constant. With \
    jitter it is drawn for each packet, from a normal or a uniform distribution around the mean; a negative delay counts as 0. Packets are never \
    reordered, unlike netem's jitter: one that would overtake leaves together with its predecessor, so that at high packet rates the mean delay \
    exceeds the configured one. Normal draws: Box and Muller, Ann. Math. Statist. 29 (1958) 610.";

/// Propagation delay without reordering: a packet that would overtake its predecessor leaves with it.
#[derive(Debug)]
pub struct Delay {
    mean: Duration,
    jitter: Option<(Jitter, Generator)>,
    last_departure: Instant,
    outlet: Outlet,
}

/// Spread of the delay around its mean. A delay drawn below 0 counts as 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jitter {
    /// Normal with this standard deviation: two draws for each packet.
    Normal {
        /// Standard deviation.
        sigma: Duration,
    },
    /// Uniform on the mean ± this: one draw for each packet.
    Uniform {
        /// Half of the distribution's width.
        half_width: Duration,
    },
}

impl Delay {
    /// The same delay for every packet.
    pub fn constant(delay: Duration) -> Self {
        Self { mean: delay, jitter: None, last_departure: Instant::default(), outlet: Outlet::default() }
    }

    /// A delay drawn for each packet.
    pub fn with_jitter(mean: Duration, jitter: Jitter, seed: Seed) -> Self {
        Self { jitter: Some((jitter, Generator::new(seed, Purpose::Packet))), ..Self::constant(mean) }
    }

    fn draw(&mut self) -> Duration {
        let Some((jitter, generator)) = &mut self.jitter else { return self.mean };
        let offset = match jitter {
            Jitter::Normal { sigma } => generator.normal() * sigma.as_nanos() as f64,
            Jitter::Uniform { half_width } => (2.0 * generator.unit() - 1.0) * half_width.as_nanos() as f64,
        };
        let mean = u64::try_from(self.mean.as_nanos()).unwrap_or(u64::MAX);
        Duration::from_nanos(mean.saturating_add_signed(offset.round() as i64))
    }
}

impl Impairment for Delay {
    fn handle_packet(&mut self, packet: Packet, now: Instant) {
        self.outlet.receive();
        self.last_departure = (now + self.draw()).max(self.last_departure);
        self.outlet.depart(packet, self.last_departure);
    }

    fn poll_packet(&mut self, now: Instant) -> Option<(Instant, Packet)> {
        self.outlet.poll_packet(now)
    }

    fn poll_dropped(&mut self) -> Option<Dropped> {
        self.outlet.poll_dropped()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.outlet.poll_timeout()
    }

    fn counters(&self) -> Counters {
        self.outlet.counters(0)
    }
}
