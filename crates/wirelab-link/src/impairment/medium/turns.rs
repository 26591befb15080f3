use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::ops::Bound::{Excluded, Unbounded};

use crate::impairment::outlet::Outlet;
use crate::impairment::serialiser::Serialiser;
use crate::queue::{DropTail, Limit, Waiting};
use crate::{Counters, DropCause, Dropped, Impairment, Instant, Packet, PortId};

/// A half-duplex serialiser that all stations share: one packet at a time, each station behind its own drop-tail queue, served in turn.
///
/// When a packet has been sent, the turn goes round robin to the next station (by port, after the last one served) whose queue holds a packet
/// that arrived before that instant; so a station's backlog delays another one's packet by one packet only, as it does where they contend for
/// the air. A packet that finds the medium free is sent at once. Each station's `queue` is behind the packet being sent.
#[derive(Debug)]
pub(super) struct Turns {
    serialiser: Serialiser,
    overhead_bytes: u32,
    queue: Limit,
    queues: BTreeMap<PortId, DropTail<Waiting>>,
    /// The packet being sent, and when it will have been.
    sending: Option<(Instant, Packet)>,
    outlet: Outlet,
}

impl Turns {
    /// Each station is behind such a `queue`; each packet counts with `overhead_bytes` on top of its IP bytes.
    pub(super) fn new(rate_bps: NonZeroU64, queue: Limit, overhead_bytes: u32) -> Self {
        Self {
            serialiser: Serialiser::new(rate_bps),
            overhead_bytes,
            queue,
            queues: BTreeMap::new(),
            sending: None,
            outlet: Outlet::default(),
        }
    }

    fn advance(&mut self, now: Instant) {
        while let Some((sent, packet)) = self.sending.take_if(|(sent, _)| *sent <= now) {
            if let Some(next) = self.next_after(packet.port.station()) {
                self.send(next);
            }
            self.outlet.depart(packet, sent);
        }
    }

    fn next_after(&mut self, last: PortId) -> Option<Waiting> {
        let later = self.queues.range((Excluded(last), Unbounded));
        let port =
            later.chain(self.queues.range(..=last)).find(|(_, queue)| !queue.is_empty()).map(|(port, _)| *port)?;
        self.queues.get_mut(&port)?.pop()
    }

    fn send(&mut self, Waiting { packet, bytes, arrival }: Waiting) {
        let sent = self.serialiser.send(bytes, arrival);
        self.sending = Some((sent, packet));
    }
}

impl Impairment for Turns {
    fn handle_packet(&mut self, packet: Packet, now: Instant) {
        self.advance(now);
        self.outlet.receive();
        let bytes = u64::from(packet.size) + u64::from(self.overhead_bytes);
        let waiting = Waiting { packet, bytes, arrival: now };
        if self.sending.is_none() {
            self.send(waiting);
            return;
        }
        let queue = self.queues.entry(waiting.packet.port.station()).or_insert(DropTail::new(self.queue));
        if let Err(refused) = queue.push(bytes, waiting) {
            self.outlet.drop(refused.packet, now, DropCause::QueueFull);
        }
    }

    fn poll_packet(&mut self, now: Instant) -> Option<(Instant, Packet)> {
        self.advance(now);
        self.outlet.poll_packet(now)
    }

    fn poll_dropped(&mut self) -> Option<Dropped> {
        self.outlet.poll_dropped()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.outlet.poll_timeout().or(self.sending.as_ref().map(|(sent, _)| *sent))
    }

    fn poll_held(&mut self) -> Option<Packet> {
        let sending = self.sending.take().map(|(_, packet)| packet);
        let held = self.outlet.poll_held().or(sending);
        held.or_else(|| self.queues.values_mut().find_map(DropTail::pop).map(|waiting| waiting.packet))
    }

    fn counters(&self) -> Counters {
        let queued: usize = self.queues.values().map(DropTail::len).sum();
        self.outlet.counters(queued + usize::from(self.sending.is_some()))
    }
}
