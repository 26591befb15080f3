//! Packets with one of their ends translated, as a NAT rewrites them: addresses, ports and checksums, also in the packet that an ICMP error quotes; and the
//! reset by which a NAT answers a segment. No bytes make it panic.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

use etherparse::{IpNumber, LaxIpSlice, PacketBuilder};
use wirelab_link::{Direction, Packet, Transport};

use crate::flow::reported;
use crate::fragments::is_later_fragment;

/// Which end of a packet is translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Of a packet from inside.
    Source,
    /// Of a packet from outside.
    Destination,
}

impl End {
    /// In the packet that an error tells of: that one went the other way.
    const fn quoted(self) -> Self {
        match self {
            Self::Source => Self::Destination,
            Self::Destination => Self::Source,
        }
    }
}

/// The client's end as the server's side knows it, of a packet that an address translation let pass.
pub fn outer_end(packet: &Packet) -> Option<SocketAddr> {
    let translated = *packet.translated.as_deref()?;
    match packet.port.direction() {
        Direction::Uplink => Some(translated),
        Direction::Downlink => packet.ends.as_deref().map(|ends| ends.destination),
    }
}

/// A packet that came as these bytes, from its IP header on, as it leaves: with its translated end, or the reset that it stands for; none if it leaves as
/// it came.
pub fn rewritten(packet: &Packet, came: &[u8]) -> Option<Vec<u8>> {
    if packet.originated {
        return reset(came);
    }
    let end = match packet.port.direction() {
        Direction::Uplink => End::Source,
        Direction::Downlink => End::Destination,
    };
    let mut bytes = came.to_vec();
    translate(&mut bytes, end, *packet.translated.as_deref()?);
    Some(bytes)
}

/// Whose each of the client's ends is that the server's side knows, also when its mapping has ended.
#[derive(Debug, Default)]
pub struct Owners(HashMap<(Transport, SocketAddr), SocketAddr>);

impl Owners {
    /// A reset to the server as the client's side knows it.
    fn reset_as_logged(&self, packet: &Packet, came: &[u8]) -> Option<Vec<u8>> {
        let mut bytes = rewritten(packet, came)?;
        let outer = packet.translated.as_deref().map(|outer| (packet.flow.transport, *outer));
        if let Some(owner) = outer.and_then(|outer| self.0.get(&outer)) {
            translate(&mut bytes, End::Source, *owner);
        }
        Some(bytes)
    }

    /// What a packet log has of a packet: its bytes as the client's side knows it, if they are not those that came, and the client's end as the server's side
    /// knows it. Packets are given in the order in which their outcomes became known.
    pub fn logged(&mut self, packet: &Packet, came: &[u8]) -> (Option<Vec<u8>>, Option<SocketAddr>) {
        let translated = packet.translated.as_deref().copied();
        let Some(ends) = packet.ends.as_deref() else { return (self.reset_as_logged(packet, came), translated) };
        let transport = packet.flow.transport;
        if packet.port.direction() == Direction::Uplink {
            if let Some(outer) = translated {
                self.0.insert((transport, outer), ends.source);
            }
            return (None, translated);
        }
        let outer = ends.destination;
        let Some(owner) = translated.or_else(|| self.0.get(&(transport, outer)).copied()) else {
            return (None, None);
        };
        let mut bytes = came.to_vec();
        translate(&mut bytes, End::Destination, owner);
        (Some(bytes), Some(outer))
    }
}

/// An IPv4 header's checksum, and where each address of a header begins (RFC 791 section 3.1, RFC 8200 section 3).
const IPV4_CHECKSUM: usize = 10;
const IPV4_ADDRESSES: [usize; 2] = [12, 16];
const IPV6_ADDRESSES: [usize; 2] = [8, 24];
/// Where checksums are in TCP, UDP and ICMP (RFC 9293 section 3.1, RFC 768, RFC 792).
const TCP_CHECKSUM: usize = 16;
const UDP_CHECKSUM: usize = 6;
const ICMP_CHECKSUM: usize = 2;
/// Before the packet that an ICMP error quotes.
const ICMP_HEADER: usize = 8;
/// Of a quoted packet, what a translation changes is in so many bytes: its headers.
const QUOTED: usize = 120;

