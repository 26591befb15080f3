//! Changes over HTTP: long polling and server-sent events, the server's part. The instants of changes are the workload's.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderValue, Request, Response, StatusCode};

use super::event_stream::{EVENT_STREAM, event};
use super::{Body, PAYLOAD_TYPE, READ};
use crate::workload::{POLL_BYTES, Publication, Waiting};

/// Header of a request that opens an event stream anew: how many messages the client has (HTML Living Standard, section 9.2.4).
pub const LAST_EVENT_ID: &str = "last-event-id";

/// Where they are.
pub const PATH: &str = "/changes";

/// What a `GET /changes` asks for, or a `HEAD`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Question {
    /// Whether there is such a state: answered at once.
    State,
    /// Long poll, `?after=N`: the messages after the first N, answered when there is one.
    Poll(u32),
    /// Short poll, `?after=N&now`: the same, answered at once, also without any (RFC 6202, section 2).
    Fetch(u32),
    /// Server-sent events, after the first N messages.
    Events(u32),
}

impl Question {
    /// `None` for another target.
    pub fn of<B>(request: &Request<B>) -> Option<Self> {
        if !READ.contains(request.method()) || request.uri().path() != PATH {
            return None;
        }
        if let Some(query) = request.uri().query() {
            let (query, question): (_, fn(u32) -> Question) = match query.strip_suffix("&now") {
                Some(query) => (query, Question::Fetch),
                None => (query, Question::Poll),
            };
            return query.strip_prefix("after=").and_then(|number| number.parse().ok()).map(question);
        }
        let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
        if header(ACCEPT.as_str()) != Some(EVENT_STREAM) {
            return Some(Question::State);
        }
        let last = header(LAST_EVENT_ID).and_then(|id| id.parse().ok());
        Some(Question::Events(last.map_or(0, |id: u32| id.saturating_add(1))))
    }

    /// The head of an answer, at once.
    pub fn head(self) -> Response<Body> {
        let media_type = match self {
            Question::State => return nothing(),
            Question::Poll(_) | Question::Fetch(_) => PAYLOAD_TYPE,
            Question::Events(_) => HeaderValue::from_static(EVENT_STREAM),
        };
        let mut response = Response::new(Body::Whole(Bytes::new()));
        response.headers_mut().insert(CONTENT_TYPE, media_type);
        response
    }

    /// The answer, when there is one.
    pub async fn answer(self, publication: &Arc<Publication>) -> Response<Body> {
        match self {
            Question::State => {
                publication.visit();
                nothing()
            }
            Question::Poll(first) => poll(publication.wait(first), publication.messages().length()).await,
            Question::Fetch(first) => match publication.poll(first) {
                body if body.is_empty() => nothing(),
                body => messages(body),
            },
            Question::Events(first) => {
                let events = Events { waiting: publication.wait(first), next: first };
                let mut response = Response::new(Body::Events(events));
                response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(EVENT_STREAM));
                response
            }
        }
    }
}

/// The rest of an event stream.
pub struct Events {
    waiting: Waiting,
    next: u32,
}

impl Events {
    /// The next event. After the last message none comes, and the stream stays open as it would for the next change.
    pub async fn next(&mut self) -> Bytes {
        let Some(message) = self.waiting.next().await else { return std::future::pending().await };
        self.next += 1;
        event(self.next - 1, &message)
    }
}

/// After the last message there is no answer, as there would be none before the next change.
async fn poll(mut waiting: Waiting, length: usize) -> Response<Body> {
    let Some(message) = waiting.next().await else { return std::future::pending().await };
    let mut body = BytesMut::from(message);
    while body.len() + length <= POLL_BYTES
        && let Some(message) = waiting.try_next()
    {
        body.extend_from_slice(&message);
    }
    messages(body.freeze())
}

fn messages(body: Bytes) -> Response<Body> {
    let length = body.len();
    let mut response = Response::new(Body::Whole(body));
    response.headers_mut().insert(CONTENT_TYPE, PAYLOAD_TYPE);
    response.headers_mut().insert(CONTENT_LENGTH, length.into());
    response
}

fn nothing() -> Response<Body> {
    let mut response = Response::new(Body::Whole(Bytes::new()));
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use wirelab_schema::{ArrivalSpec, PubSub, Wait};

    use super::*;
    use crate::workload::virtual_time::{Rows, context};

    fn question(uri: &str, headers: &[(&str, &str)]) -> Option<Question> {
        let builder = headers.iter().fold(Request::get(uri), |builder, (name, value)| builder.header(*name, *value));
        Question::of(&builder.body(()).expect("a request"))
    }

    #[test]
    fn query_and_accept_select_the_resource() {
        let accept = ("accept", "text/event-stream");
        assert_eq!(question("/changes", &[]), Some(Question::State));
        assert_eq!(question("/changes?after=7", &[]), Some(Question::Poll(7)));
        assert_eq!(question("/changes", &[accept]), Some(Question::Events(0)));
        assert_eq!(question("/changes", &[accept, ("last-event-id", "3")]), Some(Question::Events(4)));
        assert_eq!(question("/changes?after=7&now", &[]), Some(Question::Fetch(7)));
        assert_eq!(question("/changes?after=x", &[]), None);
        assert_eq!(question("/changes?after=x&now", &[]), None);
        assert_eq!(question("/bytes/1", &[]), None);
    }

    #[tokio::test(start_paused = true)]
    async fn after_the_last_message_a_long_poll_has_no_answer() {
        let arrival = ArrivalSpec::Fixed { rate_hz: 10.0 };
        let work =
            PubSub { message_bytes: 30, messages: 1, subscribers: 1, arrival, timeout_ns: 1, wait: Wait::Connected };
        let (context, _stopper) = context(work.into(), Rows::default());
        let publication = Publication::new(&context.parameters, context.clock.clone());
        assert_eq!(Question::Poll(0).answer(&publication).await.status(), StatusCode::OK);
        assert_eq!(Question::Fetch(0).answer(&publication).await.status(), StatusCode::OK);
        assert_eq!(Question::Fetch(1).answer(&publication).await.status(), StatusCode::NO_CONTENT);
        let after = Question::Poll(1).answer(&publication);
        assert!(tokio::time::timeout(Duration::from_secs(3_600), after).await.is_err());
    }
}
