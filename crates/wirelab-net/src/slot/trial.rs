//! One trial on a link: the packets that pass it, its log and its captures.

use std::io::Write;
use std::time::Duration;

use wirelab_link::{DropCause, Dropped, Impairment, Instant, Packet, PortId};

use super::Taps;
use crate::clock;
use crate::report::SlotReport;
use crate::socket::{ETHERNET_BYTES, Frame};
use crate::topology::Sides;
use wirelab_capture::flow::Flows;
use wirelab_capture::packet_log::{LogWriter, Outcome, Record};
use wirelab_capture::translation::{Owners, rewritten};

const SPARE_BUFFERS: usize = 1024;
/// The log and the captures are handed to the disk at least so often, so that they can be followed, and a killed process loses no more.
const FLUSH_EVERY: Duration = Duration::from_secs(1);
/// Of an address in an Ethernet header.
const MAC_BYTES: usize = 6;
/// Maximum number of packets that one call hands to the kernel.
const BATCH: usize = 32;

/// A trial's link with its accounts: frames in, frames out. It owns no socket, and reads the clock for timing errors only.
pub struct Trial<W: Write> {
    link: Box<dyn Impairment>,
    log: Option<LogWriter<W>>,
    header_bytes: u8,
    taps: Option<Taps<W>>,
    carried: Carried,
    report: SlotReport,
    /// Where the link tells flows apart.
    flows: Option<Flows>,
    owners: Owners,
    opened: Instant,
    /// The link has been polled up to here.
    polled: Instant,
    sequence: u64,
    /// When the first packet was logged or captured that was not handed to the disk yet.
    unflushed: Option<Instant>,
    /// Packets that have left and wait for the others of their batch, by the place of the port that they go to; empty between calls.
    departing: Vec<Vec<Departing>>,
}

/// Between whom a link carries frames, and what these are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// The hosts.
    pub sides: Sides,
    /// Bytes of each frame before its Ethernet header.
    pub lead: usize,
}

/// A packet that has left the link.
#[derive(Debug)]
pub struct Departing {
    departure: Instant,
    packet: Packet,
    /// Its frame, if that is not the one that came.
    changed: Option<Vec<u8>>,
}

impl AsRef<[u8]> for Departing {
    /// Its frame, as its receiver gets it.
    fn as_ref(&self) -> &[u8] {
        self.changed.as_ref().unwrap_or(&self.packet.data)
    }
}

/// How the kernel treated frames that it was offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// It accepts this many of them, from the first on, at least one: it sends them or its qdisc handles them.
    Taken(usize),
    /// Its qdisc had no room for the first.
    Refused,
    /// The first could not be sent.
    Lost,
}

impl<W: Write> Trial<W> {
    /// A trial of `link` that begins at `now`. `flows` tells flows apart where the link does.
    pub fn new(
        link: Box<dyn Impairment>,
        carried: Carried,
        log: Option<LogWriter<W>>,
        header_bytes: u8,
        taps: Option<Taps<W>>,
        flows: Option<Flows>,
        now: Instant,
    ) -> Self {
        Self {
            link,
            log,
            header_bytes,
            taps,
            carried,
            report: SlotReport::default(),
            flows,
            owners: Owners::default(),
            opened: now,
            polled: now,
            sequence: 0,
            unflushed: None,
            departing: (0..carried.sides.ports()).map(|_| Vec::new()).collect(),
        }
    }

    pub(super) fn opened(&self) -> Instant {
        self.opened
    }

    pub(super) fn clock_stepped(&mut self) {
        self.report.clock_step = true;
    }

    /// When something leaves next, or is to be handed to the disk.
    pub(super) fn timeout(&self) -> Option<Instant> {
        let flush = self.unflushed.map(|since| since + FLUSH_EVERY);
        self.link.poll_timeout().into_iter().chain(flush).min()
    }

