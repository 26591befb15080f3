//! The rows of a packet log: one for each packet, or one for each transport flow.

use std::collections::HashMap;
use std::net::SocketAddr;

use wirelab_link::{Direction, Instant};
use wirelab_schema::{DissectedPacket, ExpiryTreatment, Flow, MappingExpiry};

use super::{Dissection, Dissector};
use crate::log_file::{self, Log};
use crate::packet_log::{Outcome, Record};

pub(crate) fn dissections(log: &Log) -> impl Iterator<Item = (&Record, Dissection)> {
    let mut dissector = Dissector::default();
    log.records.iter().map(move |(record, packet)| (record, dissector.dissect(record, packet)))
}

/// The packets of a log in order of arrival.
pub fn packets(log: &Log) -> impl Iterator<Item = DissectedPacket> {
    let mut ends: HashMap<usize, SocketAddr> = HashMap::new();
    dissections(log).map(move |(record, dissection)| {
        // A late packet to the end before is no change.
        // An error of ICMP has the mapping of the packet that it tells of.
        let sent = record.port.direction() == Direction::Uplink && !record.originated && dissection.ports.is_some();
        let uplink = record.translated.filter(|_| sent);
        let before = uplink.and_then(|end| ends.insert(dissection.flow, end));
        let (retransmission, spurious) = dissection.retransmission_marks().unwrap_or_default();
        let Dissection { transport, ports, payload_bytes, tcp, quic, .. } = dissection;
        DissectedPacket {
            sequence: record.sequence,
            uplink: record.port.direction() == Direction::Uplink,
            size_bytes: record.size,
            arrival_ns: record.arrival.as_nanos(),
            departure_ns: record.departure.as_nanos(),
            lateness_ns: record.lateness.as_nanos() as u64,
            outcome: log_file::outcome(record.outcome),
            copy: record.copy,
            corrupted: record.corrupted_bit.is_some(),
            originated: record.originated,
            outer_end: record.translated.map(|end| end.to_string()),
            rebound: before.is_some() && before != uplink,
            transport: transport.to_string(),
            client_port: ports.map(|ports| ports.client),
            server_port: ports.map(|ports| ports.server),
            payload_bytes,
            tcp_sequence: tcp.as_ref().map(|segment| segment.sequence),
            tcp_acknowledgement: tcp.as_ref().and_then(|segment| segment.acknowledgement),
            retransmission,
            spurious,
            tcp_flags: tcp.map(|segment| segment.flags),
            quic_packet: quic,
        }
    })
}

/// The flows of a log in order of their first packet.
pub fn flows(name: &str, log: &Log) -> Vec<Flow> {
    let mut flows: Vec<Flow> = Vec::new();
    let mut mappings: Vec<Mapping> = Vec::new();
    let mut turns: Vec<Turns> = Vec::new();
    for (record, dissection) in dissections(log) {
        if dissection.flow == flows.len() {
            flows.push(Flow {
                log: name.to_owned(),
                transport: dissection.transport.to_string(),
                near: None,
                client_port: dissection.ports.map(|ports| ports.client),
                server_port: dissection.ports.map(|ports| ports.server),
                first_ns: record.arrival.as_nanos(),
                last_ns: record.arrival.as_nanos(),
                packets: [0; 2],
                bytes: [0; 2],
                duplicated: [0; 2],
                dropped: [0; 2],
                retransmissions: None,
                spurious: None,
                turns: 0,
                expiries: Vec::new(),
            });
            mappings.push(Mapping::default());
            turns.push(Turns::default());
        }
        let flow = &mut flows[dissection.flow];
        if flow.near.is_none() && record.port.direction() == Direction::Uplink && !record.originated {
            flow.near = log.header.ports.get(usize::from(record.port.0)).cloned();
        }
        if dissection.ports.is_some() {
            mappings[dissection.flow].read(record, &mut flow.expiries);
        }
        flow.turns += u64::from(turns[dissection.flow].take(record));
        count(flow, record, &dissection);
    }
    flows
}

/// Packets of a flow in turn: the direction of the last one, and when the first packet arrived that went with it.
#[derive(Default)]
struct Turns(Option<(Direction, Instant)>);

