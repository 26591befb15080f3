//! The frames of HTTP/2 (RFC 9113, section 6) that tell of settings, and how much of what they allow is used. It changes none.

use std::collections::{BTreeMap, HashMap};

use wirelab_schema::{SettingSeen, SettingsSeen};

use crate::wire::h2_frames::{DATA, Frame, Frames, HEADERS, PUSH_PROMISE, RST_STREAM, SETTINGS, WINDOW_UPDATE};

/// Name, and what holds if a peer does not say it (RFC 9113, section 6.5.2).
const NAMES: [(u16, &str, Option<u64>); 6] = [
    (1, "header-table-size", Some(INITIAL_TABLE_BYTES)),
    (2, "enable-push", Some(1)),
    (3, "max-concurrent-streams", None),
    (4, "initial-window-size", Some(INITIAL_WINDOW_BYTES)),
    (5, "max-frame-size", Some(16_384)),
    (6, "max-header-list-size", None),
];
const CONNECTION_WINDOW: &str = "connection-window";
const INITIAL_WINDOW_BYTES: u64 = 65_535;
const INITIAL_TABLE_BYTES: u64 = 4096;
/// Credit comes back in steps: of what two implementations at least half of the window, so that less than a third is another window.
const RENEWED: u64 = 3;
/// Of a frame's payload: more than any SETTINGS, and than what stands before a field block.
const HEAD_BYTES: usize = 256;
const END_STREAM: u8 = 0x1;
const ACK: u8 = 0x1;
const PADDED: u8 = 0x8;
const PRIORITY: u8 = 0x20;

/// One connection, seen at one of its ends: both sides' bytes as they pass.
pub struct Http2Connection {
    /// The client's, then the server's.
    sides: [Side; 2],
    /// Requests and pushes under way, with who has ended its part.
    streams: HashMap<u32, [bool; 2]>,
}

/// What one side said, and what the other made of it.
#[derive(Default)]
struct Side {
    frames: Frames,
    head: Vec<u8>,
    passed: usize,
    announced: BTreeMap<u16, [u64; 2]>,
    has_announced: bool,
    /// It has sent something else.
    has_gone_on: bool,
    /// It has acknowledged the other's SETTINGS, which it keeps to from there on.
    keeps: bool,
    connection: Credit,
    flights: HashMap<u32, u64>,
    used: Used,
    /// Size of the other's dynamic table, by its last update, once it has made a field block under these settings (RFC 7541, section 4.2).
    table: Option<u64>,
}

/// What a side has granted the other on the connection.
#[derive(Default)]
struct Credit {
    /// Beyond the initial window and what only gives back.
    raised: u64,
    returned: u64,
    received: u64,
    flight: u64,
    /// The widest window after a return.
    renewed: Option<u64>,
}

#[derive(Default)]
struct Used {
    flight: Option<u64>,
    connection_flight: Option<u64>,
    frame: Option<u64>,
    streams: Option<u64>,
    pushes: u64,
}

impl Http2Connection {
    /// Before its preface.
    pub fn new() -> Self {
        let client = Side { frames: Frames::from_preface(), ..Side::default() };
        Http2Connection { sides: [client, Side::default()], streams: HashMap::new() }
    }

    /// The next bytes of a side: 0 for the client's.
    pub fn passed(&mut self, side: usize, bytes: &[u8]) {
        let mut frames = std::mem::take(&mut self.sides[side].frames);
        frames.advance(bytes, |frame, part| {
            let sender = &mut self.sides[side];
            if part.is_empty() {
                sender.head.clear();
                sender.passed = 0;
            }
            let room = HEAD_BYTES - sender.head.len().min(HEAD_BYTES);
            sender.head.extend_from_slice(&part[..part.len().min(room)]);
            sender.passed += part.len();
            if sender.passed == frame.length {
                let head = std::mem::take(&mut sender.head);
                self.frame(side, frame, &head);
                self.sides[side].head = head;
            }
        });
        self.sides[side].frames = frames;
    }

    /// What it comes to.
    pub fn in_force(&self) -> SettingsSeen {
        let [client, server] = [0, 1].map(|side| self.sides[side].in_force(side));
        SettingsSeen { connections: 1, client, server }
    }

    fn frame(&mut self, side: usize, frame: Frame, head: &[u8]) {
        self.sides[side].has_gone_on |= ![SETTINGS, WINDOW_UPDATE].contains(&frame.kind) || frame.flags & ACK != 0;
        match frame.kind {
            SETTINGS if frame.flags & ACK != 0 => self.sides[side].keeps = true,
            SETTINGS => self.sides[side].announce(head),
            WINDOW_UPDATE => {
                let Some(bytes) = head.first_chunk() else { return };
                self.sides[side].grant(frame.stream, u64::from(u32::from_be_bytes(*bytes) & 0x7fff_ffff));
            }
            DATA => {
                let keeps = self.sides[side].keeps;
                self.sides[1 - side].receive(frame, keeps);
                self.end(side, frame);
            }
            HEADERS => {
                self.open(side, frame.stream);
                self.fields(side, frame, head, if frame.flags & PRIORITY == 0 { 0 } else { 5 });
                self.end(side, frame);
            }
            PUSH_PROMISE => {
                self.sides[1 - side].used.pushes += 1;
                self.fields(side, frame, head, 4);
            }
            RST_STREAM => self.close(frame.stream),
            _ => {}
        }
    }