    /// Take in a frame that came to the port at this place, into one of the `spare` buffers.
    pub fn receive(&mut self, place: usize, frame: &Frame<'_>, arrival: Instant, spare: &mut Vec<Vec<u8>>) {
        let port = self.carried.sides.port(place);
        if !frame.is_unicast_ip() || self.carried.destination(port, frame.bytes).is_none() {
            return;
        }
        if frame.oversized {
            self.report.oversized += 1;
            return;
        }
        let size = frame.ip_bytes() as u32;
        let counts = &mut self.report.directions[port.direction().index()];
        counts.received += 1;
        counts.received_bytes += u64::from(size);
        let mut data = spare.pop().unwrap_or_default();
        data.clear();
        data.extend_from_slice(frame.bytes);
        let flows = self.flows.as_mut();
        let ip = self.carried.lead + ETHERNET_BYTES;
        let (flow, ends) = flows.map(|flows| flows.read(&data[ip..])).unwrap_or_default();
        let ends = ends.map(Box::new);
        let packet = Packet { data, ends, ..Packet::new(self.sequence, port, size, arrival, flow) };
        self.sequence += 1;
        self.link.handle_packet(packet, arrival);
    }

    /// Send what has left by `until`, or by the last poll if that was later: stamps of two interfaces may cross on their way. `offer` puts frames
    /// on the port at a place.
    pub fn send(
        &mut self,
        until: Instant,
        mut offer: impl FnMut(usize, &[Departing]) -> Offered,
        spare: &mut Vec<Vec<u8>>,
    ) {
        self.polled = self.polled.max(until);
        while let Some((departure, packet)) = self.link.poll_packet(self.polled) {
            let changed = self.changed(&packet);
            let frame = changed.as_ref().unwrap_or(&packet.data);
            let to = self.carried.destination(packet.port, frame).expect("no other packet was let in");
            self.departing[to].push(Departing { departure, packet, changed });
            if self.departing[to].len() == BATCH {
                self.flush(to, &mut offer, spare);
            }
        }
        for to in 0..self.departing.len() {
            self.flush(to, &mut offer, spare);
        }
        while let Some(packet) = self.take_dropped() {
            recycle(packet, spare);
        }
        if self.unflushed.is_some_and(|since| since + FLUSH_EVERY <= self.polled) {
            self.flush_files();
        }
    }

    /// Hand the log and the captures to the disk. An error there is reported when they are closed.
    fn flush_files(&mut self) {
        let _ = self.log.as_mut().map(LogWriter::flush);
        let _ = self.taps.as_mut().map(Taps::flush);
        self.unflushed = None;
    }

    /// Put what has left on the port at its place.
    fn flush(&mut self, to: usize, mut offer: impl FnMut(usize, &[Departing]) -> Offered, spare: &mut Vec<Vec<u8>>) {
        let mut batch = std::mem::take(&mut self.departing[to]);
        while !batch.is_empty() {
            let start = clock::now();
            match offer(to, &batch) {
                Offered::Taken(taken) => {
                    // The kernel takes them one after another: the first immediately, the others spread over the call.
                    let each =
                        if taken > 1 { clock::now().saturating_since(start) / taken as u32 } else { Duration::ZERO };
                    for (departing, place) in batch.drain(..taken).zip(0..) {
                        self.delivered(departing, start, start + each * place, spare);
                    }
                }
                refused => {
                    self.report.kernel_drops += u64::from(refused == Offered::Lost);
                    self.not_taken(batch.remove(0), spare);
                }
            }
        }
        self.departing[to] = batch;
    }

    /// Count and log a packet that was sent at about `sent`, and not before its batch was `offered`.
    fn delivered(&mut self, departing: Departing, offered: Instant, sent: Instant, spare: &mut Vec<Vec<u8>>) {
        let Departing { departure, packet, changed } = departing;
        let lateness = sent.saturating_since(departure);
        let counts = &mut self.report.directions[packet.port.direction().index()];
        counts.delivered += 1;
        counts.delivered_bytes += u64::from(packet.size);
        counts.lateness.add(lateness);
        self.settle(&packet, changed.as_deref(), Outcome::Delivered, departure, lateness, offered);
        recycle(packet, spare);
    }

    /// Count and log a packet that the kernel would not take.
    fn not_taken(&mut self, departing: Departing, spare: &mut Vec<Vec<u8>>) {
        let Departing { departure, packet, changed } = departing;
        self.report.directions[packet.port.direction().index()].dropped[DropCause::QueueFull.index()] += 1;
        self.settle(&packet, changed.as_deref(), Outcome::QueueFull, departure, Duration::ZERO, departure);
        recycle(packet, spare);
    }

