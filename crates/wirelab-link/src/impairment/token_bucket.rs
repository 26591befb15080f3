use std::num::NonZeroU64;
use std::time::Duration;

use super::queued::Transmitter;
use crate::Instant;

pub(super) const ABOUT: &str = "A token bucket that shapes (as Linux's tbf, tc-tbf(8)): tokens come at a rate up to burst-bytes, each packet \
    takes (IP bytes + overhead-bytes) of them and leaves at once when there are enough; until then it waits, and those behind it. The bucket is \
    full at first. Over any time at most burst + rate x time leaves, exactly: integer arithmetic, tokens counted to the billionth of a bit. A \
    packet larger than the bucket is dropped. Unlike Linux's tbf there is no second bucket for a peak rate. The queue is as behind `rate`.";

const NANOSECONDS: u128 = 1_000_000_000;

/// A bucket that tokens drip into: a packet leaves at the instant at which it finds enough of them.
#[derive(Debug)]
pub struct TokenBucket {
    rate_bps: NonZeroU64,
    burst_bytes: u64,
    /// When a packet last left.
    last: Instant,
    /// What it left in the bucket, in billionths of a bit: `rate_bps` of them come in a nanosecond.
    left: u128,
}

impl TokenBucket {
    /// A full bucket of `burst_bytes`.
    pub const fn new(rate_bps: NonZeroU64, burst_bytes: u64) -> Self {
        Self { rate_bps, burst_bytes, last: Instant::from_nanos(0), left: tokens(burst_bytes) }
    }

    /// Tokens at `now`, which is not before the last departure.
    fn tokens_at(&self, now: Instant) -> u128 {
        let elapsed = now.as_nanos().saturating_sub(self.last.as_nanos());
        let dripped = u128::from(self.rate_bps.get()) * u128::from(elapsed);
        self.left.saturating_add(dripped).min(tokens(self.burst_bytes))
    }
}

impl Transmitter for TokenBucket {
    fn takes(&self, bytes: u64) -> bool {
        bytes <= self.burst_bytes
    }

    fn begins(&self, bytes: u64, arrival: Instant) -> Instant {
        let next = self.last.max(arrival);
        let missing = tokens(bytes).saturating_sub(self.tokens_at(next));
        let wait = missing.div_ceil(u128::from(self.rate_bps.get()));
        next + Duration::from_nanos(u64::try_from(wait).unwrap_or(u64::MAX))
    }

    fn send(&mut self, bytes: u64, arrival: Instant) -> Instant {
        let begins = self.begins(bytes, arrival);
        self.left = self.tokens_at(begins).saturating_sub(tokens(bytes));
        self.last = begins;
        begins
    }
}

const fn tokens(bytes: u64) -> u128 {
    bytes as u128 * 8 * NANOSECONDS
}
