//! Air shared by CSMA/CA as in IEEE 802.11.

use std::num::NonZeroU64;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::station::{Station, Stations};
use super::{Position, Shared, medium_words};
use crate::facts::{Airtime, Service, SharedFacts, mean_over_tries};
use crate::impairment::spec::SharedSpec;
use crate::impairment::stage_exit::StageExit;
use crate::queue::Limit;
use crate::random::{Generator, Purpose};
use crate::spec::values::{at_most, limit, overhead, probability, rate};
use crate::spec::{Choices, Place, SpecError, words};
use crate::{Counters, DropCause, Dropped, Impairment, Instant, Packet, ParameterError, PortId, Probability, Seed};

const ABOUT: &str = "Air that stations and an access point share by CSMA/CA, the distributed coordination function of IEEE Std 802.11-2012 \
    (clause 9.3): a data frame for each packet, SIFS, its ACK. A station that finds the air free for a DIFS sends immediately; else it counts down free \
    slots drawn from its contention window. Two that reach 0 in one slot collide. Without an ACK the window doubles and the frame is retransmitted, until \
    its retries are used up and it is dropped; frame-error loses a frame whatever its size. Packets wait in a drop-tail queue at each station: every host of the near side, and the access point for all of the far side. No beacons, no \
    RTS, no aggregation, no hidden stations, no rate adaptation.";

/// The shortest exchange of frames on the air, ns: each has to be computed.
const SHORTEST_EXCHANGE_NS: u64 = 1000;
/// The largest contention window, slots: twice that of IEEE 802.11, whose ECWmax has four bits.
const LARGEST_WINDOW: u32 = (1 << 16) - 1;
/// The largest dot11ShortRetryLimit.
const MAX_RETRIES: u32 = 255;

/// Air shared by CSMA/CA as in IEEE 802.11's distributed coordination function: a frame for each packet, an ACK for each frame, retries with
/// doubling contention windows, collisions where two stations count down to the same slot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WifiSpec {
    /// Rate of data frames, counting IP bytes plus `overhead_bytes`.
    pub rate_bps: u64,
    /// Bytes of MAC header, LLC and FCS for each packet.
    pub overhead_bytes: u32,
    /// Preamble and PHY header of a data frame.
    pub preamble_ns: u64,
    /// Duration of an ACK frame with its preamble.
    pub ack_ns: u64,
    /// Slot time.
    pub slot_ns: u64,
    /// SIFS.
    pub sifs_ns: u64,
    /// DIFS.
    pub difs_ns: u64,
    /// CWmin, slots.
    pub cw_min: u32,
    /// CWmax, slots.
    pub cw_max: u32,
    /// Maximum number of retransmissions of a frame before it is dropped; dot11ShortRetryLimit is one more, since it counts the first try.
    pub retries: u32,
    /// Probability that a data frame is not received, whatever its size.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub frame_error: f64,
    /// Bytes that may wait at each station, behind the packet being sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_bytes: Option<u64>,
    /// Packets that may wait there. At least one of the two bounds is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_packets: Option<u32>,
}

impl SharedSpec for WifiSpec {
    const ABOUT: &'static str = ABOUT;
    const POSITION: Position = Position::Middle;

    fn build(&self, seed: Seed, at: &Place) -> Result<Box<dyn Shared>, SpecError> {
        let Self { preamble_ns, ack_ns, slot_ns, sifs_ns, difs_ns, cw_min, cw_max, retries, .. } = *self;
        if slot_ns == 0 {
            return Err(at
                .key("slot_ns")
                .error("a slot of 0 takes no time, so that stations never leave off colliding"));
        }
        let exchange_ns = [ack_ns, sifs_ns, difs_ns].into_iter().fold(preamble_ns, u64::saturating_add);
        if exchange_ns < SHORTEST_EXCHANGE_NS {
            let what = "preamble, SIFS, ACK and DIFS together take";
            return Err(at.error(format!("{what} {exchange_ns} ns, less than {SHORTEST_EXCHANGE_NS}")));
        }
        at_most(retries, MAX_RETRIES, "the maximum of IEEE 802.11", &at.key("retries"))?;
        at_most(cw_max, LARGEST_WINDOW, "the largest window", &at.key("cw_max"))?;
        if cw_min > cw_max {
            return Err(at.key("cw_min").error(format!("{cw_min} is more than cw_max, {cw_max}")));
        }
        let wifi = Wifi {
            rate_bps: rate(self.rate_bps, at)?,
            overhead_bytes: overhead(self.overhead_bytes, at)?,
            preamble: Duration::from_nanos(preamble_ns),
            ack: Duration::from_nanos(ack_ns),
            slot: Duration::from_nanos(slot_ns),
            sifs: Duration::from_nanos(sifs_ns),
            difs: Duration::from_nanos(difs_ns),
            cw_min,
            cw_max,
            retries,
            frame_error: probability(self.frame_error, &at.key("frame_error"))?,
            queue: limit(self.queue_bytes, self.queue_packets, at)?,
        };
        Ok(Box::new(Dcf::new(wifi, seed).map_err(|what| at.error(what))?))
    }

