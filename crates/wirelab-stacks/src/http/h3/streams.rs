//! QUIC under a server of HTTP/3 that sends some answers before others: h3-quinn has no hold of the streams that it accepts.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use futures_util::stream::{BoxStream, StreamExt, unfold};
use h3::error::Code;
use h3::quic::{self, ConnectionErrorIncoming, StreamErrorIncoming, StreamId, WriteBuf};
use quinn::{ConnectionError, ReadError, VarInt, WriteError};

use crate::page::Priority;

/// What is read of a request at a time.
const READ_BYTES: usize = 2048;

/// How urgent the answers of a connection are, until their streams know.
#[derive(Clone, Default)]
pub struct Priorities(Arc<Mutex<HashMap<StreamId, i32>>>);

impl Priorities {
    /// Has a stream's answer sent as its request says (RFC 9218, section 10): the most urgent first, of these whole one after the other those that
    /// are not incremental, and then the others by turns, which is what quinn does with streams of equal priority.
    pub fn set(&self, stream: StreamId, said: Priority) {
        let least = -(i32::from(said.urgency) << 24);
        let place = (stream.into_inner() >> 2).min(1 << 22) as i32;
        let weight = if said.incremental { least } else { least + (1 << 23) - place };
        self.0.lock().expect("no holder panics").insert(stream, weight);
    }

    fn take(&self, stream: StreamId) -> Option<i32> {
        self.0.lock().expect("no holder panics").remove(&stream)
    }
}

/// A connection that a server accepted. Streams of one direction are h3-quinn's.
pub struct Connection {
    others: h3_quinn::Connection,
    requests: BoxStream<'static, Result<(quinn::SendStream, quinn::RecvStream), ConnectionError>>,
    priorities: Priorities,
}

impl Connection {
    /// Whose answers are sent by `priorities`.
    pub fn new(connection: quinn::Connection, priorities: Priorities) -> Self {
        let others = h3_quinn::Connection::new(connection.clone());
        let requests = unfold(connection, async |connection| Some((connection.accept_bi().await, connection)));
        Connection { others, requests: requests.boxed(), priorities }
    }
}

impl<B: Buf> quic::Connection<B> for Connection {
    type RecvStream = h3_quinn::RecvStream;
    type OpenStreams = Opener;

    fn poll_accept_recv(&mut self, cx: &mut Context) -> Poll<Result<Self::RecvStream, ConnectionErrorIncoming>> {
        quic::Connection::<B>::poll_accept_recv(&mut self.others, cx)
    }

    fn poll_accept_bidi(&mut self, cx: &mut Context) -> Poll<Result<RequestStream<B>, ConnectionErrorIncoming>> {
        let accepted = ready!(self.requests.poll_next_unpin(cx)).expect("it has no end");
        let (send, recv) = accepted.map_err(of_connection)?;
        Poll::Ready(Ok(RequestStream { send, recv, writing: None, priorities: self.priorities.clone() }))
    }

    fn opener(&self) -> Opener {
        Opener(quic::Connection::<B>::opener(&self.others))
    }
}

/// Opens streams of a connection.
pub struct Opener(h3_quinn::OpenStreams);

/// A server opens streams of one direction alone (RFC 9114, section 6.1).
macro_rules! opens_streams {
    ($opener:ty, $inner:tt) => {
        impl<B: Buf> quic::OpenStreams<B> for $opener {
            type BidiStream = RequestStream<B>;
            type SendStream = h3_quinn::SendStream<B>;

            fn poll_open_bidi(&mut self, _cx: &mut Context) -> Poll<Result<Self::BidiStream, StreamErrorIncoming>> {
                Poll::Ready(Err(StreamErrorIncoming::Unknown("a server opens no request stream".into())))
            }

            fn poll_open_send(&mut self, cx: &mut Context) -> Poll<Result<Self::SendStream, StreamErrorIncoming>> {
                quic::OpenStreams::<B>::poll_open_send(&mut self.$inner, cx)
            }

            fn close(&mut self, code: Code, reason: &[u8]) {
                quic::OpenStreams::<B>::close(&mut self.$inner, code, reason);
            }
        }
    };
}

