//! What all versions of HTTP share: requests, responses, the built-in server. No version's connections are opened here.

mod changes;
mod event_stream;
mod h2;
mod h3;
mod http1;
mod semantics;
mod subscriber;

use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::request::Builder;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use wirelab_schema::{
    DownloadBytes, EndpointParameters, Exchange, RequestResponse, SettingDescription, SuccessStatus, WaitDescription,
    WaitKind,
};

use crate::base::attempt::ExchangeError;
use crate::base::description;
use crate::base::settings::{self, Settings};
use crate::page::Site;
use crate::workload::{KINDS, Messages, Own, PAGE, Publication, Waiting, Work, bytes_of_path, listen};
use crate::{Context, Payload, Received, StackError};
pub use changes::Events;
use changes::Question;
pub use h2::{H2, H2C};
pub use h3::H3;
pub use http1::{HTTP1, HTTPS1};
pub use semantics::{Dates, READ, date_setting, empty, refuse_method};
pub use subscriber::Get;
use subscriber::HttpSubscriber;

/// What `about` says of the messages, which are the same in every version of HTTP.
pub const MESSAGES: &str = "Messages are minimal and alike in every version of HTTP: `POST /upload` with content-type and content-length, or \
     `GET /bytes/N`, each with the authority; the answer is 200 with content-type, content-length and date. Who waits for changes asks `GET /changes`; \
     who loads a page asks for its paths, over HTTP/2 and HTTP/3 with the field `priority` (RFC 9218).";

/// Setting `notification`, of every version of HTTP.
pub fn notification_setting(push: bool) -> SettingDescription {
    let about = "How a change reaches a client that waits, in `pubsub` and `stream`. `server-sent-events`: an answer that does not end (HTML Living \
                 Standard, section 9.2), in which each message is an event; being text, it carries the bytes in base64. `long-poll`: a request that \
                 is answered when there is something new, with all that is, and then asked again (RFC 6202, section 2).";
    match push {
        false => settings::choice("notification", &["server-sent-events", "long-poll"], about),
        true => settings::choice(
            "notification",
            &["server-sent-events", "long-poll", "push"],
            &format!(
                "{about} `push`: a request whose answer has no end, and each message comes as a pushed response (RFC 9113, section 8.4)."
            ),
        ),
    }
}

/// 200 (OK), whatever was asked (RFC 9110, section 15.3.1).
pub const SUCCESS: SuccessStatus = SuccessStatus { fetched: 200, stored: 200 };

/// Workloads of every version of HTTP.
pub fn kinds() -> Vec<String> {
    KINDS.iter().chain([&PAGE]).map(ToString::to_string).collect()
}

/// How subscribers of every version of HTTP can wait: the server keeps every message, and a request says which ones its client has.
pub fn waits() -> Vec<WaitDescription> {
    [WaitKind::CheckIn, WaitKind::Poll].map(description::wait).into()
}

/// Where requests go.
#[derive(Clone)]
pub struct Origin {
    /// `name:port`, for `Host` or `:authority`.
    authority: String,
    /// Absent gives origin form with `Host` (HTTP/1.1), else absolute form (pseudo-header fields).
    scheme: Option<&'static str>,
}

impl Origin {
    /// The server that the parameters name.
    pub fn new(parameters: &EndpointParameters, scheme: Option<&'static str>) -> Self {
        Origin { authority: format!("{}:{}", parameters.server.name, parameters.server.port), scheme }
    }

    /// A GET request without further header fields.
    pub fn get(&self, path: &str) -> Builder {
        self.request(Method::GET, path)
    }

    fn request(&self, method: Method, path: &str) -> Builder {
        let request = Request::builder().method(method);
        match self.scheme {
            None => request.uri(path).header("host", &self.authority),
            Some(scheme) => request.uri(format!("{scheme}://{}{path}", self.authority)),
        }
    }
}

/// Media type of bodies that are a [`Payload`], so that the other end can check every byte; foreign bodies are checked by their length alone.
pub const PAYLOAD_TYPE: HeaderValue = HeaderValue::from_static("application/vnd.wirelab");

/// The requests of a client: alike but for what they ask for.
#[derive(Clone)]
pub struct Requests {
    origin: Origin,
    /// Request body; empty for a GET.
    pub upload: Bytes,
    download_bytes: DownloadBytes,
    payload: Payload,
    own: Option<Own>,
}

