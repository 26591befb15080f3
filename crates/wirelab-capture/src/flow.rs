//! The flow and the ends of each packet, for the stages of a link that tell flows apart (FQ-CoDel) or translate addresses (NAT).
//!
//! Nothing beyond the first [`FLOW_BYTES`] bytes of a packet counts, so a log that keeps so many tells a replay the very same flows.

use std::net::{IpAddr, SocketAddr};

use etherparse::{IpNumber, LaxIpSlice};
use wirelab_link::{Carries, Ends, Flow, TcpFlags, Transport};

use crate::fragments::{Fragments, is_later_fragment};
use crate::translation::SEGMENT_BYTES;

/// Bytes of a packet, from the IP header on, that tell its flow: those of an ICMPv6 error up to the ports of the packet that it tells of, 92, and
/// a few more. IPv4's longest header with two ports is shorter.
pub const FLOW_BYTES: usize = 96;

/// Tells the flows of a link's packets, which are given in order of arrival.
///
/// A flow's id is the 64-bit FNV-1a hash of the protocol's number, then of both ends, the smaller first: its address in network order and its
/// port, big-endian (0 where there is none). It is thus the same both ways and on every machine.
///
/// Only the first fragment of a datagram has ports; later ones get them from it. A fragment whose first did not come has none.
///
/// An ICMP error belongs to the flow of the packet that it tells of, as a NAT has it (RFC 5508, REQ-4 and REQ-5), as long as that packet's
/// addresses can be read: destination unreachable, time exceeded and parameter problem (RFC 792), and ICMPv6's four (RFC 4443).
#[derive(Debug, Default)]
pub struct Flows {
    ports: Fragments<[u16; 2]>,
}

impl Flows {
    /// The flow and the ends of the next packet, given from its IP header on. Other bytes have the default flow and no ends.
    pub fn read(&mut self, packet: &[u8]) -> (Flow, Option<Ends>) {
        let Ok((ip, _)) = LaxIpSlice::from_slice(&packet[..packet.len().min(FLOW_BYTES)]) else {
            return Default::default();
        };
        if let Some((reported, _)) = reported(&ip).and_then(|packet| LaxIpSlice::from_slice(packet).ok()) {
            return self.read_reported(&reported);
        }
        let (protocol, transport) = (ip.payload_ip_number(), ip.payload().payload);
        let ports = self.ports.resolve(&ip, || ports(protocol, transport)).unwrap_or_default();
        let carries = match protocol {
            IpNumber::TCP if is_later_fragment(&ip) || transport.len() < SEGMENT_BYTES => Carries::Related,
            IpNumber::TCP => Carries::Segment(flags(transport)),
            _ => Carries::Datagram,
        };
        let [source, destination] = ends(&ip, ports);
        (flow(protocol, [source, destination]), Some(Ends { source, destination, carries }))
    }

    /// Of a packet that an error tells of. What it tells of a first fragment is not kept, for it may be cut short.
    fn read_reported(&mut self, ip: &LaxIpSlice<'_>) -> (Flow, Option<Ends>) {
        let protocol = ip.payload_ip_number();
        let ports = if is_later_fragment(ip) {
            self.ports.resolve(ip, Default::default).unwrap_or_default()
        } else {
            ports(protocol, ip.payload().payload)
        };
        let [destination, source] = ends(ip, ports);
        (flow(protocol, [source, destination]), Some(Ends { source, destination, carries: Carries::Related }))
    }
}

/// The beginning of the packet that an ICMP error tells of.
pub(crate) fn reported<'a>(ip: &LaxIpSlice<'a>) -> Option<&'a [u8]> {
    let [kind, _, _, _, _, _, _, _, packet @ ..] = ip.payload().payload else { return None };
    let is_error = match ip.payload_ip_number() {
        IpNumber::ICMP => matches!(kind, 3 | 11 | 12),
        IpNumber::IPV6_ICMP => matches!(kind, 1..=4),
        _ => false,
    };
    (is_error && !is_later_fragment(ip)).then_some(packet)
}

