//! Order of notifications (RFC 7641). It sends nothing.

/// Sequence numbers of notifications have 24 bits (RFC 7641, section 3.4).
pub const SEQUENCE_MASK: u32 = (1 << 24) - 1;

const HALF: u32 = 1 << 23;
/// After so long the newest to arrive is the freshest whatever its number.
const REORDERING_NS: u64 = 128_000_000_000;

/// Which of the notifications of one observation is the freshest so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Freshness {
    newest: Option<(u32, u64)>,
}

impl Freshness {
    /// Whether a notification with this sequence number, arriving at `now_ns`, is fresher than every one before; if so it is the one to
    /// compare with from now on (RFC 7641, section 3.4).
    pub fn take(&mut self, sequence: u32, now_ns: u64) -> bool {
        let fresh = self.newest.is_none_or(|(newest, at_ns)| {
            (newest < sequence && sequence - newest < HALF)
                || (newest > sequence && newest - sequence > HALF)
                || now_ns.saturating_sub(at_ns) > REORDERING_NS
        });
        if fresh {
            self.newest = Some((sequence, now_ns));
        }
        fresh
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_number_is_stale_and_the_same_one_too() {
        let mut freshness = Freshness::default();
        assert_eq!([5, 7, 6, 7, 8].map(|sequence| freshness.take(sequence, 0)), [true, true, false, false, true]);
    }

    #[test]
    fn numbers_wrap_around_at_24_bits() {
        let mut freshness = Freshness::default();
        assert_eq!(
            [SEQUENCE_MASK, 0, SEQUENCE_MASK, 1].map(|sequence| freshness.take(sequence, 0)),
            [true, true, false, true]
        );
    }

    #[test]
    fn after_128_seconds_any_number_is_fresh() {
        let mut freshness = Freshness::default();
        assert!(freshness.take(9, 0));
        assert!(!freshness.take(8, REORDERING_NS));
        assert!(freshness.take(8, REORDERING_NS + 1));
    }
}