impl Requests {
    /// As the workload says, which has exchanges.
    pub fn new(parameters: &EndpointParameters, origin: Origin) -> Self {
        let workload = Work::exchanges(&parameters.workload);
        let payload = made_ahead(parameters, &workload);
        let own = own(&workload);
        let upload = own.as_ref().map_or_else(|| payload.bytes(workload.upload_bytes as usize), |own| own.body.clone());
        Requests { origin, upload, download_bytes: workload.download_bytes, payload, own }
    }

    /// The request of an exchange, without its body.
    pub fn head(&self, exchange: &Exchange) -> Result<Request<()>, http::Error> {
        if let Some(own) = &self.own {
            return self.own_head(own);
        }
        if self.upload.is_empty() {
            return self.origin.get(&format!("/bytes/{}", self.download_bytes.of(exchange.index))).body(());
        }
        let request = self.origin.request(Method::POST, "/upload");
        request.header(CONTENT_TYPE, PAYLOAD_TYPE).header(CONTENT_LENGTH, self.upload.len()).body(())
    }

    /// A body, and a method that says there may be one, need its length (RFC 9110, section 8.6).
    fn own_head(&self, own: &Own) -> Result<Request<()>, http::Error> {
        let mut request = self.origin.request(own.method.clone(), &own.target);
        if !own.body.is_empty() || [Method::POST, Method::PUT, Method::PATCH].contains(&own.method) {
            request = request.header(CONTENT_LENGTH, own.body.len());
        }
        for (name, value) in &own.fields {
            request = request.header(name, value);
        }
        request.body(())
    }

    /// Takes note of the final response's head and says what its body must be. An error status is no reason to stop reading.
    pub fn expect<B>(&self, response: &Response<B>, exchange: &mut Exchange) -> BodyCheck {
        exchange.status = Some(response.status().as_u16());
        if self.own.is_some() {
            return BodyCheck::of_any();
        }
        BodyCheck::new(response.headers(), &self.payload, self.download_bytes.of(exchange.index) as usize)
    }

    /// Whether the whole response was right.
    pub fn judge(&self, body: BodyCheck, exchange: &Exchange) -> Result<(), ExchangeError> {
        match exchange.status {
            Some(200..300) => body.finish(),
            status => Err(ExchangeError::new(format!("status {}", status.unwrap_or(0)))),
        }
    }
}

/// The answers of a server.
#[derive(Clone)]
pub struct Answers {
    content: Content,
    dates: Dates,
}

/// What they are.
#[derive(Clone)]
enum Content {
    /// To clients that ask.
    Exchanges(Bodies),
    /// To clients that wait.
    Changes(Arc<Publication>),
    /// To clients that load a page.
    Page(Arc<Site>),
}

/// The bodies of requests and answers.
#[derive(Clone)]
pub struct Bodies {
    upload_bytes: usize,
    download_bytes: usize,
    payload: Payload,
    received: Received,
    own: Option<Arc<Own>>,
}

/// A request that a server has read the head of.
pub struct Pending {
    target: Target,
    /// It asks for the head of the answer alone (RFC 9110, section 9.3.2).
    head_only: bool,
    dates: Dates,
}

enum Target {
    Bodies { request: BodyCheck, download_bytes: usize, payload: Payload, received: Received },
    Changes(Question, Arc<Publication>),
    Page(Response<Bytes>),
    Refused(Response<Bytes>),
}

/// The body of an answer.
pub enum Body {
    /// It is all there.
    Whole(Bytes),
    /// It comes as it happens.
    Events(Events),
}

impl Body {
    /// Its length, if it has an end.
    pub fn length(&self) -> Option<usize> {
        match self {
            Body::Whole(bytes) => Some(bytes.len()),
            Body::Events(_) => None,
        }
    }

    /// The next part; `None` at its end.
    pub async fn next(&mut self) -> Option<Bytes> {
        match self {
            Body::Whole(bytes) => Some(std::mem::take(bytes)).filter(|bytes| !bytes.is_empty()),
            Body::Events(events) => Some(events.next().await),
        }
    }
}

