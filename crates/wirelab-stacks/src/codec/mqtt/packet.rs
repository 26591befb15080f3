//! What ends say to each other, alike for both versions. No behaviour.

use std::sync::Arc;

use bytes::Bytes;
pub use mqtt_protocol_core::mqtt::packet::{Property, Qos, RetainHandling};

use super::Reason;

/// A version of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// 3.1.1 (protocol level 4).
    V311,
    /// 5.
    V5,
}

impl Version {
    /// The Receive Maximum that the other end was told: in 3.1.1, which has none, it cannot exceed it.
    pub fn announced(self, receive_maximum: u16) -> u16 {
        match self {
            Version::V311 => u16::MAX,
            Version::V5 => receive_maximum,
        }
    }
}

/// An application message, as it stays on its way from the publisher to every subscriber.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Topic name.
    pub topic: String,
    /// Payload.
    pub payload: Bytes,
    /// The properties that a server passes on unaltered (section 3.3.2.3), in their order.
    pub properties: Vec<Property>,
}

impl Message {
    /// One without properties.
    pub fn new(topic: impl Into<String>, payload: impl Into<Bytes>) -> Arc<Self> {
        Arc::new(Message { topic: topic.into(), payload: payload.into(), properties: Vec::new() })
    }
}

/// A control packet (section 3).
#[derive(Clone, Debug, PartialEq)]
pub enum Packet {
    /// CONNECT.
    Connect(Box<Connect>),
    /// CONNACK.
    Connack(Connack),
    /// PUBLISH.
    Publish(Publish),
    /// PUBACK, PUBREC, PUBREL or PUBCOMP.
    Ack(Ack),
    /// SUBSCRIBE.
    Subscribe(Subscribe),
    /// SUBACK: a reason for each filter.
    Suback(u16, Vec<Reason>),
    /// UNSUBSCRIBE.
    Unsubscribe(u16, Vec<String>),
    /// UNSUBACK: a reason for each filter, none in 3.1.1.
    Unsuback(u16, Vec<Reason>),
    /// PINGREQ.
    Pingreq,
    /// PINGRESP.
    Pingresp,
    /// DISCONNECT.
    Disconnect(Disconnect),
    /// AUTH.
    Auth,
}

/// CONNECT (section 3.1).
#[derive(Clone, Debug, PartialEq)]
pub struct Connect {
    /// Protocol version.
    pub version: Version,
    /// Client identifier; empty to be given one.
    pub client_id: String,
    /// Clean Start; Clean Session in 3.1.1.
    pub clean_start: bool,
    /// Keep Alive, in seconds; 0 for none.
    pub keep_alive_s: u16,
    /// Session Expiry Interval, in seconds; `u32::MAX` for never.
    pub session_expiry_s: u32,
    /// Receive Maximum.
    pub receive_maximum: u16,
    /// Maximum Packet Size.
    pub maximum_packet_size: Option<u32>,
    /// The client asks for enhanced authentication.
    pub authentication_method: bool,
    /// Will.
    pub will: Option<Will>,
}

/// The message that a server publishes for a client that went without DISCONNECT (section 3.1.2.5).
#[derive(Clone, Debug, PartialEq)]
pub struct Will {
    /// The message.
    pub message: Arc<Message>,
    /// Its quality of service.
    pub qos: Qos,
    /// To be retained.
    pub retain: bool,
    /// Will Delay Interval, in seconds.
    pub delay_s: u32,
    /// Message Expiry Interval, in seconds.
    pub expiry_s: Option<u32>,
}

/// CONNACK (section 3.2).
#[derive(Clone, Debug, PartialEq)]
pub struct Connack {
    /// Session Present.
    pub session_present: bool,
    /// Reason; in 3.1.1 the one that its return code stands for.
    pub reason: Reason,
    /// Session Expiry Interval, if the server changes it.
    pub session_expiry_s: Option<u32>,
    /// Receive Maximum.
    pub receive_maximum: u16,
    /// Maximum Packet Size.
    pub maximum_packet_size: Option<u32>,
    /// Assigned Client Identifier.
    pub assigned_client_id: Option<String>,
    /// Server Keep Alive, in seconds.
    pub server_keep_alive_s: Option<u16>,
    /// False if the server has no shared subscriptions.
    pub shared_subscriptions: bool,
}

impl Connack {
    /// A refusal.
    pub fn refusal(reason: Reason) -> Self {
        Connack { reason, ..Connack::default() }
    }
}

impl Default for Connack {
    fn default() -> Self {
        Connack {
            session_present: false,
            reason: Reason::SUCCESS,
            session_expiry_s: None,
            receive_maximum: u16::MAX,
            maximum_packet_size: None,
            assigned_client_id: None,
            server_keep_alive_s: None,
            shared_subscriptions: true,
        }
    }
}

/// PUBLISH (section 3.3): one transmission of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Publish {
    /// The message.
    pub message: Arc<Message>,
    /// Quality of service of this transmission.
    pub qos: Qos,
    /// RETAIN.
    pub retain: bool,
    /// DUP.
    pub dup: bool,
    /// Packet identifier; 0 for QoS 0.
    pub id: u16,
    /// Message Expiry Interval, in seconds.
    pub expiry_s: Option<u32>,
    /// Topic Alias.
    pub alias: Option<u16>,
    /// Subscription Identifiers.
    pub subscriptions: Vec<u32>,
}

/// PUBACK, PUBREC, PUBREL or PUBCOMP (sections 3.4 to 3.7).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ack {
    /// Which of them.
    pub kind: AckKind,
    /// Packet identifier.
    pub id: u16,
    /// Reason; always success in 3.1.1.
    pub reason: Reason,
}

/// Kinds of [`Ack`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckKind {
    /// PUBACK.
    Puback,
    /// PUBREC.
    Pubrec,
    /// PUBREL.
    Pubrel,
    /// PUBCOMP.
    Pubcomp,
}

/// SUBSCRIBE (section 3.8).
#[derive(Clone, Debug, PartialEq)]
pub struct Subscribe {
    /// Packet identifier.
    pub id: u16,
    /// Topic filters, each with its options.
    pub filters: Vec<(String, SubscriptionOptions)>,
    /// Subscription Identifier of all of them.
    pub identifier: Option<u32>,
}

/// Subscription Options (section 3.8.3.1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SubscriptionOptions {
    /// Maximum QoS.
    pub qos: Qos,
    /// No Local.
    pub no_local: bool,
    /// Retain As Published.
    pub retain_as_published: bool,
    /// Retain Handling.
    pub retain_handling: RetainHandling,
}

impl SubscriptionOptions {
    /// Those that 3.1.1 knows.
    pub fn new(qos: Qos) -> Self {
        let retain_handling = RetainHandling::SendRetained;
        SubscriptionOptions { qos, no_local: false, retain_as_published: false, retain_handling }
    }
}

/// DISCONNECT (section 3.14).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disconnect {
    /// Reason; always success in 3.1.1.
    pub reason: Reason,
    /// Session Expiry Interval, if the client changes it.
    pub session_expiry_s: Option<u32>,
}
