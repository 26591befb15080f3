//! The datagrams by which a client asks its link to rest, and what the link answers.

/// UDP port, at the server's address, to which a client sends a [`RestRequest`]: the one of the discard service (RFC 863), which no server of a trial has.
pub const REST_PORT: u16 = 9;
/// First bytes of such a datagram, and of its answer.
pub const REST_MAGIC: [u8; 8] = *b"WLREST\0\x01";
/// Bytes of the payload of a request. An answer has one more.
pub const REST_BYTES: usize = 24;

/// A client asks its link to rest: [`REST_MAGIC`], then both fields, big endian. The link takes the datagram out; no server gets it, and no capture and
/// no count has it.
///
/// Once no packet has been inside the link, and none has come or left, for `settle_ns`, the link puts its clock forward. Then `gap_ns` have passed on
/// its clock since the request came, and it answers: with the same bytes and a [`RestAnswer`] behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RestRequest {
    /// How long the client is idle, from the request on.
    pub gap_ns: u64,
    /// How long the link must be silent before its clock is put forward.
    pub settle_ns: u64,
}

/// What a link did about a [`RestRequest`]; the last byte of its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RestAnswer {
    /// The time has passed on its clock.
    Done = 0,
    /// The link was not silent for long enough, or rests already for another request.
    Refused = 1,
}

impl RestRequest {
    /// Its payload.
    pub fn to_bytes(self) -> [u8; REST_BYTES] {
        let mut bytes = [0; REST_BYTES];
        bytes[..8].copy_from_slice(&REST_MAGIC);
        bytes[8..16].copy_from_slice(&self.gap_ns.to_be_bytes());
        bytes[16..].copy_from_slice(&self.settle_ns.to_be_bytes());
        bytes
    }

    /// The request of a payload; none of another.
    pub fn from_bytes(payload: &[u8]) -> Option<Self> {
        let fields: &[u8; REST_BYTES] = payload.try_into().ok()?;
        let number = |at: usize| u64::from_be_bytes(fields[at..at + 8].try_into().expect("eight bytes"));
        (fields[..8] == REST_MAGIC).then(|| Self { gap_ns: number(8), settle_ns: number(16) })
    }
}

impl RestAnswer {
    /// What the answer to this request says; none of other bytes.
    pub fn from_bytes(payload: &[u8], request: RestRequest) -> Option<Self> {
        let (last, echoed) = payload.split_last()?;
        match last {
            _ if echoed != request.to_bytes() => None,
            0 => Some(Self::Done),
            1 => Some(Self::Refused),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: RestRequest = RestRequest { gap_ns: 600_000_000_000, settle_ns: 2_000_000_000 };

    #[test]
    fn what_is_written_is_read_back_and_nothing_else_is_read() {
        let bytes = REQUEST.to_bytes();
        assert_eq!(RestRequest::from_bytes(&bytes), Some(REQUEST));
        assert_eq!(RestRequest::from_bytes(&bytes[..23]), None);
        assert_eq!(RestRequest::from_bytes(&[&bytes[..], &[0]].concat()), None);
        assert_eq!(RestRequest::from_bytes(&[b'x'; REST_BYTES]), None);
    }

    #[test]
    fn an_answer_is_the_request_with_a_byte_behind_it() {
        let answer = |last| RestAnswer::from_bytes(&[&REQUEST.to_bytes()[..], &[last]].concat(), REQUEST);
        assert_eq!([0, 1, 2].map(answer), [Some(RestAnswer::Done), Some(RestAnswer::Refused), None]);
        let other = RestRequest { gap_ns: 1, ..REQUEST };
        assert_eq!(RestAnswer::from_bytes(&[&other.to_bytes()[..], &[0]].concat(), REQUEST), None);
        assert_eq!(RestAnswer::from_bytes(&[], REQUEST), None);
    }
}
