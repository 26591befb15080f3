//! Tests: a replayed log matches packet for packet, and a changed one does not.

use std::time::Duration;

use etherparse::PacketBuilder;
use proptest::prelude::*;
use wirelab_link::impairment::{NatSpec, SharedSpec};
use wirelab_link::spec::Choices;
use wirelab_schema::{
    CorruptSpec, DelaySpec, DeliveryTraceSpec, DuplicateSpec, DutyCycleSpec, GilbertElliottSpec,
    GilbertElliottTimeSpec, ImpairmentSpec, JitterSpec, LinkSpec, MediumSpec, PacketOutcome, QueueSpec, ReorderSpec,
    ScheduleSpec, SerialiserSpec, TokenBucketSpec,
};

use super::*;
use crate::log_file::tests::{record, written};
use crate::translation::Owners;
use specs::{
    MILLISECOND, at_ms, codel, delay, drop_tail, fq_codel, ieee802154, loss, nat_of_10_ms, one_of_each, psm, rate_of,
    schedule_of, wifi,
};

#[path = "../../../wirelab-link/tests/common/specs.rs"]
mod specs;

/// A packet to send: nanoseconds after the last one, port, size, and how late the emulator is in looking at it.
type Send = (u64, u16, u32, u64);
type Logged = (Record, Vec<u8>);

/// How long a link is waited for to be empty.
const WAITS: Duration = Duration::from_secs(10);

/// Drive a link as the emulator does, with a virtual clock that oversleeps, and log it.
fn emulate(spec: &LinkSpec, seed: u64, train: &[Send], lasts: u64) -> Vec<u8> {
    emulate_resting(spec, seed, train, lasts, |_| None)
}

/// The same with rests: each packet after which `rests` has one waits until the link is empty, if it ever is.
fn emulate_resting(
    spec: &LinkSpec,
    seed: u64,
    train: &[Send],
    lasts: u64,
    rests: impl Fn(u64) -> Option<Duration>,
) -> Vec<u8> {
    let mut link = Resting::new(Box::new(spec.build(seed).unwrap()));
    let (mut records, mut arrival, mut end) = (Vec::new(), 0, Instant::default());
    let mut flows = Flows::default();
    // The client's port of each flow as the server knows it.
    let mut outer = [65_530, 65_531, 65_532];
    let mut owners = Owners::default();
    for (sequence, (gap, port, size, late)) in (0..).zip(train) {
        arrival += gap;
        let now = Instant::from_nanos(arrival);
        let data = header(*port, sequence, outer[(sequence % 3) as usize]);
        let (port, (flow, ends)) = (PortId(*port), flows.read(&data));
        link.handle_packet(
            Packet { data, ends: ends.map(Box::new), ..Packet::new(sequence, port, *size, now, flow) },
            now,
        );
        end = end.max(now + Duration::from_nanos(*late));
        let settled = settled(&mut link, &mut owners, now + Duration::from_nanos(*late));
        for (record, _) in settled.iter().filter(|(record, _)| record.outcome == Outcome::Delivered) {
            let port = &mut outer[(record.sequence % 3) as usize];
            *port = record.translated.map_or(*port, |end| end.port());
        }
        records.extend(settled);
        let Some(gap) = rests(sequence) else { continue };
        while let Some(due) = link.poll_timeout().filter(|due| *due < end + WAITS) {
            end = end.max(due);
            records.extend(self::settled(&mut link, &mut owners, end));
        }
        arrival = end.as_nanos();
        if link.rest(gap).is_ok() {
            records.push((Record::rest(sequence + 1, end, gap), vec![]));
        }
    }
    end = end + Duration::from_nanos(lasts);
    records.extend(settled(&mut link, &mut owners, end));
    records.extend(
        std::iter::from_fn(|| link.poll_held()).map(|packet| logged(&mut owners, packet, Outcome::Held, end, end)),
    );
    written(spec, seed, &records)
}

