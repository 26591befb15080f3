//! A client's request that its link rest: when it is settled, how, and the answer. It moves no packet and puts no clock forward.

use std::time::Duration;

use wirelab_capture::rest::{self, RestAnswer, RestRequest};
use wirelab_link::Instant;

use super::trial::MAC_BYTES;
use crate::socket::ETHERNET_BYTES;

/// How long a client may wait for the link to be silent.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// A request that is not answered yet.
pub(super) struct Pending {
    /// Of the port at which it came.
    pub(super) place: usize,
    request: RestRequest,
    came: Instant,
    /// With `lead` bytes before the Ethernet header.
    frame: Vec<u8>,
    lead: usize,
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settled {
    /// The link's clock is put forward by so much.
    Rested(Duration),
    /// The time has passed by itself.
    Passed,
    /// The link was not silent for long enough.
    Refused,
}

impl Settled {
    pub(super) const fn answer(self) -> RestAnswer {
        match self {
            Self::Rested(_) | Self::Passed => RestAnswer::Done,
            Self::Refused => RestAnswer::Refused,
        }
    }
}

impl Pending {
    /// The request in a frame, with `lead` bytes before its Ethernet header; none if there is none.
    pub(super) fn of(place: usize, frame: &[u8], lead: usize, came: Instant) -> Option<Self> {
        let request = rest::request(frame.get(lead + ETHERNET_BYTES..)?)?;
        Some(Self { place, request, came, frame: frame.to_vec(), lead })
    }

    /// When it is settled and how, if nothing else happens on the link: nothing has come, left or been dropped since `silent`, or there are packets
    /// inside, and it is none. It depends on the packets alone, never on when somebody looks.
    pub(super) fn settles(&self, silent: Option<Instant>) -> (Instant, Settled) {
        let passes = self.came + Duration::from_nanos(self.request.gap_ns);
        let gives_up = self.came + LONGEST_WAIT;
        let rests = silent.map(|since| (since + Duration::from_nanos(self.request.settle_ns)).max(self.came));
        match rests {
            Some(at) if at < passes && at <= gives_up => (at, Settled::Rested(passes.saturating_since(at))),
            _ if passes <= gives_up => (passes, Settled::Passed),
            _ => (gives_up, Settled::Refused),
        }
    }

    /// The frame of its answer, on its way back.
    pub(super) fn answer(&self, settled: Settled) -> Option<Vec<u8>> {
        let (header, packet) = self.frame[self.lead..].split_at(ETHERNET_BYTES);
        let answered = rest::answer(packet, settled.answer())?;
        let (to, from) = (&header[MAC_BYTES..2 * MAC_BYTES], &header[..MAC_BYTES]);
        // Without offload information: its checksums are complete.
        Some([&vec![0; self.lead][..], to, from, &header[2 * MAC_BYTES..], &answered].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn at(seconds: u64) -> Instant {
        Instant::from_nanos(seconds * SECOND)
    }

    fn pending(gap: u64) -> Pending {
        let request = RestRequest { gap_ns: gap * SECOND, settle_ns: 2 * SECOND };
        Pending { place: 0, request, came: at(100), frame: vec![], lead: 0 }
    }

    #[test]
    fn a_silent_link_rests_for_what_is_left_of_the_gap() {
        let rested = |at_s, gap_s| (at(at_s), Settled::Rested(Duration::from_secs(gap_s)));
        assert_eq!(pending(600).settles(Some(at(101))), rested(103, 597));
        assert_eq!(pending(600).settles(Some(at(158))), rested(160, 540));
        // It was silent before the request.
        assert_eq!(pending(600).settles(Some(at(90))), rested(100, 600));
        assert_eq!(pending(u64::MAX / SECOND).settles(Some(at(100))).0, at(102));
    }

    #[test]
    fn a_gap_that_ends_before_the_link_is_silent_passes_by_itself() {
        for silent in [None, Some(at(101)), Some(at(100))] {
            assert_eq!(pending(2).settles(silent), (at(102), Settled::Passed));
        }
    }

    #[test]
    fn a_link_that_is_not_silent_within_a_minute_refuses() {
        for silent in [None, Some(at(159))] {
            assert_eq!(pending(600).settles(silent), (at(160), Settled::Refused));
        }
        assert_eq!(pending(60).settles(None), (at(160), Settled::Passed));
    }
}
