//! When a packet leaves a token bucket, a delivery trace or a duty cycle: exact instants, and what holds of all packets.

mod common;
#[path = "common/exact.rs"]
mod exact;
#[path = "common/strategies.rs"]
mod strategies;

use std::collections::VecDeque;

use common::{Sender, Stage, drop_tail};
use exact::{SEED, UNBOUNDED, departures, outcomes, sends, unbounded};
use proptest::prelude::*;
use strategies::train;

#[test]
fn a_full_bucket_sends_its_burst_immediately_and_later_packets_at_its_rate() {
    let stage = unbounded(Sender::token_bucket(8_000_000, 3000));
    assert_eq!(departures(&stage, &[(0, 1000); 6]), [0, 0, 0, 1000, 2000, 3000].map(Some));
    let again = [[(0, 1000); 3].as_slice(), &[(100_000, 1000); 5]].concat();
    assert_eq!(departures(&stage, &again)[3..], [100_000, 100_000, 100_000, 101_000, 102_000].map(Some));
}

#[test]
fn a_packet_larger_than_the_bucket_is_dropped_with_its_overhead_counted() {
    let bucket = |overhead| Stage::queued(Sender::token_bucket(8_000_000, 1000), UNBOUNDED, overhead);
    assert_eq!(departures(&bucket(0), &[(0, 1000), (0, 1001)]), [Some(0), None]);
    assert_eq!(departures(&bucket(1), &[(0, 999), (0, 1000)]), [Some(0), None]);
}

#[test]
fn a_queue_before_a_token_bucket_holds_what_waits_for_tokens() {
    let stage = Stage::queued(Sender::token_bucket(8_000_000, 1000), drop_tail(2000), 0);
    assert_eq!(departures(&stage, &[(0, 1000); 5]), [Some(0), Some(1000), Some(2000), None, None]);
}

#[test]
fn a_busy_token_bucket_loses_no_part_of_a_nanosecond() {
    for rate in [250_000, 2_666_667, 99_999_989] {
        let train = sends(&[(0, 1461); 5000]);
        let stage = Stage::queued(Sender::token_bucket(rate, 3000), UNBOUNDED, 14);
        for (nth, (departure, _)) in (1u128..).zip(outcomes(&mut *stage.build(SEED), &train)) {
            let missing = (nth * 1475).saturating_sub(3000) * 8_000_000_000;
            assert_eq!(
                u128::from(departure.as_nanos()),
                missing.div_ceil(u128::from(rate)),
                "packet {nth} at {rate} bit/s"
            );
        }
    }
}

#[test]
fn an_opportunity_carries_1500_bytes_and_the_trace_begins_again_at_its_last() {
    let stage = unbounded(Sender::delivery_trace(vec![1, 2, 2, 5]));
    assert_eq!(departures(&stage, &[(0, 1500); 9]), [1, 2, 2, 5, 6, 7, 7, 10, 11].map(|ms| Some(ms * 1000)));
    assert_eq!(departures(&stage, &[(0, 500); 4]), [1, 1, 1, 2].map(|ms| Some(ms * 1000)));
}

#[test]
fn a_packet_larger_than_the_rest_of_an_opportunity_continues_with_the_next() {
    let stage = Stage::queued(Sender::delivery_trace(vec![1, 3, 4]), UNBOUNDED, 14);
    // 1514 bytes: 1500 at 1 ms and 14 at 3 ms, then 1486 at 3 ms and 28 at 4 ms.
    assert_eq!(departures(&stage, &[(0, 1500), (0, 1500), (0, 1400)]), [3000, 4000, 4000].map(Some));
}

#[test]
fn an_opportunity_that_no_packet_waits_for_is_lost() {
    let stage = unbounded(Sender::delivery_trace(vec![3, 8]));
    assert_eq!(departures(&stage, &[(0, 500), (2999, 500), (3000, 500)]), [3000, 3000, 8000].map(Some));
    assert_eq!(departures(&stage, &[(3001, 500), (16_000, 500)]), [8000, 19_000].map(Some));
}

