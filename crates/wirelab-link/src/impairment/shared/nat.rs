//! Address translation.

use std::collections::HashMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Position, Shared};
use crate::facts::{Kept, SharedFacts};
use crate::impairment::spec::SharedSpec;
use crate::impairment::stage_exit::StageExit;
use crate::packet::{Flow, Transport};
use crate::spec::{Choices, Place, SpecError, words};
use crate::{Counters, Direction, DropCause, Dropped, Impairment, Instant, Packet, Seed};

const ABOUT: &str = "Address translation at the far end of the path, as Linux's connection tracking does it: a mapping for each flow, which \
    keeps its ports (RFC 4787; RFC 5382 for TCP). An uplink packet makes or refreshes its flow's mapping (RFC 4787, REQ-6), in the middle of a TCP \
    connection too; a downlink packet passes with a mapping, which it refreshes, and is dropped without. An ICMP error belongs to the flow of the \
    packet that it tells of (RFC 5508). A mapping ends when no packet has used it for its idle time; what is neither TCP nor UDP has that of UDP. TCP's \
    closing a connection does not end its mapping.";

/// Address translation that keeps ports, as Linux's does: a mapping begins with an uplink packet and ends after a time without packets; downlink
/// packets without a mapping are dropped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NatSpec {
    /// Idle time after which a UDP mapping ends (RFC 4787, REQ-5: at least 2 minutes).
    pub udp_timeout_ns: u64,
    /// Idle time after which a TCP mapping ends (RFC 5382, REQ-5: at least 2 hours 4 minutes).
    pub tcp_timeout_ns: u64,
}

impl SharedSpec for NatSpec {
    const ABOUT: &'static str = ABOUT;
    const POSITION: Position = Position::Far;

    fn build(&self, _seed: Seed, _at: &Place) -> Result<Box<dyn Shared>, SpecError> {
        let [udp, tcp] = [self.udp_timeout_ns, self.tcp_timeout_ns].map(Duration::from_nanos);
        Ok(Box::new(Nat::new(udp, tcp)))
    }

    fn facts(&self) -> SharedFacts {
        let [udp, tcp] = [self.udp_timeout_ns, self.tcp_timeout_ns].map(words::time);
        SharedFacts {
            key: "nat".to_owned(),
            words: format!("an address mapping ends after {udp} (UDP) or {tcp} (TCP) idle"),
            rate_bps: None,
            service: vec![],
            airtime: None,
            frame_loss: 0.0,
            random: false,
            contends: false,
            queue: None,
            sleeps: vec![],
            opened_by_uplink: true,
            silence_ns: Some(self.udp_timeout_ns),
            silence_words: Some("NAT time-out".to_owned()),
            tells_flows_apart: true,
            keeps: [vec![], vec![Kept::Nat]],
        }
    }

    fn added_bytes(&self, _size: u32) -> Option<i64> {
        None
    }

    fn examples() -> Vec<Self> {
        vec![Self { udp_timeout_ns: 120_000_000_000, tcp_timeout_ns: 7_440_000_000_000 }]
    }

    fn arbitrary(choices: &mut Choices<'_>) -> Self {
        Self { udp_timeout_ns: choices.micros(0..100_000), tcp_timeout_ns: choices.micros(0..100_000) }
    }
}

/// The smallest number of mappings at which expired ones are removed.
const MIN_SWEEP: usize = 1024;

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
    /// When there are so many mappings, those that have ended are removed.
    sweep_at: usize,
    exit: StageExit,
}

impl Nat {
    /// Mappings that end after these times without a packet.
    pub fn new(udp: Duration, tcp: Duration) -> Self {
        Self { udp, tcp, mappings: HashMap::new(), sweep_at: MIN_SWEEP, exit: StageExit::default() }
    }

    fn is_mapped(&self, flow: Flow, now: Instant) -> bool {
        self.mappings.get(&flow).is_some_and(|passed| now.saturating_since(*passed) < self.timeout(flow))
    }

    fn timeout(&self, flow: Flow) -> Duration {
        if flow.transport == Transport::Tcp { self.tcp } else { self.udp }
    }

    /// Make or refresh a mapping. Those that have ended are removed whenever there are twice as many as there were left the last time.
    fn map(&mut self, flow: Flow, now: Instant) {
        self.mappings.insert(flow, now);
        if self.mappings.len() >= self.sweep_at {
            let mut mappings = std::mem::take(&mut self.mappings);
            mappings.retain(|flow, passed| now.saturating_since(*passed) < self.timeout(*flow));
            self.sweep_at = MIN_SWEEP.max(2 * mappings.len());
            self.mappings = mappings;
        }
    }
}

impl Impairment for Nat {
    fn handle_packet(&mut self, packet: Packet, now: Instant) {
        self.exit.receive();
        if packet.port.direction() == Direction::Uplink || self.is_mapped(packet.flow, now) {
            self.map(packet.flow, now);
            self.exit.depart(packet, now);
        } else {
            self.exit.drop(packet, now, DropCause::Nat);
        }
    }

    fn poll_packet(&mut self, now: Instant) -> Option<(Instant, Packet)> {
        self.exit.poll_packet(now)
    }

    fn poll_dropped(&mut self) -> Option<Dropped> {
        self.exit.poll_dropped()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.exit.poll_timeout()
    }

    /// An uplink packet that comes late cannot save a downlink packet that was dropped already.
    fn settles_when_polled(&self) -> bool {
        true
    }

    fn poll_held(&mut self) -> Option<Packet> {
        self.exit.poll_held()
    }

    fn counters(&self) -> Counters {
        self.exit.counters(0)
    }
}

impl Shared for Nat {
    fn position(&self) -> Position {
        NatSpec::POSITION
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PortId;

    #[test]
    fn mappings_that_have_ended_do_not_pile_up() {
        let mut nat = Nat::new(Duration::from_millis(1), Duration::from_millis(1));
        for id in 0..100_000 {
            let now = Instant::from_nanos(id * 10_000);
            let flow = Flow { id, transport: Transport::Udp };
            nat.handle_packet(Packet::new(id, PortId(0), 100, now, flow), now);
            assert!(nat.poll_packet(now).is_some() && nat.is_mapped(flow, now));
            assert!(nat.mappings.len() <= MIN_SWEEP);
        }
    }
}
