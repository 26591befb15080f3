//! Protocol stacks for Wirelab's endpoints: a room for each family of protocols, one file for each stack, all its roles together.
//!
//! [`STACKS`] lists what is registered. A stack speaks its protocol and nothing else: the arrival process, time-outs, connection policies and
//! outcomes are the driver's ([`workload`]), which is the same for all of them, so that a difference between two stacks is not a difference
//! between two loops. This crate never prints, reads arguments or exits, and reads time only through [`Clock`].

mod amqp;
mod base;
mod coap;
pub mod codec;
pub mod exec;
mod http;
mod mqtt;
mod page;
mod raw;
pub mod recorder;
mod registry;
mod transport;
mod wire;
pub mod workload;

pub use wirelab_schema::ProtocolDescription as Descriptor;

pub use crate::amqp::accepted_frames;
pub use crate::base::Stack;
pub use crate::base::clock::{Clock, SystemClock, TimersClock};
pub use crate::base::context::{Context, Ready, StackError, Stop, Stopper, stop_signal};
pub use crate::base::payload::Payload;
pub use crate::base::received::{self, Received};
pub use crate::registry::{check, find, run, unanswered, workload_kinds};
pub use crate::wire::settings_in_force;

/// Every registered stack, in the order in which people read them.
pub const STACKS: &[&dyn Stack] = &[
    &raw::RawTcp,
    &raw::RawUdp,
    &http::HTTP1,
    &http::HTTPS1,
    &http::H2C,
    &http::H2,
    &http::H3,
    &mqtt::MQTT,
    &mqtt::MQTTS,
    &mqtt::MQTT_QUIC,
    &amqp::AMQP,
    &amqp::AMQPS,
    &coap::COAP,
    &coap::COAPS,
    &coap::COAP_TCP,
    &coap::COAPS_TCP,
];
