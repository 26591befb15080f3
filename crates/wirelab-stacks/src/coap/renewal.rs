//! DTLS clients that begin anew from an address that has a session (RFC 6347, section 4.2.8). It ends no session by itself.

use super::dtls::{Session, Sessions};

/// Bytes of a record's header (RFC 6347, section 4.1), in which the epoch is the fourth and the fifth.
const RECORD_BYTES: usize = 13;
/// Content type of handshake messages.
const HANDSHAKE: u8 = 22;
/// The random in a ClientHello, counted from the record's content: behind the header of the handshake message and the version (section 4.2.2).
const RANDOM: std::ops::Range<usize> = 14..46;

/// A client that begins anew from an address whose session is not known to have ended, or has: its ClientHello gets a session of its own, and the one
/// that is there goes on until that is connected, which shows that the client is there (RFC 6347, section 4.2.8).
pub struct Renewal {
    sessions: Sessions,
    /// Whose handshake the session in force began with.
    in_force: Option<ClientRandom>,
    next: Option<(ClientRandom, Session)>,
}

/// Tells handshakes of one address apart: a ClientHello that is sent again, or with a cookie, has the same (section 4.2.1).
type ClientRandom = [u8; 32];

impl Renewal {
    /// Of an address whose first session begins.
    pub fn new(sessions: Sessions) -> Self {
        Renewal { sessions, in_force: None, next: None }
    }

    /// Looks at a datagram. True if it is for the session in force, too.
    pub fn receive(&mut self, now_ns: u64, datagram: &[u8]) -> bool {
        self.next.take_if(|(_, session)| session.ended().is_some());
        if let Some(random) = client_hello(datagram) {
            if *self.in_force.get_or_insert(random) == random {
                return true;
            }
            if self.next.as_ref().is_none_or(|(other, _)| *other != random) {
                self.next = Some((random, self.sessions.begin(now_ns, true)));
            }
        }
        let Some((_, next)) = &mut self.next else { return true };
        next.receive(now_ns, datagram);
        // What is protected may be of either; who has not its keys ignores it.
        epoch(datagram) != Some(0)
    }

    /// The new session, once it is connected: it is in force from now on.
    pub fn take_connected(&mut self) -> Option<Session> {
        let (random, session) = self.next.take_if(|(_, session)| session.is_connected())?;
        self.in_force = Some(random);
        Some(session)
    }

    /// Sends again what is due.
    pub fn handle_timeout(&mut self, now_ns: u64) {
        if let Some((_, next)) = &mut self.next {
            next.handle_timeout(now_ns);
        }
    }

    /// When that is.
    pub fn poll_timeout(&self) -> Option<u64> {
        self.next.as_ref().and_then(|(_, session)| session.poll_timeout())
    }

    /// The next datagram.
    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.next.as_mut().and_then(|(_, session)| session.poll_transmit())
    }
}

fn epoch(datagram: &[u8]) -> Option<u16> {
    datagram.get(3..5).map(|epoch| u16::from_be_bytes([epoch[0], epoch[1]]))
}

/// The random of a ClientHello that is not protected.
fn client_hello(datagram: &[u8]) -> Option<ClientRandom> {
    let content = datagram.get(RECORD_BYTES..)?;
    let is_hello = datagram[0] == HANDSHAKE && epoch(datagram) == Some(0) && content.first() == Some(&1);
    // Not the rest of one in fragments, which begins elsewhere.
    let is_whole = content.get(6..9) == Some(&[0; 3]);
    content.get(RANDOM).filter(|_| is_hello && is_whole)?.try_into().ok()
}
