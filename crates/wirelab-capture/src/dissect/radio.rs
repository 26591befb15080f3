//! What the radio of one host saw of a link: the packets that it sent, and those that were delivered to it.

use std::collections::HashSet;
use std::net::IpAddr;

use crate::dissect::addresses;
use crate::packet_log::{Outcome, Record};
use anyhow::{Context, Result};
use wirelab_link::Direction;
use wirelab_schema::RadioPacket;

use crate::dissect::rows::dissections;
use crate::log_file::Log;

/// The packets of a host on the near side, in order of when it sent or got them.
///
/// What comes down is the host's if it goes to an address that the host sent from; where it is alone on its side, everything is.
pub fn packets(name: &str, log: &Log, host: &str) -> Result<Vec<RadioPacket>> {
    let ports = &log.header.ports;
    let port = ports.iter().step_by(2).position(|each| each == host).map(|place| 2 * place).with_context(|| {
        let near: Vec<_> = ports.iter().step_by(2).map(String::as_str).filter(|each| !each.is_empty()).collect();
        format!("{name} has no host '{host}' on the near side; there are: {}", near.join(", "))
    })?;
    let alone = ports.iter().step_by(2).filter(|each| !each.is_empty()).count() == 1;
    let is_own = |record: &Record| usize::from(record.port.0) == port;
    let own: HashSet<IpAddr> = log
        .records
        .iter()
        .filter(|(record, _)| is_own(record))
        .filter_map(|(_, packet)| Some(addresses(packet)?.0))
        .collect();
    let comes_to = |packet: &[u8]| alone || addresses(packet).is_some_and(|(_, to)| own.contains(&to));

    let mut seen: Vec<RadioPacket> = Vec::new();
    let (mut rests, mut rested_ns) = (log.rests.iter().peekable(), 0u64);
    for ((record, dissection), (_, packet)) in dissections(log).zip(&log.records) {
        while let Some(rest) = rests.next_if(|rest| rest.before <= record.sequence) {
            rested_ns = rested_ns.saturating_add(rest.gap.as_nanos() as u64);
        }
        let uplink = record.port.direction() == Direction::Uplink;
        let at = if uplink { record.arrival } else { record.departure + record.lateness };
        let is_there = if uplink {
            is_own(record) && !record.copy && !record.originated
        } else {
            record.outcome == Outcome::Delivered && comes_to(packet)
        };
        if is_there {
            seen.push(RadioPacket {
                log: name.to_owned(),
                at_ns: at.as_nanos(),
                rested_ns,
                uplink,
                size_bytes: record.size,
                client_port: dissection.ports.map(|ports| ports.client),
            });
        }
    }
    seen.sort_by_key(|packet| packet.at_ns);
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::packet_log::LogWriter;
    use wirelab_link::Instant;
    use wirelab_schema::{LinkSpec, PacketLogHeader, SCHEMA_VERSION};

    use super::*;
    use crate::log_file;
    use crate::log_file::tests::record;

    /// A UDP datagram between two addresses of 10.0.0.0/24.
    fn udp(source: u8, destination: u8) -> Vec<u8> {
        let addresses = [10, 0, 0, source, 10, 0, 0, destination];
        [&[0x45, 0, 0, 28, 0, 0, 0x40, 0, 64, 17, 0, 0], &addresses[..], &[0, 5, 0, 7, 0, 8, 0, 0]].concat()
    }

    fn log(hosts: &[&str], records: &[(Record, Vec<u8>)]) -> Log {
        let ports = hosts.iter().map(|&host| host.to_owned()).collect();
        let header = PacketLogHeader { schema_version: SCHEMA_VERSION, link: LinkSpec::default(), seed: 1, ports };
        let mut writer = LogWriter::new(Vec::new(), &serde_json::to_vec(&header).unwrap()).unwrap();
        records.iter().for_each(|(record, packet)| writer.write(record, packet).unwrap());
        log_file::parse(&writer.finish().unwrap()[..]).unwrap()
    }

    fn seen(log: &Log, host: &str) -> Vec<(u64, bool)> {
        packets("log", log, host).unwrap().iter().map(|packet| (packet.at_ns, packet.uplink)).collect()
    }

    #[test]
    fn a_radio_sent_what_was_lost_behind_it_and_got_what_was_delivered_when_it_was() {
        let log = log(
            &["client", "server"],
            &[
                (record(0, 0, Outcome::Loss, 100, 110), udp(1, 2)),
                (record(1, 0, Outcome::Delivered, 200, 210), udp(1, 2)),
                (Record { copy: true, ..record(1, 0, Outcome::Delivered, 200, 211) }, udp(1, 2)),
                (record(2, 1, Outcome::QueueFull, 300, 300), udp(2, 1)),
                (Record { lateness: Duration::from_nanos(7), ..record(3, 1, Outcome::Delivered, 310, 500) }, udp(2, 1)),
                (Record { copy: true, ..record(3, 1, Outcome::Delivered, 310, 400) }, udp(2, 1)),
                (record(4, 1, Outcome::Held, 600, 9000), udp(2, 1)),
            ],
        );
        assert_eq!(seen(&log, "client"), [(100, true), (200, true), (400, false), (507, false)]);
        assert_eq!(packets("log", &log, "client").unwrap()[0].client_port, Some(5));
    }

    #[test]
    fn a_radio_sends_to_a_nat_that_drops_and_rebinds_and_gets_its_resets() {
        let outer = |end: u16| Some(std::net::SocketAddr::from(([10, 0, 0, 1], end)));
        let reset = |n, port, at| Record { originated: true, ..record(n, port, Outcome::Delivered, at, at) };
        let log = log(
            &["client", "server"],
            &[
                (Record { translated: outer(7000), ..record(0, 0, Outcome::Delivered, 100, 110) }, udp(1, 2)),
                (Record { translated: outer(8000), ..record(1, 0, Outcome::Delivered, 200, 210) }, udp(1, 2)),
                (Record { translated: outer(8000), ..record(2, 1, Outcome::Delivered, 220, 230) }, udp(2, 1)),
                (record(3, 0, Outcome::Nat, 300, 300), udp(1, 2)),
                (reset(3, 1, 310), udp(2, 1)),
                (record(4, 1, Outcome::Nat, 320, 320), udp(2, 1)),
                (reset(4, 0, 320), udp(1, 2)),
            ],
        );
        let expected = [(100, true), (200, true), (230, false), (300, true), (310, false)];
        assert_eq!(seen(&log, "client"), expected);
    }

    #[test]
    fn a_packet_after_rests_says_how_far_the_clock_was_ahead() {
        let rest = |before, at, gap| (Record::rest(before, Instant::from_nanos(at), Duration::from_nanos(gap)), vec![]);
        let log = log(
            &["client", "server"],
            &[
                (record(0, 0, Outcome::Delivered, 100, 110), udp(1, 2)),
                rest(1, 150, 5000),
                (record(1, 0, Outcome::Delivered, 200, 210), udp(1, 2)),
                (record(2, 1, Outcome::Delivered, 220, 230), udp(2, 1)),
                rest(3, 280, 600),
                rest(3, 290, 60),
                (record(3, 0, Outcome::Delivered, 300, 310), udp(1, 2)),
                rest(4, 400, 7),
            ],
        );
        let seen = packets("log", &log, "client").unwrap();
        let instants: Vec<_> = seen.iter().map(|packet| (packet.at_ns, packet.rested_ns)).collect();
        assert_eq!(instants, [(100, 0), (200, 5000), (230, 5000), (300, 5660)]);
    }

    #[test]
    fn a_host_among_others_got_what_goes_to_the_addresses_that_it_sent_from() {
        let log = log(
            &["client", "server", "station"],
            &[
                (record(0, 0, Outcome::Delivered, 100, 110), udp(1, 2)),
                (record(1, 2, Outcome::Delivered, 120, 130), udp(3, 2)),
                (record(2, 1, Outcome::Delivered, 140, 150), udp(2, 1)),
                (record(3, 1, Outcome::Delivered, 160, 170), udp(2, 3)),
            ],
        );
        assert_eq!(seen(&log, "client"), [(100, true), (150, false)]);
        assert_eq!(seen(&log, "station"), [(120, true), (170, false)]);
    }

    #[test]
    fn a_host_that_is_not_there_is_refused_with_those_that_are() {
        let error = packets("a.wlpl", &log(&["client", "server"], &[]), "server").unwrap_err();
        assert_eq!(error.to_string(), "a.wlpl has no host 'server' on the near side; there are: client");
    }
}