/// The headers of a packet of one of three flows, the last of them TCP; from a server to this port of the client.
fn header(port: u16, sequence: u64, outer: u16) -> Vec<u8> {
    let (client, server) = ([10, 0, 0, 1], [10, 0, 0, 2]);
    let ((source, from), (destination, to)) =
        if port == 0 { ((client, (sequence % 3) as u16), (server, 9)) } else { ((server, 9), (client, outer)) };
    let (builder, mut bytes) = (PacketBuilder::ipv4(source, destination, 64), Vec::new());
    let flags = sequence / 3 % 5;
    if sequence % 3 < 2 {
        builder.udp(from, to).write(&mut bytes, &[]).unwrap();
        return bytes;
    }
    let builder = builder.tcp(from, to, sequence as u32, 100);
    let builder = match flags {
        0 => builder.syn(),
        1 => builder.fin().ack(3),
        2 => builder.rst(),
        _ => builder.ack(5),
    };
    builder.write(&mut bytes, &[]).unwrap();
    bytes
}

/// Records of what has left and was dropped by `now`.
fn settled(link: &mut dyn Impairment, owners: &mut Owners, now: Instant) -> Vec<Logged> {
    let mut records = Vec::new();
    while let Some((departure, packet)) = link.poll_packet(now) {
        records.push(logged(owners, packet, Outcome::Delivered, departure, now));
    }
    while let Some(dropped) = link.poll_dropped() {
        records.push(logged(owners, dropped.packet, dropped.cause.into(), dropped.at, dropped.at));
    }
    records
}

/// The record of a packet that is sent, or looked at, at `now`.
fn logged(owners: &mut Owners, packet: Packet, outcome: Outcome, departure: Instant, now: Instant) -> Logged {
    let (inside, translated) = owners.logged(&packet, &packet.data);
    let data = inside.unwrap_or_else(|| packet.data.clone());
    let Packet { sequence, port, size, arrival, copy, corrupted_bit, originated, .. } = packet;
    let lateness = now.saturating_since(departure);
    (
        Record {
            sequence,
            port,
            outcome,
            translated,
            originated,
            copy,
            corrupted_bit,
            size,
            arrival,
            departure,
            lateness,
        },
        data,
    )
}

fn replayed(log: &[u8]) -> ReplayReport {
    replay("log".to_owned(), &log_file::parse(log).unwrap()).unwrap()
}

fn without_bytes(records: impl IntoIterator<Item = Record>) -> Vec<Logged> {
    records.into_iter().map(|record| (record, vec![])).collect()
}

/// A log of a link that does nothing.
fn clean(records: &[Logged]) -> Vec<u8> {
    written(&LinkSpec::default(), 1, records)
}

fn lossy() -> LinkSpec {
    let stages = vec![
        delay(10 * MILLISECOND, Some(JitterSpec::Normal { sigma_ns: 2 * MILLISECOND })),
        rate_of(1_000_000, drop_tail(3000), 14),
        ImpairmentSpec::GilbertElliott(GilbertElliottSpec { p: 0.1, r: 0.2, bad_loss: 0.7, good_loss: 0.0 }),
        ImpairmentSpec::Duplicate(DuplicateSpec { probability: 0.1, correlation: 0.0 }),
        ImpairmentSpec::Duplicate(DuplicateSpec { probability: 0.5, correlation: 0.0 }),
        ImpairmentSpec::Corrupt(CorruptSpec { probability: 0.2, correlation: 0.0 }),
        delay(MILLISECOND, None),
    ];
    let medium = MediumSpec::Serialiser(SerialiserSpec {
        rate_bps: 2_000_000,
        queue_bytes: Some(3000),
        queue_packets: None,
        overhead_bytes: 0,
    });
    LinkSpec { uplink: stages.clone(), downlink: stages, medium: Some(medium), ..LinkSpec::default() }
}

fn train() -> Vec<Send> {
    (0..400u64)
        .map(|n| (n * 7919 % 9_000_000, (n % 3 == 0).into(), 40 + (n * 31 % 1400) as u32, n % 5 * 1000))
        .collect()
}

