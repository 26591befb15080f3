//! What waits before a transmitter: whom drop-tail, CoDel and FQ-CoDel send first, and whom they drop.

mod common;
#[path = "common/exact.rs"]
mod exact;
#[path = "common/strategies.rs"]
mod strategies;

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use common::{Caller, Outcome, Send, Sender, drive, flow};
use exact::{SEED, UNBOUNDED};
use proptest::prelude::*;
use strategies::{late_calls, queue, sender, train};
use wirelab_link::queue::{Limit, Queue};
use wirelab_link::{DropCause, Instant};

/// 1000 bytes in a millisecond.
fn rate() -> Sender {
    Sender::rate(8_000_000)
}

/// TARGET and INTERVAL of the internet (RFC 8289, section 4.3).
const TARGET: Duration = Duration::from_millis(5);
const INTERVAL: Duration = Duration::from_millis(100);

fn codel(bytes: u64) -> Queue {
    Queue::Codel { target: TARGET, interval: INTERVAL, bytes }
}

fn fq_codel(target: Duration, flows: u32, packets: u32) -> Queue {
    let [flows, quantum_bytes] = [flows, 1514].map(|value| NonZeroU32::new(value).unwrap());
    Queue::FqCodel { target, interval: INTERVAL, flows, quantum_bytes, packets }
}

/// Never drops for a delay.
fn patient() -> Duration {
    Duration::from_secs(1_000_000_000)
}

fn outcomes(sender: &Sender, queue: Queue, train: &[Send]) -> Vec<Outcome> {
    drive(&mut *sender.build(queue, 0, SEED), train, &Caller::Prompt).into_values().collect()
}

fn every(gap_us: u64, size: u32, count: usize) -> Vec<Send> {
    vec![Send { gap: Duration::from_micros(gap_us), port: 0, size }; count]
}

fn count(outcomes: &[Outcome], cause: Option<DropCause>) -> usize {
    outcomes.iter().filter(|outcome| outcome.1 == cause).count()
}

#[test]
fn drop_tail_counts_packets_behind_the_one_being_sent() {
    let queue = Queue::DropTail(Limit::packets(2));
    let causes: Vec<_> = outcomes(&rate(), queue, &every(0, 40, 5)).into_iter().map(|(_, cause)| cause).collect();
    assert_eq!(causes, [None, None, None, Some(DropCause::QueueFull), Some(DropCause::QueueFull)]);
}

#[test]
fn codel_lets_a_burst_pass_that_is_gone_within_an_interval() {
    let burst = every(0, 1000, 100);
    assert_eq!(outcomes(&rate(), codel(u64::MAX), &burst), outcomes(&rate(), UNBOUNDED, &burst));
}

#[test]
fn codel_drops_from_a_standing_queue_an_interval_after_it_passed_the_target() {
    let overload = every(800, 1000, 2000);
    let outcomes = outcomes(&rate(), codel(u64::MAX), &overload);
    let drops: Vec<_> =
        outcomes.iter().filter(|outcome| outcome.1 == Some(DropCause::Aqm)).map(|outcome| outcome.0).collect();
    // Each packet waits 0.2 ms longer than the one before it: the 26th, sent from 25.8 ms on, is the first to wait for 5 ms.
    let first = Instant::from_nanos(25_800_000) + INTERVAL;
    assert_eq!(drops[..2], [first, first + INTERVAL]);
    assert!(drops.len() > 20 && count(&outcomes, Some(DropCause::QueueFull)) == 0);
    // INTERVAL / sqrt(count): gaps shrink, but for the millisecond that a packet is being sent.
    let gaps: Vec<_> = drops.windows(2).map(|pair| pair[1].saturating_since(pair[0])).collect();
    assert!(gaps.windows(2).all(|pair| pair[1] <= pair[0] + Duration::from_millis(1)), "{gaps:?}");
}

#[test]
fn codel_also_keeps_a_bound() {
    let outcomes = outcomes(&rate(), codel(3000), &every(0, 1000, 10));
    assert_eq!((count(&outcomes, None), count(&outcomes, Some(DropCause::QueueFull))), (4, 6));
}

#[test]
fn a_sparse_flow_passes_a_bulk_flows_backlog() {
    let mut train = every(0, 1000, 50);
    train.push(Send { gap: Duration::from_micros(10_500), port: 0, size: 99 });
    assert_ne!(flow(1000), flow(99));
    let last = |queue| outcomes(&rate(), queue, &train).last().copied().unwrap();
    assert_eq!(last(fq_codel(TARGET, 1024, 10_240)), (Instant::from_nanos(11_099_000), None));
    assert_eq!(last(UNBOUNDED), (Instant::from_nanos(50_099_000), None));
    assert_eq!(last(fq_codel(patient(), 1, 10_240)), (Instant::from_nanos(50_099_000), None));
}

#[test]
fn a_flow_whose_queue_ran_empty_begins_with_a_whole_quantum() {
    let (sparse, bulk) = (every(0, 1000, 1), every(0, 999, 3));
    assert_ne!(flow(1000), flow(999));
    let later = every(1_000_000, 1000, 1);
    let train = [&sparse[..], &later, &later, &bulk, &sparse].concat();
    let outcomes = outcomes(&rate(), fq_codel(TARGET, 1024, 10_240), &train);
    let departures: Vec<_> = outcomes.into_iter().map(|outcome| outcome.0).collect();
    // The last packet is the second that its flow sends of a quantum of 1514 bytes, before the bulk flow's first.
    let expected = [1_000, 1_001_000, 2_001_000, 2_002_999, 2_003_998, 2_004_997, 2_002_000];
    assert_eq!(departures, expected.map(|us| Instant::from_nanos(us * 1000)));
}

