//! `wirelab-agent replay`: the link accounts for itself. A log's arrivals, run through a fresh chain of the same description and seed, must
//! reproduce every fate and departure.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use wirelab_net::link::{Impairment, Instant, Link, Packet};
use wirelab_net::packet_log::{Fate, Record};
use wirelab_schema::{ReplayMismatch, ReplayReport, ReplayedPacket};

use crate::link_chain;
use crate::log_file::{self, Log};

#[derive(clap::Args)]
pub struct Arguments {
    /// Packet logs.
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<PathBuf>,
}

/// Replay every log and print a report of each; fails if one does not match or cannot be read.
pub fn run(arguments: Arguments) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for path in arguments.logs {
        match print(&path) {
            Ok(true) => {}
            Ok(false) => code = ExitCode::FAILURE,
            Err(error) => {
                eprintln!("error: {error:#}");
                code = ExitCode::FAILURE;
            }
        }
    }
    code
}

fn print(path: &Path) -> Result<bool> {
    let log = log_file::read(path)?;
    let report =
        replay(path.display().to_string(), &log).with_context(|| format!("cannot replay {}", path.display()))?;
    let mut stdout = io::stdout().lock();
    serde_json::to_writer(&mut stdout, &report)?;
    writeln!(stdout)?;
    Ok(report.mismatches == 0)
}

/// What became of a packet: its fate, its arrival as the link took it, its departure.
type Outcome = (Fate, Instant, Instant);

fn replay(name: String, log: &Log) -> Result<ReplayReport> {
    let mut link = link_chain::build(&log.header.link, log.header.seed)?;
    let records = || log.records.iter().map(|(record, _)| record);
    let end = records().map(|record| record.arrival.max(record.departure)).max().unwrap_or_default();
    let replayed = drive(&mut link, records(), end);

    let mut report = ReplayReport { log: name, packets: log.records.len() as u64, mismatches: 0, first_mismatch: None };
    let mut expected = 0;
    for record in records() {
        if record.sequence > expected {
            report.mismatches += record.sequence - expected;
            let missing = ReplayMismatch { sequence: expected, logged: None, replayed: None };
            report.first_mismatch.get_or_insert(missing);
        }
        expected = record.sequence + 1;
        let logged = (record.fate, record.arrival, record.departure);
        let replayed = replayed.get(&record.sequence).copied().unwrap_or((Fate::Held, record.arrival, end));
        if !agree(logged, replayed, end) {
            report.mismatches += 1;
            report.first_mismatch.get_or_insert_with(|| mismatch(record.sequence, logged, replayed));
        }
    }
    Ok(report)
}

/// Every packet that leaves or is dropped by `end`.
fn drive<'a>(link: &mut Link, records: impl Iterator<Item = &'a Record>, end: Instant) -> HashMap<u64, Outcome> {
    let mut outcomes = HashMap::new();
    let mut collect = |link: &mut Link, now| {
        while let Some((departure, packet)) = link.poll_packet(now) {
            outcomes.insert(packet.sequence, (Fate::Delivered, packet.arrival, departure));
        }
        while let Some(dropped) = link.poll_dropped() {
            outcomes.insert(dropped.packet.sequence, (Fate::from(dropped.cause), dropped.packet.arrival, dropped.at));
        }
    };
    for record in records {
        let Record { sequence, port, size, arrival, .. } = *record;
        link.handle_packet(Packet { sequence, port, size, arrival, data: Vec::new() }, arrival);
        collect(link, arrival);
    }
    collect(link, end);
    outcomes
}

/// A packet that the log calls held may leave at the trial's last instant, when nobody looked any more.
fn agree(logged: Outcome, replayed: Outcome, end: Instant) -> bool {
    logged == replayed
        || logged.0 == Fate::Held && replayed.1 == logged.1 && (replayed.0 == Fate::Held || replayed.2 >= end)
}

