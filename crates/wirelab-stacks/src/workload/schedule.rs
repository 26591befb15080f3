//! Arrival processes: when each exchange is meant to start. It does not wait.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;
use wirelab_schema::{ArrivalSpec, Device};

use crate::base::payload::{Draw, generator_of};

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
    /// The schedule of one of several clients, which counts from `origin_ns`: the first exchange of a fixed rate is meant to start then, or up to
    /// one period later if the client is not the first; that of a Poisson process one gap later.
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
        if let (ArrivalSpec::Fixed { rate_hz }, 1..) = (arrival, client) {
            schedule.elapsed_ns = (1.0 - uniform(&mut schedule.draws)) * 1e9 / rate_hz;
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

    /// Index and intended start of the next exchange; in a closed loop it starts when it can.
    pub fn next(&mut self) -> Option<(u32, Option<u64>)> {
        if self.next == self.exchanges {
            return None;
        }
        let index = self.next;
        self.next += 1;
        let intended_ns = match self.arrival {
            ArrivalSpec::Closed => None,
            ArrivalSpec::Fixed { rate_hz } => {
                Some(self.after_origin(self.elapsed_ns + f64::from(index) * 1e9 / rate_hz))
            }
            ArrivalSpec::Poisson { rate_hz } => {
                self.elapsed_ns += self.exponential() * 1e9 / rate_hz;
                Some(self.after_origin(self.elapsed_ns))
            }
        };
        Some((index, intended_ns))
    }

    /// At rates of one in centuries, the end of time.
    fn after_origin(&self, nanoseconds: f64) -> u64 {
        self.origin_ns.saturating_add((nanoseconds * self.second) as u64)
    }

    /// Exponential with mean 1, by inversion.
    fn exponential(&mut self) -> f64 {
        -uniform(&mut self.draws).ln()
    }
}

/// In (0, 1].
fn uniform(draws: &mut ChaCha8Rng) -> f64 {
    ((draws.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(arrival: ArrivalSpec, exchanges: u32, seed: u64) -> Vec<Option<u64>> {
        starts_of(arrival, exchanges, seed, 0)
    }

    fn starts_of(arrival: ArrivalSpec, exchanges: u32, seed: u64, client: u32) -> Vec<Option<u64>> {
        let mut schedule = Schedule::new(&arrival, exchanges, seed, client, 1_000);
        std::iter::from_fn(|| schedule.next()).map(|(_, start)| start).collect()
    }

    #[test]
    fn a_fixed_rate_is_evenly_spaced_from_the_origin() {
        let expected = [1_000, 500_001_000, 1_000_001_000].map(Some);
        assert_eq!(starts(ArrivalSpec::Fixed { rate_hz: 2.0 }, 3, 1), expected);
    }

    #[test]
    fn another_client_keeps_the_rate_at_a_phase_of_its_own_within_one_period() {
        let fixed = ArrivalSpec::Fixed { rate_hz: 2.0 };
        let phases: Vec<u64> = (1..50).map(|client| starts_of(fixed.clone(), 1, 1, client)[0].expect("open")).collect();
        assert!(phases.iter().all(|phase| (1_000..500_001_000).contains(phase)));
        assert!(phases.iter().min() < Some(&100_000_000) && phases.iter().max() > Some(&400_000_000), "{phases:?}");
        let starts = starts_of(fixed, 2, 1, 1);
        assert_eq!(starts[1].expect("open") - starts[0].expect("open"), 500_000_000);
    }

    #[test]
    fn clients_draw_their_gaps_independently() {
        let poisson = ArrivalSpec::Poisson { rate_hz: 10.0 };
        assert_ne!(starts_of(poisson.clone(), 5, 3, 0), starts_of(poisson, 5, 3, 1));
    }

    #[test]
    fn a_start_beyond_the_end_of_time_is_at_its_end() {
        assert_eq!(starts(ArrivalSpec::Fixed { rate_hz: 1e-12 }, 2, 1), [1_000, u64::MAX].map(Some));
    }

    fn on_device(device: Device, seed: u64) -> Vec<u64> {
        let fixed = ArrivalSpec::Fixed { rate_hz: 1.0 };
        let mut schedule = Schedule::new(&fixed, 3, seed, 0, 1_000).on(&device, seed, 0);
        std::iter::from_fn(|| schedule.next()).map(|(_, start)| start.expect("open loop")).collect()
    }

    #[test]
    fn a_device_begins_within_its_phase_and_its_seconds_are_all_as_long() {
        const SECOND: i64 = 1_000_000_000;
        let device = Device { start_phase_ns: 60_000_000_000, drift_ppb: 20_000, ..Device::default() };
        let runs: Vec<_> = (0..200).map(|seed| on_device(device, seed)).collect();
        let begins: Vec<u64> = runs.iter().map(|starts| starts[0] / 1_000_000_000).collect();
        assert!(begins.iter().all(|second| *second <= 60));
        assert!(begins.iter().min() < Some(&5) && begins.iter().max() > Some(&55), "{begins:?}");
        let errors: Vec<i64> = runs.iter().map(|starts| (starts[1] - starts[0]) as i64 - SECOND).collect();
        assert!(errors.iter().all(|error| error.abs() <= 20_000), "{errors:?}");
        assert!(errors.iter().min() < Some(&-15_000) && errors.iter().max() > Some(&15_000), "{errors:?}");
        for starts in &runs {
            assert!((starts[2] - starts[1]).abs_diff(starts[1] - starts[0]) <= 1);
        }
        assert_eq!(on_device(device, 7), on_device(device, 7));
        assert_eq!(on_device(Device::default(), 7), [0, 1, 2].map(|second| 1_000 + second * 1_000_000_000));
    }

    #[test]
    fn a_closed_loop_intends_nothing() {
        assert_eq!(starts(ArrivalSpec::Closed, 2, 1), [None, None]);
    }

    #[test]
    fn poisson_gaps_have_the_mean_and_spread_of_an_exponential() {
        let arrivals = starts(ArrivalSpec::Poisson { rate_hz: 1_000.0 }, 20_000, 3);
        let instants: Vec<f64> = arrivals.into_iter().map(|start| start.expect("open loop") as f64).collect();
        let gaps: Vec<f64> = instants.windows(2).map(|pair| (pair[1] - pair[0]) / 1e6).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let deviation = (gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt();
        // Five standard errors of 20,000 draws are 0.035 for the mean and 0.05 for the deviation.
        assert!((mean - 1.0).abs() < 0.035 && (deviation - 1.0).abs() < 0.05, "{mean} {deviation}");
    }

    #[test]
    fn poisson_arrivals_follow_from_the_seed() {
        let poisson = ArrivalSpec::Poisson { rate_hz: 10.0 };
        assert_eq!(starts(poisson.clone(), 50, 3), starts(poisson.clone(), 50, 3));
        assert_ne!(starts(poisson.clone(), 50, 3), starts(poisson, 50, 4));
    }
}
