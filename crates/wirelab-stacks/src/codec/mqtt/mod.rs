//! MQTT 3.1.1 and 5 (OASIS standards; section numbers here are those of version 5 where both have one).
//!
//! Packets are read and written by mqtt-protocol-core; sessions, flows and the broker are ours, since its own connection state loses count of the
//! other end's Receive Maximum when a session is resumed. Both ends share [`flow`]: a client and a broker send and receive alike.
//!
//! Not done: shared subscriptions, topic aliases and enhanced authentication are refused as the standard has a server refuse them; user names and
//! passwords are accepted unread.

pub mod broker;
pub mod client;
mod connection;
mod decode;
mod encode;
pub mod flow;
mod framer;
pub mod packet;
mod reason;
mod retained;
mod session;
mod timers;
pub mod topics;

pub use broker::{Application, Broker, ConnectionId, Limits, Taken};
pub use client::{Client, Event, Options};
pub use packet::{Message, Qos, Version};
pub use reason::Reason;

#[cfg(test)]
mod tests;