/// Give a packet, from its IP header on, another end. `to` has port 0 where there is no port to change. Checksums that were right are right afterwards,
/// and wrong ones stay wrong (RFC 1624). What is no IP packet stays as it is.
pub fn translate(packet: &mut [u8], end: End, to: SocketAddr) {
    let Ok((ip, _)) = LaxIpSlice::from_slice(packet) else { return };
    if ip.source_addr().is_ipv4() != to.is_ipv4() {
        return;
    }
    let (protocol, later) = (ip.payload_ip_number(), is_later_fragment(&ip));
    let payload = ip.payload().payload.as_ptr().addr() - packet.as_ptr().addr();
    let quotes = reported(&ip).is_some_and(|quoted| LaxIpSlice::from_slice(quoted).is_ok());
    let address = change_address(packet, end, to.ip());
    if later {
        return;
    }
    let transport = &mut packet[payload..];
    if !quotes {
        return change_transport(transport, protocol, end, to.port(), &address);
    }
    let message = &mut transport[ICMP_HEADER..];
    let until = message.len().min(QUOTED);
    let before = message[..until].to_vec();
    translate(message, end.quoted(), to);
    let after = message[..until].to_vec();
    adjust(transport, ICMP_CHECKSUM, &before, &after);
    if protocol == IpNumber::IPV6_ICMP {
        adjust(transport, ICMP_CHECKSUM, &address.old, &address.new);
    }
}

/// The answer to a segment, given from its IP header on, as a host would reset it (RFC 9293 section 3.5.2); none to what is no segment.
pub fn reset(segment: &[u8]) -> Option<Vec<u8>> {
    let (ip, _) = LaxIpSlice::from_slice(segment).ok()?;
    if ip.payload_ip_number() != IpNumber::TCP || is_later_fragment(&ip) {
        return None;
    }
    let transport = ip.payload().payload;
    let header: &[u8; SEGMENT_BYTES] = transport.first_chunk()?;
    let u16_at = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let u32_at = |at: usize| u32::from(u16_at(at)) << 16 | u32::from(u16_at(at + 2));
    let is = |flag: u8| header[13] & flag != 0;
    let builder = match (ip.source_addr(), ip.destination_addr()) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            PacketBuilder::ipv4(destination.octets(), source.octets(), HOPS)
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            PacketBuilder::ipv6(destination.octets(), source.octets(), HOPS)
        }
        _ => return None,
    };
    let data = transport.len().saturating_sub(usize::from(header[12] >> 4) * 4) as u32;
    let bytes = data + u32::from(is(SYN)) + u32::from(is(FIN));
    let reset = builder.tcp(u16_at(2), u16_at(0), if is(ACK) { u32_at(8) } else { 0 }, 0).rst();
    let reset = if is(ACK) { reset } else { reset.ack(u32_at(4).wrapping_add(bytes)) };
    let mut packet = Vec::new();
    reset.write(&mut packet, &[]).ok()?;
    Some(packet)
}

/// Of a TCP header up to its flags, and these (RFC 9293 section 3.1).
pub(crate) const SEGMENT_BYTES: usize = 14;
const FIN: u8 = 0x01;
const SYN: u8 = 0x02;
const ACK: u8 = 0x10;
/// Hop limit of a reset.
const HOPS: u8 = 64;

/// An address before and after.
#[derive(Default)]
struct Changed {
    old: Vec<u8>,
    new: Vec<u8>,
}

fn change_address(packet: &mut [u8], end: End, to: IpAddr) -> Changed {
    let at = match to {
        IpAddr::V4(_) => IPV4_ADDRESSES,
        IpAddr::V6(_) => IPV6_ADDRESSES,
    }[end as usize];
    let new = match to {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    };
    let Some(place) = packet.get_mut(at..at + new.len()) else { return Changed::default() };
    let old = place.to_vec();
    place.copy_from_slice(&new);
    if to.is_ipv4() {
        adjust(packet, IPV4_CHECKSUM, &old, &new);
    }
    Changed { old, new }
}

fn change_transport(transport: &mut [u8], protocol: IpNumber, end: End, port: u16, address: &Changed) {
    let checksum = match protocol {
        IpNumber::TCP => TCP_CHECKSUM,
        IpNumber::UDP => UDP_CHECKSUM,
        // The checksum of ICMP has no addresses, that of ICMPv6 has.
        IpNumber::IPV6_ICMP => return adjust(transport, ICMP_CHECKSUM, &address.old, &address.new),
        _ => return,
    };
    let at = 2 * end as usize;
    let (mut old, mut new) = (address.old.clone(), address.new.clone());
    if let Some(place) = transport.get_mut(at..at + 2) {
        old.extend_from_slice(place);
        place.copy_from_slice(&port.to_be_bytes());
        new.extend_from_slice(place);
    }
    // UDP without a checksum stays without (RFC 768).
    let none = protocol == IpNumber::UDP && transport.get(checksum..checksum + 2) == Some(&[0, 0]);
    if !none {
        adjust(transport, checksum, &old, &new);
        if protocol == IpNumber::UDP && transport.get(checksum..checksum + 2) == Some(&[0, 0]) {
            transport[checksum..checksum + 2].fill(0xff);
        }
    }
}

