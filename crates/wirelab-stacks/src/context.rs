use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use tokio::io::unix::AsyncFd;
use tokio::sync::watch;
use wirelab_schema::EndpointParameters;

use crate::recorder::Recorder;

/// All that a stack is given to play its role.
pub struct Context {
    /// The endpoint's parameter file.
    pub parameters: EndpointParameters,
    /// The only source of time.
    pub clock: Arc<dyn Clock>,
    /// Where a client's exchanges go.
    pub recorder: Box<dyn Recorder>,
    /// Tells when to end early.
    pub stop: Stop,
    /// Called once by a server when it accepts connections.
    pub ready: Ready,
}

/// Told by a server which ports it listens on, by purpose.
pub type Ready = Box<dyn FnOnce(BTreeMap<String, u16>) + Send>;

/// Time as exchanges record it.
pub trait Clock: Send + Sync {
    /// Nanoseconds of CLOCK_MONOTONIC.
    fn now_ns(&self) -> u64;

    /// Completes at `instant_ns`, or at once if that has passed.
    fn sleep_until(&self, instant_ns: u64) -> BoxFuture<'static, ()>;
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

async fn sleep_on_timerfd(instant_ns: u64) -> io::Result<()> {
    let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC)?;
    let instant = TimeSpec::from_duration(Duration::from_nanos(instant_ns));
    timer.set(Expiration::OneShot(instant), TimerSetTimeFlags::TFD_TIMER_ABSTIME)?;
    #[expect(deprecated, reason = "unsound only for types whose descriptor may change; an OwnedFd's does not")]
    let timer = AsyncFd::new(OwnedFd::from(timer))?;
    timer.readable().await.map(drop)
}

/// A pair: the first asks for the end, the second waits for it.
pub fn stop_signal() -> (Stopper, Stop) {
    let (sender, receiver) = watch::channel(false);
    (Stopper(sender), Stop(receiver))
}

/// Asks an endpoint to end. Dropping it asks too.
pub struct Stopper(watch::Sender<bool>);

impl Stopper {
    /// Ask.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

/// Waits for the request to end.
#[derive(Clone)]
pub struct Stop(watch::Receiver<bool>);

impl Stop {
    /// Completes once the end was asked for.
    pub async fn stopped(&mut self) {
        // An error means that the stopper is gone, which asks for the end as well.
        let _ = self.0.wait_for(|stopped| *stopped).await;
    }
}

/// Why an endpoint ended otherwise than by finishing its work. Failed exchanges are data, not an error.
#[derive(Debug, thiserror::Error)]
pub enum StackError {
    /// It does not do this stack, role, workload or setting (exit code 3).
    #[error("{0}")]
    Unsupported(String),
    /// A parameter cannot be read or is out of range (exit code 2).
    #[error("{0}")]
    Usage(String),
    /// It could not do its work (exit code 1).
    #[error("{0}")]
    Failed(String),
}

impl StackError {
    /// A failure with what was being attempted.
    pub fn failed(doing: impl std::fmt::Display, error: impl std::fmt::Display) -> Self {
        StackError::Failed(format!("{doing}: {error}"))
    }
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

    #[tokio::test]
    async fn a_dropped_stopper_stops() {
        let (stopper, mut stop) = stop_signal();
        drop(stopper);
        stop.stopped().await;
    }
}
