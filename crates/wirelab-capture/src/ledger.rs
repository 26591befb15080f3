//! What the bytes of captured trials were spent on, layer by layer. Each byte counts once. What no secret opens is counted, never guessed.

mod keys;
mod link_layer;
mod quic;
mod tls;

use std::fs::{self, File};
use std::path::Path;

use crate::capture;
use crate::dissect::{Dissection, Dissector, Transport};
use crate::packet_log::Record;
use anyhow::{Context, Result, ensure};
use wirelab_link::{Direction, PortId};
use wirelab_schema::{Ledger, LedgerBytes};

use crate::flow::Flows;
use crate::log_file::{self, Log};
use crate::translation::{End, translate};
use keys::Secrets;

/// In a trial's folder.
const PACKET_LOG: &str = "packets.wlpl";

/// Of a trial's folder. Each end's capture has what that end sent, whether it arrived or not.
pub fn of_trial(folder: &Path) -> Result<Ledger> {
    let read = |end: &str, direction: Direction| -> Result<Vec<(Record, Vec<u8>)>> {
        let path = folder.join(format!("{end}.pcapng"));
        let file = File::open(&path).with_context(|| format!("opening {}", path.display()))?;
        let port = PortId(direction.index() as u16);
        capture::read_sent(file, port).with_context(|| path.display().to_string())
    };
    let mut packets = read("client", Direction::Uplink)?;
    let mut answers = read("server", Direction::Downlink)?;
    let log = folder.join(PACKET_LOG);
    let link = log_file::link(&log)?;
    if link.as_ref().is_some_and(|link| link.nat.is_some()) {
        as_the_client_knows(&mut answers, &log_file::read(&log)?)?;
    }
    packets.extend(answers);
    packets.sort_by_key(|(record, _)| record.arrival);
    let logs = ["client", "server"].map(|end| fs::read_to_string(folder.join(end).join("tls-secrets.txt")));
    let secrets = Secrets::read(&logs.into_iter().flatten().collect::<String>());
    let mut directions = account(&packets, &secrets);
    if let Some(link) = &link {
        for direction in [Direction::Uplink, Direction::Downlink] {
            let added = link_layer::added_bytes(link, direction);
            let sent = packets.iter().map(|(record, _)| record).filter(|record| record.port.direction() == direction);
            directions[direction.index()].link_layer =
                added(0).map(|_| sent.filter_map(|record| added(record.size)).sum());
        }
    }
    Ok(Ledger { trial: folder.display().to_string(), directions })
}

/// Give packets that the server sent the client's own end: their capture has the one that a NAT translates, and the packet log both.
///
/// Of those that reached the link at the same instant, that end says which is which: it is one client's then.
fn as_the_client_knows(answers: &mut [(Record, Vec<u8>)], log: &Log) -> Result<()> {
    let server = log.header.ports.iter().position(|host| host == "server");
    let is_sent = |record: &Record| Some(usize::from(record.port.0)) == server && !record.copy && !record.originated;
    let mut flows = Flows::default();
    let mut logged: Vec<_> = (log.records.iter().filter(|(record, _)| is_sent(record)))
        .map(|(record, bytes)| {
            let inner = flows.read(bytes).1.map(|ends| ends.destination);
            (record.arrival, record.translated.or(inner), inner.filter(|_| record.translated.is_some()))
        })
        .collect();
    logged.sort_unstable();
    ensure!(logged.len() == answers.len(), "the server's capture and the packet log have other packets");
    let mut flows = Flows::default();
    let mut sent: Vec<_> = (answers.iter_mut())
        .map(|(record, packet)| (record.arrival, flows.read(packet).1.map(|ends| ends.destination), packet))
        .collect();
    sent.sort_by_key(|(arrival, outer, _)| (*arrival, *outer));
    for ((_, _, packet), (_, _, inner)) in sent.into_iter().zip(logged) {
        if let Some(inner) = inner {
            translate(packet, End::Destination, inner);
        }
    }
    Ok(())
}

