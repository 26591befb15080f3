//! The Constrained Application Protocol: RFC 7252 with block-wise transfer (RFC 7959), Observe (RFC 7641) and CoAP over TCP (RFC 8323).
//!
//! One [`Client`] or [`Server`] is one end of one association: a pair of UDP endpoints, a DTLS session or a TCP connection. Its owner hands in
//! what arrives and the instants, and takes out what is to be sent ([`Channel::poll_transmit`]), what happened, and when it next wants to be
//! called. Instants are nanoseconds of any one clock that does not go back. Message bytes are coap-lite's; everything that takes time, and
//! everything about which message answers which, is here.
//!
//! Not here: sockets, DTLS, proxying, caching and freshness (RFC 7252, section 5.6), resource discovery, OSCORE, BERT (RFC 8323, section 6),
//! requests to multicast groups.

mod block;
mod channel;
mod client;
mod framing;
mod memory;
mod message;
mod message_layer;
mod observe;
mod parameters;
mod server;
#[cfg(test)]
mod tests;

pub use channel::Channel;
pub use client::{Client, ClientEvent, Ended, ExchangeId, Progress, Request};
pub use framing::{Framing, StreamError};
pub use message::{Malformed, Method, Response, status};
pub use message_layer::MessageLayer;
pub use parameters::{Backoff, Parameters};
pub use server::{IncomingRequest, ObservationId, Options, RequestId, Server, ServerEvent};
