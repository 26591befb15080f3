//! What each kind of impairment does to real packets. Every log replays.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::json;
use wirelab_capture::packet_log::{Outcome, Record};
use wirelab_net::link::PortId;
use wirelab_net::link::impairment::SharedSpec;
use wirelab_schema::{
    AddressFamily, CorruptSpec, DelaySpec, DropCause, DuplicateSpec, DutyCycleSpec, GilbertElliottTimeSpec,
    ImpairmentSpec, JitterSpec, LinkReport, LinkSpec, NatSpec, OpenSlots, OutageSpec, QueueSpec, RadioSpec, RateSpec,
    ReorderSpec, SleepSpec, TokenBucketSpec, TrialResult, TrialStatus,
};

use crate::machine::namespaces_work;
use crate::roles::LATE;
use crate::support::{Host, assert_conserved, assert_replays, delay, log};

const MILLISECOND: Duration = Duration::from_millis(1);
const DATAGRAMS: u32 = 40;
const BYTES: usize = 500;

fn open() -> Option<Host> {
    namespaces_work().then(|| {
        let mut host = Host::start();
        host.open(1);
        host
    })
}

fn uplink(stage: ImpairmentSpec) -> LinkSpec {
    LinkSpec { uplink: vec![stage], ..LinkSpec::default() }
}

/// Send datagrams over `link`, with a log of the headers' first bytes only.
fn send(host: &mut Host, name: &str, link: LinkSpec, count: u32, bytes: usize, gap: Duration) -> TrialResult {
    let endpoints = vec![host.server("udp_sink"), host.sender(count, bytes, gap)];
    let mut trial = host.trial(name, link, endpoints);
    trial.header_bytes = 20;
    let result = host.run(trial);
    assert_eq!((result.status, &result.error), (TrialStatus::Done, &None), "{result:?}");
    assert_eq!((result.link.kernel_drops, result.link.oversized), (0, 0));
    result.link.directions.iter().for_each(assert_conserved);
    assert_replays(host, name);
    result
}

/// Records of packets from the client, in order of arrival.
fn from_client(host: &Host, trial: &str) -> Vec<Record> {
    let records = log(host, trial).1.into_iter().map(|(record, _)| record);
    let mut records: Vec<_> = records.filter(|record| record.port == PortId(0)).collect();
    records.sort_by_key(|record| record.sequence);
    records
}

fn dropped(report: &LinkReport, direction: usize, cause: DropCause) -> u64 {
    let counts = &report.directions[direction].dropped;
    counts.iter().find(|count| count.cause == cause).expect("every cause is counted").packets
}

#[test]
fn what_exceeds_the_links_mtu_crosses_it_in_fragments_and_the_next_trial_has_the_slots_mtu_again() {
    let Some(mut host) = open() else { return };
    let narrow = LinkSpec { mtu: Some(600), ..delay(MILLISECOND) };
    send(&mut host, "narrow", narrow.clone(), DATAGRAMS, 1400, MILLISECOND);
    assert_eq!(host.printed("server", "length"), [1400; DATAGRAMS as usize]);
    let sizes: Vec<_> = from_client(&host, "narrow").iter().map(|record| record.size).collect();
    assert_eq!(sizes, [596, 596, 276].repeat(DATAGRAMS as usize));

    send(&mut host, "wide", delay(MILLISECOND), DATAGRAMS, 1400, MILLISECOND);
    assert_eq!(host.printed("server", "length"), [1400; DATAGRAMS as usize]);
    assert!(from_client(&host, "wide").iter().all(|record| record.size == 1428));

    let endpoints = vec![host.server("tcp_bulk_server"), host.client("tcp_bulk_client")];
    let result = host.run(host.trial("bulk", narrow, endpoints));
    assert_eq!((result.status, &result.error), (TrialStatus::Done, &None), "{result:?}");
    assert_eq!(from_client(&host, "bulk").iter().map(|record| record.size).max(), Some(600));
    assert_replays(&host, "bulk");
}

