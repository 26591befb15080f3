//! Reads the packets of a log: transport, ports, TCP sequence numbers and CoAP message IDs with retransmissions, QUIC packet types.
//!
//! The log keeps only the first bytes of each packet, so anything may be cut off; what is not there is not reported. No bytes make it panic.
//! Nothing is decrypted or reassembled (but later fragments have the ports of their datagram's first), and checksums are not looked at.

mod coap;
pub mod quic;
pub mod radio;
pub(crate) mod ranges;
pub mod rows;
mod tcp;

use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;

pub use coap::Message;
use etherparse::{IpNumber, LaxIpSlice};
pub use tcp::Segment;
use wirelab_link::Direction;

use crate::fragments::{Fragments, is_later_fragment};
use crate::packet_log::{Outcome, Record};

/// What one packet is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dissection {
    /// Number of its flow, from 0 in order of appearance.
    pub flow: usize,
    /// The protocol above IP.
    pub transport: Transport,
    /// Its ports, if the transport has them and they were logged.
    pub ports: Option<Ports>,
    /// It is a fragment of a datagram, and not the first: it has no transport header.
    pub later_fragment: bool,
    /// Bytes after the transport header; after the IP header if the transport is neither TCP nor UDP, or its header is missing.
    pub payload_bytes: u32,
    /// TCP's part.
    pub tcp: Option<Segment>,
    /// CoAP's, for UDP to its port that looks like it.
    pub coap: Option<Message>,
    /// Types of its QUIC packets joined by `+`, for UDP that looks like QUIC.
    pub quic: Option<String>,
}

/// The protocol above IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transport {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
    /// ICMP or ICMPv6.
    Icmp,
    /// Another IP protocol number.
    Other(u8),
    /// The logged bytes do not tell.
    Unknown,
}

/// The ports of a packet, whichever way it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ports {
    /// Of the client's side.
    pub client: u16,
    /// Of the server's side.
    pub server: u16,
}

/// Dissects the packets of one log, given in order of `sequence`, each before its copies.
#[derive(Debug, Default)]
pub struct Dissector {
    latest: HashMap<Key, usize>,
    flows: Vec<Flow>,
    ports: Fragments<Option<Ports>>,
}

/// What the packets of a flow have in common: transport, addresses (client's, server's), ports.
type Key = (Transport, Option<(IpAddr, IpAddr)>, Option<Ports>);

#[derive(Debug, Default)]
struct Flow {
    connection: tcp::Connection,
    association: coap::Association,
    is_quic: bool,
}

impl Dissector {
    /// Dissect the next packet: its record, and its logged bytes from the IP header on.
    pub fn dissect(&mut self, record: &Record, packet: &[u8]) -> Dissection {
        let direction = record.port.direction();
        let Ok((ip, _)) = LaxIpSlice::from_slice(packet) else {
            let flow = self.flow((Transport::Unknown, None, None), false);
            return Dissection {
                flow,
                transport: Transport::Unknown,
                ports: None,
                later_fragment: false,
                payload_bytes: 0,
                tcp: None,
                coap: None,
                quic: None,
            };
        };
        let transport = Transport::from(ip.payload().ip_number);
        let later_fragment = is_later_fragment(&ip);
        let bytes = if later_fragment { &[] } else { ip.payload().payload };
        let read = || transport.has_ports().then(|| Ports::read(bytes, direction)).flatten();
        let ports = self.ports.resolve(&ip, read).flatten();
        let header = (transport == Transport::Tcp).then(|| tcp::Header::read(bytes)).flatten();

        let key = (transport, Some(oriented(ip.source_addr(), ip.destination_addr(), direction)), ports);
        let known = self.latest.get(&key).map(|flow| &self.flows[*flow].connection);
        let reopened =
            known.zip(header.as_ref()).is_some_and(|(connection, header)| connection.is_another(direction, header));
        let number = self.flow(key, reopened);
        let flow = &mut self.flows[number];

        let transport_bytes = match transport {
            Transport::Tcp => header.as_ref().map_or(20, |header| header.header_bytes),
            Transport::Udp => 8,
            _ => 0,
        };
        let ip_bytes = (packet.len() - behind_ip_header(packet, ip.payload().payload)) as u32;
        let payload_bytes = record.size.saturating_sub(ip_bytes + if later_fragment { 0 } else { transport_bytes });
        // Its receiver discards what was corrupted.
        let delivered = record.outcome == Outcome::Delivered && record.corrupted_bit.is_none();
        let seen = tcp::Seen { copy: record.copy, delivered };
        let tcp = header.map(|header| flow.connection.segment(direction, &header, payload_bytes, seen));
        let datagram = bytes.get(8..).filter(|_| transport == Transport::Udp);
        let to_coap = ports.is_some_and(|ports| ports.server == coap::PORT);
        let coap = datagram
            .filter(|_| to_coap)
            .and_then(|datagram| flow.association.message(direction, datagram, record.copy, delivered));
        let quic = datagram.filter(|_| !to_coap).and_then(|datagram| flow.quic(datagram));
        Dissection { flow: number, transport, ports, later_fragment, payload_bytes, tcp, coap, quic }
    }