    fn facts(&self) -> SharedFacts {
        let Self { rate_bps, overhead_bytes, cw_min, cw_max, retries, frame_error, .. } = *self;
        let [preamble, ack, slot, sifs, difs] =
            [self.preamble_ns, self.ack_ns, self.slot_ns, self.sifs_ns, self.difs_ns].map(|time| time as f64);
        let per_byte_ns = 8e9 / rate_bps as f64;
        let header_ns = preamble + f64::from(overhead_bytes) * per_byte_ns;
        let after = sifs + ack + difs;
        let backoff = |tries: u32| {
            let doubled = (f64::from(cw_min) + 1.0) * 2f64.powi(tries as i32) - 1.0;
            doubled.min(f64::from(cw_max)) / 2.0 * slot
        };
        // Of a packet without bytes, and what each byte adds: every try sends them anew.
        let first = std::iter::once((header_ns, 1.0));
        let again = (1..=retries).map(|tries| (after + backoff(tries) + header_ns, 1.0));
        let (times, sizes): (Vec<f64>, Vec<f64>) = first.chain(again).unzip();
        let idle_ns = mean_over_tries(frame_error, &times);
        let idle_ns_per_byte = mean_over_tries(frame_error, &sizes) * per_byte_ns;
        // After each packet comes a back-off from the smallest window.
        let busy_ns = idle_ns + after + backoff(0);
        let air = format!(
            "Wi-Fi at {}, {} of frames lost, {retries} retries, backing off over {cw_min} to {cw_max} slots",
            words::rate(rate_bps),
            words::share(frame_error)
        );
        SharedFacts {
            words: medium_words(&air, self.queue_bytes, self.queue_packets),
            rate_bps: Some(rate_bps),
            service: vec![Service {
                from_bytes: 0,
                to_bytes: u32::MAX,
                idle_ns,
                idle_ns_per_byte,
                busy_ns,
                busy_ns_per_byte: idle_ns_per_byte,
            }],
            airtime: Some(Airtime {
                per_frame_ns: busy_ns,
                per_byte_ns: idle_ns_per_byte,
                compressed_bytes: 0,
                frame_bytes: None,
            }),
            frame_loss: frame_error.powi(retries as i32 + 1),
            random: frame_error > 0.0,
            contends: true,
            ..SharedFacts::medium(self.queue_bytes, self.queue_packets)
        }
    }

    fn added_bytes(&self, _size: u32) -> Option<i64> {
        Some(self.overhead_bytes.into())
    }

    fn examples() -> Vec<Self> {
        // Usual air, air so bad that losses are seen, and air that loses by collisions alone.
        [(0.1, 6), (0.4, 1), (0.0, 6)]
            .map(|(frame_error, retries)| Self {
                rate_bps: 54_000_000,
                overhead_bytes: 36,
                preamble_ns: 20_000,
                ack_ns: 28_000,
                slot_ns: 9000,
                sifs_ns: 10_000,
                difs_ns: 28_000,
                cw_min: 15,
                cw_max: 1023,
                retries,
                frame_error,
                queue_bytes: Some(100_000),
                queue_packets: None,
            })
            .into()
    }