#[test]
fn a_log_replays_without_a_mismatch() {
    let log = emulate(&lossy(), 9, &train(), MILLISECOND);
    let records = log_file::parse(&log[..]).unwrap().records;
    let outcomes: Vec<_> = records.iter().map(|(record, _)| record.outcome).collect();
    assert!(
        [Outcome::Delivered, Outcome::Loss, Outcome::QueueFull, Outcome::Held]
            .iter()
            .all(|outcome| outcomes.contains(outcome))
    );
    assert!(records.windows(3).any(|three| three.iter().all(|(record, _)| record.sequence == three[0].0.sequence)));
    assert!(records.iter().any(|(record, _)| record.copy && record.corrupted_bit.is_some()));
    let found = replayed(&log);
    assert_eq!((found.packets, found.mismatches, found.first_mismatch), (records.len() as u64, 0, None));
}

#[test]
fn a_report_counts_what_befell_packets_one_by_one_in_each_direction() {
    let at = |sequence: u64, port: u16, departure: u64| Record {
        sequence,
        port: PortId(port),
        outcome: Outcome::Delivered,
        translated: None,
        originated: false,
        copy: false,
        corrupted_bit: None,
        size: 100,
        arrival: Instant::from_nanos(sequence),
        departure: Instant::from_nanos(departure),
        lateness: Duration::ZERO,
    };
    let records = without_bytes([
        at(0, 0, 10),
        Record { copy: true, ..at(0, 0, 10) },
        Record { copy: true, ..at(0, 0, 10) },
        Record { corrupted_bit: Some(3), ..at(1, 0, 90) },
        at(2, 1, 80),
        at(3, 0, 40),
        at(4, 0, 50),
        Record { outcome: Outcome::Loss, ..at(5, 0, 60) },
        at(6, 0, 95),
    ]);
    let uplink = DeliveredPackets { packets: 5, duplicated: 1, corrupted: 1, reordered: 2 };
    let downlink = DeliveredPackets { packets: 1, ..DeliveredPackets::default() };
    assert_eq!(replayed(&clean(&records)).directions, [uplink, downlink]);
}

#[test]
fn stations_that_take_turns_overtake_nobody() {
    let departures = |ports: [u16; 3]| {
        let of = |(sequence, departure): (u64, u64)| {
            record(sequence, ports[sequence as usize], Outcome::Delivered, sequence, departure)
        };
        let records = [(0, 100), (1, 50), (2, 110)].map(of);
        replayed(&clean(&without_bytes(records))).directions[0].reordered
    };
    assert_eq!((departures([0, 2, 0]), departures([0, 0, 0])), (0, 1));
}

#[test]
fn a_log_with_the_largest_sequence_misses_all_before_it() {
    let report = replayed(&clean(&without_bytes([record(u64::MAX, 0, Outcome::Delivered, 1, 1)])));
    assert_eq!((report.packets, report.mismatches), (1, u64::MAX));
    assert_eq!(report.first_mismatch.unwrap().sequence, 0);
}

#[test]
fn another_seed_is_found_out() {
    let log = log_file::parse(&emulate(&lossy(), 9, &train(), 0)[..]).unwrap();
    let forged = written(&lossy(), 10, &log.records);
    assert!(replayed(&forged).mismatches > 100);
}

/// A radio that sleeps, a mapping that ends, and what counts time or draws besides.
fn sleepy() -> LinkSpec {
    let points = vec![at_ms(0, Some(4_000_000)), at_ms(7, Some(1_000_000))];
    let losses = GilbertElliottTimeSpec { good_ns: 9_000_000, bad_ns: 3_000_000, bad_loss: 0.9, good_loss: 0.0 };
    let chain = vec![schedule_of(points, Some(15 * MILLISECOND)), losses.into()];
    LinkSpec {
        uplink: chain.clone(),
        downlink: chain,
        radio: Some(psm()),
        nat: Some(nat_of_10_ms()),
        ..LinkSpec::default()
    }
}

