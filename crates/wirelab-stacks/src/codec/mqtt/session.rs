//! One session of the broker: subscriptions and messages in flight. It is not written to disk.

use std::collections::BTreeSet;

use super::connection::ConnectionId;
use super::flow::{Receiver, Sender};
use super::packet::Will;

/// A session of a broker's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionId(pub u64);

/// What a broker knows of a client, connected or not (section 4.1).
#[derive(Debug)]
pub struct Session {
    /// Whose it is.
    pub client_id: String,
    /// The client's connection.
    pub connection: Option<ConnectionId>,
    /// Messages to the client.
    pub sender: Sender,
    /// Messages from the client.
    pub receiver: Receiver,
    /// Topic filters; their options are in [`Subscriptions`](super::topics::Subscriptions).
    pub filters: BTreeSet<String>,
    /// How long it outlives its connection, in seconds; `u32::MAX` for ever.
    pub expiry_s: u32,
    /// What to publish if the connection ends without DISCONNECT.
    pub will: Option<Will>,
    /// When to publish that; set when the connection has ended.
    pub will_due_ns: Option<u64>,
    /// When to forget the session; set when the connection has ended.
    pub ends_ns: Option<u64>,
    /// When a timer looks at it next, if that is still to come.
    pub looked_at_ns: u64,
}

impl Session {
    /// A new one.
    pub fn new(client_id: String) -> Self {
        Session {
            client_id,
            connection: None,
            sender: Sender::default(),
            receiver: Receiver::default(),
            filters: BTreeSet::new(),
            expiry_s: 0,
            will: None,
            will_due_ns: None,
            ends_ns: None,
            looked_at_ns: 0,
        }
    }

    /// Its connection has ended at `now_ns`: from here the expiry and the will's delay count. A will is due at the session's end at the latest.
    pub fn disconnected(&mut self, now_ns: u64) {
        self.connection = None;
        self.ends_ns = match self.expiry_s {
            u32::MAX => None,
            expiry_s => Some(after(now_ns, expiry_s)),
        };
        let due_ns = self.will.as_ref().map(|will| after(now_ns, will.delay_s));
        self.will_due_ns = due_ns.map(|due_ns| self.ends_ns.map_or(due_ns, |ends_ns| due_ns.min(ends_ns)));
    }

    /// The client is back.
    pub fn connected(&mut self, connection: ConnectionId) {
        self.connection = Some(connection);
        self.ends_ns = None;
        self.will_due_ns = None;
        self.will = None;
    }

    /// When something is due for a session without a connection.
    pub fn due_ns(&self) -> Option<u64> {
        [self.will_due_ns, self.ends_ns].into_iter().flatten().min()
    }
}

/// So many seconds later.
pub fn after(now_ns: u64, seconds: u32) -> u64 {
    now_ns.saturating_add(u64::from(seconds) * 1_000_000_000)
}
