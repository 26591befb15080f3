//! The spin policy of the link's thread: when it sleeps and when it spins to meet a deadline.

use std::time::Duration;

use wirelab_link::Instant;

use super::Waits;
use crate::scheduling::Scheduling;

/// Spinning begins at least this long before a deadline: about the wake-up latency on bare metal.
const SHORTEST_SPIN: Duration = Duration::from_micros(80);
/// And at most this long: the wake-up latency on an idle virtual machine.
const LONGEST_SPIN: Duration = Duration::from_micros(320);
const WINDOW: Duration = Duration::from_millis(100);
/// 5,000 packets a second: beyond, waiting is short anyway and spinning would leave no time to sleep.
const BUSY_PACKETS: usize = 500;
/// Share of a window that may be spun.
const SPIN_SHARE: f64 = 0.4;
/// Above this share long spins stop; below a third of it they resume.
const EASY_SHARE: f64 = 0.2;
/// A SCHED_FIFO thread that sleeps less than this share of a window leaves SCHED_FIFO, since the kernel throttles real-time threads at 95 %.
const RESTLESS: f64 = 0.15;
/// It returns to SCHED_FIFO when it sleeps more than this.
const RESTED: f64 = 0.5;

/// How long the loop may spin, from its last 100 ms and how late the kernel woke it.
pub(super) struct SpinPolicy {
    best: Scheduling,
    waits: Waits,
    fifo: bool,
    window: Instant,
    packets: usize,
    busy: bool,
    spun: Duration,
    slept: Duration,
    /// How late the kernel wakes the thread: quick to rise, slow to fall.
    oversleep: Duration,
    longest_spin: Duration,
}

impl SpinPolicy {
    pub(super) fn new(best: Scheduling, waits: Waits, now: Instant) -> Self {
        Self {
            best,
            waits,
            fifo: best == Scheduling::Fifo,
            window: now,
            packets: 0,
            busy: false,
            spun: Duration::ZERO,
            slept: Duration::ZERO,
            oversleep: Duration::ZERO,
            longest_spin: LONGEST_SPIN,
        }
    }

    /// True if the `left` time to a deadline may be spun.
    pub(super) fn may_spin(&self, left: Duration) -> bool {
        self.waits == Waits::Spinning && left <= self.spin() && !self.busy && self.spun < WINDOW.mul_f64(SPIN_SHARE)
    }

    /// How much of the `left` time to a deadline to sleep.
    pub(super) fn sleep_before(&self, left: Duration) -> Duration {
        if self.waits == Waits::Asleep || self.busy || left <= self.spin() { left } else { left - self.spin() }
    }

    pub(super) fn spun(&mut self, time: Duration) {
        self.spun += time;
    }

    /// Note a sleep of `time`, which should have taken `wanted` unless something came first.
    pub(super) fn slept(&mut self, time: Duration, wanted: Option<Duration>) {
        self.slept += time;
        // If it was later than that, another thread had the CPU: spinning would not help, and lowers the priority in the fair scheduler.
        let late = wanted.and_then(|wanted| time.checked_sub(wanted)).filter(|late| *late <= LONGEST_SPIN);
        let Some(late) = late else { return };
        if late > self.oversleep {
            self.oversleep += (late - self.oversleep) / 4;
        } else {
            self.oversleep -= (self.oversleep - late) / 64;
        }
    }

    /// Note what was done by `now`.
    pub(super) fn account(&mut self, now: Instant, packets: usize) {
        self.packets += packets;
        let elapsed = now.saturating_since(self.window);
        if elapsed < WINDOW {
            return;
        }
        let share = |time: Duration| time.as_secs_f64() / elapsed.as_secs_f64();
        self.busy = self.packets as f64 / elapsed.as_secs_f64() > BUSY_PACKETS as f64 / WINDOW.as_secs_f64();
        if share(self.spun) > EASY_SHARE {
            self.longest_spin = (self.longest_spin / 2).max(SHORTEST_SPIN);
        } else if share(self.spun) < EASY_SHARE / 3.0 {
            self.longest_spin = (self.longest_spin * 2).min(LONGEST_SPIN);
        }
        if self.fifo && share(self.slept) < RESTLESS {
            Scheduling::short_slice();
            self.fifo = false;
        } else if !self.fifo && self.best == Scheduling::Fifo && share(self.slept) > RESTED {
            self.fifo = Scheduling::fifo();
        }
        (self.window, self.packets, self.spun, self.slept) = (now, 0, Duration::ZERO, Duration::ZERO);
    }

