//! Address translation.

mod table;

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::table::{Dependence, Rules, Unmapped};
use self::table::{Table, Verdict};
use super::{Position, Shared};
use crate::facts::{Kept, SharedFacts};
use crate::impairment::spec::SharedSpec;
use crate::impairment::stage_exit::StageExit;
use crate::spec::{Choices, Place, SpecError, words};
use crate::{Counters, Direction, DropCause, Dropped, Impairment, Instant, Packet, PortId, Seed};

const ABOUT: &str = "Address translation at the far end of the path (RFC 4787; RFC 5382 for TCP; RFC 5508 for ICMP). An uplink packet makes or refreshes \
    a mapping, which gives its source another port. A downlink packet passes with a mapping, to the mapping's host, and is dropped without. A \
    mapping ends when no packet has refreshed it for its idle time, and the next uplink packet gets another port. A TCP segment that opens nothing and \
    has no mapping is dropped, or answered by a reset. An ICMP error follows the packet that it tells of, and refreshes nothing. What is neither TCP nor UDP \
    keeps its address and has the idle time of UDP. Each host keeps its address.";

/// IP and TCP headers of a reset (RFC 791, RFC 8200, RFC 9293).
const RESET_BYTES: [u32; 2] = [40, 60];

/// Address translation in the terms of RFC 4787 and RFC 5382: a mapping begins with an uplink packet and ends after a time without packets, and the next
/// one has another port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NatSpec {
    /// Which destinations share a mapping (RFC 4787, REQ-1).
    pub mapping: Dependence,
    /// Which remote ends may send through a mapping (RFC 4787, REQ-8).
    pub filtering: Dependence,
    /// Idle time after which a mapping of UDP ends (RFC 4787, REQ-5: at least 2 minutes).
    pub udp_timeout_ns: u64,
    /// Idle time after which the mapping of a TCP connection ends that opens or closes (RFC 5382, REQ-5: at least 4 minutes).
    pub tcp_transitory_timeout_ns: u64,
    /// Idle time after which the mapping of an established TCP connection ends (RFC 5382, REQ-5: at least 2 hours 4 minutes).
    pub tcp_established_timeout_ns: u64,
    /// Packets from outside refresh a mapping too (RFC 4787, REQ-6).
    pub inbound_refresh: bool,
    /// A mapping has its host's own port if that is free (RFC 4787, section 4.2.1).
    pub keep_port: bool,
    /// The first and the last port that mappings have otherwise.
    pub ports: [u16; 2],
    /// The most mappings at a time.
    pub table_size: u32,
    /// What becomes of a TCP segment without a mapping that opens no connection.
    pub unmapped_segment: Unmapped,
}

impl NatSpec {
    /// How it behaves.
    pub fn rules(&self) -> Rules {
        Rules {
            mapping: self.mapping,
            filtering: self.filtering,
            udp: Duration::from_nanos(self.udp_timeout_ns),
            tcp_transitory: Duration::from_nanos(self.tcp_transitory_timeout_ns),
            tcp_established: Duration::from_nanos(self.tcp_established_timeout_ns),
            inbound_refreshes: self.inbound_refresh,
            keeps_ports: self.keep_port,
            ports: self.ports[0]..=self.ports[1],
            size: self.table_size as usize,
            unmapped: self.unmapped_segment,
        }
    }
}

impl SharedSpec for NatSpec {
    const ABOUT: &'static str = ABOUT;
    const POSITION: Position = Position::Far;

    fn build(&self, seed: Seed, at: &Place) -> Result<Box<dyn Shared>, SpecError> {
        let [first, last] = self.ports;
        if first == 0 || first > last {
            return Err(at.key("ports").error(format!("{first} to {last} is no range of ports from 1 to 65535")));
        }
        let timeouts = [
            ("udp_timeout_ns", self.udp_timeout_ns),
            ("tcp_transitory_timeout_ns", self.tcp_transitory_timeout_ns),
            ("tcp_established_timeout_ns", self.tcp_established_timeout_ns),
        ];
        if let Some((key, _)) = timeouts.into_iter().find(|(_, timeout)| *timeout == 0) {
            return Err(at.key(key).error("a mapping that ends at once lets nothing in"));
        }
        Ok(Box::new(Nat::new(self.rules(), seed)))
    }

