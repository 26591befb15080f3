//! Tests: packets of captures as rows, over every link layer that is read.

use std::io::Cursor;

use etherparse::PacketBuilder;
use proptest::prelude::*;
use wirelab_link::Direction;

use super::*;

const CLIENT: End = (IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1)), 50_000);
const SERVER: End = (IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 2)), 443);

fn udp((source, from): End, (destination, to): End, payload: usize) -> Vec<u8> {
    let mut packet = Vec::new();
    let builder = match (source, destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => PacketBuilder::ipv4(source.octets(), destination.octets(), 64),
        _ => PacketBuilder::ipv6([1; 16], [2; 16], 64),
    };
    builder.udp(from, to).write(&mut packet, &vec![0; payload]).unwrap();
    packet
}

fn tcp((source, from): End, (destination, to): End, flags: &str, sequence: u32) -> Vec<u8> {
    let mut header = etherparse::TcpHeader::new(from, to, sequence, 1000);
    (header.syn, header.ack) = (flags.contains('S'), flags.contains('A'));
    let (IpAddr::V4(source), IpAddr::V4(destination)) = (source, destination) else { unreachable!("IPv4 alone") };
    let mut packet = Vec::new();
    let builder = PacketBuilder::ipv4(source.octets(), destination.octets(), 64).tcp_header(header);
    builder.write(&mut packet, &[]).unwrap();
    packet
}

/// A pcap with stamps of 1 s and so many ticks.
fn pcap(magic: u32, link_type: u32, frames: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut file = magic.to_le_bytes().to_vec();
    file.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    file.extend([65535_u32.to_le_bytes(), link_type.to_le_bytes()].concat());
    for (ticks, frame) in frames {
        let length = (frame.len() as u32).to_le_bytes();
        file.extend([1_u32.to_le_bytes(), ticks.to_le_bytes(), length, length].concat());
        file.extend(frame);
    }
    file
}

const MICROSECONDS: u32 = 0xa1b2_c3d4;
const NANOSECONDS: u32 = 0xa1b2_3c4d;
const RAW: u32 = 101;

/// A block of pcapng.
fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let padded = body.len().next_multiple_of(4);
    let length = (padded as u32 + 12).to_le_bytes();
    let mut block = [kind.to_le_bytes(), length].concat();
    block.extend(body);
    block.resize(8 + padded, 0);
    block.extend(length);
    block
}

/// A pcapng with one interface, its options as given, and packets with 64-bit stamps.
fn pcapng(options: &[u8], packets: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let section = [0x1a2b_3c4d_u32.to_le_bytes(), [1, 0, 0, 0], [0xff; 4], [0xff; 4]].concat();
    let mut interface = [(RAW as u16).to_le_bytes(), [0; 2]].concat();
    interface.extend(65535_u32.to_le_bytes());
    interface.extend(options);
    let mut file = [block(0x0a0d_0d0a, &section), block(1, &interface)].concat();
    for (stamp, packet) in packets {
        let length = (packet.len() as u32).to_le_bytes();
        let [high, low] = [(stamp >> 32) as u32, *stamp as u32].map(u32::to_le_bytes);
        let mut body = [[0; 4], high, low, length, length].concat();
        body.extend(packet);
        file.extend(block(6, &body));
    }
    file
}

fn packets(file: &[u8]) -> Vec<(Record, Vec<u8>)> {
    read(Cursor::new(file.to_vec())).unwrap().packets
}

fn stamps(file: &[u8]) -> Vec<u64> {
    packets(file).iter().map(|(record, _)| record.arrival.as_nanos()).collect()
}

fn directions(transport: &[Vec<u8>]) -> Vec<Direction> {
    let frames: Vec<_> = transport.iter().map(|packet| (0, packet.clone())).collect();
    packets(&pcap(MICROSECONDS, RAW, &frames)).iter().map(|(record, _)| record.port.direction()).collect()
}