impl Answers {
    /// As the workload says. Needs the runtime.
    pub fn new(context: &Context, settings: &Settings) -> Result<Self, StackError> {
        let parameters = &context.parameters;
        let dates = Dates::new(&context.clock, settings);
        let content = match Work::of(&parameters.workload) {
            Work::Changes(_) => Content::Changes(Publication::new(parameters, context.clock.clone())),
            Work::Page(_) => Content::Page(Arc::new(Site::read(parameters, settings, dates.clone())?)),
            Work::Exchanges(workload) => Content::Exchanges(Bodies {
                upload_bytes: workload.upload_bytes as usize,
                // Of a POST, which has one.
                download_bytes: workload.download_bytes.of(0) as usize,
                payload: made_ahead(parameters, &workload),
                received: context.received.clone(),
                own: own(&workload).map(Arc::new),
            }),
        };
        Ok(Answers { content, dates })
    }

    /// One that waits for the changes that a request asks for, if it asks for them by long poll.
    pub fn wait<B>(&self, request: &Request<B>) -> Option<Waiting> {
        match (&self.content, Question::of(request)) {
            (Content::Changes(publication), Some(Question::Poll(first))) if request.method() == Method::GET => {
                Some(publication.wait(first))
            }
            _ => None,
        }
    }

    /// What dates them.
    pub fn dates(&self) -> &Dates {
        &self.dates
    }

    /// What they are from, if that is a page.
    pub fn site(&self) -> Option<&Arc<Site>> {
        match &self.content {
            Content::Page(site) => Some(site),
            _ => None,
        }
    }

    /// Takes the head of a request.
    pub fn take<B>(&self, request: &Request<B>) -> Pending {
        let target = match (semantics::host_error(request), &self.content) {
            (Some(words), _) => Target::Refused(refusal(words)),
            (None, Content::Exchanges(bodies)) => bodies.target(request),
            (None, Content::Changes(publication)) => changes(request, publication),
            (None, Content::Page(site)) => Target::Page(site.answer(request)),
        };
        Pending { target, head_only: request.method() == Method::HEAD, dates: self.dates.clone() }
    }
}

impl Bodies {
    fn target<B>(&self, request: &Request<B>) -> Target {
        let path = request.uri().path();
        let target = request.uri().path_and_query().map(|target| target.as_str());
        if self.own.as_ref().is_some_and(|own| Some(own.target.as_str()) == target && own.method == *request.method()) {
            return Target::Bodies {
                request: BodyCheck::of_any(),
                download_bytes: self.download_bytes,
                payload: self.payload.clone(),
                received: self.received.clone(),
            };
        }
        let (allowed, body_bytes, download_bytes) = match bytes_of_path(path) {
            Some(bytes) => (READ, 0, bytes),
            None if path == "/upload" => (&[Method::POST][..], self.upload_bytes, self.download_bytes),
            None => return Target::Refused(empty(StatusCode::NOT_FOUND)),
        };
        if let Some(refusal) = refuse_method(request, allowed) {
            return Target::Refused(refusal);
        }
        // Of the workload's messages alone.
        let received = if body_bytes == self.upload_bytes { self.received.clone() } else { Received::default() };
        let request = BodyCheck::new(request.headers(), &self.payload, body_bytes);
        Target::Bodies { request, download_bytes, payload: self.payload.clone(), received }
    }
}

fn changes<B>(request: &Request<B>, publication: &Arc<Publication>) -> Target {
    let known = request.uri().path() == changes::PATH;
    match (known.then(|| refuse_method(request, READ)).flatten(), Question::of(request)) {
        (Some(refusal), _) => Target::Refused(refusal),
        (None, Some(question)) => Target::Changes(question, publication.clone()),
        (None, None) => Target::Refused(empty(StatusCode::NOT_FOUND)),
    }
}

/// 400, in words.
fn refusal(words: &'static str) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from_static(words.as_bytes()));
    *response.status_mut() = StatusCode::BAD_REQUEST;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    response.headers_mut().insert(CONTENT_LENGTH, words.len().into());
    response
}

impl Pending {
    /// The next bytes of the request's body.
    pub fn take(&mut self, bytes: &[u8]) {
        if let Target::Bodies { request, .. } = &mut self.target {
            request.take(bytes);
        }
    }

