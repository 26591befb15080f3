//! CoAP over a stream (RFC 8323): framing and signaling messages. It reads no socket.

use std::collections::VecDeque;
use std::fmt;

use coap_lite::{CoapOption, MessageClass, Packet};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

use super::channel::{Incoming, Receipt, SendEvent, SendId};
use super::message::{Class, class, decode, encode, number, uint, uint_option, unknown_critical};

/// Max-Message-Size of a peer that has not said otherwise (RFC 8323, section 5.3.1).
const BASE_MESSAGE_BYTES: usize = 1152;
/// Room for what is around a body in a message: header, token and options.
const AROUND_BODY_BYTES: usize = 128;

const CSM: u8 = 0xe1;
const PING: u8 = 0xe2;
const PONG: u8 = 0xe3;
const RELEASE: u8 = 0xe4;
const ABORT: u8 = 0xe5;

/// Messages on a reliable stream (RFC 8323, section 3): framing, and the signalling messages of section 5.
///
/// Both ends begin with a CSM. A message that the base limit of 1152 bytes allows may leave before the peer's CSM has come.
pub struct Framing {
    received: Vec<u8>,
    transmits: VecDeque<Vec<u8>>,
    events: VecDeque<SendEvent>,
    next_send: u64,
    max_message_bytes: usize,
    /// What the peer's CSM said.
    peer: Option<Capabilities>,
    over: bool,
    random: ChaCha8Rng,
}

#[derive(Clone, Copy)]
struct Capabilities {
    max_message_bytes: usize,
}

/// Why a stream carries no more messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamError {
    /// The peer asked for the end (7.04).
    Released,
    /// The peer gave up (7.05), in its words.
    Aborted(String),
    /// What came is not CoAP over TCP, in ours.
    Malformed(&'static str),
}

impl fmt::Display for StreamError {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            StreamError::Released => formatter.write_str("the peer released the connection"),
            StreamError::Aborted(words) => write!(formatter, "the peer aborted the connection: {words}"),
            StreamError::Malformed(words) => write!(formatter, "not CoAP over TCP: {words}"),
        }
    }
}

impl Framing {
    /// Of a connection that begins: its first bytes are a CSM that allows messages of `max_message_bytes`.
    pub fn new(max_message_bytes: usize, random: ChaCha8Rng) -> Self {
        let mut framing = Framing {
            received: Vec::new(),
            transmits: VecDeque::new(),
            events: VecDeque::new(),
            next_send: 0,
            max_message_bytes,
            peer: None,
            over: false,
            random,
        };
        let mut csm = signal(CSM, &[]);
        csm.add_option(number::MAX_MESSAGE_SIZE.into(), uint(max_message_bytes as u32));
        if max_message_bytes <= BASE_MESSAGE_BYTES {
            // With longer messages it would announce BERT as well (RFC 8323, section 5.3.2); without it, blocks are taken all the same.
            csm.add_option(number::BLOCK_WISE_TRANSFER.into(), Vec::new());
        }
        framing.transmits.push_back(frame(&csm));
        framing
    }

    /// Takes bytes as they come.
    pub fn append(&mut self, bytes: &[u8]) {
        if !self.over {
            self.received.extend_from_slice(bytes);
        }
    }

    /// The next message among the bytes that came; signals are dealt with here.
    pub fn next_incoming(&mut self) -> Option<Incoming> {
        while !self.over {
            let packet = match self.parse() {
                Ok(packet) => packet?,
                Err(words) => return Some(self.abort(words)),
            };
            match class(&packet) {
                Class::Empty => {}
                Class::Signal => {
                    if let Some(incoming) = self.handle_signal(&packet) {
                        return Some(incoming);
                    }
                }
                _ if self.peer.is_none() => return Some(self.abort("a message before the CSM")),
                _ => {
                    let receipt = Receipt { message_id: 0, confirmable: false };
                    return Some(Incoming::Message { packet, receipt });
                }
            }
        }
        None
    }

    /// Sends a message at once.
    pub fn send(&mut self, now_ns: u64, packet: &Packet) -> SendId {
        let id = SendId(self.next_send);
        self.next_send += 1;
        self.transmits.push_back(frame(packet));
        self.events.push_back(SendEvent::Sent { id, at_ns: now_ns });
        id
    }

    /// Sends Ping, which Pong answers (section 5.4).
    pub fn ping(&mut self, now_ns: u64) -> SendId {
        self.send(now_ns, &signal(PING, &[]))
    }

    /// The longest body that fits into one message of the peer; `None` before its CSM for more than the base.
    pub fn whole_body_bytes(&self) -> Option<usize> {
        self.peer.map(|peer| peer.max_message_bytes.saturating_sub(AROUND_BODY_BYTES))
    }

