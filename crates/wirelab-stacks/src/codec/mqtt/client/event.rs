//! Requests to an MQTT client's engine, and its events. No behaviour.

use std::sync::Arc;

use crate::codec::mqtt::Reason;
use crate::codec::mqtt::packet::{Message, Version};

/// What a client asks of a server.
#[derive(Clone, Debug)]
pub struct Options {
    /// Protocol version.
    pub version: Version,
    /// Client identifier; empty to be given one.
    pub client_id: String,
    /// Clean Start; Clean Session in 3.1.1. False resumes the session that server and client have of the last connection.
    pub clean_start: bool,
    /// Session Expiry Interval, in seconds, which 3.1.1 does not have.
    pub session_expiry_s: u32,
    /// Keep Alive, in seconds; 0 for none.
    pub keep_alive_s: u16,
    /// Receive Maximum, to which a client that speaks 3.1.1 keeps when it sends.
    pub receive_maximum: u16,
    /// Maximum Packet Size.
    pub maximum_packet_size: u32,
}

/// What has happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The server accepts the connection.
    Connected {
        /// It has the session of an earlier connection.
        session_present: bool,
    },
    /// So much of a message is with the transport. Told at each step, also when it is sent again.
    Sent {
        /// Whose.
        ticket: u64,
        /// Bytes of its payload.
        payload_bytes: u64,
        /// All of its packet.
        whole: bool,
    },
    /// The server has a QoS 2 message: PUBREC.
    Received {
        /// Whose.
        ticket: u64,
        /// When the answer's first byte came.
        began_ns: u64,
    },
    /// A message has ended: PUBACK, PUBCOMP, or PUBREC that refuses it.
    Acknowledged {
        /// Whose.
        ticket: u64,
        /// What the server says; success in 3.1.1.
        reason: Reason,
        /// When the answer's first byte came.
        began_ns: u64,
    },
    /// The server has forgotten the session, and with it that a message was under way.
    Lost {
        /// Whose.
        ticket: u64,
    },
    /// The answer to a subscription: a reason for each filter.
    Subscribed(Vec<Reason>),
    /// A message.
    Message {
        /// The message.
        message: Arc<Message>,
        /// RETAIN.
        retain: bool,
    },
    /// The connection has ended, or must be ended: what is still to be written says why.
    Ended(Reason),
}
