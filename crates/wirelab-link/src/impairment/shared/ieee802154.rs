//! IEEE 802.15.4 under 6LoWPAN.

use std::collections::VecDeque;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::sixlowpan::{self, MIN_ROOM};
use super::station::Stations;
use super::{Position, Shared, medium_words};
use crate::facts::{Airtime, Service, SharedFacts, mean_over_tries};
use crate::impairment::spec::SharedSpec;
use crate::impairment::stage_exit::StageExit;
use crate::queue::Limit;
use crate::random::{Generator, Purpose};
use crate::spec::values::{at_most, limit, probability};
use crate::spec::{Choices, Place, SpecError, words};
use crate::{Counters, DropCause, Dropped, Impairment, Instant, Packet, ParameterError, PortId, Probability, Seed};

/// One symbol at 62.5 ksymbol/s.
const SYMBOL: Duration = Duration::from_micros(16);
/// A byte is two symbols of four bits.
const BYTE: Duration = symbols(2);
/// Preamble, start-of-frame delimiter and PHY header (6.3), bytes.
const PHY_BYTES: u32 = 4 + 1 + 1;
/// aMaxPHYPacketSize (6.4.1).
const MAX_PHY_PACKET_BYTES: u32 = 127;
/// aTurnaroundTime: from receiving to sending, before a frame as before an ACK (7.5.6.4.2).
const TURNAROUND: Duration = symbols(12);
/// Time in which the air is sensed (6.9.9).
const CCA: Duration = symbols(8);
/// aUnitBackoffPeriod (7.4.1).
const UNIT_BACKOFF: Duration = symbols(20);
/// An ACK frame: 5 bytes (7.2.2.3) behind those of the PHY.
const ACK: Duration = symbols(2 * (PHY_BYTES + 5));
/// macAckWaitDuration (7.4.2): aUnitBackoffPeriod, aTurnaroundTime, phySHRDuration and 6 bytes.
const ACK_WAIT: Duration = symbols(20 + 12 + 10 + 6 * 2);
/// aMaxSIFSFrameSize (7.4.1).
const MAX_SIFS_FRAME_BYTES: u32 = 18;
/// macMinSIFSPeriod (7.5.1.3).
const SIFS: Duration = symbols(12);
/// macMinLIFSPeriod (7.5.1.3).
const LIFS: Duration = symbols(40);
const ABOUT: &str = "IEEE 802.15.4 at 2.4 GHz (O-QPSK, 250 kbit/s) under 6LoWPAN, without beacons; clauses of IEEE Std \
    802.15.4-2006. Header compression (RFC 6282) saves compressed-bytes of each datagram, and one that does not fit a frame of 127 bytes goes in \
    fragments (RFC 4944, section 5.3). Each frame is sent by unslotted CSMA-CA (clause 7.5.1.4): it waits a random back-off, senses the air, turns round and is \
    sent; frames of two stations that do not hear one another in time are lost. An ACK follows, without which the frame is retransmitted; if a frame is \
    dropped, after its retries or without free air, its whole datagram is lost. Packets wait in a drop-tail queue at each station: every host of the near side, and one for all of the far side.";

/// Rate of the frames.
const RATE_BPS: u64 = 250_000;
/// The largest macMaxFrameRetries and macMaxCSMABackoffs.
const MAX_RETRIES: u32 = 7;
const MAX_BACKOFFS: u32 = 5;
/// Headers of IPv6 and UDP.
const HEADER_BYTES: u32 = 48;

/// IEEE 802.15.4 (2.4 GHz O-QPSK) under 6LoWPAN: fragments (RFC 4944), unslotted CSMA-CA, ACKs and retries; a datagram is lost with one frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ieee802154Spec {
    /// Bytes that header compression (RFC 6282) saves of each datagram's IP and UDP headers.
    pub compressed_bytes: u32,
    /// Bytes of MAC header and FCS in each data frame.
    pub mac_bytes: u32,
    /// Probability that a data frame is not received.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub frame_error: f64,
    /// macMaxFrameRetries.
    pub retries: u32,
    /// macMaxCSMABackoffs.
    pub max_backoffs: u32,
    /// macMinBE.
    pub min_be: u32,
    /// macMaxBE.
    pub max_be: u32,
    /// Bytes that may wait at each station, behind the packet being sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_bytes: Option<u64>,
    /// Packets that may wait there. At least one of the two bounds is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_packets: Option<u32>,
}

