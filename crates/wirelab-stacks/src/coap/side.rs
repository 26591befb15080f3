//! One end of an association, without I/O: a CoAP engine and its DTLS session. It reads no clock.

use crate::codec::coap::{Client, Server};

use super::dtls::Session;

/// One end of an association, without I/O: a CoAP engine, and the DTLS session under it if there is one.
pub struct Side<E> {
    /// The engine.
    pub engine: E,
    /// The session.
    pub session: Option<Session>,
}

/// What a [`Client`] and a [`Server`] have in common.
pub trait Engine {
    /// Takes what arrived; what it cannot read it has dealt with.
    fn receive(&mut self, now_ns: u64, bytes: &[u8]);
    /// Does what is due.
    fn handle_timeout(&mut self, now_ns: u64);
    /// When that is.
    fn poll_timeout(&self) -> Option<u64>;
    /// The next bytes to send.
    fn poll_transmit(&mut self) -> Option<Vec<u8>>;
}

macro_rules! engine {
    ($engine:ty) => {
        impl Engine for $engine {
            fn receive(&mut self, now_ns: u64, bytes: &[u8]) {
                // A malformed datagram is rejected or ignored (RFC 7252, section 4.2), and the engine has done so.
                let _ = <$engine>::receive(self, now_ns, bytes);
            }

            fn handle_timeout(&mut self, now_ns: u64) {
                <$engine>::handle_timeout(self, now_ns);
            }

            fn poll_timeout(&self) -> Option<u64> {
                <$engine>::poll_timeout(self)
            }

            fn poll_transmit(&mut self) -> Option<Vec<u8>> {
                <$engine>::poll_transmit(self)
            }
        }
    };
}

engine!(Client);
engine!(Server);

impl<E: Engine> Side<E> {
    /// Takes a datagram, or a part of a stream.
    pub fn receive(&mut self, now_ns: u64, bytes: &[u8]) {
        let Some(session) = &mut self.session else { return self.engine.receive(now_ns, bytes) };
        session.receive(now_ns, bytes);
        while let Some(plaintext) = session.poll_plaintext() {
            self.engine.receive(now_ns, &plaintext);
        }
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, now_ns: u64) {
        if let Some(session) = &mut self.session {
            session.handle_timeout(now_ns);
        }
        self.engine.handle_timeout(now_ns);
    }

    /// When that is.
    pub fn poll_timeout(&self) -> Option<u64> {
        self.session.as_ref().and_then(Session::poll_timeout).into_iter().chain(self.engine.poll_timeout()).min()
    }

    /// The next bytes for the socket.
    pub fn poll_transmit(&mut self, now_ns: u64) -> Option<Vec<u8>> {
        let Some(session) = &mut self.session else { return self.engine.poll_transmit() };
        while let Some(plaintext) = self.engine.poll_transmit() {
            session.send(now_ns, &plaintext);
        }
        session.poll_transmit()
    }
}
