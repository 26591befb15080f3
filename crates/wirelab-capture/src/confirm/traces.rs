//! Made traces of honest clients: the claims, and the log of a link that loses, delays, reorders and duplicates packets.
//!
//! Messages are cut into segments at random. Lost segments are sent again, some that arrived too, with other boundaries. Clients have several
//! connections at a time, with several exchanges at a time on each. Half of the links translate addresses, and forget them now and then. The link's clock and the stamps of arriving packets differ by up to 0.15 ms.

use std::net::SocketAddr;

use wirelab_link::{Packet, PortId};
use wirelab_schema::{LinkSpec, PacketLogHeader, SCHEMA_VERSION};

use super::*;
use crate::flow::Flows;
use crate::translation::{End, Owners, translate};

const US: u64 = 1_000;
const MS: u64 = 1_000 * US;
pub const SERVER_PORT: u16 = 5683;
const SERVER: [u8; 2] = SERVER_PORT.to_be_bytes();

/// Pseudo-random numbers of a seed (splitmix64).
pub struct Draw(pub u64);

impl Draw {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound.max(1)
    }

    fn percent(&mut self, share: u64) -> bool {
        self.below(100) < share
    }
}

/// How the messages travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transport {
    Tcp,
    /// Datagrams with a message ID, by which copies are known.
    Coap,
    /// Datagrams that say nothing, as QUIC's.
    Opaque,
}

/// One way of a connection.
#[derive(Clone, Debug)]
struct Stream {
    port: u16,
    direction: Direction,
    first: u32,
    sent: u64,
    /// When all that was sent had come.
    complete: u64,
}

/// Honest claims with the log that carried them.
pub struct Trace {
    pub claims: Vec<Claim>,
    pub log: Log,
}

/// An address translation: the end that it gives each end of a client, and what draws when that changes.
struct Nat {
    draw: Draw,
    outer: HashMap<SocketAddr, SocketAddr>,
    owners: Owners,
}

impl Nat {
    /// What a log has of a packet, given as the client's side knows it: its bytes, and the end that the server's side knows.
    fn logged(&mut self, direction: Direction, inside: &[u8]) -> (Vec<u8>, Option<SocketAddr>) {
        let ends = Flows::default().read(inside).1.expect("it has ends");
        let own = if direction == Direction::Uplink { ends.source } else { ends.destination };
        let new = SocketAddr::from(([10, 9, 0, 1], 1024 + self.draw.below(60_000) as u16));
        let changes = direction == Direction::Uplink && (!self.outer.contains_key(&own) || self.draw.percent(10));
        if changes && !self.outer.values().any(|taken| *taken == new) {
            self.outer.insert(own, new);
        }
        let Some(outer) = self.outer.get(&own).copied() else { return (inside.to_vec(), None) };
        let mut came = inside.to_vec();
        if direction == Direction::Downlink {
            translate(&mut came, End::Destination, outer);
        }
        let (flow, ends) = Flows::default().read(&came);
        let translated = Some(if direction == Direction::Uplink { outer } else { own });
        let port = PortId(direction.index() as u16);
        let (ends, translated) = (ends.map(Box::new), translated.map(Box::new));
        let packet = Packet { ends, translated, ..Packet::new(0, port, 0, Instant::default(), flow) };
        let (bytes, end) = self.owners.logged(&packet, &came);
        (bytes.unwrap_or(came), end)
    }
}

struct Maker {
    draw: Draw,
    transport: Transport,
    /// No byte but those of the messages.
    exact: bool,
    loss: u64,
    delay: u64,
    jitter: u64,
    /// How much earlier the stamps of a direction's packets are, and 150 us.
    early: [u64; 2],
    ports: bool,
    next_port: u16,
    nat: Option<Nat>,
    packets: Vec<(u64, Vec<Record>, Vec<u8>)>,
    claims: Vec<Claim>,
}

/// The trace of a seed. An exact one is over TCP, without handshakes and headers, and names its ports.
pub fn trace(seed: u64, exact: bool) -> Trace {
    let mut draw = Draw(seed);
    let transport = match draw.below(4) {
        2 if !exact => Transport::Coap,
        3 if !exact => Transport::Opaque,
        _ => Transport::Tcp,
    };
    let [loss, delay, jitter] =
        [[0, 1, 10, 30][draw.below(4) as usize], draw.below(40 * MS), draw.below(3) * draw.below(10 * MS)];
    let early = [draw.below(300 * US), draw.below(300 * US)];
    let ports = exact || draw.percent(60);
    let mut maker = Maker {
        draw,
        transport,
        exact,
        loss,
        delay,
        jitter,
        early,
        ports,
        next_port: 40_000,
        nat: (seed % 2 == 1).then(|| Nat { draw: Draw(seed), outer: HashMap::new(), owners: Owners::default() }),
        packets: vec![],
        claims: vec![],
    };
    for _ in 0..=maker.draw.below(3) {
        maker.connection();
    }
    maker.finish()
}

