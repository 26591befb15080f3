//! Where a trial's packets are captured and dropped packets are named, in both directions.

use std::io::{self, Write};

use wirelab_link::{DropCause, Instant, Packet, PortId};

use crate::clock::RealtimeOffset;
use crate::log_sink::Backlog;
use crate::topology::Sides;
use wirelab_capture::packet_log::Outcome;
use wirelab_capture::pcapng::{self, Statistics, Way, Writer};

/// The comment of a dropped packet in a capture, by direction and cause: `lost by gilbert-elliott`.
pub type DropWords = [[String; DropCause::ALL.len()]; 2];

/// What the interfaces on a link see of a trial, each to its capture if it has one: packets that its host sent when they came to the link, and
/// packets that it received when they were put on its interface.
///
/// Packets are written when their outcome is known, so a capture must be [completed](wirelab_capture::pcapng::complete). One offset to CLOCK_REALTIME holds
/// for the whole trial: differences of stamps are those of CLOCK_MONOTONIC.
///
/// Data that the disk does not accept immediately waits in memory, up to a limit: beyond that packets are left out and counted. The packet log, of which a replay
/// needs all, has a higher one; it is some hundred bytes a packet.
#[derive(Debug)]
pub struct Taps<W: Write> {
    sides: Sides,
    /// By the place of the host's port.
    captures: Vec<Option<Writer<W>>>,
    seen: Vec<Seen>,
    words: DropWords,
    pub(super) offset: RealtimeOffset,
    backlog: Backlog,
}

/// Packets of one host.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    captured: u64,
    left_out: u64,
}

/// Each capture has one interface.
const INTERFACE: u32 = 0;
const HELD: &str = "still on its way when the capture ended";

impl<W: Write> Taps<W> {
    /// Tap into the hosts' ends, in the order of their ports' places. The captures wait in `backlog`.
    pub fn new(sides: Sides, mut captures: Vec<Option<Writer<W>>>, words: DropWords, backlog: Backlog) -> Self {
        captures.resize_with(sides.ports(), || None);
        let (seen, offset) = (vec![Seen::default(); sides.ports()], RealtimeOffset::measure());
        Self { sides, captures, seen, words, offset, backlog }
    }

    /// Packets that all captures lack because the disk was slow.
    pub(super) fn left_out(&self) -> u64 {
        self.seen.iter().map(|seen| seen.left_out).sum()
    }

    /// Close the captures, in the order of their places, with what they have and lack.
    pub(super) fn finish(self, now: Instant) -> impl Iterator<Item = W> {
        let at_ns = self.offset.to_realtime_ns(now);
        let captures = self.captures.into_iter().zip(self.seen);
        captures.filter_map(move |(capture, Seen { captured, left_out })| {
            let mut capture = capture?;
            capture.statistics(&Statistics { interface: INTERFACE, at_ns, captured, left_out }).ok()?;
            capture.finish().ok()
        })
    }

    /// Write captured packets to the disk.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.captures.iter_mut().flatten().try_for_each(Writer::flush)
    }

    /// Write a packet with its outcome: its frame as it `came` to the link, and as it `left`. A delivered one is put on its receiver's interface `at` this
    /// instant or a little later; never before, or its answer would seem to come first.
    pub(super) fn settle(&mut self, packet: &Packet, came: &[u8], left: &[u8], outcome: Outcome, at: Instant) {
        let inverted = packet.corrupted_bit.map(|bit| format!("bit {bit} of the packet inverted by the link"));
        // Nobody sent a copy, or what the link made.
        if !packet.copy && !packet.originated {
            let (words, arrival) = (self.outcome_words(packet.port, outcome), packet.arrival);
            let comment = words.or(inverted.as_deref()).map(str::to_owned);
            self.write(self.sides.index(packet.port), arrival, Way::Out, came, comment.as_deref());
        }
        let Some(receiver) = self.sides.destination(packet.port, left).filter(|_| outcome == Outcome::Delivered) else {
            return;
        };
        let comment = match (packet.copy, inverted) {
            (false, None) if packet.originated => Some("a reset made by the link".to_owned()),
            (false, inverted) => inverted,
            (true, None) => Some("a copy made by the link".to_owned()),
            (true, Some(inverted)) => Some(format!("a copy made by the link, {inverted}")),
        };
        self.write(receiver, at, Way::In, left, comment.as_deref());
    }

    fn outcome_words(&self, sender: PortId, outcome: Outcome) -> Option<&str> {
        let cause = DropCause::ALL.into_iter().find(|cause| Outcome::from(*cause) == outcome);
        let dropped = cause.map(|cause| &*self.words[sender.direction().index()][cause.index()]);
        dropped.or((outcome == Outcome::Held).then_some(HELD))
    }

    fn write(&mut self, end: usize, at: Instant, way: Way, frame: &[u8], comment: Option<&str>) {
        let Some(capture) = &mut self.captures[end] else { return };
        if !self.backlog.has_room_for_captures() {
            self.seen[end].left_out += 1;
            return;
        }
        self.seen[end].captured += 1;
        let at_ns = self.offset.to_realtime_ns(at);
        // An error of the disk is reported when the capture is closed.
        let _ = capture.packet(&pcapng::Packet { interface: INTERFACE, at_ns, way, frame, comment });
    }
}
