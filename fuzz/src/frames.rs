//! Frames of any bytes and size through a slot's link: every one is carried, dropped or held, the log tells each, its replay agrees, and what tells
//! flows apart needs no more of a packet than is logged. The link rests when a frame asks for it.

use std::time::Duration;

use arbitrary::{Result, Unstructured};
use wirelab_agent::inputs;
use wirelab_capture::dissect::rows;
use wirelab_capture::flow::{FLOW_BYTES, Flows};
use wirelab_capture::log_file;
use wirelab_capture::packet_log::LogWriter;
use wirelab_capture::replay::replay;
use wirelab_net::link::Instant;
use wirelab_net::slot::{Carried, Offered, Trial};
use wirelab_net::socket::{ETHERNET_BYTES, Frame};
use wirelab_net::topology::Sides;
use wirelab_net::{DirectionCounts, SlotReport};

use crate::mutate;

/// Frames of one trial, at most.
const MAX_FRAMES: usize = 64;
/// Seed of the links.
const SEED: u64 = 7;

/// The bytes choose a link, and are frames.
pub fn check(bytes: &[u8]) {
    // What is too short for its choices has ended.
    let _ = try_check(&mut Unstructured::new(bytes));
}

/// Packets with and without fragments, extension headers, errors that quote others, a request to rest between two others, and bytes that are not a
/// packet; of IPv4 and IPv6.
pub fn seeds() -> Vec<Vec<u8>> {
    let packets: Vec<Vec<u8>> = PACKETS.iter().map(|packet| from_hex(packet)).collect();
    let one_by_one =
        packets.iter().flat_map(|packet| (0..mutate::links().len()).map(|link| trial(link as u8, &[packet])));
    let all = (0..mutate::links().len()).map(|link| trial(link as u8, &packets.iter().collect::<Vec<_>>()));
    let rests = (0..mutate::links().len()).map(|link| rest(link as u8, &packets[0]));
    one_by_one.chain(all).chain(rests).collect()
}

/// A packet log of a trial with these frames; nothing if the bytes do not describe a trial.
pub fn log(bytes: &[u8]) -> Option<Vec<u8>> {
    play(&mut Unstructured::new(bytes)).ok().map(|(_, log)| log)
}

/// IPv4: UDP; TCP with SYN; the first and a later fragment of a datagram, and one that overlaps; an ICMP error that quotes UDP; options. IPv6: UDP;
/// UDP behind hop-by-hop options, routing and a fragment header; a later fragment; an ICMPv6 error that quotes UDP. QUIC's first flight. An
/// extension header that is longer than its packet; no packet.
const PACKETS: [&str; 14] = [
    "4500002400010000401100000a4d00010a4d0002138800350010000048656c6c6f210000",
    "4500002800010000400600000a4d00010a4d0002c35001bb00000009000000005002ffff00000000",
    "4500002400012000401100000a4d00010a4d0002138800350010000048656c6c6f210000",
    "4500002400010002401100000a4d00010a4d00020102030405060708090a0b0c0d0e0f10",
    "4500002400012001401100000a4d00010a4d00020102030405060708090a0b0c0d0e0f10",
    "4500003800010000400100000a4d00020a4d000103030000000000004500002400010000401100000a4d00010a4d00021388003500100000",
    "4f00003c00010000401100000a4d00010a4d0002010101010101010101010101010101010101010101010101010101010101010101010101010101010101010113880035",
    "6000000000101140fd4d0000000000000000000000000001fd4d00000000000000000000000000021388003500100000 48656c6c6f212121",
    "6000000000280040fd4d0000000000000000000000000001fd4d0000000000000000000000000002 2b00010400000000 2c00000000000000 1100000100000001 1388003500100000 48656c6c6f212121",
    "6000000000182c40fd4d0000000000000000000000000001fd4d0000000000000000000000000002 1100001100000001 0102030405060708 090a0b0c0d0e0f10",
    "6000000000403a40fd4d0000000000000000000000000002fd4d0000000000000000000000000001 0100000000000000 6000000000101140fd4d0000000000000000000000000001fd4d0000000000000000000000000002 1388003500100000 48656c6c6f212121",
    "4500003000010000401100000a4d00010a4d0002c35001bb001c0000 c00000000108aabbccddeeff001100 00004201020304",
    "6000000000080040fd4d0000000000000000000000000001fd4d0000000000000000000000000002 3cff000000000000",
    "0000000000000000000000000000000000000000",
];

/// UDP to port 9: rest for 10 s once the link was silent for 1 us.
const REQUEST: &str =
    "4500003400010000401100000a4d00010a4d00021388000900200000 574c524553540001 00000002540be400 00000000000003e8";

fn from_hex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().filter_map(|digit| digit.to_digit(16)).collect();
    digits.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | *digit as u8)).collect()
}

