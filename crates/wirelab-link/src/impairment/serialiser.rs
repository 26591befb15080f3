use std::num::NonZeroU64;

use crate::Instant;

const NANOSECONDS: u128 = 1_000_000_000;

/// Sends one packet at a time at a fixed rate, exactly: what a packet's duration leaves over below a nanosecond is carried to the next, so that
/// no error accumulates. Instants given out are rounded up: by then the last bit is sent.
#[derive(Debug)]
pub(crate) struct Serialiser {
    rate_bps: NonZeroU64,
    overhead_bytes: u32,
    /// When the last packet is sent: nanoseconds, and beyond them `finish_part / rate_bps` of one.
    finish_ns: u64,
    finish_part: u64,
}

impl Serialiser {
    pub(crate) const fn new(rate_bps: NonZeroU64, overhead_bytes: u32) -> Self {
        Self { rate_bps, overhead_bytes, finish_ns: 0, finish_part: 0 }
    }

    /// Bytes that a packet of `size` IP bytes takes at this rate.
    pub(crate) fn bytes(&self, size: u32) -> u64 {
        u64::from(size) + u64::from(self.overhead_bytes)
    }

    /// When everything accepted so far is sent.
    pub(crate) fn free_at(&self) -> Instant {
        Instant::from_nanos(self.finish_ns.saturating_add(u64::from(self.finish_part > 0)))
    }

    /// Send a packet of `size` IP bytes, available from `now` on, behind all others; returns when it is sent.
    pub(crate) fn send(&mut self, size: u32, now: Instant) -> Instant {
        self.send_bytes(self.bytes(size), now)
    }

    /// The same for a packet that takes `bytes` in all.
    pub(crate) fn send_bytes(&mut self, bytes: u64, now: Instant) -> Instant {
        if self.free_at() <= now {
            (self.finish_ns, self.finish_part) = (now.as_nanos(), 0);
        }
        let rate = u128::from(self.rate_bps.get());
        let parts = u128::from(self.finish_part) + u128::from(bytes) * 8 * NANOSECONDS;
        self.finish_ns = self.finish_ns.saturating_add(u64::try_from(parts / rate).unwrap_or(u64::MAX));
        self.finish_part = (parts % rate) as u64;
        self.free_at()
    }
}
