//! Tests: what is read from packets of a log, TCP and CoAP.

use std::time::Duration;

use etherparse::PacketBuilder;
use proptest::prelude::*;
use wirelab_link::{Instant, PortId};

use super::*;

const CLIENT: u16 = 50_000;
const SERVER: u16 = 443;

/// A log being read: each packet is followed by what is made of it.
#[derive(Default)]
struct Log {
    dissector: Dissector,
    sequence: u64,
    /// Bytes of each packet that the log keeps.
    header_bytes: Option<usize>,
}

impl Log {
    fn packet(&mut self, port: u16, outcome: Outcome, packet: &[u8]) -> Dissection {
        let record = record(self.sequence, port, outcome, packet.len() as u32);
        self.sequence += 1;
        self.dissector.dissect(&record, &packet[..packet.len().min(self.header_bytes.unwrap_or(usize::MAX))])
    }

    fn tcp(
        &mut self,
        port: u16,
        outcome: Outcome,
        flags: &str,
        sequence: u32,
        acknowledgement: u32,
        payload: usize,
    ) -> Segment {
        let dissection = self.packet(port, outcome, &tcp(port, flags, sequence, acknowledgement, payload));
        assert_eq!(dissection.payload_bytes, payload as u32);
        assert_eq!(dissection.ports, Some(Ports { client: CLIENT, server: SERVER }));
        dissection.tcp.unwrap()
    }
}

fn record(sequence: u64, port: u16, outcome: Outcome, size: u32) -> Record {
    Record {
        sequence,
        port: PortId(port),
        outcome,
        translated: None,
        originated: false,
        copy: false,
        corrupted_bit: None,
        size,
        arrival: Instant::default(),
        departure: Instant::default(),
        lateness: Duration::ZERO,
    }
}

fn ports(port: u16) -> (u16, u16) {
    oriented(CLIENT, SERVER, PortId(port).direction())
}

fn ipv4(port: u16) -> etherparse::PacketBuilderStep<etherparse::IpHeaders> {
    let (source, destination) = oriented([10, 0, 0, 1], [10, 0, 0, 2], PortId(port).direction());
    PacketBuilder::ipv4(source, destination, 64)
}

fn tcp(port: u16, flags: &str, sequence: u32, acknowledgement: u32, payload: usize) -> Vec<u8> {
    let (source, destination) = ports(port);
    let mut header = etherparse::TcpHeader::new(source, destination, sequence, 1000);
    header.acknowledgment_number = acknowledgement;
    header.syn = flags.contains('S');
    header.ack = flags.contains('A');
    header.psh = flags.contains('P');
    header.fin = flags.contains('F');
    header.rst = flags.contains('R');
    header.set_options(&[etherparse::TcpOptionElement::Timestamp(1, 2)]).unwrap();
    let mut packet = Vec::new();
    ipv4(port).tcp_header(header).write(&mut packet, &vec![0x55; payload]).unwrap();
    packet
}

fn udp(port: u16, payload: &[u8]) -> Vec<u8> {
    let (source, destination) = ports(port);
    let mut packet = Vec::new();
    ipv4(port).udp(source, destination).write(&mut packet, payload).unwrap();
    packet
}

fn marks(segment: &Segment) -> (bool, bool) {
    (segment.retransmission, segment.spurious)
}

#[test]
fn a_tcp_connection_has_relative_numbers_though_its_headers_are_cut() {
    for header_bytes in [None, Some(34)] {
        let mut log = Log { header_bytes, ..Log::default() };
        let syn = log.tcp(0, Outcome::Delivered, "S", u32::MAX, 0, 0);
        assert_eq!((syn.flags.as_str(), syn.sequence, syn.acknowledgement), ("S", 0, None));
        let answer = log.tcp(1, Outcome::Delivered, "SA", 700, 0, 0);
        assert_eq!((answer.flags.as_str(), answer.sequence, answer.acknowledgement), ("SA", 0, Some(1)));
        let request = log.tcp(0, Outcome::Delivered, "AP", 0, 701, 100);
        assert_eq!((request.flags.as_str(), request.sequence, request.acknowledgement), ("AP", 1, Some(1)));
        let end = log.tcp(0, Outcome::Delivered, "AF", 100, 701, 0);
        assert_eq!((end.flags.as_str(), end.sequence, marks(&end)), ("AF", 101, (false, false)));
    }
}

