//! One trial on a link: the packets that pass it, its log and its captures.

use std::io::Write;
use std::time::Duration;

use wirelab_link::{DropCause, Dropped, Flow, Impairment, Instant, Packet, PortId, Resting};

use super::Taps;
use super::rest::{Pending, Settled};
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
pub(super) const MAC_BYTES: usize = 6;
/// Maximum number of packets that one call hands to the kernel.
const BATCH: usize = 32;

/// A trial's link with its accounts: frames in, frames out. It owns no socket, and reads the clock for timing errors only.
pub struct Trial<W: Write> {
    link: Resting,
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
    /// Clients may ask for a rest.
    rests: bool,
    pending: Option<Pending>,
    /// When a packet last came, left or was dropped.
    active: Instant,
    /// To requests, each by the place of the port that it goes to.
    answers: Vec<(usize, Departing)>,
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
            link: Resting::new(link),
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
            rests: false,
            pending: None,
            active: now,
            answers: Vec::new(),
        }
    }

    /// The same, and the link rests if a client asks for it.
    #[must_use]
    pub fn resting(mut self) -> Self {
        self.rests = true;
        self
    }

    pub(super) fn opened(&self) -> Instant {
        self.opened
    }

    pub(super) fn clock_stepped(&mut self) {
        self.report.clock_step = true;
    }

    /// When something leaves next, a request is settled, or something is to be handed to the disk.
    pub(super) fn timeout(&self) -> Option<Instant> {
        let flush = self.unflushed.map(|since| since + FLUSH_EVERY);
        let settles = self.settles().map(|(at, _)| at);
        self.link.poll_timeout().into_iter().chain(flush).chain(settles).min()
    }

    /// Take in a frame that came to the port at this place, into one of the `spare` buffers.
    pub fn receive(&mut self, place: usize, frame: &Frame<'_>, arrival: Instant, spare: &mut Vec<Vec<u8>>) {
        let port = self.carried.sides.port(place);
        if !frame.is_unicast_ip() || self.carried.destination(port, frame.bytes).is_none() {
            return;
        }
        self.settle_request(arrival, spare);
        if self.rests && self.takes_request(place, frame, arrival) {
            return;
        }
        self.active = self.active.max(arrival);
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
        self.settle_request(until, spare);
        self.polled = self.polled.max(until);
        while let Some(to) = self.take_departed() {
            if self.departing[to].len() >= BATCH {
                self.flush(to, &mut offer, spare);
            }
        }
        for to in 0..self.departing.len() {
            self.flush(to, &mut offer, spare);
        }
        self.recycle_dropped(spare);
        for (to, answer) in std::mem::take(&mut self.answers) {
            self.report.kernel_drops += u64::from(offer(to, &[answer]) != Offered::Taken(1));
        }
        if self.unflushed.is_some_and(|since| since + FLUSH_EVERY <= self.polled) {
            self.flush_files();
        }
    }

    /// Take a packet that has left by the last poll, and return the place of the port at which it waits for the others of its batch.
    fn take_departed(&mut self) -> Option<usize> {
        let (departure, packet) = self.link.poll_packet(self.polled)?;
        self.active = self.active.max(departure);
        let changed = self.changed(&packet);
        let frame = changed.as_ref().unwrap_or(&packet.data);
        let to = self.carried.destination(packet.port, frame).expect("no other packet was let in");
        self.departing[to].push(Departing { departure, packet, changed });
        Some(to)
    }

    fn recycle_dropped(&mut self, spare: &mut Vec<Vec<u8>>) {
        while let Some(packet) = self.take_dropped() {
            recycle(packet, spare);
        }
    }

    /// True if the frame is a request to rest, which is then no packet of the trial.
    fn takes_request(&mut self, place: usize, frame: &Frame<'_>, arrival: Instant) -> bool {
        let Some(request) = Pending::of(place, frame.bytes, self.carried.lead, arrival) else { return false };
        if self.pending.is_some() {
            self.answer(&request, Settled::Refused, arrival);
        } else {
            self.pending = Some(request);
        }
        true
    }

    /// When the pending request is settled and how, if nothing comes or leaves before.
    fn settles(&self) -> Option<(Instant, Settled)> {
        let request = self.pending.as_ref()?;
        Some(request.settles((self.link.inside() == 0).then_some(self.active)))
    }

    /// Settle the pending request if that is due by `until`, at its own instant, up to which everything has come: what leaves before it goes first.
    fn settle_request(&mut self, until: Instant, spare: &mut Vec<Vec<u8>>) {
        while self.pending.is_some() {
            while self.take_departed().is_some() {}
            self.recycle_dropped(spare);
            let Some((at, settled)) = self.settles() else { return };
            let leaves = self.link.poll_timeout().filter(|due| self.polled < *due && *due < at);
            let next = leaves.unwrap_or(at);
            if next > until {
                return;
            }
            self.polled = self.polled.max(next);
            if leaves.is_none()
                && let Some(request) = self.pending.take()
            {
                let settled = self.rest(settled, at);
                self.answer(&request, settled, at);
            }
        }
    }

    /// Put the link's clock forward, if that is what was settled, and log it.
    fn rest(&mut self, settled: Settled, at: Instant) -> Settled {
        let Settled::Rested(gap) = settled else { return settled };
        if self.link.rest(gap).is_err() {
            return Settled::Refused;
        }
        self.report.rests += 1;
        self.report.rested += gap;
        if let Some(log) = &mut self.log {
            self.report.left_out_of_log += u64::from(log.write(&Record::rest(self.sequence, at, gap), &[]).is_err());
            self.unflushed.get_or_insert(self.polled);
        }
        settled
    }

    fn answer(&mut self, request: &Pending, settled: Settled, at: Instant) {
        if let Some(data) = request.answer(settled) {
            let port = self.carried.sides.port(request.place);
            let packet = Packet { data, ..Packet::new(self.sequence, port, 0, at, Flow::default()) };
            self.answers.push((request.place, Departing { departure: at, packet, changed: None }));
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
        self.active = self.active.max(at);
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
