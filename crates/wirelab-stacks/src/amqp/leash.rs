//! Holds the stream of a protocol library, so that closing it neither spins nor waits without end.

use std::fmt;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The frame with which an end says that it says no more: `close` without an error (part 2, section 2.7.9).
const CLOSE_FRAME: &[u8] = &[0, 0, 0, 12, 2, 0, 0, 0, 0x00, 0x53, 0x18, 0x45];

/// Holds the stream that a protocol library owns. The library itself says `close` too, but then polls without a pause until the peer has answered,
/// which would take a CPU away from what is measured for a round trip, or for ever from a peer that is gone.
pub struct Leash(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// What is to be sent before the stream ends.
    last_words: Option<&'static [u8]>,
    /// Of the library's reading.
    reading: Option<Waker>,
}

impl Leash {
    /// A stream and what holds it.
    pub fn new<S>(stream: S) -> (Self, Leashed<S>) {
        let state = Arc::<Mutex<State>>::default();
        (Leash(state.clone()), Leashed { stream, state, ended: false })
    }

    /// Has `close` sent, then the end of the stream, which the library reads as the peer's.
    pub fn close(&self) {
        self.end(CLOSE_FRAME);
    }

    fn end(&self, last_words: &'static [u8]) {
        let mut state = self.0.lock().expect("no holder panics");
        state.last_words.get_or_insert(last_words);
        if let Some(waker) = state.reading.take() {
            waker.wake();
        }
    }
}

/// Dropped, the stream ends without a word.
impl Drop for Leash {
    fn drop(&mut self) {
        self.end(&[]);
    }
}

/// The stream on its leash.
pub struct Leashed<S> {
    stream: S,
    state: Arc<Mutex<State>>,
    ended: bool,
}

impl<S> Leashed<S> {
    fn is_held_back(&self) -> bool {
        self.state.lock().expect("no holder panics").last_words.is_some()
    }
}

impl<S> fmt::Debug for Leashed<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.debug_struct("Leashed").finish_non_exhaustive()
    }
}

impl<S: AsyncWrite + Unpin> Leashed<S> {
    /// Sends the last words and the end of the stream. What cannot be sent is not.
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            let words = self.state.lock().expect("no holder panics").last_words.unwrap_or_default();
            if words.is_empty() {
                break;
            }
            let written = ready!(Pin::new(&mut self.stream).poll_write(cx, words))?;
            self.state.lock().expect("no holder panics").last_words = Some(&words[written..]);
        }
        ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Leashed<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let held_back = {
            let mut state = self.state.lock().expect("no holder panics");
            state.reading = Some(cx.waker().clone());
            state.last_words.is_some()
        };
        if !held_back {
            return Pin::new(&mut self.stream).poll_read(cx, buffer);
        }
        if !self.ended {
            let _ = ready!(self.poll_end(cx));
            self.ended = true;
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Leashed<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.is_held_back() {
            true => Poll::Ready(Err(ErrorKind::BrokenPipe.into())),
            false => Pin::new(&mut self.stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.is_held_back() {
            true => Poll::Ready(Err(ErrorKind::BrokenPipe.into())),
            false => Pin::new(&mut self.stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.is_held_back() {
            true => Poll::Ready(Ok(())),
            false => Pin::new(&mut self.stream).poll_shutdown(cx),
        }
    }
}
