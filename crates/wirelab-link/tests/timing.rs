//! What delay, rate and medium do to a packet's time, byte by byte and nanosecond by nanosecond.

mod common;

use std::time::Duration;

use common::{Caller, Plan, Send, Stage, drive};
use wirelab_link::impairment::{JitterSpec, Turns};
use wirelab_link::queue::Limit;
use wirelab_link::{DropCause, Flow, Impairment, Instant, Packet, PortId};

fn uplink(stages: Vec<Stage>) -> Plan {
    Plan { stages: [stages, vec![]], medium: None, seed: 1 }
}

fn every(gap: Duration, size: u32, count: usize) -> Vec<Send> {
    vec![Send { gap, port: 0, size }; count]
}

/// Departures in order of arrival, nanoseconds; `None` where a packet was dropped.
fn departures(plan: &Plan, train: &[Send]) -> Vec<Option<u64>> {
    let outcomes = drive(&mut plan.link(), train, &Caller::Prompt);
    outcomes.into_values().map(|(instant, cause)| cause.is_none().then_some(instant.as_nanos())).collect()
}

fn packet(sequence: u64, port: u16, size: u32) -> Packet {
    Packet { data: vec![0xab; 3], ..Packet::new(sequence, PortId(port), size, Instant::default(), Flow::default()) }
}

fn at(microseconds: u64) -> Instant {
    Instant::from_nanos(microseconds * 1000)
}

fn collect(impairment: &mut dyn Impairment, now: Instant) -> Vec<(Instant, u64)> {
    std::iter::from_fn(|| impairment.poll_packet(now)).map(|(instant, packet)| (instant, packet.sequence)).collect()
}

#[test]
fn a_constant_delay_is_exact_and_a_packets_bytes_come_out_as_they_went_in() {
    let mut link = uplink(vec![Stage::constant(Duration::from_millis(10))]).link();
    link.handle_packet(packet(0, 0, 3), at(7));
    assert_eq!(link.poll_timeout(), Some(at(10_007)));
    assert_eq!(link.poll_packet(at(10_006)), None);
    let (departure, out) = link.poll_packet(at(10_008)).unwrap();
    assert_eq!(departure, at(10_007));
    assert_eq!(out, Packet { arrival: at(7), ..packet(0, 0, 3) });
}

#[test]
fn delays_in_a_row_add_up_however_late_the_caller_is() {
    let plan = uplink(vec![Stage::constant(Duration::from_millis(1)); 5]);
    for caller in [Caller::Prompt, Caller::Absent, Caller::Late(vec![Duration::from_millis(7)])] {
        let outcomes = drive(&mut plan.link(), &every(Duration::from_micros(10), 100, 50), &caller);
        assert!(outcomes.into_values().zip(1..).all(|((departure, _), nth)| departure == at(10 * nth + 5000)));
    }
}

#[test]
fn jitter_has_its_mean_and_spread_when_packets_are_far_apart() {
    let mean = Duration::from_millis(20);
    // A uniform distribution's standard deviation is its half-width over the square root of 3.
    let cases = [
        (JitterSpec::Normal { sigma_ns: 4_000_000 }, 4.0e6),
        (JitterSpec::Uniform { half_width_ns: 4_000_000 }, 4.0e6 / 3f64.sqrt()),
    ];
    for (jitter, deviation) in cases {
        let train = every(Duration::from_millis(100), 100, 20_000);
        let departures = departures(&uplink(vec![Stage::jittered(mean, jitter.clone())]), &train);
        let delays: Vec<f64> =
            (1..).zip(departures).map(|(nth, departure)| (departure.unwrap() - nth * 100_000_000) as f64).collect();
        let average = delays.iter().sum::<f64>() / delays.len() as f64;
        let variance = delays.iter().map(|delay| (delay - average).powi(2)).sum::<f64>() / delays.len() as f64;
        // Five standard errors.
        assert!((average - 20e6).abs() < 5.0 * deviation / 20_000f64.sqrt(), "{jitter:?}: mean {average}");
        assert!((variance.sqrt() / deviation - 1.0).abs() < 0.025, "{jitter:?}: deviation {}", variance.sqrt());
        assert!(
            !matches!(jitter, JitterSpec::Uniform { .. }) || delays.iter().all(|delay| (16e6..=24e6).contains(delay))
        );
    }
}

#[test]
fn jitter_never_makes_a_delay_negative_nor_lets_a_packet_overtake() {
    let jitter = JitterSpec::Normal { sigma_ns: 5_000_000 };
    let train = every(Duration::from_micros(100), 100, 5000);
    let departures = departures(&uplink(vec![Stage::jittered(Duration::from_millis(1), jitter)]), &train);
    assert!(departures.is_sorted());
    assert!((1..).zip(&departures).all(|(nth, departure)| departure.unwrap() >= nth * 100_000));
    assert!(departures.windows(2).any(|pair| pair[0] == pair[1]), "no packet waited for its predecessor");
}

