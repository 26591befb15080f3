//! The trait of everything that packets pass through, and its accounts.

use crate::{Dropped, Instant, Packet};

/// One effect on packets. No I/O, no clock, no thread.
///
/// What comes out, and when, depends on the seed and on what was handed in, never on when or how often a caller polls: a late caller collects
/// late, and that is all. The instants of `handle_packet` never go backwards, nor do those of `poll_packet`. A poll ahead of an arrival that is
/// still to come is harmless to every stage that settles a packet's departure when it arrives and lets none overtake; a [`Link`] with other
/// stages moves such an arrival up to the last poll. So read the clock, hand in every packet that arrived by then, and poll with that reading.
///
/// [`Link`]: crate::Link
pub trait Impairment: Send {
    /// The link's first packet arrives at `origin`: instants of a time-indexed model count from it. Called at most once, before any packet;
    /// without it they count from instant 0.
    fn start(&mut self, _origin: Instant) {}

    /// Accept `packet`, which arrives at this stage at `now`. Whatever was due by `now` goes first, and occupancy is counted at `now`.
    fn handle_packet(&mut self, packet: Packet, now: Instant);

    /// The next packet that has left by `now`, with the instant at which it left; for each port in order of that instant.
    fn poll_packet(&mut self, now: Instant) -> Option<(Instant, Packet)>;

    /// The next packet found dropped so far, with the instant at which it was; stage by stage, not in order of that instant.
    fn poll_dropped(&mut self) -> Option<Dropped>;

    /// The earliest instant at which `poll_packet` may return a packet or another packet be dropped.
    fn poll_timeout(&self) -> Option<Instant>;

    /// True if a poll settles what becomes of packets inside, so that a packet which arrived before that poll and is handed in after it would be
    /// too late to matter as it should. [`Link`] then moves such an arrival up to the last poll.
    ///
    /// [`Link`]: crate::Link
    fn settles_when_polled(&self) -> bool {
        false
    }

    /// Take out a packet that is still inside, as far as it has come: it counts as neither delivered nor dropped. Until none is, this is for the end
    /// of a link, which is of no use afterwards. No time passes: what waits for ever, or for another packet, comes out as well.
    fn poll_held(&mut self) -> Option<Packet>;

    /// Packets inside that wait for a rate or are being sent, up to the first rate of a chain; `None` where there is none.
    fn sending(&self) -> Option<u64> {
        None
    }

    /// Packets so far.
    fn counters(&self) -> Counters;
}

/// Conservation: `received + originated + duplicated == delivered + dropped + held`, at every instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets handed to `handle_packet`.
    pub received: u64,
    /// Packets of the stage's own: resets.
    pub originated: u64,
    /// Copies made.
    pub duplicated: u64,
    /// Packets collected by `poll_packet`.
    pub delivered: u64,
    /// Packets dropped, collected or not.
    pub dropped: u64,
    /// Packets inside.
    pub held: u64,
}
