//! QUIC packets (RFC 9000, section 17) and their frames (section 19).

use crate::dissect::quic::{behind_long_header, source_id_bytes, variable_length_integer};

use super::keys::{Opened, PacketKey, Secrets, tag_bytes};

/// One connection: both sides' keys, once something showed them, and the lengths of their connection ids.
pub struct Connection<'a> {
    secrets: &'a Secrets,
    keys: [Option<PacketKey>; 2],
    id_bytes: [usize; 2],
}

/// What the bytes of one datagram were spent on.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Short headers, and frames but for what they carry.
    pub transport: u64,
    /// Packets with long headers, whole, and frames with messages of TLS.
    pub handshake: u64,
    /// Tags.
    pub protection: u64,
    /// What streams and datagrams carried.
    pub application: u64,
    /// What no secret opened.
    pub sealed: u64,
    /// There was nothing but acknowledgements and padding.
    pub only_acknowledges: bool,
}

const LONG_HEADER: u8 = 0x80;

impl<'a> Connection<'a> {
    /// Before its first packet.
    pub fn new(secrets: &'a Secrets) -> Self {
        Self { secrets, keys: [None, None], id_bytes: [0; 2] }
    }

    /// Account for the next datagram of a side.
    pub fn datagram(&mut self, side: usize, datagram: &[u8]) -> Spent {
        let mut spent = Spent::default();
        let mut rest = datagram;
        while rest.first().is_some_and(|first| first & LONG_HEADER != 0) {
            self.learn(side, rest);
            let behind = behind_long_header(rest).unwrap_or_default();
            let packet = &rest[..rest.len() - behind.len()];
            match packet[0] >> 4 & 3 {
                // Early data has separate keys.
                1 => spent.sealed += packet.len() as u64,
                _ => spent.handshake += packet.len() as u64,
            }
            rest = behind;
        }
        if rest.is_empty() {
            return spent;
        }
        let Some(opened) = self.open(side, rest) else {
            spent.sealed += rest.len() as u64;
            return spent;
        };
        spent.transport += opened.header_bytes as u64;
        spent.protection += tag_bytes() as u64;
        let before = (spent.handshake, spent.sealed);
        let acknowledges = frames(&opened.frames, &mut spent).is_some_and(|only| only);
        spent.only_acknowledges = acknowledges && before == (0, 0);
        spent
    }

    /// Take note of the id that a side chose for itself, of a packet with a long header.
    fn learn(&mut self, side: usize, packet: &[u8]) {
        if let Some(length) = source_id_bytes(packet) {
            self.id_bytes[side] = length;
        }
    }

    /// A side's packet with a short header, opened by the key that opened one before or by a new one.
    fn open(&mut self, side: usize, packet: &[u8]) -> Option<Opened> {
        let id_bytes = self.id_bytes[1 - side];
        if let Some(opened) = self.keys[side].as_mut().and_then(|key| key.open(packet, id_bytes)) {
            return Some(opened);
        }
        let (key, opened) = self.secrets.packets(side).find_map(|mut key| {
            let opened = key.open(packet, id_bytes)?;
            Some((key, opened))
        })?;
        self.keys[side] = Some(key);
        Some(opened)
    }
}

/// Account for the frames of a packet; true if they are acknowledgements and padding alone. What is not understood counts as the transport's.
fn frames(mut rest: &[u8], spent: &mut Spent) -> Option<bool> {
    let mut only_acknowledges = true;
    while !rest.is_empty() {
        let frame = Frame::read(rest);
        let Some(frame) = frame.filter(|frame| frame.bytes <= rest.len()) else {
            spent.transport += rest.len() as u64;
            return None;
        };
        only_acknowledges &= frame.acknowledges;
        let carried = match frame.carries {
            Carries::Nothing => 0,
            Carries::Application(bytes) => {
                spent.application += bytes;
                bytes
            }
            Carries::Tls(bytes) => {
                spent.handshake += bytes;
                bytes
            }
        };
        spent.transport += frame.bytes as u64 - carried;
        rest = &rest[frame.bytes..];
    }
    Some(only_acknowledges)
}

/// One frame.
struct Frame {
    /// All of it.
    bytes: usize,
    carries: Carries,
    /// An acknowledgement or padding.
    acknowledges: bool,
}

enum Carries {
    Nothing,
    Application(u64),
    Tls(u64),
}

/// Reads the integers of a frame.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn next(&mut self) -> Option<u64> {
        let (value, rest) = variable_length_integer(self.0)?;
        self.0 = rest;
        Some(value)
    }

    fn skip(&mut self, count: u64) -> Option<()> {
        (0..count).try_for_each(|_| self.next().map(drop))
    }

    fn bytes(&mut self, count: u64) -> Option<()> {
        self.0 = self.0.get(usize::try_from(count).ok()?..)?;
        Some(())
    }
}

