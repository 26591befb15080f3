//! TCP segments in a packet log: which are retransmissions, and which of these are spurious.

use wirelab_link::Direction;

use super::ranges::Ranges;

/// What the link can tell of a TCP segment. Sequence and acknowledgement numbers count from the first that the link saw of each side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Flags as letters, in the order `SAPFR`.
    pub flags: String,
    /// Sequence number relative to the first of this side.
    pub sequence: u32,
    /// Where its payload begins in the stream, in sequence numbers from the first of this side without wrapping.
    pub payload_from: i64,
    /// Acknowledgement number relative to the first sequence number of the other side, if ACK is set and that side has been seen.
    pub acknowledgement: Option<u32>,
    /// The link had seen some of its sequence numbers (its bytes, SYN or FIN) before.
    pub retransmission: bool,
    /// A retransmission, and the link delivered all that it had seen before: the sender was impatient, or lost acknowledgements.
    pub spurious: bool,
}

/// The fields of a TCP header (RFC 9293 section 3.1) that a dissection needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    pub(super) sequence: u32,
    acknowledgement: u32,
    pub(super) header_bytes: u32,
    flags: u8,
}

impl Header {
    /// Read from the logged bytes, which may end after the flags; `None` if they end before.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let word = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        Some(Self {
            sequence: word(4)?,
            acknowledgement: word(8)?,
            header_bytes: u32::from(bytes.get(12)? >> 4).max(5) * 4,
            flags: *bytes.get(13)?,
        })
    }

    /// True for the segment that opens a connection.
    pub(super) const fn opens(&self) -> bool {
        self.flags & (SYN | ACK) == SYN
    }
}

/// How the link came by a segment, and what it did with it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// The link made it: its sender did not send it again.
    pub(super) copy: bool,
    pub(super) delivered: bool,
}

/// The sequence numbers of one connection, from each side.
#[derive(Debug, Default)]
pub(super) struct Connection {
    sides: [Side; 2],
}

#[derive(Debug, Default)]
struct Side {
    first: Option<u32>,
    /// Position of the last segment, in sequence numbers from the first without wrapping.
    last: i64,
    seen: Ranges,
    delivered: Ranges,
}

impl Connection {
    /// True if `header` opens another connection than this one: the ports are used again.
    pub(super) fn is_another(&self, direction: Direction, header: &Header) -> bool {
        header.opens() && self.sides[direction.index()].first.is_some_and(|first| first != header.sequence)
    }

    /// Take the next segment to arrive at the link, or a copy of the last one.
    pub(super) fn segment(
        &mut self,
        direction: Direction,
        header: &Header,
        payload_bytes: u32,
        Seen { copy, delivered }: Seen,
    ) -> Segment {
        let other = self.sides[1 - direction.index()].first;
        let side = &mut self.sides[direction.index()];
        let sequence = header.sequence.wrapping_sub(*side.first.get_or_insert(header.sequence));
        let start = side.last + i64::from(sequence.wrapping_sub(side.last as u32) as i32);
        let end =
            start + i64::from(payload_bytes) + i64::from(header.flags & SYN != 0) + i64::from(header.flags & FIN != 0);
        let seen = side.seen.count(start, end);
        let retransmission = seen > 0 && !copy;
        let spurious = retransmission && side.delivered.count(start, end) == seen;
        side.last = start;
        side.seen.insert(start, end);
        if delivered {
            side.delivered.insert(start, end);
        }
        let acknowledgement =
            other.filter(|_| header.flags & ACK != 0).map(|first| header.acknowledgement.wrapping_sub(first));
        let payload_from = start + i64::from(header.flags & SYN != 0);
        Segment { flags: flags(header.flags), sequence, payload_from, acknowledgement, retransmission, spurious }
    }
}

const FIN: u8 = 0x01;
const SYN: u8 = 0x02;
const RST: u8 = 0x04;
const PSH: u8 = 0x08;
const ACK: u8 = 0x10;

fn flags(bits: u8) -> String {
    let letters = [(SYN, 'S'), (ACK, 'A'), (PSH, 'P'), (FIN, 'F'), (RST, 'R')];
    letters.into_iter().filter(|(bit, _)| bits & bit != 0).map(|(_, letter)| letter).collect()
}
