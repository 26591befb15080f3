//! One version of HTTP, as far as loading a page needs it.

use std::future::Future;

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};

use super::Rules;
use crate::attempt::{Attempt, ExchangeError};
use crate::http::Get;

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
