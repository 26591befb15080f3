use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ::http::header::{CACHE_CONTROL, CONTENT_TYPE, HOST, HeaderMap};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1 as client;
use hyper_util::rt::TokioIo;
use wirelab_schema::{EndpointParameters, SettingDescription};

use super::resources::{PAYLOAD_FORMAT, plain};
use crate::attempt::{Attempt, ExchangeError};
use crate::codec::coap::{Asked, Method, Response};
use crate::http::PAYLOAD_TYPE;
use crate::recorder::Recorder;
use crate::settings::boolean;
use crate::stream::Dialer;
use crate::task::Task;
use crate::workload::Work;
use crate::{Clock, StackError};

/// What `about` says of the role.
pub const PROXY: &str = "Its proxy is a reverse proxy (RFC 7252, section 5.7.3): each request goes on as one of HTTP/1.1 with the same path (section \
     10.1), over connections that are kept; it does not observe.";

const CHANGED: u8 = 0x44;
const CREATED: u8 = 0x41;
const CONTENT: u8 = 0x45;
const BAD_REQUEST: u8 = 0x80;
const INTERNAL_SERVER_ERROR: u8 = 0xa0;
const NOT_IMPLEMENTED: u8 = 0xa1;
const BAD_GATEWAY: u8 = 0xa2;
const GATEWAY_TIMEOUT: u8 = 0xa4;
/// Of a response that does not say (RFC 7252, section 5.10.5).
const DEFAULT_MAX_AGE: Duration = Duration::from_secs(60);
/// Content-Formats (RFC 7252, section 12.3) and media types that stand for one another.
const FORMATS: [(u16, &str); 4] = [
    (0, "text/plain; charset=utf-8"),
    (42, "application/octet-stream"),
    (50, "application/json"),
    (PAYLOAD_FORMAT, "application/vnd.wirelab"),
];