/// In the order in which [`play`] takes it.
fn trial(link: u8, packets: &[&Vec<u8>]) -> Vec<u8> {
    let frames = packets.iter().enumerate().map(|(index, packet)| framed(index as u8 % 2, 50, packet));
    [vec![link, 0, 96], frames.collect::<Vec<_>>().concat()].concat()
}

/// A packet, a request, and 65 ms later the packet again.
fn rest(link: u8, packet: &[u8]) -> Vec<u8> {
    let frames = [framed(0, 50, packet), framed(0, 50, &from_hex(REQUEST)), framed(0, 65_000, packet)];
    [vec![link, 0, 96], frames.concat()].concat()
}

/// A packet that comes at this port so many microseconds after the one before.
fn framed(port: u8, after_us: u16, packet: &[u8]) -> Vec<u8> {
    let ether_type: [u8; 2] = if packet[0] >> 4 == 6 { [0x86, 0xdd] } else { [8, 0] };
    let length = (ETHERNET_BYTES + packet.len()) as u16;
    let head = [&[port][..], &after_us.to_le_bytes(), &length.to_le_bytes()].concat();
    [&head[..], &[2; 12], &ether_type, packet].concat()
}

fn try_check(input: &mut Unstructured<'_>) -> Result<()> {
    let (report, log) = play(input)?;
    for DirectionCounts { received, originated, duplicated, delivered, dropped, held, .. } in &report.directions {
        let entered = received + originated + duplicated;
        assert_eq!(entered, delivered + dropped.iter().sum::<u64>() + held, "{report:?}");
    }
    let log = log_file::parse(&log[..]).expect("a log of our own");
    let received: u64 = report.directions.iter().map(|counts| counts.received).sum();
    let originated: u64 = report.directions.iter().map(|counts| counts.originated).sum();
    let packets = received + originated + report.directions.iter().map(|counts| counts.duplicated).sum::<u64>();
    assert_eq!(rows::packets(&log).count() as u64, packets);
    assert_eq!(rows::flows("log", &log).iter().flat_map(|flow| flow.packets).sum::<u64>(), received);
    let replay = replay("log".to_owned(), &log).expect("its link was built before");
    assert_eq!((replay.packets, replay.mismatches), (packets, 0), "{replay:?}");
    Ok(())
}

fn play(input: &mut Unstructured<'_>) -> Result<(SlotReport, Vec<u8>)> {
    let links = mutate::links();
    let spec = &links[usize::from(input.arbitrary::<u8>()?) % links.len()];
    let (link, tells_flows_apart) = inputs::link(spec.to_string().as_bytes(), SEED).expect("a link of our own");
    let lead = if input.arbitrary()? { 10 } else { 0 };
    let minimum = if tells_flows_apart { FLOW_BYTES as u8 } else { 0 };
    let header_bytes = input.arbitrary::<u8>()?.max(minimum);
    let header = serde_json::json!({"schema_version": 1, "link": spec, "seed": SEED, "ports": ["client", "server"]});
    let log = LogWriter::new(Vec::new(), header.to_string().as_bytes()).expect("memory takes it");
    let mut now = Instant::from_nanos(1_000_000_000);
    let flows = tells_flows_apart.then(Flows::default);
    let carried = Carried { sides: Sides::PAIR, lead };
    let mut trial = Trial::new(Box::new(link), carried, Some(log), header_bytes, None, flows, now).resting();
    let (mut whole, mut logged, mut spare) = (Flows::default(), Flows::default(), Vec::new());
    for _ in 0..MAX_FRAMES {
        if input.is_empty() {
            break;
        }
        let port = usize::from(input.arbitrary::<bool>()?);
        now = now + Duration::from_micros(input.arbitrary::<u16>()?.into());
        let length = usize::from(input.arbitrary::<u16>()?).min(input.len());
        let bytes = [&[0; 10][..lead], input.bytes(length)?].concat();
        let frame =
            Frame { stamp_ns: now.as_nanos(), bytes: &bytes, lead, oversized: length > ETHERNET_BYTES + 65_535 };
        if frame.is_unicast_ip() {
            let packet = &bytes[lead + ETHERNET_BYTES..];
            assert_eq!(whole.read(packet), logged.read(&packet[..packet.len().min(FLOW_BYTES)]));
        }
        trial.receive(port, &frame, now, &mut spare);
        trial.send(now, |_, frames| Offered::Taken(frames.len()), &mut spare);
    }
    let end = now + Duration::from_millis(50);
    trial.send(end, |_, frames| Offered::Taken(frames.len()), &mut spare);
    let (report, log, _) = trial.end(end);
    Ok((report, log.expect("it was given one").finish().expect("memory takes it")))
}
