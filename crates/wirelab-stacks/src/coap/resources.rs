//! The resources of the built-in CoAP server. They know no transport.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use wirelab_schema::{DownloadBytes, EndpointParameters, Exchange, RequestResponse};

use super::proxy::Gateway;
use crate::base::attempt::ExchangeError;
use crate::codec::coap::{IncomingRequest, Method, Request, Response, status};
use crate::workload::{Own, Publication, Waiting, Work, bytes_of_path};
use crate::{Clock, Payload, Received, StackError};

/// What `about` says of the messages.
pub const MESSAGES: &str = "Messages are minimal: `POST /upload` with a Content-Format, answered 2.04, or `GET /bytes/N`, answered 2.05; tokens of 4 \
     bytes; the state that is observed is `/changes`, and `GET /changes?after=N` asks for the messages after the first N. `status` reads like HTTP's: 205 is 2.05.";

/// Content-Format of bodies that are a [`Payload`], so that the other end can check every byte: of the numbers for experiments (RFC 7252, section
/// 12.3). Foreign bodies are checked by their length alone.
pub const PAYLOAD_FORMAT: u16 = 65_000;

/// Where a server says what resources it has (RFC 6690, section 4).
const DISCOVERY: &str = "/.well-known/core";
/// application/link-format.
const LINK_FORMAT: u16 = 40;

/// The methods, in the order of their codes from 1 on (RFC 7252, section 12.1.1; RFC 8132, section 6).
const METHODS: [&str; 7] = ["GET", "POST", "PUT", "DELETE", "FETCH", "PATCH", "iPATCH"];
/// The one field of an own request.
const CONTENT_FORMAT: &str = "content-format";

const DELETE: u8 = 4;
const FETCH: u8 = 5;
const DELETED: u8 = 0x42;
const CHANGED: u8 = 0x44;
const CONTENT: u8 = 0x45;
const BAD_REQUEST: u8 = 0x80;
const NOT_FOUND: u8 = 0x84;
const METHOD_NOT_ALLOWED: u8 = 0x85;
const NOT_ACCEPTABLE: u8 = 0x86;

/// The requests of a client: alike but for what they ask for.
#[derive(Clone)]
pub struct Requests {
    upload: Bytes,
    download_bytes: DownloadBytes,
    payload: Payload,
    own: Option<Request>,
}

impl Requests {
    /// As a workload with exchanges says; an own request may be none of CoAP.
    pub fn new(parameters: &EndpointParameters) -> Result<Self, StackError> {
        let workload = Work::exchanges(&parameters.workload);
        let payload = Payload::new(parameters.seed);
        payload.bytes(workload.upload_bytes.max(workload.download_bytes.largest()) as usize);
        let upload = payload.bytes(workload.upload_bytes as usize);
        let own = own(&workload).transpose().map_err(StackError::Usage)?;
        Ok(Requests { upload, download_bytes: workload.download_bytes, payload, own })
    }

    /// That of an exchange.
    pub fn request(&self, exchange: &Exchange) -> Request {
        if let Some(own) = &self.own {
            return own.clone();
        }
        let (method, path, content_format) = match self.upload.len() {
            0 => (Method::Get, format!("/bytes/{}", self.download_bytes.of(exchange.index)), None),
            _ => (Method::Post, "/upload".to_owned(), Some(PAYLOAD_FORMAT)),
        };
        Request { method, path, content_format, payload: self.upload.clone(), observe: false }
    }

    /// Whether the whole response was right.
    pub fn judge(&self, response: &Response, exchange: &mut Exchange) -> Result<(), ExchangeError> {
        let status = status(response.code);
        exchange.status = Some(status);
        match status {
            200..300 if self.own.is_some() => Ok(()),
            200..300 => {
                let expected = self.payload.bytes(self.download_bytes.of(exchange.index) as usize);
                check(response.content_format, &response.payload, &expected)
            }
            _ => Err(ExchangeError::new(format!(
                "status {}.{:02}{}",
                status / 100,
                status % 100,
                words(&response.payload)
            ))),
        }
    }
}

/// The user's own request, if the workload has one; an error if CoAP has none like it.
fn own(workload: &RequestResponse) -> Option<Result<Request, String>> {
    let own = Own::checked(workload.request.as_ref()?, workload.upload_bytes);
    let Some(code) = METHODS.iter().position(|name| *name == own.method.as_str()) else {
        return Some(Err(format!("`request`: {} is no method of CoAP, but {}", own.method, METHODS.join(", "))));
    };
    let mut content_format = None;
    for (name, value) in &own.fields {
        match value.to_str().ok().and_then(|text| text.parse().ok()) {
            Some(number) if name == CONTENT_FORMAT => content_format = Some(number),
            _ => return Some(Err(format!("`request`: CoAP has no field {name} with {value:?}, but `content-format`"))),
        }
    }
    let method = Method::of((code as u8 + 1).into());
    Some(Ok(Request { method, path: own.target, content_format, payload: own.body, observe: false }))
}

