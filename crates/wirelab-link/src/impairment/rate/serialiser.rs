//! Exact serialisation at one rate.

use std::num::NonZeroU64;

use crate::Instant;

const NANOSECONDS: u128 = 1_000_000_000;

/// Sends one packet at a time at a fixed rate, exactly: what a packet's duration leaves over below a nanosecond is carried to the next, so that
/// no error accumulates. Instants given out are rounded up: by then the last bit is sent.
#[derive(Debug)]
pub(crate) struct Serialiser {
    rate_bps: NonZeroU64,
    /// When the last packet is sent: nanoseconds, and beyond them `finish_part / rate_bps` of one.
    finish_ns: u64,
    finish_part: u64,
}

impl Serialiser {
    pub(crate) const fn new(rate_bps: NonZeroU64) -> Self {
        Self { rate_bps, finish_ns: 0, finish_part: 0 }
    }

    /// When everything accepted so far is sent.
    pub(crate) fn free_at(&self) -> Instant {
        Instant::from_nanos(self.finish_ns.saturating_add(u64::from(self.finish_part > 0)))
    }

    /// Send `bytes` that wait since `arrival`, behind all others; returns when they are sent.
    pub(crate) fn send(&mut self, bytes: u64, arrival: Instant) -> Instant {
        if self.free_at() <= arrival {
            (self.finish_ns, self.finish_part) = (arrival.as_nanos(), 0);
        }
        let rate = u128::from(self.rate_bps.get());
        let parts = u128::from(self.finish_part) + u128::from(bytes) * 8 * NANOSECONDS;
        self.finish_ns = self.finish_ns.saturating_add(u64::try_from(parts / rate).unwrap_or(u64::MAX));
        self.finish_part = (parts % rate) as u64;
        self.free_at()
    }
}
