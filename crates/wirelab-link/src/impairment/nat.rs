use std::collections::HashMap;
use std::time::Duration;

use super::outlet::Outlet;
use crate::packet::{Flow, Transport};
use crate::{Counters, Direction, DropCause, Dropped, Impairment, Instant, Packet};

/// Address translation as Linux's connection tracking does it: a mapping for each flow, which keeps its ports.
///
/// An uplink packet makes or refreshes its flow's mapping (RFC 4787, REQ-6: refresh by outbound packets is a MUST), in the middle of a TCP
/// connection too (`nf_conntrack_tcp_loose`). A downlink packet passes with a mapping, which it refreshes as well (REQ-6a: a MAY, which Linux
/// does), and is dropped without. A mapping ends when no packet has used it for its idle time-out; what is neither TCP nor UDP has UDP's.
///
/// It sees no headers: a TCP connection that has been closed keeps its mapping for the whole time-out. Linux's shorter time-out of UDP flows that
/// had no answer yet is not modelled.
#[derive(Debug)]
pub struct Nat {
    udp: Duration,
    tcp: Duration,
    /// For each flow, when a packet of it passed last.
    mappings: HashMap<Flow, Instant>,
    outlet: Outlet,
}

impl Nat {
    /// Mappings that end after these times without a packet.
    pub fn new(udp: Duration, tcp: Duration) -> Self {
        Self { udp, tcp, mappings: HashMap::new(), outlet: Outlet::default() }
    }

    fn is_mapped(&self, flow: Flow, now: Instant) -> bool {
        let timeout = if flow.transport == Transport::Tcp { self.tcp } else { self.udp };
        self.mappings.get(&flow).is_some_and(|passed| now.saturating_since(*passed) < timeout)
    }
}

impl Impairment for Nat {
    fn handle_packet(&mut self, packet: Packet, now: Instant) {
        self.outlet.receive();
        if packet.port.direction() == Direction::Uplink || self.is_mapped(packet.flow, now) {
            self.mappings.insert(packet.flow, now);
            self.outlet.depart(packet, now);
        } else {
            self.outlet.drop(packet, now, DropCause::Nat);
        }
    }

    fn poll_packet(&mut self, now: Instant) -> Option<(Instant, Packet)> {
        self.outlet.poll_packet(now)
    }

    fn poll_dropped(&mut self) -> Option<Dropped> {
        self.outlet.poll_dropped()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.outlet.poll_timeout()
    }

    /// An uplink packet that comes late cannot save a downlink packet that was dropped already.
    fn settles_when_polled(&self) -> bool {
        true
    }

    fn poll_held(&mut self) -> Option<Packet> {
        self.outlet.poll_held()
    }

    fn counters(&self) -> Counters {
        self.outlet.counters(0)
    }
}