#[test]
fn a_packet_waits_for_the_opportunity_at_which_it_begins_and_no_longer() {
    let stage = Stage::queued(Sender::delivery_trace(vec![10, 20]), drop_tail(2000), 0);
    assert_eq!(departures(&stage, &[(0, 2000), (9999, 500)]), [Some(20_000), None]);
    assert_eq!(departures(&stage, &[(0, 2000), (10_000, 500)]), [20_000, 20_000].map(Some));
}

#[test]
fn a_duty_cycle_is_followed_by_its_silence() {
    // A byte lasts 1 ms.
    let stage = unbounded(Sender::duty_cycle(8000, 0.1));
    assert_eq!(departures(&stage, &[(0, 100), (0, 50), (5_000_000, 100)]), [100_000, 1_050_000, 5_100_000].map(Some));
    let one_percent = unbounded(Sender::duty_cycle(8000, 0.01));
    assert_eq!(departures(&one_percent, &[(0, 500), (0, 500)]), [500_000, 50_500_000].map(Some));
}

/// What mahimahi does: at each opportunity, in order, packets that came before it take what is left of its bytes.
fn mahimahi(opportunities: &[u32], packets: &[(u64, u32)]) -> Vec<u64> {
    let period = u64::from(*opportunities.last().unwrap());
    let instants = (0..).flat_map(|cycle| opportunities.iter().map(move |at| cycle * period + u64::from(*at)));
    let mut waiting: VecDeque<(u64, u32)> = packets.iter().copied().collect();
    let mut departures = Vec::new();
    for instant in instants {
        let mut left = 1500;
        while let Some((_, unsent)) = waiting.front_mut().filter(|(arrival, _)| *arrival < instant && left > 0) {
            let part = left.min(*unsent);
            (*unsent, left) = (*unsent - part, left - part);
            if *unsent == 0 {
                departures.push(instant);
                waiting.pop_front();
            }
        }
        if waiting.is_empty() {
            break;
        }
    }
    departures
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn over_any_time_at_most_the_burst_and_rate_times_time_leaves_a_token_bucket(
        rate in 100_000..50_000_000u64, burst in 0..10_000u64, overhead in 0..20u32, train in train()
    ) {
        let stage = Stage::queued(Sender::token_bucket(rate, burst), UNBOUNDED, overhead);
        let left: Vec<_> = outcomes(&mut *stage.build(SEED), &train).into_iter().zip(&train)
            .filter(|((_, cause), _)| cause.is_none())
            .map(|((departure, _), send)| (departure.as_nanos(), u128::from(send.size + overhead)))
            .collect();
        for first in 0..left.len() {
            let mut bytes = 0;
            for (departure, size) in &left[first..] {
                bytes += size;
                let billionths = u128::from(rate) * u128::from(departure - left[first].0);
                prop_assert!(bytes * 8_000_000_000 <= u128::from(burst) * 8_000_000_000 + billionths);
            }
        }
    }

    #[test]
    fn a_delivery_trace_does_what_mahimahi_does(
        mut opportunities in prop::collection::vec(0..20u32, 1..10),
        packets in prop::collection::vec((0..5u64, 1..4000u32), 0..40)
    ) {
        opportunities.push(20);
        opportunities.sort_unstable();
        let mut at = 0;
        let packets: Vec<_> = packets.into_iter().map(|(gap, size)| { at += gap; (at, size) }).collect();
        let microseconds: Vec<_> = packets.iter().map(|(at, size)| (at * 1000, *size)).collect();
        let expected: Vec<_> = mahimahi(&opportunities, &packets).into_iter().map(|ms| Some(ms * 1000)).collect();
        prop_assert_eq!(departures(&unbounded(Sender::delivery_trace(opportunities)), &microseconds), expected);
    }
}
