//! One link of a slot, in the link process: the interfaces of its hosts, and what is between them while a trial runs. A slot of several links has as
//! many of these, which know nothing of one another.
//!
//! A link carries IP packets to one host of the other side. Everything else (ARP, neighbour discovery, multicast) is discarded uncounted: addresses
//! are static, so nothing needs it and it would consume random draws. Without a trial everything is discarded.

mod rest;
mod taps;
mod trial;

use std::io;

use crossbeam_channel::Receiver;
use nix::libc;
use wirelab_link::Instant;
use wirelab_link::impairment::Impairment;

use crate::clock::{self, RealtimeOffset};
use crate::log_sink::LogSink;
use crate::report::SlotReport;
use crate::socket::PacketSocket;
use crate::topology::{Ports, Sides};
pub use taps::{DropWords, Taps};
pub use trial::{Carried, Departing, Offered, Trial};
use wirelab_capture::flow::Flows;
use wirelab_capture::packet_log::LogWriter;

/// Frames taken in one visit, so that one busy slot does not hold up the others.
const FRAMES_PER_VISIT: usize = 64;
/// How often a frame that the kernel refuses for want of buffers is offered again.
const SEND_ATTEMPTS: u32 = 4;

/// The input of a trial in a slot.
pub struct TrialLink {
    /// The link in its initial state. Packets enter it at even ports from the near side and at odd ones from the far side.
    pub link: Box<dyn Impairment>,
    /// Where records go.
    pub log: Option<LogWriter<LogSink>>,
    /// Bytes of each packet's start, from the IP header on, to log. A replay of stages that tell flows apart takes
    /// [`FLOW_BYTES`](wirelab_capture::flow::FLOW_BYTES).
    pub header_bytes: u8,
    /// What becomes of a packet depends on its flow.
    pub tells_flows_apart: bool,
    /// Where whole packets go.
    pub taps: Option<Taps<LogSink>>,
    /// Qdiscs of the interfaces continue with packets that leave the link. A packet that they refuse was dropped there for lack of room.
    pub shaped: bool,
    /// The link's clock is put forward if a client asks for it (`wirelab_schema::RestRequest`).
    pub rests: bool,
}

/// The result of a trial's link.
#[derive(Debug)]
pub struct Finished {
    /// What it counted.
    pub report: SlotReport,
    /// Tells when its log is complete on disk.
    pub log: Option<Receiver<io::Result<()>>>,
    /// Each tells when a capture is on disk, ready to be [completed](wirelab_capture::pcapng::complete).
    pub captures: Vec<Receiver<io::Result<()>>>,
}

pub(crate) struct Slot {
    sides: Sides,
    /// By place.
    ports: Vec<PacketSocket>,
    trial: Option<Trial<LogSink>>,
    /// See [`TrialLink::shaped`].
    shaped: bool,
    /// Buffers of packets that are gone.
    spare: Vec<Vec<u8>>,
}

impl Slot {
    pub(crate) fn new(Ports { sides, sockets: ports }: Ports) -> Self {
        Self { sides, ports, trial: None, shaped: false, spare: Vec::new() }
    }

    /// Begin a trial. Frames that came before `now` are not part of it.
    pub(crate) fn begin(&mut self, link: TrialLink, now: Instant) {
        for port in &self.ports {
            port.take_drops();
        }
        let TrialLink { link, log, header_bytes, tells_flows_apart, taps, shaped, rests } = link;
        let flows = tells_flows_apart.then(Flows::default);
        self.shaped = shaped;
        let carried = Carried { sides: self.sides, lead: self.ports[0].lead() };
        let trial = Trial::new(link, carried, log, header_bytes, taps, flows, now);
        self.trial = Some(if rests { trial.resting() } else { trial });
    }