fn rests_after_every_tenth(sequence: u64) -> Option<Duration> {
    (sequence % 10 == 9).then(|| Duration::from_millis(sequence))
}

#[test]
fn a_log_with_rests_replays_without_a_mismatch() {
    let train = train();
    let log = emulate_resting(&sleepy(), 9, &train, MILLISECOND, rests_after_every_tenth);
    let parsed = log_file::parse(&log[..]).unwrap();
    assert!(parsed.rests.len() > 10, "{:?}", parsed.rests);
    let found = replayed(&log);
    assert_eq!((found.packets, found.mismatches, found.first_mismatch), (parsed.records.len() as u64, 0, None));
    // A rest is what makes the radio sleep and the mapping end.
    let unrested = emulate(&sleepy(), 9, &train, MILLISECOND);
    let departures = |log: &[u8]| {
        let records = log_file::parse(log).unwrap().records;
        records.iter().map(|(record, _)| record.departure.saturating_since(record.arrival)).collect::<Vec<_>>()
    };
    assert_ne!(departures(&log), departures(&unrested));
}

#[test]
fn another_gap_is_found_out() {
    let log = log_file::parse(&emulate_resting(&sleepy(), 9, &train(), MILLISECOND, rests_after_every_tenth)[..]);
    let log = log.unwrap();
    let with = |change: &dyn Fn(Rest) -> Option<Rest>| {
        let rests = log.rests.iter().enumerate().filter_map(|(place, rest)| {
            let changed = if place == 3 { change(*rest)? } else { *rest };
            Some((Record::rest(changed.before, changed.at, changed.gap), vec![]))
        });
        replayed(&written(&sleepy(), 9, &log.records.iter().cloned().chain(rests).collect::<Vec<_>>()))
    };
    assert_eq!(with(&Some).mismatches, 0);
    assert!(with(&|rest| Some(Rest { gap: rest.gap / 2, ..rest })).mismatches > 0);
    assert!(with(&|_| None).mismatches > 0);
}

#[test]
fn a_rest_with_a_packet_inside_is_found_out() {
    let rest = Record::rest(1, Instant::from_nanos(6), Duration::from_nanos(1000));
    let records = without_bytes([record(0, 0, Outcome::Delivered, 5, 15), rest]);
    let constant = LinkSpec { uplink: vec![delay(10, None)], ..LinkSpec::default() };
    let report = replayed(&written(&constant, 1, &records));
    let found = report.first_mismatch.unwrap();
    assert_eq!((report.packets, report.mismatches, found.sequence), (1, 1, 1));
    let logged = found.logged.unwrap();
    assert_eq!((logged.outcome, logged.arrival_ns, logged.departure_ns), (PacketOutcome::Rest, 6, 1006));
    assert_eq!(found.replayed, None);
}

/// Change the first record that `picks`, and return what the replay finds first.
fn forged(picks: impl Fn(&Record) -> bool, change: impl Fn(&mut Record)) -> ReplayMismatch {
    let mut log = log_file::parse(&emulate(&lossy(), 9, &train(), MILLISECOND)[..]).unwrap();
    change(&mut log.records.iter_mut().find(|(record, _)| picks(record)).unwrap().0);
    let report = replayed(&written(&lossy(), 9, &log.records));
    assert_eq!(report.mismatches, 1);
    report.first_mismatch.unwrap()
}

#[test]
fn another_inverted_bit_is_found_out() {
    let corrupted =
        |record: &Record| record.outcome == Outcome::Delivered && record.corrupted_bit.is_some_and(|bit| bit > 0);
    let found = forged(corrupted, |record| record.corrupted_bit = Some(0));
    assert_eq!(found.logged.unwrap().corrupted_bit, Some(0));
    assert!(found.replayed.unwrap().corrupted_bit > Some(0));
    let found = forged(corrupted, |record| record.corrupted_bit = None);
    assert_eq!(found.logged.unwrap().corrupted_bit, None);
}