    /// The next bytes of the stream.
    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.transmits.pop_front()
    }

    /// What happened to messages of ours.
    pub fn poll_event(&mut self) -> Option<SendEvent> {
        self.events.pop_front()
    }

    /// A random number of the connection's own generator.
    pub fn draw(&mut self) -> u64 {
        self.random.next_u64()
    }

    /// The next whole message, if it is there.
    fn parse(&mut self) -> Result<Option<Packet>, &'static str> {
        let Some(header) = Header::read(&self.received) else { return Ok(None) };
        let end = header.bytes.saturating_add(header.token_bytes).saturating_add(header.rest_bytes);
        if header.token_bytes > 8 {
            return Err("a token of more than 8 bytes");
        }
        if end > self.max_message_bytes {
            return Err("a message longer than Max-Message-Size");
        }
        if self.received.len() < end {
            return Ok(None);
        }
        let mut datagram = vec![0x40 | header.token_bytes as u8, header.code, 0, 0];
        datagram.extend_from_slice(&self.received[header.bytes..end]);
        self.received.drain(..end);
        if header.code == 0 {
            // An empty message says nothing and is ignored whatever follows (section 3.4).
            datagram.truncate(4);
            datagram[0] = 0x40;
        }
        decode(&datagram).map(Some).map_err(|_| "a message that cannot be read")
    }

    fn handle_signal(&mut self, packet: &Packet) -> Option<Incoming> {
        let code = u8::from(packet.header.code);
        if self.peer.is_none() && code != CSM && code != ABORT {
            return Some(self.abort("a message before the CSM"));
        }
        if unknown_critical(packet, &[]).is_some() {
            return Some(self.abort("a critical option that is not known"));
        }
        match code {
            CSM => {
                let known = self.peer.map_or(BASE_MESSAGE_BYTES, |peer| peer.max_message_bytes);
                let said = uint_option(packet, CoapOption::from(number::MAX_MESSAGE_SIZE)).and_then(Result::ok);
                self.peer = Some(Capabilities { max_message_bytes: said.map_or(known, |bytes| bytes as usize) });
                None
            }
            PING => {
                self.transmits.push_back(frame(&signal(PONG, packet.get_token())));
                None
            }
            RELEASE => Some(Incoming::Closed(StreamError::Released)),
            ABORT => {
                self.over = true;
                let words = String::from_utf8_lossy(&packet.payload).into_owned();
                Some(Incoming::Closed(StreamError::Aborted(words)))
            }
            _ => None,
        }
    }

    fn abort(&mut self, words: &'static str) -> Incoming {
        self.over = true;
        let mut abort = signal(ABORT, &[]);
        abort.payload = words.as_bytes().to_vec();
        self.transmits.push_back(frame(&abort));
        Incoming::Closed(StreamError::Malformed(words))
    }
}

/// What stands before the token (section 3.2).
struct Header {
    bytes: usize,
    token_bytes: usize,
    rest_bytes: usize,
    code: u8,
}

impl Header {
    /// `None` if it is not all there.
    fn read(bytes: &[u8]) -> Option<Self> {
        let (first, rest) = bytes.split_first()?;
        let (extended_bytes, base) = match first >> 4 {
            13 => (1, 13),
            14 => (2, 269),
            15 => (4, 65_805),
            short => (0, usize::from(short)),
        };
        let extended = rest.get(..extended_bytes)?.iter().fold(0usize, |sum, byte| sum << 8 | usize::from(*byte));
        let code = *rest.get(extended_bytes)?;
        let (token_bytes, rest_bytes) = (usize::from(first & 15), base + extended);
        Some(Header { bytes: 2 + extended_bytes, token_bytes, rest_bytes, code })
    }
}

fn signal(code: u8, token: &[u8]) -> Packet {
    let mut packet = Packet::new();
    packet.header.code = MessageClass::from(code);
    packet.set_token(token.to_vec());
    packet
}

/// A message as bytes of a stream: its options and payload are written as in a datagram.
fn frame(packet: &Packet) -> Vec<u8> {
    let datagram = encode(packet);
    let token_bytes = packet.get_token().len();
    let rest = &datagram[4 + token_bytes..];
    let mut bytes = Vec::with_capacity(rest.len() + token_bytes + 6);
    let (nibble, extended) = match rest.len() {
        short @ 0..13 => (short as u8, Vec::new()),
        long @ 13..269 => (13, vec![(long - 13) as u8]),
        long @ 269..65_805 => (14, ((long - 269) as u16).to_be_bytes().to_vec()),
        long => (15, ((long - 65_805) as u32).to_be_bytes().to_vec()),
    };
    bytes.push(nibble << 4 | token_bytes as u8);
    bytes.extend(extended);
    bytes.push(packet.header.code.into());
    bytes.extend_from_slice(packet.get_token());
    bytes.extend_from_slice(rest);
    bytes
}

