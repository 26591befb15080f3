use std::num::NonZeroU64;
use std::time::Duration;

use super::station::{Station, Stations};
use crate::impairment::outlet::Outlet;
use crate::queue::Limit;
use crate::random::{Generator, Purpose};
use crate::{Counters, DropCause, Dropped, Impairment, Instant, Packet, ParameterError, PortId, Probability, Seed};

pub(in crate::impairment) const ABOUT: &str = "Air that stations and an access point share by CSMA/CA, the distributed coordination function of IEEE Std 802.11-2012 \
    (clause 9.3): a data frame for each packet, SIFS, its ACK. A station that finds the air free for a DIFS sends at once; else it counts down free \
    slots drawn from its contention window. Two that reach 0 in one slot collide. Without an ACK the window doubles and the frame is sent again, until \
    its retries are used up and it is dropped; frame-error loses a frame whatever its size. Packets wait in a drop-tail queue at each station: every host of the near side, and the access point for all of the far side. No beacons, no \
    RTS, no aggregation, no hidden stations, no rate adaptation.";

/// Air shared by CSMA/CA as in IEEE Std 802.11-2012, clause 9.3.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wifi {
    /// Rate of data frames.
    pub rate_bps: NonZeroU64,
    /// Bytes of MAC header, LLC and FCS that each frame has besides its packet's IP bytes.
    pub overhead_bytes: u32,
    /// Preamble and PHY header of a data frame, and what else in it does not depend on its size.
    pub preamble: Duration,
    /// An ACK frame with its preamble.
    pub ack: Duration,
    /// aSlotTime.
    pub slot: Duration,
    /// aSIFSTime.
    pub sifs: Duration,
    /// DIFS.
    pub difs: Duration,
    /// aCWmin, slots.
    pub cw_min: u32,
    /// aCWmax, slots.
    pub cw_max: u32,
    /// How often a frame is sent again before it is dropped. dot11ShortRetryLimit is one more: it counts the first try.
    pub retries: u32,
    /// Probability that a data frame is not received, whatever its size.
    pub frame_error: Probability,
    /// What may wait at each station behind the frame that contends for the air; bytes count as the rate counts them.
    pub queue: Limit,
}

/// The distributed coordination function: a data frame for each packet, SIFS, its ACK.
///
/// A station that has a frame for air which is free, and has been for a DIFS, sends at once (basic access). One that found it busy, or
/// has just sent, first counts down a number of free slots drawn from its contention window, beginning a DIFS after the air became free; the count
/// stands still while the air is busy, also when no frame waits (post-backoff). Stations that reach 0 at one instant collide: all
/// their frames are lost. Without an ACK a station doubles its window and tries again.
///
/// Every station hears every other at once, and no ACK is lost. A frame without an ACK takes the air for as long as one with: its sender waits
/// for the ACK meanwhile, and others for EIFS, which is a DIFS longer than SIFS and ACK. There are no beacons, no RTS and no
/// aggregation. Packets leave with the last bit of their frame.
#[derive(Debug)]
pub(super) struct Dcf {
    wifi: Wifi,
    stations: Stations<Backoff>,
    /// The air has been free for a DIFS, or will have been: slots are counted from here.
    slots_from: Instant,
    on_air: Option<OnAir>,
    backoffs: Generator,
    errors: Generator,
    outlet: Outlet,
}

/// A station's way to the air.
#[derive(Debug, Default)]
struct Backoff {
    /// Slots to count down from `Dcf::slots_from`.
    slots: u32,
    /// When it had its frame.
    ready: Instant,
    /// How often that was sent.
    tries: u32,
}

/// An exchange of frames, or a collision.
#[derive(Debug)]
struct OnAir {
    senders: Vec<PortId>,
    /// The end of the ACK, or of the time for it.
    until: Instant,
}

impl Dcf {
    pub(super) fn new(wifi: Wifi, seed: Seed) -> Result<Self, ParameterError> {
        if wifi.slot.is_zero() {
            return Err(ParameterError::new("a slot of 0 takes no time, so that stations never leave off colliding"));
        }
        if wifi.cw_min > wifi.cw_max {
            return Err(ParameterError::new(format!("CWmin {} is above CWmax {}", wifi.cw_min, wifi.cw_max)));
        }
        Ok(Self {
            wifi,
            stations: Stations::new(wifi.queue),
            slots_from: Instant::default(),
            on_air: None,
            backoffs: Generator::new(seed, Purpose::Backoff),
            errors: Generator::new(seed, Purpose::Packet),
            outlet: Outlet::default(),
        })
    }

    fn advance(&mut self, now: Instant) {
        loop {
            match self.on_air.take_if(|on_air| on_air.until <= now) {
                Some(OnAir { senders, until }) => self.free(&senders, until),
                None if self.on_air.is_some() => return,
                None => match self.contenders().map(|(sends, _)| sends).min() {
                    Some(sends) if sends <= now => self.send(sends),
                    _ => return,
                },
            }
        }
    }

