//! Whether a link delivered what a client says that it exchanged: bytes that cover each message, in time for the instants that it claims.
//!
//! It opens no file and reads no payload: it counts bytes and compares instants. So it finds an exchange that no packets carried, and cannot find one
//! whose packets carried something else of the same size.

mod carried;
mod received;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::time::Duration;

use carried::Carried;
pub use received::unreceived;
use wirelab_link::{Direction, Instant};

use crate::dissect::ranges::Ranges;
use crate::dissect::rows::dissections;
use crate::dissect::{Dissection, Transport};
use crate::log_file::Log;
use crate::packet_log::{Outcome, Record};

/// How far two clocks' readings of one instant may lie apart: kernel stamps are CLOCK_REALTIME, mapped to the clock of the endpoints.
pub const TOLERANCE: Duration = Duration::from_micros(200);

/// An exchange that its client says is complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Which of the trial's clients or subscribers.
    pub client: u32,
    /// Its position among those of its client.
    pub index: u32,
    /// When it started: no byte of it left the client before.
    pub start: Instant,
    /// When its last byte had come.
    pub end: Instant,
    /// How far these instants can be trusted.
    pub stamps: Stamps,
    /// The client's port; none if the record does not say it or several connections were used.
    pub local_port: Option<u16>,
    /// Bytes of its message to the server and of the one from it: the least that had to cross the link.
    pub bytes: [u64; 2],
    /// The server answers a message only when it has it all.
    pub answered: bool,
}

/// How far the instants of a client can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamps {
    /// They are readings of CLOCK_MONOTONIC, at most this far off in addition to [`TOLERANCE`].
    Within(Duration),
    /// Both may have been later than they say, by the same time: the client's clock began after its process had started. It had ended by this instant.
    Shifted(Instant),
}

/// A packet that reached the other side of the link uncorrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Which way.
    pub direction: Direction,
    /// The port of the client's side.
    pub client_port: Option<u16>,
    /// When it entered the link.
    pub arrival: Instant,
    /// When it left the link, as computed: its receiver cannot have had it before.
    pub departure: Instant,
    /// Payload bytes that no earlier packet had delivered. Of UDP whose packets do not say whether they were sent before, all of the payload.
    pub new_bytes: u32,
}

/// Why the packets do not confirm an exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lack {
    /// By its end too few bytes of a direction had been delivered, or none that another exchange had not claimed.
    Bytes {
        /// Which way.
        direction: Direction,
        /// The message's.
        needed: u64,
        /// Those delivered that no other exchange claims.
        delivered: u64,
    },
    /// No packet from the server came after the whole message was there and before the exchange's end.
    Answer,
    /// The server's own record has no message between its start and its end that no other exchange claims.
    Received,
    /// Its packets took longer than the exchange is said to have taken.
    Duration {
        /// As the client says.
        claimed: Duration,
        /// From the first packet of its connection to the last that it needed.
        packets: Duration,
    },
}

impl fmt::Display for Lack {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lack::Bytes { direction, needed, delivered } => {
                let to = if *direction == Direction::Uplink { "server" } else { "client" };
                write!(formatter, "the link delivered {delivered} of the {needed} bytes to the {to} by its end")
            }
            Lack::Answer => write!(formatter, "no answer crossed the link between its message and its end"),
            Lack::Received => write!(formatter, "the server received no whole message between its start and its end"),
            Lack::Duration { claimed, packets } => {
                let [claimed, packets] = [claimed, packets].map(|time| time.as_secs_f64() * 1e3);
                write!(formatter, "it is said to have taken {claimed:.3} ms, and its packets took {packets:.3} ms")
            }
        }
    }
}

/// What a log's link delivered to and from a port of the server's side, in order of departure: traffic to other ports confirms nothing.
pub fn deliveries(log: &Log, server_port: u16) -> Vec<Delivery> {
    let mut packets: Vec<_> = (log.records.iter().map(|(_, bytes)| bytes).zip(dissections(log)))
        .filter(|(bytes, (record, _))| record.outcome == Outcome::Delivered && is_accepted(record, bytes))
        .map(|(_, dissected)| dissected)
        // A later fragment names no port.
        .filter(|(_, packet)| packet.ports.is_none_or(|ports| ports.server == server_port))
        .collect();
    packets.sort_by_key(|(record, _)| record.departure);
    let mut ranges: HashMap<(usize, Direction), Ranges> = HashMap::new();
    let mut messages: HashSet<(usize, Direction, u64)> = HashSet::new();
    // A copy may arrive where its original is lost.
    let mut datagrams: HashSet<u64> = HashSet::new();
    let delivery = |(record, packet): (&Record, Dissection)| {
        let direction = record.port.direction();
        let new_bytes = if let Some(segment) = &packet.tcp {
            let delivered = ranges.entry((packet.flow, direction)).or_default();
            let (start, end) = (segment.payload_from, segment.payload_from + i64::from(packet.payload_bytes));
            let before = delivered.count(start, end);
            delivered.insert(start, end);
            (end - start - before) as u32
        } else if let Some(message) = packet.coap {
            let is_new = messages.insert((packet.flow, direction, message.identity));
            if is_new { packet.payload_bytes } else { 0 }
        } else if packet.transport == Transport::Udp && datagrams.insert(record.sequence) {
            packet.payload_bytes
        } else {
            0
        };
        Delivery {
            direction,
            client_port: packet.ports.map(|ports| ports.client),
            arrival: record.arrival,
            departure: record.departure,
            new_bytes,
        }
    };
    packets.into_iter().map(delivery).collect()
}