#[test]
fn another_outcome_of_a_copy_is_found_out() {
    let copy = |record: &Record| record.copy && record.outcome == Outcome::Delivered;
    let found = forged(copy, |record| record.outcome = Outcome::Loss);
    assert!(found.copy);
    assert_eq!(
        (found.logged.unwrap().outcome, found.replayed.unwrap().outcome),
        (PacketOutcome::Loss, PacketOutcome::Delivered)
    );
}

#[test]
fn a_copy_that_one_of_them_misses_is_found_out() {
    let mut log = log_file::parse(&emulate(&lossy(), 9, &train(), MILLISECOND)[..]).unwrap();
    let copies = |sequence| log.records.iter().filter(|(record, _)| record.copy && record.sequence == sequence).count();
    let only = |record: &Record| record.copy && record.outcome == Outcome::Delivered && copies(record.sequence) == 1;
    let copy = log.records.iter().position(|(record, _)| only(record)).unwrap();
    let removed = log.records.remove(copy);
    let report = replayed(&written(&lossy(), 9, &log.records));
    let found = report.first_mismatch.unwrap();
    assert_eq!((report.mismatches, found.sequence, found.copy), (1, removed.0.sequence, true));
    assert_eq!((found.logged, found.replayed.unwrap().outcome), (None, PacketOutcome::Delivered));

    let invented = Record { copy: true, ..record(0, 0, Outcome::Delivered, 5, 5) };
    let records = without_bytes([record(0, 0, Outcome::Delivered, 5, 5), invented]);
    let report = replayed(&clean(&records));
    assert_eq!((report.packets, report.mismatches), (2, 1));
    assert!(report.first_mismatch.unwrap().copy);
}

#[test]
fn a_departure_that_is_one_nanosecond_off_is_found_out() {
    let records = without_bytes([record(0, 0, Outcome::Delivered, 5, 5), record(1, 0, Outcome::Delivered, 7, 8)]);
    let report = replayed(&clean(&records));
    let found = report.first_mismatch.unwrap();
    assert_eq!((report.mismatches, found.sequence), (1, 1));
    assert_eq!((found.logged.unwrap().departure_ns, found.replayed.unwrap().departure_ns), (8, 7));
}

#[test]
fn a_packet_that_the_chain_would_have_released_was_not_held() {
    let records = without_bytes([record(0, 0, Outcome::Held, 5, 9), record(1, 0, Outcome::Delivered, 7, 7)]);
    let report = replayed(&clean(&records));
    assert_eq!(report.mismatches, 1);
    assert_eq!(report.first_mismatch.unwrap().replayed.unwrap().outcome, PacketOutcome::Delivered);
}

#[test]
fn packets_that_the_log_misses_count() {
    let records = without_bytes([record(0, 0, Outcome::Delivered, 5, 5), record(3, 0, Outcome::Delivered, 7, 7)]);
    let report = replayed(&clean(&records));
    assert_eq!((report.packets, report.mismatches), (2, 2));
    let missing = ReplayMismatch { sequence: 1, copy: false, originated: false, logged: None, replayed: None };
    assert_eq!(report.first_mismatch.unwrap(), missing);
}

#[test]
fn mappings_and_fair_queues_replay_by_the_logged_headers() {
    let spec = LinkSpec {
        uplink: vec![rate_of(500_000, fq_codel(20), 0)],
        downlink: vec![rate_of(500_000, fq_codel(20), 0)],
        nat: Some(nat_of_10_ms()),
        ..LinkSpec::default()
    };
    let log = emulate(&spec, 9, &train(), MILLISECOND);
    assert_eq!(replayed(&log).first_mismatch, None);
    let mut records = log_file::parse(&log[..]).unwrap().records;
    assert!(
        [Outcome::Nat, Outcome::Delivered]
            .iter()
            .all(|outcome| records.iter().any(|(record, _)| record.outcome == *outcome))
    );
    records.iter_mut().for_each(|(_, bytes)| bytes.clear());
    assert!(replayed(&written(&spec, 9, &records)).mismatches > 0);
}