/// The request of a subscriber.
pub fn subscription() -> Request {
    Request {
        method: Method::Get,
        path: "/changes".to_owned(),
        content_format: None,
        payload: Bytes::new(),
        observe: true,
    }
}

/// The request of one that asks for the messages after the first `after`.
pub fn fetch(after: u32) -> Request {
    Request { path: format!("/changes?after={after}"), observe: false, ..subscription() }
}

/// What such a request asks for.
fn asked_after(target: &str) -> Option<u32> {
    target.split_once("?after=")?.1.parse().ok()
}

/// The server's application.
#[derive(Clone)]
pub struct Application {
    upload: Bytes,
    download: Bytes,
    payload: Payload,
    publication: Option<Arc<Publication>>,
    received: Received,
    gateway: Option<Gateway>,
    own: Option<Request>,
}

/// What the application says to a request.
pub enum Said {
    /// This.
    Response(Response),
    /// The state as it is, and it will tell of every later one.
    Observed(Response, Waiting),
    /// What comes of this.
    Later(BoxFuture<'static, Response>),
}

impl Application {
    /// As the workload says.
    pub fn new(parameters: &EndpointParameters, clock: Arc<dyn Clock>, received: Received) -> Self {
        let payload = Payload::new(parameters.seed);
        let (sizes, publication) = match Work::of(&parameters.workload) {
            Work::Exchanges(work) => {
                // Made before anybody waits for it.
                payload.bytes(work.download_bytes.largest() as usize);
                ((work.upload_bytes, work.download_bytes.of(0)), None)
            }
            Work::Changes(_) => ((0, 0), Some(Publication::new(parameters, clock))),
            Work::Page(_) => ((0, 0), None),
        };
        let own = match Work::of(&parameters.workload) {
            // A server answers what a client of its protocol could ask.
            Work::Exchanges(work) => own(&work).and_then(Result::ok),
            Work::Changes(_) | Work::Page(_) => None,
        };
        let [upload, download] = [sizes.0, sizes.1].map(|bytes| payload.bytes(bytes as usize));
        Application { upload, download, payload, publication, received, gateway: None, own }
    }

    /// One that asks another server.
    pub fn proxying(parameters: &EndpointParameters, clock: Arc<dyn Clock>, gateway: Gateway) -> Self {
        Application { gateway: Some(gateway), ..Application::new(parameters, clock, Received::default()) }
    }