/// What packets in order of their stamps were spent on.
pub fn account(packets: &[(Record, Vec<u8>)], secrets: &Secrets) -> [LedgerBytes; 2] {
    let mut dissector = Dissector::default();
    let mut flows: Vec<Flow> = Vec::new();
    let mut bytes = [LedgerBytes::default(); 2];
    for (record, packet) in packets {
        let dissection = dissector.dissect(record, packet);
        if dissection.flow == flows.len() {
            flows.push(Flow::default());
        }
        let side = record.port.direction().index();
        bytes[side].packets += 1;
        bytes[side].total += u64::from(record.size);
        flows[dissection.flow].take(&mut bytes[side], side, record.size, packet, &dissection);
    }
    for flow in flows {
        flow.close(&mut bytes, secrets);
    }
    bytes
}

/// What the packets of a flow carried.
#[derive(Default)]
struct Flow {
    /// Of TCP, from each side: where they begin, and bytes.
    segments: [Vec<(u32, Vec<u8>)>; 2],
    datagrams: Vec<Datagram>,
}

/// What a UDP datagram carried, from one of the two sides.
struct Datagram {
    side: usize,
    /// Bytes of the IP headers, one for each fragment, and of the UDP header.
    headers: [u64; 2],
    payload: Vec<u8>,
}

impl Flow {
    /// Account for a packet's headers, and keep what they carry.
    fn take(&mut self, bytes: &mut LedgerBytes, side: usize, size: u32, packet: &[u8], dissection: &Dissection) {
        let payload = dissection.payload_bytes.min(packet.len() as u32);
        let headers = size - payload;
        let carried = packet[(size as usize).min(packet.len()) - payload as usize..][..payload as usize].to_vec();
        match (dissection.transport, &dissection.tcp) {
            (Transport::Tcp, Some(segment)) => {
                if payload == 0 {
                    let set_up = segment.flags.contains(['S', 'F', 'R']);
                    *(if set_up { &mut bytes.connection } else { &mut bytes.acknowledgements }) += u64::from(headers);
                    return;
                }
                let ip = ip_bytes(packet).min(headers.into());
                bytes.ip += ip;
                bytes.transport += u64::from(headers) - ip;
                self.segments[side].push((segment.sequence, carried));
            }
            (Transport::Udp, _) if dissection.later_fragment => {
                // An end sends the fragments of a datagram one after another.
                match self.datagrams.iter_mut().rfind(|datagram| datagram.side == side) {
                    Some(datagram) => {
                        datagram.headers[0] += u64::from(headers);
                        datagram.payload.extend(carried);
                    }
                    None => bytes.other += u64::from(size),
                }
            }
            (Transport::Udp, _) if dissection.ports.is_some() && headers > UDP_BYTES as u32 => {
                let headers = [u64::from(headers) - UDP_BYTES, UDP_BYTES];
                self.datagrams.push(Datagram { side, headers, payload: carried });
            }
            _ => bytes.other += u64::from(size),
        }
    }

    fn close(self, bytes: &mut [LedgerBytes; 2], secrets: &Secrets) {
        let streams = self.segments.map(stream);
        for (side, (_, retransmitted)) in streams.iter().enumerate() {
            bytes[side].retransmitted += retransmitted;
        }
        let [client, server] = streams.map(|(bytes, _)| bytes);
        if tls::is_tls(&client) {
            let suite = tls::suite(&server);
            for (side, stream) in [client, server].iter().enumerate() {
                tls::account_stream(stream, side, suite, secrets, &mut bytes[side]);
            }
        } else {
            for (side, stream) in [client, server].iter().enumerate() {
                bytes[side].application += stream.len() as u64;
            }
        }
        datagrams(&self.datagrams, bytes, secrets);
    }
}

const UDP_BYTES: u64 = 8;

