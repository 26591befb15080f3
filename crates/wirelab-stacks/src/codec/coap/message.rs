//! CoAP messages, and what makes bytes malformed (RFC 7252, sections 3 and 4). What a message asks for is not decided here.

use bytes::Bytes;
use coap_lite::{CoapOption, MessageClass, MessageType, Packet};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

/// Why bytes are not a CoAP message (RFC 7252, sections 3 and 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// Shorter than a header, or of another version of CoAP: ignored without a word.
    NotCoap,
    /// A header, and then no message: a confirmable one is answered with a Reset.
    Format {
        /// It was confirmable.
        confirmable: bool,
        /// Its message ID.
        message_id: u16,
    },
}

/// The message in a datagram.
pub fn decode(bytes: &[u8]) -> Result<Packet, Malformed> {
    let &[first, code, high, low, ..] = bytes else { return Err(Malformed::NotCoap) };
    if first >> 6 != 1 {
        return Err(Malformed::NotCoap);
    }
    let confirmable = (first >> 4) & 3 == 0;
    let format = Malformed::Format { confirmable, message_id: u16::from_be_bytes([high, low]) };
    let packet = Packet::from_bytes(bytes).map_err(|_| format)?;
    // coap-lite reads a payload marker without a payload as no payload; nothing else makes its own bytes shorter.
    let bare_marker = bytes.last() == Some(&0xff) && packet.payload.is_empty() && encode(&packet).len() < bytes.len();
    let empty_with_more = code == 0 && bytes.len() > 4;
    if bare_marker || empty_with_more || !matches!(code >> 5, 0 | 2 | 4 | 5 | 7) {
        return Err(format);
    }
    Ok(packet)
}

/// The bytes of a message.
pub fn encode(packet: &Packet) -> Vec<u8> {
    packet.to_bytes_unlimited().expect("without a limit on its length every message can be written")
}

/// A message without a code, token, options or payload: an acknowledgement or a Reset.
pub fn empty(kind: MessageType, message_id: u16) -> Packet {
    let mut packet = Packet::new();
    packet.header.code = MessageClass::Empty;
    packet.header.set_type(kind);
    packet.header.message_id = message_id;
    packet
}

/// Code classes (RFC 7252, section 12.1; RFC 8323, section 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// 0.00.
    Empty,
    /// 0.01 to 0.31.
    Request,
    /// 2.xx, 4.xx, 5.xx.
    Response,
    /// 7.xx, over TCP alone.
    Signal,
}

/// The class of a message's code; [`decode`] has refused the reserved ones.
pub fn class(packet: &Packet) -> Class {
    match u8::from(packet.header.code) {
        0 => Class::Empty,
        1..32 => Class::Request,
        0xe0.. => Class::Signal,
        _ => Class::Response,
    }
}

/// A response code as a number that reads like HTTP's: 2.05 is 205.
pub fn status(code: MessageClass) -> u16 {
    let code = u8::from(code);
    u16::from(code >> 5) * 100 + u16::from(code & 0x1f)
}

/// Methods that the engine tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// Safe and idempotent: a duplicate may be answered anew.
    Get,
    /// Neither.
    Post,
    /// Any other, by its code.
    Other(u8),
}

impl Method {
    /// Of a request's code.
    pub fn of(code: MessageClass) -> Self {
        match u8::from(code) {
            1 => Method::Get,
            2 => Method::Post,
            other => Method::Other(other),
        }
    }

    /// As a code.
    pub fn code(self) -> MessageClass {
        match self {
            Method::Get => 1.into(),
            Method::Post => 2.into(),
            Method::Other(code) => code.into(),
        }
    }
}

/// A whole response: after block-wise transfer, or before it.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// Its code.
    pub code: MessageClass,
    /// Content-Format, if it says.
    pub content_format: Option<u16>,
    /// Max-Age in seconds, if it says; 60 otherwise (RFC 7252, section 5.10.5).
    pub max_age: Option<u32>,
    /// The body.
    pub payload: Bytes,
}

impl Response {
    /// One that says nothing of its body.
    pub fn new(code: MessageClass, payload: Bytes) -> Self {
        Response { code, content_format: None, max_age: None, payload }
    }
}

/// Option numbers that coap-lite has no name for, or another one over TCP.
pub mod number {
    /// CSM option Max-Message-Size (RFC 8323, section 5.3.1).
    pub const MAX_MESSAGE_SIZE: u16 = 2;
    /// CSM option Block-Wise-Transfer (RFC 8323, section 5.3.2).
    pub const BLOCK_WISE_TRANSFER: u16 = 4;
}

/// An unsigned option value in its shortest form (RFC 7252, section 3.2).
pub fn uint(value: u32) -> Vec<u8> {
    value.to_be_bytes().into_iter().skip_while(|byte| *byte == 0).collect()
}

/// The unsigned value of an option's first occurrence; `None` if it is absent, `Some(Err)` if it has more than four bytes.
pub fn uint_option(packet: &Packet, option: CoapOption) -> Option<Result<u32, ()>> {
    let value = packet.get_first_option(option)?;
    if value.len() > 4 {
        return Some(Err(()));
    }
    Some(Ok(value.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte))))
}