impl SharedSpec for Ieee802154Spec {
    const ABOUT: &'static str = ABOUT;
    const POSITION: Position = Position::Middle;

    fn build(&self, seed: Seed, at: &Place) -> Result<Box<dyn Shared>, SpecError> {
        let Self { compressed_bytes, mac_bytes, retries, max_backoffs, min_be, max_be, .. } = *self;
        at_most(compressed_bytes, HEADER_BYTES, "the headers of IPv6 and UDP", &at.key("compressed_bytes"))?;
        let room = Ieee802154::MAX_MAC_BYTES;
        at_most(mac_bytes, room, "the maximum that leaves room for a fragment in a frame", &at.key("mac_bytes"))?;
        let largest = |value, largest, name| at_most(value, largest, "the largest of IEEE 802.15.4", &at.key(name));
        largest(max_be, Ieee802154::LARGEST_BE, "max_be")?;
        largest(retries, MAX_RETRIES, "retries")?;
        largest(max_backoffs, MAX_BACKOFFS, "max_backoffs")?;
        at_most(min_be, max_be, "max_be", &at.key("min_be"))?;
        let parameters = Ieee802154 {
            compressed_bytes,
            mac_bytes,
            frame_error: probability(self.frame_error, &at.key("frame_error"))?,
            retries,
            max_backoffs,
            min_be,
            max_be,
            queue: limit(self.queue_bytes, self.queue_packets, at)?,
        };
        Ok(Box::new(Csma::new(parameters, seed).map_err(|what| at.error(what))?))
    }

    fn facts(&self) -> SharedFacts {
        let Self { frame_error, retries, mac_bytes, .. } = *self;
        let (frame_ns, per_byte_ns) = self.lone_frame();
        let air = format!(
            "IEEE 802.15.4 frames of 127 B at 250 kbit/s, {} lost, {retries} retries; a packet dies with one frame",
            words::share(frame_error)
        );
        SharedFacts {
            words: medium_words(&air, self.queue_bytes, self.queue_packets),
            rate_bps: Some(RATE_BPS),
            service: self.service(),
            airtime: Some(Airtime {
                per_frame_ns: frame_ns + nanoseconds(TURNAROUND + ACK + LIFS),
                per_byte_ns,
                compressed_bytes: self.compressed_bytes,
                frame_bytes: Some(MAX_PHY_PACKET_BYTES.saturating_sub(mac_bytes).max(1)),
            }),
            frame_loss: frame_error.powi(retries as i32 + 1),
            random: true,
            contends: true,
            ..SharedFacts::medium(self.queue_bytes, self.queue_packets)
        }
    }

    fn added_bytes(&self, size: u32) -> Option<i64> {
        let bytes = Ieee802154::frame_bytes(size, self.compressed_bytes, self.mac_bytes);
        Some(i64::from(bytes) - i64::from(size))
    }

    fn examples() -> Vec<Self> {
        // The defaults, and air so bad that losses are seen.
        [(0.1, 3), (0.4, 1)]
            .map(|(frame_error, retries)| Self {
                compressed_bytes: 40,
                mac_bytes: 23,
                frame_error,
                retries,
                max_backoffs: 4,
                min_be: 3,
                max_be: 5,
                queue_bytes: Some(100_000),
                queue_packets: None,
            })
            .into()
    }

    fn arbitrary(choices: &mut Choices<'_>) -> Self {
        let (min_be, packets) = (choices.small(0..4), choices.flag());
        Self {
            compressed_bytes: choices.small(0..48),
            mac_bytes: choices.small(5..115),
            frame_error: choices.fraction(),
            retries: choices.small(0..4),
            max_backoffs: choices.small(0..5),
            min_be,
            max_be: min_be + choices.small(0..4),
            queue_bytes: (!packets).then(|| choices.number(0..10_000)),
            queue_packets: packets.then(|| choices.small(0..10)),
        }
    }
}

