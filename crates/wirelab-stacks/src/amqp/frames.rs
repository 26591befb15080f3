//! AMQP frames, as far as stamps and credit need them. The library encodes and decodes.

use std::ops::Range;

/// Codes of performatives (AMQP 1.0, part 2, section 2.7).
pub mod code {
    pub const ATTACH: u8 = 0x12;
    pub const FLOW: u8 = 0x13;
    pub const TRANSFER: u8 = 0x14;
    pub const DISPOSITION: u8 = 0x15;
    pub const DETACH: u8 = 0x16;
    pub const CLOSE: u8 = 0x18;
}

/// A performative longer than this is passed over unread: those that are looked at take some tens of bytes.
const LONGEST_PERFORMATIVE: usize = 4096;

/// What passed.
pub enum Part<'a> {
    /// A protocol header, of AMQP (section 2.2) or SASL (part 5, section 5.3.1).
    Header,
    /// The performative of a frame, of AMQP or SASL, which its code tells apart.
    Performative { channel: u16, code: u8, fields: Fields<'a> },
    /// So many more bytes of the payload of the transfer before.
    Payload(usize),
}

/// Follows the frames (section 2.3) of one direction of a connection as its bytes pass, in pieces of any size. It reads what a measurement needs and
/// judges nothing: after bytes that are no frame it sees nothing more.
#[derive(Default)]
pub struct Frames {
    head: Vec<u8>,
    passing: u64,
    passing_payload: bool,
    lost: bool,
}

impl Frames {
    /// It has seen bytes that are not a frame.
    pub fn is_lost(&self) -> bool {
        self.lost
    }

    /// The next bytes.
    pub fn take(&mut self, mut bytes: &[u8], mut see: impl FnMut(Part)) {
        while !bytes.is_empty() && !self.lost {
            if self.passing > 0 {
                let length = self.passing.min(bytes.len() as u64) as usize;
                self.passing -= length as u64;
                bytes = &bytes[length..];
                if self.passing_payload {
                    see(Part::Payload(length));
                }
                continue;
            }
            match next(&self.head) {
                Step::More(length) => {
                    let taken = (length - self.head.len()).min(bytes.len());
                    self.head.extend_from_slice(&bytes[..taken]);
                    bytes = &bytes[taken..];
                }
                step => self.finish(step, &mut see),
            }
        }
        if self.passing == 0 && !self.lost {
            let step = next(&self.head);
            if !matches!(step, Step::More(_)) {
                self.finish(step, &mut see);
            }
        }
    }

    /// A whole head is there.
    fn finish(&mut self, step: Step, see: &mut impl FnMut(Part)) {
        match step {
            Step::More(_) => return,
            Step::Header => see(Part::Header),
            Step::Pass(length) => (self.passing, self.passing_payload) = (length, false),
            Step::Performative { code, fields, left } => {
                let channel = u16::from_be_bytes([self.head[6], self.head[7]]);
                see(Part::Performative { channel, code, fields: Fields(&self.head[fields]) });
                (self.passing, self.passing_payload) = (left, code == code::TRANSFER);
            }
            Step::Lost => self.lost = true,
        }
        self.head.clear();
    }
}

enum Step {
    /// The head must be this long to say.
    More(usize),
    Header,
    /// Nothing to read in the rest of the frame, of this length.
    Pass(u64),
    Performative {
        code: u8,
        fields: Range<usize>,
        left: u64,
    },
    Lost,
}

fn next(head: &[u8]) -> Step {
    if head.len() < 8 {
        return Step::More(8);
    }
    if head.starts_with(b"AMQP") {
        return Step::Header;
    }
    let size = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
    let body = usize::from(head[4]) * 4;
    if body < 8 || size < body {
        return Step::Lost;
    }
    match performative(head, body) {
        Read::More(length) if length <= size => Step::More(length),
        Read::Done { code, fields } if fields.end <= size => {
            Step::Performative { code, left: (size - fields.end) as u64, fields }
        }
        Read::Opaque => Step::Pass((size - head.len()) as u64),
        // An empty frame keeps the connection alive.
        Read::More(_) if size == body && head.len() <= body => match body - head.len() {
            0 => Step::Pass(0),
            _ => Step::More(body),
        },
        Read::More(_) | Read::Done { .. } => Step::Lost,
    }
}

enum Read {
    More(usize),
    Done { code: u8, fields: Range<usize> },
    Opaque,
}

/// The described list that begins at `start` (part 1, section 1.2), its descriptor a ulong as everybody writes it.
fn performative(head: &[u8], start: usize) -> Read {
    let Some(descriptor) = head.get(start..start + 3) else { return Read::More(start + 3) };
    let (code, list) = match descriptor {
        [0x00, 0x53, code] => (*code, start + 3),
        [0x00, 0x80, _] => match head.get(start + 2..start + 10) {
            Some([0, 0, 0, 0, 0, 0, 0, code]) => (*code, start + 10),
            Some(_) => return Read::Opaque,
            None => return Read::More(start + 10),
        },
        _ => return Read::Opaque,
    };
    let fields = match head.get(list) {
        None => return Read::More(list + 1),
        Some(0x45) => list + 1..list + 1,
        Some(0xc0) => match head.get(list + 1) {
            None => return Read::More(list + 2),
            Some(size) => list + 3..list + 2 + usize::from(*size),
        },
        Some(0xd0) => match head.get(list + 1..list + 5) {
            None => return Read::More(list + 5),
            Some(size) => {
                let size = u32::from_be_bytes([size[0], size[1], size[2], size[3]]) as usize;
                list + 9..(list + 5).saturating_add(size)
            }
        },
        Some(_) => return Read::Opaque,
    };
    if fields.start > fields.end || fields.end - start > LONGEST_PERFORMATIVE {
        return Read::Opaque;
    }
    if head.len() < fields.end { Read::More(fields.end) } else { Read::Done { code, fields } }
}

