//! What changes with time: schedules and outages; exact instants, and what holds of all packets.

mod common;
#[path = "common/exact.rs"]
mod exact;
#[path = "common/strategies.rs"]
mod strategies;

use std::time::Duration;

use common::{Send, Sender, Stage, drop_tail};
use exact::{SEED, departures, ms, outcomes, packet, point, sends, unbounded};
use proptest::prelude::*;
use strategies::{schedule, train};
use wirelab_link::impairment::{
    DeliveryTraceSpec, DutyCycleSpec, ImpairmentSpec, OutageSpec, SchedulePoint, ScheduleSpec,
};
use wirelab_link::queue::QueueSpec;
use wirelab_link::spec::Place;
use wirelab_link::{DropCause, Instant};

/// Rates from these microseconds on.
fn rates(points: &[(u64, Option<u64>)], repeat: Option<u64>) -> Stage {
    let points =
        points.iter().map(|(at, rate)| point(Duration::from_micros(*at), *rate, Duration::ZERO, 0.0)).collect();
    unbounded(Sender::schedule(points, repeat.map(Duration::from_micros)))
}

#[test]
fn a_packet_that_is_being_sent_when_the_rate_changes_continues_at_the_new_rate() {
    let stage = rates(&[(0, Some(8_000_000)), (500, Some(4_000_000)), (1500, None)], None);
    assert_eq!(departures(&stage, &[(0, 1000), (0, 1000), (0, 9000)]), [1500, 1500, 1500].map(Some));
    assert_eq!(departures(&stage, &[(100, 1000), (2000, 9000)]), [1500, 2000].map(Some));
}

#[test]
fn at_a_rate_of_0_nothing_is_sent_until_the_next_point() {
    let stage = rates(&[(0, Some(8_000_000)), (1500, Some(0)), (5000, Some(8_000_000))], None);
    assert_eq!(departures(&stage, &[(0, 1000), (0, 1000), (2000, 1000)]), [1000, 5500, 6500].map(Some));
    let dead = rates(&[(0, Some(8_000_000)), (1500, Some(0))], None);
    let mut dead = dead.build(SEED);
    for (sequence, at) in [(0, 0), (1, 2_000_000)] {
        dead.handle_packet(packet(sequence), Instant::from_nanos(at));
    }
    let year = Instant::default() + Duration::from_secs(31_536_000);
    assert_eq!(dead.poll_packet(year).map(|(departure, _)| departure.as_nanos()), Some(1_000_000));
    assert_eq!((dead.poll_packet(year), dead.counters().held), (None, 1));
}

#[test]
fn a_packet_before_a_pause_waits_in_the_queue_unless_it_is_being_sent() {
    let points = vec![point(ms(0), Some(0), ms(0), 0.0), point(ms(5), Some(8_000_000), ms(0), 0.0)];
    let stage = Stage::queued(Sender::schedule(points, None), drop_tail(1000), 0);
    assert_eq!(departures(&stage, &[(0, 1000), (0, 1000), (5000, 1000)]), [Some(6000), None, Some(7000)]);
}

#[test]
fn a_schedule_begins_again_also_within_one_packet() {
    let stage = rates(&[(0, Some(8_000_000)), (1000, Some(0))], Some(2000));
    assert_eq!(
        departures(&stage, &[(0, 1000), (0, 1000), (0, 500), (9500, 1000)]),
        [1000, 3000, 4500, 11_000].map(Some)
    );
    // A bit in each millisecond, at its beginning.
    let slow = rates(&[(0, Some(1_000_000)), (1, Some(0))], Some(1000));
    assert_eq!(departures(&slow, &[(0, 1000), (0, 1)]), [7_999_001, 8_007_001].map(Some));
    // A schedule that never sends is refused; this one has a rate for no time.
    let never = rates(&[(0, Some(1)), (0, Some(0))], Some(1000));
    let mut never = never.build(SEED);
    never.handle_packet(packet(0), Instant::default());
    assert_eq!(never.poll_packet(Instant::from_nanos(u64::MAX - 1)), None);
}

#[test]
fn packets_do_not_overtake_one_another_when_the_delay_falls() {
    let points = vec![point(ms(0), None, ms(10), 0.0), point(ms(5), None, ms(1), 0.0)];
    let stage = unbounded(Sender::schedule(points, None));
    assert_eq!(departures(&stage, &[(4000, 1), (6000, 1), (15_000, 1)]), [14_000, 14_000, 16_000].map(Some));
}

