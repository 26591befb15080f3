//! Transport parameters of QUIC (RFC 9000, section 18.2), what raises their limits, and how much of these is used.

use std::collections::{BTreeMap, HashMap};

use wirelab_net::dissect::quic::{behind_long_header, packet_types, variable_length_integer};
use wirelab_schema::{SettingSeen, SettingsSeen};

use crate::ledger::keys::{PacketKey, Secrets};
use crate::ledger::quic::{Connection, Frame};

const CLIENT_HELLO: u8 = 1;
const ENCRYPTED_EXTENSIONS: u8 = 8;
/// quic_transport_parameters (RFC 9001, section 8.2).
const EXTENSION: u16 = 0x39;
const IDLE_TIMEOUT: u64 = 0x01;
const DATA: u64 = 0x04;
const STREAM_DATA: [u64; 3] = [0x05, 0x06, 0x07];
const BIDI_LOCAL: u64 = STREAM_DATA[0];
const BIDI_REMOTE: u64 = STREAM_DATA[1];
const STREAMS: u64 = 0x08;
const INITIAL: u8 = 0;
const HANDSHAKE: u8 = 2;

/// In the datagrams of one flow, in order.
pub fn seen(datagrams: &[(usize, &[u8])], secrets: &Secrets) -> SettingsSeen {
    if packet_types(datagrams[0].1, false).is_empty() {
        return SettingsSeen::default();
    }
    let mut watch = Watch {
        packets: Connection::new(secrets),
        secrets,
        client_chose: None,
        handshake: [None, None],
        sides: <[Side; 2]>::default(),
    };
    datagrams.iter().for_each(|(side, datagram)| watch.datagram(*side, datagram));
    watch.seen()
}

struct Watch<'a> {
    packets: Connection<'a>,
    secrets: &'a Secrets,
    /// The id by which the client first called the server.
    client_chose: Option<Vec<u8>>,
    handshake: [Option<PacketKey>; 2],
    sides: [Side; 2],
}

/// What one side said.
#[derive(Default)]
struct Side {
    /// Of TLS, by offset: in Initial packets, and in those of the handshake.
    messages: [BTreeMap<u64, Vec<u8>>; 2],
    parameters: Option<BTreeMap<u64, u64>>,
    /// Something came behind its handshake.
    ended: bool,
    /// A secret opened some of that.
    opened: bool,
    /// Limits that it raised: of the connection, of streams, and how many there may be.
    data: u64,
    stream_data: HashMap<u64, u64>,
    streams: u64,
    /// Where each of its streams has got to.
    ends: HashMap<u64, u64>,
    /// All of them together.
    total: u64,
    acknowledging: Acknowledging,
    /// The most of the other's limits that it used.
    used: Used,
}

/// What ACK_FREQUENCY frames ask for (draft-ietf-quic-ack-frequency, section 4): delays in microseconds.
#[derive(Default)]
struct Acknowledging {
    delay: Option<[u64; 2]>,
    packets: Option<[u64; 2]>,
}

#[derive(Default)]
struct Used {
    data: Option<u64>,
    stream_data: Option<u64>,
    streams: Option<u64>,
}

