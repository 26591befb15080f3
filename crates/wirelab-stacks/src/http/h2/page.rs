//! Page loads over HTTP/2, with pushed responses (RFC 9113, section 8.4) and interim ones (RFC 8297).
//! Which resources are fetched is decided in `page`.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use ::http::{Request, Response};
use bytes::Bytes;
use futures_util::FutureExt;
use h2::client::{Builder, PushPromise, PushPromises, PushedResponseFuture, ResponseFuture};
use h2::server::SendResponse;
use h2::{RecvStream, SendStream};

use super::bodies::Bodies;
use super::{Connection, Connector};
use crate::base::attempt::{Attempt, ExchangeError};
use crate::page::{self, CONNECTION_WINDOW_BYTES, Fetch, Part, Priority, Rules, STREAM_WINDOW_BYTES, Site};

/// Chromium's `kMaxConcurrentPushedStreams`, promised ones included.
const PUSHED_STREAMS: u32 = 1000;

/// Has a client grant what a browser does: with the initial windows of 65,535 bytes a page would wait for them.
pub fn grant(builder: &mut Builder) {
    builder
        .initial_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .max_concurrent_streams(PUSHED_STREAMS);
}

/// An answer to a request, or one that is pushed.
pub struct Answer {
    /// Those that may come with it.
    promises: Option<PushPromises>,
    next: Next,
}

enum Next {
    Head(ResponseFuture),
    PushedHead(PushedResponseFuture),
    Body(RecvStream),
}

impl Fetch for Connector {
    type Answer = Answer;
    type Promise = PushPromise;

    const RULES: Rules = page::HTTP2;

    fn share(&self, connection: &Connection) -> Option<Connection> {
        Some(connection.clone())
    }

    fn is_usable(&self, connection: &Connection) -> bool {
        // A GOAWAY lets what is under way end and has new requests refused (RFC 9113, section 6.8).
        let refused = matches!(connection.sender.clone().ready().now_or_never(), Some(Err(_)));
        !refused && !connection.task.is_finished()
    }

    fn takes_pushes(&self) -> bool {
        self.push
    }

    async fn send(
        &self,
        connection: &mut Connection,
        request: Request<()>,
        attempt: &mut Attempt,
    ) -> Result<Answer, ExchangeError> {
        let mut sender = connection.sender.clone().ready().await?;
        let (mut response, _) = sender.send_request(request, true)?;
        connection.stamp(response.stream_id(), attempt);
        Ok(Answer { promises: self.push.then(|| response.push_promises()), next: Next::Head(response) })
    }

    async fn next(
        &self,
        answer: &mut Answer,
        attempt: &mut Attempt,
    ) -> Result<Option<Part<PushPromise>>, ExchangeError> {
        let pushed = matches!(answer.next, Next::PushedHead(_));
        let part = poll_fn(|cx| answer.poll(cx)).await?;
        if pushed {
            attempt.exchange.first_response_byte_ns = attempt.now();
        }
        Ok(part)
    }

    fn pushed(&self, promise: PushPromise) -> Answer {
        let (_, response) = promise.into_parts();
        Answer { promises: None, next: Next::PushedHead(response) }
    }
}

impl Answer {
    /// Promises first: they come before the bytes that name what is promised (RFC 9113, section 8.4.1).
    fn poll(&mut self, cx: &mut Context) -> Poll<Result<Option<Part<PushPromise>>, h2::Error>> {
        if let Some(promises) = &mut self.promises {
            match promises.poll_push_promise(cx) {
                Poll::Ready(Some(promise)) => {
                    let promise = promise?;
                    let path = promise.request().uri().path_and_query().map_or("", |path| path.as_str()).to_owned();
                    return Poll::Ready(Ok(Some(Part::Promise(path, promise))));
                }
                Poll::Ready(None) => self.promises = None,
                Poll::Pending => {}
            }
        }
        let response = match &mut self.next {
            Next::Head(response) => {
                if let Poll::Ready(Some(interim)) = response.poll_informational(cx) {
                    return Poll::Ready(Ok(Some(Part::Interim(interim?.into_parts().0.headers))));
                }
                ready!(Pin::new(response).poll(cx))?
            }
            Next::PushedHead(response) => ready!(Pin::new(response).poll(cx))?,
            Next::Body(body) => {
                let Some(bytes) = ready!(body.poll_data(cx)).transpose()? else { return Poll::Ready(Ok(None)) };
                body.flow_control().release_capacity(bytes.len())?;
                return Poll::Ready(Ok(Some(Part::Data(bytes))));
            }
        };
        let (head, body) = response.into_parts();
        self.next = Next::Body(body);
        Poll::Ready(Ok(Some(Part::Head(head.status, head.headers))))
    }
}

/// Answers a request for something of a page, with what goes before and with the answer.
pub fn answer(
    request: &Request<RecvStream>,
    respond: &mut SendResponse<Bytes>,
    site: &Site,
    pushes: usize,
    bodies: &Bodies,
) -> Result<(), h2::Error> {
    if let Some(interim) = site.interim(request) {
        respond.send_informational(interim)?;
    }
    let mut pushed = Vec::new();
    for (path, priority) in site.pushed(request).into_iter().take(pushes) {
        let promise = promise(request, path);
        // A client that takes no pushes (SETTINGS_ENABLE_PUSH) asks for what it needs.
        let Ok(respond) = respond.push_request(promise.clone()) else { break };
        pushed.push((respond, site.answer(&promise), priority));
    }
    let (head, body) = site.answer(request).into_parts();
    let stream = respond.send_response(Response::from_parts(head, ()), body.is_empty())?;
    send(bodies, stream, body, Priority::said(request.headers()));
    for (mut respond, answer, priority) in pushed {
        let (head, body) = answer.into_parts();
        let stream = respond.send_response(Response::from_parts(head, ()), body.is_empty())?;
        send(bodies, stream, body, priority);
    }
    Ok(())
}

fn send(bodies: &Bodies, stream: SendStream<Bytes>, body: Bytes, priority: Priority) {
    if !body.is_empty() {
        bodies.send(stream, body, priority);
    }
}

/// The request for another path of the same site.
fn promise(request: &Request<RecvStream>, path: &str) -> Request<()> {
    let mut parts = request.uri().clone().into_parts();
    parts.path_and_query = Some(path.parse().expect("the manifest's paths were checked"));
    let uri = ::http::Uri::from_parts(parts).expect("as the request's");
    Request::get(uri).body(()).expect("as the request's")
}
