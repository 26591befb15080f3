//! A link whose clock is put forward over an idle time: what it does then is what it would do had the time passed.

mod common;
#[path = "common/shared.rs"]
mod shared;
#[path = "common/specs.rs"]
mod specs;
#[path = "common/strategies.rs"]
mod strategies;

use std::time::Duration;

use common::{Caller, Send, Stage, drive, ends, flow};
use proptest::prelude::*;
use shared::shared;
use specs::{nat_of_10_ms, psm};
use strategies::{micros, plan, stage, train};
use wirelab_link::impairment::{Radio, SchedulePoint, ScheduleSpec, Sleep};
use wirelab_link::queue::QueueSpec;
use wirelab_link::spec::LinkSpec;
use wirelab_link::{Busy, Direction, DropCause, Impairment, Instant, Link, Packet, PortId, Resting, Seed};

const SEED: Seed = Seed { link: 1, direction: Direction::Uplink, index: 0 };
const UP: u16 = 0;
const DOWN: u16 = 1;
/// A year: what leaves at all does so before.
const HORIZON: Instant = Instant::from_nanos(31_536_000_000_000_000);

/// A packet's outcome: its sequence, whether it is a copy, when it left or was dropped, and why.
type Outcome = (u64, bool, Instant, Option<DropCause>);

fn at(milliseconds: u64) -> Instant {
    Instant::from_nanos(milliseconds * 1_000_000)
}

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn packet(sequence: u64, port: u16, arrival: Instant) -> Packet {
    let (port, flow) = (PortId(port), flow(101));
    Packet { ends: Some(Box::new(ends(port, flow))), ..Packet::new(sequence, port, 101, arrival, flow) }
}

/// What has left or was dropped by `now`.
fn collected(link: &mut dyn Impairment, now: Instant) -> Vec<Outcome> {
    let mut found: Vec<Outcome> = std::iter::from_fn(|| link.poll_packet(now))
        .map(|(departure, packet)| (packet.sequence, packet.copy, departure, None))
        .collect();
    found.extend(
        std::iter::from_fn(|| link.poll_dropped())
            .map(|dropped| (dropped.packet.sequence, dropped.packet.copy, dropped.at, Some(dropped.cause))),
    );
    found
}

/// Hand in a packet and wait until it has left: when it did, or was dropped.
fn passes(link: &mut dyn Impairment, packet: Packet) -> (Instant, Option<DropCause>) {
    let (arrival, sequence) = (packet.arrival, packet.sequence);
    link.handle_packet(packet, arrival);
    let found = collected(link, arrival + ms(3_600_000));
    let [(number, false, instant, cause)] = found[..] else { panic!("{found:?}") };
    assert_eq!(number, sequence);
    (instant, cause)
}

#[test]
fn a_radio_that_rests_is_asleep_as_if_the_time_had_passed() {
    let sleeps = vec![
        Sleep { after: ms(100), cycle: Some(ms(40)), wake: ms(5) },
        Sleep { after: ms(1000), cycle: None, wake: ms(50) },
    ];
    let delay_after = |gap: Option<Duration>| {
        let mut link = Resting::new(Box::new(Radio::new(sleeps.clone(), 1000).unwrap()));
        link.start(at(0));
        link.handle_packet(packet(0, UP, at(0)), at(0));
        assert_eq!(collected(&mut link, at(60)), [(0, false, at(50), None)]);
        if let Some(gap) = gap {
            link.rest(gap).unwrap();
        }
        link.handle_packet(packet(1, UP, at(60)), at(60));
        let (departure, _) = link.poll_packet(at(1000)).unwrap();
        departure.saturating_since(at(60))
    };
    assert_eq!(delay_after(None), ms(0));
    // Awake since 50 ms.
    assert_eq!([89, 90, 989, 990, 600_000].map(|gap| delay_after(Some(ms(gap)))), [0, 5, 5, 50, 50].map(ms));
}