    /// Answers a request.
    pub fn answer(&self, asked: &IncomingRequest) -> Said {
        if let Some(gateway) = &self.gateway {
            return Said::Later(Box::pin(gateway.clone().answer(asked.clone())));
        }
        if self.own.as_ref().is_some_and(|own| own.method == asked.method && own.path == asked.target) {
            self.received.note();
            let code = match asked.method {
                Method::Get | Method::Other(FETCH) => CONTENT,
                Method::Other(DELETE) => DELETED,
                Method::Post | Method::Other(_) => CHANGED,
            };
            return Said::Response(with_body(asked, code, PAYLOAD_FORMAT, self.download.clone()));
        }
        let bytes = || bytes_of_path(asked.path());
        Said::Response(match (asked.method, asked.path()) {
            (Method::Post, "/upload") => match check(asked.content_format, &asked.payload, &self.upload) {
                Ok(()) => {
                    self.received.note();
                    with_body(asked, CHANGED, PAYLOAD_FORMAT, self.download.clone())
                }
                Err(error) => plain(BAD_REQUEST, error.to_string()),
            },
            (Method::Get, "/changes") => match &self.publication {
                // States are told without a format.
                Some(_) if asked.accept.is_some() => plain(NOT_ACCEPTABLE, String::new()),
                Some(publication) if asked.observe => return observed(publication),
                // Empty if nothing is new.
                Some(publication) => {
                    state(asked_after(&asked.target).map(|first| publication.poll(first)).unwrap_or_default())
                }
                None => plain(NOT_FOUND, "this workload has no changes".to_owned()),
            },
            (Method::Get, DISCOVERY) => with_body(asked, CONTENT, LINK_FORMAT, self.links().into()),
            (_, "/upload" | "/changes" | DISCOVERY) => plain(METHOD_NOT_ALLOWED, String::new()),
            (method, _) => match bytes() {
                Some(bytes) if method == Method::Get => {
                    if self.upload.is_empty() {
                        self.received.note();
                    }
                    with_body(asked, CONTENT, PAYLOAD_FORMAT, self.payload.bytes(bytes))
                }
                Some(_) => plain(METHOD_NOT_ALLOWED, String::new()),
                None => plain(NOT_FOUND, String::new()),
            },
        })
    }
}

impl Application {
    /// The resources of its workload (RFC 6690, section 2). A query does not filter them, which section 4.1 leaves to the server.
    fn links(&self) -> String {
        match &self.publication {
            Some(_) => "</changes>;obs".to_owned(),
            None => format!("</upload>;ct={PAYLOAD_FORMAT},</bytes/{}>;ct={PAYLOAD_FORMAT}", self.download.len()),
        }
    }
}

/// A state that was published.
pub fn state(message: Bytes) -> Response {
    Response::new(CONTENT.into(), message)
}

/// An observer that comes when states were published already is told the newest of them (RFC 7641, section 1.3).
fn observed(publication: &Arc<Publication>) -> Said {
    let mut waiting = publication.wait(0);
    let newest = std::iter::from_fn(|| waiting.try_next()).last();
    Said::Observed(state(newest.unwrap_or_default()), waiting)
}

/// There is one format, and none of no body (RFC 7252, section 5.10.4).
fn with_body(asked: &IncomingRequest, code: u8, format: u16, body: Bytes) -> Response {
    let content_format = (!body.is_empty()).then_some(format);
    if content_format.is_some_and(|format| asked.accept.is_some_and(|accepted| accepted != format)) {
        return plain(NOT_ACCEPTABLE, format!("there is Content-Format {format} alone"));
    }
    Response { content_format, ..Response::new(code.into(), body) }
}

/// With a diagnostic payload (RFC 7252, section 5.5.2).
pub fn plain(code: u8, words: String) -> Response {
    Response::new(code.into(), words.into())
}

fn words(payload: &[u8]) -> String {
    let text = String::from_utf8_lossy(&payload[..payload.len().min(200)]).replace(['\n', '\r'], " ");
    if text.is_empty() { text } else { format!(": {text}") }
}

fn check(format: Option<u16>, body: &[u8], expected: &[u8]) -> Result<(), ExchangeError> {
    if body.len() != expected.len() {
        let words = format!("body of {} bytes where {} were expected", body.len(), expected.len());
        return Err(ExchangeError::new(words));
    }
    let differs = format == Some(PAYLOAD_FORMAT) && body != expected;
    if differs { Err(ExchangeError::new("body differs from what was sent")) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use wirelab_schema::{ArrivalSpec, ConnectionPolicy, RequestResponse};

    use super::*;
    use crate::SystemClock;
    use crate::recorder::NoRecorder;
    use crate::workload::virtual_time::context;

    #[test]
    fn a_payload_is_checked_byte_for_byte_and_a_foreign_body_by_its_length() {
        assert!(check(Some(PAYLOAD_FORMAT), b"abc", b"abc").is_ok());
        assert!(check(Some(PAYLOAD_FORMAT), b"abd", b"abc").is_err());
        assert!(check(Some(42), b"abd", b"abc").is_ok());
        assert!(check(None, b"ab", b"abc").is_err());
    }

    #[test]
    fn a_format_that_is_not_there_is_not_acceptable() {
        let work = RequestResponse {
            upload_bytes: 0,
            download_bytes: DownloadBytes::Alike(3),
            exchanges: 1,
            clients: 1,
            arrival: ArrivalSpec::Closed,
            concurrency: 1,
            timeout_ns: 1_000_000_000,
            connection: ConnectionPolicy::New,
            device: None,
            retry: None,
            request: None,
        };
        let application = Application::new(
            &context(work.into(), NoRecorder).0.parameters,
            Arc::new(SystemClock),
            Received::default(),
        );
        let code = |target: &str, accept| {
            let (target, payload) = (target.to_owned(), Bytes::new());
            let asked =
                IncomingRequest { method: Method::Get, target, content_format: None, accept, payload, observe: false };
            let Said::Response(response) = application.answer(&asked) else { panic!("it is there at once") };
            status(response.code)
        };
        assert_eq!([None, Some(PAYLOAD_FORMAT), Some(50)].map(|accept| code("/bytes/3", accept)), [205, 205, 406]);
        assert_eq!(code("/bytes/0", Some(50)), 205, "nothing has every format");
        assert_eq!(code("/elsewhere", Some(50)), 404);
        assert_eq!([None, Some(40), Some(50)].map(|accept| code(DISCOVERY, accept)), [205, 205, 406]);
        assert_eq!(application.links(), "</upload>;ct=65000,</bytes/3>;ct=65000");
    }
}