#[test]
fn a_duplicated_packet_arrives_twice() {
    let Some(mut host) = open() else { return };
    let all = ImpairmentSpec::Duplicate(DuplicateSpec { probability: 1.0, correlation: 0.0 });
    let result = send(&mut host, "duplicate", uplink(all), DATAGRAMS, BYTES, MILLISECOND);
    let expected: Vec<_> = (0..u64::from(DATAGRAMS)).flat_map(|number| [number; 2]).collect();
    assert_eq!(host.printed("server", "number"), expected);
    let counts = &result.link.directions[0];
    let datagrams = u64::from(DATAGRAMS);
    assert_eq!((counts.received, counts.duplicated, counts.delivered), (datagrams, datagrams, 2 * datagrams));
    assert_eq!(from_client(&host, "duplicate").iter().filter(|record| record.copy).count(), DATAGRAMS as usize);
}

#[test]
fn a_corrupted_packet_is_discarded_by_its_receivers_checksum() {
    let Some(mut host) = open() else { return };
    let all = ImpairmentSpec::Corrupt(CorruptSpec { probability: 1.0, correlation: 0.0 });
    let result = send(&mut host, "corrupt", uplink(all), DATAGRAMS, BYTES, MILLISECOND);
    assert_eq!(result.link.directions[0].delivered, u64::from(DATAGRAMS));
    let damaged = host.printed("server", "damaged").last().copied();
    assert_eq!((host.printed("server", "number"), damaged), (vec![], Some(DATAGRAMS.into())));
    let bits: Vec<_> = from_client(&host, "corrupt").iter().map(|record| record.corrupted_bit.unwrap()).collect();
    assert!(bits.iter().all(|bit| *bit < 8 * (BYTES as u32 + 28)));
    assert!(bits.iter().any(|bit| *bit != bits[0]));
}

#[test]
fn corruption_is_refused_where_packets_have_no_checksums() {
    if !namespaces_work() {
        return;
    }
    let mut host = Host::start();
    host.open_with(OpenSlots { slots: 1, mtu: 1500, offloads: true, ..OpenSlots::default() });
    let all = ImpairmentSpec::Corrupt(CorruptSpec { probability: 1.0, correlation: 0.0 });
    let trial = host.trial("corrupt", uplink(all), vec![host.endpoint("client", &["true"])]);
    let message = host.refusal(trial);
    assert_eq!(
        message,
        "uplink[0]: corrupt needs the option offloads off, since with offloads packets have no checksums"
    );
}

#[test]
fn reordered_packets_arrive_in_the_order_in_which_the_log_says_they_left() {
    let Some(mut host) = open() else { return };
    let some = ImpairmentSpec::Reorder(ReorderSpec { probability: 0.3, by_ns: 20_000_000, correlation: 0.0 });
    send(&mut host, "reorder", uplink(some), DATAGRAMS, BYTES, 5 * MILLISECOND);
    let mut records = from_client(&host, "reorder");
    records.sort_by_key(|record| record.departure);
    let arrived = host.printed("server", "number");
    assert_eq!(arrived, records.iter().map(|record| record.sequence).collect::<Vec<_>>());
    assert!(arrived.len() == DATAGRAMS as usize && !arrived.is_sorted(), "{arrived:?}");
}

#[test]
fn a_late_answer_finds_no_mapping_and_an_answer_in_fragments_does() {
    let Some(mut host) = open() else { return };
    let nat = NatSpec { udp_timeout_ns: LATE.as_nanos() as u64 / 3, ..NatSpec::examples().remove(0) };
    let link = LinkSpec { nat: Some(nat), mtu: Some(600), ..delay(MILLISECOND) };
    let endpoints = vec![host.server("udp_late_echo"), host.client("udp_listener")];
    let mut trial = host.trial("nat", link, endpoints);
    trial.header_bytes = 0;
    let result = host.run(trial);
    assert_eq!((result.status, &result.error), (TrialStatus::Done, &None), "{result:?}");
    assert_eq!(host.printed("client", "answer"), [1400]);
    // Both answers are in three fragments.
    assert_eq!((result.link.directions[1].delivered, dropped(&result.link, 1, DropCause::Nat)), (3, 3));
    result.link.directions.iter().for_each(assert_conserved);
    assert_replays(&host, "nat");
}