    fn facts(&self) -> SharedFacts {
        let [udp, tcp] = [self.udp_timeout_ns, self.tcp_established_timeout_ns].map(words::time);
        let port = if self.keep_port { "its port if that is free" } else { "another port" };
        SharedFacts {
            key: "nat".to_owned(),
            words: format!("an address mapping ends after {udp} (UDP) or {tcp} (TCP) idle, and the next has {port}"),
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
            keeps: [vec![Kept::Nat], vec![Kept::Nat]],
        }
    }

    fn added_bytes(&self, _size: u32) -> Option<i64> {
        None
    }

    fn examples() -> Vec<Self> {
        vec![Self {
            mapping: Dependence::EndpointIndependent,
            filtering: Dependence::AddressDependent,
            udp_timeout_ns: 120_000_000_000,
            tcp_transitory_timeout_ns: 240_000_000_000,
            tcp_established_timeout_ns: 7_440_000_000_000,
            inbound_refresh: true,
            keep_port: true,
            ports: [1024, 65535],
            table_size: 1000,
            unmapped_segment: Unmapped::Drop,
        }]
    }

    fn arbitrary(choices: &mut Choices<'_>) -> Self {
        const KINDS: [Dependence; 3] =
            [Dependence::EndpointIndependent, Dependence::AddressDependent, Dependence::AddressAndPortDependent];
        let mut kind = || KINDS[choices.number(0..3) as usize];
        let (mapping, filtering) = (kind(), kind());
        let first = choices.number(1..65_000) as u16;
        Self {
            mapping,
            filtering,
            udp_timeout_ns: choices.micros(1..100_000),
            tcp_transitory_timeout_ns: choices.micros(1..100_000),
            tcp_established_timeout_ns: choices.micros(1..100_000),
            inbound_refresh: choices.flag(),
            keep_port: choices.flag(),
            ports: [first, first + choices.number(0..500) as u16],
            table_size: choices.small(1..100),
            unmapped_segment: if choices.flag() { Unmapped::Drop } else { Unmapped::Reset },
        }
    }
}

/// Address translation: it gives packets other ends ([`Packet::translated`]), drops those without a mapping, and answers segments by resets of its own
/// ([`Packet::originated`]). A packet whose ends the caller cannot tell has no mapping.
pub struct Nat {
    table: Table,
    exit: StageExit,
}

impl Nat {
    /// Without mappings.
    pub fn new(rules: Rules, seed: Seed) -> Self {
        Self { table: Table::new(rules, seed), exit: StageExit::default() }
    }

    /// The answer to a segment that is dropped: its frame is that of the segment, for the caller to turn around.
    fn reset(&mut self, dropped: &Packet, now: Instant) {
        let Some(ends) = dropped.ends.as_deref() else { return };
        // To the server it comes from the end that the server sent to.
        let (port, translated) = match dropped.port.direction() {
            Direction::Uplink => (PortId(1), None),
            Direction::Downlink => (PortId(0), Some(Box::new(ends.destination))),
        };
        let size = RESET_BYTES[usize::from(ends.source.is_ipv6())];
        self.exit.originate();
        let data = dropped.data.clone();
        let reset = Packet {
            originated: true,
            translated,
            data,
            ..Packet::new(dropped.sequence, port, size, now, dropped.flow)
        };
        self.exit.depart(reset, now);
    }
}

impl Impairment for Nat {
    fn handle_packet(&mut self, mut packet: Packet, now: Instant) {
        self.exit.receive();
        let transport = packet.flow.transport;
        let verdict = match (packet.ends.as_deref().copied(), packet.port.direction()) {
            (None, _) => Verdict::Drop,
            (Some(ends), Direction::Uplink) => self.table.outbound(transport, ends, now),
            (Some(ends), Direction::Downlink) => self.table.inbound(transport, ends, now),
        };
        match verdict {
            Verdict::Translate(end) => {
                packet.translated = Some(Box::new(end));
                self.exit.depart(packet, now);
            }
            Verdict::Drop => self.exit.drop(packet, now, DropCause::Nat),
            Verdict::Reset => {
                self.reset(&packet, now);
                self.exit.drop(packet, now, DropCause::Nat);
            }
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
