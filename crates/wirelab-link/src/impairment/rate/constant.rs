//! A rate that never changes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::queued::{Transmitter, overhead_words, queued};
use super::serialiser::Serialiser;
use crate::facts::{Facts, RateFacts, kept_by};
use crate::impairment::spec::{Slot, Spec};
use crate::netem::{self, NetemRefusal, NetemStage};
use crate::queue::QueueSpec;
use crate::spec::values::rate;
use crate::spec::{Choices, Place, SpecError, words};
use crate::{Impairment, Instant, Seed};

const ABOUT: &str = "Serialisation at a fixed rate behind a queue: a packet takes (IP bytes + overhead-bytes) x 8 / rate to send and \
    leaves with its last bit; the next waits. An idle rate takes a packet of any size. Exact integer arithmetic, with no burst allowance (unlike a \
    token bucket such as tbf). A loss after it has used its airtime, as on a radio; a loss before it has not. The queue is drop-tail: up to the \
    configured bytes or packets may wait behind the packet being sent, and an arrival that does not fit is dropped; or CoDel (RFC 8289), which drops \
    from the head when packets have waited longer than target for an interval, then once more after every interval / sqrt(drops so far); or FQ-CoDel \
    (RFC 8290): flows in queues of their own, served in turn by quantum-bytes, those that have just begun first, each under CoDel. CoDel never \
    drops a packet that leaves 1500 bytes or less behind it.";

/// Serialisation at a fixed rate behind a queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateSpec {
    /// Rate at which packets are serialised, counting IP bytes plus `overhead_bytes` for each packet.
    pub rate_bps: u64,
    /// What waits behind the packet being sent, in bytes of the same base as the rate.
    pub queue: QueueSpec,
    /// Bytes added to each packet's IP length, for example 14 for an Ethernet header. May be 0.
    #[serde(default)]
    pub overhead_bytes: u32,
}

impl Spec for RateSpec {
    const ABOUT: &'static str = ABOUT;
    const SLOT: Slot = Slot::Rate;

    fn build(&self, _seed: Seed, at: &Place) -> Result<Box<dyn Impairment>, SpecError> {
        queued(Rate(Serialiser::new(rate(self.rate_bps, at)?)), &self.queue, self.overhead_bytes, at)
    }

    fn facts(&self) -> Facts {
        let pace = words::rate(self.rate_bps);
        Facts {
            words: format!("{pace}{} behind {}", overhead_words(self.overhead_bytes), self.queue.words()),
            loss: None,
            delay: None,
            rate: Some(RateFacts::steady(self.rate_bps, self.overhead_bytes)),
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
        let QueueSpec::DropTail { bytes: None, packets: Some(packets) } = self.queue else {
            let what = "netem's queue is drop-tail, counted in packets alone";
            return Err(NetemRefusal::new(&at.key("queue"), "queue", what).hint(r#"such as queue = "100 packets""#));
        };
        let bytes_per_second = netem::bytes_per_second(self.rate_bps, at)?;
        Ok(NetemStage::Rate { bytes_per_second, overhead_bytes: netem::overhead(self.overhead_bytes, at)?, packets })
    }

    fn examples() -> Vec<Self> {
        let rate = |queue| Self { rate_bps: 1_000_000, queue, overhead_bytes: 14 };
        QueueSpec::examples().into_iter().map(rate).collect()
    }

    fn arbitrary(choices: &mut Choices<'_>) -> Self {
        let (rate_bps, overhead_bytes) = (choices.rate_bps(), choices.small(0..20));
        Self { rate_bps, queue: QueueSpec::arbitrary(choices), overhead_bytes }
    }
}

/// Sends at a fixed rate, one packet at a time.
#[derive(Debug)]
struct Rate(Serialiser);

impl Transmitter for Rate {
    fn begins(&self, _bytes: u64, arrival: Instant) -> Instant {
        self.0.free_at().max(arrival)
    }

    fn send(&mut self, bytes: u64, arrival: Instant) -> Instant {
        self.0.send(bytes, arrival)
    }
}
