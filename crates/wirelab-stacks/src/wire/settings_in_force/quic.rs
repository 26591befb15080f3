//! Transport parameters of a QUIC connection (RFC 9000, section 18.2), what raises their limits, and how much of these is used. It opens no packet.

use std::collections::{BTreeMap, HashMap};

use quinn_proto::VarInt;
use quinn_proto::coding::Codec;
use wirelab_schema::{SettingSeen, SettingsSeen};

use super::Watched;

const IDLE_TIMEOUT: u64 = 0x01;
const DATA: u64 = 0x04;
const STREAM_DATA: [u64; 3] = [0x05, 0x06, 0x07];
const BIDI_LOCAL: u64 = STREAM_DATA[0];
const BIDI_REMOTE: u64 = STREAM_DATA[1];
const STREAMS: u64 = 0x08;

const MAX_DATA: u64 = 0x10;
const MAX_STREAM_DATA: u64 = 0x11;
const MAX_STREAMS_BIDI: u64 = 0x12;
const ACK_FREQUENCY: u64 = 0xaf;
/// Bits of a STREAM frame's type (RFC 9000, section 19.8).
const HAS_OFFSET: u64 = 4;
const HAS_LENGTH: u64 = 2;

/// One connection, seen at one of its ends: what both sides say once the handshake has ended.
#[derive(Default)]
pub struct QuicConnection {
    /// The client's, then the server's.
    sides: [Side; 2],
}

/// What one side said.
#[derive(Default)]
struct Side {
    parameters: Option<BTreeMap<u64, u64>>,
    /// It has sent a packet under the keys of application data.
    has_sent: bool,
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

impl QuicConnection {
    /// A side's transport parameters, as they are on the wire. The last call counts.
    pub fn announced(&mut self, side: usize, parameters: &[u8]) {
        self.sides[side].parameters = Some(read_parameters(parameters));
    }

    /// The frames of a side's next packet of application data.
    pub fn passed(&mut self, side: usize, mut frames: &[u8]) {
        self.sides[side].has_sent = true;
        while let Some((kind, [first, second, third])) = read_frame(&mut frames) {
            let sender = &mut self.sides[side];
            match kind {
                0x08..=0x0f => self.stream(side, first, second.saturating_add(third)),
                MAX_DATA => sender.data = sender.data.max(first),
                MAX_STREAM_DATA => {
                    let limit = sender.stream_data.entry(first).or_default();
                    *limit = second.max(*limit);
                }
                MAX_STREAMS_BIDI => sender.streams = sender.streams.max(first),
                ACK_FREQUENCY => {
                    widen(&mut sender.acknowledging.packets, second);
                    widen(&mut sender.acknowledging.delay, third);
                }
                _ => {}
            }
        }
    }

    /// A STREAM frame that ends at so many bytes of its stream.
    fn stream(&mut self, side: usize, stream: u64, reached: u64) {
        let [sender, receiver] = self.sides.get_disjoint_mut([side, 1 - side]).expect("two sides");
        let end = sender.ends.entry(stream).or_default();
        let further = reached.saturating_sub(*end);
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
}

impl Watched for QuicConnection {
    /// Nothing of a connection whose handshake has not ended at both sides.
    fn in_force(&self) -> SettingsSeen {
        if self.sides.iter().any(|side| side.parameters.is_none() || !side.has_sent) {
            return SettingsSeen::default();
        }
        let [client, server] = [0, 1].map(|side| self.sides[side].in_force(&self.sides[1 - side].used, side));
        SettingsSeen { connections: 1, client, server }
    }
}

impl Side {
    fn in_force(&self, used: &Used, side: usize) -> BTreeMap<String, SettingSeen> {
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

/// The type of the next frame (RFC 9000, section 19) and its first integers; of STREAM its id, offset and length. `None` at the end of the packet
/// and for a frame that is not understood: what follows it cannot be read.
fn read_frame(rest: &mut &[u8]) -> Option<(u64, [u64; 3])> {
    let kind = integer(rest)?;
    let mut fields = [0; 3];
    let mut integers = |rest: &mut &[u8], count: u64| -> Option<()> {
        (0..count).try_for_each(|at| {
            let value = integer(rest)?;
            if let Some(field) = fields.get_mut(at as usize) {
                *field = value;
            }
            Some(())
        })
    };
    match kind {
        // PADDING, PING, HANDSHAKE_DONE, IMMEDIATE_ACK
        0x00 | 0x01 | 0x1e | 0x1f => {}
        // ACK
        0x02 | 0x03 => {
            integers(rest, 2)?;
            let ranges = integer(rest)?;
            let counts = if kind == 0x03 { 3 } else { 0 };
            integers(rest, ranges.checked_mul(2)?.checked_add(1 + counts)?)?;
        }
        // RESET_STREAM
        0x04 => integers(rest, 3)?,
        // STOP_SENDING, STREAM_DATA_BLOCKED
        0x05 | MAX_STREAM_DATA | 0x15 => integers(rest, 2)?,
        // CRYPTO
        0x06 => {
            integers(rest, 1)?;
            skip_data(rest)?;
        }
        // NEW_TOKEN
        0x07 => drop(skip_data(rest)?),
        // STREAM
        0x08..=0x0f => {
            let stream = integer(rest)?;
            let offset = if kind & HAS_OFFSET == 0 { 0 } else { integer(rest)? };
            let length = if kind & HAS_LENGTH == 0 { std::mem::take(rest).len() as u64 } else { skip_data(rest)? };
            fields = [stream, offset, length];
        }
        // DATA_BLOCKED, STREAMS_BLOCKED, RETIRE_CONNECTION_ID
        MAX_DATA | MAX_STREAMS_BIDI | 0x13 | 0x14 | 0x16 | 0x17 | 0x19 => integers(rest, 1)?,
        // NEW_CONNECTION_ID: two integers, an id behind its length in one byte, a token of 16 bytes
        0x18 => {
            integers(rest, 2)?;
            let id_bytes = usize::from(*rest.first()?);
            *rest = rest.get(1 + id_bytes + 16..)?;
        }
        // PATH_CHALLENGE, PATH_RESPONSE
        0x1a | 0x1b => *rest = rest.get(8..)?,
        ACK_FREQUENCY => integers(rest, 4)?,
        // Behind CONNECTION_CLOSE nothing is said that counts.
        _ => return None,
    }
    Some((kind, fields))
}

/// The length of what stands behind it.
fn skip_data(rest: &mut &[u8]) -> Option<u64> {
    let length = integer(rest)?;
    *rest = rest.get(usize::try_from(length).ok()?..)?;
    Some(length)
}

fn integer(rest: &mut &[u8]) -> Option<u64> {
    VarInt::decode(rest).ok().map(VarInt::into_inner)
}

/// Those whose value is an integer.
fn read_parameters(mut bytes: &[u8]) -> BTreeMap<u64, u64> {
    let mut found = BTreeMap::new();
    while let (Some(id), Some(length)) = (integer(&mut bytes), integer(&mut bytes)) {
        let Some((mut value, rest)) = bytes.split_at_checked(length as usize) else { break };
        bytes = rest;
        if let Some(number) = integer(&mut value)
            && value.is_empty()
        {
            found.insert(id, number);
        }
    }
    found
}

#[cfg(test)]
mod tests;