    /// A stream that HEADERS of its initiator begin: a client's has an odd number.
    fn open(&mut self, side: usize, stream: u32) {
        let own = (stream % 2 == 1) == (side == 0);
        if !own || self.streams.contains_key(&stream) {
            return;
        }
        self.streams.insert(stream, [side == 1, false]);
        if self.sides[side].keeps {
            let concurrent = self.streams.keys().filter(|other| *other % 2 == stream % 2).count();
            let used = &mut self.sides[1 - side].used.streams;
            *used = (*used).max(Some(concurrent as u64));
        }
    }

    fn end(&mut self, side: usize, frame: Frame) {
        if frame.flags & END_STREAM == 0 {
            return;
        }
        if let Some(ended) = self.streams.get_mut(&frame.stream) {
            ended[side] = true;
            if *ended == [true, true] {
                self.close(frame.stream);
            }
        }
    }

    fn close(&mut self, stream: u32) {
        self.streams.remove(&stream);
        for side in &mut self.sides {
            side.flights.remove(&stream);
        }
    }

    /// A field block, behind so many bytes and its padding's length: updates of the table's size come first (RFC 7541, section 6.3).
    fn fields(&mut self, side: usize, frame: Frame, head: &[u8], before: usize) {
        let padding = usize::from(frame.flags & PADDED != 0);
        let Some(block) = head.get(before + padding..) else { return };
        let (last, keeps) = (table_updates(block), self.sides[side].keeps);
        let table = &mut self.sides[1 - side].table;
        *table = last.or(*table).or(keeps.then_some(INITIAL_TABLE_BYTES));
    }
}

impl Default for Http2Connection {
    fn default() -> Self {
        Self::new()
    }
}

impl Side {
    fn announce(&mut self, payload: &[u8]) {
        self.has_announced = true;
        for entry in payload.chunks_exact(6) {
            let id = u16::from_be_bytes([entry[0], entry[1]]);
            let value = u64::from(u32::from_be_bytes([entry[2], entry[3], entry[4], entry[5]]));
            let [low, high] = self.announced.entry(id).or_insert([value, value]);
            (*low, *high) = ((*low).min(value), (*high).max(value));
        }
    }

    fn grant(&mut self, stream: u32, bytes: u64) {
        if stream != 0 {
            self.flights.insert(stream, 0);
            return;
        }
        let credit = &mut self.connection;
        credit.flight = 0;
        let outstanding = credit.received - credit.returned;
        // At the other end, DATA may have passed before the update that opens the connection comes.
        if bytes > outstanding && !self.has_gone_on {
            credit.raised += bytes;
        } else {
            credit.returned += bytes.min(outstanding);
            credit.raised += bytes.saturating_sub(outstanding);
            let window = credit.window().saturating_sub(credit.received - credit.returned);
            credit.renewed = credit.renewed.max(Some(window));
        }
    }

    /// DATA from the other side, which keeps to this side's SETTINGS or has not seen them yet.
    fn receive(&mut self, frame: Frame, keeps: bool) {
        let bytes = frame.length as u64;
        self.connection.received += bytes;
        self.connection.flight += bytes;
        self.used.connection_flight = self.used.connection_flight.max(Some(self.connection.flight));
        let flight = self.flights.entry(frame.stream).or_default();
        *flight += bytes;
        if keeps {
            self.used.flight = self.used.flight.max(Some(*flight));
            self.used.frame = self.used.frame.max(Some(bytes));
        }
        if frame.flags & END_STREAM != 0 {
            self.flights.remove(&frame.stream);
        }
    }

    fn in_force(&self, side: usize) -> BTreeMap<String, SettingSeen> {
        if !self.has_announced {
            return BTreeMap::new();
        }
        let mut seen = BTreeMap::new();
        for (id, name, by_default) in NAMES {
            // A client alone has pushes to take, and a server requests.
            if (id, side) == (2, 1) || (id, side) == (3, 0) {
                continue;
            }
            let announced = self.announced.get(&id).copied().or(by_default.map(|value| [value, value]));
            let used = match id {
                2 => Some(u64::from(self.used.pushes > 0)),
                3 => self.used.streams,
                4 => self.used.flight,
                5 => self.used.frame,
                _ => None,
            };
            let effective = self.table.filter(|_| id == 1).map(|bytes| [bytes, bytes]);
            seen.insert(name.to_owned(), SettingSeen { announced, effective, used });
        }
        let credit = &self.connection;
        let window = credit.window();
        let starved = credit.renewed.filter(|renewed| credit.received > window && renewed * RENEWED < window);
        let connection = SettingSeen {
            announced: Some([window, window]),
            effective: starved.map(|renewed| [renewed, renewed]),
            used: self.used.connection_flight,
        };
        seen.insert(CONNECTION_WINDOW.to_owned(), connection);
        seen
    }
}

impl Credit {
    /// When nothing is under way.
    fn window(&self) -> u64 {
        INITIAL_WINDOW_BYTES + self.raised
    }
}

/// The last of the updates that a field block begins with.
fn table_updates(mut block: &[u8]) -> Option<u64> {
    let mut last = None;
    while let [first, rest @ ..] = block
        && first & 0xe0 == 0x20
    {
        let (mut value, mut shift) = (u64::from(first & 0x1f), 0);
        block = rest;
        // The rest of an integer with a prefix of 5 bits (RFC 7541, section 5.1).
        while (value >= 0x1f || shift > 0) && shift < 35 {
            let [byte, rest @ ..] = block else { return last };
            block = rest;
            value += u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                break;
            }
        }
        last = Some(value);
    }
    last
}

#[cfg(test)]
mod tests;