/// The datagrams of one flow.
fn datagrams(datagrams: &[Datagram], bytes: &mut [LedgerBytes; 2], secrets: &Secrets) {
    let Some(first) = datagrams.first() else { return };
    if crate::dissect::quic::packet_types(&first.payload, false).is_empty() {
        let suite = datagrams.iter().find_map(|datagram| tls::datagram_suite(&datagram.payload));
        let sealed = tls::is_dtls(&first.payload);
        for Datagram { side, headers: [ip, udp], payload } in datagrams {
            let bytes = &mut bytes[*side];
            (bytes.ip, bytes.transport) = (bytes.ip + ip, bytes.transport + udp);
            if sealed {
                tls::account_datagram(payload, suite, bytes);
            } else {
                bytes.application += payload.len() as u64;
            }
        }
        return;
    }
    let mut connection = quic::Connection::new(secrets);
    for Datagram { side, headers: [ip, udp], payload } in datagrams {
        let spent = connection.datagram(*side, payload);
        let bytes = &mut bytes[*side];
        if spent.only_acknowledges {
            bytes.acknowledgements += ip + udp + payload.len() as u64;
            continue;
        }
        bytes.ip += ip;
        bytes.transport += udp + spent.transport;
        bytes.handshake += spent.handshake;
        bytes.protection += spent.protection;
        bytes.application += spent.application;
        bytes.sealed += spent.sealed;
    }
}

/// A side's bytes in their order, and how many were retransmitted. What was captured nowhere leaves no gap.
fn stream(mut segments: Vec<(u32, Vec<u8>)>) -> (Vec<u8>, u64) {
    segments.sort_by_key(|(sequence, _)| *sequence);
    let (mut stream, mut retransmitted, mut next) = (Vec::new(), 0, 0);
    for (sequence, bytes) in segments {
        let known = (u64::saturating_sub(next, u64::from(sequence)) as usize).min(bytes.len());
        retransmitted += known as u64;
        stream.extend_from_slice(&bytes[known..]);
        next = next.max(u64::from(sequence) + bytes.len() as u64);
    }
    (stream, retransmitted)
}