    /// When each station that has a frame sends it, if nobody does before; and how large its packet is.
    fn contenders(&self) -> impl Iterator<Item = (Instant, u32)> {
        let stations = self.stations.iter().map(|(_, station)| station);
        stations.filter_map(move |station| Some((self.sends(station), station.packet.as_ref()?.size)))
    }

    fn sends(&self, station: &Station<Backoff>) -> Instant {
        let Backoff { slots, ready, .. } = station.access;
        (self.slots_from + self.wifi.slot.saturating_mul(slots)).max(ready)
    }

    /// Who sends at `now` does; the others' counts stand still.
    fn send(&mut self, now: Instant) {
        let counted = now.saturating_since(self.slots_from).as_nanos() / self.wifi.slot.as_nanos();
        let counted = u32::try_from(counted).unwrap_or(u32::MAX);
        let is_sender = |station: &Station<Backoff>| station.packet.is_some() && self.sends(station) == now;
        let senders: Vec<_> =
            self.stations.iter().filter(|(_, station)| is_sender(station)).map(|(port, _)| port).collect();
        let mut airtime = Duration::ZERO;
        for (port, station) in self.stations.iter_mut() {
            if let (Some(packet), true) = (&station.packet, senders.contains(&port)) {
                station.access.tries += 1;
                airtime = airtime.max(self.wifi.airtime(packet.size));
            } else {
                station.access.slots = station.access.slots.saturating_sub(counted);
            }
        }
        if let [sender] = senders[..]
            && !self.errors.chance(self.wifi.frame_error)
            && let Some(packet) = self.stations.at(sender).packet.take()
        {
            self.outlet.depart(packet, now + airtime);
        }
        self.on_air = Some(OnAir { senders, until: now + airtime + self.wifi.sifs + self.wifi.ack });
    }

    /// The air is free at `now`. A sender whose packet is still there had no ACK.
    fn free(&mut self, senders: &[PortId], now: Instant) {
        self.slots_from = now + self.wifi.difs;
        for port in senders {
            let station = self.stations.at(*port);
            if station.access.tries > self.wifi.retries
                && let Some(packet) = station.packet.take()
            {
                self.outlet.drop(packet, now, DropCause::Retries);
            }
            if station.packet.is_none() {
                station.serve_next();
                station.access.tries = 0;
            }
            station.access.ready = now;
            station.access.slots = self.wifi.draw(station.access.tries, &mut self.backoffs);
        }
    }
}

impl Wifi {
    /// A data frame with a packet of `size` IP bytes, rounded up to the nanosecond.
    fn airtime(&self, size: u32) -> Duration {
        let bits = 8 * (u128::from(size) + u128::from(self.overhead_bytes));
        let nanoseconds = (bits * 1_000_000_000).div_ceil(u128::from(self.rate_bps.get()));
        self.preamble.saturating_add(Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX)))
    }

    /// Slots to wait after `tries` of a frame: uniform on 0 to CW, which is CWmin first and then doubles, less one, up to CWmax (clause 9.3.3).
    fn draw(&self, tries: u32, generator: &mut Generator) -> u32 {
        let doubled = u64::from(self.cw_min).saturating_add(1).saturating_mul(1 << tries.min(32)) - 1;
        let window = u32::try_from(doubled).map_or(self.cw_max, |window| window.min(self.cw_max));
        generator.below(u64::from(window) + 1) as u32
    }
}

impl Impairment for Dcf {
    fn handle_packet(&mut self, packet: Packet, now: Instant) {
        self.advance(now);
        self.outlet.receive();
        let bytes = u64::from(packet.size) + u64::from(self.wifi.overhead_bytes);
        match self.stations.accept(packet, bytes) {
            Ok(Some(Station { access, .. })) => {
                access.ready = now;
                if self.on_air.is_some() && access.slots == 0 {
                    access.slots = self.wifi.draw(0, &mut self.backoffs);
                }
            }
            Ok(None) => {}
            Err(packet) => self.outlet.drop(packet, now, DropCause::QueueFull),
        }
    }

    fn poll_packet(&mut self, now: Instant) -> Option<(Instant, Packet)> {
        self.advance(now);
        self.outlet.poll_packet(now)
    }

    fn poll_dropped(&mut self) -> Option<Dropped> {
        self.outlet.poll_dropped()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let next = match &self.on_air {
            Some(on_air) => (self.stations.held() > 0).then_some(on_air.until),
            None => self.contenders().map(|(sends, size)| sends + self.wifi.airtime(size)).min(),
        };
        next.into_iter().chain(self.outlet.poll_timeout()).min()
    }

    fn poll_held(&mut self) -> Option<Packet> {
        self.outlet.poll_held().or_else(|| self.stations.poll_held())
    }

    fn counters(&self) -> Counters {
        self.outlet.counters(self.stations.held())
    }
}
