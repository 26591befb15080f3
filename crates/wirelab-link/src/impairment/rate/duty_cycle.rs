//! A sender that may use only a share of the time.

use std::num::NonZeroU64;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::queued::{Transmitter, overhead_words, queued};
use super::serialiser::Serialiser;
use crate::facts::{Facts, RateFacts, kept_by};
use crate::impairment::spec::{Slot, Spec};
use crate::netem::{NetemRefusal, NetemStage};
use crate::queue::QueueSpec;
use crate::spec::values::rate;
use crate::spec::{Choices, Place, SpecError, words};
use crate::{Impairment, Instant, ParameterError, Seed};

const ABOUT: &str = "A sender that may use the air only for a share of the time (ETSI EN 300 220-2 V3.2.1, clause 4.3.3: 1 % from 868.0 \
    to 868.6 MHz): a packet takes (IP bytes + overhead-bytes) x 8 / rate to send, and after it the sender is silent for airtime x (1 / share - 1), \
    as LoRaWAN L2 1.0.4 has it; packets wait meanwhile. One sub-band, and no credit for airtime that was not used, though the standard \
    itself limits the sum over an hour. The queue is as behind `rate`.";

/// A sender that may use only a share of the time: after each packet it is silent for airtime × (1 / share − 1) (ETSI EN 300 220, LoRaWAN).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DutyCycleSpec {
    /// Rate at which packets are serialised, counting IP bytes plus `overhead_bytes` for each packet.
    pub rate_bps: u64,
    /// Share of the time that may be used, above 0 and at most 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f64,
    /// What waits.
    pub queue: QueueSpec,
    /// Bytes added to each packet's IP length.
    #[serde(default)]
    pub overhead_bytes: u32,
}

impl Spec for DutyCycleSpec {
    const ABOUT: &'static str = ABOUT;
    const SLOT: Slot = Slot::Rate;

    fn build(&self, _seed: Seed, at: &Place) -> Result<Box<dyn Impairment>, SpecError> {
        let cycle = DutyCycle::new(rate(self.rate_bps, at)?, self.share).map_err(|what| at.key("share").error(what))?;
        queued(cycle, &self.queue, self.overhead_bytes, at)
    }

    fn facts(&self) -> Facts {
        let pace = format!("{} for {} of the time", words::rate(self.rate_bps), words::share(self.share));
        let busy_bps = self.rate_bps as f64 * self.share;
        let rate = RateFacts {
            mean_bps: Some(busy_bps.round_ties_even() as u64),
            busy_bps,
            steady_bps: None,
            changes: Some("after each packet it is silent for longer than probes last".to_owned()),
            sparse: Some("the duty cycle lets no more be sent in this time".to_owned()),
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
            of_one_packet: false,
            varies: None,
        }
    }

    fn queue(&self) -> Option<&QueueSpec> {
        Some(&self.queue)
    }

    fn netem(&self, at: &Place) -> Result<NetemStage, NetemRefusal> {
        Err(NetemRefusal::absent("duty-cycle", at, "duty-cycle"))
    }

    fn examples() -> Vec<Self> {
        let cycle = |queue| Self { rate_bps: 10_000_000, share: 0.1, queue, overhead_bytes: 13 };
        QueueSpec::examples().into_iter().map(cycle).collect()
    }

    fn arbitrary(choices: &mut Choices<'_>) -> Self {
        let (rate_bps, overhead_bytes) = (choices.number(1_000_000..50_000_000), choices.small(0..20));
        let share = if choices.flag() { 0.1 + 0.9 * choices.unit() } else { 1.0 };
        Self { rate_bps, share, queue: QueueSpec::arbitrary(choices), overhead_bytes }
    }
}

/// Sends at a fixed rate, and is silent after each packet.
#[derive(Debug)]
struct DutyCycle {
    serialiser: Serialiser,
    /// How long it is silent for each nanosecond of airtime.
    silence: f64,
    silent_until: Instant,
}

impl DutyCycle {
    /// A sender at `rate_bps` that may use a `share` of the time, above 0 and at most 1; else what is wrong.
    fn new(rate_bps: NonZeroU64, share: f64) -> Result<Self, ParameterError> {
        if !(share > 0.0 && share <= 1.0) {
            return Err(ParameterError::new(format!("{share} is not a share of the time (above 0, at most 1)")));
        }
        let serialiser = Serialiser::new(rate_bps);
        Ok(Self { serialiser, silence: 1.0 / share - 1.0, silent_until: Instant::default() })
    }
}

impl Transmitter for DutyCycle {
    fn begins(&self, _bytes: u64, arrival: Instant) -> Instant {
        self.serialiser.free_at().max(self.silent_until).max(arrival)
    }

    fn send(&mut self, bytes: u64, arrival: Instant) -> Instant {
        let begins = self.begins(bytes, arrival);
        let sent = self.serialiser.send(bytes, self.silent_until.max(arrival));
        let airtime = sent.saturating_since(begins).as_nanos() as f64;
        let silence = (airtime * self.silence).ceil() as u64;
        if silence > 0 {
            self.silent_until = sent + Duration::from_nanos(silence);
        }
        sent
    }
}
