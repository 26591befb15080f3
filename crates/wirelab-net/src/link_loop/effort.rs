use std::time::Duration;

use wirelab_link::Instant;

use crate::scheduling::Scheduling;

/// How long before a deadline spinning begins: about what waking up takes.
const SPIN: Duration = Duration::from_micros(80);
const WINDOW: Duration = Duration::from_millis(100);
/// 5,000 packets a second: beyond, waiting is short anyway and spinning would leave no time to sleep.
const BUSY_PACKETS: usize = 500;
/// Share of a window that may be spun.
const SPIN_SHARE: f64 = 0.4;
/// A SCHED_FIFO thread that sleeps less than this share of a window gives the policy up, for the kernel throttles real-time threads at 95 %.
const RESTLESS: f64 = 0.15;
/// It takes it up again when it sleeps more than this.
const RESTED: f64 = 0.5;

/// How hard the loop may try to be on time, from what it did in the last 100 ms.
pub(super) struct Effort {
    best: Scheduling,
    fifo: bool,
    window: Instant,
    packets: usize,
    busy: bool,
    spun: Duration,
    slept: Duration,
}

impl Effort {
    pub(super) fn new(best: Scheduling, now: Instant) -> Self {
        let fifo = best == Scheduling::Fifo;
        Self { best, fifo, window: now, packets: 0, busy: false, spun: Duration::ZERO, slept: Duration::ZERO }
    }

    /// True if the `left` time to a deadline may be spun.
    pub(super) fn may_spin(&self, left: Duration) -> bool {
        left <= SPIN && !self.busy && self.spun < WINDOW.mul_f64(SPIN_SHARE)
    }

    /// How much of the `left` time to a deadline to sleep.
    pub(super) fn sleep_before(&self, left: Duration) -> Duration {
        if self.busy || left <= SPIN { left } else { left - SPIN }
    }

    pub(super) fn spun(&mut self, time: Duration) {
        self.spun += time;
    }

    pub(super) fn slept(&mut self, time: Duration) {
        self.slept += time;
    }

    /// Note what was done by `now`.
    pub(super) fn account(&mut self, now: Instant, packets: usize) {
        self.packets += packets;
        let elapsed = now.saturating_since(self.window);
        if elapsed < WINDOW {
            return;
        }
        self.busy = self.packets as f64 / elapsed.as_secs_f64() > BUSY_PACKETS as f64 / WINDOW.as_secs_f64();
        let rest = self.slept.as_secs_f64() / elapsed.as_secs_f64();
        if self.fifo && rest < RESTLESS {
            Scheduling::short_slice();
            self.fifo = false;
        } else if !self.fifo && self.best == Scheduling::Fifo && rest > RESTED {
            self.fifo = Scheduling::fifo();
        }
        (self.window, self.packets, self.spun, self.slept) = (now, 0, Duration::ZERO, Duration::ZERO);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effort() -> Effort {
        Effort::new(Scheduling::Default, Instant::from_nanos(0))
    }

    #[test]
    fn only_the_last_80_microseconds_are_spun() {
        let effort = effort();
        assert!(effort.may_spin(SPIN));
        assert!(!effort.may_spin(SPIN + Duration::from_nanos(1)));
        assert_eq!(effort.sleep_before(Duration::from_millis(1)), Duration::from_micros(920));
    }

    #[test]
    fn a_busy_link_does_not_spin() {
        let mut effort = effort();
        effort.account(Instant::from_nanos(100_000_000), BUSY_PACKETS + 1);
        assert!(!effort.may_spin(SPIN));
        assert_eq!(effort.sleep_before(Duration::from_millis(1)), Duration::from_millis(1));
        effort.account(Instant::from_nanos(200_000_000), BUSY_PACKETS);
        assert!(effort.may_spin(SPIN));
    }

    #[test]
    fn spinning_has_a_share_of_each_window() {
        let mut effort = effort();
        effort.spun(Duration::from_millis(40));
        assert!(!effort.may_spin(SPIN));
        effort.account(Instant::from_nanos(100_000_000), 0);
        assert!(effort.may_spin(SPIN));
    }
}