    fn arbitrary(choices: &mut Choices<'_>) -> Self {
        let (cw_min, packets) = (choices.small(0..32), choices.flag());
        Self {
            rate_bps: choices.number(1_000_000..54_000_000),
            overhead_bytes: choices.small(0..60),
            preamble_ns: choices.micros(1..200),
            ack_ns: choices.micros(0..300),
            slot_ns: choices.micros(1..20),
            sifs_ns: choices.micros(0..20),
            difs_ns: choices.micros(0..60),
            cw_min,
            cw_max: cw_min + choices.small(0..1000),
            retries: choices.small(0..8),
            frame_error: choices.fraction(),
            queue_bytes: (!packets).then(|| choices.number(0..10_000)),
            queue_packets: packets.then(|| choices.small(0..10)),
        }
    }
}

/// Air shared by CSMA/CA as in IEEE Std 802.11-2012, clause 9.3.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wifi {
    /// Rate of data frames.
    pub rate_bps: NonZeroU64,
    /// Bytes of MAC header, LLC and FCS that each frame has in addition to its packet's IP bytes.
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
    /// Maximum number of retransmissions of a frame before it is dropped. dot11ShortRetryLimit is one more: it counts the first try.
    pub retries: u32,
    /// Probability that a data frame is not received, whatever its size.
    pub frame_error: Probability,
    /// What may wait at each station behind the frame that contends for the air; bytes count as the rate counts them.
    pub queue: Limit,
}

/// The distributed coordination function: a data frame for each packet, SIFS, its ACK.
///
/// A station that has a frame for air which is free, and has been for a DIFS, sends immediately (basic access). One that found it busy, or
/// has just sent, first counts down a number of free slots drawn from its contention window, beginning a DIFS after the air became free; the count
/// stands still while the air is busy, also when no frame waits (post-backoff). Stations that reach 0 at one instant collide: all
/// their frames are lost. Without an ACK a station doubles its window and tries again.
///
/// Every station hears every other without delay, and no ACK is lost. A frame without an ACK takes the air for as long as one with: its sender waits
/// for the ACK meanwhile, and others for EIFS, which is a DIFS longer than SIFS and ACK. There are no beacons, no RTS and no
/// aggregation. Packets leave with the last bit of their frame.
#[derive(Debug)]
pub struct Dcf {
    wifi: Wifi,
    stations: Stations<Backoff>,
    /// The air has been free for a DIFS, or will have been: slots are counted from here.
    slots_from: Instant,
    on_air: Option<OnAir>,
    backoffs: Generator,
    errors: Generator,
    exit: StageExit,
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
    /// Refuses a slot of 0, and `cw_min` above `cw_max`.
    pub fn new(wifi: Wifi, seed: Seed) -> Result<Self, ParameterError> {
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
            exit: StageExit::default(),
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

    /// When each station that has a frame sends it, if no other does before; and how large its packet is.
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
            self.exit.depart(packet, now + airtime);
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
                self.exit.drop(packet, now, DropCause::Retries);
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
        self.exit.receive();
        let bytes = u64::from(packet.size) + u64::from(self.wifi.overhead_bytes);
        match self.stations.accept(packet, bytes) {
            Ok(Some(Station { access, .. })) => {
                access.ready = now;
                if self.on_air.is_some() && access.slots == 0 {
                    access.slots = self.wifi.draw(0, &mut self.backoffs);
                }
            }
            Ok(None) => {}
            Err(packet) => self.exit.drop(packet, now, DropCause::QueueFull),
        }
    }

    fn poll_packet(&mut self, now: Instant) -> Option<(Instant, Packet)> {
        self.advance(now);
        self.exit.poll_packet(now)
    }

    fn poll_dropped(&mut self) -> Option<Dropped> {
        self.exit.poll_dropped()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let next = match &self.on_air {
            Some(on_air) => (self.stations.held() > 0).then_some(on_air.until),
            None => self.contenders().map(|(sends, size)| sends + self.wifi.airtime(size)).min(),
        };
        next.into_iter().chain(self.exit.poll_timeout()).min()
    }

    fn settles_when_polled(&self) -> bool {
        true
    }

    fn poll_held(&mut self) -> Option<Packet> {
        self.exit.poll_held().or_else(|| self.stations.poll_held())
    }

    fn counters(&self) -> Counters {
        self.exit.counters(self.stations.held())
    }
}

impl Shared for Dcf {
    fn position(&self) -> Position {
        WifiSpec::POSITION
    }
}