#[test]
fn loss_and_delay_are_those_that_hold_when_the_last_bit_is_sent() {
    let points = vec![point(ms(0), Some(8_000_000), ms(10), 0.0), point(ms(2), Some(8_000_000), ms(20), 1.0)];
    let stage = unbounded(Sender::schedule(points, None));
    assert_eq!(departures(&stage, &[(0, 1999), (0, 1)]), [Some(11_999), None]);
}

#[test]
fn a_schedule_draws_once_for_each_packet_whatever_the_loss_is() {
    let points = vec![point(ms(0), None, ms(0), 0.0), point(ms(100), None, ms(0), 0.5)];
    let train = sends(&(0..400).map(|nth| (nth * 1000, 100)).collect::<Vec<_>>());
    let lost = |stage: Stage| {
        outcomes(&mut *stage.build(SEED), &train).into_iter().map(|(_, cause)| cause).collect::<Vec<_>>()
    };
    let (scheduled, independent) = (lost(unbounded(Sender::schedule(points, None))), lost(Stage::independent(0.5)));
    assert!(scheduled[..100].iter().all(Option::is_none));
    assert_eq!(scheduled[100..], independent[100..]);
    assert!(scheduled.contains(&Some(DropCause::Loss)));
}

#[test]
fn an_outage_drops_from_its_beginning_until_just_before_its_end() {
    let once = Stage::outage(ms(5), ms(2), None, None);
    let around = [(4999, 1), (5000, 1), (6999, 1), (7000, 1), (105_000, 1)];
    assert_eq!(departures(&once, &around), [Some(4999), None, None, Some(7000), Some(105_000)]);
    let often = Stage::outage(ms(5), ms(2), Some(ms(10)), None);
    assert_eq!(departures(&often, &around), [Some(4999), None, None, Some(7000), None]);
    let causes: Vec<_> =
        outcomes(&mut *often.build(SEED), &sends(&around)).into_iter().map(|(_, cause)| cause).collect();
    assert_eq!(causes[1], Some(DropCause::Outage));
}

#[test]
fn a_handover_holds_what_fits_and_releases_it_in_order_at_its_end() {
    let stage = Stage::outage(ms(5), ms(2), Some(ms(10)), Some(1500));
    let train = sends(&[(5000, 1000), (5001, 600), (5002, 500), (7000, 1), (15_000, 1500), (15_000, 1)]);
    let full = |at: u64| (Instant::from_nanos(at * 1000), Some(DropCause::QueueFull));
    let left = |at: u64| (Instant::from_nanos(at * 1000), None);
    let expected = [left(7000), full(5001), left(7000), left(7000), left(17_000), full(15_000)];
    assert_eq!(outcomes(&mut *stage.build(SEED), &train), expected);
}

#[test]
fn time_counts_from_the_links_first_packet() {
    let stages = [
        unbounded(Sender::delivery_trace(vec![3, 8])),
        rates(&[(0, Some(0)), (3000, Some(8_000_000))], Some(10_000)),
        Stage::outage(ms(0), ms(3), None, Some(5000)),
    ];
    let origin = Duration::from_secs(1_000_000);
    for stage in stages {
        let (mut early, mut late) = (stage.build(SEED), stage.build(SEED));
        late.start(Instant::default() + origin);
        for (sequence, at) in (0..).zip([0, 1, 2999, 3000, 12_000].map(|at| Instant::from_nanos(at * 1000))) {
            early.handle_packet(packet(sequence), at);
            late.handle_packet(packet(sequence), at + origin);
        }
        let end = Instant::default() + origin * 2;
        for _ in 0..5 {
            let (departure, _) = early.poll_packet(end).unwrap();
            assert_eq!(late.poll_packet(end).map(|(instant, _)| instant), Some(departure + origin), "{stage:?}");
        }
    }
}

