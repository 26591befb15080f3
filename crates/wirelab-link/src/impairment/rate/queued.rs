//! A transmitter behind its queue.

use crate::impairment::stage_exit::StageExit;
use crate::queue::{Aqm, Codel, DropTail, FqCodel, Parameters, Queue, QueueSpec, Waiting};
use crate::spec::values::overhead;
use crate::spec::{Place, SpecError, words};
use crate::{Counters, DropCause, Dropped, Impairment, Instant, Packet};

/// Sends packets one after another, in an order that is not its business. It may rest, be slow or wait for an opportunity: when a packet begins
/// depends on when it came and on what was sent before it, never on packets behind it.
pub(crate) trait Transmitter: Send {
    /// See [`Impairment::start`].
    fn start(&mut self, _origin: Instant) {}

    /// False if it could never send a packet of `bytes`.
    fn takes(&self, _bytes: u64) -> bool {
        true
    }

    /// When the sending of a packet of `bytes` begins that waits since `arrival` and is the next in line. One of 0 bytes begins no later than any
    /// other.
    fn begins(&self, bytes: u64, arrival: Instant) -> Instant;

    /// Send that packet. Returns when its last bit is sent.
    fn send(&mut self, bytes: u64, arrival: Instant) -> Instant;
}

/// A transmitter behind a queue; a packet leaves with its last bit.
///
/// Behind drop-tail all is settled when a packet arrives. A queue that chooses or drops when the next packet is taken
/// [settles when polled](Impairment::settles_when_polled): the next is taken at the first instant at which a packet could begin, so that behind a
/// token bucket it waits for its tokens outside the queue (as behind Linux's tbf).
#[derive(Debug)]
pub(crate) struct Queued<T> {
    transmitter: T,
    overhead_bytes: u32,
    line: Line,
    exit: StageExit,
}

#[derive(Debug)]
enum Line {
    /// For each packet that waits, when its own sending begins.
    DropTail(DropTail<Instant>),
    /// The packets that wait, and when the next is taken. It is looked for also when none waits any more, as a device does that runs idle: then
    /// FQ-CoDel lets its queues go (RFC 8290, section 4.2).
    Aqm(Box<dyn Aqm>, Option<Instant>),
}

impl<T: Transmitter> Queued<T> {
    /// `transmitter` behind `queue`; each packet counts with `overhead_bytes` on top of its IP bytes, for both of them.
    pub(crate) fn new(transmitter: T, queue: Queue, overhead_bytes: u32) -> Self {
        let line = match queue {
            Queue::DropTail(limit) => Line::DropTail(DropTail::new(limit)),
            Queue::Codel { target, interval, bytes } => {
                Line::Aqm(Box::new(Codel::new(Parameters { target, interval }, bytes)), None)
            }
            Queue::FqCodel { target, interval, flows, quantum_bytes, packets } => {
                let queue = FqCodel::new(Parameters { target, interval }, flows, quantum_bytes, packets);
                Line::Aqm(Box::new(queue), None)
            }
        };
        Self { transmitter, overhead_bytes, line, exit: StageExit::default() }
    }

    fn advance(&mut self, now: Instant) {
        let Line::Aqm(queue, next) = &mut self.line else { return };
        while let Some(due) = next.take_if(|due| *due <= now) {
            let Some(Waiting { mut packet, bytes, arrival }) = queue.pop(due, &mut self.exit) else { continue };
            let begins = self.transmitter.begins(bytes, arrival);
            let departure = self.transmitter.send(bytes, arrival);
            packet.airtime = departure.saturating_since(begins);
            self.exit.depart(packet, departure);
            *next = Some(self.transmitter.begins(0, arrival));
        }
    }
}

impl<T: Transmitter> Impairment for Queued<T> {
    fn start(&mut self, origin: Instant) {
        self.transmitter.start(origin);
    }

    fn handle_packet(&mut self, mut packet: Packet, now: Instant) {
        self.advance(now);
        self.exit.receive();
        let bytes = u64::from(packet.size) + u64::from(self.overhead_bytes);
        if !self.transmitter.takes(bytes) {
            self.exit.drop(packet, now, DropCause::QueueFull);
            return;
        }
        match &mut self.line {
            Line::DropTail(waiting) => {
                while waiting.front().is_some_and(|begins| *begins <= now) {
                    waiting.pop();
                }
                let begins = self.transmitter.begins(bytes, now);
                if begins > now && waiting.push(bytes, begins).is_err() {
                    self.exit.drop(packet, now, DropCause::QueueFull);
                } else {
                    let departure = self.transmitter.send(bytes, now);
                    packet.airtime = departure.saturating_since(begins);
                    self.exit.depart(packet, departure);
                }
            }
            Line::Aqm(queue, next) => {
                queue.push(Waiting { packet, bytes, arrival: now }, &mut self.exit);
                next.get_or_insert_with(|| self.transmitter.begins(0, now));
            }
        }
    }

    fn poll_packet(&mut self, now: Instant) -> Option<(Instant, Packet)> {
        self.advance(now);
        self.exit.poll_packet(now)
    }

    fn poll_dropped(&mut self) -> Option<Dropped> {
        self.exit.poll_dropped()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let next = match &self.line {
            Line::DropTail(_) => None,
            Line::Aqm(queue, next) => next.filter(|_| queue.len() > 0),
        };
        self.exit.poll_timeout().into_iter().chain(next).min()
    }

    fn settles_when_polled(&self) -> bool {
        matches!(self.line, Line::Aqm(..))
    }

    fn poll_held(&mut self) -> Option<Packet> {
        self.exit.poll_held().or_else(|| match &mut self.line {
            Line::DropTail(_) => None,
            Line::Aqm(queue, _) => queue.steal().map(|waiting| waiting.packet),
        })
    }

    fn sending(&self) -> Option<u64> {
        Some(self.counters().held)
    }

    fn counters(&self) -> Counters {
        self.exit.counters(match &self.line {
            Line::DropTail(_) => 0,
            Line::Aqm(queue, _) => queue.len(),
        })
    }
}

/// The stage of a transmitter behind the queue of the description at a place.
pub(crate) fn queued(
    transmitter: impl Transmitter + 'static,
    queue: &QueueSpec,
    overhead_bytes: u32,
    at: &Place,
) -> Result<Box<dyn Impairment>, SpecError> {
    Ok(Box::new(Queued::new(transmitter, queue.build(&at.key("queue"))?, overhead(overhead_bytes, at)?)))
}

/// What is said of bytes that are added to each packet, if there are any.
pub(crate) fn overhead_words(overhead_bytes: u32) -> String {
    if overhead_bytes == 0 { String::new() } else { format!(" (+ {} a packet)", words::size(overhead_bytes.into())) }
}