/// Of the source and the destination.
fn ports(protocol: IpNumber, transport: &[u8]) -> [u16; 2] {
    match transport {
        [a, b, c, d, ..] if matches!(protocol, IpNumber::TCP | IpNumber::UDP) => {
            [u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d])]
        }
        _ => [0; 2],
    }
}

/// Flags of a TCP header (RFC 9293 section 3.1).
fn flags(transport: &[u8]) -> TcpFlags {
    let bits = transport[SEGMENT_BYTES - 1];
    TcpFlags { syn: bits & 0x02 != 0, fin: bits & 0x01 != 0, rst: bits & 0x04 != 0 }
}

/// Source and destination.
fn ends(ip: &LaxIpSlice<'_>, [from, to]: [u16; 2]) -> [SocketAddr; 2] {
    [SocketAddr::new(ip.source_addr(), from), SocketAddr::new(ip.destination_addr(), to)]
}

fn flow(protocol: IpNumber, mut ends: [SocketAddr; 2]) -> Flow {
    ends.sort_unstable();
    let mut hash = Fnv1a::default();
    hash.add(&[protocol.0]);
    for end in ends {
        match end.ip() {
            IpAddr::V4(address) => hash.add(&address.octets()),
            IpAddr::V6(address) => hash.add(&address.octets()),
        }
        hash.add(&end.port().to_be_bytes());
    }
    let transport = match protocol {
        IpNumber::TCP => Transport::Tcp,
        IpNumber::UDP => Transport::Udp,
        _ => Transport::Other,
    };
    Flow { id: hash.0, transport }
}

/// Fowler, Noll and Vo's hash (RFC 9923), 64 bits.
struct Fnv1a(u64);

impl Default for Fnv1a {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv1a {
    fn add(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    }
}

#[cfg(test)]
mod tests {
    use etherparse::PacketBuilder;
    use proptest::prelude::*;

    use super::*;

    const CLIENT: [u8; 4] = [10, 77, 0, 1];
    const SERVER: [u8; 4] = [10, 77, 0, 2];

    fn udp(source: ([u8; 4], u16), destination: ([u8; 4], u16)) -> Vec<u8> {
        let mut packet = Vec::new();
        let builder = PacketBuilder::ipv4(source.0, destination.0, 64).udp(source.1, destination.1);
        builder.write(&mut packet, &[7; 40]).unwrap();
        packet
    }

    /// A piece of a datagram from the client's port 5000 to the server's port 53: at `offset`, in units of 8 bytes.
    fn fragment(identification: u8, offset: u8, more: bool) -> Vec<u8> {
        let mut packet = udp((CLIENT, 5000), (SERVER, 53));
        packet[5] = identification;
        (packet[6], packet[7]) = (u8::from(more) << 5, offset);
        if offset > 0 {
            packet[20..24].fill(0xee);
        }
        packet
    }

    /// The same by IPv6.
    fn fragment6(identification: u8, offset: u8, more: bool) -> Vec<u8> {
        let mut packet = Vec::new();
        PacketBuilder::ipv6([1; 16], [2; 16], 64).udp(5000, 53).write(&mut packet, &[7; 40]).unwrap();
        packet[6] = 44;
        packet[5] += 8;
        packet.splice(40..40, [17, 0, 0, offset << 3 | u8::from(more), 0, 0, 0, identification]);
        if offset > 0 {
            packet[48..52].fill(0xee);
        }
        packet
    }

    fn flow_of(packet: &[u8]) -> Flow {
        Flows::default().read(packet).0
    }

