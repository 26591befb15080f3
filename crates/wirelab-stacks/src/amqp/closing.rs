//! A stream that sends `close` and ends in place of the protocol library, which would poll without a pause. It reads no frame.

use std::fmt;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The frame with which an end says that it says no more: `close` without an error (part 2, section 2.7.9).
const CLOSE_FRAME: &[u8] = &[0, 0, 0, 12, 2, 0, 0, 0, 0x00, 0x53, 0x18, 0x45];

/// Ends a stream that a protocol library owns. The library itself says `close` too, but then polls without a pause until the peer has answered,
/// which would take a CPU away from what is measured for a round trip, or for ever from a peer that is gone.
pub struct Closer(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// What is to be sent before the stream ends.
    last_frame: Option<&'static [u8]>,
    /// Of the library's reading.
    reading: Option<Waker>,
}

impl Closer {
    /// A stream and what ends it.
    pub fn new<S>(stream: S) -> (Self, ClosingStream<S>) {
        let state = Arc::<Mutex<State>>::default();
        (Closer(state.clone()), ClosingStream { stream, state, ended: false })
    }

    /// Has `close` sent, then the end of the stream, which the library reads as the peer's.
    pub fn close(&self) {
        self.end(CLOSE_FRAME);
    }

    fn end(&self, last_frame: &'static [u8]) {
        let mut state = self.0.lock().expect("no holder panics");
        state.last_frame.get_or_insert(last_frame);
        if let Some(waker) = state.reading.take() {
            waker.wake();
        }
    }
}

/// Dropped, it ends the stream without a `close`.
impl Drop for Closer {
    fn drop(&mut self) {
        self.end(&[]);
    }
}

/// The stream that a library owns, until it is closed.
pub struct ClosingStream<S> {
    stream: S,
    state: Arc<Mutex<State>>,
    ended: bool,
}

impl<S> ClosingStream<S> {
    fn is_closing(&self) -> bool {
        self.state.lock().expect("no holder panics").last_frame.is_some()
    }
}

impl<S> fmt::Debug for ClosingStream<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.debug_struct("ClosingStream").finish_non_exhaustive()
    }
}

impl<S: AsyncWrite + Unpin> ClosingStream<S> {
    /// Sends the last frame and the end of the stream. Errors are ignored: the connection is over.
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            let frame = self.state.lock().expect("no holder panics").last_frame.unwrap_or_default();
            if frame.is_empty() {
                break;
            }
            let written = ready!(Pin::new(&mut self.stream).poll_write(cx, frame))?;
            self.state.lock().expect("no holder panics").last_frame = Some(&frame[written..]);
        }
        ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for ClosingStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let closing = {
            let mut state = self.state.lock().expect("no holder panics");
            state.reading = Some(cx.waker().clone());
            state.last_frame.is_some()
        };
        if !closing {
            return Pin::new(&mut self.stream).poll_read(cx, buffer);
        }
        if !self.ended {
            let _ = ready!(self.poll_end(cx));
            self.ended = true;
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for ClosingStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.is_closing() {
            true => Poll::Ready(Err(ErrorKind::BrokenPipe.into())),
            false => Pin::new(&mut self.stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.is_closing() {
            true => Poll::Ready(Err(ErrorKind::BrokenPipe.into())),
            false => Pin::new(&mut self.stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.is_closing() {
            true => Poll::Ready(Ok(())),
            false => Pin::new(&mut self.stream).poll_shutdown(cx),
        }
    }
}
