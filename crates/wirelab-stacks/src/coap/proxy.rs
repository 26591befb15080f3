//! The reverse proxy from CoAP to HTTP/1.1 (RFC 7252, section 10.1). It speaks no HTTP but version 1.1.

mod cache;
mod mapping;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ::http::{Request, StatusCode};
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use hyper::client::conn::http1 as client;
use hyper_util::rt::TokioIo;
use wirelab_schema::{EndpointParameters, SettingDescription};

use super::resources::plain;
use crate::base::attempt::{Attempt, ExchangeError};
use crate::base::settings::boolean;
use crate::codec::coap::{IncomingRequest, Response};
use crate::recorder::Recorder;
use crate::transport::socket::TcpOptions;
use crate::transport::stream::Dialer;
use crate::transport::task::Task;
use crate::workload::{MAX_BODY_BYTES, Work};
use crate::{Clock, StackError};
use cache::{Cache, freshness};

/// What `about` says of the role.
pub const PROXY: &str = "Its proxy is a reverse proxy (RFC 7252, section 5.7.3): each request goes on as one of HTTP/1.1 with the same path and query \
     (section 10.1), over connections that are kept, and one that the origin does not answer within the workload's time-out is answered 5.04; it \
     does not observe.";

const NOT_IMPLEMENTED: u8 = 0xa1;
const BAD_GATEWAY: u8 = 0xa2;
const GATEWAY_TIMEOUT: u8 = 0xa4;

/// Whether the proxy keeps what it was told.
pub fn cache_setting() -> SettingDescription {
    boolean(
        "cache",
        false,
        "Of the proxy: it answers a GET from its cache, for as long as the origin's Cache-Control, Expires and Age leave it fresh, or \
         60 s where they say nothing (RFC 7252, sections 5.6 and 5.10.5); then it asks whether it still holds, if it has an entity-tag. Any other \
         method forgets what was kept of its path and query.",
    )
}

/// Hands requests on to the server behind the proxy.
#[derive(Clone)]
pub struct Gateway(Arc<Inner>);

struct Inner {
    dialer: Dialer,
    host: String,
    timeout: Duration,
    clock: Arc<dyn Clock>,
    /// Connections that carry no request.
    idle: Mutex<Vec<Connection>>,
    cache: Option<Mutex<Cache>>,
    log: Mutex<Log>,
}

struct Connection {
    sender: client::SendRequest<Full<Bytes>>,
    _task: Task,
}

/// A row for each request that the proxy was asked: from when it had it to when it had an answer.
struct Log {
    recorder: Box<dyn Recorder>,
    rows: u32,
    failed: Option<StackError>,
}

impl Gateway {
    /// To the parameters' `upstream`.
    pub fn new(
        parameters: &EndpointParameters,
        clock: Arc<dyn Clock>,
        recorder: Box<dyn Recorder>,
        caches: bool,
    ) -> Result<Self, StackError> {
        let upstream = parameters.upstream.clone();
        let upstream = upstream.ok_or_else(|| StackError::Usage("a proxy needs `upstream`".to_owned()))?;
        let Work::Exchanges(work) = Work::of(&parameters.workload) else {
            return Err(StackError::Unsupported("a proxy observes nothing".to_owned()));
        };
        let host = format!("{}:{}", upstream.name, upstream.port);
        let towards = EndpointParameters { server: upstream, ..parameters.clone() };
        Ok(Gateway(Arc::new(Inner {
            dialer: Dialer::new(&towards, TcpOptions::default(), None)?,
            host,
            timeout: Duration::from_nanos(work.timeout_ns),
            clock,
            idle: Mutex::default(),
            cache: caches.then(Mutex::default),
            log: Mutex::new(Log { recorder, rows: 0, failed: None }),
        })))
    }

    /// The answer to a request.
    pub async fn answer(self, asked: IncomingRequest) -> Response {
        let inner = &*self.0;
        let mut attempt = Attempt::start(inner.clock.clone(), lock(&inner.log).next(), None);
        if let Some(response) = inner.cache().and_then(|cache| cache.fresh(&asked, inner.clock.now_ns())) {
            lock(&inner.log).record(attempt, Ok(()));
            return response;
        }
        let asking = inner.ask(&asked, &mut attempt);
        let answered = tokio::time::timeout(inner.timeout, asking).await.unwrap_or(Err(ExchangeError::TimedOut));
        let (response, ended) = match answered {
            Ok(response) => (response, Ok(())),
            Err(error @ ExchangeError::TimedOut) => (plain(GATEWAY_TIMEOUT, String::new()), Err(error)),
            Err(error @ ExchangeError::Unsupported(_)) => (plain(NOT_IMPLEMENTED, error.to_string()), Err(error)),
            Err(error) => (plain(BAD_GATEWAY, error.to_string()), Err(error)),
        };
        lock(&inner.log).record(attempt, ended);
        response
    }