    #[test]
    fn the_hash_is_fnv_1a() {
        // Test vectors of RFC 9923.
        for (text, expected) in
            [("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8)]
        {
            let mut hash = Fnv1a::default();
            hash.add(text.as_bytes());
            assert_eq!(hash.0, expected);
        }
    }

    #[test]
    fn both_directions_are_one_flow_and_every_address_port_and_protocol_is_another() {
        let up = flow_of(&udp((CLIENT, 5000), (SERVER, 53)));
        assert_eq!(up.transport, Transport::Udp);
        assert_eq!(up, flow_of(&udp((SERVER, 53), (CLIENT, 5000))));
        let mut tcp = udp((CLIENT, 5000), (SERVER, 53));
        tcp[9] = 6;
        let others = [
            flow_of(&udp((CLIENT, 5001), (SERVER, 53))),
            flow_of(&udp((CLIENT, 53), (SERVER, 5000))),
            flow_of(&udp((CLIENT, 5000), ([10, 77, 0, 3], 53))),
            flow_of(&tcp),
            flow_of(&fragment6(1, 0, true)),
        ];
        assert!(others.iter().all(|other| other.id != up.id), "{others:?}");
        assert_eq!(others[3].transport, Transport::Tcp);
    }

    #[test]
    fn later_fragments_have_the_flow_of_their_first_though_others_come_between() {
        for fragment in [fragment, fragment6] {
            let mut flows = Flows::default();
            let first = flows.read(&fragment(1, 0, true)).0;
            let other = flows.read(&udp((CLIENT, 6000), (SERVER, 53))).0;
            assert_ne!(first, other);
            assert_eq!([flows.read(&fragment(1, 4, true)).0, flows.read(&fragment(1, 8, false)).0], [first; 2]);
            let stranger = flows.read(&fragment(2, 4, true)).0;
            assert_ne!(stranger.id, first.id);
            assert_eq!(stranger.transport, Transport::Udp);
        }
    }

    #[test]
    fn a_datagram_in_fragments_has_the_flow_of_one_in_one_piece() {
        assert_eq!(flow_of(&fragment(1, 0, true)), flow_of(&udp((CLIENT, 5000), (SERVER, 53))));
    }

    #[test]
    fn what_has_no_ports_is_a_flow_of_its_protocol() {
        let mut icmp = Vec::new();
        PacketBuilder::ipv4(CLIENT, SERVER, 64).icmpv4_echo_request(1, 2).write(&mut icmp, &[0; 10]).unwrap();
        assert_eq!(flow_of(&icmp).transport, Transport::Other);
        assert_eq!(flow_of(&[]), Flow::default());
        assert_eq!(flow_of(b"no packet"), Flow::default());
    }

    fn error4(kind: u8, packet: &[u8]) -> Vec<u8> {
        let mut error = Vec::new();
        let builder = PacketBuilder::ipv4([10, 9, 9, 9], CLIENT, 64).icmpv4_raw(kind, 0, [0; 4]);
        builder.write(&mut error, packet).unwrap();
        error
    }

    fn error6(kind: u8, packet: &[u8]) -> Vec<u8> {
        let mut error = Vec::new();
        let builder = PacketBuilder::ipv6([9; 16], [1; 16], 64).icmpv6_raw(kind, 0, [0; 4]);
        builder.write(&mut error, packet).unwrap();
        error
    }

    fn udp6() -> Vec<u8> {
        let mut packet = Vec::new();
        PacketBuilder::ipv6([1; 16], [2; 16], 64).udp(5000, 53).write(&mut packet, &[7; 40]).unwrap();
        packet
    }

    #[test]
    fn an_error_has_the_flow_of_the_packet_that_it_tells_of() {
        let (packet, packet6) = (udp((CLIENT, 5000), (SERVER, 53)), udp6());
        for kind in [3, 11, 12] {
            assert_eq!(flow_of(&error4(kind, &packet)), flow_of(&packet));
        }
        for kind in 1..=4 {
            assert_eq!(flow_of(&error6(kind, &packet6)), flow_of(&packet6));
        }
        // Echo, redirect; a message of IPv6.
        for other in [error4(0, &packet), error4(8, &packet), error4(5, &packet), error6(128, &packet6)] {
            assert_eq!(flow_of(&other).transport, Transport::Other);
        }
    }

    #[test]
    fn the_least_that_an_error_may_quote_and_a_log_keeps_tells_its_flow() {
        let packet = udp((CLIENT, 5000), (SERVER, 53));
        assert_eq!(flow_of(&error4(3, &packet)[..52]), flow_of(&packet));
        assert_eq!(flow_of(&error6(1, &udp6())[..92]), flow_of(&udp6()));
    }

    #[test]
    fn an_error_of_an_echo_has_the_flow_of_echoes_between_those_hosts() {
        let mut echo = Vec::new();
        PacketBuilder::ipv4(CLIENT, SERVER, 64).icmpv4_echo_request(1, 2).write(&mut echo, &[0; 10]).unwrap();
        assert_eq!(flow_of(&error4(11, &echo)), flow_of(&echo));
    }

    #[test]
    fn an_error_that_quotes_too_little_is_a_separate_flow() {
        let packet = udp((CLIENT, 5000), (SERVER, 53));
        let whole = flow_of(&packet);
        for bytes in 0..24 {
            assert_ne!(flow_of(&error4(3, &packet[..bytes])), whole, "{bytes} bytes");
        }
        let own = flow_of(&error4(3, &[]));
        assert_eq!(own.transport, Transport::Other);
        assert_eq!(flow_of(&error4(3, &[0xff; 40])), own);
        assert_eq!(flow_of(&error4(3, &packet[..19])), own);
    }

    #[test]
    fn an_error_of_a_later_fragment_has_the_flow_of_its_datagram() {
        let mut flows = Flows::default();
        let first = flows.read(&fragment(1, 0, true)).0;
        assert_eq!(flows.read(&error4(11, &fragment(1, 4, true))).0, first);
        // A quoted first fragment does not identify later ones.
        let mut flows = Flows::default();
        flows.read(&error4(11, &fragment(2, 0, true)));
        assert_ne!(flows.read(&fragment(2, 4, true)).0, first);
    }

    #[test]
    fn ends_are_the_packets_own_and_of_an_error_those_of_what_it_tells_of_turned_around() {
        let ends = |packet: &[u8]| Flows::default().read(packet).1.unwrap();
        let (client, server) = (SocketAddr::from((CLIENT, 5000)), SocketAddr::from((SERVER, 53)));
        let packet = udp((CLIENT, 5000), (SERVER, 53));
        assert_eq!(ends(&packet), Ends { source: client, destination: server, carries: Carries::Datagram });
        assert_eq!(ends(&error4(3, &packet)), Ends { source: server, destination: client, carries: Carries::Related });
        let mut syn = Vec::new();
        PacketBuilder::ipv4(CLIENT, SERVER, 64).tcp(5000, 53, 9, 9).syn().write(&mut syn, &[]).unwrap();
        let flags = TcpFlags { syn: true, fin: false, rst: false };
        assert_eq!(ends(&syn).carries, Carries::Segment(flags));
        assert_eq!(Flows::default().read(b"no packet").1, None);
        let mut flows = Flows::default();
        flows.read(&fragment(1, 0, true));
        assert_eq!(flows.read(&fragment(1, 4, false)).1.map(|ends| ends.source), Some(client));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_bytes_have_the_flow_of_their_first_ones(packets in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 0..6), version in prop_oneof![Just(0x45u8), Just(0x4f), Just(0x60)]) {
            let (mut whole, mut logged) = (Flows::default(), Flows::default());
            for mut packet in packets {
                if let Some(first) = packet.first_mut() {
                    *first = version;
                }
                prop_assert_eq!(whole.read(&packet), logged.read(&packet[..packet.len().min(FLOW_BYTES)]));
            }
        }
    }
}
