//! The broker's part of subscribing: filters and retained messages. It delivers nothing itself.

use super::{Broker, ConnectionId};
use crate::codec::mqtt::Reason;
use crate::codec::mqtt::flow::Outgoing;
use crate::codec::mqtt::packet::{Packet, RetainHandling, Subscribe, Version};
use crate::codec::mqtt::session::SessionId;
use crate::codec::mqtt::topics::{self, Subscription};

/// Begins the filter of a shared subscription (section 4.8.2).
const SHARED: &str = "$share/";

impl Broker {
    /// Takes SUBSCRIBE (section 3.8). Retained messages follow SUBACK.
    pub(super) fn subscribe(
        &mut self,
        id: ConnectionId,
        session_id: SessionId,
        subscribe: Subscribe,
        now_ns: u64,
    ) -> Result<(), Reason> {
        let version = self.version(id);
        let mut reasons = Vec::new();
        let mut retained = Vec::new();
        for (filter, options) in subscribe.filters {
            if version == Version::V5 && filter.starts_with(SHARED) {
                reasons.push(Reason::NO_SHARED);
                continue;
            }
            if let Err(reason) = topics::check_filter(&filter) {
                reasons.push(reason);
                continue;
            }
            let subscription = Subscription { options, identifier: subscribe.identifier };
            let is_new = self.subscriptions.insert(&filter, session_id, subscription);
            let wants_retained = match options.retain_handling {
                RetainHandling::SendRetained => true,
                RetainHandling::SendRetainedIfNotExists => is_new,
                RetainHandling::DoNotSendRetained => false,
            };
            if wants_retained {
                retained.extend(self.retained.matching(&filter, now_ns).into_iter().map(|kept| Outgoing {
                    message: kept.message,
                    qos: kept.qos.min(options.qos),
                    retain: true,
                    subscriptions: subscribe.identifier.into_iter().collect(),
                    expires_ns: kept.expires_ns,
                    ticket: 0,
                }));
            }
            reasons.push(Reason(options.qos as u8));
            if let Some(session) = self.sessions.get_mut(&session_id) {
                session.filters.insert(filter);
            }
        }
        self.send(id, &Packet::Suback(subscribe.id, reasons))?;
        for outgoing in retained {
            self.deliver(session_id, outgoing, now_ns);
        }
        Ok(())
    }

    /// Takes UNSUBSCRIBE (section 3.10).
    pub(super) fn unsubscribe(
        &mut self,
        id: ConnectionId,
        session_id: SessionId,
        packet_id: u16,
        filters: &[String],
    ) -> Result<(), Reason> {
        let mut reasons = Vec::new();
        for filter in filters {
            let existed = self.subscriptions.remove(filter, session_id);
            reasons.push(if existed { Reason::SUCCESS } else { Reason::NO_SUBSCRIPTION_EXISTED });
            if let Some(session) = self.sessions.get_mut(&session_id) {
                session.filters.remove(filter);
            }
        }
        self.send(id, &Packet::Unsuback(packet_id, reasons))
    }
}
