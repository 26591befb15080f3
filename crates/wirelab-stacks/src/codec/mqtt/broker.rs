//! The broker: connections, sessions, and what goes from one to the other.
//!
//! The caller owns the sockets and the clock. It tells the broker of each connection that opens, brings bytes or has ended, asks
//! [`poll_woken`](Broker::poll_woken) whose output or end has changed, and calls [`handle_timeout`](Broker::handle_timeout) when
//! [`poll_timeout`](Broker::poll_timeout) says so.

mod connecting;
mod routing;
mod subscribing;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use bytes::Bytes;

use super::Reason;
use super::connection::Connection;
pub use super::connection::ConnectionId;
use super::framer::Frame;
use super::packet::{Ack, AckKind, Disconnect, Message, Packet, Version};
use super::retained::Retained;
use super::session::{Session, SessionId};
use super::timers::Timers;
use super::topics::Subscriptions;

/// What a broker refuses to exceed.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Maximum Packet Size that it takes.
    pub maximum_packet_size: u32,
    /// Receive Maximum of both directions; clients that speak 3.1.1 are not told.
    pub receive_maximum: u16,
    /// How long a connection may be without CONNECT.
    pub connect_timeout_ns: u64,
    /// Messages that wait for one session.
    pub queued_messages: usize,
    /// Bytes that wait for one connection: beyond, QoS 0 is dropped and the rest waits in the session.
    pub backlog_bytes: usize,
    /// Topics with a retained message.
    pub retained_topics: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            maximum_packet_size: MAXIMUM_PACKET_SIZE,
            receive_maximum: u16::MAX,
            connect_timeout_ns: 10_000_000_000,
            queued_messages: 100_000,
            backlog_bytes: 4 << 20,
            retained_topics: 10_000,
        }
    }
}

/// The largest packet that the length in its header can say.
pub const MAXIMUM_PACKET_SIZE: u32 = 268_435_460;

/// The application in the broker's own process. It is given every message before that is acknowledged.
pub trait Application: Send {
    /// Takes a message from the client of that identifier.
    fn take(&mut self, client_id: &str, message: &Message) -> Taken;
}

/// What an application does with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It has it.
    Yes,
    /// It is not for it.
    NotMine,
    /// It is for it, and wrong: the publisher is told so (in 3.1.1 by the end of its connection), nobody else gets it.
    Refused,
}

/// An application that takes nothing.
pub struct Nobody;

impl Application for Nobody {
    fn take(&mut self, _client_id: &str, _message: &Message) -> Taken {
        Taken::NotMine
    }
}

/// A broker.
pub struct Broker {
    limits: Limits,
    application: Box<dyn Application>,
    connections: BTreeMap<ConnectionId, Connection>,
    sessions: BTreeMap<SessionId, Session>,
    clients: HashMap<String, SessionId>,
    subscriptions: Subscriptions,
    retained: Retained,
    timers: Timers<Timed>,
    woken: BTreeSet<ConnectionId>,
    last_id: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Timed {
    Connection(ConnectionId),
    Session(SessionId),
}

impl Broker {
    /// Without clients.
    pub fn new(limits: Limits, application: Box<dyn Application>) -> Self {
        Broker {
            limits,
            application,
            connections: BTreeMap::new(),
            sessions: BTreeMap::new(),
            clients: HashMap::new(),
            subscriptions: Subscriptions::default(),
            retained: Retained::default(),
            timers: Timers::default(),
            woken: BTreeSet::new(),
            last_id: 0,
        }
    }

    /// A network connection has opened.
    pub fn open(&mut self, now_ns: u64) -> ConnectionId {
        let id = ConnectionId(self.next_id());
        let connection = Connection::new(&self.limits, now_ns);
        if let Some(at_ns) = connection.deadline_ns() {
            self.timers.set(at_ns, Timed::Connection(id));
        }
        self.connections.insert(id, connection);
        id
    }

    /// Bytes have come over a connection. What is wrong with them ends it alone.
    pub fn receive(&mut self, id: ConnectionId, mut bytes: &[u8], now_ns: u64) {
        while let Some(connection) = self.connections.get_mut(&id).filter(|connection| !connection.closing) {
            let handled = match connection.read(&mut bytes, now_ns) {
                Ok(None) => return,
                Ok(Some(frame)) => self.handle_frame(id, &frame, now_ns),
                Err(reason) => Err(reason),
            };
            if let Err(reason) = handled {
                self.end(id, reason);
            }
        }
    }

    /// A connection has ended, from whichever side: its client's will is due, and its session's expiry begins.
    pub fn closed(&mut self, id: ConnectionId, now_ns: u64) {
        let Some(connection) = self.connections.remove(&id) else { return };
        self.woken.remove(&id);
        let session_id = connection.session;
        let Some(session) = session_id.and_then(|session| self.sessions.get_mut(&session)) else { return };
        // A session that another connection has taken over goes on there.
        if session.connection == Some(id) {
            session.disconnected(now_ns);
            self.look_at(session_id.expect("there is one"), now_ns);
        }
    }

    /// What is to be written to a connection. Having been taken, it makes room for what waits in the session.
    pub fn take_output(&mut self, id: ConnectionId, now_ns: u64) -> Bytes {
        let Some(connection) = self.connections.get_mut(&id) else { return Bytes::new() };
        let output = connection.take_output();
        if let Some(session) = connection.session.filter(|_| !connection.closing) {
            self.flush(session, now_ns);
        }
        output
    }

