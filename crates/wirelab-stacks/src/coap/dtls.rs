//! DTLS sessions of CoAP. The handshake is dimpl's, and the socket the caller's.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dimpl::{Config, Dtls, Output, PskResolver};
use wirelab_schema::SettingDescription;

use crate::StackError;
use crate::base::settings::{Settings, boolean, integer};

/// Both ends know it: a laboratory has no secrets.
const IDENTITY: &[u8] = b"wirelab";
const KEY: &[u8] = b"wirelab-shared-k";
/// Fits the IPv6 minimum MTU with a block of 1024 bytes and what is around it.
const DATAGRAM_BYTES: usize = 1_200;

/// What `about` says of DTLS.
pub const SECURITY: &str = "DTLS 1.2 (RFC 6347) with the pre-shared key `wirelab-shared-k` of identity `wirelab` and TLS_PSK_WITH_AES_128_CCM_8, \
     which RFC 7252 (section 9.1.3.1) makes mandatory: no certificates. Every connection is a full handshake: the library has no session \
     resumption and no Connection ID (RFC 9146). The waits of DTLS vary by a quarter either way and are not drawn from the seed.";

/// Settings of DTLS.
pub fn settings() -> [SettingDescription; 3] {
    [
        integer(
            "dtls-retransmit-timeout",
            (10, 3_600_000),
            "ms",
            1_000,
            "First wait before a flight of the handshake is retransmitted (RFC 6347, section 4.2.4.1); each is twice the one before.",
        ),
        integer(
            "dtls-max-retransmit",
            (0, 20),
            "",
            4,
            "Maximum number of retransmissions of a flight before the handshake fails. RFC 6347 leaves it open; the library's default.",
        ),
        boolean(
            "dtls-cookie",
            true,
            "The server answers a first ClientHello with HelloVerifyRequest (RFC 6347, section 4.2.1), which is one more round trip.",
        ),
    ]
}

/// The configuration of either end's sessions.
#[derive(Clone)]
pub struct Sessions {
    config: Arc<Config>,
    epoch: (Instant, u64),
}

/// One DTLS session, without I/O.
pub struct Session {
    dtls: Dtls,
    epoch: (Instant, u64),
    transmits: VecDeque<Vec<u8>>,
    plaintexts: VecDeque<Vec<u8>>,
    buffer: Vec<u8>,
    due_ns: Option<u64>,
    connected: bool,
    ended: Option<String>,
    began: bool,
    retransmissions: u32,
}

struct Key;

impl PskResolver for Key {
    fn resolve(&self, identity: &[u8]) -> Option<Vec<u8>> {
        (identity == IDENTITY).then(|| KEY.to_vec())
    }
}

impl Sessions {
    /// As the settings say. `epoch` is one instant of both clocks.
    pub fn new(settings: &Settings, is_server: bool, epoch: (Instant, u64)) -> Result<Self, StackError> {
        let rto = Duration::from_millis(settings.integer("dtls-retransmit-timeout") as u64);
        let config = Config::builder()
            .mtu(DATAGRAM_BYTES)
            .flight_start_rto(rto)
            .flight_retries(settings.integer("dtls-max-retransmit") as usize)
            // The retries decide, not a second limit.
            .handshake_timeout(Duration::from_secs(86_400))
            .use_server_cookie(settings.boolean("dtls-cookie"));
        let config = match is_server {
            true => config.with_psk_server(None, Arc::new(Key)),
            false => config.with_psk_client(IDENTITY.to_vec(), Arc::new(Key)),
        };
        let config = config.build().map_err(|error| StackError::failed("DTLS", error))?;
        Ok(Sessions { config: Arc::new(config), epoch })
    }

    /// A session that begins: a client's with its ClientHello.
    pub fn begin(&self, now_ns: u64, is_server: bool) -> Session {
        let mut session = Session {
            dtls: Dtls::new_12_psk(self.config.clone(), instant(self.epoch, now_ns)),
            epoch: self.epoch,
            transmits: VecDeque::new(),
            plaintexts: VecDeque::new(),
            buffer: vec![0; 2_048],
            due_ns: None,
            connected: false,
            ended: None,
            began: false,
            retransmissions: 0,
        };
        session.dtls.set_active(!is_server);
        session.advance(now_ns);
        session
    }
}

impl Session {
    /// Keys for application data are there.
    pub fn is_connected(&self) -> bool {
        self.connected
    }

    /// Why it is over, if it is.
    pub fn ended(&self) -> Option<&str> {
        self.ended.as_deref()
    }

    /// Datagrams of the handshake that were sent once more.
    pub fn retransmissions(&self) -> u32 {
        self.retransmissions
    }

    /// Takes a datagram.
    pub fn receive(&mut self, now_ns: u64, bytes: &[u8]) {
        self.advance(now_ns);
        self.attempt(|dtls| dtls.handle_packet(bytes));
    }

    /// Sends application data, once connected.
    pub fn send(&mut self, now_ns: u64, plaintext: &[u8]) {
        self.advance(now_ns);
        self.attempt(|dtls| dtls.send_application_data(plaintext).map(drop));
    }

    /// Says good-bye.
    pub fn close(&mut self, now_ns: u64) {
        self.advance(now_ns);
        self.attempt(Dtls::close);
    }

    /// Sends again what is due.
    pub fn handle_timeout(&mut self, now_ns: u64) {
        self.advance(now_ns);
    }

    /// When that is.
    pub fn poll_timeout(&self) -> Option<u64> {
        self.due_ns.filter(|_| self.ended.is_none())
    }