/// Change the checksum at this place as its words changed (RFC 1624, equation 3), if it is there.
fn adjust(bytes: &mut [u8], at: usize, old: &[u8], new: &[u8]) {
    let Some(place) = bytes.get_mut(at..at + 2) else { return };
    let words = |bytes: &[u8], mask: u16| {
        let word = |pair: &[u8]| u64::from(u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]) ^ mask);
        bytes.chunks(2).map(word).sum::<u64>()
    };
    let mut sum = words(place, 0xffff) + words(old, 0xffff) + words(new, 0);
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    place.copy_from_slice(&(!(sum as u16)).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use etherparse::{Icmpv4Slice, Icmpv6Slice, Ipv4HeaderSlice, SlicedPacket, TransportSlice};
    use proptest::prelude::*;

    use super::*;
    use crate::flow::Flows;

    const CLIENT: [u8; 4] = [10, 77, 0, 1];
    const SERVER: [u8; 4] = [10, 77, 0, 2];

    fn tcp(source: ([u8; 4], u16), destination: ([u8; 4], u16), payload: &[u8]) -> Vec<u8> {
        let mut packet = Vec::new();
        let builder = PacketBuilder::ipv4(source.0, destination.0, 64).tcp(source.1, destination.1, 7, 100).ack(9);
        builder.write(&mut packet, payload).unwrap();
        packet
    }

    fn udp(source: ([u8; 4], u16), destination: ([u8; 4], u16), payload: &[u8]) -> Vec<u8> {
        let mut packet = Vec::new();
        PacketBuilder::ipv4(source.0, destination.0, 64)
            .udp(source.1, destination.1)
            .write(&mut packet, payload)
            .unwrap();
        packet
    }

    fn udp6(source: u16, destination: u16, payload: &[u8]) -> Vec<u8> {
        let mut packet = Vec::new();
        PacketBuilder::ipv6([1; 16], [2; 16], 64).udp(source, destination).write(&mut packet, payload).unwrap();
        packet
    }

    fn at(host: [u8; 4], port: u16) -> SocketAddr {
        SocketAddr::from((host, port))
    }

    #[test]
    fn a_translated_packet_is_the_one_that_the_other_end_would_have_sent() {
        let other = [192, 0, 2, 9];
        for payload in [&b""[..], b"odd", &[7; 40]] {
            for make in [tcp, udp] {
                let mut packet = make((CLIENT, 5000), (SERVER, 443), payload);
                translate(&mut packet, End::Source, at(other, 20_345));
                assert_eq!(packet, make((other, 20_345), (SERVER, 443), payload));
                let mut packet = make((SERVER, 443), (other, 20_345), payload);
                translate(&mut packet, End::Destination, at(CLIENT, 5000));
                assert_eq!(packet, make((SERVER, 443), (CLIENT, 5000), payload));
            }
            let mut packet = udp6(5000, 443, payload);
            translate(&mut packet, End::Source, SocketAddr::from(([1; 8].map(|_| 0x0101), 9)));
            assert_eq!(packet, udp6(9, 443, payload));
        }
    }

    #[test]
    fn udp_without_a_checksum_stays_without() {
        let mut packet = udp((CLIENT, 5000), (SERVER, 443), b"abc");
        packet[26..28].fill(0);
        translate(&mut packet, End::Source, at(CLIENT, 6000));
        assert_eq!((&packet[20..22], &packet[26..28]), (&6000u16.to_be_bytes()[..], &[0, 0][..]));
    }

    #[test]
    fn a_wrong_checksum_stays_wrong() {
        let mut packet = tcp((CLIENT, 5000), (SERVER, 443), b"abc");
        packet[37] ^= 1;
        translate(&mut packet, End::Source, at(CLIENT, 6000));
        let mut expected = tcp((CLIENT, 6000), (SERVER, 443), b"abc");
        expected[37] ^= 1;
        assert!(packet != tcp((CLIENT, 6000), (SERVER, 443), b"abc"));
        assert_eq!(packet[..36], expected[..36]);
    }

    #[test]
    fn an_error_quotes_the_packet_as_its_receiver_knows_it() {
        let error = |source, destination, quoted: &[u8]| {
            let mut packet = Vec::new();
            PacketBuilder::ipv4(source, destination, 64).icmpv4_raw(3, 3, [0; 4]).write(&mut packet, quoted).unwrap();
            packet
        };
        // From the server's side about what the client sent from port 20345: to the client it is about port 5000.
        for length in [28, 31, 60] {
            let sent = udp((CLIENT, 20_345), (SERVER, 443), &[7; 40]);
            let mut packet = error(SERVER, CLIENT, &sent[..length]);
            translate(&mut packet, End::Destination, at(CLIENT, 5000));
            let known = udp((CLIENT, 5000), (SERVER, 443), &[7; 40]);
            assert_eq!(packet, error(SERVER, CLIENT, &known[..length]));
        }
        // From the client about what the server sent to it.
        let sent = udp((SERVER, 443), (CLIENT, 5000), &[7; 40]);
        let mut packet = error(CLIENT, SERVER, &sent[..28]);
        translate(&mut packet, End::Source, at([192, 0, 2, 9], 20_345));
        let known = udp((SERVER, 443), ([192, 0, 2, 9], 20_345), &[7; 40]);
        let packet_ip = Ipv4HeaderSlice::from_slice(&packet).unwrap();
        assert_eq!(packet_ip.header_checksum(), packet_ip.to_header().calc_header_checksum());
        assert_eq!(packet[28..], known[..28]);
        assert!(Icmpv4Slice::from_slice(&packet[20..]).unwrap().is_checksum_valid());
    }

    trait Checked {
        fn is_checksum_valid(&self) -> bool;
    }

    impl Checked for Icmpv4Slice<'_> {
        fn is_checksum_valid(&self) -> bool {
            self.icmp_type().calc_checksum(self.payload()) == self.checksum()
        }
    }

    #[test]
    fn an_error_by_ipv6_has_its_addresses_in_its_checksum() {
        let quoted = udp6(20_345, 443, &[7; 40]);
        let mut packet = Vec::new();
        PacketBuilder::ipv6([2; 16], [1; 16], 64).icmpv6_raw(1, 4, [0; 4]).write(&mut packet, &quoted).unwrap();
        let to = SocketAddr::from(([0x0303; 8], 5000));
        translate(&mut packet, End::Destination, to);
        assert!(Icmpv6Slice::from_slice(&packet[40..]).unwrap().is_checksum_valid([2; 16], [3; 16]));
        assert_eq!(packet[48..][8..24], [3; 16]);
        assert_eq!(packet[48 + 40..][..2], 5000u16.to_be_bytes());
    }

    #[test]
    fn a_reset_answers_by_the_rules_of_tcp() {
        let answer = |packet: &[u8]| {
            let reset = reset(packet).unwrap();
            let SlicedPacket { transport: Some(TransportSlice::Tcp(tcp)), .. } = SlicedPacket::from_ip(&reset).unwrap()
            else {
                panic!("{reset:?}")
            };
            let ports = [tcp.source_port(), tcp.destination_port()];
            (reset.len(), ports, tcp.rst(), tcp.sequence_number(), tcp.ack().then(|| tcp.acknowledgment_number()))
        };
        assert_eq!(answer(&tcp((CLIENT, 5000), (SERVER, 443), b"abc")), (40, [443, 5000], true, 9, None));
        let mut first = Vec::new();
        PacketBuilder::ipv4(CLIENT, SERVER, 64).tcp(5000, 443, 7, 9).fin().write(&mut first, b"abc").unwrap();
        assert_eq!(answer(&first), (40, [443, 5000], true, 0, Some(11)));
        assert_eq!(reset(&udp((CLIENT, 5000), (SERVER, 443), b"")), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn translating_back_gives_the_same_ends(source in any::<u16>(), port in any::<u16>(), payload in prop::collection::vec(any::<u8>(), 0..40)) {
            let packet = udp((CLIENT, source), (SERVER, 443), &payload);
            let mut there = packet.clone();
            translate(&mut there, End::Source, at([192, 0, 2, 9], port));
            prop_assert_eq!(&there, &udp(([192, 0, 2, 9], port), (SERVER, 443), &payload));
            translate(&mut there, End::Source, at(CLIENT, source));
            prop_assert_eq!(Flows::default().read(&there), Flows::default().read(&packet));
        }

        #[test]
        fn no_bytes_make_it_panic(mut packet in prop::collection::vec(any::<u8>(), 0..160), version in prop_oneof![Just(0x45u8), Just(0x4f), Just(0x60)], protocol in prop_oneof![Just(1u8), Just(6), Just(17), Just(58)], port in any::<u16>()) {
            if let Some(first) = packet.first_mut() {
                *first = version;
            }
            if let Some(place) = packet.get_mut(if version == 0x60 { 6 } else { 9 }) {
                *place = protocol;
            }
            let _ = reset(&packet);
            for end in [End::Source, End::Destination] {
                translate(&mut packet, end, at(CLIENT, port));
                translate(&mut packet, end, SocketAddr::from(([1; 8], port)));
            }
        }
    }
}