impl Turns {
    /// Whether a packet is the next in turn: one from the other side had arrived when it reached the link.
    fn take(&mut self, record: &Record) -> bool {
        if record.outcome != Outcome::Delivered || record.originated || record.corrupted_bit.is_some() {
            return false;
        }
        let (direction, arrival) = (record.port.direction(), record.departure + record.lateness);
        match &mut self.0 {
            // It may overtake the one before.
            Some((last, first)) if *last == direction => {
                *first = arrival.min(*first);
                false
            }
            Some((_, first)) if record.arrival < *first => false,
            last => {
                *last = Some((direction, arrival));
                true
            }
        }
    }
}

/// The mapping of a flow in the address translation, by the outcomes of its packets.
#[derive(Default)]
struct Mapping {
    end: Option<SocketAddr>,
    /// The flow's packets are dropped for lack of one.
    forgotten: bool,
}

impl Mapping {
    /// It is dropped for lack of the mapping that the flow had: down, what goes to an end of before is only late.
    fn is_missing(&self, record: &Record, uplink: bool) -> bool {
        let had = self.end.is_some() && (uplink || record.translated == self.end);
        had && record.outcome == Outcome::Nat && !record.originated
    }

    fn read(&mut self, record: &Record, expiries: &mut Vec<MappingExpiry>) {
        let uplink = record.port.direction() == Direction::Uplink;
        if record.originated && self.forgotten {
            expiries.iter_mut().last().expect("there is one once it is forgotten").treatment = ExpiryTreatment::Reset;
        } else if uplink
            && !record.originated
            && let Some(end) = record.translated
        {
            let before = self.end.replace(end);
            let was_forgotten = std::mem::take(&mut self.forgotten);
            if was_forgotten && before != Some(end) {
                expiries.iter_mut().last().expect("there is one once it is forgotten").treatment =
                    ExpiryTreatment::NewEnd;
            } else if !was_forgotten && before.is_some_and(|before| before != end) {
                expiries.push(MappingExpiry { at_ns: record.arrival.as_nanos(), treatment: ExpiryTreatment::NewEnd });
            }
        } else if self.is_missing(record, uplink) && !self.forgotten {
            self.forgotten = true;
            expiries.push(MappingExpiry { at_ns: record.arrival.as_nanos(), treatment: ExpiryTreatment::Dropped });
        }
    }
}