#[test]
fn a_repeated_segment_is_a_retransmission_and_spurious_if_the_link_had_delivered_it() {
    let mut log = Log::default();
    log.tcp(0, Outcome::Loss, "S", 0, 0, 0);
    assert_eq!(marks(&log.tcp(0, Outcome::Delivered, "S", 0, 0, 0)), (true, false));
    assert_eq!(marks(&log.tcp(0, Outcome::Delivered, "S", 0, 0, 0)), (true, true));
    log.tcp(0, Outcome::Delivered, "A", 1, 0, 100);
    log.tcp(0, Outcome::QueueFull, "A", 101, 0, 100);
    log.tcp(0, Outcome::Delivered, "A", 201, 0, 100);
    assert_eq!(marks(&log.tcp(0, Outcome::Delivered, "A", 101, 0, 100)), (true, false));
    assert_eq!(marks(&log.tcp(0, Outcome::Delivered, "A", 1, 0, 300)), (true, true));
    assert_eq!(marks(&log.tcp(0, Outcome::Loss, "AF", 301, 0, 0)), (false, false));
    assert_eq!(marks(&log.tcp(0, Outcome::Delivered, "AF", 301, 0, 0)), (true, false));
}

#[test]
fn a_copy_that_the_link_made_does_not_count_as_a_retransmission_but_may_deliver() {
    let mut dissector = Dissector::default();
    let segment = tcp(0, "A", 1, 0, 100);
    let mut marked = |sequence, outcome, copy| {
        let record = Record { copy, ..record(sequence, 0, outcome, segment.len() as u32) };
        marks(&dissector.dissect(&record, &segment).tcp.unwrap())
    };
    assert_eq!(marked(0, Outcome::Loss, false), (false, false));
    assert_eq!(marked(0, Outcome::Delivered, true), (false, false));
    assert_eq!(marked(1, Outcome::Delivered, false), (true, true));
}

#[test]
fn a_corrupted_segment_was_not_delivered() {
    let mut dissector = Dissector::default();
    let segment = tcp(0, "A", 1, 0, 100);
    let record = record(0, 0, Outcome::Delivered, segment.len() as u32);
    dissector.dissect(&Record { corrupted_bit: Some(400), ..record }, &segment);
    assert_eq!(marks(&dissector.dissect(&record, &segment).tcp.unwrap()), (true, false));
}

/// A CoAP message to its port, or from it: type, message ID and what follows.
fn coap(port: u16, kind: u8, id: u8, rest: &[u8]) -> Vec<u8> {
    let (source, destination) = oriented(CLIENT, coap::PORT, PortId(port).direction());
    let mut packet = Vec::new();
    let message = [&[0x42 | kind << 4, 0x02, 0x70, id], rest].concat();
    ipv4(port).udp(source, destination).write(&mut packet, &message).unwrap();
    packet
}

#[test]
fn a_confirmable_message_sent_again_is_a_retransmission_and_spurious_if_the_link_had_delivered_it() {
    let mut log = Log { header_bytes: Some(64), ..Log::default() };
    let mut sent = |port, outcome, kind, id, rest: &[u8]| {
        log.packet(port, outcome, &coap(port, kind, id, rest)).retransmission_marks()
    };
    assert_eq!(sent(0, Outcome::Loss, 0, 1, b"AB"), Some((false, false)));
    assert_eq!(sent(0, Outcome::Delivered, 0, 1, b"AB"), Some((true, false)));
    assert_eq!(sent(0, Outcome::Loss, 0, 1, b"AB"), Some((true, true)));
    assert_eq!(sent(0, Outcome::Delivered, 0, 2, b"AC"), Some((false, false)));
    // The other side's numbers are its own; acknowledgements answer duplicates; a number with another token is used anew.
    assert_eq!(sent(1, Outcome::Delivered, 0, 1, b"AB"), Some((false, false)));
    for _ in 0..2 {
        assert_eq!(sent(1, Outcome::Delivered, 2, 1, b"AB"), Some((false, false)));
    }
    assert_eq!(sent(0, Outcome::Delivered, 0, 1, b"AD"), Some((false, false)));
}