    /// End the trial with all that has arrived and left by `now`; what is still inside is held.
    pub(crate) fn finish(&mut self, now: Instant, offset: RealtimeOffset) -> Option<Finished> {
        let frames = self.ports.iter().map(PacketSocket::frames).sum();
        take_all(frames, || self.receive(now, offset));
        let mut trial = self.trial.take()?;
        trial.send(now, |port, frames| offer(&mut self.ports[port], frames, self.shaped), &mut self.spare);
        let (mut report, log, taps) = trial.end(now);
        report.kernel_drops += self.ports.iter().map(PacketSocket::take_drops).sum::<u64>();
        let captures = taps.into_iter().flat_map(|taps| taps.finish(now)).map(LogSink::close).collect();
        Some(Finished { report, log: log.and_then(|log| log.finish().ok()).map(LogSink::close), captures })
    }

    /// When something leaves next.
    pub(crate) fn timeout(&self) -> Option<Instant> {
        self.trial.as_ref()?.timeout()
    }

    pub(crate) fn clock_stepped(&mut self) {
        if let Some(trial) = &mut self.trial {
            trial.clock_stepped();
        }
    }

    /// Take in what has arrived and send what has left by `now`. Returns how many frames were taken.
    pub(crate) fn advance(&mut self, now: Instant, offset: RealtimeOffset) -> usize {
        let taken = self.receive(now, offset);
        let known = self.known(now, offset);
        if let Some(trial) = &mut self.trial {
            trial.send(known, |port, frames| offer(&mut self.ports[port], frames, self.shaped), &mut self.spare);
        }
        taken
    }

    /// Every arrival is taken in up to this instant: `now`, or that of the first frame that still waits. A shared medium polled beyond would
    /// determine the order of sending without it.
    fn known(&self, now: Instant, offset: RealtimeOffset) -> Instant {
        let waiting = self.ports.iter().filter_map(|port| Some(offset.to_monotonic(port.peek()?.stamp_ns)));
        waiting.min().map_or(now, |first| first.min(now))
    }

    /// All hosts' frames are taken in the order of their stamps, for they may share a medium.
    fn receive(&mut self, now: Instant, offset: RealtimeOffset) -> usize {
        for taken in 0..FRAMES_PER_VISIT {
            let stamped = |(port, socket): (usize, &PacketSocket)| Some((socket.peek()?.stamp_ns, port));
            let Some((_, port)) = self.ports.iter().enumerate().filter_map(stamped).min() else { return taken };
            let frame = self.ports[port].peek().expect("it has a stamp");
            let stamp = offset.to_monotonic(frame.stamp_ns);
            if stamp > now && stamp.saturating_since(now) < clock::STEP {
                return taken;
            }
            if let Some(trial) = &mut self.trial
                && stamp >= trial.opened()
            {
                trial.receive(port, &frame, stamp.min(now), &mut self.spare);
            }
            self.ports[port].release();
        }
        FRAMES_PER_VISIT
    }
}

/// Visit until nothing has arrived any more. What arrives meanwhile has no end where the clock was stepped and stamps are all taken to be past: then
/// until rings that hold so many `frames` must have been emptied.
fn take_all(frames: usize, mut visit: impl FnMut() -> usize) {
    let _ = (0..=frames / FRAMES_PER_VISIT).find(|_| visit() < FRAMES_PER_VISIT);
}

/// Offer frames to the kernel. Where a qdisc decides, one by one and each only once, for it counts every time.
fn offer(socket: &mut PacketSocket, frames: &[Departing], shaped: bool) -> Offered {
    if !shaped {
        let taken = (0..SEND_ATTEMPTS).map(|_| socket.send(frames)).find(|taken| *taken > 0);
        return taken.map_or(Offered::Lost, Offered::Taken);
    }
    match socket.send_one(frames[0].as_ref()) {
        Ok(()) => Offered::Taken(1),
        Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => Offered::Refused,
        Err(_) => Offered::Lost,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_trial_takes_what_waits_in_full_rings_and_no_more_than_they_hold() {
        for frames in [64, 100, 2 * 4_096, 254 * 4_096] {
            let visit = |left: &mut usize| {
                let taken = (*left).min(FRAMES_PER_VISIT);
                *left -= taken;
                taken
            };
            let (mut full, mut endless) = (frames, usize::MAX);
            take_all(frames, || visit(&mut full));
            assert_eq!(full, 0, "of {frames}");
            take_all(frames, || visit(&mut endless));
            assert!(usize::MAX - endless <= frames + FRAMES_PER_VISIT, "of {frames}");
        }
    }
}