    /// How long before a deadline spinning begins.
    fn spin(&self) -> Duration {
        (self.oversleep + self.oversleep / 4).clamp(SHORTEST_SPIN, self.longest_spin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy() -> SpinPolicy {
        SpinPolicy::new(Scheduling::Default, Waits::Spinning, Instant::from_nanos(0))
    }

    fn window(number: u64) -> Instant {
        Instant::from_nanos(100_000_000 * number)
    }

    #[test]
    fn only_the_last_microseconds_are_spun() {
        let policy = policy();
        assert!(policy.may_spin(SHORTEST_SPIN));
        assert!(!policy.may_spin(SHORTEST_SPIN + Duration::from_nanos(1)));
        assert_eq!(policy.sleep_before(Duration::from_millis(1)), Duration::from_micros(920));
    }

    #[test]
    fn where_spinning_takes_no_time_nothing_is_spun() {
        let policy = SpinPolicy::new(Scheduling::Default, Waits::Asleep, Instant::from_nanos(0));
        assert!(!policy.may_spin(Duration::from_nanos(1)));
        assert_eq!(policy.sleep_before(Duration::from_millis(1)), Duration::from_millis(1));
    }

    #[test]
    fn a_kernel_that_wakes_late_is_given_more_time() {
        let mut policy = policy();
        let wanted = Duration::from_millis(5);
        for _ in 0..100 {
            policy.slept(wanted + Duration::from_micros(200), Some(wanted));
        }
        assert!(policy.may_spin(Duration::from_micros(240)));
        for _ in 0..1000 {
            policy.slept(wanted + Duration::from_micros(10), Some(wanted));
        }
        assert!(!policy.may_spin(Duration::from_micros(100)));
    }

    #[test]
    fn a_sleep_that_a_packet_cut_short_says_nothing_about_the_kernel() {
        let mut policy = policy();
        policy.slept(Duration::from_millis(1), Some(Duration::from_millis(5)));
        policy.slept(Duration::from_secs(1), None);
        assert_eq!(policy.oversleep, Duration::ZERO);
    }

    #[test]
    fn a_machine_too_busy_to_wake_us_is_not_answered_with_more_spinning() {
        let mut policy = policy();
        for _ in 0..100 {
            policy.slept(Duration::from_millis(10), Some(Duration::from_millis(5)));
        }
        assert_eq!(policy.spin(), SHORTEST_SPIN);
    }

    #[test]
    fn a_busy_link_does_not_spin() {
        let mut policy = policy();
        policy.account(window(1), BUSY_PACKETS + 1);
        assert!(!policy.may_spin(SHORTEST_SPIN));
        assert_eq!(policy.sleep_before(Duration::from_millis(1)), Duration::from_millis(1));
        policy.account(window(2), BUSY_PACKETS);
        assert!(policy.may_spin(SHORTEST_SPIN));
    }

    #[test]
    fn spinning_has_a_share_of_each_window() {
        let mut policy = policy();
        policy.spun(Duration::from_millis(40));
        assert!(!policy.may_spin(SHORTEST_SPIN));
        policy.account(window(1), 0);
        assert!(policy.may_spin(SHORTEST_SPIN));
    }

    #[test]
    fn long_spins_stop_when_they_cost_too_much() {
        let mut policy = policy();
        policy.oversleep = LONGEST_SPIN;
        for number in 1..=2 {
            policy.spun(Duration::from_millis(30));
            policy.account(window(number), 100);
        }
        assert_eq!(policy.spin(), SHORTEST_SPIN);
        policy.account(window(3), 1);
        assert_eq!(policy.spin(), 2 * SHORTEST_SPIN);
    }
}