#[test]
fn a_copied_message_does_not_count_as_a_retransmission_but_may_deliver() {
    let mut dissector = Dissector::default();
    let mut sent = |sequence, copy, outcome| {
        let packet = coap(0, 0, 9, b"AB");
        let record = Record { copy, ..record(sequence, 0, outcome, packet.len() as u32) };
        dissector.dissect(&record, &packet).retransmission_marks()
    };
    assert_eq!(sent(0, false, Outcome::Loss), Some((false, false)));
    assert_eq!(sent(0, true, Outcome::Delivered), Some((false, false)));
    assert_eq!(sent(1, false, Outcome::Delivered), Some((true, true)));
}

#[test]
fn bytes_that_are_not_coap_are_not_marked_as_retransmitted() {
    let mut log = Log::default();
    for message in [&b""[..], b"\x42\x02\x70", b"\x82\x02\x70\x01AB", b"\x49\x02\x70\x01AB", b"\x42\x22\x70\x01AB"] {
        let mut packet = Vec::new();
        ipv4(0).udp(CLIENT, coap::PORT).write(&mut packet, message).unwrap();
        assert_eq!(log.packet(0, Outcome::Delivered, &packet).retransmission_marks(), None, "{message:?}");
    }
    // Another port.
    assert_eq!(log.packet(0, Outcome::Delivered, &udp(0, b"\x42\x02\x70\x01AB")).retransmission_marks(), None);
}

#[test]
fn acknowledgements_alone_are_never_retransmissions() {
    let mut log = Log::default();
    log.tcp(0, Outcome::Delivered, "A", 1, 5, 10);
    assert!((0..3).all(|_| marks(&log.tcp(0, Outcome::Delivered, "A", 11, 5, 0)) == (false, false)));
}

#[test]
fn sequence_numbers_may_wrap() {
    let mut log = Log::default();
    log.tcp(0, Outcome::Delivered, "A", u32::MAX - 99, 0, 100);
    assert_eq!(marks(&log.tcp(0, Outcome::Delivered, "A", 0, 0, 100)), (false, false));
    assert_eq!(marks(&log.tcp(0, Outcome::Delivered, "A", u32::MAX - 49, 0, 100)), (true, true));
}

#[test]
fn ports_used_again_are_another_flow() {
    let mut log = Log::default();
    let mut flow = |sequence, flags| log.packet(0, Outcome::Delivered, &tcp(0, flags, sequence, 0, 0)).flow;
    assert_eq!([flow(5, "S"), flow(5, "S"), flow(6, "A"), flow(9, "S"), flow(10, "A")], [0, 0, 0, 1, 1]);
}

#[test]
fn quic_is_named_by_its_packets_and_short_headers_once_the_flow_is_known() {
    let mut log = Log::default();
    let mut quic = |port, payload: &[u8]| log.packet(port, Outcome::Delivered, &udp(port, payload)).quic;
    assert_eq!(quic(0, &[0x41; 20]), None);
    assert_eq!(quic(0, &[0xc0, 0, 0, 0, 1, 0, 0, 0, 1, 9, 0x42, 7]).as_deref(), Some("initial+1-rtt"));
    assert_eq!(quic(1, &[0x41; 20]).as_deref(), Some("1-rtt"));
}

