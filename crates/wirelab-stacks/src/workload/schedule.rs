//! Arrival processes: when each exchange is meant to start. It does not wait.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;
use wirelab_schema::{ArrivalSpec, Device};

use crate::base::payload::{Draw, generator_of};

/// When an exchange is meant to start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Due {
    /// When it can: in a closed loop.
    Now,
    /// At this instant (ns).
    At(u64),
    /// When the link has rested until so much has passed on its clock since the exchange before began.
    AfterRest {
        /// That much.
        interval_ns: u64,
    },
}

/// The arrival process: which exchange comes next and when it is meant to start.
pub struct Schedule {
    arrival: ArrivalSpec,
    exchanges: u32,
    next: u32,
    origin_ns: u64,
    /// Length of a second of its oscillator, in seconds.
    second: f64,
    elapsed_ns: f64,
    draws: ChaCha8Rng,
}

impl Schedule {
    /// The schedule of one of several clients, which counts from `origin_ns`. The first exchange is meant to start then, or up to one period later
    /// if the client is not the first; that of a Poisson process one gap later.
    pub fn new(arrival: &ArrivalSpec, exchanges: u32, seed: u64, client: u32, origin_ns: u64) -> Self {
        let mut schedule = Schedule {
            arrival: arrival.clone(),
            exchanges,
            next: 0,
            origin_ns,
            second: 1.0,
            elapsed_ns: 0.0,
            draws: generator_of(seed, Draw::Arrivals, client),
        };
        match *arrival {
            ArrivalSpec::Fixed { rate_hz } if client > 0 => {
                schedule.elapsed_ns = (1.0 - uniform(&mut schedule.draws)) * 1e9 / rate_hz;
            }
            ArrivalSpec::Periodic { interval_ns, .. } | ArrivalSpec::Bursts { interval_ns, .. } if client > 0 => {
                schedule.elapsed_ns = (1.0 - uniform(&mut schedule.draws)) * interval_ns as f64;
            }
            _ => {}
        }
        schedule
    }

    /// The same on a device, which begins later and whose oscillator is not exact.
    pub fn on(mut self, device: &Device, seed: u64, client: u32) -> Self {
        let mut draws = generator_of(seed, Draw::Device, client);
        let phase_ns = uniform(&mut draws) * device.start_phase_ns as f64;
        self.origin_ns = self.origin_ns.saturating_add(phase_ns as u64);
        self.second = 1.0 + (2.0 * uniform(&mut draws) - 1.0) * f64::from(device.drift_ppb) / 1e9;
        self
    }

    /// When the client begins.
    pub fn origin_ns(&self) -> u64 {
        self.origin_ns
    }

    /// Index of the next exchange, and when it is meant to start.
    pub fn next(&mut self) -> Option<(u32, Due)> {
        if self.next == self.exchanges {
            return None;
        }
        let index = self.next;
        self.next += 1;
        let place = f64::from(index);
        let elapsed_ns = match self.arrival {
            ArrivalSpec::Closed => return Some((index, Due::Now)),
            ArrivalSpec::IdleStart { .. } => {
                return self.rest_ns().map(|interval_ns| (index, Due::AfterRest { interval_ns }));
            }
            ArrivalSpec::Fixed { rate_hz } => self.elapsed_ns + place * 1e9 / rate_hz,
            ArrivalSpec::Poisson { rate_hz } => {
                self.elapsed_ns += self.exponential() * 1e9 / rate_hz;
                self.elapsed_ns
            }
            ArrivalSpec::Periodic { interval_ns, jitter_ns } => {
                let off_ns = if jitter_ns > 0 { (uniform(&mut self.draws) - 0.5) * jitter_ns as f64 } else { 0.0 };
                self.elapsed_ns + place * interval_ns as f64 + off_ns
            }
            ArrivalSpec::Bursts { interval_ns, rate_hz, duration_ns } => {
                let size = burst_size(rate_hz, duration_ns);
                let burst = (place / size).floor();
                self.elapsed_ns + burst * interval_ns as f64 + (place - burst * size) * 1e9 / rate_hz
            }
        };
        Some((index, Due::At(self.after_origin(elapsed_ns))))
    }