#[test]
fn the_next_packet_is_chosen_when_it_can_begin_and_not_before() {
    // A byte lasts 1 ms: 1.6 s of airtime, 14.4 s of silence. The sparse flow's packet comes in the second.
    let sender = Sender::duty_cycle(8000, 0.1);
    let mut train = every(0, 1600, 3);
    train.extend(every(20_000_000, 99, 1));
    let departures: Vec<_> =
        outcomes(&sender, fq_codel(TARGET, 1024, 10_240), &train).into_iter().map(|outcome| outcome.0).collect();
    assert_eq!(departures, [1600, 17_600, 34_590, 32_099].map(|ms| Instant::from_nanos(ms * 1_000_000)));
}

#[test]
fn two_bulk_flows_share_a_rate_equally_however_large_their_packets_are() {
    let [large, small] = [1500, 301];
    assert_ne!(flow(large), flow(small));
    // Both offer more than the rate: 1.5 bytes in a microsecond the one, 3 the other.
    let mut train = Vec::new();
    for _ in 0..5000 {
        train.extend(every(0, large, 1).into_iter().chain(every(100, small, 10)));
    }
    let outcomes = outcomes(&rate(), fq_codel(TARGET, 1024, 10_240), &train);
    let end = Instant::from_nanos(5_000_000_000);
    let delivered = |size| {
        let sent = outcomes
            .iter()
            .zip(&train)
            .filter(|((at, cause), send)| send.size == size && cause.is_none() && *at <= end);
        sent.map(|(_, send)| u64::from(send.size)).sum::<u64>()
    };
    let (large, small) = (delivered(large), delivered(small));
    assert!(large + small > 4_990_000, "the rate was used: {large} and {small} bytes");
    assert!(large.abs_diff(small) <= 2 * (1514 + 1500), "{large} and {small} bytes");
    assert!(count(&outcomes, Some(DropCause::Aqm)) > 100);
}

#[test]
fn the_longest_queue_drops_when_there_is_not_enough_room() {
    let mut train = every(0, 1000, 100);
    train.extend(every(0, 99, 10));
    let outcomes = outcomes(&rate(), fq_codel(patient(), 1024, 50), &train);
    assert!(count(&outcomes[..100], Some(DropCause::QueueFull)) >= 50);
    assert_eq!(count(&outcomes[100..], None), 10);
}

#[test]
fn a_queue_that_decides_late_says_that_a_poll_settles_it() {
    assert!(rate().build(codel(0), 0, SEED).settles_when_polled());
    assert!(rate().build(fq_codel(TARGET, 1, 1), 0, SEED).settles_when_polled());
    assert!(!rate().build(UNBOUNDED, 0, SEED).settles_when_polled());
}

#[test]
fn a_late_caller_sees_the_same_drops() {
    let overload = [every(900, 1000, 400), every(2000, 999, 100), every(400, 1498, 400)].concat();
    for queue in [codel(100_000), fq_codel(TARGET, 1024, 200)] {
        let drive = |caller| drive(&mut *rate().build(queue, 0, SEED), &overload, &caller);
        let prompt = drive(Caller::Prompt);
        let causes: Vec<_> = prompt.values().map(|(_, cause)| *cause).collect();
        assert!([Some(DropCause::Aqm), Some(DropCause::QueueFull)].iter().all(|cause| causes.contains(cause)));
        assert_eq!(drive(Caller::Absent), prompt);
        assert_eq!(drive(Caller::Late([1, 7_000, 0, 130_000].map(Duration::from_micros).to_vec())), prompt);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_queue_that_drops_nothing_of_one_flow_is_first_in_first_out(sender in sender(), train in train()) {
        let expected = outcomes(&sender, UNBOUNDED, &train);
        let never = Queue::Codel { target: patient(), interval: INTERVAL, bytes: u64::MAX };
        prop_assert_eq!(&outcomes(&sender, never, &train), &expected);
        prop_assert_eq!(&outcomes(&sender, fq_codel(patient(), 1, u32::MAX), &train), &expected);
    }

    #[test]
    fn packets_of_a_flow_never_overtake_one_another(sender in sender(), queue in queue(), train in train()) {
        let mut last = BTreeMap::new();
        for ((departure, cause), send) in outcomes(&sender, queue, &train).iter().zip(&train) {
            if cause.is_none() {
                let before = last.insert(send.size % 3, *departure);
                prop_assert!(before.is_none_or(|before| before <= *departure));
            }
        }
    }

    #[test]
    fn every_queue_before_every_transmitter_tolerates_late_calls(
        sender in sender(), queue in queue(), train in train(), late in late_calls()
    ) {
        let drive = |caller| drive(&mut *sender.build(queue, 0, SEED), &train, caller);
        let prompt = drive(&Caller::Prompt);
        prop_assert_eq!(&drive(&late), &prompt);
        prop_assert_eq!(&drive(&Caller::Absent), &prompt);
    }
}