    fn flow(&mut self, key: Key, anew: bool) -> usize {
        let next = self.flows.len();
        let number = self.latest.entry(key).and_modify(|flow| *flow = if anew { next } else { *flow }).or_insert(next);
        if *number == next {
            self.flows.push(Flow::default());
        }
        *number
    }
}

impl Dissection {
    /// Whether the packet was sent before, and whether that was needless; `None` where its bytes do not tell: QUIC and DTLS number each packet
    /// anew.
    pub fn retransmission_marks(&self) -> Option<(bool, bool)> {
        let tcp = self.tcp.as_ref().map(|segment| (segment.retransmission, segment.spurious));
        tcp.or_else(|| self.coap.map(|message| (message.retransmission, message.spurious)))
    }
}

impl Flow {
    fn quic(&mut self, datagram: &[u8]) -> Option<String> {
        let types = quic::packet_types(datagram, self.is_quic);
        self.is_quic |= types.iter().any(|kind| quic::identifies_quic(kind));
        (!types.is_empty()).then(|| types.join("+"))
    }
}

impl Transport {
    const fn has_ports(self) -> bool {
        matches!(self, Self::Tcp | Self::Udp)
    }
}

impl From<IpNumber> for Transport {
    fn from(number: IpNumber) -> Self {
        match number {
            IpNumber::TCP => Self::Tcp,
            IpNumber::UDP => Self::Udp,
            IpNumber::ICMP | IpNumber::IPV6_ICMP => Self::Icmp,
            IpNumber(other) => Self::Other(other),
        }
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp => formatter.write_str("tcp"),
            Self::Udp => formatter.write_str("udp"),
            Self::Icmp => formatter.write_str("icmp"),
            Self::Other(number) => number.fmt(formatter),
            Self::Unknown => formatter.write_str("unknown"),
        }
    }
}

impl Ports {
    fn read(bytes: &[u8], direction: Direction) -> Option<Self> {
        let port = |at: usize| Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
        let (client, server) = oriented(port(0)?, port(2)?, direction);
        Some(Self { client, server })
    }
}

/// Source and destination of a packet, from the IP header on; `None` if that is cut off.
pub fn addresses(packet: &[u8]) -> Option<(IpAddr, IpAddr)> {
    LaxIpSlice::from_slice(packet).ok().map(|(ip, _)| (ip.source_addr(), ip.destination_addr()))
}

/// The client's and the server's of a source and a destination.
fn oriented<T>(source: T, destination: T, direction: Direction) -> (T, T) {
    match direction {
        Direction::Uplink => (source, destination),
        Direction::Downlink => (destination, source),
    }
}

/// Bytes of `packet` from `payload`, a part of it, on.
fn behind_ip_header(packet: &[u8], payload: &[u8]) -> usize {
    let before = payload.as_ptr().addr().checked_sub(packet.as_ptr().addr());
    packet.len() - before.unwrap_or(packet.len()).min(packet.len())
}

#[cfg(test)]
mod tests;