    /// The accounts, the log and the captures, with everything still inside recorded as held at `now`, up to which the link has been polled.
    pub fn end(mut self, now: Instant) -> (SlotReport, Option<LogWriter<W>>, Option<Taps<W>>) {
        while self.take_dropped().is_some() {}
        while let Some(packet) = self.link.poll_held() {
            self.report.directions[packet.port.direction().index()].held += 1;
            let changed = self.changed(&packet);
            self.settle(&packet, changed.as_deref(), Outcome::Held, now, Duration::ZERO, now);
        }
        self.report.left_out_of_captures = self.taps.as_ref().map_or(0, Taps::left_out);
        (self.report, self.log, self.taps)
    }

    /// Count and log a packet that was dropped, and return what remains of it.
    fn take_dropped(&mut self) -> Option<Packet> {
        let Dropped { packet, at, cause } = self.link.poll_dropped()?;
        self.report.directions[packet.port.direction().index()].dropped[cause.index()] += 1;
        let changed = self.changed(&packet);
        self.settle(&packet, changed.as_deref(), cause.into(), at, Duration::ZERO, at);
        Some(packet)
    }

    /// Count a copy or a packet of the link's own, and record the outcome of a packet, which its receiver had `at` this instant at the earliest; with its
    /// frame as it left or would have left, if that is not the one that came.
    fn settle(
        &mut self,
        packet: &Packet,
        changed: Option<&[u8]>,
        outcome: Outcome,
        departure: Instant,
        lateness: Duration,
        at: Instant,
    ) {
        let Packet { sequence, port, size, arrival, copy, corrupted_bit, originated, .. } = *packet;
        let lead = self.carried.lead;
        let counts = &mut self.report.directions[port.direction().index()];
        counts.duplicated += u64::from(copy);
        counts.originated += u64::from(originated);
        let came = &packet.data[lead..];
        if let Some(taps) = &mut self.taps {
            taps.settle(packet, came, changed.map_or(came, |frame| &frame[lead..]), outcome, at);
            self.unflushed.get_or_insert(self.polled);
        }
        let Some(log) = &mut self.log else { return };
        let (inside, translated) = self.owners.logged(packet, &came[ETHERNET_BYTES..]);
        let bytes = inside.as_deref().unwrap_or(&came[ETHERNET_BYTES..]);
        let bytes = &bytes[..bytes.len().min(self.header_bytes.into())];
        // An error of the disk is reported when the log is closed; a failure here means that too much waits for the disk.
        let record = Record {
            sequence,
            port,
            outcome,
            translated,
            originated,
            copy,
            corrupted_bit,
            size,
            arrival,
            departure,
            lateness,
        };
        self.report.left_out_of_log += u64::from(log.write(&record, bytes).is_err());
        self.unflushed.get_or_insert(self.polled);
    }

    /// A packet's frame as it leaves, if that is not the one that came: translated, a reset, or with the bit inverted that the link corrupted.
    fn changed(&self, packet: &Packet) -> Option<Vec<u8>> {
        let (lead, ip) = (self.carried.lead, self.carried.lead + ETHERNET_BYTES);
        let mut frame = match rewritten(packet, &packet.data[ip..]) {
            Some(bytes) => [&packet.data[..ip], &bytes].concat(),
            None if packet.corrupted_bit.is_some() => packet.data.clone(),
            None => return None,
        };
        if packet.originated {
            let (destination, source) = frame[lead..][..2 * MAC_BYTES].split_at_mut(MAC_BYTES);
            destination.swap_with_slice(source);
        }
        if let Some(bit) = packet.corrupted_bit
            && let Some(byte) = frame.get_mut(ip + (bit / 8) as usize)
        {
            *byte ^= 0x80 >> (bit % 8);
        }
        Some(frame)
    }
}

impl Carried {
    /// Place of the port at which a frame leaves that came from `from`; none if it is for nobody there.
    fn destination(&self, from: PortId, frame: &[u8]) -> Option<usize> {
        self.sides.destination(from, frame.get(self.lead..)?)
    }
}

fn recycle(packet: Packet, spare: &mut Vec<Vec<u8>>) {
    if spare.len() < SPARE_BUFFERS {
        spare.push(packet.data);
    }
}

#[cfg(test)]
mod tests;
