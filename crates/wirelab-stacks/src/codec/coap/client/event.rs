//! What a client is asked for, and what it tells. No behaviour.

use bytes::Bytes;

use super::super::message::{Method, Response};

/// A request and what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExchangeId(pub(super) u64);

/// What to ask.
#[derive(Clone, Debug)]
pub struct Request {
    /// Method.
    pub method: Method,
    /// Path, with a slash before each segment, and the query behind a question mark.
    pub path: String,
    /// Content-Format of the body.
    pub content_format: Option<u16>,
    /// The body.
    pub payload: Bytes,
    /// Asks to be told of changes (RFC 7641).
    pub observe: bool,
}

/// What a client learns.
#[derive(Debug)]
pub enum ClientEvent {
    /// The whole response is there. Of an observation: the server refused, and this is why.
    Response(ExchangeId, Response),
    /// The server has registered the observation; this is the state as it is.
    Observing(ExchangeId, Response),
    /// A newer state.
    Notification(ExchangeId, Response),
    /// There will be no response, or no more notifications.
    Ended(ExchangeId, Ended),
}

/// Why an exchange ended without a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// No acknowledgement or answer came: MAX_RETRANSMIT, or MAX_TRANSMIT_WAIT of a non-confirmable request.
    GaveUp {
        /// How often the message was sent.
        transmissions: u32,
    },
    /// The server answered with a Reset.
    Reset,
    /// What the server sent makes no sense.
    Protocol(String),
    /// The association is over.
    Closed(String),
}

/// When what of an exchange happened, and how often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// First message handed over.
    pub request_start_ns: Option<u64>,
    /// First one with a part of the body.
    pub first_body_ns: Option<u64>,
    /// First acknowledgement or response, also 2.31.
    pub first_response_ns: Option<u64>,
    /// First message of the final response.
    pub first_final_ns: Option<u64>,
    /// Messages sent once more.
    pub retransmissions: u32,
    /// Of the body, what was sent (once).
    pub body_sent_bytes: u64,
    /// Of the response's body.
    pub body_received_bytes: u64,
}

impl ClientEvent {
    /// The exchange that it is of.
    pub fn exchange(&self) -> ExchangeId {
        let (ClientEvent::Response(id, _)
        | ClientEvent::Observing(id, _)
        | ClientEvent::Notification(id, _)
        | ClientEvent::Ended(id, _)) = self;
        *id
    }
}