fn queue() -> impl Strategy<Value = QueueSpec> {
    prop_oneof![
        (0..10_000u64).prop_map(drop_tail),
        (0..10u32).prop_map(|packets| QueueSpec::DropTail { bytes: None, packets: Some(packets) }),
        (0..20_000u64).prop_map(codel),
        (0..20u32).prop_map(fq_codel),
    ]
}

fn rate() -> impl Strategy<Value = ImpairmentSpec> {
    let shape = || (100_000..50_000_000u64, queue(), 0..20u32);
    prop_oneof![
        shape().prop_map(|(rate_bps, queue, overhead_bytes)| rate_of(rate_bps, queue, overhead_bytes)),
        (shape(), 1520..5000u64).prop_map(|((rate_bps, queue, overhead_bytes), burst_bytes)| {
            ImpairmentSpec::TokenBucket(TokenBucketSpec { rate_bps, burst_bytes, queue, overhead_bytes })
        }),
        (queue(), prop::collection::vec(0..20u32, 1..10)).prop_map(|(queue, mut opportunities_ms)| {
            opportunities_ms.push(20);
            opportunities_ms.sort_unstable();
            ImpairmentSpec::DeliveryTrace(DeliveryTraceSpec { opportunities_ms, queue, overhead_bytes: 0 })
        }),
        (shape(), 0.01..1.0f64).prop_map(|((rate_bps, queue, overhead_bytes), share)| {
            ImpairmentSpec::DutyCycle(DutyCycleSpec { rate_bps, share, queue, overhead_bytes })
        }),
        (prop::option::of(100_000..50_000_000u64), prop_oneof![Just(None), Just(Some(0)), (0..1_000_000u64).prop_map(Some)], any::<bool>()).prop_map(
            |(first, second, repeats)| {
                schedule_of(vec![at_ms(0, first), at_ms(7, second)], repeats.then_some(15 * MILLISECOND))
            }
        ),
    ]
    .prop_filter("a rate of 0 throughout", |stage| {
        !matches!(stage, ImpairmentSpec::Schedule(ScheduleSpec { points, .. }) if points.iter().all(|point| point.rate_bps == Some(0)))
    })
}

fn stage() -> impl Strategy<Value = ImpairmentSpec> {
    let jitter = prop_oneof![
        Just(None),
        (0..5_000_000u64).prop_map(|sigma_ns| Some(JitterSpec::Normal { sigma_ns })),
        (0..5_000_000u64).prop_map(|half_width_ns| Some(JitterSpec::Uniform { half_width_ns })),
        (0..5_000_000u64).prop_map(|sigma_ns| Some(JitterSpec::ParetoNormal { sigma_ns })),
    ];
    let delay = (0..20_000_000u64, jitter, 0.0..1.0f64, any::<bool>());
    prop_oneof![
        3 => prop::sample::select(one_of_each()),
        2 => delay.prop_map(|(delay_ns, jitter, correlation, overtaking)| {
            ImpairmentSpec::Delay(DelaySpec { delay_ns, jitter, correlation, overtaking })
        }),
        1 => (0.0..0.5).prop_map(loss),
        1 => (0.0..1.0, 0..20_000_000u64, 0.0..1.0f64).prop_map(|(probability, by_ns, correlation)| {
            ImpairmentSpec::Reorder(ReorderSpec { probability, by_ns, correlation })
        }),
        1 => (0.0..1.0).prop_map(|probability| ImpairmentSpec::Duplicate(DuplicateSpec { probability, correlation: 0.0 })),
        1 => (10_000..20_000_000u64, 10_000..20_000_000u64, 0.0..1.0).prop_map(|(good_ns, bad_ns, bad_loss)| {
            ImpairmentSpec::GilbertElliottTime(GilbertElliottTimeSpec { good_ns, bad_ns, bad_loss, good_loss: 0.0 })
        }),
        3 => rate(),
    ]
}