/// Bytes of an IP header in front of a transport's.
fn ip_bytes(packet: &[u8]) -> u64 {
    match packet.first().map(|first| first >> 4) {
        Some(4) => u64::from(packet[0] & 0xf) * 4,
        _ => 40,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::packet_log::Outcome;
    use proptest::prelude::*;
    use wirelab_link::{Instant, PortId};

    use super::*;

    /// An IPv4 packet between the ports of a client and a server, with these bytes behind its TCP or UDP header.
    fn packet(side: usize, tcp: bool, flags: u8, sequence: u8, payload: &[u8]) -> (Record, Vec<u8>) {
        let header_bytes = if tcp { 40 } else { 28 };
        let size = header_bytes + payload.len();
        let ([source, destination], [from, to]) =
            if side == 0 { ([1, 2], [[195, 80], [1, 187]]) } else { ([2, 1], [[1, 187], [195, 80]]) };
        let protocol = if tcp { 6 } else { 17 };
        let length = (size as u16).to_be_bytes();
        let mut bytes = vec![0x45, 0, length[0], length[1], 0, 0, 0x40, 0, 64, protocol, 0, 0];
        bytes.extend([10, 0, 0, source, 10, 0, 0, destination]);
        bytes.extend([from, to].concat());
        if tcp {
            bytes.extend([0, 0, 0, sequence, 0, 0, 0, 0, 0x50, flags, 0, 0, 0, 0, 0, 0]);
        } else {
            bytes.extend(((payload.len() + 8) as u16).to_be_bytes());
            bytes.extend([0, 0]);
        }
        bytes.extend(payload);
        let record = Record {
            sequence: 0,
            port: PortId(side as u16),
            outcome: Outcome::Delivered,
            translated: None,
            originated: false,
            copy: false,
            corrupted_bit: None,
            size: size as u32,
            arrival: Instant::default(),
            departure: Instant::default(),
            lateness: Duration::ZERO,
        };
        (record, bytes)
    }

    fn parts(bytes: &LedgerBytes) -> u64 {
        let headers = bytes.ip + bytes.transport + bytes.connection + bytes.acknowledgements + bytes.retransmitted;
        headers + bytes.handshake + bytes.protection + bytes.application + bytes.sealed + bytes.other
    }

    #[test]
    fn a_plain_exchange_is_its_headers_its_bytes_and_what_carries_nothing() {
        let packets = [
            packet(0, true, 0x02, 0, b""),
            packet(1, true, 0x12, 0, b""),
            packet(0, true, 0x10, 1, b""),
            packet(0, true, 0x18, 1, b"request"),
            packet(0, true, 0x18, 1, b"request"),
            packet(1, true, 0x19, 1, b"answer"),
        ];
        let [up, down] = account(&packets, &Secrets::default());
        let expected = LedgerBytes {
            packets: 4,
            total: 174,
            ip: 40,
            transport: 40,
            connection: 40,
            acknowledgements: 40,
            retransmitted: 7,
            application: 7,
            ..LedgerBytes::default()
        };
        assert_eq!(up, expected);
        assert_eq!((down.connection, down.ip, down.transport, down.application, down.total), (40, 20, 20, 6, 86));
    }

    /// The datagram of these packets in fragments: of its first, cut after `at` bytes of payload, and the rest.
    fn fragmented(payload: &[u8], at: usize) -> [(Record, Vec<u8>); 2] {
        let (record, mut first) = packet(0, false, 0, 0, &payload[..at]);
        let offset = ((8 + at) / 8) as u8;
        let mut later = [&first[..20], &payload[at..]].concat();
        (first[6], later[6], later[7]) = (0x20, 0, offset);
        let later = (Record { size: later.len() as u32, ..record }, later);
        [(record, first), later]
    }

    #[test]
    fn the_fragments_of_a_datagram_are_one_with_an_ip_header_each() {
        // A record of DTLS with application data: the second fragment alone would be read as another.
        let payload = [&[23, 0xfe, 0xfd, 0, 1, 0, 0, 0, 0, 0, 1, 0, 67][..], &[0x41; 67]].concat();
        for (payload, at) in [(&payload[..], 40), (&[7; 80], 24)] {
            let whole = account(&[packet(0, false, 0, 0, payload)], &Secrets::default())[0];
            let [up, _] = account(&fragmented(payload, at), &Secrets::default());
            assert_eq!(up, LedgerBytes { packets: 2, total: whole.total + 20, ip: whole.ip + 20, ..whole });
            assert_eq!(parts(&up), up.total);
        }
    }

    fn beginning() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            Just(vec![]),
            Just(vec![22, 3, 3]),
            Just(vec![23, 3, 3, 0, 20]),
            Just(vec![22, 0xfe, 0xfd]),
            Just(vec![0xc0, 0, 0, 0, 1, 4, 1, 2, 3, 4, 2, 9, 9]),
            Just(vec![0x41, 9, 9]),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_bytes_are_counted_once(
            sent in prop::collection::vec((0..2usize, any::<bool>(), any::<u8>(), 0..60u8, beginning(), prop::collection::vec(any::<u8>(), 0..80)), 0..12),
            cut in 0..60usize,
        ) {
            let mut packets: Vec<_> = sent
                .into_iter()
                .map(|(side, tcp, flags, sequence, begin, rest)| packet(side, tcp, flags, sequence, &[begin, rest].concat()))
                .collect();
            if let Some((record, bytes)) = packets.last_mut() {
                bytes.truncate(cut);
                record.size = bytes.len() as u32;
            }
            let secrets = Secrets::read(&format!("CLIENT_TRAFFIC_SECRET_0 00 {}\n", "07".repeat(32)));
            for bytes in account(&packets, &secrets) {
                prop_assert_eq!(parts(&bytes), bytes.total);
            }
        }
    }

    #[test]
    fn bytes_of_a_stream_count_once_and_retransmissions_apart() {
        let segments = vec![(4, b"def".to_vec()), (1, b"abc".to_vec()), (2, b"bcd".to_vec()), (4, b"defg".to_vec())];
        assert_eq!(stream(segments), (b"abcdefg".to_vec(), 6));
        assert_eq!(stream(vec![]), (vec![], 0));
    }
}