impl Ieee802154Spec {
    /// Until the last bit of a frame that no other station delays: means without MAC payload, and for each byte of it. Every try sends all anew.
    fn lone_frame(&self) -> (f64, f64) {
        let backoff = nanoseconds(UNIT_BACKOFF) * (2f64.powi(self.min_be as i32) - 1.0) / 2.0;
        let header = nanoseconds(BYTE) * f64::from(PHY_BYTES + self.mac_bytes);
        let once = backoff + nanoseconds(CCA + TURNAROUND) + header;
        let tries = self.retries as usize;
        let again = std::iter::repeat_n(nanoseconds(ACK_WAIT) + once, tries);
        let times: Vec<f64> = std::iter::once(once).chain(again).collect();
        let bytes = vec![nanoseconds(BYTE); tries + 1];
        (mean_over_tries(self.frame_error, &times), mean_over_tries(self.frame_error, &bytes))
    }

    /// Of datagrams that fit one frame: others are not known.
    fn service(&self) -> Vec<Service> {
        let (frame_ns, idle_ns_per_byte) = self.lone_frame();
        // Of a datagram of `size` bytes, its frame has size - compressed_bytes of MAC payload.
        let idle_ns = frame_ns - f64::from(self.compressed_bytes) * idle_ns_per_byte;
        let piece = |from_bytes: u32, to_bytes: u32, spacing: Duration| Service {
            from_bytes,
            to_bytes,
            idle_ns,
            idle_ns_per_byte,
            busy_ns: idle_ns + nanoseconds(TURNAROUND + ACK + spacing),
            busy_ns_per_byte: idle_ns_per_byte,
        };
        let size_of = |frame: u32| (frame + self.compressed_bytes).checked_sub(self.mac_bytes);
        let short = size_of(MAX_SIFS_FRAME_BYTES).filter(|to| *to > self.compressed_bytes);
        let minimum = self.compressed_bytes + 1;
        let maximum = size_of(MAX_PHY_PACKET_BYTES).filter(|to| *to >= minimum);
        let long_from = short.map_or(minimum, |to| to + 1);
        let short = short.map(|to| piece(minimum, to, SIFS));
        short.into_iter().chain(maximum.map(|to| piece(long_from, to, LIFS))).collect()
    }
}

/// For means.
fn nanoseconds(time: Duration) -> f64 {
    time.as_nanos() as f64
}

/// IEEE 802.15.4 at 2.4 GHz (O-QPSK, 250 kbit/s), without beacons, under 6LoWPAN. Clauses are those of IEEE Std 802.15.4-2006.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ieee802154 {
    /// Bytes by which header compression (RFC 6282) makes a datagram's headers shorter, its own dispatch counted. With 0 nothing is compressed,
    /// and the dispatch makes the datagram one byte longer (RFC 4944, section 5.1).
    pub compressed_bytes: u32,
    /// Bytes of MAC header and FCS in each data frame.
    pub mac_bytes: u32,
    /// Probability that a data frame is not received.
    pub frame_error: Probability,
    /// macMaxFrameRetries: maximum number of retransmissions of a frame.
    pub retries: u32,
    /// macMaxCSMABackoffs: how often the air may be found busy again before access to it has failed.
    pub max_backoffs: u32,
    /// macMinBE.
    pub min_be: u32,
    /// macMaxBE.
    pub max_be: u32,
    /// What may wait at each station behind the datagram being sent, in IP bytes.
    pub queue: Limit,
}

impl Ieee802154 {
    /// The largest macMaxBE (7.4.2).
    pub const LARGEST_BE: u32 = 8;
    /// Maximum bytes of MAC header and FCS that leave room for a fragment in a frame.
    pub const MAX_MAC_BYTES: u32 = MAX_PHY_PACKET_BYTES - MIN_ROOM;

    /// Bytes of the data frames that carry a datagram of `size` IP bytes, each sent once: fragments' headers, MAC headers and FCS, without
    /// preambles.
    pub fn frame_bytes(size: u32, compressed_bytes: u32, mac_bytes: u32) -> u32 {
        let frames = sixlowpan::frames(size, compressed_bytes, MAX_PHY_PACKET_BYTES - mac_bytes);
        frames.into_iter().map(|payload| mac_bytes + payload).sum()
    }
}

