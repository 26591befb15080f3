use std::num::NonZeroU64;

use super::queued::Transmitter;
use super::serialiser::Serialiser;
use crate::Instant;

pub(super) const ABOUT: &str = "Serialisation at a fixed rate behind a queue: a packet takes (IP bytes + overhead-bytes) x 8 / rate to send and \
    leaves with its last bit; the next waits. An idle rate takes a packet of any size. Exact integer arithmetic, with no burst allowance (unlike a \
    token bucket such as tbf). A loss behind it has used its airtime, as on a radio; a loss before it has not. The queue is drop-tail: as many \
    bytes or packets as told may wait behind the packet being sent, and an arrival that does not fit is dropped; or CoDel (RFC 8289), which drops \
    from the head when packets have waited longer than target for an interval, then once more after every interval / sqrt(drops so far); or FQ-CoDel \
    (RFC 8290): flows in queues of their own, served in turn by quantum-bytes, those that have just begun first, each under CoDel. CoDel never \
    drops a packet that leaves 1500 bytes or less behind it.";

/// Sends at a fixed rate, one packet at a time.
#[derive(Debug)]
pub struct Rate(Serialiser);

impl Rate {
    /// A rate of `rate_bps`.
    pub const fn new(rate_bps: NonZeroU64) -> Self {
        Self(Serialiser::new(rate_bps))
    }
}

impl Transmitter for Rate {
    fn begins(&self, _bytes: u64, arrival: Instant) -> Instant {
        self.0.free_at().max(arrival)
    }

    fn send(&mut self, bytes: u64, arrival: Instant) -> Instant {
        self.0.send(bytes, arrival)
    }
}