fn mismatch(sequence: u64, logged: Outcome, replayed: Outcome) -> ReplayMismatch {
    let [logged, replayed] = [logged, replayed].map(|(fate, arrival, departure)| ReplayedPacket {
        fate: log_file::fate(fate),
        arrival_ns: arrival.as_nanos(),
        departure_ns: departure.as_nanos(),
    });
    ReplayMismatch { sequence, logged: Some(logged), replayed: Some(replayed) }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;
    use wirelab_net::link::PortId;
    use wirelab_schema::{ImpairmentSpec, JitterSpec, LinkSpec, MediumSpec, PacketFate};

    use super::*;
    use crate::log_file::tests::{clean, record, written};

    /// A packet to send: nanoseconds after the last one, port, size, and how late the emulator is in looking at it.
    type Send = (u64, u16, u32, u64);

    /// Drive a link as the emulator does, with a virtual clock that oversleeps, and log it.
    fn emulate(spec: &LinkSpec, seed: u64, train: &[Send], lasts: u64) -> Vec<u8> {
        let mut link = link_chain::build(spec, seed).unwrap();
        let (mut records, mut arrival, mut end) = (Vec::new(), 0, Instant::default());
        for (sequence, (gap, port, size, late)) in (0..).zip(train) {
            arrival += gap;
            let now = Instant::from_nanos(arrival);
            let packet = Packet { sequence, port: PortId(*port), size: *size, arrival: now, data: Vec::new() };
            link.handle_packet(packet, now);
            end = end.max(now + Duration::from_nanos(*late));
            records.extend(settled(&mut link, now + Duration::from_nanos(*late)));
        }
        end = end + Duration::from_nanos(lasts);
        records.extend(settled(&mut link, end));
        let held = settled(&mut link, Instant::from_nanos(u64::MAX)).into_iter();
        records.extend(held.map(|record| Record {
            fate: Fate::Held,
            departure: end,
            lateness: Duration::ZERO,
            ..record
        }));
        written(spec, seed, &records.into_iter().map(|record| (record, vec![])).collect::<Vec<_>>())
    }

    /// Records of what has left and was dropped by `now`.
    fn settled(link: &mut Link, now: Instant) -> Vec<Record> {
        let record = |packet: Packet, fate, departure, lateness| {
            let Packet { sequence, port, size, arrival, .. } = packet;
            Record { sequence, port, fate, size, arrival, departure, lateness }
        };
        let mut records = Vec::new();
        while let Some((departure, packet)) = link.poll_packet(now) {
            records.push(record(packet, Fate::Delivered, departure, now.saturating_since(departure)));
        }
        while let Some(dropped) = link.poll_dropped() {
            records.push(record(dropped.packet, dropped.cause.into(), dropped.at, Duration::ZERO));
        }
        records
    }

    fn replayed(log: &[u8]) -> ReplayReport {
        replay("log".to_owned(), &log_file::parse(log).unwrap()).unwrap()
    }

    fn lossy() -> LinkSpec {
        let stages = vec![
            ImpairmentSpec::Delay { delay_ns: 10_000_000, jitter: Some(JitterSpec::Normal { sigma_ns: 2_000_000 }) },
            ImpairmentSpec::Rate { rate_bps: 1_000_000, queue_bytes: 3000, overhead_bytes: 14 },
            ImpairmentSpec::GilbertElliott { p: 0.1, r: 0.2, bad_loss: 0.7, good_loss: 0.0 },
        ];
        let medium = Some(MediumSpec { rate_bps: 2_000_000, queue_bytes: 3000, overhead_bytes: 0 });
        LinkSpec { uplink: stages.clone(), downlink: stages, medium }
    }

    fn train() -> Vec<Send> {
        (0..400u64)
            .map(|n| (n * 7919 % 9_000_000, (n % 3 == 0).into(), 40 + (n * 31 % 1400) as u32, n % 5 * 1000))
            .collect()
    }

    #[test]
    fn a_log_replays_without_a_mismatch() {
        let log = emulate(&lossy(), 9, &train(), 1_000_000);
        let fates: Vec<_> = log_file::parse(&log[..]).unwrap().records.iter().map(|(record, _)| record.fate).collect();
        assert!([Fate::Delivered, Fate::Loss, Fate::QueueFull, Fate::Held].iter().all(|fate| fates.contains(fate)));
        assert_eq!(
            replayed(&log),
            ReplayReport { log: "log".to_owned(), packets: 400, mismatches: 0, first_mismatch: None }
        );
    }

    #[test]
    fn another_seed_is_found_out() {
        let log = log_file::parse(&emulate(&lossy(), 9, &train(), 0)[..]).unwrap();
        let forged = written(&lossy(), 10, &log.records);
        assert!(replayed(&forged).mismatches > 100);
    }

    #[test]
    fn a_departure_that_is_one_nanosecond_off_is_found_out() {
        let records =
            [record(0, 0, Fate::Delivered, 5, 5), record(1, 0, Fate::Delivered, 7, 8)].map(|record| (record, vec![]));
        let report = replayed(&written(&clean(), 1, &records));
        let found = report.first_mismatch.unwrap();
        assert_eq!((report.mismatches, found.sequence), (1, 1));
        assert_eq!((found.logged.unwrap().departure_ns, found.replayed.unwrap().departure_ns), (8, 7));
    }

    #[test]
    fn a_packet_that_the_chain_would_have_released_was_not_held() {
        let records =
            [record(0, 0, Fate::Held, 5, 9), record(1, 0, Fate::Delivered, 7, 7)].map(|record| (record, vec![]));
        let report = replayed(&written(&clean(), 1, &records));
        assert_eq!(report.mismatches, 1);
        assert_eq!(report.first_mismatch.unwrap().replayed.unwrap().fate, PacketFate::Delivered);
    }

    #[test]
    fn packets_that_the_log_misses_count() {
        let records =
            [record(0, 0, Fate::Delivered, 5, 5), record(3, 0, Fate::Delivered, 7, 7)].map(|record| (record, vec![]));
        let report = replayed(&written(&clean(), 1, &records));
        assert_eq!((report.packets, report.mismatches), (2, 2));
        assert_eq!(report.first_mismatch.unwrap(), ReplayMismatch { sequence: 1, logged: None, replayed: None });
    }

    fn stages() -> impl Strategy<Value = Vec<ImpairmentSpec>> {
        let jitter = prop_oneof![
            Just(None),
            (0..5_000_000u64).prop_map(|sigma_ns| Some(JitterSpec::Normal { sigma_ns })),
            (0..5_000_000u64).prop_map(|half_width_ns| Some(JitterSpec::Uniform { half_width_ns })),
        ];
        let fractions = || [0.0..1.0, 0.0..1.0, 0.0..1.0, 0.0..1.0f64];
        let stage = prop_oneof![
            (0..20_000_000u64, jitter).prop_map(|(delay_ns, jitter)| ImpairmentSpec::Delay { delay_ns, jitter }),
            (0.0..0.5).prop_map(|probability| ImpairmentSpec::Loss { probability }),
            fractions().prop_map(|[p, r, bad_loss, good_loss]| ImpairmentSpec::GilbertElliott {
                p,
                r,
                bad_loss,
                good_loss
            }),
            (10_000..20_000_000u64, 10_000..20_000_000u64, fractions()).prop_map(
                |(good_ns, bad_ns, [bad_loss, good_loss, ..])| {
                    ImpairmentSpec::GilbertElliottTime { good_ns, bad_ns, bad_loss, good_loss }
                }
            ),
            (100_000..50_000_000u64, 0..10_000u64, 0..20u32).prop_map(|(rate_bps, queue_bytes, overhead_bytes)| {
                ImpairmentSpec::Rate { rate_bps, queue_bytes, overhead_bytes }
            }),
        ];
        prop::collection::vec(stage, 0..4)
    }

    fn link() -> impl Strategy<Value = LinkSpec> {
        let medium = (100_000..50_000_000u64, 0..10_000u64).prop_map(|(rate_bps, queue_bytes)| MediumSpec {
            rate_bps,
            queue_bytes,
            overhead_bytes: 0,
        });
        (stages(), stages(), prop::option::of(medium)).prop_map(|(uplink, downlink, medium)| LinkSpec {
            uplink,
            downlink,
            medium,
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn every_log_of_every_link_replays(
            spec in link(),
            seed in any::<u64>(),
            train in prop::collection::vec((prop_oneof![Just(0), 0..5_000_000u64], 0..2u16, 40..1500u32, prop_oneof![Just(0), 0..9_000_000u64]), 0..60),
            lasts in 0..30_000_000u64,
        ) {
            prop_assert_eq!(replayed(&emulate(&spec, seed, &train, lasts)).first_mismatch, None);
        }
    }
}