impl Watch<'_> {
    fn datagram(&mut self, side: usize, datagram: &[u8]) {
        let mut rest = datagram;
        while rest.first().is_some_and(|first| first & 0x80 != 0) {
            self.packets.learn(side, rest);
            let behind = behind_long_header(rest).unwrap_or_default();
            let packet = &rest[..rest.len() - behind.len()];
            self.long(side, packet);
            rest = behind;
        }
        // Zeros behind a long header pad the datagram.
        if rest.iter().all(|byte| *byte == 0) {
            return;
        }
        self.sides[side].ended = true;
        if let Some(opened) = self.packets.open(side, rest) {
            self.sides[side].opened = true;
            self.frames(side, &opened.frames);
        }
    }

    fn long(&mut self, side: usize, packet: &[u8]) {
        let kind = packet[0] >> 4 & 3;
        let Some((id, number_at)) = header(packet, kind == INITIAL) else { return };
        let opened = match kind {
            INITIAL => {
                if side == 0 {
                    self.client_chose.get_or_insert_with(|| id.to_vec());
                }
                let Some(id) = &self.client_chose else { return };
                PacketKey::of_initial(id, side).open_from(packet, number_at)
            }
            HANDSHAKE => {
                let known = self.handshake[side].as_mut().and_then(|key| key.open_from(packet, number_at));
                known.or_else(|| {
                    let mut keys = self.secrets.handshake_packets(side);
                    let (key, opened) = keys.find_map(|mut key| {
                        let opened = key.open_from(packet, number_at)?;
                        Some((key, opened))
                    })?;
                    self.handshake[side] = Some(key);
                    Some(opened)
                })
            }
            _ => None,
        };
        if let Some(opened) = opened {
            let level = usize::from(kind == HANDSHAKE);
            each_frame(&opened.frames, |kind, fields| {
                if kind == 0x06
                    && let Some([offset, length]) = integers(fields)
                {
                    let data = behind_integers(fields, 2).and_then(|data| data.get(..length as usize));
                    // One that was sent again may come in other pieces.
                    let known = self.sides[side].messages[level].entry(offset).or_default();
                    if let Some(data) = data.filter(|data| data.len() > known.len()) {
                        *known = data.to_vec();
                    }
                }
            });
            self.sides[side].read_parameters(level);
        }
    }

    fn frames(&mut self, side: usize, frames: &[u8]) {
        each_frame(frames, |kind, fields| match kind {
            0x08..=0x0f => self.stream(side, kind, fields),
            0x10 => self.sides[side].data = self.sides[side].data.max(integers(fields).map_or(0, |[limit]| limit)),
            0x11 => {
                if let Some([stream, limit]) = integers(fields) {
                    let known = self.sides[side].stream_data.entry(stream).or_default();
                    *known = limit.max(*known);
                }
            }
            0x12 => {
                self.sides[side].streams = self.sides[side].streams.max(integers(fields).map_or(0, |[limit]| limit));
            }
            0xaf => {
                if let Some([_, packets, delay]) = integers(fields) {
                    let asked = &mut self.sides[side].acknowledging;
                    widen(&mut asked.packets, packets);
                    widen(&mut asked.delay, delay);
                }
            }
            _ => {}
        });
    }

    /// A STREAM frame: id, offset if there is one, length if there is one.
    fn stream(&mut self, side: usize, kind: u64, fields: &[u8]) {
        let has_offset = kind & 4 != 0;
        let Some([stream]) = integers(fields) else { return };
        let offset = if has_offset { integers(fields).map_or(0, |[_, offset]: [u64; 2]| offset) } else { 0 };
        let before = 1 + usize::from(has_offset);
        let length = if kind & 2 == 0 {
            behind_integers(fields, before).map_or(0, |data| data.len() as u64)
        } else {
            behind_integers(fields, before).and_then(variable_length_integer).map_or(0, |(length, _)| length)
        };
        let [sender, receiver] = self.sides.get_disjoint_mut([side, 1 - side]).expect("two sides");
        let end = sender.ends.entry(stream).or_default();
        let further = offset.saturating_add(length).saturating_sub(*end);
        *end += further;
        let end = *end;
        sender.total = sender.total.saturating_add(further);
        let Some(granted) = &receiver.parameters else { return };
        let initial = |id| granted.get(&id).copied().unwrap_or(0);
        let beyond = |limit: u64, initial: u64| limit.saturating_sub(initial);
        let used = sender.total.saturating_sub(beyond(receiver.data, initial(DATA)));
        sender.used.data = sender.used.data.max(Some(used));
        // Of requests and their answers: the client begins these.
        if stream & 3 == 0 {
            let id = if side == 0 { BIDI_REMOTE } else { BIDI_LOCAL };
            let raised = receiver.stream_data.get(&stream).map_or(0, |limit| beyond(*limit, initial(id)));
            sender.used.stream_data = sender.used.stream_data.max(Some(end.saturating_sub(raised)));
            if side == 0 {
                let used = (stream / 4 + 1).saturating_sub(beyond(receiver.streams, initial(STREAMS)));
                sender.used.streams = sender.used.streams.max(Some(used));
            }
        }
    }

    fn seen(&self) -> SettingsSeen {
        if self.sides.iter().any(|side| !side.ended) {
            return SettingsSeen { unfinished: 1, ..SettingsSeen::default() };
        }
        if self.sides.iter().any(|side| side.parameters.is_none() || !side.opened) {
            return SettingsSeen { sealed: 1, ..SettingsSeen::default() };
        }
        let [client, server] = [0, 1].map(|side| self.sides[side].seen(&self.sides[1 - side].used, side));
        SettingsSeen { connections: 1, client, server, ..SettingsSeen::default() }
    }
}

impl Side {
    /// From ClientHello, or from EncryptedExtensions (RFC 8446, sections 4.1.2 and 4.3.1).
    fn read_parameters(&mut self, level: usize) {
        if self.parameters.is_some() {
            return;
        }
        let mut stream = Vec::new();
        for (offset, bytes) in &self.messages[level] {
            let known = (stream.len() as u64).saturating_sub(*offset) as usize;
            if *offset > stream.len() as u64 {
                break;
            }
            stream.extend_from_slice(bytes.get(known..).unwrap_or_default());
        }
        self.parameters = parameters(&stream);
    }