    /// The next datagram.
    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.transmits.pop_front()
    }

    /// The next application data that came.
    pub fn poll_plaintext(&mut self) -> Option<Vec<u8>> {
        self.plaintexts.pop_front()
    }

    fn advance(&mut self, now_ns: u64) {
        let (before, began, now) = (self.transmits.len(), self.began, instant(self.epoch, now_ns));
        self.attempt(|dtls| dtls.handle_timeout(now));
        if began {
            // After its first flight, time alone makes it send nothing but what it sent before.
            self.retransmissions += (self.transmits.len() - before) as u32;
        }
    }

    fn attempt(&mut self, step: impl FnOnce(&mut Dtls) -> Result<(), dimpl::Error>) {
        if self.ended.is_some() {
            return;
        }
        let stepped = step(&mut self.dtls);
        self.drain();
        if let Err(error) = stepped {
            self.ended = Some(format!("DTLS: {error}"));
        }
    }

    fn drain(&mut self) {
        loop {
            match self.dtls.poll_output(&mut self.buffer) {
                Output::Packet(bytes) => {
                    self.began = true;
                    self.transmits.push_back(bytes.to_vec());
                }
                Output::ApplicationData(bytes) => self.plaintexts.push_back(bytes.to_vec()),
                Output::BufferTooSmall { needed } => self.buffer.resize(needed, 0),
                Output::Connected => self.connected = true,
                Output::CloseNotify => self.ended = Some("DTLS: the peer closed the session".to_owned()),
                Output::Timeout(at) => {
                    let (epoch, epoch_ns) = self.epoch;
                    let since = at.saturating_duration_since(epoch).as_nanos();
                    self.due_ns = Some(epoch_ns.saturating_add(u64::try_from(since).unwrap_or(u64::MAX)));
                    return;
                }
                _ => {}
            }
        }
    }
}

fn instant((epoch, epoch_ns): (Instant, u64), now_ns: u64) -> Instant {
    epoch + Duration::from_nanos(now_ns.saturating_sub(epoch_ns))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const MS: u64 = 1_000_000;

    fn sessions(is_server: bool) -> Sessions {
        let descriptor = crate::find("coaps").expect("registered").descriptor();
        let settings = Settings::resolve(&descriptor, &BTreeMap::new()).expect("defaults");
        Sessions::new(&settings, is_server, (Instant::now(), 0)).expect("a configuration")
    }

    /// Carries what both have to say until neither has more; `loses(number)` of the client's datagrams.
    fn talk(client: &mut Session, server: &mut Session, now_ns: u64, loses: impl Fn(usize) -> bool) {
        let mut number = 0;
        loop {
            let (up, down) = (client.poll_transmit(), server.poll_transmit());
            if up.is_none() && down.is_none() {
                return;
            }
            if let Some(datagram) = up {
                if !loses(number) {
                    server.receive(now_ns, &datagram);
                }
                number += 1;
            }
            if let Some(datagram) = down {
                client.receive(now_ns, &datagram);
            }
        }
    }

    #[test]
    fn keys_are_agreed_on_and_data_goes_both_ways_until_close_notify() {
        let (mut client, mut server) = (sessions(false).begin(0, false), sessions(true).begin(0, true));
        talk(&mut client, &mut server, MS, |_| false);
        assert!(client.is_connected() && server.is_connected());
        assert_eq!((client.retransmissions(), server.retransmissions()), (0, 0));
        client.send(2 * MS, b"ping");
        server.send(2 * MS, &[7; 1_100]);
        talk(&mut client, &mut server, 2 * MS, |_| false);
        assert_eq!(server.poll_plaintext().as_deref(), Some(&b"ping"[..]));
        assert_eq!(client.poll_plaintext(), Some(vec![7; 1_100]));
        client.close(3 * MS);
        talk(&mut client, &mut server, 3 * MS, |_| false);
        assert!(server.ended().is_some());
    }

    #[test]
    fn a_lost_hello_is_retransmitted_and_counted() {
        let (mut client, mut server) = (sessions(false).begin(0, false), sessions(true).begin(0, true));
        talk(&mut client, &mut server, 0, |_| true);
        let due_ns = client.poll_timeout().expect("it waits");
        assert!((750 * MS..=1_250 * MS).contains(&due_ns), "{due_ns}");
        client.handle_timeout(due_ns);
        talk(&mut client, &mut server, due_ns, |_| false);
        assert!(client.is_connected());
        assert_eq!(client.retransmissions(), 1);
    }

    #[test]
    fn a_server_that_never_answers_ends_the_session_after_the_last_wait() {
        let mut client = sessions(false).begin(0, false);
        let mut sent = 0;
        while client.ended().is_none() {
            sent += std::iter::from_fn(|| client.poll_transmit()).count();
            let due_ns = client.poll_timeout().expect("it waits");
            assert!(due_ns < 60_000 * MS, "{due_ns}");
            client.handle_timeout(due_ns);
        }
        assert_eq!((sent, client.retransmissions()), (5, 4));
    }

    #[test]
    fn datagrams_that_are_not_dtls_end_nothing() {
        let (mut client, mut server) = (sessions(false).begin(0, false), sessions(true).begin(0, true));
        for bytes in [&b""[..], b"GET", &[22; 60], &[0x40, 1, 0, 9]] {
            server.receive(0, bytes);
        }
        talk(&mut client, &mut server, MS, |_| false);
        assert!(client.is_connected() && server.is_connected());
    }
}