/// Whether a packet's receiver takes it: an inverted bit is found by a checksum, but for IPv6's traffic class, flow label and hop limit (RFC 8200,
/// sections 3 and 8.1), which none covers.
fn is_accepted(record: &Record, bytes: &[u8]) -> bool {
    let is_ipv6 = bytes.first().is_some_and(|byte| byte >> 4 == 6);
    record.corrupted_bit.is_none_or(|bit| is_ipv6 && matches!(bit, 4..32 | 56..64))
}

/// The claims that the deliveries do not confirm, with the reason, in order of their ends. `deliveries` are in order of departure.
///
/// Claims that name a port are compared with the packets of that port, the others with all packets. What one claim needs another cannot use: in
/// order of their ends, claims take bytes away, and one that finds too few takes none.
pub fn unconfirmed<'a>(claims: &'a [Claim], deliveries: &[Delivery]) -> Vec<(&'a Claim, Lack)> {
    let mut by_port: HashMap<Option<u16>, Vec<&Delivery>> = HashMap::new();
    for delivery in deliveries {
        by_port.entry(delivery.client_port).or_default().push(delivery);
    }
    let mut groups: HashMap<Option<u16>, Vec<&Claim>> = HashMap::new();
    for claim in claims {
        groups.entry(claim.local_port).or_default().push(claim);
    }
    let without_port = groups.remove(&None).unwrap_or_default();
    let (mut found, mut carried) = (Vec::new(), Vec::new());
    for (port, group) in groups {
        let (confirmed, lacking) = judged(group, &Carried::of(by_port.get(&port).into_iter().flatten().copied()));
        found.extend(lacking);
        carried.extend(confirmed);
    }
    if !without_port.is_empty() {
        carried.extend(without_port);
        let (_, lacking) = judged(carried, &Carried::of(deliveries.iter()));
        found.extend(lacking.into_iter().filter(|(claim, _)| claim.local_port.is_none()));
    }
    found.sort_by_key(|(claim, _)| (claim.end, claim.client, claim.index));
    found
}

/// The claims that the packets of their ports confirm, and the others with the reason.
fn judged<'a>(mut claims: Vec<&'a Claim>, carried: &Carried) -> (Vec<&'a Claim>, Vec<(&'a Claim, Lack)>) {
    claims.sort_by_key(|claim| claim.latest());
    let alone = alone(&claims);
    let (mut confirmed, mut lacking, mut used) = (Vec::new(), Vec::new(), [0; 2]);
    for (claim, alone) in claims.into_iter().zip(alone) {
        match carried.lack(claim, used, alone) {
            Some(lack) => lacking.push((claim, lack)),
            None => {
                used = [0, 1].map(|side| used[side] + claim.bytes[side]);
                confirmed.push(claim);
            }
        }
    }
    (confirmed, lacking)
}

/// Whether no other exchange runs during each claim. Claims are in order of their latest ends.
fn alone(claims: &[&Claim]) -> Vec<bool> {
    let mut before = Instant::default();
    let mut alone = Vec::with_capacity(claims.len());
    for claim in claims {
        alone.push(before <= claim.start);
        before = before.max(claim.ended());
    }
    let mut behind = Instant::from_nanos(u64::MAX);
    for (claim, alone) in claims.iter().zip(&mut alone).rev() {
        *alone &= claim.ended() <= behind;
        behind = behind.min(claim.start);
    }
    alone
}

impl Claim {
    /// When nothing of it ran any more, by its own clock or by that of its process.
    fn ended(&self) -> Instant {
        match self.stamps {
            Stamps::Within(_) => self.end,
            Stamps::Shifted(ended) => self.end.max(ended),
        }
    }

    /// The latest instant at which its last packet may have come.
    fn latest(&self) -> Instant {
        match self.stamps {
            Stamps::Within(tolerance) => self.end + tolerance + TOLERANCE,
            Stamps::Shifted(_) => self.ended() + TOLERANCE,
        }
    }

    /// The earliest instant at which its first packet may have left.
    fn earliest(&self) -> Instant {
        match self.stamps {
            Stamps::Within(tolerance) => self.start - tolerance - TOLERANCE,
            Stamps::Shifted(_) => self.start - TOLERANCE,
        }
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod traces;