#[test]
fn a_busy_rate_sends_exactly_its_bytes() {
    // 8 million bit/s over 3: a packet lasts a whole number of nanoseconds only every third time.
    for rate in [250_000, 1_000_000, 2_666_667, 99_999_989, 10_000_000_000] {
        let chain = uplink(vec![Stage::rate(rate, u64::MAX, 14)]);
        let medium = Plan { medium: Some((rate, u64::MAX)), ..uplink(vec![]) };
        for (plan, bytes) in [(chain, 1475), (medium, 1461)] {
            let departures = departures(&plan, &every(Duration::ZERO, 1461, 20_000));
            for (sent, departure) in (1..).zip(departures) {
                let exact = sent * bytes * 8 * 1_000_000_000u128;
                assert_eq!(
                    u128::from(departure.unwrap()),
                    exact.div_ceil(u128::from(rate)),
                    "packet {sent} at {rate} bit/s"
                );
            }
        }
    }
}

#[test]
fn an_idle_rate_sends_immediately_and_keeps_no_credit() {
    let train = every(Duration::from_millis(5), 1000, 3);
    assert_eq!(
        departures(&uplink(vec![Stage::rate(8_000_000, 0, 0)]), &train),
        [6, 11, 16].map(|ms| Some(ms * 1_000_000))
    );
}

#[test]
fn a_queue_holds_its_bytes_behind_the_packet_being_sent() {
    let plan = uplink(vec![Stage::rate(8_000_000, 2000, 0)]);
    let burst = departures(&plan, &every(Duration::ZERO, 1000, 5));
    assert_eq!(burst, [Some(1_000_000), Some(2_000_000), Some(3_000_000), None, None]);
    let narrow = uplink(vec![Stage::rate(8_000_000, 999, 0)]);
    assert_eq!(departures(&narrow, &every(Duration::ZERO, 1000, 2)), [Some(1_000_000), None]);
    let overhead = uplink(vec![Stage::rate(8_000_000, 1000, 1)]);
    assert_eq!(departures(&overhead, &every(Duration::ZERO, 1000, 2)), [Some(1_001_000), None]);
}

#[test]
fn a_place_in_the_queue_is_free_from_the_instant_at_which_its_packet_is_being_sent() {
    let train = |last| {
        [(0, 1000), (0, 1000), (last, 1000)].map(|(gap, size)| Send { gap: Duration::from_nanos(gap), port: 0, size })
    };
    let plan = uplink(vec![Stage::rate(8_000_000, 1000, 0)]);
    assert_eq!(departures(&plan, &train(999_999)), [Some(1_000_000), Some(2_000_000), None]);
    assert_eq!(departures(&plan, &train(1_000_000)), [Some(1_000_000), Some(2_000_000), Some(3_000_000)]);
}

#[test]
fn a_loss_behind_the_rate_has_used_its_airtime_and_one_before_it_has_not() {
    let train = every(Duration::ZERO, 1000, 1000);
    let last = |stages| departures(&uplink(stages), &train).into_iter().flatten().max().unwrap();
    let (rate, loss) = (Stage::rate(8_000_000, u64::MAX, 0), Stage::independent(0.5));
    assert!(last(vec![rate.clone(), loss.clone()]) > 980_000_000);
    assert!((450_000_000..550_000_000).contains(&last(vec![loss, rate])));
}

#[test]
fn a_drop_deep_in_a_chain_is_reported_with_its_own_instant() {
    let mut link =
        uplink(vec![Stage::constant(Duration::from_millis(3)), Stage::rate(8_000_000, 0, 0), Stage::independent(1.0)])
            .link();
    link.handle_packet(packet(0, 0, 1000), at(0));
    link.handle_packet(packet(1, 0, 1000), at(100));
    assert_eq!(link.poll_dropped(), None);
    assert_eq!(link.poll_timeout(), Some(at(3000)));
    assert_eq!(link.poll_packet(at(9000)), None);
    let drops: Vec<_> =
        std::iter::from_fn(|| link.poll_dropped()).map(|drop| (drop.packet.sequence, drop.at, drop.cause)).collect();
    assert_eq!(drops, [(1, at(3100), DropCause::QueueFull), (0, at(4000), DropCause::Loss)]);
}

#[test]
fn a_medium_sends_one_packet_at_a_time_over_both_directions() {
    let mut medium = Turns::new(8_000_000.try_into().unwrap(), Limit::bytes(10_000), 0);
    for (sequence, port) in [(0, 0), (1, 1), (2, 0), (3, 1)] {
        medium.handle_packet(packet(sequence, port, 1000), at(0));
    }
    assert_eq!(collect(&mut medium, at(10_000)), [(at(1000), 0), (at(2000), 1), (at(3000), 2), (at(4000), 3)]);
}

