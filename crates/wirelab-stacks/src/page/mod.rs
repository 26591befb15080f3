//! The workload `page`: what a client of HTTP fetches for a page and when, as a browser with an empty cache does, and what a server answers.
//!
//! [`Load`] decides and knows no connection; [`load_pages`] carries out what it says over one version of HTTP, which is a [`Fetch`].

mod client;
pub mod hints;
mod load;
mod manifest;
mod priority;
mod site;

use std::future::Future;

use ::http::{HeaderMap, Request, StatusCode};
use bytes::Bytes;

use crate::base::attempt::{Attempt, ExchangeError};
use crate::http::Get;
pub use client::load_pages;
pub use load::{HTTP1, HTTP2, HTTP3, Rules};
pub use priority::Priority;
pub use site::Site;

/// What a client grants a stream: Chromium's `kSpdyStreamMaxRecvWindowSize` and `kQuicStreamMaxRecvWindowSize`.
pub const STREAM_WINDOW_BYTES: u32 = 6 << 20;
/// And a connection: Chromium's `kSpdySessionMaxRecvWindowSize` and `kQuicSessionMaxRecvWindowSize`.
pub const CONNECTION_WINDOW_BYTES: u32 = 15 << 20;
/// Requests that a server takes at once on a connection: nginx's `http2_max_concurrent_streams`, unless it is configured otherwise.
pub const CONCURRENT_STREAMS: u32 = 128;

/// One version of HTTP, as far as loading a page needs it.
pub trait Fetch: Get {
    /// A request that was sent, or a push that was promised, and how much of its answer has been read.
    type Answer: Send;
    /// A push that was promised.
    type Promise: Send;

    /// What a browser does over it.
    const RULES: Rules;

    /// Another handle to the same connection, if requests share it.
    fn share(&self, connection: &Self::Connection) -> Option<Self::Connection>;

    /// False if the connection is known to take no more requests, also if those under way go on.
    fn is_usable(&self, connection: &Self::Connection) -> bool;

    /// Whether a server may push.
    fn takes_pushes(&self) -> bool {
        false
    }

    /// Sends a request without a body, and has the attempt stamp it.
    fn send(
        &self,
        connection: &mut Self::Connection,
        request: Request<()>,
        attempt: &mut Attempt,
    ) -> impl Future<Output = Result<Self::Answer, ExchangeError>> + Send;

    /// What comes next of an answer, `None` at its end.
    fn next(
        &self,
        answer: &mut Self::Answer,
        attempt: &mut Attempt,
    ) -> impl Future<Output = Result<Option<Part<Self::Promise>>, ExchangeError>> + Send;

    /// The answer that was promised.
    fn pushed(&self, promise: Self::Promise) -> Self::Answer;
}

/// Of an answer to a request, in the order of the bytes.
pub enum Part<P> {
    /// An interim response (RFC 9110, section 15.2).
    Interim(HeaderMap),
    /// The response to a request that the client did not send, for this path and query.
    Promise(String, P),
    /// The final response's head.
    Head(StatusCode, HeaderMap),
    /// Some of its body.
    Data(Bytes),
}