#[test]
fn what_no_stage_can_do_is_refused_with_its_value() {
    let refused = |spec: ImpairmentSpec| match spec.build(SEED, &Place::new("stage")) {
        Ok(_) => panic!("{spec:?} is built"),
        Err(error) => error.what,
    };
    let queue = || QueueSpec::DropTail { bytes: None, packets: Some(1) };
    let duty = |share| DutyCycleSpec { rate_bps: 1, share, queue: queue(), overhead_bytes: 0 };
    let share = |value| refused(duty(value).into());
    assert_eq!(share(0.0), "0 is not a share of the time (above 0, at most 1)");
    assert_eq!(share(1.5), "1.5 is not a share of the time (above 0, at most 1)");
    assert_eq!(share(f64::NAN), "NaN is not a share of the time (above 0, at most 1)");
    let trace = |opportunities: &[u32]| {
        let opportunities_ms = opportunities.to_vec();
        refused(DeliveryTraceSpec { opportunities_ms, queue: queue(), overhead_bytes: 0 }.into())
    };
    assert_eq!(trace(&[]), "a trace has at least one opportunity");
    assert_eq!(trace(&[0, 0]), "a trace lasts until its last opportunity, which cannot be at 0 ms");
    assert_eq!(trace(&[7, 5, 9]), "5 comes after 7");
    let endless = OutageSpec { start_ns: 0, duration_ns: 5_000_000, every_ns: Some(5_000_000), hold_bytes: None };
    assert_eq!(refused(endless.into()), "outages of 5ms every 5ms never end");
    let schedule = |instants: &[u64], repeat: Option<u64>| {
        let points = instants.iter().map(|at| point(ms(*at), None, ms(0), 0.0)).collect();
        let repeat_ns = repeat.map(|ms| ms * 1_000_000);
        refused(ScheduleSpec { points, repeat_ns, queue: queue(), overhead_bytes: 0 }.into())
    };
    assert_eq!(schedule(&[], None), "a schedule has at least one point");
    assert_eq!(schedule(&[1], None), "the first point is at 0, not at 1ms");
    assert_eq!(schedule(&[0, 7, 5], None), "5000000 comes after 7000000");
    assert_eq!(schedule(&[0, 7], Some(7)), "a schedule that begins again after 7ms never reaches its point at 7ms");
}

/// When a rate that changes has sent each of these sums of bytes, all of them waiting since 0: the first nanosecond at which the sum of rate times
/// time reaches it, or `u64::MAX` if it never does.
fn integral(points: &[SchedulePoint], repeat: Option<Duration>, sums: &[u64]) -> Vec<u64> {
    let mut sums = sums.iter().map(|sum| u128::from(*sum) * 8_000_000_000).peekable();
    let (mut begin, mut sent, mut departures) = (0u128, 0u128, Vec::new());
    for index in (0..points.len()).cycle() {
        let last = index + 1 == points.len();
        let end = if last { repeat } else { Some(Duration::from_nanos(points[index + 1].at_ns)) };
        let length = end.map_or(u128::from(u64::MAX), |end| end.as_nanos() - u128::from(points[index].at_ns));
        let rate = points[index].rate_bps;
        let is_sent = |sum: &u128| length > 0 && rate.is_none_or(|rate| *sum <= sent + u128::from(rate) * length);
        while let Some(sum) = sums.next_if(is_sent) {
            let within = rate.map_or(0, |rate| (sum - sent).div_ceil(u128::from(rate)));
            departures.push((begin + within) as u64);
        }
        sent += rate.map_or(0, |rate| u128::from(rate) * length);
        begin += length;
        if sums.peek().is_none() || (last && repeat.is_none()) {
            break;
        }
    }
    departures.extend(sums.map(|_| u64::MAX));
    departures
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_busy_schedule_sends_exactly_the_integral_of_its_rate(
        schedule in schedule(),
        sizes in prop::collection::vec(1..1500u32, 1..40)
    ) {
        let (points, repeat) = schedule;
        let sums: Vec<_> = sizes.iter().scan(0, |sum, size| { *sum += u64::from(*size); Some(*sum) }).collect();
        let expected = integral(&points, repeat, &sums);
        let train: Vec<_> = sizes.iter().map(|size| Send { gap: Duration::ZERO, port: 0, size: *size }).collect();
        let outcomes = outcomes(&mut *unbounded(Sender::schedule(points, repeat)).build(SEED), &train);
        prop_assert_eq!(outcomes.into_iter().map(|(at, _)| at.as_nanos()).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn one_point_for_ever_and_a_whole_duty_cycle_are_a_rate(rate in 1_000..50_000_000u64, bytes in 0..10_000u64, train in train()) {
        let outcomes = |sender: Sender| outcomes(&mut *sender.build(drop_tail(bytes), 3, SEED), &train);
        let expected = outcomes(Sender::rate(rate));
        prop_assert_eq!(&outcomes(Sender::duty_cycle(rate, 1.0)), &expected);
        let point = point(ms(0), Some(rate), ms(0), 0.0);
        prop_assert_eq!(&outcomes(Sender::schedule(vec![point.clone()], None)), &expected);
        prop_assert_eq!(&outcomes(Sender::schedule(vec![point.clone(), SchedulePoint { at_ns: 3_000_000, ..point }], Some(ms(7)))), &expected);
    }
}
