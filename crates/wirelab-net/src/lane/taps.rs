use std::io::Write;
use std::time::Duration;

use wirelab_link::{DropCause, Instant, Packet, PortId};

use crate::clock::RealtimeOffset;
use crate::packet_log::Fate;
use crate::pcapng::{self, Way, Writer};
use crate::socket::ETHERNET_BYTES;

/// What people are told of a dropped packet, by direction and cause: `lost by gilbert-elliott`.
pub type DropWords = [[String; DropCause::ALL.len()]; 2];

/// What the interfaces at both ends see of a trial, each to its capture if it has one: packets that the end sent when they came to the link, and
/// packets that it received when they were put on its interface.
///
/// Packets are handed over when their fate is known, so a capture must be [completed](crate::pcapng::complete). One offset to CLOCK_REALTIME holds
/// for the whole trial: differences of stamps are those of CLOCK_MONOTONIC.
#[derive(Debug)]
pub struct Taps<W: Write> {
    /// The client's, the server's.
    captures: [Option<Writer<W>>; 2],
    words: DropWords,
    offset: RealtimeOffset,
    /// A corrupted frame as it was received, kept for its room.
    corrupted: Vec<u8>,
}

/// Each capture has one interface.
const INTERFACE: u32 = 0;
const HELD: &str = "still on its way when the capture ended";

impl<W: Write> Taps<W> {
    /// Tap into the client's and the server's end.
    pub fn new(captures: [Option<Writer<W>>; 2], words: DropWords) -> Self {
        Self { captures, words, offset: RealtimeOffset::measure(), corrupted: Vec::new() }
    }

    /// The captures, the client's first.
    pub fn into_captures(self) -> impl Iterator<Item = Writer<W>> {
        self.captures.into_iter().flatten()
    }

    /// Hand over what became of a packet. `frame` is as it came to the link.
    pub(super) fn settle(&mut self, packet: &Packet, frame: &[u8], fate: Fate, departure: Instant, lateness: Duration) {
        let inverted = packet.corrupted_bit.map(|bit| format!("bit {bit} of the packet inverted by the link"));
        // Nobody sent a copy.
        if !packet.copy {
            let (words, arrival) = (self.fate_words(packet.port, fate), packet.arrival);
            let comment = words.or(inverted.as_deref()).map(str::to_owned);
            self.write(packet.port, arrival, Way::Out, frame, comment.as_deref());
        }
        if fate != Fate::Delivered {
            return;
        }
        let (receiver, at) = (PortId(1 - packet.port.0), departure + lateness);
        let comment = match (packet.copy, inverted) {
            (false, inverted) => inverted,
            (true, None) => Some("a copy made by the link".to_owned()),
            (true, Some(inverted)) => Some(format!("a copy made by the link, {inverted}")),
        };
        let Some(bit) = packet.corrupted_bit else {
            return self.write(receiver, at, Way::In, frame, comment.as_deref());
        };
        let mut received = std::mem::take(&mut self.corrupted);
        received.clear();
        received.extend_from_slice(frame);
        if let Some(byte) = received.get_mut(ETHERNET_BYTES + (bit / 8) as usize) {
            *byte ^= 0x80 >> (bit % 8);
        }
        self.write(receiver, at, Way::In, &received, comment.as_deref());
        self.corrupted = received;
    }

    fn fate_words(&self, sender: PortId, fate: Fate) -> Option<&str> {
        let cause = DropCause::ALL.into_iter().find(|cause| Fate::from(*cause) == fate);
        let dropped = cause.map(|cause| &*self.words[sender.direction().index()][cause.index()]);
        dropped.or((fate == Fate::Held).then_some(HELD))
    }

    fn write(&mut self, port: PortId, at: Instant, way: Way, frame: &[u8], comment: Option<&str>) {
        let Some(capture) = &mut self.captures[usize::from(port.0)] else { return };
        let at_ns = self.offset.to_realtime_ns(at);
        // As with the packet log: the sink only hands on.
        let _ = capture.packet(&pcapng::Packet { interface: INTERFACE, at_ns, way, frame, comment });
    }
}