fn link() -> impl Strategy<Value = LinkSpec> {
    let stages = || prop::collection::vec(stage(), 0..4);
    let medium = prop_oneof![
        3 => Just(None),
        1 => (100_000..50_000_000u64, 0..10_000u64).prop_map(|(rate_bps, queue_bytes)| {
            Some(MediumSpec::Serialiser(SerialiserSpec { rate_bps, queue_bytes: Some(queue_bytes), queue_packets: None, overhead_bytes: 0 }))
        }),
        1 => (0.0..0.9).prop_map(|frame_error| Some(wifi(frame_error))),
        1 => (0.0..0.9).prop_map(|frame_error| Some(ieee802154(frame_error))),
    ];
    (stages(), stages(), medium, prop::option::of(Just(psm())), prop::option::of(Just(nat_of_10_ms()))).prop_map(
        |(uplink, downlink, medium, radio, nat)| LinkSpec {
            uplink,
            downlink,
            medium,
            radio,
            nat,
            ..LinkSpec::default()
        },
    )
}

/// Of every kind, with ports that change after some milliseconds.
fn nat() -> impl Strategy<Value = NatSpec> {
    prop::collection::vec(any::<u64>(), 20).prop_map(|draws| {
        let mut draws = draws.into_iter().cycle();
        let spec = NatSpec::arbitrary(&mut Choices::new(&mut || draws.next().expect("they come again")));
        let short = |timeout_ns: u64| 1 + timeout_ns % (20 * MILLISECOND);
        NatSpec {
            udp_timeout_ns: short(spec.udp_timeout_ns),
            tcp_transitory_timeout_ns: short(spec.tcp_transitory_timeout_ns),
            tcp_established_timeout_ns: short(spec.tcp_established_timeout_ns),
            ..spec
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_log_of_every_link_replays(
        spec in link(),
        seed in any::<u64>(),
        train in prop::collection::vec((prop_oneof![Just(0), 0..5_000_000u64], 0..2u16, 40..1500u32, prop_oneof![Just(0), 0..9_000_000u64]), 0..60),
        lasts in 0..30_000_000u64,
        gaps in prop::collection::vec(prop::option::weighted(0.1, 0..50_000_000u64), 60),
    ) {
        prop_assert_eq!(replayed(&emulate(&spec, seed, &train, lasts)).first_mismatch, None);
        let rests = |sequence| gaps[sequence as usize].map(Duration::from_nanos);
        prop_assert_eq!(replayed(&emulate_resting(&spec, seed, &train, lasts, rests)).first_mismatch, None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn logs_in_which_ports_change_replay_packet_for_packet(
        (nat, delay_ns, seed, fair) in (nat(), 0..3_000_000u64, any::<u64>(), any::<bool>()),
        train in prop::collection::vec((0..6_000_000u64, 0..2u16, 40..1500u32, 0..2_000_000u64), 0..80),
    ) {
        let last = if fair { rate_of(2_000_000, fq_codel(10), 0) } else { loss(0.1) };
        let stages = || vec![delay(delay_ns, None), last.clone()];
        let spec = LinkSpec { uplink: stages(), downlink: stages(), nat: Some(nat), ..LinkSpec::default() };
        let log = emulate(&spec, seed, &train, MILLISECOND);
        prop_assert_eq!(replayed(&log).first_mismatch, None);
        // In the log every packet that passed has a port of the client's own, whichever it had outside.
        for (record, bytes) in log_file::parse(&log[..]).unwrap().records {
            let end = if record.port.direction() == Direction::Uplink { 20..22 } else { 22..24 };
            let known = record.translated.is_some() || record.port.direction() == Direction::Uplink;
            if known && !record.originated {
                prop_assert!(u16::from_be_bytes(bytes[end].try_into().unwrap()) < 3);
            }
        }
    }
}
