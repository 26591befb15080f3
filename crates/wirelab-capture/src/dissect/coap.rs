//! CoAP messages in a packet log. Options and payloads are not read.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use wirelab_link::Direction;

/// Where CoAP without DTLS listens (RFC 7252 section 12.8).
pub(super) const PORT: u16 = 5683;

/// What the link can tell of a CoAP message over UDP (RFC 7252 section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Alike for messages whose logged bytes are alike, such as a message and its retransmission.
    pub identity: u64,
    /// A confirmable message that the link had seen before from this side.
    pub retransmission: bool,
    /// A retransmission, and the link delivered one before it: the sender was impatient, or its acknowledgement was lost.
    pub spurious: bool,
}

/// The confirmable messages of one flow, from each side: those logged bytes, by message ID, and whether the link delivered them.
#[derive(Debug, Default)]
pub(super) struct Association {
    sides: [HashMap<u16, Sent>; 2],
}

#[derive(Debug)]
struct Sent {
    message: Vec<u8>,
    delivered: bool,
}

impl Association {
    /// Take the next datagram to arrive at the link, or a copy of the last one; `None` if its logged bytes are not a CoAP message.
    ///
    /// Only a confirmable message is retransmitted by a timer; an acknowledgement is repeated as the answer to a duplicate (section 4.2). A message
    /// ID that comes with other bytes is used anew.
    pub(super) fn message(
        &mut self,
        direction: Direction,
        datagram: &[u8],
        copy: bool,
        delivered: bool,
    ) -> Option<Message> {
        let &[first, code, high, low, ..] = datagram else { return None };
        let token_bytes = first & 0xf;
        if first >> 6 != VERSION || token_bytes > 8 || !matches!(code >> 5, 0 | 2 | 4 | 5) {
            return None;
        }
        let identity = BuildHasherDefault::<DefaultHasher>::default().hash_one(datagram);
        if first >> 4 & 3 != CONFIRMABLE {
            return Some(Message { identity, retransmission: false, spurious: false });
        }
        let id = u16::from_be_bytes([high, low]);
        let sent = &mut self.sides[direction.index()];
        let known = sent.get(&id).filter(|sent| sent.message == datagram);
        let (seen, arrived) = known.map_or((false, false), |sent| (true, sent.delivered));
        sent.insert(id, Sent { message: datagram.to_vec(), delivered: arrived || delivered });
        let retransmission = seen && !copy;
        Some(Message { identity, retransmission, spurious: retransmission && arrived })
    }
}

const VERSION: u8 = 1;
const CONFIRMABLE: u8 = 0;
