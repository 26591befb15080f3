//! Client identifiers and sessions of the built-in clients. The broker's are in `codec::mqtt`.

use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use crate::base::settings::Settings;
use crate::codec::mqtt::broker::MAXIMUM_PACKET_SIZE;
use crate::codec::mqtt::client::{Client, Options};

/// Begins the client identifiers of the built-in clients.
const OURS: &str = "wl";

/// True for the identifier of a built-in client.
pub fn is_ours(client_id: &str) -> bool {
    client_id.starts_with(OURS)
}

/// The sessions of one client of the workload: one for each of its connections that is open at the same time. With Clean Start off, a connection
/// goes on with the session of one that has ended.
pub struct Sessions {
    letter: char,
    number: u32,
    options: Options,
    free: Mutex<Free>,
}

#[derive(Default)]
struct Free {
    /// Those that no connection has, with what they hold; lowest number last.
    idle: Vec<(u32, Option<Client>)>,
    count: u32,
}

impl Sessions {
    /// Of the client with this number; the letter tells what it does.
    pub fn new(letter: char, number: u32, settings: &Settings) -> Arc<Self> {
        let clean_start = settings.boolean("clean-start");
        let options = Options {
            version: super::version(settings),
            client_id: String::new(),
            clean_start,
            session_expiry_s: if clean_start { 0 } else { settings.integer("session-expiry") as u32 },
            keep_alive_s: settings.integer("keep-alive") as u16,
            receive_maximum: settings.integer("receive-maximum") as u16,
            maximum_packet_size: settings.integer("maximum-packet-size").min(MAXIMUM_PACKET_SIZE.into()) as u32,
        };
        Arc::new(Sessions { letter, number, options, free: Mutex::default() })
    }

    /// One for a connection from this address, by which clients on several hosts have different identifiers.
    pub fn take(self: &Arc<Self>, local: IpAddr) -> Session {
        let mut free = self.free.lock().expect("no holder panics");
        let (serial, kept) = free.idle.pop().unwrap_or_else(|| {
            free.count += 1;
            (free.count - 1, None)
        });
        let client = kept.unwrap_or_else(|| {
            let host = match local {
                IpAddr::V4(address) => u32::from(address),
                IpAddr::V6(address) => address.to_bits() as u32,
            };
            // At most the 23 letters and digits that every server takes (section 3.1.3.1), and always as many.
            let client_id = format!("{OURS}{}{host:08x}{:05}{serial:05}", self.letter, self.number);
            Client::new(Options { client_id, ..self.options.clone() })
        });
        Session { serial, client: Some(client), sessions: self.clone() }
    }
}

/// A session that a connection has. Dropping it gives it back.
pub struct Session {
    serial: u32,
    client: Option<Client>,
    sessions: Arc<Sessions>,
}

impl Session {
    /// What it holds.
    pub fn client(&mut self) -> &mut Client {
        self.client.as_mut().expect("there until dropped")
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let kept = self.client.take().filter(|_| !self.sessions.options.clean_start);
        let mut free = self.sessions.free.lock().expect("no holder panics");
        free.idle.push((self.serial, kept));
        free.idle.sort_unstable_by_key(|(serial, _)| std::cmp::Reverse(*serial));
    }
}