    fn seen(&self, used: &Used, side: usize) -> BTreeMap<String, SettingSeen> {
        let said = |id| self.parameters.as_ref().and_then(|parameters| parameters.get(&id)).copied().unwrap_or(0);
        let announced = |ids: &[u64]| {
            let values = || ids.iter().map(|id| said(*id));
            values().min().zip(values().max()).map(|(low, high)| [low, high])
        };
        let setting = |announced, used| SettingSeen { announced, effective: None, used };
        let delay = self.acknowledging.delay.map(|range| range.map(|microseconds| microseconds / 1000));
        let mut seen = vec![
            ("stream-window", setting(announced(&STREAM_DATA), used.stream_data)),
            ("connection-window", setting(announced(&[DATA]), used.data)),
            ("quic-idle-timeout", setting(announced(&[IDLE_TIMEOUT]), None)),
            ("ack-delay", setting(delay, None)),
            ("ack-frequency", setting(self.acknowledging.packets, None)),
        ];
        if side == 1 {
            seen.push(("max-concurrent-streams", setting(announced(&[STREAMS]), used.streams)));
        }
        seen.into_iter().map(|(name, seen)| (name.to_owned(), seen)).collect()
    }
}

fn widen(range: &mut Option<[u64; 2]>, value: u64) {
    let [low, high] = range.get_or_insert([value, value]);
    (*low, *high) = (value.min(*low), value.max(*high));
}

/// The destination's id of a long header, and where the packet's number begins (RFC 9000, section 17.2).
fn header(packet: &[u8], has_token: bool) -> Option<(&[u8], usize)> {
    let mut rest = packet.get(5..)?;
    let mut ids = [&[][..]; 2];
    for id in &mut ids {
        let (length, behind) = rest.split_first()?;
        (*id, rest) = behind.split_at_checked((*length).into())?;
    }
    if has_token {
        let (length, behind) = variable_length_integer(rest)?;
        rest = behind.get(usize::try_from(length).ok()?..)?;
    }
    let (_, rest) = variable_length_integer(rest)?;
    Some((ids[0], packet.len() - rest.len()))
}

/// Calls `take(type, what is behind it)` for each frame, as long as they are understood.
fn each_frame(mut frames: &[u8], mut take: impl FnMut(u64, &[u8])) {
    while !frames.is_empty() {
        let Some(bytes) = Frame::read(frames).map(|frame| frame.bytes).filter(|bytes| *bytes <= frames.len()) else {
            return;
        };
        let (frame, rest) = frames.split_at(bytes);
        if let Some((kind, fields)) = variable_length_integer(frame) {
            take(kind, fields);
        }
        frames = rest;
    }
}

fn integers<const N: usize>(mut fields: &[u8]) -> Option<[u64; N]> {
    let mut values = [0; N];
    for value in &mut values {
        (*value, fields) = variable_length_integer(fields)?;
    }
    Some(values)
}

fn behind_integers(mut fields: &[u8], count: usize) -> Option<&[u8]> {
    for _ in 0..count {
        (_, fields) = variable_length_integer(fields)?;
    }
    Some(fields)
}

/// Those whose value is an integer, in a whole message that has them.
fn parameters(messages: &[u8]) -> Option<BTreeMap<u64, u64>> {
    let [kind, l2, l1, l0, rest @ ..] = messages else { return None };
    let body = rest.get(..u32::from_be_bytes([0, *l2, *l1, *l0]) as usize)?;
    let mut extensions = match *kind {
        CLIENT_HELLO => behind_vector(behind_vector(behind_vector(body.get(34..)?, 1)?, 2)?, 1)?.get(2..)?,
        ENCRYPTED_EXTENSIONS => body.get(2..)?,
        _ => return None,
    };
    while let [t1, t0, _, _, ..] = extensions {
        let behind = behind_vector(extensions.get(2..)?, 2)?;
        if u16::from_be_bytes([*t1, *t0]) == EXTENSION {
            return Some(read_parameters(&extensions[4..extensions.len() - behind.len()]));
        }
        extensions = behind;
    }
    None
}

fn read_parameters(mut bytes: &[u8]) -> BTreeMap<u64, u64> {
    let mut found = BTreeMap::new();
    while let Some([id, length]) = integers(bytes) {
        let Some((value, rest)) = behind_integers(bytes, 2).and_then(|rest| rest.split_at_checked(length as usize))
        else {
            break;
        };
        if let Some((value, [])) = variable_length_integer(value) {
            found.insert(id, value);
        }
        bytes = rest;
    }
    found
}

/// What is behind a vector whose length has so many bytes.
fn behind_vector(bytes: &[u8], length_bytes: usize) -> Option<&[u8]> {
    let (length, rest) = bytes.split_at_checked(length_bytes)?;
    rest.get(length.iter().fold(0, |length, byte| length << 8 | usize::from(*byte))..)
}

#[cfg(test)]
mod tests;
