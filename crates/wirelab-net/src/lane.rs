//! One lane of the link process: two interfaces, and the link between them while a trial runs.
//!
//! A lane carries unicast IP packets. Everything else (ARP, neighbour discovery, multicast) is discarded uncounted: addresses are static, so
//! nothing needs it and it would consume random draws. A lane without a trial discards everything.

use std::io;
use std::time::Duration;

use crossbeam_channel::Receiver;
use wirelab_link::impairment::Impairment;
use wirelab_link::{DropCause, Instant, Packet, PortId};

use crate::clock::{self, RealtimeOffset};
use crate::log_sink::LogSink;
use crate::packet_log::{Fate, LogWriter, Record};
use crate::report::LaneReport;
use crate::socket::{ETHERNET_BYTES, Frame, PacketSocket};

/// Frames taken in one visit, so that one busy lane does not hold up the others.
const FRAMES_PER_VISIT: usize = 64;
/// Visits at the end of a trial, enough for two full rings.
const LAST_VISITS: usize = 64;
const SPARE_BUFFERS: usize = 1024;
/// How often a frame that the kernel refuses for want of buffers is offered again.
const SEND_ATTEMPTS: u32 = 4;

/// What a lane needs to know to run a trial.
pub struct TrialLink {
    /// The link, fresh. Packets enter it at port 0 from the client's side and at port 1 from the server's.
    pub link: Box<dyn Impairment>,
    /// Where records go.
    pub log: Option<LogWriter<LogSink>>,
    /// Bytes of each packet's start, from the IP header on, to log.
    pub header_bytes: u8,
}

/// What is left of a trial's link.
#[derive(Debug)]
pub struct Finished {
    /// What it counted.
    pub report: LaneReport,
    /// Tells when its log is complete on disk.
    pub log: Option<Receiver<io::Result<()>>>,
}

pub(crate) struct Lane {
    ports: [PacketSocket; 2],
    trial: Option<Trial>,
    spare: Vec<Vec<u8>>,
}

struct Trial {
    link: TrialLink,
    report: LaneReport,
    opened: Instant,
    /// The link has been polled up to here.
    polled: Instant,
    sequence: u64,
}

impl Lane {
    pub(crate) fn new(ports: [PacketSocket; 2]) -> Self {
        Self { ports, trial: None, spare: Vec::new() }
    }

    /// Begin a trial. Frames that came before `now` are not part of it.
    pub(crate) fn begin(&mut self, link: TrialLink, now: Instant) {
        for port in &self.ports {
            port.take_drops();
        }
        self.trial = Some(Trial { link, report: LaneReport::default(), opened: now, polled: now, sequence: 0 });
    }

    /// End the trial with all that has arrived and left by `now`; what is still inside is held.
    pub(crate) fn finish(&mut self, now: Instant, offset: RealtimeOffset) -> Option<Finished> {
        let _ = (0..LAST_VISITS).find(|_| self.receive(now, offset) < FRAMES_PER_VISIT);
        let mut trial = self.trial.take()?;
        trial.send(now, &self.ports, &mut self.spare);
        trial.hold(now, self.ports[0].lead());
        trial.report.kernel_drops += self.ports.iter().map(PacketSocket::take_drops).sum::<u64>();
        let log = trial.link.log.and_then(|log| log.finish().ok()).map(LogSink::close);
        Some(Finished { report: trial.report, log })
    }

    /// When something leaves next.
    pub(crate) fn timeout(&self) -> Option<Instant> {
        self.trial.as_ref()?.link.link.poll_timeout()
    }

    pub(crate) fn is_ready(&self) -> bool {
        self.ports.iter().any(PacketSocket::is_ready)
    }

    pub(crate) fn clock_stepped(&mut self) {
        if let Some(trial) = &mut self.trial {
            trial.report.clock_step = true;
        }
    }

    /// Take in what has arrived and send what has left by `now`. Returns how many frames were taken.
    pub(crate) fn advance(&mut self, now: Instant, offset: RealtimeOffset) -> usize {
        let taken = self.receive(now, offset);
        let known = self.known(now, offset);
        if let Some(trial) = &mut self.trial {
            trial.send(known, &self.ports, &mut self.spare);
        }
        taken
    }

    /// Every arrival is taken in up to this instant: `now`, or that of the first frame that still waits. A shared medium polled beyond would
    /// settle who is sent first without it.
    fn known(&self, now: Instant, offset: RealtimeOffset) -> Instant {
        let waiting = self.ports.iter().filter_map(|port| Some(offset.to_monotonic(port.peek()?.stamp_ns)));
        waiting.min().map_or(now, |first| first.min(now))
    }

