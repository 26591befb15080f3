//! One network connection of the broker's engine. What packets mean is the broker's.

use bytes::{Bytes, BytesMut};

use super::framer::{Frame, Framer};
use super::packet::{Connack, Disconnect, Packet, Version};
use super::session::SessionId;
use super::{Limits, Reason};

/// A network connection of a broker's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnectionId(pub u64);

/// What a broker knows of one network connection.
pub struct Connection {
    /// Of its CONNECT, once that has come.
    pub version: Option<Version>,
    /// The client's session, once it is accepted.
    pub session: Option<SessionId>,
    /// How long the client may be silent: one and a half of its Keep Alive; `None` for ever.
    pub patience_ns: Option<u64>,
    /// When the client last said something.
    pub heard_ns: u64,
    /// Nothing more is read; it ends when its output is written.
    pub closing: bool,
    framer: Framer,
    maximum_packet_size: Option<u32>,
    output: BytesMut,
}

impl Connection {
    /// A new one, whose CONNECT is to come in time.
    pub fn new(limits: &Limits, now_ns: u64) -> Self {
        Connection {
            version: None,
            session: None,
            patience_ns: Some(limits.connect_timeout_ns),
            heard_ns: now_ns,
            closing: false,
            framer: Framer::new(limits.maximum_packet_size),
            maximum_packet_size: None,
            output: BytesMut::new(),
        }
    }

    /// The client is known: by its Keep Alive in seconds, and the largest packet it takes.
    pub fn accepted(&mut self, session: SessionId, keep_alive_s: u16, maximum_packet_size: Option<u32>) {
        self.session = Some(session);
        self.patience_ns = (keep_alive_s > 0).then(|| u64::from(keep_alive_s) * 1_500_000_000);
        self.maximum_packet_size = maximum_packet_size;
    }

    /// The next packet in `bytes`, which it takes.
    pub fn read(&mut self, bytes: &mut &[u8], now_ns: u64) -> Result<Option<Frame>, Reason> {
        self.framer.next(bytes, now_ns)
    }

    /// When the client will have been silent for too long.
    pub fn deadline_ns(&self) -> Option<u64> {
        self.patience_ns.filter(|_| !self.closing).map(|patience_ns| self.heard_ns.saturating_add(patience_ns))
    }

    /// Says `packet`; false if it is larger than the client takes, and so was not said.
    pub fn send(&mut self, packet: &Packet) -> Result<bool, Reason> {
        let encoded = packet.encode(self.version.unwrap_or(Version::V311))?;
        if self.maximum_packet_size.is_some_and(|maximum| encoded.len() > maximum as usize) {
            return Ok(false);
        }
        self.output.extend_from_slice(&encoded);
        Ok(true)
    }

    /// Ends it for this reason: said in CONNACK before the client is accepted (in 3.1.1 if it has a return code for it), later in the DISCONNECT
    /// that only MQTT 5 has.
    pub fn end(&mut self, reason: Reason) {
        if self.closing {
            return;
        }
        self.closing = true;
        let last_words = match (self.version, self.session) {
            (Some(Version::V5), Some(_)) => Packet::Disconnect(Disconnect { reason, session_expiry_s: None }),
            (Some(Version::V5), None) => Packet::Connack(Connack::refusal(reason)),
            (_, None) if matches!(reason, Reason::UNSUPPORTED_VERSION | Reason::CLIENT_ID) => {
                Packet::Connack(Connack::refusal(reason))
            }
            _ => return,
        };
        // What cannot be said is left out: the connection ends all the same.
        let _ = self.send(&last_words);
    }

    /// Bytes that wait to be written.
    pub fn backlog(&self) -> usize {
        self.output.len()
    }

    /// Everything that is to be written.
    pub fn take_output(&mut self) -> Bytes {
        self.output.split().freeze()
    }
}