/// Unslotted CSMA-CA (7.5.1.4): each frame waits 0 to 2^BE - 1 unit back-off periods, senses the air, turns round and is sent; the receiver turns
/// round and acknowledges (7.5.6.4.2). A frame without an ACK is retransmitted (7.5.6.4.3); one without retries left, or that found no free air,
/// takes its whole datagram with it at that instant. A datagram leaves with its last frame.
///
/// Who starts to send while another turns round is not heard in time: the two frames overlap and both are lost. Every station hears every other
/// without delay, no ACK is lost, and the air counts as busy from a frame that is received to the end of its ACK: of two stations that is exact, for
/// the other one then turns round itself. Frames of one station are an IFS apart (7.5.1.3); its back-off begins after that.
#[derive(Debug)]
pub struct Csma {
    parameters: Ieee802154,
    stations: Stations<Access>,
    /// The last end of a frame that has ended, or of its ACK.
    busy_until: Instant,
    backoffs: Generator,
    errors: Generator,
    exit: StageExit,
}

/// A station's way to the air.
#[derive(Debug, Default)]
struct Access {
    /// MAC payloads of the datagram's frames, bytes; the first is being sent.
    frames: VecDeque<u32>,
    /// How often that was sent without an ACK.
    retries: u32,
    /// NB: how often it has found the air busy since.
    backoffs: u32,
    phase: Phase,
    /// The end of the phase.
    until: Instant,
}

#[derive(Clone, Copy, Debug, Default)]
enum Phase {
    #[default]
    Idle,
    /// Back-off, and CCA at its end.
    Sensing,
    Turning,
    Sending {
        since: Instant,
        collided: bool,
    },
    /// No ACK will come.
    Waiting,
    /// An ACK comes, and then an IFS.
    Spacing,
}

impl Csma {
    /// Refuses `min_be` above `max_be`, `max_be` above [`Ieee802154::LARGEST_BE`], and `mac_bytes` above [`Ieee802154::MAX_MAC_BYTES`].
    pub fn new(parameters: Ieee802154, seed: Seed) -> Result<Self, ParameterError> {
        let Ieee802154 { mac_bytes, min_be, max_be, .. } = parameters;
        if min_be > max_be || max_be > Ieee802154::LARGEST_BE {
            let largest = Ieee802154::LARGEST_BE;
            return Err(ParameterError::new(format!("macMinBE {min_be} and macMaxBE {max_be}, of at most {largest}")));
        }
        if mac_bytes > Ieee802154::MAX_MAC_BYTES {
            let maximum = Ieee802154::MAX_MAC_BYTES;
            return Err(ParameterError::new(format!(
                "a MAC header of {mac_bytes} bytes, at most {maximum} are possible"
            )));
        }
        Ok(Self {
            parameters,
            stations: Stations::new(parameters.queue),
            busy_until: Instant::default(),
            backoffs: Generator::new(seed, Purpose::Backoff),
            errors: Generator::new(seed, Purpose::Packet),
            exit: StageExit::default(),
        })
    }

    fn advance(&mut self, now: Instant) {
        while let Some((due, port)) = self.next().filter(|(due, _)| *due <= now) {
            match self.stations.at(port).access.phase {
                Phase::Idle => unreachable!("an idle station does nothing"),
                Phase::Sensing => self.sensed(port, due),
                Phase::Turning => self.send(port, due),
                Phase::Sending { collided, .. } => self.sent(port, collided, due),
                Phase::Waiting => self.not_acknowledged(port, due),
                Phase::Spacing => self.go_on(port, due),
            }
        }
    }

    /// The end of a phase that comes next; of several at one instant that of the lowest port.
    fn next(&self) -> Option<(Instant, PortId)> {
        let busy = self.stations.iter().filter(|(_, station)| !matches!(station.access.phase, Phase::Idle));
        busy.map(|(port, station)| (station.access.until, port)).min()
    }

    /// Wait and sense for the first frame.
    fn contend(&mut self, port: PortId, now: Instant) {
        let access = &mut self.stations.at(port).access;
        let be = self.parameters.min_be.saturating_add(access.backoffs).min(self.parameters.max_be);
        let periods = self.backoffs.below(1 << be) as u32;
        access.phase = Phase::Sensing;
        access.until = now + UNIT_BACKOFF * periods + CCA;
    }

