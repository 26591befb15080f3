//! Clocks that stamp exchanges: the system's, and those of tests. Nothing else in this crate reads time.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, SystemTime};

use futures_util::future::BoxFuture;
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use tokio::io::unix::AsyncFd;

/// Time as exchanges record it.
pub trait Clock: Send + Sync {
    /// Nanoseconds of CLOCK_MONOTONIC.
    fn now_ns(&self) -> u64;

    /// Completes at `instant_ns`, or at once if that has passed.
    fn sleep_until(&self, instant_ns: u64) -> BoxFuture<'static, ()>;

    /// The time of day, for fields that peers read: nothing is measured with it.
    fn time_of_day(&self) -> SystemTime {
        SystemTime::now()
    }

    /// False of a clock that is for protocols' timers alone: then exchanges are not stamped.
    fn measures(&self) -> bool {
        true
    }
}

/// The same for protocols' timers alone: what exchanges take without being measured shows what measuring takes.
pub struct TimersClock;

impl Clock for TimersClock {
    fn now_ns(&self) -> u64 {
        SystemClock.now_ns()
    }

    fn sleep_until(&self, instant_ns: u64) -> BoxFuture<'static, ()> {
        SystemClock.sleep_until(instant_ns)
    }

    fn measures(&self) -> bool {
        false
    }
}

/// The kernel's CLOCK_MONOTONIC. Sleeps on a timerfd, because tokio's own timer counts in milliseconds, which would add up to 1 ms to the start
/// of each open-loop exchange.
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_ns(&self) -> u64 {
        let now = nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC).expect("Linux has CLOCK_MONOTONIC");
        Duration::from(now).as_nanos() as u64
    }

    fn sleep_until(&self, instant_ns: u64) -> BoxFuture<'static, ()> {
        let remaining = instant_ns.saturating_sub(self.now_ns());
        Box::pin(async move {
            if remaining > 0 && sleep_on_timerfd(instant_ns).await.is_err() {
                tokio::time::sleep(Duration::from_nanos(remaining)).await;
            }
        })
    }
}

/// One instant of std's clock and of `clock`, for libraries that are told the time as [`Instant`](std::time::Instant).
pub fn epoch(clock: &dyn Clock) -> (std::time::Instant, u64) {
    (std::time::Instant::now(), clock.now_ns())
}

async fn sleep_on_timerfd(instant_ns: u64) -> io::Result<()> {
    let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC)?;
    let instant = TimeSpec::from_duration(Duration::from_nanos(instant_ns));
    timer.set(Expiration::OneShot(instant), TimerSetTimeFlags::TFD_TIMER_ABSTIME)?;
    #[expect(deprecated, reason = "unsound only for types whose descriptor may change; an OwnedFd's does not")]
    let timer = AsyncFd::new(OwnedFd::from(timer))?;
    timer.readable().await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_system_clock_never_wakes_early() {
        let clock = SystemClock;
        let instant = clock.now_ns() + 300_000;
        clock.sleep_until(instant).await;
        assert!(clock.now_ns() >= instant);
    }
}
