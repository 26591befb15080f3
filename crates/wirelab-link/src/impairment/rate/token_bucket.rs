//! A rate that lets bursts pass without delay.

use std::num::NonZeroU64;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::queued::{Transmitter, overhead_words, queued};
use crate::facts::{Facts, RateFacts, kept_by};
use crate::impairment::spec::{Slot, Spec};
use crate::netem::{self, NetemRefusal, NetemStage};
use crate::queue::QueueSpec;
use crate::spec::values::rate;
use crate::spec::{Choices, Place, SpecError, words};
use crate::{Impairment, Instant, Seed};

const ABOUT: &str = "A token bucket that shapes (as Linux's tbf, tc-tbf(8)): tokens come at a rate up to burst-bytes, each packet \
    takes (IP bytes + overhead-bytes) of them and leaves as soon as there are enough; until then it waits, and so do those behind it. The bucket is \
    full at first. Over any time at most burst + rate x time leaves, exactly: integer arithmetic, tokens counted to the billionth of a bit. A \
    packet larger than the bucket is dropped. Unlike in Linux's tbf there is not a second bucket for a peak rate. The queue is as behind `rate`.";

/// A token bucket: packets leave without delay while there are tokens, which come at a rate. Starts full.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenBucketSpec {
    /// Rate of tokens.
    pub rate_bps: u64,
    /// Size of the bucket, in bytes of the same base as the rate; a larger packet is dropped.
    pub burst_bytes: u64,
    /// What waits for tokens.
    pub queue: QueueSpec,
    /// Bytes added to each packet's IP length.
    #[serde(default)]
    pub overhead_bytes: u32,
}

impl Spec for TokenBucketSpec {
    const ABOUT: &'static str = ABOUT;
    const SLOT: Slot = Slot::Rate;

    fn build(&self, _seed: Seed, at: &Place) -> Result<Box<dyn Impairment>, SpecError> {
        let rate = rate(self.rate_bps, at)?;
        queued(TokenBucket::new(rate, self.burst_bytes), &self.queue, self.overhead_bytes, at)
    }

    /// A smaller bucket would drop each full packet, as if a queue were full.
    fn check_mtu(&self, mtu: u32, at: &Place) -> Result<(), SpecError> {
        let largest = u64::from(mtu) + u64::from(self.overhead_bytes);
        if self.burst_bytes < largest {
            let what = format!("a bucket of {} bytes lets no packet of {largest} pass", self.burst_bytes);
            return Err(at.key("burst_bytes").error(what));
        }
        Ok(())
    }

    fn facts(&self) -> Facts {
        let pace = format!("{} after bursts of {}", words::rate(self.rate_bps), words::size(self.burst_bytes));
        let rate = RateFacts {
            lone_bps: None,
            steady_bps: None,
            changes: Some("its bucket fills again between probes".to_owned()),
            ..RateFacts::steady(self.rate_bps, self.overhead_bytes)
        };
        Facts {
            words: format!("{pace}{} behind {}", overhead_words(self.overhead_bytes), self.queue.words()),
            loss: None,
            delay: None,
            rate: Some(rate),
            queue: Some((&self.queue).into()),
            over_time: None,
            away: None,
            duplicated: None,
            corrupted: None,
            held_back: None,
            keeps: kept_by(&self.queue),
            per_packet: false,
            overtakes: false,
            of_one_packet: true,
            varies: None,
        }
    }

    fn queue(&self) -> Option<&QueueSpec> {
        Some(&self.queue)
    }

    fn netem(&self, at: &Place) -> Result<NetemStage, NetemRefusal> {
        let QueueSpec::DropTail { bytes: Some(bytes), packets: None } = self.queue else {
            let what = "tbf's queue is drop-tail, counted in bytes alone";
            return Err(NetemRefusal::new(&at.key("queue"), "queue", what).hint(r#"such as queue = "64 kB""#));
        };
        let small = |value: u64, json: &str, key: &str| {
            let what = format!("{value} is more than tbf can take (32 bits)");
            let refused = |_| NetemRefusal::new(&at.key(json), key, what).hint("less than 4.29 GB");
            u32::try_from(value).map_err(refused)
        };
        Ok(NetemStage::TokenBucket {
            bytes_per_second: netem::bytes_per_second(self.rate_bps, at)?,
            burst_bytes: small(self.burst_bytes, "burst_bytes", "burst")?,
            limit_bytes: small(bytes, "queue", "queue")?,
            overhead_bytes: netem::overhead(self.overhead_bytes, at)?,
        })
    }

    fn examples() -> Vec<Self> {
        let bucket = |queue| Self { rate_bps: 1_000_000, burst_bytes: 3000, queue, overhead_bytes: 14 };
        QueueSpec::examples().into_iter().map(bucket).collect()
    }

    fn arbitrary(choices: &mut Choices<'_>) -> Self {
        let (rate_bps, overhead_bytes) = (choices.rate_bps(), choices.small(0..20));
        let burst_bytes = choices.number(0..5000);
        Self { rate_bps, burst_bytes, queue: QueueSpec::arbitrary(choices), overhead_bytes }
    }
}

const NANOSECONDS: u128 = 1_000_000_000;

/// A bucket that tokens drip into: a packet leaves at the instant at which it finds enough of them.
#[derive(Debug)]
struct TokenBucket {
    rate_bps: NonZeroU64,
    burst_bytes: u64,
    /// When a packet last left.
    last: Instant,
    /// What it left in the bucket, in billionths of a bit: `rate_bps` of them come in a nanosecond.
    left: u128,
}

impl TokenBucket {
    /// A full bucket of `burst_bytes`.
    const fn new(rate_bps: NonZeroU64, burst_bytes: u64) -> Self {
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