    /// The answer, once the request's body has been read: 200, 400 for a wrong body or `Host`, 404 for a target that is not served, 405 for another
    /// method. One about changes may take until there is one.
    pub async fn answer(self) -> Response<Body> {
        let Pending { target, head_only, dates } = self;
        let mut response = match target {
            Target::Changes(question, _) if head_only => question.head(),
            Target::Changes(question, publication) => question.answer(&publication).await,
            // A site dates its answers itself.
            Target::Page(answer) => return answer.map(Body::Whole),
            Target::Refused(answer) => answer.map(Body::Whole),
            Target::Bodies { request, download_bytes, payload, received } => match request.finish() {
                Ok(()) => {
                    received.note();
                    whole(StatusCode::OK, payload.bytes(download_bytes))
                }
                Err(error) => whole(StatusCode::BAD_REQUEST, error.to_string().into()),
            },
        };
        dates.stamp(response.headers_mut());
        if head_only {
            *response.body_mut() = Body::Whole(Bytes::new());
        }
        response
    }
}

fn whole(status: StatusCode, body: Bytes) -> Response<Body> {
    let length = body.len();
    let mut response = Response::new(Body::Whole(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, PAYLOAD_TYPE);
    response.headers_mut().insert(CONTENT_LENGTH, length.into());
    response
}

/// Plays a client of a workload that has changes.
pub async fn wait_for_changes<G: Get>(
    context: Context,
    settings: &Settings,
    origin: Origin,
    connector: impl Fn(&Context) -> Result<G, StackError>,
) -> Result<(), StackError> {
    let messages = Messages::new(&context.parameters);
    listen(context, |context, _| Ok(HttpSubscriber::new(connector(context)?, origin.clone(), settings, &messages)))
        .await
}

/// The user's own request, if the workload has one.
fn own(workload: &RequestResponse) -> Option<Own> {
    workload.request.as_ref().map(|request| Own::checked(request, workload.upload_bytes))
}

/// The payload, long enough for the workload, so that no exchange waits for its making.
fn made_ahead(parameters: &EndpointParameters, workload: &RequestResponse) -> Payload {
    let payload = Payload::new(parameters.seed);
    payload.bytes(workload.upload_bytes.max(workload.download_bytes.largest()) as usize);
    payload
}

/// Checks a body as it arrives.
pub struct BodyCheck {
    /// None if every body is right.
    expected: Option<Bytes>,
    by_content: bool,
    received: usize,
    differs: bool,
}

impl BodyCheck {
    fn new(headers: &HeaderMap, payload: &Payload, length: usize) -> Self {
        let by_content = headers.get(CONTENT_TYPE) == Some(&PAYLOAD_TYPE);
        BodyCheck { expected: Some(payload.bytes(length)), by_content, received: 0, differs: false }
    }

    /// Of a body that nothing is known of.
    fn of_any() -> Self {
        BodyCheck { expected: None, by_content: false, received: 0, differs: false }
    }

    /// The next bytes.
    pub fn take(&mut self, bytes: &[u8]) {
        let end = self.received + bytes.len();
        let part = self.expected.as_ref().and_then(|expected| expected.get(self.received..end));
        self.differs |= self.by_content && part.is_some_and(|part| part != bytes);
        self.received = end;
    }

    fn finish(self) -> Result<(), ExchangeError> {
        if let Some(expected) = self.expected.filter(|expected| expected.len() != self.received) {
            let words = format!("body of {} bytes where {} were expected", self.received, expected.len());
            return Err(ExchangeError::new(words));
        }
        if self.differs { Err(ExchangeError::new("body differs from what was sent")) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(content_type: &'static str, body: &[u8]) -> Result<(), ExchangeError> {
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(content_type))]);
        let mut check = BodyCheck::new(&headers, &Payload::new(1), 10);
        for part in body.chunks(3) {
            check.take(part);
        }
        check.finish()
    }

    #[test]
    fn a_payload_is_checked_byte_for_byte() {
        let mut body = Payload::new(1).bytes(10).to_vec();
        assert!(check("application/vnd.wirelab", &body).is_ok());
        body[9] ^= 1;
        assert!(check("application/vnd.wirelab", &body).is_err());
        assert!(check("application/octet-stream", &body).is_ok());
    }

    #[test]
    fn a_short_or_long_body_is_wrong_whatever_its_type() {
        for length in [0, 9, 11] {
            assert!(check("application/octet-stream", &vec![0; length]).is_err(), "{length}");
        }
    }
}