impl Frame {
    /// The first of these; `None` if it is not understood.
    fn read(all: &[u8]) -> Option<Self> {
        let mut fields = Fields(all);
        let kind = fields.next()?;
        let (mut carries, mut acknowledges) = (Carries::Nothing, false);
        match kind {
            // PADDING, ACK
            0x00 => acknowledges = true,
            0x02 | 0x03 => {
                acknowledges = true;
                fields.skip(2)?;
                let ranges = fields.next()?;
                fields.skip(1 + ranges.checked_mul(2)?)?;
                fields.skip(if kind == 3 { 3 } else { 0 })?;
            }
            // PING, HANDSHAKE_DONE, IMMEDIATE_ACK
            0x01 | 0x1e | 0x1f => {}
            // RESET_STREAM
            0x04 => fields.skip(3)?,
            // STOP_SENDING, MAX_STREAM_DATA, STREAM_DATA_BLOCKED
            0x05 | 0x11 | 0x15 => fields.skip(2)?,
            // CRYPTO
            0x06 => {
                fields.skip(1)?;
                let length = fields.next()?;
                fields.bytes(length)?;
                carries = Carries::Tls(length);
            }
            // NEW_TOKEN
            0x07 => {
                let length = fields.next()?;
                fields.bytes(length)?;
            }
            // STREAM: offset, length
            0x08..=0x0f => {
                fields.skip(1 + (kind >> 2 & 1))?;
                let length = if kind & 2 == 0 { fields.0.len() as u64 } else { fields.next()? };
                fields.bytes(length)?;
                carries = Carries::Application(length);
            }
            // MAX_DATA, MAX_STREAMS, DATA_BLOCKED, STREAMS_BLOCKED, RETIRE_CONNECTION_ID
            0x10 | 0x12..=0x14 | 0x16 | 0x17 | 0x19 => fields.skip(1)?,
            // NEW_CONNECTION_ID
            0x18 => {
                fields.skip(2)?;
                let length = u64::from(*fields.0.first()?);
                fields.bytes(1 + length + 16)?;
            }
            // PATH_CHALLENGE, PATH_RESPONSE
            0x1a | 0x1b => fields.bytes(8)?,
            // CONNECTION_CLOSE, by QUIC with the type of a frame
            0x1c | 0x1d => {
                fields.skip(if kind == 0x1c { 2 } else { 1 })?;
                let length = fields.next()?;
                fields.bytes(length)?;
            }
            // DATAGRAM (RFC 9221)
            0x30 | 0x31 => {
                let length = if kind == 0x30 { fields.0.len() as u64 } else { fields.next()? };
                fields.bytes(length)?;
                carries = Carries::Application(length);
            }
            // ACK_FREQUENCY (draft-ietf-quic-ack-frequency)
            0xaf => fields.skip(4)?,
            _ => return None,
        }
        Some(Self { bytes: all.len() - fields.0.len(), carries, acknowledges })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(bytes: &[u8]) -> (Spent, Option<bool>) {
        let mut spent = Spent::default();
        let only = frames(bytes, &mut spent);
        (spent, only)
    }

    #[test]
    fn what_a_stream_carries_is_the_applications_and_the_frame_around_it_the_transports() {
        // ACK of one range, STREAM with offset and length, PADDING; CRYPTO; a STREAM to the end of the packet.
        let ack = [0x02, 5, 0, 1, 2, 0, 0];
        assert_eq!(
            spent(&[&ack[..], &[0x00, 0x00]].concat()),
            (Spent { transport: 9, ..Spent::default() }, Some(true))
        );
        let stream = [&[0x0e, 4, 9, 3][..], b"abc", &[0x00]].concat();
        let expected = Spent { transport: 12, application: 3, ..Spent::default() };
        assert_eq!(spent(&[&ack[..], &stream].concat()), (expected, Some(false)));
        let mixed = [&[0x06, 0, 2, 7, 7][..], &[0x08, 4], b"rest"].concat();
        let expected = Spent { transport: 5, handshake: 2, application: 4, ..Spent::default() };
        assert_eq!(spent(&mixed), (expected, Some(false)));
    }

    #[test]
    fn what_is_not_understood_or_cut_off_is_the_transports() {
        for frame in [&[0x3f, 1, 2][..], &[0x0a, 4, 9, 1], &[0x02, 5, 0, 0x40], &[0x18, 1, 0, 20]] {
            assert_eq!(spent(frame), (Spent { transport: frame.len() as u64, ..Spent::default() }, None), "{frame:?}");
        }
    }

    #[test]
    fn packets_with_long_headers_are_the_handshake_and_what_no_secret_opens_is_sealed() {
        let secrets = Secrets::default();
        let mut connection = Connection::new(&secrets);
        let handshake = [&[0xe0, 0, 0, 0, 1, 0, 4, 1, 2, 3, 4, 5][..], &[9; 5]].concat();
        let datagram = [&handshake[..], &[0x40; 30]].concat();
        let expected = Spent { handshake: 17, sealed: 30, ..Spent::default() };
        assert_eq!(connection.datagram(1, &datagram), expected);
        assert_eq!(connection.id_bytes, [0, 4]);
    }
}
