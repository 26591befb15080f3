//! Sends the bodies of one connection in the order of their priorities (RFC 9218, section 10): the most urgent first, of these whole one after the
//! other those that are not incremental, and then the others by turns.
//!
//! The library sends what it is given in an order of its own, so that it is given one part at a time, when the last has been written.

#[cfg(test)]
mod tests;

use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use h2::SendStream;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::page::Priority;
use crate::transport::task::Task;
use crate::wire::h2_frames::{DATA, Frames};
use crate::wire::tap::Observer;

/// What is handed down at a time: a frame of the largest size that every peer takes (RFC 9113, section 4.2).
const PART_BYTES: usize = 16 * 1024;

/// Takes the bodies of one connection.
pub struct Bodies {
    sender: UnboundedSender<Body>,
    _task: Task,
}

impl Bodies {
    /// None yet, and what sees what is written on the connection.
    pub fn new() -> (Self, Arc<Mutex<Written>>) {
        let written = Arc::new(Mutex::new(Written::default()));
        let (sender, receiver) = unbounded_channel();
        let mut sending = Sending { receiver, open: true, bodies: Vec::new(), handed: None, turns: 0 };
        let progress = written.clone();
        let task = Task::spawn(poll_fn(move |cx| sending.poll(cx, &progress)));
        (Bodies { sender, _task: task }, written)
    }

    /// One more, which is not empty.
    pub fn send(&self, stream: SendStream<Bytes>, rest: Bytes, priority: Priority) {
        // Who does not take it is going with its connection.
        let _ = self.sender.send(Body { stream, rest, priority, turn: 0 });
    }
}

/// Counts the DATA that was written.
#[derive(Default)]
pub struct Written {
    frames: Frames,
    data_bytes: u64,
    waiting: Option<Waker>,
}

impl Written {
    /// Whether so much was written; if not, has the task woken when more is.
    fn reached(&mut self, bytes: u64, cx: &Context) -> bool {
        self.waiting = (self.data_bytes < bytes).then(|| cx.waker().clone());
        self.waiting.is_none()
    }
}

impl Observer for Written {
    fn written(&mut self, bytes: &[u8], _now_ns: u64) {
        let data_bytes = &mut self.data_bytes;
        self.frames.advance(bytes, |frame, part| *data_bytes += if frame.kind == DATA { part.len() as u64 } else { 0 });
        if let Some(waiting) = self.waiting.take() {
            waiting.wake();
        }
    }

    fn read(&mut self, _bytes: &[u8], _now_ns: u64) {}
}

struct Sending {
    receiver: UnboundedReceiver<Body>,
    /// More may come.
    open: bool,
    /// In the order of their requests.
    bodies: Vec<Body>,
    /// The last part, until it is written.
    handed: Option<Handed>,
    turns: u64,
}

/// A part that was handed down.
#[derive(Clone, Copy)]
struct Handed {
    /// Whose.
    place: usize,
    /// Count of what was written from which on it is among that.
    until_bytes: u64,
}

struct Body {
    stream: SendStream<Bytes>,
    rest: Bytes,
    priority: Priority,
    /// When it was last its turn.
    turn: u64,
}

impl Sending {
    fn poll(&mut self, cx: &mut Context, written: &Mutex<Written>) -> Poll<()> {
        while self.open
            && let Poll::Ready(next) = self.receiver.poll_recv(cx)
        {
            match next {
                Some(mut body) => {
                    body.reserve();
                    self.bodies.push(body);
                }
                None => self.open = false,
            }
        }
        loop {
            if !self.open && self.bodies.is_empty() {
                return Poll::Ready(());
            }
            if let Some(Handed { place, until_bytes }) = self.handed
                && !self.bodies[place].is_reset(cx)
                && !written.lock().expect("no holder panics").reached(until_bytes, cx)
            {
                return Poll::Pending;
            }
            self.handed = None;
            self.bodies.retain_mut(|body| body.is_wanted(cx));
            let ready = self.bodies.iter().enumerate().filter(|(_, body)| body.stream.capacity() > 0);
            let Some((next, _)) = ready.min_by_key(|(place, body)| body.order(*place)) else { return Poll::Pending };
            self.turns += 1;
            let written_bytes = written.lock().expect("no holder panics").data_bytes;
            self.hand_down(next, written_bytes);
        }
    }

    fn hand_down(&mut self, place: usize, written_bytes: u64) {
        let body = &mut self.bodies[place];
        body.turn = self.turns;
        let part = body.rest.split_to(body.stream.capacity().min(PART_BYTES).min(body.rest.len()));
        let until_bytes = written_bytes + part.len() as u64;
        if body.stream.send_data(part, body.rest.is_empty()).is_ok() {
            self.handed = Some(Handed { place, until_bytes });
            body.reserve();
        }
    }
}

impl Body {
    /// The smallest goes first.
    fn order(&self, place: usize) -> (u8, bool, u64, usize) {
        let Priority { urgency, incremental } = self.priority;
        (urgency, incremental, if incremental { self.turn } else { 0 }, place)
    }

    fn reserve(&mut self) {
        self.stream.reserve_capacity(self.rest.len().min(PART_BYTES));
    }

    /// True once its stream was reset: what was handed down of it is not written then. Else has the task woken when it is.
    fn is_reset(&mut self, cx: &mut Context) -> bool {
        self.stream.poll_reset(cx).is_ready()
    }

    /// False when all of it was handed down, or its stream was reset. Has the task woken when there is room for more of it.
    fn is_wanted(&mut self, cx: &mut Context) -> bool {
        loop {
            match self.stream.poll_capacity(cx) {
                Poll::Pending => return true,
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Ready(Some(Err(_)) | None) => return false,
            }
        }
    }
}
