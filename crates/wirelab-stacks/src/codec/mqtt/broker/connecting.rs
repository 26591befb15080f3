//! The broker's part of connecting: CONNECT, sessions taken over, wills. It opens no socket.

use super::{Broker, ConnectionId, Timed};
use crate::codec::mqtt::Reason;
use crate::codec::mqtt::flow::Outgoing;
use crate::codec::mqtt::packet::{Connack, Connect, Packet, Version, Will};
use crate::codec::mqtt::session::{Session, SessionId, after};
use crate::codec::mqtt::topics;

impl Broker {
    /// Takes CONNECT (sections 3.1 and 4.1).
    pub(super) fn connect(&mut self, id: ConnectionId, connect: Connect, now_ns: u64) -> Result<(), Reason> {
        if connect.authentication_method {
            return Err(Reason::AUTHENTICATION_METHOD);
        }
        if let Some(will) = &connect.will {
            topics::check_name(&will.message.topic)?;
        }
        let assigned = connect.client_id.is_empty().then(|| format!("assigned{:08}", self.next_id()));
        if assigned.is_some() && connect.version == Version::V311 && !connect.clean_start {
            return Err(Reason::CLIENT_ID);
        }
        let client_id = assigned.clone().unwrap_or_else(|| connect.client_id.clone());
        let earlier = self.clients.get(&client_id).copied();
        if let Some(earlier) = earlier {
            self.take_over(earlier, now_ns);
            if connect.clean_start || self.has_ended(earlier, now_ns) {
                self.forget(earlier, now_ns);
            }
        }
        let resumed = self.clients.get(&client_id).copied();
        let session_id = resumed.unwrap_or_else(|| SessionId(self.next_id()));
        let session = self.sessions.entry(session_id).or_insert_with(|| Session::new(client_id.clone()));
        self.clients.insert(client_id, session_id);
        session.connected(id);
        session.expiry_s = connect.session_expiry_s;
        session.will = connect.will;
        let receive_maximum = match connect.version {
            Version::V311 => self.limits.receive_maximum,
            Version::V5 => connect.receive_maximum,
        };
        session.sender.resume(receive_maximum);
        let connection = self.connections.get_mut(&id).expect("it has been read from");
        connection.accepted(session_id, connect.keep_alive_s, connect.maximum_packet_size);
        if let Some(at_ns) = connection.deadline_ns() {
            self.timers.set(at_ns, Timed::Connection(id));
        }
        let whole = super::MAXIMUM_PACKET_SIZE;
        self.send(
            id,
            &Packet::Connack(Connack {
                session_present: resumed.is_some(),
                receive_maximum: self.limits.receive_maximum,
                maximum_packet_size: Some(self.limits.maximum_packet_size).filter(|maximum| *maximum != whole),
                assigned_client_id: assigned,
                shared_subscriptions: false,
                ..Connack::default()
            }),
        )?;
        self.flush(session_id, now_ns);
        Ok(())
    }

    /// Ends the connection that a session has (section 3.1.4): its client has opened another.
    fn take_over(&mut self, session_id: SessionId, now_ns: u64) {
        let Some(session) = self.sessions.get_mut(&session_id) else { return };
        let Some(connection) = session.connection else { return };
        session.disconnected(now_ns);
        self.end(connection, Reason::TAKEN_OVER);
        self.publish_will_if_due(session_id, now_ns);
    }

    fn has_ended(&self, session_id: SessionId, now_ns: u64) -> bool {
        let ends_ns = self.sessions.get(&session_id).and_then(|session| session.ends_ns);
        ends_ns.is_some_and(|ends_ns| ends_ns <= now_ns)
    }

    /// Does what is due for a session without a connection, and notes when more will be.
    pub(super) fn look_at(&mut self, session_id: SessionId, now_ns: u64) {
        self.publish_will_if_due(session_id, now_ns);
        if self.has_ended(session_id, now_ns) {
            self.forget(session_id, now_ns);
            return;
        }
        let Some(session) = self.sessions.get_mut(&session_id) else { return };
        let Some(at_ns) = session.due_ns() else { return };
        // An earlier timer will look again.
        if session.looked_at_ns <= now_ns || session.looked_at_ns > at_ns {
            session.looked_at_ns = at_ns;
            self.timers.set(at_ns, Timed::Session(session_id));
        }
    }

    fn publish_will_if_due(&mut self, session_id: SessionId, now_ns: u64) {
        let Some(session) = self.sessions.get_mut(&session_id) else { return };
        if session.will_due_ns.is_some_and(|due_ns| due_ns <= now_ns) {
            session.will_due_ns = None;
            let client_id = session.client_id.clone();
            if let Some(will) = session.will.take() {
                self.publish_will(session_id, &client_id, will, now_ns);
            }
        }
    }

    /// Ends a session: its will is due, whatever its delay.
    fn forget(&mut self, session_id: SessionId, now_ns: u64) {
        let Some(mut session) = self.sessions.remove(&session_id) else { return };
        self.clients.remove(&session.client_id);
        for filter in &session.filters {
            self.subscriptions.remove(filter, session_id);
        }
        if let Some(will) = session.will.take() {
            self.publish_will(session_id, &session.client_id, will, now_ns);
        }
    }

    fn publish_will(&mut self, session_id: SessionId, client_id: &str, will: Will, now_ns: u64) {
        self.application.take(client_id, &will.message);
        let outgoing = Outgoing {
            message: will.message,
            qos: will.qos,
            retain: will.retain,
            subscriptions: Vec::new(),
            expires_ns: will.expiry_s.map(|expiry_s| after(now_ns, expiry_s)),
            ticket: 0,
        };
        self.route(session_id, &outgoing, now_ns);
    }
}