fn count(flow: &mut Flow, record: &Record, dissection: &Dissection) {
    let side = record.port.direction().index();
    if record.copy {
        flow.duplicated[side] += 1;
    } else if !record.originated {
        flow.packets[side] += 1;
        flow.bytes[side] += u64::from(record.size);
    }
    flow.dropped[side] += u64::from(record.outcome.is_drop() && !record.originated);
    if let Some((retransmission, spurious)) = dissection.retransmission_marks() {
        flow.retransmissions.get_or_insert_default()[side] += u64::from(retransmission);
        flow.spurious.get_or_insert_default()[side] += u64::from(spurious);
    }
    flow.first_ns = flow.first_ns.min(record.arrival.as_nanos());
    if record.outcome != Outcome::Held {
        flow.last_ns = flow.last_ns.max(record.departure.as_nanos());
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use wirelab_schema::{LinkSpec, PacketOutcome};

    use super::*;
    use crate::log_file::tests::{record, written};

    /// An IPv4 packet without payload: TCP with these flags from port 50000 to 443, or the other way.
    fn tcp(uplink: bool, flags: u8, sequence: u8) -> Vec<u8> {
        let ([source, destination], [from, to]) =
            if uplink { ([1, 2], [[195, 80], [1, 187]]) } else { ([2, 1], [[1, 187], [195, 80]]) };
        let mut packet = vec![0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, source, 10, 0, 0, destination];
        packet.extend([from, to].concat());
        packet.extend([0, 0, 0, sequence, 0, 0, 0, 0, 0x50, flags, 0, 0, 0, 0, 0, 0]);
        packet
    }

    fn log() -> Log {
        let udp = vec![0x45, 0, 0, 28, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0, 5, 0, 7, 0, 8, 0, 0];
        let records = [
            (record(0, 0, Outcome::Loss, 100, 110), tcp(true, 0x02, 9)),
            (record(1, 0, Outcome::Delivered, 200, 210), tcp(true, 0x02, 9)),
            (record(2, 1, Outcome::Delivered, 300, 310), tcp(false, 0x12, 3)),
            (record(3, 1, Outcome::Delivered, 400, 410), tcp(false, 0x12, 3)),
            (
                Record { copy: true, corrupted_bit: Some(1), ..record(3, 1, Outcome::Nat, 400, 405) },
                tcp(false, 0x12, 3),
            ),
            (record(4, 0, Outcome::Held, 500, 9000), udp),
        ];
        log_file::parse(&written(&LinkSpec::default(), 1, &records)[..]).unwrap()
    }

    #[test]
    fn a_flow_whose_outer_port_changes_is_one_flow_and_the_first_packet_from_there_says_so() {
        let outer = |port: u16| Some(SocketAddr::from(([10, 0, 0, 1], port)));
        let sent = |n, port: u16, end: u16| {
            let record = record(n, port, Outcome::Delivered, n, n);
            (Record { translated: outer(end), ..record }, tcp(port == 0, 0x10, 9))
        };
        let records = [sent(0, 0, 7000), sent(1, 1, 7000), sent(2, 0, 8000), sent(3, 1, 7000), sent(4, 0, 8000)];
        let log = log_file::parse(&written(&LinkSpec::default(), 1, &records)[..]).unwrap();
        let rebound: Vec<_> = packets(&log).map(|packet| packet.rebound).collect();
        assert_eq!(rebound, [false, false, true, false, false]);
        assert_eq!(packets(&log).nth(2).unwrap().outer_end.as_deref(), Some("10.0.0.1:8000"));
        let flows = flows("log", &log);
        assert_eq!(flows.len(), 1);
        assert_eq!(flows[0].expiries, [MappingExpiry { at_ns: 2, treatment: ExpiryTreatment::NewEnd }]);
    }

    #[test]
    fn errors_of_icmp_have_the_ends_of_the_packets_that_they_tell_of_and_are_no_change() {
        let error = |n, end: u16| {
            let record = record(n, 0, Outcome::Delivered, n, n);
            let packet =
                vec![0x45, 0, 0, 28, 0, 0, 0, 0, 64, 1, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 3, 3, 0, 0, 0, 0, 0, 0];
            (Record { translated: Some(SocketAddr::from(([10, 0, 0, 1], end))), ..record }, packet)
        };
        let log = log_file::parse(&written(&LinkSpec::default(), 1, &[error(0, 7000), error(1, 8000)])[..]).unwrap();
        assert!(packets(&log).all(|packet| !packet.rebound));
        assert_eq!(flows("log", &log)[0].expiries, []);
    }

    #[test]
    fn a_flow_that_is_dropped_after_it_passed_was_forgotten_once() {
        let segment = |n, port: u16, outcome| (record(n, port, outcome, n, n), tcp(port == 0, 0x10, 9));
        let translated = |n, port| {
            let (record, packet) = segment(n, port, Outcome::Delivered);
            (Record { translated: Some(SocketAddr::from(([10, 0, 0, 1], 7000))), ..record }, packet)
        };
        let reset = (Record { originated: true, ..record(3, 1, Outcome::Delivered, 3, 3) }, tcp(false, 0x04, 9));
        let of = |records: &[(Record, Vec<u8>)]| {
            let log = log_file::parse(&written(&LinkSpec::default(), 1, records)[..]).unwrap();
            flows("log", &log).remove(0).expiries
        };
        let dropped = [translated(0, 0), translated(1, 1), segment(3, 0, Outcome::Nat), segment(4, 0, Outcome::Nat)];
        assert_eq!(of(&dropped), [MappingExpiry { at_ns: 3, treatment: ExpiryTreatment::Dropped }]);
        let answered = [&dropped[..3], &[reset], &dropped[3..]].concat();
        assert_eq!(of(&answered), [MappingExpiry { at_ns: 3, treatment: ExpiryTreatment::Reset }]);
        let log = log_file::parse(&written(&LinkSpec::default(), 1, &answered)[..]).unwrap();
        assert_eq!(flows("log", &log)[0].packets, [3, 1], "the reset reached no link");
        assert_eq!(of(&dropped[2..]), [], "it never had a mapping");
        let late = (
            Record { translated: Some(SocketAddr::from(([10, 0, 0, 1], 7000))), ..record(2, 1, Outcome::Nat, 2, 2) },
            tcp(false, 0x10, 9),
        );
        let same = [&dropped[..2], &[late, translated(3, 0)]].concat();
        assert_eq!(
            of(&same),
            [MappingExpiry { at_ns: 2, treatment: ExpiryTreatment::Dropped }],
            "it has its port again"
        );
    }

    #[test]
    fn the_row_of_a_packet_has_the_values_of_the_schema() {
        let rows: Vec<_> = packets(&log()).collect();
        let expected = DissectedPacket {
            sequence: 3,
            uplink: false,
            size_bytes: 40,
            arrival_ns: 400,
            departure_ns: 410,
            lateness_ns: 0,
            outcome: PacketOutcome::Delivered,
            copy: false,
            corrupted: false,
            originated: false,
            outer_end: None,
            rebound: false,
            transport: "tcp".to_owned(),
            client_port: Some(50_000),
            server_port: Some(443),
            payload_bytes: 0,
            tcp_flags: Some("SA".to_owned()),
            tcp_sequence: Some(0),
            tcp_acknowledgement: Some(0u32.wrapping_sub(9)),
            retransmission: true,
            spurious: true,
            quic_packet: None,
        };
        assert_eq!(rows[3], expected);
        assert_eq!((rows[1].retransmission, rows[1].spurious), (true, false));
        let copy = DissectedPacket {
            departure_ns: 405,
            outcome: PacketOutcome::Nat,
            copy: true,
            corrupted: true,
            retransmission: false,
            spurious: false,
            ..expected
        };
        assert_eq!(rows[4], copy);
        assert_eq!(
            (rows[5].transport.as_str(), rows[5].client_port, rows[5].outcome),
            ("udp", Some(5), PacketOutcome::Held)
        );
    }

    #[test]
    fn a_packet_is_in_turn_once_one_from_the_other_side_has_arrived() {
        let plain = |n, port: u16, arrival, departure| {
            (record(n, port, Outcome::Delivered, arrival, departure), tcp(port == 0, 0x10, 9))
        };
        let changed = |(record, packet): (Record, Vec<u8>), change: fn(&mut Record)| {
            let mut record = record;
            change(&mut record);
            (record, packet)
        };
        let turns = |records: &[(Record, Vec<u8>)]| {
            let log = log_file::parse(&written(&LinkSpec::default(), 1, records)[..]).unwrap();
            flows("log", &log)[0].turns
        };
        let request = [plain(0, 0, 0, 20), plain(1, 0, 5, 25)];
        let with = |more: &[(Record, Vec<u8>)]| turns(&[&request[..], more].concat());
        assert_eq!(with(&[]), 1, "both go the same way");
        assert_eq!(with(&[plain(2, 1, 19, 39)]), 1, "it set out before the request was there");
        let (answer, next) = (plain(2, 1, 20, 40), plain(3, 0, 41, 61));
        assert_eq!(with(std::slice::from_ref(&answer)), 2);
        assert_eq!(with(&[answer.clone(), next.clone()]), 3);
        let late = changed(answer.clone(), |record| record.lateness = Duration::from_nanos(2));
        assert_eq!(with(&[late, next.clone()]), 2, "the answer came at 42");
        let never: [fn(&mut Record); 4] = [
            |record| record.outcome = Outcome::Loss,
            |record| record.outcome = Outcome::Held,
            |record| record.originated = true,
            |record| record.corrupted_bit = Some(1),
        ];
        for change in never {
            assert_eq!(with(&[changed(answer.clone(), change), next.clone()]), 1, "no answer arrived");
        }
        let lost = changed(answer.clone(), |record| record.outcome = Outcome::Loss);
        let copy = changed(answer.clone(), |record| record.copy = true);
        assert_eq!(with(&[lost, copy, next.clone()]), 3, "a copy of it arrived");
        let overtaken = [plain(0, 0, 0, 900), plain(1, 0, 1, 21), plain(2, 1, 22, 42), plain(3, 0, 43, 63)];
        assert_eq!(turns(&overtaken), 3, "the second packet was answered");
    }

    #[test]
    fn flows_count_each_direction() {
        let rows = flows("a.wlpl", &log());
        let expected = Flow {
            log: "a.wlpl".to_owned(),
            transport: "tcp".to_owned(),
            near: Some("client".to_owned()),
            client_port: Some(50_000),
            server_port: Some(443),
            first_ns: 100,
            last_ns: 410,
            packets: [2, 2],
            bytes: [80, 80],
            duplicated: [0, 1],
            dropped: [1, 1],
            retransmissions: Some([1, 1]),
            spurious: Some([0, 1]),
            turns: 2,
            expiries: vec![],
        };
        assert_eq!(rows[0], expected);
        assert_eq!((rows[1].transport.as_str(), rows[1].packets, rows[1].last_ns), ("udp", [1, 0], 500));
        assert_eq!((rows[1].retransmissions, rows[1].spurious), (None, None));
        assert_eq!(rows.len(), 2);
    }
}
