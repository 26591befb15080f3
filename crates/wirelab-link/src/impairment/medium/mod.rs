//! The stage that all hosts share, in both directions.

mod ieee802154;
mod sixlowpan;
mod station;
mod turns;
mod wifi;

use std::num::NonZeroU64;

pub(super) use ieee802154::ABOUT as IEEE802154_ABOUT;
pub use ieee802154::Ieee802154;
pub(super) use wifi::ABOUT as WIFI_ABOUT;
pub use wifi::Wifi;

use crate::queue::Limit;
use crate::{Counters, Dropped, Impairment, Instant, Packet, ParameterError, Seed};
use ieee802154::Csma;
use turns::Turns;
use wifi::Dcf;

pub(super) const SERIALISER_ABOUT: &str = "A half-duplex serialiser that both directions share, each station (every host of the near side, one for all \
    of the far side) behind a drop-tail queue of its own: a packet takes (IP bytes + overhead-bytes) x 8 / rate to send, and after it the next station \
    has its turn (round robin, packet by packet), if a packet waits there. There is no contention and there are no errors: it is the least that a \
    half-duplex radio, or a gateway's one bottleneck, does to its two directions.";

/// What all hosts share: one frame at a time, each station behind its own drop-tail queue. A station is every host of the near side, and one,
/// the access point, for all of the far side.
///
/// A poll settles who is sent first, so arrivals must not be handed in behind it: [`Link`](crate::Link) sees to that. The media with contention
/// draw from their own generators; how often depends on the contention, so that with them the seed is only a block: two stacks on one seed do
/// not meet the same back-offs and losses.
#[derive(Debug)]
pub struct Medium(Kind);

#[derive(Debug)]
enum Kind {
    Serialiser(Turns),
    Wifi(Dcf),
    Ieee802154(Csma),
}

impl Medium {
    /// A half-duplex serialiser that stations use in turn, without contention or errors. Each is behind a `queue` of its own, which the packet being
    /// sent has left; each packet counts with `overhead_bytes` on top of its IP bytes.
    pub fn serialiser(rate_bps: NonZeroU64, queue: Limit, overhead_bytes: u32) -> Self {
        Self(Kind::Serialiser(Turns::new(rate_bps, queue, overhead_bytes)))
    }

    /// Air shared as in IEEE 802.11. No chain has an impairment of this `seed` if its index is `u16::MAX`. Refuses a slot of 0, and `cw_min` above
    /// `cw_max`.
    pub fn wifi(wifi: Wifi, seed: Seed) -> Result<Self, ParameterError> {
        Ok(Self(Kind::Wifi(Dcf::new(wifi, seed)?)))
    }

    /// IEEE 802.15.4 under 6LoWPAN. No chain has an impairment of this `seed` if its index is `u16::MAX`. Refuses `min_be` above `max_be`, `max_be`
    /// above [`Ieee802154::LARGEST_BE`], and `mac_bytes` above [`Ieee802154::MOST_MAC_BYTES`].
    pub fn ieee802154(ieee802154: Ieee802154, seed: Seed) -> Result<Self, ParameterError> {
        Ok(Self(Kind::Ieee802154(Csma::new(ieee802154, seed)?)))
    }

    fn stage(&self) -> &dyn Impairment {
        match &self.0 {
            Kind::Serialiser(turns) => turns,
            Kind::Wifi(dcf) => dcf,
            Kind::Ieee802154(csma) => csma,
        }
    }

    fn stage_mut(&mut self) -> &mut dyn Impairment {
        match &mut self.0 {
            Kind::Serialiser(turns) => turns,
            Kind::Wifi(dcf) => dcf,
            Kind::Ieee802154(csma) => csma,
        }
    }
}

impl Impairment for Medium {
    fn handle_packet(&mut self, packet: Packet, now: Instant) {
        self.stage_mut().handle_packet(packet, now);
    }

    fn poll_packet(&mut self, now: Instant) -> Option<(Instant, Packet)> {
        self.stage_mut().poll_packet(now)
    }

    fn poll_dropped(&mut self) -> Option<Dropped> {
        self.stage_mut().poll_dropped()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.stage().poll_timeout()
    }

    fn settles_when_polled(&self) -> bool {
        true
    }

    fn poll_held(&mut self) -> Option<Packet> {
        self.stage_mut().poll_held()
    }

    fn counters(&self) -> Counters {
        self.stage().counters()
    }
}