#[test]
fn a_medium_takes_stations_in_turn_so_that_a_backlog_delays_others_by_one_packet() {
    let mut medium = Turns::new(8_000_000.try_into().unwrap(), Limit::bytes(10_000), 0);
    (0..5).for_each(|sequence| medium.handle_packet(packet(sequence, 0, 1000), at(0)));
    medium.handle_packet(packet(5, 2, 1000), at(100));
    medium.handle_packet(packet(6, 1, 1000), at(200));
    let order: Vec<_> = collect(&mut medium, at(10_000)).into_iter().map(|(_, sequence)| sequence).collect();
    assert_eq!(order, [0, 6, 5, 1, 2, 3, 4]);
}

#[test]
fn a_medium_bounds_the_queue_of_each_station_by_itself() {
    let mut medium = Turns::new(8_000_000.try_into().unwrap(), Limit::bytes(1000), 0);
    for (sequence, port) in [(0, 0), (1, 0), (2, 0), (3, 1), (4, 1)] {
        medium.handle_packet(packet(sequence, port, 1000), at(0));
    }
    let dropped: Vec<_> = std::iter::from_fn(|| medium.poll_dropped()).map(|drop| drop.packet.sequence).collect();
    assert_eq!(dropped, [2, 4]);
    assert_eq!(collect(&mut medium, at(10_000)), [(at(1000), 0), (at(2000), 3), (at(3000), 1)]);
}

#[test]
fn a_link_with_a_medium_moves_a_late_arrival_up_to_the_last_poll_and_says_so() {
    let plan = Plan { stages: [vec![], vec![]], medium: Some((8_000_000, 10_000)), seed: 1 };
    let mut link = plan.link();
    assert_eq!(link.poll_packet(at(100)), None);
    link.handle_packet(packet(0, 0, 1000), at(90));
    let (departure, out) = link.poll_packet(at(5000)).unwrap();
    assert_eq!((departure, out.arrival), (at(1100), at(100)));
}

#[test]
fn a_link_without_a_medium_takes_an_arrival_at_its_own_instant_though_it_was_polled_later() {
    let mut link = uplink(vec![Stage::constant(Duration::from_micros(5))]).link();
    assert_eq!(link.poll_packet(at(100)), None);
    link.handle_packet(packet(0, 0, 1000), at(90));
    let (departure, out) = link.poll_packet(at(101)).unwrap();
    assert_eq!((departure, out.arrival), (at(95), at(90)));
}

#[test]
fn packets_that_reach_the_medium_at_one_instant_are_sent_in_the_order_in_which_they_came_to_the_link() {
    let delay = |microseconds| vec![Stage::constant(Duration::from_micros(microseconds))];
    let plan = Plan { stages: [delay(5), delay(10)], medium: Some((8_000_000, 10_000)), seed: 1 };
    let mut link = plan.link();
    link.handle_packet(packet(0, 1, 1000), at(0));
    link.handle_packet(packet(1, 0, 1000), at(5));
    assert_eq!(collect(&mut link, at(10_000)), [(at(1010), 0), (at(2010), 1)]);
}

#[test]
fn what_is_due_by_an_arrival_in_its_direction_is_settled_when_that_is_handed_in() {
    let mut link = uplink(vec![Stage::rate(8_000_000, 0, 0), Stage::independent(1.0)]).link();
    link.handle_packet(packet(0, 0, 1000), at(0));
    link.handle_packet(packet(1, 0, 1000), at(1000));
    assert_eq!(link.poll_dropped().map(|drop| drop.at), Some(at(1000)));
    assert_eq!(link.counters().dropped, 1);
}

#[test]
fn the_same_seed_gives_the_same_outcomes_and_another_seed_others() {
    let stages = vec![
        Stage::jittered(Duration::from_millis(2), JitterSpec::Normal { sigma_ns: 1_000_000 }),
        Stage::gilbert_elliott_time(Duration::from_millis(300), Duration::from_millis(100), 0.7, 0.1),
        Stage::gilbert_elliott([0.1, 0.2, 0.7, 0.1]),
    ];
    let mut train = every(Duration::from_millis(3), 100, 300);
    train.iter_mut().step_by(2).for_each(|send| send.port = 1);
    let outcomes = |seed| {
        drive(
            &mut Plan { stages: [stages.clone(), stages.clone()], medium: None, seed }.link(),
            &train,
            &Caller::Prompt,
        )
    };
    assert_eq!(outcomes(1), outcomes(1));
    assert_ne!(outcomes(1), outcomes(2));
}
