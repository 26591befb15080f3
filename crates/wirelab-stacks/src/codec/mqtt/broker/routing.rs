//! The broker's part of publishing: from a publisher to each session. It writes to no socket.

use std::collections::BTreeMap;

use super::{Broker, ConnectionId, Taken};
use crate::codec::mqtt::Reason;
use crate::codec::mqtt::flow::{Outgoing, Transmission};
use crate::codec::mqtt::packet::{Ack, AckKind, Packet, Publish, Qos, Version};
use crate::codec::mqtt::retained::Kept;
use crate::codec::mqtt::session::{SessionId, after};
use crate::codec::mqtt::topics::{self, Subscription};

impl Broker {
    /// Takes PUBLISH (section 3.3). The application has the message, and every session that is to have it, before it is acknowledged.
    pub(super) fn publish(
        &mut self,
        id: ConnectionId,
        session_id: SessionId,
        publish: Publish,
        now_ns: u64,
    ) -> Result<(), Reason> {
        // Topic Alias Maximum was not given, so there are none.
        if publish.alias.is_some() {
            return Err(Reason::TOPIC_ALIAS);
        }
        topics::check_name(&publish.message.topic)?;
        if !publish.subscriptions.is_empty() {
            return Err(Reason::PROTOCOL_ERROR);
        }
        let receive_maximum = self.version(id).announced(self.limits.receive_maximum);
        let Some(session) = self.sessions.get_mut(&session_id) else { return Ok(()) };
        if publish.qos == Qos::ExactlyOnce && !session.receiver.publish(publish.id, receive_maximum)? {
            return self.answer(id, AckKind::Pubrec, publish.id, Reason::SUCCESS);
        }
        let taken = self.application.take(&session.client_id, &publish.message);
        let reason = if taken == Taken::Refused {
            session.receiver.release(publish.id);
            match (self.version(id), publish.qos) {
                (_, Qos::AtMostOnce) => return Ok(()),
                (Version::V311, _) => return Err(Reason::PAYLOAD_FORMAT),
                (Version::V5, _) => Reason::PAYLOAD_FORMAT,
            }
        } else {
            let outgoing = Outgoing {
                message: publish.message,
                qos: publish.qos,
                retain: publish.retain,
                subscriptions: Vec::new(),
                expires_ns: publish.expiry_s.map(|expiry_s| after(now_ns, expiry_s)),
                ticket: 0,
            };
            let subscribers = self.route(session_id, &outgoing, now_ns);
            let nobody = subscribers == 0 && taken == Taken::NotMine;
            if nobody { Reason::NO_MATCHING_SUBSCRIBERS } else { Reason::SUCCESS }
        };
        match publish.qos {
            Qos::AtMostOnce => Ok(()),
            Qos::AtLeastOnce => self.answer(id, AckKind::Puback, publish.id, reason),
            Qos::ExactlyOnce => self.answer(id, AckKind::Pubrec, publish.id, reason),
        }
    }

    /// Retains a message if it is to be, and brings it to everyone who subscribed; how many those are. A session whose filters match more than once
    /// gets it once, with the highest QoS and all identifiers (section 3.3.4).
    pub(super) fn route(&mut self, publisher: SessionId, outgoing: &Outgoing, now_ns: u64) -> usize {
        if outgoing.retain {
            let Outgoing { message, qos, expires_ns, .. } = outgoing.clone();
            self.retained.put(Kept { message, qos, expires_ns }, self.limits.retained_topics);
        }
        let mut recipients: BTreeMap<SessionId, Outgoing> = BTreeMap::new();
        for (session_id, Subscription { options, identifier }) in self.subscriptions.matching(&outgoing.message.topic) {
            if options.no_local && session_id == publisher {
                continue;
            }
            let copy = recipients.entry(session_id).or_insert_with(|| Outgoing {
                qos: Qos::AtMostOnce,
                retain: false,
                ..outgoing.clone()
            });
            copy.qos = copy.qos.max(options.qos.min(outgoing.qos));
            copy.retain |= outgoing.retain && options.retain_as_published;
            copy.subscriptions.extend(identifier);
        }
        let count = recipients.len();
        for (session_id, copy) in recipients {
            self.deliver(session_id, copy, now_ns);
        }
        count
    }

