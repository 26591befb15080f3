//! The trait of all impairments.

use crate::{Dropped, Instant, Packet};

/// One effect on packets. No I/O, no clock, no thread.
///
/// `now` never goes backwards from call to call. A caller may be late: `handle_packet` first advances everything due by `now`, and occupancy is
/// counted at the packet's arrival instant, so that lateness changes nothing but lateness.
pub trait Impairment: Send {
    /// Accept `packet`, which arrives at this stage at `now`.
    fn handle_packet(&mut self, packet: Packet, now: Instant);

    /// The next packet that has left by `now`, with the instant at which it left; in order of that instant.
    fn poll_packet(&mut self, now: Instant) -> Option<(Instant, Packet)>;

    /// The next packet that was dropped by `now`.
    fn poll_dropped(&mut self) -> Option<Dropped>;

    /// The earliest instant at which `poll_packet` may return a packet.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Packets so far: received = delivered + dropped + held at every instant.
    fn counters(&self) -> Counters;
}

/// Conservation: `received == delivered + dropped + held`, at every instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets handed to `handle_packet`.
    pub received: u64,
    /// Packets collected by `poll_packet`.
    pub delivered: u64,
    /// Packets dropped, collected or not.
    pub dropped: u64,
    /// Packets inside.
    pub held: u64,
}