    fn sensed(&mut self, port: PortId, now: Instant) {
        let is_sent = |phase| matches!(phase, Phase::Sending { since, .. } if since < now);
        let is_busy =
            self.busy_until > now - CCA || self.stations.iter().any(|(_, station)| is_sent(station.access.phase));
        let access = &mut self.stations.at(port).access;
        if !is_busy {
            access.phase = Phase::Turning;
            access.until = now + TURNAROUND;
            return;
        }
        access.backoffs += 1;
        if access.backoffs > self.parameters.max_backoffs { self.give_up(port, now) } else { self.contend(port, now) }
    }

    fn send(&mut self, port: PortId, now: Instant) {
        let mut overlaps = false;
        for (_, station) in self.stations.iter_mut().filter(|(_, station)| station.access.until > now) {
            if let Phase::Sending { collided, .. } = &mut station.access.phase {
                *collided = true;
                overlaps = true;
            }
        }
        let bytes = self.frame_bytes(port);
        let access = &mut self.stations.at(port).access;
        access.phase = Phase::Sending { since: now, collided: overlaps };
        access.until = now + BYTE * (PHY_BYTES + bytes);
    }

    fn sent(&mut self, port: PortId, collided: bool, now: Instant) {
        let received = !collided && !self.errors.chance(self.parameters.frame_error);
        let bytes = self.frame_bytes(port);
        let station = self.stations.at(port);
        let access = &mut station.access;
        if !received {
            access.phase = Phase::Waiting;
            access.until = now + ACK_WAIT;
            self.busy_until = self.busy_until.max(now);
            return;
        }
        let acknowledged = now + TURNAROUND + ACK;
        access.phase = Phase::Spacing;
        access.until = acknowledged + if bytes > MAX_SIFS_FRAME_BYTES { LIFS } else { SIFS };
        self.busy_until = self.busy_until.max(acknowledged);
        access.frames.pop_front();
        if access.frames.is_empty()
            && let Some(packet) = station.packet.take()
        {
            self.exit.depart(packet, now);
        }
    }

    fn not_acknowledged(&mut self, port: PortId, now: Instant) {
        let access = &mut self.stations.at(port).access;
        access.backoffs = 0;
        access.retries += 1;
        if access.retries > self.parameters.retries { self.give_up(port, now) } else { self.contend(port, now) }
    }

    /// The datagram dies with its frame.
    fn give_up(&mut self, port: PortId, now: Instant) {
        let station = self.stations.at(port);
        station.access.frames.clear();
        if let Some(packet) = station.packet.take() {
            self.exit.drop(packet, now, DropCause::Retries);
        }
        self.go_on(port, now);
    }

    /// To the next frame, of this datagram or the next.
    fn go_on(&mut self, port: PortId, now: Instant) {
        let station = self.stations.at(port);
        if station.access.frames.is_empty() && !station.serve_next() {
            station.access.phase = Phase::Idle;
        } else {
            self.begin(port, now);
        }
    }

    /// Begin with the frame that is first, or with those of a datagram that is new.
    fn begin(&mut self, port: PortId, now: Instant) {
        let Ieee802154 { compressed_bytes, mac_bytes, .. } = self.parameters;
        let station = self.stations.at(port);
        if let (Some(packet), true) = (&station.packet, station.access.frames.is_empty()) {
            station.access.frames = sixlowpan::frames(packet.size, compressed_bytes, MAX_PHY_PACKET_BYTES - mac_bytes);
        }
        (station.access.retries, station.access.backoffs) = (0, 0);
        self.contend(port, now);
    }

    /// Bytes of the frame being sent, behind those of the PHY.
    fn frame_bytes(&mut self, port: PortId) -> u32 {
        self.parameters.mac_bytes + self.stations.at(port).access.frames.front().copied().unwrap_or(0)
    }
}

impl Impairment for Csma {
    fn handle_packet(&mut self, packet: Packet, now: Instant) {
        self.advance(now);
        self.exit.receive();
        let (port, bytes) = (packet.port.station(), packet.size.into());
        match self.stations.accept(packet, bytes) {
            Ok(Some(_)) => self.begin(port, now),
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
        let holding = self.stations.iter().filter(|(_, station)| station.held() > 0);
        holding.map(|(_, station)| station.access.until).chain(self.exit.poll_timeout()).min()
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

impl Shared for Csma {
    fn position(&self) -> Position {
        Ieee802154Spec::POSITION
    }
}

const fn symbols(count: u32) -> Duration {
    SYMBOL.saturating_mul(count)
}
