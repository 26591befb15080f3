//! Transmission parameters of RFC 7252, section 4.8. It keeps no timer.

use std::time::Duration;

/// Transmission parameters of RFC 7252, section 4.8, with the defaults of its table 2.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// ACK_TIMEOUT: the shortest first wait for an acknowledgement.
    pub ack_timeout: Duration,
    /// ACK_RANDOM_FACTOR in per cent, at least 100: the first wait is drawn between ACK_TIMEOUT and this much of it.
    pub ack_random_factor_percent: u32,
    /// MAX_RETRANSMIT.
    pub max_retransmit: u32,
    /// NSTART: interactions that may be outstanding to the peer at once.
    pub nstart: usize,
    /// DEFAULT_LEISURE: the longest random wait before the answer to a multicast request (section 8.2).
    pub default_leisure: Duration,
    /// PROBING_RATE in bytes per second: the average rate at which non-confirmable requests go to a peer that does not answer.
    pub probing_rate: u64,
    /// MAX_LATENCY: how long a datagram may be under way (section 4.8.2).
    pub max_latency: Duration,
    /// How the wait grows from one retransmission to the next.
    pub backoff: Backoff,
}

/// How the wait for an acknowledgement grows. RFC 7252 (section 4.2) has the exponential one with 200 %.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backoff {
    /// Each wait is this many per cent of the one before.
    Exponential {
        /// At least 100.
        factor_percent: u32,
    },
    /// Every wait is the first one.
    Fixed,
    /// The n-th wait is n times the first.
    Linear,
}

impl Default for Parameters {
    fn default() -> Self {
        Parameters {
            ack_timeout: Duration::from_secs(2),
            ack_random_factor_percent: 150,
            max_retransmit: 4,
            nstart: 1,
            default_leisure: Duration::from_secs(5),
            probing_rate: 1,
            max_latency: Duration::from_secs(100),
            backoff: Backoff::Exponential { factor_percent: 200 },
        }
    }
}

impl Parameters {
    /// The wait after transmission number `transmission` (0 is the first) of a message whose first wait is `first_ns`.
    pub fn wait_ns(&self, first_ns: u64, transmission: u32) -> u64 {
        match self.backoff {
            Backoff::Fixed => first_ns,
            Backoff::Linear => first_ns.saturating_mul(u64::from(transmission) + 1),
            Backoff::Exponential { factor_percent } => {
                (0..transmission).fold(first_ns, |wait, _| percent(wait, factor_percent))
            }
        }
    }

    /// ACK_TIMEOUT * ACK_RANDOM_FACTOR: the longest first wait.
    pub fn longest_first_wait(&self) -> Duration {
        Duration::from_nanos(percent(nanos(self.ack_timeout), self.ack_random_factor_percent))
    }

    /// MAX_TRANSMIT_SPAN: from the first transmission of a confirmable message to its last.
    pub fn max_transmit_span(&self) -> Duration {
        self.waits(self.max_retransmit)
    }

    /// MAX_TRANSMIT_WAIT: from the first transmission of a confirmable message to when its sender gives up.
    pub fn max_transmit_wait(&self) -> Duration {
        self.waits(self.max_retransmit + 1)
    }

    /// PROCESSING_DELAY: how long a node may take to turn a confirmable message into an acknowledgement.
    pub fn processing_delay(&self) -> Duration {
        self.ack_timeout
    }

    /// MAX_RTT.
    pub fn max_rtt(&self) -> Duration {
        self.max_latency.saturating_mul(2).saturating_add(self.processing_delay())
    }

    /// EXCHANGE_LIFETIME: how long a message ID of a confirmable message is not to be used again.
    pub fn exchange_lifetime(&self) -> Duration {
        self.max_transmit_span().saturating_add(self.max_rtt())
    }

    /// NON_LIFETIME: the same for a non-confirmable message.
    pub fn non_lifetime(&self) -> Duration {
        self.max_transmit_span().saturating_add(self.max_latency)
    }

    fn waits(&self, count: u32) -> Duration {
        let first_ns = nanos(self.longest_first_wait());
        Duration::from_nanos((0..count).fold(0u64, |sum, number| sum.saturating_add(self.wait_ns(first_ns, number))))
    }
}

/// Nanoseconds of a duration, the largest number for what is longer than 584 years.
pub fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn percent(value: u64, percent: u32) -> u64 {
    u64::try_from(u128::from(value) * u128::from(percent) / 100).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_values_are_those_of_table_3() {
        let parameters = Parameters::default();
        let seconds = [
            parameters.max_transmit_span(),
            parameters.max_transmit_wait(),
            parameters.processing_delay(),
            parameters.max_rtt(),
            parameters.exchange_lifetime(),
            parameters.non_lifetime(),
        ]
        .map(|value| value.as_secs_f64());
        assert_eq!(seconds, [45.0, 93.0, 2.0, 202.0, 247.0, 145.0]);
    }

    #[test]
    fn the_span_follows_the_backoff() {
        let with = |backoff| Parameters { backoff, ..Parameters::default() };
        let spans = [Backoff::Fixed, Backoff::Linear, Backoff::Exponential { factor_percent: 150 }]
            .map(|backoff| with(backoff).max_transmit_span().as_millis());
        // Of 3 s: 4 times; 1 + 2 + 3 + 4 times; 1 + 1.5 + 2.25 + 3.375 times.
        assert_eq!(spans, [12_000, 30_000, 24_375]);
    }

    #[test]
    fn absurd_values_end_at_the_largest_number_and_not_in_an_overflow() {
        let parameters = Parameters {
            ack_timeout: Duration::MAX,
            max_retransmit: 200,
            backoff: Backoff::Exponential { factor_percent: 1_000 },
            ..Parameters::default()
        };
        assert_eq!(nanos(parameters.max_transmit_wait()), u64::MAX);
        assert!(parameters.exchange_lifetime() >= parameters.max_transmit_span());
    }
}
