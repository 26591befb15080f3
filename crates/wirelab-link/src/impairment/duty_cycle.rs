use std::num::NonZeroU64;
use std::time::Duration;

use super::queued::Transmitter;
use super::serialiser::Serialiser;
use crate::{Instant, ParameterError};

pub(super) const ABOUT: &str = "A sender that may use the air only for a share of the time (ETSI EN 300 220-2 V3.2.1, clause 4.3.3: 1 % from 868.0 \
    to 868.6 MHz): a packet takes (IP bytes + overhead-bytes) x 8 / rate to send, and after it the sender is silent for airtime x (1 / share - 1), \
    as LoRaWAN L2 1.0.4 has it; packets wait meanwhile. One sub-band, and no credit for airtime that was not used, though the standard \
    itself limits the sum over an hour. The queue is as behind `rate`.";

/// Sends at a fixed rate, and is silent after each packet.
#[derive(Debug)]
pub struct DutyCycle {
    serialiser: Serialiser,
    /// How long it is silent for each nanosecond of airtime.
    silence: f64,
    silent_until: Instant,
}

impl DutyCycle {
    /// A sender at `rate_bps` that may use a `share` of the time, above 0 and at most 1; else what is wrong.
    pub fn new(rate_bps: NonZeroU64, share: f64) -> Result<Self, ParameterError> {
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