    /// The same in an open loop.
    pub fn next_instant(&mut self) -> Option<(u32, u64)> {
        self.next().map(|(index, due)| match due {
            Due::At(instant_ns) => (index, instant_ns),
            Due::Now | Due::AfterRest { .. } => panic!("checked: an open loop"),
        })
    }

    /// When the exchange after the last would be due, and the last has had its gap: after a mean gap in a Poisson process, of which all have been
    /// drawn, and with the next burst. `None` in a closed loop, and where the link rests.
    pub fn end_ns(&self) -> Option<u64> {
        let count = f64::from(self.exchanges);
        let elapsed_ns = match self.arrival {
            ArrivalSpec::Closed | ArrivalSpec::IdleStart { .. } => return None,
            ArrivalSpec::Fixed { rate_hz } => self.elapsed_ns + count * 1e9 / rate_hz,
            ArrivalSpec::Poisson { rate_hz } => self.elapsed_ns + 1e9 / rate_hz,
            ArrivalSpec::Periodic { interval_ns, .. } => self.elapsed_ns + count * interval_ns as f64,
            ArrivalSpec::Bursts { interval_ns, rate_hz, duration_ns } => {
                self.elapsed_ns + (count / burst_size(rate_hz, duration_ns)).ceil() * interval_ns as f64
            }
        };
        Some(self.after_origin(elapsed_ns))
    }

    /// From the begin of one exchange to that of the next on the link's clock, where that rests between them.
    pub fn rest_ns(&self) -> Option<u64> {
        match self.arrival {
            ArrivalSpec::IdleStart { interval_ns } => Some((interval_ns as f64 * self.second) as u64),
            _ => None,
        }
    }

    /// Never before the origin; at rates of one in centuries, the end of time.
    fn after_origin(&self, nanoseconds: f64) -> u64 {
        self.origin_ns.saturating_add((nanoseconds * self.second) as u64)
    }

    /// Exponential with mean 1, by inversion.
    fn exponential(&mut self) -> f64 {
        -uniform(&mut self.draws).ln()
    }
}

/// Refuses values that make no sense.
pub fn check(arrival: &ArrivalSpec) -> Result<(), String> {
    match *arrival {
        ArrivalSpec::Fixed { rate_hz } | ArrivalSpec::Poisson { rate_hz } | ArrivalSpec::Bursts { rate_hz, .. }
            if !(rate_hz.is_finite() && rate_hz > 0.0) =>
        {
            Err(format!("`rate_hz` is {rate_hz}, not a positive number"))
        }
        ArrivalSpec::Periodic { interval_ns: 0, .. }
        | ArrivalSpec::Bursts { interval_ns: 0, .. }
        | ArrivalSpec::IdleStart { interval_ns: 0 } => Err("`interval_ns` is 0, less than 1".to_owned()),
        ArrivalSpec::Periodic { interval_ns, jitter_ns } if jitter_ns > interval_ns => {
            Err(format!("`jitter_ns` is {jitter_ns}, more than the interval of {interval_ns}"))
        }
        ArrivalSpec::Bursts { duration_ns: 0, .. } => Err("`duration_ns` is 0, less than 1".to_owned()),
        ArrivalSpec::Bursts { interval_ns, duration_ns, .. } if duration_ns > interval_ns => {
            Err(format!("`duration_ns` is {duration_ns}, more than the interval of {interval_ns}"))
        }
        _ => Ok(()),
    }
}

/// Exchanges of a burst, a whole number. Rounding adds none at its very end.
fn burst_size(rate_hz: f64, duration_ns: u64) -> f64 {
    (duration_ns as f64 * rate_hz / 1e9 - 1e-6).ceil().max(1.0)
}

/// In (0, 1].
pub(super) fn uniform(draws: &mut ChaCha8Rng) -> f64 {
    ((draws.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests;