#[test]
fn a_client_that_pauses_for_longer_than_its_mapping_lasts_has_another_port_and_gets_its_answers() {
    let Some(mut host) = open() else { return };
    for (name, family) in [("nat-4", None), ("nat-6", Some(AddressFamily::Ipv6))] {
        let nat = NatSpec {
            udp_timeout_ns: 200 * 1_000_000,
            keep_port: false,
            ports: [20_000, 29_999],
            ..NatSpec::examples().remove(0)
        };
        let link = LinkSpec { nat: Some(nat), family, ..delay(MILLISECOND) };
        let endpoints = vec![host.server("udp_echo"), host.sender(5, 100, 400 * MILLISECOND)];
        let mut trial = host.trial(name, link, endpoints);
        trial.header_bytes = 96;
        let result = host.run(trial);
        assert_eq!((result.status, &result.error), (TrialStatus::Done, &None), "{result:?}");
        let (_, records) = log(&host, name);
        let outer = |port: u16| {
            let mine = records.iter().filter(move |(record, _)| record.port == PortId(port));
            mine.map(|(record, _)| record.translated.unwrap().port()).collect::<Vec<_>>()
        };
        assert!(outer(0).iter().all(|port| (20_000..30_000).contains(port)), "{:?}", outer(0));
        let distinct: HashSet<u16> = outer(0).into_iter().collect();
        // The server answers to the port that it sees, so its checksums were right, and those of the answers are.
        assert_eq!((distinct.len(), outer(1)), (5, outer(0)));
        let own: HashSet<&[u8]> = records
            .iter()
            .map(|(record, bytes)| {
                let ports = if family.is_none() { 20 } else { 40 };
                if record.port == PortId(0) { &bytes[ports..ports + 2] } else { &bytes[ports + 2..ports + 4] }
            })
            .collect();
        assert_eq!(own.len(), 1, "the log has the client's own port");
        result.link.directions.iter().for_each(assert_conserved);
        assert_replays(&host, name);
    }
}

#[test]
fn codel_drops_from_a_standing_queue() {
    let Some(mut host) = open() else { return };
    let (target_ns, interval_ns) = (5_000_000, 20_000_000);
    let queues = [
        ("codel", QueueSpec::Codel { target_ns, interval_ns, bytes: 1_000_000 }),
        ("fq-codel", QueueSpec::FqCodel { target_ns, interval_ns, flows: 1024, quantum_bytes: 1514, packets: 1000 }),
    ];
    for (name, queue) in queues {
        let rate = ImpairmentSpec::Rate(RateSpec { rate_bps: 5_000_000, queue, overhead_bytes: 0 });
        let result = send(&mut host, name, uplink(rate), 150, 1400, Duration::ZERO);
        let lost = dropped(&result.link, 0, DropCause::Aqm);
        assert!(lost > 0 && lost < 75, "{lost} packets");
        assert_eq!(host.printed("server", "number").len() as u64, result.link.directions[0].delivered);
        let records = from_client(&host, name);
        assert_eq!(records.iter().filter(|record| record.outcome == Outcome::Aqm).count() as u64, lost);
    }
}

#[test]
fn an_outage_and_a_full_bucket_are_counted_separately() {
    let Some(mut host) = open() else { return };
    let outage = ImpairmentSpec::Outage(OutageSpec {
        start_ns: 50_000_000,
        duration_ns: 50_000_000,
        every_ns: None,
        hold_bytes: None,
    });
    let queue = QueueSpec::DropTail { bytes: None, packets: Some(0) };
    let bucket = ImpairmentSpec::TokenBucket(TokenBucketSpec {
        rate_bps: 8000,
        burst_bytes: 10 * (BYTES as u64 + 28),
        queue,
        overhead_bytes: 0,
    });
    let link = LinkSpec { uplink: vec![outage, bucket], ..LinkSpec::default() };
    let result = send(&mut host, "outage", link, DATAGRAMS, BYTES, 5 * MILLISECOND);
    assert!(dropped(&result.link, 0, DropCause::Outage) > 0, "{result:?}");
    assert!(dropped(&result.link, 0, DropCause::QueueFull) > 0, "{result:?}");
}

