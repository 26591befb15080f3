//! Changes over HTTP: the subscriber's part. It publishes nothing.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::atomic::{AtomicU32, Ordering};

use bytes::{Bytes, BytesMut};
use http::header::ACCEPT;
use http::{Request, Response, StatusCode};

use super::Origin;
use super::changes::LAST_EVENT_ID;
use super::event_stream::{EVENT_STREAM, EventReader};
use crate::base::attempt::{Attempt, ExchangeError};
use crate::base::settings::Settings;
use crate::workload::{Messages, Subscriber};

/// One version of HTTP, as far as waiting for changes needs it.
pub trait Get: Send + Sync + 'static {
    /// An open connection.
    type Connection: Send + 'static;
    /// The body of a response, on its way.
    type Body: Send + 'static;

    /// Opens a connection.
    fn connect(&self, attempt: &mut Attempt) -> impl Future<Output = Result<Self::Connection, ExchangeError>> + Send;

    /// Sends a request without a body and returns when the response's head is there.
    fn get(
        &self,
        connection: &mut Self::Connection,
        request: Request<()>,
    ) -> impl Future<Output = Result<Response<Self::Body>, ExchangeError>> + Send;

    /// The next part of a body, `None` at its end.
    fn data(&self, body: &mut Self::Body) -> impl Future<Output = Result<Option<Bytes>, ExchangeError>> + Send;

    /// Says good-bye without waiting for the peer.
    fn close(&self, connection: Self::Connection) -> impl Future<Output = ()> + Send;
}

/// Waits for changes by long poll or server-sent events, as the setting `notification` says.
pub struct HttpSubscriber<G> {
    get: G,
    origin: Origin,
    events: bool,
    messages: Messages,
    /// Messages that have come, on whatever connection.
    received: AtomicU32,
}

/// A connection on which messages come.
pub struct Subscription<G: Get> {
    connection: G::Connection,
    /// Of an event stream.
    stream: Option<(G::Body, EventReader)>,
    pending: VecDeque<Bytes>,
}

impl<G> HttpSubscriber<G> {
    /// Of the server that `origin` names.
    pub fn new(get: G, origin: Origin, settings: &Settings, messages: &Messages) -> Self {
        HttpSubscriber {
            get,
            origin,
            events: settings.choice("notification") == "server-sent-events",
            messages: messages.clone(),
            received: AtomicU32::new(0),
        }
    }
}

impl<G: Get> Subscriber for HttpSubscriber<G> {
    type Subscription = Subscription<G>;

    /// The answer's head confirms an event stream. A long poll is answered only when there is something, so that a first request asks for the
    /// state, which tells that it is there.
    async fn subscribe(&self, attempt: &mut Attempt) -> Result<Subscription<G>, ExchangeError> {
        let mut connection = self.get.connect(attempt).await?;
        let received = self.received.load(Ordering::Relaxed);
        let mut request = self.origin.get("/changes");
        if self.events {
            request = request.header(ACCEPT, EVENT_STREAM);
            if let Some(last) = received.checked_sub(1) {
                request = request.header(LAST_EVENT_ID, last);
            }
        }
        let response = self.get.get(&mut connection, request.body(())?).await?;
        let stream = match (self.events, response.status()) {
            (true, StatusCode::OK) => Some((response.into_body(), EventReader::default())),
            (false, StatusCode::NO_CONTENT) => None,
            (_, status) => return Err(ExchangeError::new(format!("status {}", status.as_u16()))),
        };
        Ok(Subscription { connection, stream, pending: VecDeque::new() })
    }

    async fn next(&self, subscription: &mut Subscription<G>) -> Result<Bytes, ExchangeError> {
        loop {
            if let Some(message) = subscription.pending.pop_front() {
                self.received.fetch_add(1, Ordering::Relaxed);
                return Ok(message);
            }
            match &mut subscription.stream {
                None => self.poll(subscription).await?,
                Some((body, reader)) => match self.get.data(body).await? {
                    None => return Err(ExchangeError::new("the server ended the event stream")),
                    Some(bytes) => {
                        reader.push(&bytes)?;
                        subscription.pending.extend(reader.messages());
                    }
                },
            }
        }
    }

    async fn open(&self, attempt: &mut Attempt) -> Result<Subscription<G>, ExchangeError> {
        let connection = self.get.connect(attempt).await?;
        Ok(Subscription { connection, stream: None, pending: VecDeque::new() })
    }

    async fn fetch(&self, subscription: &mut Subscription<G>, after: u32) -> Result<Vec<Bytes>, ExchangeError> {
        let request = self.origin.get(&format!("/changes?after={after}&now")).body(())?;
        let response = self.get.get(&mut subscription.connection, request).await?;
        match response.status() {
            StatusCode::NO_CONTENT => Ok(Vec::new()),
            _ => self.read(response).await,
        }
    }

    async fn close(&self, subscription: Subscription<G>) {
        self.get.close(subscription.connection).await;
    }
}

impl<G: Get> HttpSubscriber<G> {
    async fn poll(&self, subscription: &mut Subscription<G>) -> Result<(), ExchangeError> {
        let request = self.origin.get(&format!("/changes?after={}", self.received.load(Ordering::Relaxed))).body(())?;
        let response = self.get.get(&mut subscription.connection, request).await?;
        subscription.pending.extend(self.read(response).await?);
        Ok(())
    }

    /// The messages of an answer that has some.
    async fn read(&self, response: Response<G::Body>) -> Result<Vec<Bytes>, ExchangeError> {
        if response.status() != StatusCode::OK {
            return Err(ExchangeError::new(format!("status {}", response.status().as_u16())));
        }
        let (mut body, mut whole) = (response.into_body(), BytesMut::new());
        while let Some(bytes) = self.get.data(&mut body).await? {
            whole.extend_from_slice(&bytes);
        }
        if whole.is_empty() {
            return Err(ExchangeError::new("an answer without a message"));
        }
        self.messages.split(whole.freeze())
    }
}
