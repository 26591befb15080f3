//! Changes by server push (RFC 9113, section 8.4): a request whose answer has no end, and a pushed response with it for each message.
//! Pages are pushed in `page.rs`.

use std::sync::atomic::{AtomicU32, Ordering};

use ::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use ::http::{Request, Response, StatusCode};
use bytes::{Bytes, BytesMut};
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesOrdered, StreamExt};
use h2::RecvStream;
use h2::client::{PushPromise, PushPromises};
use h2::server::SendResponse;

use super::{Connection, Connector, next_data};
use crate::base::attempt::{Attempt, ExchangeError};
use crate::http::{Dates, Get, Origin, PAYLOAD_TYPE};
use crate::workload::{Subscriber, Waiting};

/// Waits for pushed responses.
pub struct PushSubscriber {
    /// Opens connections on which the server may push.
    pub connector: Connector,
    /// The server.
    pub origin: Origin,
    /// Messages that have come, on whatever connection.
    pub received: AtomicU32,
}

/// A connection on which responses are pushed.
pub struct Subscription {
    connection: Connection,
    promises: PushPromises,
    /// Those on their way, all read at once: one that nobody reads holds the connection's window, which the one before it may need.
    coming: FuturesOrdered<BoxFuture<'static, Result<Bytes, ExchangeError>>>,
    /// Of the answer that has no end; dropped, it would take the promises with it.
    _answer: RecvStream,
}

impl Subscriber for PushSubscriber {
    type Subscription = Subscription;

    async fn subscribe(&self, attempt: &mut Attempt) -> Result<Subscription, ExchangeError> {
        let connection = self.connector.connect(attempt).await?;
        let mut sender = connection.sender.clone().ready().await?;
        let path = format!("/changes?after={}", self.received.load(Ordering::Relaxed));
        let (mut response, _) = sender.send_request(self.origin.get(&path).body(())?, true)?;
        let promises = response.push_promises();
        let response = response.await?;
        match response.status() {
            StatusCode::OK => {
                let coming = FuturesOrdered::new();
                Ok(Subscription { connection, promises, coming, _answer: response.into_body() })
            }
            status => Err(ExchangeError::new(format!("status {}", status.as_u16()))),
        }
    }

    async fn next(&self, subscription: &mut Subscription) -> Result<Bytes, ExchangeError> {
        loop {
            tokio::select! {
                Some(message) = subscription.coming.next() => {
                    self.received.fetch_add(1, Ordering::Relaxed);
                    return message;
                }
                promised = subscription.promises.push_promise() => {
                    let promise = promised.ok_or_else(|| ExchangeError::new("the server ended the answer"))??;
                    subscription.coming.push_back(Box::pin(read(promise)));
                }
            }
        }
    }

    async fn close(&self, subscription: Subscription) {
        self.connector.close(subscription.connection).await;
    }
}

async fn read(promise: PushPromise) -> Result<Bytes, ExchangeError> {
    let (_, response) = promise.into_parts();
    let mut body = response.await?.into_body();
    let mut message = BytesMut::new();
    while let Some(bytes) = next_data(&mut body).await? {
        message.extend_from_slice(&bytes);
    }
    Ok(message.freeze())
}

/// Answers a request with an answer that has no end, and pushes each message with it.
pub async fn push(
    request: &Request<RecvStream>,
    respond: &mut SendResponse<Bytes>,
    mut waiting: Waiting,
    dates: &Dates,
) -> Result<(), h2::Error> {
    // Dropped, it would end the answer.
    let mut head = Response::new(());
    dates.stamp(head.headers_mut());
    let _answer = respond.send_response(head, false)?;
    while let Some(message) = waiting.next().await {
        let promise = Request::get(request.uri().clone()).body(()).expect("the client's own target");
        let mut pushed = respond.push_request(promise)?;
        let mut head = Response::new(());
        head.headers_mut().insert(CONTENT_TYPE, PAYLOAD_TYPE);
        head.headers_mut().insert(CONTENT_LENGTH, message.len().into());
        dates.stamp(head.headers_mut());
        pushed.send_response(head, false)?.send_data(message, true)?;
    }
    std::future::pending().await
}