/// Content-Format, if there is a valid one.
pub fn content_format(packet: &Packet) -> Option<u16> {
    uint_option(packet, CoapOption::ContentFormat)?.ok()?.try_into().ok()
}

/// Content-Format that is accepted, if it says so.
pub fn accept(packet: &Packet) -> Option<u16> {
    uint_option(packet, CoapOption::Accept)?.ok()?.try_into().ok()
}

/// Max-Age, if there is a valid one.
pub fn max_age(packet: &Packet) -> Option<u32> {
    uint_option(packet, CoapOption::MaxAge)?.ok()
}

/// What a URI leaves as it is in a segment of its path (RFC 7252, section 6.5): the unreserved ones, `sub-delims`, a colon and an at sign.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=')
    .remove(b':')
    .remove(b'@');
/// And in an argument of its query.
const ARGUMENT: &AsciiSet = &SEGMENT.remove(b'/').remove(b'?').add(b'&');

/// The path and the query that the Uri-Path and Uri-Query options spell in a URI (RFC 7252, section 6.5).
pub fn target(packet: &Packet) -> String {
    let encoded = |option, set| {
        let values = packet.get_option(option).into_iter().flatten();
        values.map(|value| percent_encode(value, set).to_string()).collect::<Vec<_>>()
    };
    let path = format!("/{}", encoded(CoapOption::UriPath, SEGMENT).join("/"));
    match encoded(CoapOption::UriQuery, ARGUMENT) {
        query if query.is_empty() => path,
        query => format!("{path}?{}", query.join("&")),
    }
}

/// Adds a path's segments as Uri-Path options, and the arguments of its query as Uri-Query options.
pub fn set_path(packet: &mut Packet, path: &str) {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    for argument in query.split('&').filter(|argument| !argument.is_empty()) {
        packet.add_option(CoapOption::UriQuery, argument.as_bytes().to_vec());
    }
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        packet.add_option(CoapOption::UriPath, segment.as_bytes().to_vec());
    }
}

/// The first critical option (odd number, RFC 7252 section 5.4.1) that is not among `known`.
pub fn unknown_critical(packet: &Packet, known: &[u16]) -> Option<u16> {
    packet.options().map(|(number, _)| *number).find(|number| number % 2 == 1 && !known.contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_malformed_datagram_is_answered_with_a_reset_only_if_confirmable() {
        let format = |confirmable| Err(Malformed::Format { confirmable, message_id: 0x0102 });
        assert_eq!(decode(&[]), Err(Malformed::NotCoap));
        assert_eq!(decode(&[0x40, 1, 1]), Err(Malformed::NotCoap));
        assert_eq!(decode(&[0x80, 1, 1, 2]), Err(Malformed::NotCoap), "version 2");
        assert_eq!(decode(&[0x49, 1, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0]), format(true), "a token of 9 bytes");
        assert_eq!(decode(&[0x51, 1, 1, 2]), format(false), "a token that is not there");
        assert_eq!(decode(&[0x40, 1, 1, 2, 0xf0]), format(true), "a reserved option delta");
        assert_eq!(decode(&[0x40, 1, 1, 2, 0xff]), format(true), "a payload marker without a payload");
        assert_eq!(decode(&[0x40, 0, 1, 2, 0xb1, b'a']), format(true), "an empty message with an option");
        assert_eq!(decode(&[0x40, 0x21, 1, 2]), format(true), "a reserved class");
        assert!(decode(&[0x40, 1, 1, 2, 0xb1, 0xff]).is_ok(), "an option that ends in the marker's byte");
    }

    #[test]
    fn numbers_are_written_in_as_few_bytes_as_they_need() {
        assert_eq!([0, 1, 256, 0x0100_0000].map(|value| uint(value).len()), [0, 1, 2, 4]);
        let mut packet = Packet::new();
        packet.add_option(CoapOption::ContentFormat, uint(65_000));
        assert_eq!(content_format(&packet), Some(65_000));
    }

    #[test]
    fn a_written_path_is_read_back() {
        let mut packet = Packet::new();
        set_path(&mut packet, "/bytes/10");
        assert_eq!(target(&decode(&encode(&packet)).expect("a message")), "/bytes/10");
        assert_eq!(target(&Packet::new()), "/");
    }

    #[test]
    fn reserved_characters_are_encoded_in_a_uris_segments() {
        let mut packet = Packet::new();
        for segment in ["a b", "c/d?e", "é", "f:@&g"] {
            packet.add_option(CoapOption::UriPath, segment.into());
        }
        for argument in ["x=1&2", "/?"] {
            packet.add_option(CoapOption::UriQuery, argument.into());
        }
        assert_eq!(target(&packet), "/a%20b/c%2Fd%3Fe/%C3%A9/f:@&g?x=1%262&/?");
    }

    #[test]
    fn codes_read_like_those_of_http() {
        assert_eq!([0x45, 0x44, 0x5f, 0x80, 0x8d].map(|code: u8| status(code.into())), [205, 204, 231, 400, 413]);
    }
}