#[test]
fn a_mapping_is_forgotten_by_a_rest_longer_than_its_time_out() {
    let spec = LinkSpec { nat: Some(nat_of_10_ms()), ..LinkSpec::default() };
    for (gap, cause) in [(8, None), (11, Some(DropCause::Nat))] {
        let mut link = Resting::new(Box::new(spec.build(7).unwrap()));
        // 101 % 3 is UDP.
        link.handle_packet(packet(0, UP, at(0)), at(0));
        let (_, passed) = link.poll_packet(at(1)).unwrap();
        link.rest(ms(gap)).unwrap();
        let mut answer = packet(1, DOWN, at(1));
        answer.ends.as_mut().unwrap().destination = *passed.translated.unwrap();
        assert_eq!(passes(&mut link, answer), (at(1), cause), "after {gap} ms");
    }
}

#[test]
fn outages_and_schedules_go_on_during_a_rest() {
    let outage = Stage::outage(ms(1000), ms(1000), None, None);
    let mut link = Resting::new(outage.build(SEED));
    link.start(at(0));
    assert_eq!(passes(&mut link, packet(0, UP, at(0))), (at(0), None));
    let mut link = Resting::new(outage.build(SEED));
    link.start(at(0));
    link.rest(ms(1500)).unwrap();
    link.handle_packet(packet(0, UP, at(1)), at(1));
    assert_eq!(collected(&mut link, at(2)), [(0, false, at(1), Some(DropCause::Outage))]);
    link.rest(ms(500)).unwrap();
    assert_eq!(passes(&mut link, packet(1, UP, at(2))), (at(2), None));

    let point = |at_ms: u64, delay_ms: u64| SchedulePoint {
        at_ns: at_ms * 1_000_000,
        delay_ns: Some(delay_ms * 1_000_000),
        rate_bps: None,
        loss: None,
    };
    let queue = QueueSpec::DropTail { bytes: Some(10_000), packets: None };
    let points = vec![point(0, 10), point(5000, 3)];
    let schedule = Stage(ScheduleSpec { points, repeat_ns: Some(10_000_000_000), queue, overhead_bytes: 0 }.into());
    let mut link = Resting::new(schedule.build(SEED));
    link.start(at(0));
    for (sequence, (gap, delay)) in (0..).zip([(0, 10), (6000, 3), (6000, 10)]) {
        link.rest(ms(gap)).unwrap();
        let now = at(20 * sequence);
        link.handle_packet(packet(sequence, UP, now), now);
        assert_eq!(collected(&mut link, now + ms(15)), [(sequence, false, now + ms(delay), None)]);
    }
}

#[test]
fn a_link_with_a_packet_inside_does_not_rest() {
    let mut link = Resting::new(Stage::constant(ms(20)).build(SEED));
    link.handle_packet(packet(0, UP, at(0)), at(0));
    link.handle_packet(packet(1, UP, at(0)), at(0));
    assert_eq!(link.rest(ms(1000)), Err(Busy { packets: 2 }));
    // It has left, and nobody has it yet.
    assert!(link.poll_packet(at(20)).is_some());
    assert_eq!(link.rest(ms(1000)), Err(Busy { packets: 1 }));
    assert!(link.poll_packet(at(20)).is_some());
    assert_eq!((link.rest(ms(1000)), link.ahead()), (Ok(()), ms(1000)));

    let mut link = Resting::new(Stage::independent(1.0).build(SEED));
    link.handle_packet(packet(0, UP, at(0)), at(0));
    assert_eq!(link.poll_packet(at(1)), None);
    assert_eq!(link.rest(ms(1000)).unwrap_err().to_string(), "the link has 1 packets inside");
    assert!(link.poll_dropped().is_some());
    assert_eq!(link.rest(ms(1000)), Ok(()));
}