#[test]
fn ipv6_is_read_behind_its_extension_headers() {
    let mut packet = Vec::new();
    let builder = PacketBuilder::ipv6([1; 16], [2; 16], 64).udp(CLIENT, SERVER);
    builder.write(&mut packet, b"payload").unwrap();
    let plain = Log::default().packet(0, Outcome::Delivered, &packet);
    assert_eq!((plain.transport, plain.payload_bytes), (Transport::Udp, 7));
    // A hop-by-hop header of 8 bytes in between.
    packet[6] = 0;
    packet[5] += 8;
    packet.splice(40..40, [17, 0, 1, 4, 0, 0, 0, 0]);
    let extended = Log::default().packet(0, Outcome::Delivered, &packet);
    assert_eq!(extended, plain);
    assert_eq!(extended.ports, Some(Ports { client: CLIENT, server: SERVER }));
}

#[test]
fn what_has_no_ports_or_was_not_logged_has_none() {
    let mut icmp = Vec::new();
    ipv4(0).icmpv4_echo_request(1, 2).write(&mut icmp, &[0; 10]).unwrap();
    let ping = Log::default().packet(0, Outcome::Delivered, &icmp);
    assert_eq!((ping.transport.to_string().as_str(), ping.ports, ping.payload_bytes), ("icmp", None, 18));
    let mut cut = Log { header_bytes: Some(20), ..Log::default() };
    let cut = cut.packet(0, Outcome::Delivered, &tcp(0, "S", 0, 0, 0));
    assert_eq!((cut.transport, cut.ports, cut.tcp), (Transport::Tcp, None, None));
    let nothing = Log::default().packet(0, Outcome::Delivered, &[]);
    assert_eq!((nothing.transport.to_string().as_str(), nothing.ports), ("unknown", None));
}

#[test]
fn a_later_fragment_is_not_taken_for_a_transport_header() {
    let mut fragment = udp(0, &[0xc0; 30]);
    fragment[7] = 100;
    let dissection = Log::default().packet(0, Outcome::Delivered, &fragment);
    assert_eq!((dissection.transport, dissection.ports, dissection.payload_bytes), (Transport::Udp, None, 38));
}

#[test]
fn later_fragments_belong_to_the_flow_of_their_first() {
    let mut log = Log::default();
    let [mut first, mut later] = [udp(0, &[0xc0; 32]), udp(0, &[0xc0; 32])];
    first[6] = 0x20;
    later[7] = 5;
    let first = log.packet(0, Outcome::Delivered, &first);
    assert_eq!((first.ports, first.payload_bytes), (Some(Ports { client: CLIENT, server: SERVER }), 32));
    let later = log.packet(0, Outcome::Delivered, &later);
    assert_eq!((later.flow, later.ports, later.payload_bytes), (first.flow, first.ports, 40));
    assert_eq!([first, later].map(|dissection| dissection.later_fragment), [false, true]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_it_panic(packets in prop::collection::vec((0..2u16, prop::collection::vec(any::<u8>(), 0..80), any::<u32>()), 0..6)) {
        let mut dissector = Dissector::default();
        for (sequence, (port, bytes, size)) in (0..).zip(packets) {
            dissector.dissect(&record(sequence, port, Outcome::Delivered, size), &bytes);
        }
    }

    #[test]
    fn no_damage_to_a_packet_makes_it_panic(at in 0..60usize, byte in any::<u8>(), keep in 0..80usize, quic in any::<bool>(), sizes in any::<[u32; 2]>()) {
        let mut packet = if quic { udp(0, &[0xc0, 0, 0, 0, 1, 0, 0, 0, 1, 9, 0x42, 7, 0, 0]) } else { tcp(0, "SF", 1, 1, 30) };
        let at = at % packet.len();
        packet[at] = byte;
        packet.truncate(keep);
        let mut dissector = Dissector::default();
        for size in sizes {
            dissector.dissect(&record(0, 0, Outcome::Delivered, size), &packet);
        }
    }
}
