//! Sees every byte of a stream with its instant. It changes none.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::Clock;

/// Sees every byte that passes a [`Tap`], with the instant at which it did.
pub trait Observer: Send {
    /// The layer below accepted `bytes`.
    fn written(&mut self, bytes: &[u8], now_ns: u64);

    /// The layer below delivered `bytes`.
    fn read(&mut self, bytes: &[u8], now_ns: u64);
}

/// A stream that shows its bytes to an observer. It sits between a protocol library and what carries it (TCP, or TLS over TCP), so the instants
/// are those of application data.
pub struct Tap<S, O> {
    stream: S,
    observer: Arc<Mutex<O>>,
    clock: Arc<dyn Clock>,
}

impl<S, O: Observer> Tap<S, O> {
    /// Taps `stream`.
    pub fn new(stream: S, observer: Arc<Mutex<O>>, clock: Arc<dyn Clock>) -> Self {
        Tap { stream, observer, clock }
    }

    fn observe(&self, see: impl FnOnce(&mut O, u64)) {
        if !self.clock.measures() {
            return;
        }
        let now_ns = self.clock.now_ns();
        see(&mut self.observer.lock().expect("no holder panics"), now_ns);
    }
}

impl<S: AsyncRead + Unpin, O: Observer> AsyncRead for Tap<S, O> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        let bytes = &buffer.filled()[before..];
        if !bytes.is_empty() {
            self.observe(|observer, now_ns| observer.read(bytes, now_ns));
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin, O: Observer> AsyncWrite for Tap<S, O> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let length = ready!(Pin::new(&mut self.stream).poll_write(cx, bytes))?;
        self.observe(|observer, now_ns| observer.written(&bytes[..length], now_ns));
        Poll::Ready(Ok(length))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let length = ready!(Pin::new(&mut self.stream).poll_write_vectored(cx, slices))?;
        self.observe(|observer, now_ns| {
            let mut left = length;
            for slice in slices {
                let part = left.min(slice.len());
                observer.written(&slice[..part], now_ns);
                left -= part;
            }
        });
        Poll::Ready(Ok(length))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