impl Maker {
    /// The exchanges of one place: on one connection, or each on its own.
    fn connection(&mut self) {
        let mut now = 1_000_000 * MS + self.draw.below(50 * MS);
        let persistent = self.draw.percent(50);
        let mut open: Option<[Stream; 2]> = None;
        for _ in 0..=self.draw.below(3) {
            let start = now;
            let mut streams = open.take().filter(|_| persistent).unwrap_or_else(|| self.opened(&mut now));
            let together = if persistent { 1 + self.draw.below(3) as usize } else { 1 };
            now = if self.draw.percent(15) {
                self.published(&mut streams[1], now)
            } else {
                self.exchanged(&mut streams, start, now, together, persistent)
            };
            now += self.draw.below(20 * MS);
            open = Some(streams);
        }
    }

    /// A new connection, with the bytes of its handshake.
    fn opened(&mut self, now: &mut u64) -> [Stream; 2] {
        self.next_port += 1;
        let port = self.next_port;
        let mut streams = Direction::ALL.map(|direction| {
            let first = if self.draw.percent(20) { u32::MAX - 500 } else { self.draw.below(1 << 32) as u32 };
            Stream { port, direction, first, sent: 0, complete: *now }
        });
        for stream in &mut streams {
            if self.transport == Transport::Tcp {
                *now = self.packet(stream, *now, true, 0);
                stream.first = stream.first.wrapping_add(1);
            }
        }
        let handshake = if self.exact || self.draw.percent(40) { 0 } else { 500 };
        for stream in &mut streams {
            let bytes = self.draw.below(handshake);
            *now = self.piece(stream, *now, bytes);
        }
        streams
    }

    /// A message that the server sends by itself; when it had come.
    fn published(&mut self, stream: &mut Stream, now: u64) -> u64 {
        let bytes = 1 + self.draw.below(3_000);
        let end = self.piece(stream, now, bytes);
        let stamps = Stamps::Within(Duration::ZERO);
        self.claim(stream.port, [now, end], stamps, [0, bytes], false);
        end
    }

    /// Messages that are sent at about the same time, and their answers; when all had come.
    fn exchanged(&mut self, streams: &mut [Stream; 2], start: u64, now: u64, together: usize, persistent: bool) -> u64 {
        let [uplink, downlink] = streams;
        let sizes: Vec<_> = (0..together).map(|_| [1 + self.draw.below(3_000), 1 + self.draw.below(3_000)]).collect();
        // Halves of the messages, mixed.
        let mut pieces: Vec<(u64, usize, u64)> = Vec::new();
        for (place, [bytes, _]) in sizes.iter().enumerate() {
            let half = self.draw.below(*bytes);
            pieces.extend([half, bytes - half].map(|size| (now + self.draw.below(2 * MS), place, size)));
        }
        pieces.sort_unstable();
        let mut complete = vec![0; together];
        for (at, place, bytes) in &pieces {
            complete[*place] = complete[*place].max(self.piece(uplink, *at, *bytes));
        }
        let mut answers: Vec<_> =
            complete.iter().enumerate().map(|(place, at)| (at + self.draw.below(5 * MS), place)).collect();
        answers.sort_unstable();
        let mut last = now;
        for (at, place) in answers {
            let end = self.piece(downlink, at, sizes[place][1]) + self.draw.below(MS);
            let first = pieces.iter().filter(|piece| piece.1 == place).map(|piece| piece.0).min().unwrap_or(now);
            let began = if start < now { start } else { first };
            let shifted = !persistent && self.draw.percent(30);
            let (instants, stamps) = if shifted {
                let late = self.draw.below(20 * MS);
                ([began - late, end - late], Stamps::Shifted(Instant::from_nanos(end + self.draw.below(MS))))
            } else {
                ([began, end], Stamps::Within(Duration::ZERO))
            };
            self.claim(uplink.port, instants, stamps, sizes[place], true);
            last = last.max(end);
        }
        last
    }

    fn claim(&mut self, port: u16, [start, end]: [u64; 2], stamps: Stamps, bytes: [u64; 2], answered: bool) {
        let [start, end] = [start, end].map(Instant::from_nanos);
        let (index, local_port) = (self.claims.len() as u32, self.ports.then_some(port));
        self.claims.push(Claim { client: 0, index, start, end, stamps, local_port, bytes, answered });
    }

    /// Some bytes of a message from `now` on; when they, and all before them, had come.
    fn piece(&mut self, stream: &mut Stream, mut now: u64, mut bytes: u64) -> u64 {
        if !self.exact && bytes > 0 {
            bytes += self.draw.below(3) * self.draw.below(60);
        }
        let mut complete = now;
        while bytes > 0 {
            let size = (1 + self.draw.below(1_400)).min(bytes);
            complete = complete.max(self.packet(stream, now, false, size));
            (bytes, now) = (bytes - size, now + self.draw.below(100 * US));
        }
        if self.transport == Transport::Tcp {
            complete = complete.max(stream.complete);
            stream.complete = complete;
        }
        complete
    }

