//! Counts and histograms of what a link did. Nothing is judged.

use std::time::Duration;

use wirelab_link::DropCause;

/// Buckets of a [`Histogram`]: up to 16.8 s, and one for everything above.
pub const BUCKETS: usize = 98;

/// What one slot counted and measured while a trial ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlotReport {
    /// From the client's side, from the server's side.
    pub directions: [DirectionCounts; 2],
    /// Frames lost by the kernel: the ring was full, a frame could not be sent, or no qdisc accounts for it.
    pub kernel_drops: u64,
    /// Frames longer than the MTU. They are not carried.
    pub oversized: u64,
    /// The real-time clock stepped meanwhile.
    pub clock_step: bool,
    /// Packets that captures lack because the disk was slower than they came. The link carried them all the same.
    pub left_out_of_captures: u64,
    /// Records that the packet log lacks for the same reason. It cannot be replayed then.
    pub left_out_of_log: u64,
    /// How often the link's clock was put forward.
    pub rests: u64,
    /// By how much in all.
    pub rested: Duration,
}

/// Packets of one direction: received + originated + duplicated = delivered + dropped + held.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirectionCounts {
    /// IP packets taken from the sender's interface.
    pub received: u64,
    /// Packets of the link's own: resets.
    pub originated: u64,
    /// Copies that the link made.
    pub duplicated: u64,
    /// IP packets put on the receiver's interface.
    pub delivered: u64,
    /// Dropped, in the order of [`DropCause::ALL`]; those that the kernel would not send count as [`DropCause::QueueFull`] (and in
    /// `kernel_drops` again).
    pub dropped: [u64; DropCause::ALL.len()],
    /// Still inside at the end.
    pub held: u64,
    /// IP bytes received.
    pub received_bytes: u64,
    /// IP bytes delivered.
    pub delivered_bytes: u64,
    /// How late delivered packets were sent.
    pub lateness: Histogram,
}

/// Durations in buckets whose upper edges grow by a factor of 2^(1/4) from 1 us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    /// Upper edge of each bucket, in nanoseconds; the last bucket holds everything above the edge before it.
    pub upper_ns: [u64; BUCKETS],
    /// Values in each bucket.
    pub counts: [u64; BUCKETS],
    /// Largest value.
    pub max: Duration,
    /// Sum of all values.
    pub total: Duration,
}

impl Default for Histogram {
    fn default() -> Self {
        let upper_ns = std::array::from_fn(|index| (1000.0 * 2f64.powf(index as f64 / 4.0)).round() as u64);
        Self { upper_ns, counts: [0; BUCKETS], max: Duration::ZERO, total: Duration::ZERO }
    }
}

impl Histogram {
    /// Count `value` in the first bucket whose upper edge is not below it.
    pub fn add(&mut self, value: Duration) {
        let nanoseconds = u64::try_from(value.as_nanos()).unwrap_or(u64::MAX);
        let bucket = self.upper_ns.partition_point(|upper| *upper < nanoseconds).min(BUCKETS - 1);
        self.counts[bucket] += 1;
        self.max = self.max.max(value);
        self.total = self.total.saturating_add(value);
    }

    /// The upper edge of the bucket below or in which `share` of the values lie, or the largest value if that is less; `None` without values.
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        let rank = (share * self.counts.iter().sum::<u64>() as f64).ceil() as u64;
        let mut below = 0;
        let bucket = self.counts.iter().position(|count| {
            below += count;
            below > 0 && below >= rank
        })?;
        let edge = Duration::from_nanos(self.upper_ns[bucket]);
        Some(if bucket == BUCKETS - 1 { self.max } else { edge.min(self.max) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_falls_in_the_first_bucket_whose_edge_is_not_below_it() {
        let mut histogram = Histogram::default();
        for nanoseconds in [0, 1000, 1001, 1189, 2000, u64::MAX] {
            histogram.add(Duration::from_nanos(nanoseconds));
        }
        assert_eq!(&histogram.upper_ns[..5], &[1000, 1189, 1414, 1682, 2000]);
        assert_eq!(&histogram.counts[..5], &[2, 2, 0, 0, 1]);
        assert_eq!(histogram.counts[BUCKETS - 1], 1);
        assert_eq!(histogram.max, Duration::from_nanos(u64::MAX));
    }

    #[test]
    fn a_quantile_is_an_upper_bound_no_coarser_than_a_bucket() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile(0.99), None);
        (1..=100).for_each(|hundreds| histogram.add(Duration::from_nanos(hundreds * 100)));
        assert_eq!(histogram.total, Duration::from_nanos(505_000));
        assert_eq!(histogram.quantile(0.5), Some(Duration::from_nanos(5657)));
        assert_eq!(histogram.quantile(1.0), Some(Duration::from_nanos(10_000)));
        histogram.add(Duration::from_secs(60));
        assert_eq!(histogram.quantile(1.0), Some(Duration::from_secs(60)));
    }
}
