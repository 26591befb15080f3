//! The two clocks of a link: the loop lives in CLOCK_MONOTONIC, the kernel stamps packets with CLOCK_REALTIME.

use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use wirelab_link::Instant;

/// A change of the offset beyond this is a step of the real-time clock. NTP slewing moves both clocks together and changes nothing.
pub const STEP: Duration = Duration::from_millis(1);

const NARROW: Duration = Duration::from_micros(2);
const ATTEMPTS: u32 = 5;

/// Now, on CLOCK_MONOTONIC.
pub fn now() -> Instant {
    Instant::from_nanos(read(ClockId::CLOCK_MONOTONIC))
}

/// Now, on CLOCK_REALTIME: nanoseconds since 1970.
pub fn realtime_ns() -> u64 {
    read(ClockId::CLOCK_REALTIME)
}

/// CLOCK_REALTIME minus CLOCK_MONOTONIC, measured anew as often as the owner likes.
#[derive(Clone, Copy, Debug)]
pub struct RealtimeOffset {
    nanoseconds: u64,
}

impl RealtimeOffset {
    /// Measure it for the first time.
    pub fn measure() -> Self {
        Self { nanoseconds: best_sample().0 }
    }

    /// Measure it again; true if the real-time clock was stepped since the last measurement. A sample that was interrupted is not believed, and
    /// where reading a clock is a system call every sample is: one that contradicts nothing is then enough.
    pub fn refresh(&mut self) -> bool {
        let first = sample();
        if self.explains(first) {
            return false;
        }
        let (nanoseconds, width) = if first.1 > NARROW { best_sample() } else { first };
        if self.explains((nanoseconds, width)) {
            return false;
        }
        let stepped = self.nanoseconds.abs_diff(nanoseconds) > STEP.as_nanos() as u64 + width.as_nanos() as u64;
        self.nanoseconds = nanoseconds;
        stepped
    }

    /// Whether a wide sample says nothing that was not known.
    fn explains(self, (nanoseconds, width): (u64, Duration)) -> bool {
        width > NARROW && self.nanoseconds.abs_diff(nanoseconds) < width.as_nanos() as u64
    }

    /// The monotonic instant of a kernel stamp.
    pub fn to_monotonic(self, realtime_ns: u64) -> Instant {
        Instant::from_nanos(realtime_ns.saturating_sub(self.nanoseconds))
    }

    /// The kernel's stamp of a monotonic instant.
    pub fn to_realtime_ns(self, instant: Instant) -> u64 {
        instant.as_nanos().saturating_add(self.nanoseconds)
    }
}

/// The narrowest of a few samples.
fn best_sample() -> (u64, Duration) {
    let mut best = (0, Duration::MAX);
    for _ in 0..ATTEMPTS {
        let found = sample();
        if found.1 < best.1 {
            best = found;
        }
        if found.1 <= NARROW {
            break;
        }
    }
    best
}

/// The offset between two readings of the monotonic clock, and how far apart these were.
fn sample() -> (u64, Duration) {
    let before = now();
    let real = realtime_ns();
    let width = now().saturating_since(before);
    (real.saturating_sub(before.as_nanos() + width.as_nanos() as u64 / 2), width)
}

fn read(clock: ClockId) -> u64 {
    let time = clock_gettime(clock).expect("the kernel has this clock");
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_of_now_lies_between_two_readings_of_the_monotonic_clock() {
        let offset = RealtimeOffset::measure();
        let before = now();
        let stamp = realtime_ns();
        let after = now();
        let mapped = offset.to_monotonic(stamp);
        assert!(mapped + STEP >= before && mapped <= after + STEP);
        assert_eq!(offset.to_realtime_ns(mapped), stamp);
    }

    #[test]
    fn a_step_is_distinguished_from_noise() {
        let mut offset = RealtimeOffset::measure();
        assert!(!offset.refresh());
        offset.nanoseconds += 1_000_000_000;
        assert!(offset.refresh());
        assert!(!offset.refresh());
    }
}