/// The fields of a performative, by their position. One that is not there, or is of another type, is `None`, as is one that is null.
pub struct Fields<'a>(pub &'a [u8]);

impl Fields<'_> {
    /// A uint, or a ubyte.
    pub fn uint(&self, position: usize) -> Option<u32> {
        match self.get(position)? {
            [0x43] => Some(0),
            [0x52 | 0x50, small] => Some(u32::from(*small)),
            [0x70, bytes @ ..] => bytes.try_into().ok().map(u32::from_be_bytes),
            _ => None,
        }
    }

    /// A boolean.
    pub fn boolean(&self, position: usize) -> Option<bool> {
        match self.get(position)? {
            [0x41] | [0x56, 1] => Some(true),
            [0x42] | [0x56, 0] => Some(false),
            _ => None,
        }
    }

    /// The code that describes a described value.
    #[cfg(test)]
    pub fn code(&self, position: usize) -> Option<u8> {
        match self.get(position)? {
            [0x00, 0x53, code, ..] => Some(*code),
            _ => None,
        }
    }

    fn get(&self, position: usize) -> Option<&[u8]> {
        let mut rest = self.0;
        for _ in 0..position {
            rest = rest.get(value_length(rest)?..)?;
        }
        rest.get(..value_length(rest)?)
    }
}

/// Length of the value that begins here, with its constructor (part 1, section 1.2).
fn value_length(bytes: &[u8]) -> Option<usize> {
    let mut described = 0;
    // A described value is its descriptor and another value; a descriptor that is described itself is not looked into.
    while let [0x00, rest @ ..] = &bytes[described..] {
        let descriptor = if rest.first() == Some(&0x00) { return None } else { plain_length(rest)? };
        described += 1 + descriptor;
        if described > bytes.len() {
            return None;
        }
    }
    Some(described + plain_length(&bytes[described..])?)
}

fn plain_length(bytes: &[u8]) -> Option<usize> {
    let constructor = *bytes.first()?;
    let small = || bytes.get(1).map(|size| 2 + usize::from(*size));
    let large = || {
        let size = bytes.get(1..5)?;
        Some(5_usize.saturating_add(u32::from_be_bytes([size[0], size[1], size[2], size[3]]) as usize))
    };
    match constructor >> 4 {
        0x4 => Some(1),
        0x5 => Some(2),
        0x6 => Some(3),
        0x7 => Some(5),
        0x8 => Some(9),
        0x9 => Some(17),
        0xa | 0xc | 0xe => small(),
        0xb | 0xd | 0xf => large(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A transfer on channel 1: handle 0, delivery-id 7, a tag of one byte, message-format 0, settled; with 3 bytes of payload.
    const TRANSFER: &[u8] =
        &[0, 0, 0, 25, 2, 0, 0, 1, 0x00, 0x53, 0x14, 0xc0, 9, 5, 0x43, 0x52, 7, 0xa0, 1, 9, 0x43, 0x41, 1, 2, 3];

    fn words(bytes: &[u8], piece: usize) -> Vec<String> {
        let mut frames = Frames::default();
        let mut words: Vec<String> = Vec::new();
        let mut payload = 0;
        for part in bytes.chunks(piece) {
            frames.take(part, |found| match found {
                Part::Header => words.push("header".to_owned()),
                Part::Performative { channel, code, fields } => words.push(format!(
                    "{code:#x} on {channel}: {:?} {:?} {:?}",
                    fields.uint(0),
                    fields.uint(1),
                    fields.boolean(4)
                )),
                Part::Payload(bytes) => payload += bytes,
            });
        }
        words.push(format!("payload {payload}"));
        words
    }

    #[test]
    fn frames_are_read_for_any_chunking() {
        let empty = [0, 0, 0, 8, 2, 0, 0, 0];
        let bytes = [b"AMQP\x03\x01\x00\x00", &empty[..], TRANSFER, &empty[..], TRANSFER].concat();
        let transfer = "0x14 on 1: Some(0) Some(7) Some(true)";
        for piece in [1, 2, 3, 7, 8, 9, 30, 1_000] {
            assert_eq!(words(&bytes, piece), ["header", transfer, transfer, "payload 6"], "{piece}");
        }
    }

    #[test]
    fn a_performative_is_reported_once_it_is_complete() {
        assert_eq!(words(&TRANSFER[..22], 22).len(), 2);
        assert_eq!(words(&TRANSFER[..21], 21), ["payload 0"]);
    }

    #[test]
    fn bytes_that_are_no_frame_end_the_seeing() {
        for bad in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0, 0, 0, 3, 2, 0, 0, 0], &[0, 0, 0, 9, 2, 0, 0, 0, 0]] {
            assert_eq!(words(&[bad, TRANSFER].concat(), 1_000), ["payload 0"], "{bad:?}");
        }
    }

    #[test]
    fn an_unreadable_frame_is_skipped() {
        let by_name = [0, 0, 0, 16, 2, 0, 0, 0, 0x00, 0xa3, 3, b'x', b'y', b'z', 0x45, 0];
        assert_eq!(words(&[&by_name[..], TRANSFER].concat(), 5)[0], "0x14 on 1: Some(0) Some(7) Some(true)");
    }

    #[test]
    fn a_field_that_is_absent_or_of_another_type_is_none() {
        let fields = Fields(&[0x40, 0x00, 0x53, 0x24, 0x45, 0x41, 0xa1, 9]);
        assert_eq!((fields.uint(0), fields.uint(1), fields.boolean(2)), (None, None, Some(true)));
        assert_eq!((fields.uint(2), fields.uint(3), fields.uint(4)), (None, None, None));
    }
}