    /// Brings one message to one session: at once or, with QoS 1 or 2, when its client is there and takes it.
    pub(super) fn deliver(&mut self, session_id: SessionId, outgoing: Outgoing, now_ns: u64) {
        let Some(session) = self.sessions.get_mut(&session_id) else { return };
        if outgoing.qos == Qos::AtMostOnce {
            let Some(connection) = session.connection else { return };
            if self.has_room(connection) {
                let expiry_s = remaining_s(&outgoing, now_ns);
                // A packet that is too large or cannot be said is dropped: QoS 0 promises nothing.
                let _ = self.transmit(connection, 0, false, expiry_s, outgoing);
            }
            return;
        }
        if session.sender.waiting() < self.limits.queued_messages {
            session.sender.push(outgoing);
        }
        self.flush(session_id, now_ns);
    }

    /// Sends what a session's client may be sent now.
    pub(super) fn flush(&mut self, session_id: SessionId, now_ns: u64) {
        loop {
            let Some(session) = self.sessions.get_mut(&session_id) else { return };
            let Some(id) = session.connection.filter(|id| self.connections.get(id).is_some_and(|open| !open.closing))
            else {
                return;
            };
            if self.connections[&id].backlog() >= self.limits.backlog_bytes {
                return;
            }
            let said = match session.sender.poll(now_ns) {
                None => return,
                Some(Transmission::Release { id: packet_id }) => {
                    self.answer(id, AckKind::Pubrel, packet_id, Reason::SUCCESS).map(|()| (packet_id, true))
                }
                Some(Transmission::Publish { id: packet_id, dup, outgoing }) => {
                    let expiry_s = remaining_s(&outgoing, now_ns);
                    self.transmit(id, packet_id, dup, expiry_s, outgoing).map(|said| (packet_id, said))
                }
            };
            match said {
                Ok((_, true)) => {}
                Ok((packet_id, false)) => {
                    if let Some(session) = self.sessions.get_mut(&session_id) {
                        session.sender.discard(packet_id);
                    }
                }
                Err(reason) => return self.end(id, reason),
            }
        }
    }

    fn transmit(
        &mut self,
        id: ConnectionId,
        packet_id: u16,
        dup: bool,
        expiry_s: Option<u32>,
        outgoing: Outgoing,
    ) -> Result<bool, Reason> {
        let Some(connection) = self.connections.get_mut(&id) else { return Ok(true) };
        self.woken.insert(id);
        let Outgoing { message, qos, retain, subscriptions, .. } = outgoing;
        connection.send(&Packet::Publish(Publish {
            message,
            qos,
            retain,
            dup,
            id: packet_id,
            expiry_s,
            alias: None,
            subscriptions,
        }))
    }

    fn answer(&mut self, id: ConnectionId, kind: AckKind, packet_id: u16, reason: Reason) -> Result<(), Reason> {
        self.send(id, &Packet::Ack(Ack { kind, id: packet_id, reason }))
    }

    fn has_room(&self, id: ConnectionId) -> bool {
        let room = |open: &super::Connection| !open.closing && open.backlog() < self.limits.backlog_bytes;
        self.connections.get(&id).is_some_and(room)
    }
}

/// What is left of a message's lifetime (section 3.3.2.3.3), in whole seconds, at least one.
fn remaining_s(outgoing: &Outgoing, now_ns: u64) -> Option<u32> {
    let left_ns = outgoing.expires_ns?.saturating_sub(now_ns);
    Some(u32::try_from(left_ns.div_ceil(1_000_000_000)).unwrap_or(u32::MAX).max(1))
}