#[cfg(test)]
mod tests {
    use rand_chacha::rand_core::SeedableRng;

    use super::*;

    fn framing() -> Framing {
        let mut framing = Framing::new(100_000, ChaCha8Rng::seed_from_u64(1));
        assert!(framing.poll_transmit().is_some_and(|csm| csm[1] == CSM), "a CSM comes first");
        framing
    }

    fn request(payload: usize) -> Packet {
        let mut packet = Packet::new();
        packet.set_token(vec![7; 4]);
        packet.payload = vec![1; payload];
        packet
    }

    #[test]
    fn messages_of_every_length_are_echoed_for_any_chunking() {
        for cut in [1, 1000, usize::MAX] {
            let mut framing = framing();
            let mut bytes = frame(&signal(CSM, &[]));
            let lengths = [0, 1, 11, 12, 267, 268, 269, 65_803, 65_804, 65_805];
            lengths.iter().for_each(|length| bytes.extend(frame(&request(*length))));
            let mut received = Vec::new();
            for part in bytes.chunks(cut.min(bytes.len())) {
                framing.append(part);
                while let Some(incoming) = framing.next_incoming() {
                    let Incoming::Message { packet, .. } = incoming else { panic!("{incoming:?}") };
                    received.push(packet.payload.len());
                }
            }
            assert_eq!(received, lengths);
        }
    }

    #[test]
    fn bert_is_not_announced() {
        for (bytes, announced) in [(BASE_MESSAGE_BYTES, true), (BASE_MESSAGE_BYTES + 1, false)] {
            let mut framing = Framing::new(bytes, ChaCha8Rng::seed_from_u64(1));
            framing.append(&frame(&signal(CSM, &[])));
            let csm = framing.poll_transmit().expect("a CSM comes first");
            let mut datagram = vec![0x40, csm[1], 0, 0];
            datagram.extend_from_slice(&csm[2..]);
            let csm = decode(&datagram).expect("a message");
            assert_eq!(csm.get_first_option(number::BLOCK_WISE_TRANSFER.into()).is_some(), announced, "{bytes}");
        }
    }

    #[test]
    fn a_ping_is_answered_with_its_token_and_an_empty_message_ignored() {
        let mut framing = framing();
        framing.append(&frame(&signal(CSM, &[])));
        framing.append(&[0, 0]);
        framing.append(&frame(&signal(PING, &[9])));
        assert!(framing.next_incoming().is_none());
        assert_eq!(framing.poll_transmit(), Some(vec![1, PONG, 9]));
    }

    #[test]
    fn the_peer_says_how_long_a_message_may_be() {
        let mut framing = framing();
        assert_eq!(framing.whole_body_bytes(), None);
        framing.append(&frame(&signal(CSM, &[])));
        assert!(framing.next_incoming().is_none());
        assert_eq!(framing.whole_body_bytes(), Some(BASE_MESSAGE_BYTES - AROUND_BODY_BYTES));
        let mut csm = signal(CSM, &[]);
        csm.add_option(number::MAX_MESSAGE_SIZE.into(), uint(5_000));
        framing.append(&frame(&csm));
        assert!(framing.next_incoming().is_none());
        assert_eq!(framing.whole_body_bytes(), Some(5_000 - AROUND_BODY_BYTES));
    }

    #[test]
    fn a_framing_error_aborts_the_connection_and_nothing_else_is_read() {
        let too_long = frame(&request(100_000));
        let critical = {
            let mut ping = signal(PING, &[]);
            ping.add_option(CoapOption::from(9), vec![]);
            [frame(&signal(CSM, &[])), frame(&ping)].concat()
        };
        for bytes in [frame(&request(1)), too_long, vec![0x09, 1], frame(&signal(PING, &[])), critical] {
            let mut framing = framing();
            framing.append(&bytes);
            let incoming = framing.next_incoming();
            assert!(matches!(incoming, Some(Incoming::Closed(StreamError::Malformed(_)))), "{bytes:?}");
            assert!(framing.poll_transmit().is_some_and(|abort| abort.contains(&ABORT)), "{bytes:?}");
            framing.append(&frame(&signal(CSM, &[])));
            assert!(framing.next_incoming().is_none());
        }
    }

    #[test]
    fn release_and_abort_end_the_stream() {
        let mut framing = framing();
        let mut abort = signal(ABORT, &[]);
        abort.payload = b"no more".to_vec();
        framing.append(&[frame(&signal(CSM, &[])), frame(&signal(RELEASE, &[])), frame(&abort)].concat());
        assert!(matches!(framing.next_incoming(), Some(Incoming::Closed(StreamError::Released))));
        let Some(Incoming::Closed(error)) = framing.next_incoming() else { panic!("aborted") };
        assert_eq!(error, StreamError::Aborted("no more".to_owned()));
    }
}