#[test]
fn instants_of_callers_do_not_jump() {
    let losses = Stage::independent(1.0);
    for (stage, cause) in [(Stage::constant(ms(20)), None), (losses, Some(DropCause::Loss))] {
        let mut link = Resting::new(Box::new(
            LinkSpec { uplink: vec![stage.0], radio: Some(psm()), ..LinkSpec::default() }.build(1).unwrap(),
        ));
        link.rest(ms(5000)).unwrap();
        link.rest(ms(5000)).unwrap();
        link.handle_packet(packet(0, UP, at(100)), at(100));
        // Waking takes 1 ms.
        let leaves = if cause.is_none() { at(121) } else { at(101) };
        assert_eq!(link.poll_timeout(), Some(at(101)));
        let passed = link.poll_packet(at(1000));
        let dropped = link.poll_dropped().map(|dropped| (dropped.at, dropped.packet));
        let (instant, packet) = passed.or(dropped).unwrap();
        assert_eq!((instant, packet.arrival), (leaves, at(100)), "{cause:?}");
    }
    let mut link = Resting::new(Stage::constant(ms(20)).build(SEED));
    link.rest(ms(5000)).unwrap();
    link.handle_packet(packet(0, UP, at(100)), at(100));
    assert_eq!(link.poll_held().unwrap().arrival, at(100));
}

/// Hand in the packets of a train that begins at `from`, and poll when something is due until nothing is any more: the outcome of each packet, and
/// the last instant at which something happened.
fn sent(link: &mut Resting, train: &[Send], first: u64, from: Instant) -> (Vec<Outcome>, Instant) {
    let (mut now, mut found) = (from, Vec::new());
    for (sequence, send) in (first..).zip(train) {
        now = now + send.gap;
        let (port, flow) = (PortId(send.port), flow(send.size));
        let packet =
            Packet { ends: Some(Box::new(ends(port, flow))), ..Packet::new(sequence, port, send.size, now, flow) };
        link.handle_packet(packet, now);
        found.extend(collected(link, now));
    }
    while let Some(due) = link.poll_timeout().filter(|due| *due < HORIZON) {
        now = now.max(due);
        found.extend(collected(link, now));
    }
    found.sort_by_key(|(sequence, copy, instant, _)| (*sequence, *copy, *instant));
    (found, now)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_link_that_never_rests_is_itself(stage in stage(), plan in plan(), shared in shared(), train in train()) {
        let resting = |link: Link| Resting::new(Box::new(link));
        prop_assert_eq!(
            drive(&mut Resting::new(stage.build(SEED)), &train, &Caller::Prompt),
            drive(&mut *stage.build(SEED), &train, &Caller::Prompt)
        );
        prop_assert_eq!(
            drive(&mut resting(shared.link(&plan)), &train, &Caller::Prompt),
            drive(&mut shared.link(&plan), &train, &Caller::Prompt)
        );
    }

    #[test]
    fn what_comes_after_a_rest_fares_as_after_waiting_so_long(
        plan in plan(), shared in shared(), before in train(), after in train(), gap in micros(0..5_000_000)
    ) {
        let link = || Resting::new(Box::new(shared.link(&plan)));
        let (mut rests, mut waits) = (link(), link());
        let (first, now) = sent(&mut rests, &before, 0, at(0));
        prop_assert_eq!(&sent(&mut waits, &before, 0, at(0)).0, &first);
        // A link may keep packets for ever.
        prop_assume!(rests.inside() == 0);
        rests.rest(gap).unwrap();
        let number = before.len() as u64;
        let (rested, _) = sent(&mut rests, &after, number, now);
        let (waited, _) = sent(&mut waits, &after, number, now + gap);
        let later = rested.into_iter().map(|(sequence, copy, instant, cause)| (sequence, copy, instant + gap, cause));
        prop_assert_eq!(later.collect::<Vec<_>>(), waited);
        prop_assert_eq!(rests.counters(), waits.counters());
    }
}