/// A direction with a stage of nearly every kind.
fn everything() -> Vec<ImpairmentSpec> {
    let queue = QueueSpec::FqCodel {
        target_ns: 5_000_000,
        interval_ns: 20_000_000,
        flows: 64,
        quantum_bytes: 300,
        packets: 50,
    };
    let jitter = Some(JitterSpec::ParetoNormal { sigma_ns: 2_000_000 });
    vec![
        ImpairmentSpec::Delay(DelaySpec { delay_ns: 3_000_000, jitter, correlation: 0.25, overtaking: true }),
        ImpairmentSpec::Rate(RateSpec { rate_bps: 500_000, queue, overhead_bytes: 14 }),
        ImpairmentSpec::Reorder(ReorderSpec { probability: 0.2, by_ns: 4_000_000, correlation: 0.0 }),
        ImpairmentSpec::GilbertElliottTime(GilbertElliottTimeSpec {
            good_ns: 50_000_000,
            bad_ns: 5_000_000,
            bad_loss: 0.5,
            good_loss: 0.0,
        }),
        ImpairmentSpec::Duplicate(DuplicateSpec { probability: 0.2, correlation: 0.0 }),
        ImpairmentSpec::Corrupt(CorruptSpec { probability: 0.05, correlation: 0.0 }),
        ImpairmentSpec::DutyCycle(DutyCycleSpec {
            rate_bps: 2_000_000,
            share: 0.7,
            queue: QueueSpec::DropTail { bytes: Some(5000), packets: None },
            overhead_bytes: 0,
        }),
    ]
}

#[test]
fn links_whose_directions_share_air_radio_and_mappings_replay() {
    let Some(mut host) = open() else { return };
    let wifi = json!({
        "kind": "wifi", "rate_bps": 24_000_000, "overhead_bytes": 36, "preamble_ns": 20_000, "ack_ns": 28_000,
        "slot_ns": 9000, "sifs_ns": 10_000, "difs_ns": 28_000, "cw_min": 15, "cw_max": 1023, "retries": 6,
        "frame_error": 0.2, "queue_bytes": 100_000,
    });
    let ieee802154 = json!({
        "kind": "ieee802154", "compressed_bytes": 40, "mac_bytes": 23, "frame_error": 0.1, "retries": 3,
        "max_backoffs": 4, "min_be": 3, "max_be": 5, "queue_bytes": 10_000,
    });
    let sleep = |after_ns, cycle_ns| SleepSpec { after_ns, cycle_ns, wake_ns: 1_000_000 };
    for (name, medium) in [("wifi", wifi), ("802154", ieee802154)] {
        let link = LinkSpec {
            uplink: everything(),
            downlink: everything(),
            medium: Some(serde_json::from_value(medium).unwrap()),
            radio: Some(RadioSpec {
                sleeps: vec![sleep(10_000_000, Some(8_000_000)), sleep(1_000_000_000, None)],
                buffer_bytes: 4000,
            }),
            nat: Some(NatSpec { udp_timeout_ns: 40_000_000, keep_port: false, ..NatSpec::examples().remove(0) }),
            mtu: Some(576),
            family: None,
            backend: None,
        };
        let endpoints = vec![host.server("udp_echo"), host.sender(150, 700, 3 * MILLISECOND)];
        let result = host.run(host.trial(name, link, endpoints));
        assert_eq!((result.status, &result.error), (TrialStatus::Done, &None), "{result:?}");
        result.link.directions.iter().for_each(assert_conserved);
        let [up, down] = &result.link.directions[..] else { panic!("{result:?}") };
        assert!(up.received == 300 && up.duplicated > 0 && up.delivered > 0 && down.received > 0, "{result:?}");
        assert_replays(&host, name);
    }
}