    /// No more requests will come: makes the rows durable.
    pub fn finish(&self) -> Result<(), StackError> {
        let mut log = lock(&self.0.log);
        log.failed.take().map_or(Ok(()), Err)?;
        log.recorder.finish()
    }
}

impl Inner {
    fn cache(&self) -> Option<MutexGuard<'_, Cache>> {
        self.cache.as_ref().map(lock)
    }

    /// Ask the origin, and keep what it says.
    async fn ask(&self, asked: &IncomingRequest, attempt: &mut Attempt) -> Result<Response, ExchangeError> {
        let stale = self.cache().and_then(|cache| cache.stale(asked));
        let request = mapping::request(asked, &self.host, stale.as_ref().map(|stale| stale.validator()))?;
        attempt.exchange.body_sent_bytes = asked.payload.len() as u64;
        let (connection, head) = self.send(request, attempt).await?;
        attempt.exchange.first_response_byte_ns = attempt.now();
        attempt.exchange.status = Some(head.status().as_u16());
        let (head, body) = head.into_parts();
        let body = Limited::new(body, MAX_BODY_BYTES as usize).collect().await;
        let payload = body.map_err(|error| ExchangeError::new(format!("the origin's body: {error}")))?.to_bytes();
        attempt.exchange.body_received_bytes = payload.len() as u64;
        lock(&self.idle).push(connection);
        let (response, headers) = match stale {
            Some(stale) if head.status == StatusCode::NOT_MODIFIED => {
                (stale.response.clone(), stale.headers(head.headers))
            }
            _ => (mapping::response(asked.method, &head, payload), head.headers),
        };
        let fresh_for = freshness(&headers);
        let response = Response { max_age: cache::max_age(asked, fresh_for), ..response };
        if let Some(mut cache) = self.cache() {
            cache.keep(asked, &response, fresh_for, headers, self.clock.now_ns());
        }
        Ok(response)
    }

    /// The head of the origin's answer, over a connection that was kept or a new one. One that turns out to have ended, as a server ends what is
    /// idle, is no reason to fail: what did not leave is sent again, and what did if that does no harm (RFC 9110, section 9.2.2).
    async fn send(
        &self,
        request: Request<Full<Bytes>>,
        attempt: &mut Attempt,
    ) -> Result<(Connection, ::http::Response<Incoming>), ExchangeError> {
        attempt.exchange.connection_reused = true;
        while let Some(mut kept) = { lock(&self.idle).pop() } {
            if kept.sender.ready().await.is_err() {
                continue;
            }
            match kept.head(request.clone(), attempt).await {
                Ok(head) => return Ok((kept, head)),
                Err(error) if error.error().is_parse() => return Err(error.into_error().into()),
                Err(error) if error.message().is_some() || request.method().is_idempotent() => {}
                Err(error) => return Err(error.into_error().into()),
            }
        }
        attempt.exchange.connection_reused = false;
        let (_, stream) = self.dialer.dial(attempt).await?;
        let (sender, connection) = client::handshake(TokioIo::new(stream)).await?;
        let _task = Task::spawn(async { drop(connection.await) });
        let mut connection = Connection { sender, _task };
        let head = connection.head(request, attempt).await.map_err(TrySendError::into_error)?;
        Ok((connection, head))
    }
}

impl Connection {
    async fn head(
        &mut self,
        request: Request<Full<Bytes>>,
        attempt: &mut Attempt,
    ) -> Result<::http::Response<Incoming>, TrySendError<Request<Full<Bytes>>>> {
        attempt.exchange.request_start_ns = attempt.now();
        self.sender.try_send_request(request).await
    }
}

impl Log {
    fn next(&mut self) -> u32 {
        self.rows += 1;
        self.rows - 1
    }

    fn record(&mut self, attempt: Attempt, ended: Result<(), ExchangeError>) {
        if let Err(error) = self.recorder.record(attempt.finish(ended)) {
            self.failed.get_or_insert(error);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