    /// True once a connection is to be closed, when its output has been written.
    pub fn is_closing(&self, id: ConnectionId) -> bool {
        self.connections.get(&id).is_none_or(|connection| connection.closing)
    }

    /// A connection that has output, or is to be closed, since it was last named here.
    pub fn poll_woken(&mut self) -> Option<ConnectionId> {
        self.woken.pop_first()
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called at the latest.
    pub fn poll_timeout(&self) -> Option<u64> {
        self.timers.next_ns()
    }

    /// Does what is due by now: ends silent connections, publishes wills, forgets sessions.
    pub fn handle_timeout(&mut self, now_ns: u64) {
        while let Some(thing) = self.timers.take_due(now_ns) {
            match thing {
                Timed::Session(id) => self.look_at(id, now_ns),
                Timed::Connection(id) => {
                    match self.connections.get(&id).and_then(|connection| connection.deadline_ns()) {
                        Some(at_ns) if at_ns <= now_ns => self.end(id, Reason::KEEP_ALIVE),
                        Some(at_ns) => self.timers.set(at_ns, thing),
                        None => {}
                    }
                }
            }
        }
    }

    /// True while so much waits to be written to a connection that nothing more should be read from it.
    pub fn is_congested(&self, id: ConnectionId) -> bool {
        self.connections.get(&id).is_some_and(|connection| connection.backlog() >= self.limits.backlog_bytes)
    }

    fn handle_frame(&mut self, id: ConnectionId, frame: &Frame, now_ns: u64) -> Result<(), Reason> {
        let connection = self.connections.get_mut(&id).expect("it has been read from");
        connection.heard_ns = now_ns;
        let Some(version) = connection.version else {
            let version = frame.requested_version().ok_or(Reason::PROTOCOL_ERROR)??;
            connection.version = Some(version);
            return match frame.decode(version)? {
                Packet::Connect(connect) => self.connect(id, *connect, now_ns),
                _ => Err(Reason::PROTOCOL_ERROR),
            };
        };
        let session = connection.session.ok_or(Reason::PROTOCOL_ERROR)?;
        match frame.decode(version)? {
            Packet::Publish(publish) => self.publish(id, session, publish, now_ns),
            Packet::Ack(ack) => self.acknowledge(id, session, ack, now_ns),
            Packet::Subscribe(subscribe) => self.subscribe(id, session, subscribe, now_ns),
            Packet::Unsubscribe(packet_id, filters) => self.unsubscribe(id, session, packet_id, &filters),
            Packet::Pingreq => self.send(id, &Packet::Pingresp),
            Packet::Disconnect(disconnect) => self.disconnect(id, session, disconnect),
            // A second CONNECT, what only a server says, or AUTH that nobody asked for.
            _ => Err(Reason::PROTOCOL_ERROR),
        }
    }

    /// PUBACK, PUBREC and PUBCOMP of what went to the client, PUBREL of what came from it.
    fn acknowledge(&mut self, id: ConnectionId, session_id: SessionId, ack: Ack, now_ns: u64) -> Result<(), Reason> {
        let Some(session) = self.sessions.get_mut(&session_id) else { return Ok(()) };
        let answer = |kind, known| {
            let reason = if known { Reason::SUCCESS } else { Reason::UNKNOWN_ID };
            Packet::Ack(Ack { kind, id: ack.id, reason })
        };
        match ack.kind {
            AckKind::Puback => drop(session.sender.acknowledged(ack.id)?),
            AckKind::Pubrec if ack.reason.is_failure() => drop(session.sender.refused(ack.id)),
            AckKind::Pubrec => {
                let known = session.sender.received(ack.id)?.is_some();
                self.send(id, &answer(AckKind::Pubrel, known))?;
            }
            AckKind::Pubrel => {
                let known = session.receiver.release(ack.id);
                self.send(id, &answer(AckKind::Pubcomp, known))?;
            }
            AckKind::Pubcomp => drop(session.sender.completed(ack.id)?),
        }
        self.flush(session_id, now_ns);
        Ok(())
    }

    /// The client says good-bye: without a will, unless it asks for it.
    fn disconnect(&mut self, id: ConnectionId, session: SessionId, disconnect: Disconnect) -> Result<(), Reason> {
        let session = self.sessions.get_mut(&session).ok_or(Reason::PROTOCOL_ERROR)?;
        if let Some(expiry_s) = disconnect.session_expiry_s {
            if session.expiry_s == 0 && expiry_s != 0 {
                return Err(Reason::PROTOCOL_ERROR);
            }
            session.expiry_s = expiry_s;
        }
        if disconnect.reason == Reason::SUCCESS {
            session.will = None;
        }
        let connection = self.connections.get_mut(&id).expect("it has been read from");
        connection.closing = true;
        self.woken.insert(id);
        Ok(())
    }

    /// A packet other than PUBLISH, to a client that is to take it whatever its size.
    fn send(&mut self, id: ConnectionId, packet: &Packet) -> Result<(), Reason> {
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.send(packet)?;
            self.woken.insert(id);
        }
        Ok(())
    }

    fn end(&mut self, id: ConnectionId, reason: Reason) {
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.end(reason);
            self.woken.insert(id);
        }
    }

    fn version(&self, id: ConnectionId) -> Version {
        self.connections.get(&id).and_then(|connection| connection.version).unwrap_or(Version::V311)
    }

    fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }
}