opens_streams!(Connection, others);
opens_streams!(Opener, 0);

/// A request and its answer.
pub struct RequestStream<B: Buf> {
    send: quinn::SendStream,
    recv: quinn::RecvStream,
    writing: Option<WriteBuf<B>>,
    priorities: Priorities,
}

impl<B: Buf> quic::SendStream<B> for RequestStream<B> {
    fn poll_ready(&mut self, cx: &mut Context) -> Poll<Result<(), StreamErrorIncoming>> {
        if let Some(weight) = self.priorities.take(quic::SendStream::<B>::send_id(self)) {
            // A stream that is closed has nothing to send.
            let _ = self.send.set_priority(weight);
        }
        while let Some(data) = self.writing.as_mut().filter(|data| data.has_remaining()) {
            let written = ready!(std::pin::Pin::new(&mut self.send).poll_write(cx, data.chunk()));
            data.advance(written.map_err(of_writing)?);
        }
        self.writing = None;
        Poll::Ready(Ok(()))
    }

    fn send_data<T: Into<WriteBuf<B>>>(&mut self, data: T) -> Result<(), StreamErrorIncoming> {
        self.writing = Some(data.into());
        Ok(())
    }

    fn poll_finish(&mut self, _cx: &mut Context) -> Poll<Result<(), StreamErrorIncoming>> {
        Poll::Ready(self.send.finish().map_err(|error| StreamErrorIncoming::Unknown(error.into())))
    }

    fn reset(&mut self, reset_code: u64) {
        let _ = self.send.reset(VarInt::from_u64(reset_code).unwrap_or(VarInt::MAX));
    }

    fn send_id(&self) -> StreamId {
        u64::from(self.send.id()).try_into().expect("quinn's are valid")
    }
}

impl<B: Buf> quic::RecvStream for RequestStream<B> {
    type Buf = Bytes;

    fn poll_data(&mut self, cx: &mut Context) -> Poll<Result<Option<Bytes>, StreamErrorIncoming>> {
        let mut bytes = vec![0; READ_BYTES];
        let length = ready!(self.recv.poll_read(cx, &mut bytes)).map_err(of_reading)?;
        bytes.truncate(length);
        Poll::Ready(Ok((length > 0).then(|| bytes.into())))
    }

    fn stop_sending(&mut self, error_code: u64) {
        let _ = self.recv.stop(VarInt::from_u64(error_code).unwrap_or(VarInt::MAX));
    }

    fn recv_id(&self) -> StreamId {
        u64::from(self.recv.id()).try_into().expect("quinn's are valid")
    }
}

fn of_connection(error: ConnectionError) -> ConnectionErrorIncoming {
    match error {
        ConnectionError::ApplicationClosed(close) => {
            ConnectionErrorIncoming::ApplicationClose { error_code: close.error_code.into() }
        }
        ConnectionError::TimedOut => ConnectionErrorIncoming::Timeout,
        error => ConnectionErrorIncoming::Undefined(Arc::new(error)),
    }
}

fn of_writing(error: WriteError) -> StreamErrorIncoming {
    match error {
        WriteError::Stopped(code) => StreamErrorIncoming::StreamTerminated { error_code: code.into_inner() },
        WriteError::ConnectionLost(error) => {
            StreamErrorIncoming::ConnectionErrorIncoming { connection_error: of_connection(error) }
        }
        error => StreamErrorIncoming::Unknown(error.into()),
    }
}

fn of_reading(error: ReadError) -> StreamErrorIncoming {
    match error {
        ReadError::Reset(code) => StreamErrorIncoming::StreamTerminated { error_code: code.into_inner() },
        ReadError::ConnectionLost(error) => {
            StreamErrorIncoming::ConnectionErrorIncoming { connection_error: of_connection(error) }
        }
        error => StreamErrorIncoming::Unknown(error.into()),
    }
}