/// Whether the proxy keeps what it was told.
pub fn cache_setting() -> SettingDescription {
    boolean(
        "cache",
        false,
        "Of the proxy: it answers a GET from what it was told before, for the `max-age` of the origin's Cache-Control, or 60 s where there is none \
         (RFC 7252, sections 5.6 and 5.10.5). A POST forgets what was kept of its path.",
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
    cache: Option<Mutex<HashMap<String, Kept>>>,
    log: Mutex<Log>,
}

struct Connection {
    sender: client::SendRequest<Full<Bytes>>,
    _task: Task,
}

struct Kept {
    response: Response,
    until_ns: u64,
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
            dialer: Dialer::new(&towards, false, None)?,
            host,
            timeout: Duration::from_nanos(work.timeout_ns),
            clock,
            idle: Mutex::default(),
            cache: caches.then(Mutex::default),
            log: Mutex::new(Log { recorder, rows: 0, failed: None }),
        })))
    }

    /// The answer to a request.
    pub async fn answer(self, asked: Asked) -> Response {
        let inner = &*self.0;
        let mut attempt = Attempt::start(inner.clock.clone(), lock(&inner.log).next(), None);
        if let Some(response) = inner.kept(&asked) {
            lock(&inner.log).record(attempt, Ok(()));
            return response;
        }
        let asking = inner.ask(&asked, &mut attempt);
        let answered = tokio::time::timeout(inner.timeout, asking).await.unwrap_or(Err(ExchangeError::TimedOut));
        let (response, ended) = match answered {
            Ok((response, fresh_for)) => {
                inner.keep(&asked, &response, fresh_for);
                (response, Ok(()))
            }
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
    /// Ask the origin, and hear for how long its answer stays fresh. A kept connection that has ended meanwhile is no reason to fail.
    async fn ask(&self, asked: &Asked, attempt: &mut Attempt) -> Result<(Response, Duration), ExchangeError> {
        while let Some(connection) = { lock(&self.idle).pop() } {
            if !connection.sender.is_closed() {
                attempt.exchange.connection_reused = true;
                return self.over(connection, asked, attempt).await;
            }
        }
        let (_, stream) = self.dialer.dial(attempt).await?;
        let (sender, connection) = client::handshake(TokioIo::new(stream)).await?;
        let _task = Task::spawn(async { drop(connection.await) });
        self.over(Connection { sender, _task }, asked, attempt).await
    }

    async fn over(
        &self,
        mut connection: Connection,
        asked: &Asked,
        attempt: &mut Attempt,
    ) -> Result<(Response, Duration), ExchangeError> {
        connection.sender.ready().await?;
        let method = match asked.method {
            Method::Get => ::http::Method::GET,
            Method::Post => ::http::Method::POST,
            Method::Other(code) => {
                return Err(ExchangeError::Unsupported(format!("method 0.{code:02} has no mapping")));
            }
        };
        let mut request = ::http::Request::builder().method(method).uri(&asked.path).header(HOST, &self.host);
        if let Some(kind) = asked.content_format.and_then(media_type) {
            request = request.header(CONTENT_TYPE, kind);
        }
        attempt.exchange.request_start_ns = attempt.now();
        attempt.exchange.body_sent_bytes = asked.payload.len() as u64;
        let response = connection.sender.send_request(request.body(Full::new(asked.payload.clone()))?).await?;
        attempt.exchange.first_response_byte_ns = attempt.now();
        attempt.exchange.status = Some(response.status().as_u16());
        let (head, body) = response.into_parts();
        let payload = body.collect().await?.to_bytes();
        attempt.exchange.body_received_bytes = payload.len() as u64;
        lock(&self.idle).push(connection);
        let code = code(asked.method, head.status.as_u16());
        let content_format = content_format(&head.headers).filter(|_| !payload.is_empty());
        Ok((Response { code: code.into(), content_format, payload }, max_age(&head.headers)))
    }

    fn kept(&self, asked: &Asked) -> Option<Response> {
        let cache = self.cache.as_ref().filter(|_| asked.method == Method::Get)?;
        let cache = lock(cache);
        let kept = cache.get(&asked.path).filter(|kept| self.clock.now_ns() < kept.until_ns)?;
        Some(kept.response.clone())
    }

    /// Only what was successful is fresh (RFC 7252, section 5.9.1.5; errors could be kept too, section 5.6).
    fn keep(&self, asked: &Asked, response: &Response, fresh_for: Duration) {
        let Some(cache) = &self.cache else { return };
        let mut cache = lock(cache);
        if asked.method != Method::Get {
            cache.remove(&asked.path);
        } else if u8::from(response.code) == CONTENT {
            let until_ns = self.clock.now_ns().saturating_add(fresh_for.as_nanos() as u64);
            cache.insert(asked.path.clone(), Kept { response: response.clone(), until_ns });
        }
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

/// RFC 7252, section 10.1.1 and table 10 of section 10.1.2's reverse: what CoAP has no code for is the gateway's failure, or the client's.
fn code(method: Method, status: u16) -> u8 {
    match (method, status) {
        (Method::Get, 200..300) => CONTENT,
        (_, 201) => CREATED,
        (_, 200..300) => CHANGED,
        (_, 400 | 401 | 403..=406 | 412 | 413 | 415) => BAD_REQUEST + (status - 400) as u8,
        (_, 400..500) => BAD_REQUEST,
        (_, 500..=504) => INTERNAL_SERVER_ERROR + (status - 500) as u8,
        _ => BAD_GATEWAY,
    }
}

fn media_type(format: u16) -> Option<&'static str> {
    FORMATS.iter().find(|(number, _)| *number == format).map(|(_, kind)| *kind)
}

fn content_format(headers: &HeaderMap) -> Option<u16> {
    let kind = headers.get(CONTENT_TYPE)?;
    if *kind == PAYLOAD_TYPE {
        return Some(PAYLOAD_FORMAT);
    }
    FORMATS.iter().find(|(_, known)| kind == known).map(|(number, _)| *number)
}

/// RFC 9111, section 5.2.2.1; not at all for what is not to be kept.
fn max_age(headers: &HeaderMap) -> Duration {
    let Some(control) = headers.get(CACHE_CONTROL).and_then(|value| value.to_str().ok()) else {
        return DEFAULT_MAX_AGE;
    };
    let mut directives = control.split(',').map(str::trim);
    if directives.clone().any(|directive| ["no-store", "no-cache"].contains(&directive)) {
        return Duration::ZERO;
    }
    let seconds = directives.find_map(|directive| directive.strip_prefix("max-age=")?.parse().ok());
    seconds.map_or(DEFAULT_MAX_AGE, Duration::from_secs)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: ::http::header::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, value.parse().expect("a header's value"))])
    }

    #[test]
    fn statuses_become_the_codes_that_stand_for_them() {
        assert_eq!([code(Method::Get, 200), code(Method::Post, 200), code(Method::Post, 201)], [0x45, 0x44, 0x41]);
        assert_eq!(
            [404, 405, 413, 415, 418, 402].map(|status| code(Method::Get, status)),
            [0x84, 0x85, 0x8d, 0x8f, 0x80, 0x80]
        );
        assert_eq!([500, 503, 504, 507, 301].map(|status| code(Method::Get, status)), [0xa0, 0xa3, 0xa4, 0xa2, 0xa2]);
    }

    #[test]
    fn formats_and_media_types_stand_for_one_another() {
        for (format, kind) in FORMATS {
            assert_eq!(media_type(format), Some(kind));
            assert_eq!(content_format(&headers(CONTENT_TYPE, kind)), Some(format));
        }
        assert_eq!(content_format(&headers(CONTENT_TYPE, "image/png")), None);
    }

    #[test]
    fn an_answer_stays_fresh_for_as_long_as_its_origin_says() {
        let fresh = |control| max_age(&headers(CACHE_CONTROL, control)).as_secs();
        assert_eq!(
            [fresh("public, max-age=5"), fresh("no-store"), fresh("max-age=9, no-cache"), fresh("private")],
            [5, 0, 0, 60]
        );
        assert_eq!(max_age(&HeaderMap::new()), DEFAULT_MAX_AGE);
    }
}