    /// Both directions are taken in the order of their stamps, for they may share a medium.
    fn receive(&mut self, now: Instant, offset: RealtimeOffset) -> usize {
        for taken in 0..FRAMES_PER_VISIT {
            let stamps = [0, 1].map(|port: usize| self.ports[port].peek().map(|frame| frame.stamp_ns));
            let port = match stamps {
                [None, None] => return taken,
                [Some(first), Some(second)] => usize::from(second < first),
                [first, _] => usize::from(first.is_none()),
            };
            let frame = self.ports[port].peek().expect("it has a stamp");
            let stamp = offset.to_monotonic(frame.stamp_ns);
            if stamp > now && stamp.saturating_since(now) < clock::STEP {
                return taken;
            }
            if let Some(trial) = &mut self.trial
                && stamp >= trial.opened
            {
                trial.receive(port, &frame, stamp.min(now), &mut self.spare);
            }
            self.ports[port].release();
        }
        FRAMES_PER_VISIT
    }
}

impl Trial {
    fn receive(&mut self, port: usize, frame: &Frame<'_>, arrival: Instant, spare: &mut Vec<Vec<u8>>) {
        if !frame.is_unicast_ip() {
            return;
        }
        if frame.oversized {
            self.report.oversized += 1;
            return;
        }
        let size = frame.ip_bytes() as u32;
        let counts = &mut self.report.directions[port];
        counts.received += 1;
        counts.received_bytes += u64::from(size);
        let mut data = spare.pop().unwrap_or_default();
        data.clear();
        data.extend_from_slice(frame.bytes);
        let packet = Packet { sequence: self.sequence, port: PortId(port as u16), size, arrival, data };
        self.sequence += 1;
        self.link.link.handle_packet(packet, arrival);
    }

    /// Send what has left by `until`, or by the last poll if that was later: stamps of two interfaces may cross on their way.
    fn send(&mut self, until: Instant, ports: &[PacketSocket; 2], spare: &mut Vec<Vec<u8>>) {
        self.polled = self.polled.max(until);
        while let Some((departure, packet)) = self.link.link.poll_packet(self.polled) {
            let lateness = clock::now().saturating_since(departure);
            let port = usize::from(packet.port.0);
            let counts = &mut self.report.directions[port];
            let fate = if offer(&ports[1 - port], &packet.data) {
                counts.delivered += 1;
                counts.delivered_bytes += u64::from(packet.size);
                counts.lateness.add(lateness);
                Fate::Delivered
            } else {
                counts.queue_full += 1;
                self.report.kernel_drops += 1;
                Fate::QueueFull
            };
            let lateness = if fate == Fate::Delivered { lateness } else { Duration::ZERO };
            self.log(&packet, fate, departure, lateness, ports[port].lead());
            recycle(packet, spare);
        }
        while let Some(dropped) = self.link.link.poll_dropped() {
            let port = usize::from(dropped.packet.port.0);
            let counts = &mut self.report.directions[port];
            match dropped.cause {
                DropCause::Loss => counts.lost += 1,
                DropCause::QueueFull => counts.queue_full += 1,
            }
            self.log(&dropped.packet, dropped.cause.into(), dropped.at, Duration::ZERO, ports[port].lead());
            recycle(dropped.packet, spare);
        }
    }

    /// Record everything still inside as held at `now`, by letting virtual time run until the link is empty.
    fn hold(&mut self, now: Instant, lead: usize) {
        let mut virtual_now = now;
        while let Some(timeout) = self.link.link.poll_timeout() {
            virtual_now = timeout.max(virtual_now + Duration::from_nanos(1));
            while let Some((_, packet)) = self.link.link.poll_packet(virtual_now) {
                self.log_held(&packet, now, lead);
            }
            while let Some(dropped) = self.link.link.poll_dropped() {
                self.log_held(&dropped.packet, now, lead);
            }
        }
    }

    fn log_held(&mut self, packet: &Packet, now: Instant, lead: usize) {
        self.report.directions[usize::from(packet.port.0)].held += 1;
        self.log(packet, Fate::Held, now, Duration::ZERO, lead);
    }

    fn log(&mut self, packet: &Packet, fate: Fate, departure: Instant, lateness: Duration, lead: usize) {
        let Some(log) = &mut self.link.log else { return };
        let Packet { sequence, port, size, arrival, .. } = *packet;
        let bytes = &packet.data[lead + ETHERNET_BYTES..];
        let bytes = &bytes[..bytes.len().min(self.link.header_bytes.into())];
        // The sink only hands on; what goes wrong on disk is told when the log is closed.
        let _ = log.write(&Record { sequence, port, fate, size, arrival, departure, lateness }, bytes);
    }
}

/// True if the kernel took the frame.
fn offer(socket: &PacketSocket, frame: &[u8]) -> bool {
    (0..SEND_ATTEMPTS).any(|_| socket.send(frame).is_ok())
}

fn recycle(packet: Packet, spare: &mut Vec<Vec<u8>>) {
    if spare.len() < SPARE_BUFFERS {
        spare.push(packet.data);
    }
}