    /// One segment or datagram, sent until it arrives; when it first did. `syn` makes it the first of a connection.
    fn packet(&mut self, stream: &mut Stream, now: u64, syn: bool, size: u64) -> u64 {
        let from = stream.sent;
        stream.sent += size;
        let (mut sent, mut first) = (now, None::<u64>);
        for attempt in 0..6 {
            let is_lost = !syn && attempt < 5 && self.draw.percent(self.loss);
            // A segment that is sent again may begin before.
            let back = if attempt > 0 && self.transport == Transport::Tcp { self.draw.below(from + 1) } else { 0 };
            let length = (size + back).min(1_400.max(size));
            let bytes = self.bytes(stream, from + size - length, length, syn);
            let mut came = self.sent(stream.direction, sent, is_lost, bytes);
            first = first.into_iter().chain(came.take()).min();
            if first.is_some() && (syn || !self.draw.percent(self.loss / 2)) {
                break;
            }
            sent += 10 * MS + self.draw.below(300 * MS);
        }
        let came = first.unwrap_or(sent);
        if self.transport == Transport::Tcp && self.draw.percent(50) {
            let back = Stream { direction: Direction::ALL[1 - stream.direction.index()], ..stream.clone() };
            let bytes = self.bytes(&back, 0, 0, false);
            self.sent(back.direction, came, false, bytes);
        }
        came
    }

    /// A packet's way over the link; when it came, if it did.
    fn sent(&mut self, direction: Direction, at: u64, is_lost: bool, bytes: (u32, Vec<u8>)) -> Option<u64> {
        let arrival = at + 150 * US - self.early[direction.index()];
        let copies = if self.draw.percent(3) { 2 } else { 1 };
        let mut came = None::<u64>;
        let mut records = Vec::new();
        let (size, inside) = bytes;
        let (inside, translated) = match &mut self.nat {
            Some(nat) => nat.logged(direction, &inside),
            None => (inside, None),
        };
        for copy in 0..copies {
            let departure = arrival + self.delay + self.draw.below(self.jitter);
            let is_lost = is_lost && copy == 0;
            if !is_lost {
                came = came.into_iter().chain([departure.max(at) + self.draw.below(200 * US)]).min();
            }
            records.push(Record {
                sequence: 0,
                port: PortId(direction.index() as u16),
                outcome: if is_lost { Outcome::Loss } else { Outcome::Delivered },
                translated,
                originated: false,
                copy: copy > 0,
                corrupted_bit: None,
                size,
                arrival: Instant::from_nanos(arrival),
                departure: Instant::from_nanos(departure),
                lateness: Duration::ZERO,
            });
        }
        self.packets.push((arrival, records, inside));
        came
    }

    /// The size and the first bytes of a packet with `length` bytes from `from` on.
    fn bytes(&self, stream: &Stream, from: u64, length: u64, syn: bool) -> (u32, Vec<u8>) {
        let is_tcp = self.transport == Transport::Tcp;
        let [near, far] = [(1, stream.port.to_be_bytes()), (2, SERVER)];
        let (source, destination) = if stream.direction == Direction::Uplink { (near, far) } else { (far, near) };
        let coap = if self.transport == Transport::Coap { 4 } else { 0 };
        let size = if is_tcp { 40 } else { 28 + coap } + length as u32;
        let [high, low] = (size as u16).to_be_bytes();
        let mut bytes = vec![0x45, 0, high, low, 0, 0, 0x40, 0, 64, if is_tcp { 6 } else { 17 }, 0, 0];
        bytes.extend([10, 0, 0, source.0, 10, 0, 0, destination.0]);
        bytes.extend([source.1, destination.1].concat());
        if is_tcp {
            bytes.extend(stream.first.wrapping_add(from as u32).to_be_bytes());
            bytes.extend([0, 0, 0, 0, 0x50, if syn { 0x02 } else { 0x10 }, 0, 0, 0, 0, 0, 0]);
            return (size, bytes);
        }
        bytes.extend([0, 0, 0, 0]);
        // A confirmable POST with the position in the stream as its ID, or bytes that are not CoAP's.
        let [.., one, two, three, four] = (from as u32).to_be_bytes();
        bytes.extend(if coap > 0 { [0x40, 0x02, three, four] } else { [0xff, one, three, four] });
        bytes.push(two);
        (size, bytes)
    }

    fn finish(mut self) -> Trace {
        self.packets.sort_by_key(|(arrival, ..)| *arrival);
        let numbered = self.packets.into_iter().zip(0..).flat_map(|((_, records, bytes), sequence)| {
            records.into_iter().map(move |record| (Record { sequence, ..record }, bytes.clone()))
        });
        let header = PacketLogHeader {
            schema_version: SCHEMA_VERSION,
            link: LinkSpec::default(),
            seed: 0,
            ports: vec!["client".to_owned(), "server".to_owned()],
        };
        Trace { claims: self.claims, log: Log { header, records: numbered.collect(), rests: vec![], torn_bytes: 0 } }
    }
}