#[test]
fn stamps_are_nanoseconds_whatever_the_files_unit() {
    let packet = udp(CLIENT, SERVER, 4);
    assert_eq!(stamps(&pcap(MICROSECONDS, RAW, &[(7, packet.clone())])), [1_000_007_000]);
    assert_eq!(stamps(&pcap(NANOSECONDS, RAW, &[(7, packet.clone())])), [1_000_000_007]);
    let resolution = |value: u8| [9, 0, 1, 0, value, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(stamps(&pcapng(&[], &[(1_000_007, packet.clone())])), [1_000_007_000]);
    assert_eq!(stamps(&pcapng(&resolution(9), &[(5_000_000_007, packet.clone())])), [5_000_000_007]);
    assert_eq!(stamps(&pcapng(&resolution(0x80 | 10), &[(1536, packet)])), [1_500_000_000]);
}

#[test]
fn ip_is_found_behind_each_link_layer() {
    let ip = udp(CLIENT, SERVER, 4);
    let behind = |link_type, header: &[u8]| {
        packets(&pcap(MICROSECONDS, link_type, &[(0, [header, &ip].concat())])).pop().map(|(_, packet)| packet)
    };
    let ethernet = [[0; 12].as_slice(), &[8, 0]].concat();
    let tagged = [[0; 12].as_slice(), &[0x88, 0xa8, 0, 5, 0x81, 0, 0, 6, 8, 0]].concat();
    let cooked = [[0; 14].as_slice(), &[8, 0]].concat();
    let cooked_2 = [[8, 0].as_slice(), &[0; 18]].concat();
    for (link_type, header) in
        [(1, ethernet), (1, tagged), (113, cooked), (276, cooked_2), (0, vec![2, 0, 0, 0]), (101, vec![])]
    {
        assert_eq!(behind(link_type, &header), Some(ip.clone()), "link type {link_type}");
    }
    let arp = [[0; 12].as_slice(), &[8, 6]].concat();
    assert_eq!(behind(1, &arp), None);
}

#[test]
fn the_size_is_that_of_the_ip_header_and_not_of_padding_or_what_was_kept() {
    let ip = udp(CLIENT, SERVER, 1);
    let mut padded = [[0; 12].as_slice(), &[8, 0], &ip].concat();
    padded.resize(60, 0);
    assert_eq!(packets(&pcap(MICROSECONDS, 1, &[(0, padded)]))[0].0.size, 29);
    let v6 = udp((IpAddr::V6([1; 16].into()), 1), (IpAddr::V6([2; 16].into()), 2), 10);
    assert_eq!(packets(&pcap(MICROSECONDS, RAW, &[(0, v6)]))[0].0.size, 58);
    let mut left_to_the_card = ip;
    left_to_the_card[2..4].fill(0);
    assert_eq!(packets(&pcap(MICROSECONDS, RAW, &[(0, left_to_the_card)]))[0].0.size, 29);
}

#[test]
fn cut_off_other_and_incomplete_packets_are_counted() {
    let ip = udp(CLIENT, SERVER, 100);
    let mut cut = pcap(MICROSECONDS, RAW, &[(0, ip.clone()), (1, vec![0xff; 4])]);
    cut.extend([1_u32.to_le_bytes(), 2_u32.to_le_bytes(), 40_u32.to_le_bytes(), 128_u32.to_le_bytes()].concat());
    cut.extend(&ip[..40]);
    let captured = read(Cursor::new(cut.clone())).unwrap();
    assert_eq!((captured.packets.len(), captured.in_part, captured.other_frames, captured.torn), (2, 1, 1, false));
    assert_eq!(captured.packets[1].0.size, 128);
    cut.truncate(cut.len() - 1);
    let torn = read(Cursor::new(cut)).unwrap();
    assert_eq!((torn.packets.len(), torn.torn), (1, true));
}

#[test]
fn a_packet_captured_in_less_than_its_headers_is_short_and_not_another_frame() {
    let ethernet = |behind: &[u8]| [[0; 12].as_slice(), behind, &udp(CLIENT, SERVER, 100)].concat();
    let (plain, tagged, arp) = (ethernet(&[8, 0]), ethernet(&[0x81, 0, 0, 6, 8, 0]), ethernet(&[8, 6]));
    let counted = |link_type, frame: &[u8], on_wire: usize, kept: usize| {
        let mut file = pcap(MICROSECONDS, link_type, &[]);
        file.extend([0, 0, kept as u32, on_wire as u32].map(u32::to_le_bytes).concat());
        file.extend(&frame[..kept]);
        let captured = read(Cursor::new(file)).unwrap();
        (captured.packets.len(), captured.short, captured.other_frames)
    };
    let (packet, short, other) = ((1, 0, 0), (0, 1, 0), (0, 0, 1));
    for kept in [4, 13, 14, 30, 33] {
        assert_eq!(counted(1, &plain, plain.len(), kept), short, "{kept} bytes");
    }
    assert_eq!(counted(1, &plain, plain.len(), 34), packet);
    for kept in [14, 16, 17, 37] {
        assert_eq!(counted(1, &tagged, tagged.len(), kept), short, "{kept} bytes behind a tag");
    }
    assert_eq!(counted(101, &plain[14..], plain.len() - 14, 19), short);
    assert_eq!(counted(0, &plain, plain.len(), 3), short);
    assert_eq!(counted(1, &arp, arp.len(), 30), other);
    assert_eq!(counted(1, &plain, 30, 30), other, "nothing more was there to capture");
}

#[test]
fn a_link_type_that_is_not_understood_is_named() {
    let words = |link_type| read(Cursor::new(pcap(MICROSECONDS, link_type, &[]))).unwrap_err().to_string();
    let understood = "Ethernet, raw IP, Linux cooked and loopback are understood";
    assert_eq!(words(195), format!("has link type 195 (IEEE 802.15.4); {understood}"));
    assert_eq!(words(147), format!("has link type 147; {understood}"));
}

#[test]
fn the_sender_of_the_syn_is_the_client() {
    let up = Direction::Uplink;
    let down = Direction::Downlink;
    let swapped = [tcp(SERVER, CLIENT, "S", 1), tcp(CLIENT, SERVER, "SA", 5), tcp(SERVER, CLIENT, "A", 2)];
    assert_eq!(directions(&swapped), [up, down, up]);
    assert_eq!(directions(&[tcp(CLIENT, SERVER, "SA", 5), tcp(SERVER, CLIENT, "A", 2)]), [down, up]);
}

#[test]
fn without_a_syn_the_client_has_the_higher_port_or_sent_first() {
    let [up, down] = [Direction::Uplink, Direction::Downlink];
    assert_eq!(directions(&[tcp(SERVER, CLIENT, "A", 1), tcp(CLIENT, SERVER, "A", 1)]), [down, up]);
    let (one, other) = ((CLIENT.0, 5683), (SERVER.0, 5683));
    assert_eq!(directions(&[udp(other, one, 1), udp(one, other, 1), udp(other, one, 1)]), [up, down, up]);
}

#[test]
fn a_syn_after_the_first_segments_decides_from_then_on() {
    let seen = directions(&[tcp(SERVER, CLIENT, "A", 1), tcp(SERVER, CLIENT, "S", 9), tcp(CLIENT, SERVER, "SA", 3)]);
    assert_eq!(seen, [Direction::Downlink, Direction::Uplink, Direction::Downlink]);
}

#[test]
fn a_torn_last_packet_is_ignored() {
    let frames = [(1, udp(CLIENT, SERVER, 4)), (2, udp(CLIENT, SERVER, 4))];
    let file = pcap(MICROSECONDS, RAW, &frames);
    assert_eq!(packets(&file[..file.len() - 3]).len(), 1);
}

#[test]
fn what_cannot_be_read_is_refused_with_the_reason() {
    let error = |file: Vec<u8>| read(Cursor::new(file)).unwrap_err();
    assert_eq!(error(b"PING example.org".to_vec()), CaptureError::NotACapture);
    assert_eq!(error(vec![]), CaptureError::NotACapture);
    assert_eq!(error(pcap(MICROSECONDS, 127, &[])), CaptureError::LinkType(127));
    let mut other_interface = pcapng(&[], &[(5, udp(CLIENT, SERVER, 4)), (6, udp(CLIENT, SERVER, 4))]);
    let second = other_interface.len() - block(6, &[0; 20]).len() - udp(CLIENT, SERVER, 4).len();
    other_interface[second + 8] = 3;
    assert_eq!(error(other_interface), CaptureError::Interface(3));
    let mut broken = pcapng(&[], &[(5, udp(CLIENT, SERVER, 4)), (6, udp(CLIENT, SERVER, 4))]);
    broken[second + 4] = 1;
    assert_eq!(error(broken), CaptureError::Broken(1));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_frame_makes_it_panic(link_type in prop::sample::select(vec![1, 113, 276, 0, 108, 101, 12, 14, 228, 229]), frame in prop::collection::vec(any::<u8>(), 0..120)) {
        prop_assert!(packets(&pcap(MICROSECONDS, link_type, &[(0, frame)])).len() <= 1);
    }

    #[test]
    fn no_change_to_a_file_makes_it_panic(at in 0..200usize, byte: u8, ng: bool) {
        let packet = udp(CLIENT, SERVER, 4);
        let mut file = if ng { pcapng(&[], &[(5, packet)]) } else { pcap(MICROSECONDS, RAW, &[(5, packet)]) };
        let last = file.len() - 1;
        file[at.min(last)] = byte;
        let _ = read(Cursor::new(file));
    }
}
