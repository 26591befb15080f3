//! What the stages that decide packet by packet do: jitter of every distribution, overtaking, reordering, duplication and corruption.

mod common;

use std::time::Duration;

use common::{Caller, Plan, Send, Stage, drive};
use wirelab_link::impairment::JitterSpec;
use wirelab_link::{Direction, Flow, Impairment, Instant, Packet, PortId, Seed};

const SEED: Seed = Seed { link: 1, direction: Direction::Uplink, index: 0 };
const MILLISECOND: u64 = 1_000_000;
const MEAN: Duration = Duration::from_millis(50);

fn packet(sequence: u64, size: u32) -> Packet {
    Packet { data: vec![0xab; 3], ..Packet::new(sequence, PortId(0), size, Instant::default(), Flow::default()) }
}

fn at(milliseconds: u64) -> Instant {
    Instant::from_nanos(milliseconds * MILLISECOND)
}

/// Hand in `count` packets, one each `gap`, and return everything that leaves, in order.
fn pass(stage: &mut dyn Impairment, count: u64, gap: Duration, size: u32) -> Vec<(Instant, Packet)> {
    for sequence in 0..count {
        let now = Instant::default() + gap * sequence as u32;
        stage.handle_packet(Packet { arrival: now, ..packet(sequence, size) }, now);
    }
    std::iter::from_fn(|| stage.poll_packet(Instant::from_nanos(u64::MAX))).collect()
}

/// Delays in milliseconds, less the mean, of packets that are far apart.
fn offsets(jitter: &JitterSpec, correlation: f64, count: u64) -> Vec<f64> {
    let stage = Stage::overtaking(MEAN, jitter.clone(), correlation);
    let left = pass(&mut *stage.build(SEED), count, Duration::from_secs(1), 100);
    let delay = |(departure, packet): (Instant, Packet)| departure.saturating_since(packet.arrival).as_nanos() as f64;
    left.into_iter().map(|left| (delay(left) - MEAN.as_nanos() as f64) / MILLISECOND as f64).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The covariance of values so many packets apart.
fn covariance(values: &[f64], apart: usize) -> f64 {
    let mean = mean(values);
    values.iter().zip(&values[apart..]).map(|(one, other)| (one - mean) * (other - mean)).sum::<f64>()
        / values.len() as f64
}

#[test]
fn the_first_delays_of_a_seed_are_the_same_for_ever() {
    // The first two numbers of the seed's generator (see its own test), through the formulas in IEEE 754 arithmetic.
    let sigma_ns = 10 * MILLISECOND;
    let first = |jitter, nth: usize| offsets(&jitter, 0.0, 2)[nth];
    assert_eq!(first(JitterSpec::Normal { sigma_ns }, 0), -0.739206);
    assert_eq!(first(JitterSpec::Uniform { half_width_ns: sigma_ns }, 0), 5.954436);
    assert_eq!(first(JitterSpec::Uniform { half_width_ns: sigma_ns }, 1), 4.86835);
}

#[test]
fn every_jitter_has_the_mean_and_the_spread_of_its_distribution() {
    let sigma_ns = 10 * MILLISECOND;
    let offsets_ns = [-20, -10, 0, 30].map(|offset| offset * MILLISECOND as i64).to_vec();
    let cases = [
        // Configured with 10 ms, the table is cut where 1.1 % of a Pareto distribution would lie beyond.
        (JitterSpec::Pareto { sigma_ns }, -0.3292, 8.2085),
        (JitterSpec::ParetoNormal { sigma_ns }, -0.2470, 8.3488),
        // Three uniform pieces: mean (-15 - 5 + 15) / 3, mean square (700 + 100 + 900) / 9.
        (JitterSpec::Table { offsets_ns }, -5.0 / 3.0, (1700.0f64 / 9.0 - 25.0 / 9.0).sqrt()),
    ];
    for (jitter, expected_mean, deviation) in cases {
        let offsets = offsets(&jitter, 0.0, 100_000);
        // Five standard errors; the tail makes that of a spread up to three times as large as for normal draws.
        let error = 5.0 * deviation / 100_000f64.sqrt();
        assert!((mean(&offsets) - expected_mean).abs() < error, "{jitter:?}: mean {}", mean(&offsets));
        let spread = covariance(&offsets, 0).sqrt();
        assert!((spread / deviation - 1.0).abs() < 0.025, "{jitter:?}: deviation {spread}");
    }
}

#[test]
fn netems_tables_end_where_theirs_do() {
    let sigma_ns = 10 * MILLISECOND;
    let range = |jitter| {
        let offsets = offsets(&jitter, 0.0, 100_000);
        [offsets.iter().copied().fold(f64::MAX, f64::min), offsets.into_iter().fold(f64::MIN, f64::max)]
    };
    let [lowest, highest] = range(JitterSpec::Pareto { sigma_ns });
    assert!((-6.666667..-6.666).contains(&lowest) && highest == 39.998779, "{lowest} to {highest}");
    let [lowest, highest] = range(JitterSpec::ParetoNormal { sigma_ns });
    assert!((-15.03..-14.0).contains(&lowest) && (38.0..38.81).contains(&highest), "{lowest} to {highest}");
}

#[test]
fn correlated_uniform_jitter_has_its_correlation_and_less_spread() {
    let half_width_ns = 10 * MILLISECOND;
    for correlation in [0.25, 0.75] {
        let offsets = offsets(&JitterSpec::Uniform { half_width_ns }, correlation, 100_000);
        let variance = 100.0 / 3.0 * (1.0 - correlation) / (1.0 + correlation);
        assert!((covariance(&offsets, 0) / variance - 1.0).abs() < 0.04);
        assert!((covariance(&offsets, 1) / variance - correlation).abs() < 0.04);
        assert!((covariance(&offsets, 2) / variance - correlation * correlation).abs() < 0.04);
    }
}

#[test]
fn correlated_normal_and_pareto_jitter_follow_the_draw_before() {
    let sigma_ns = 10 * MILLISECOND;
    for jitter in
        [JitterSpec::Normal { sigma_ns }, JitterSpec::Pareto { sigma_ns }, JitterSpec::ParetoNormal { sigma_ns }]
    {
        let offsets = offsets(&jitter, 0.5, 100_000);
        let (variance, next) = (covariance(&offsets, 0), covariance(&offsets, 1));
        assert!((0.45..0.55).contains(&(next / variance)), "{jitter:?}: {}", next / variance);
        assert!((1.5..7.0).contains(&variance.sqrt()), "{jitter:?}: deviation {}", variance.sqrt());
    }
}

#[test]
fn packets_that_may_overtake_leave_by_their_own_delay() {
    let jitter = JitterSpec::Normal { sigma_ns: 5_000_000 };
    let gap = Duration::from_micros(100);
    let far_apart = offsets(&jitter, 0.0, 1000);
    let left = pass(&mut *Stage::overtaking(MEAN, jitter, 0.0).build(SEED), 1000, gap, 100);
    assert!(left.is_sorted_by_key(|(departure, _)| *departure));
    assert!(!left.is_sorted_by_key(|(_, packet)| packet.sequence), "no packet overtook another");
    for (departure, packet) in left {
        let delay = MEAN.as_nanos() as f64 + far_apart[packet.sequence as usize] * MILLISECOND as f64;
        assert_eq!(departure, packet.arrival + Duration::from_nanos(delay.round() as u64));
    }
}

#[test]
fn a_packet_held_back_leaves_later_and_those_behind_it_overtake() {
    let by = Duration::from_millis(10);
    let left = pass(&mut *Stage::reorder(0.3, by, 0.0).build(SEED), 10_000, Duration::from_micros(100), 100);
    assert!(left.is_sorted_by_key(|(departure, _)| *departure));
    let held: Vec<_> = left.iter().filter(|(departure, packet)| *departure > packet.arrival).collect();
    assert!(held.iter().all(|(departure, packet)| *departure == packet.arrival + by));
    // 5 standard errors.
    assert!((2770..=3230).contains(&held.len()), "{} of 10000 held back", held.len());
    // RFC 4737, section 3.3: a packet is reordered if one sent after it arrived before it.
    let mut latest = 0;
    let mut reordered = Vec::new();
    for (_, packet) in &left {
        if packet.sequence < latest {
            reordered.push(packet.sequence);
        }
        latest = latest.max(packet.sequence);
    }
    assert!(held.iter().take(held.len() - 100).all(|(_, packet)| reordered.contains(&packet.sequence)));
    assert!(reordered.iter().all(|sequence| held.iter().any(|(_, packet)| packet.sequence == *sequence)));
}

#[test]
fn a_packet_held_back_leaves_before_one_that_comes_at_that_instant() {
    let plan =
        Plan { stages: [vec![Stage::reorder(0.5, Duration::from_millis(2), 0.0)], vec![]], medium: None, seed: 1 };
    let train = vec![Send { gap: Duration::from_millis(1), port: 0, size: 100 }; 200];
    let order = |caller: &Caller| {
        let mut link = plan.link();
        drive(&mut link, &train, caller)
    };
    assert_eq!(order(&Caller::Prompt), order(&Caller::Absent));
    let left =
        pass(&mut *Stage::reorder(0.5, Duration::from_millis(2), 0.0).build(SEED), 200, Duration::from_millis(1), 100);
    let key = |(departure, packet): &(Instant, Packet)| (*departure, packet.sequence);
    assert!(left.windows(2).any(|pair| pair[0].0 == pair[1].0));
    assert!(left.is_sorted_by_key(key));
}

#[test]
fn a_link_that_lets_packets_overtake_moves_a_late_arrival_up_to_the_last_poll() {
    let held_back = Stage::reorder(0.5, Duration::from_millis(2), 0.0);
    let overtaking = Stage::overtaking(MEAN, JitterSpec::Uniform { half_width_ns: MEAN.as_nanos() as u64 }, 0.0);
    for stage in [held_back, overtaking] {
        let mut link = Plan { stages: [vec![stage], vec![]], medium: None, seed: 1 }.link();
        assert_eq!(link.poll_packet(at(100)), None);
        link.handle_packet(packet(0, 100), at(90));
        assert_eq!(link.poll_packet(at(1000)).unwrap().1.arrival, at(100));
    }
}

#[test]
fn a_copy_leaves_right_behind_its_original_and_is_counted() {
    let mut stage = Stage::duplicate(0.3, 0.0).build(SEED);
    let left = pass(&mut *stage, 10_000, Duration::from_millis(1), 100);
    let copies = left.iter().filter(|(_, packet)| packet.copy).count() as u64;
    // 5 standard errors.
    assert!((2770..=3230).contains(&copies), "{copies} of 10000 copied");
    for pair in left.windows(2).filter(|pair| pair[1].1.copy) {
        let [(original_left, original), (copy_left, copy)] = pair else { unreachable!() };
        assert_eq!(original_left, copy_left);
        assert_eq!(*copy, Packet { copy: true, ..original.clone() });
    }
    let counters = stage.counters();
    assert_eq!((counters.received, counters.duplicated, counters.delivered), (10_000, copies, 10_000 + copies));
}

#[test]
fn a_copy_is_not_copied_again() {
    let mut chain =
        Plan { stages: [vec![Stage::duplicate(1.0, 0.0), Stage::duplicate(1.0, 0.0)], vec![]], medium: None, seed: 1 }
            .chain(Direction::Uplink);
    chain.handle_packet(packet(0, 100), at(0));
    let copies: Vec<_> = std::iter::from_fn(|| chain.poll_packet(at(1))).map(|(_, packet)| packet.copy).collect();
    assert_eq!(copies, [false, true, true]);
}

#[test]
fn a_copy_takes_its_own_airtime_behind_it() {
    let stages = vec![Stage::duplicate(1.0, 0.0), Stage::rate(8_000_000, 10_000, 0)];
    let outcomes = drive(
        &mut Plan { stages: [stages, vec![]], medium: None, seed: 1 }.chain(Direction::Uplink),
        &[Send { gap: Duration::ZERO, port: 0, size: 1000 }],
        &Caller::Prompt,
    );
    assert_eq!(outcomes.into_iter().collect::<Vec<_>>(), [((0, false), (at(1), None)), ((0, true), (at(2), None))]);
}

#[test]
fn corruption_names_any_bit_of_the_packet_alike_and_leaves_the_frame_to_the_sender() {
    let left = pass(&mut *Stage::corrupt(1.0, 0.0).build(SEED), 40_000, Duration::from_millis(1), 5);
    let mut bits = [0u32; 40];
    for (departure, packet) in left {
        assert_eq!((departure, &packet.data[..]), (packet.arrival, &[0xab; 3][..]));
        bits[packet.corrupted_bit.unwrap() as usize] += 1;
    }
    // Chi-square with 39 degrees of freedom: 99.9 % quantile.
    let statistic: f64 = bits.iter().map(|count| (f64::from(*count) - 1000.0).powi(2) / 1000.0).sum();
    assert!(statistic < 72.1, "chi-square {statistic}");
}

#[test]
fn the_probability_of_corruption_moves_no_draw() {
    let bits = |probability| {
        let left = pass(&mut *Stage::corrupt(probability, 0.0).build(SEED), 1000, Duration::from_millis(1), 1500);
        left.into_iter().map(|(_, packet)| packet.corrupted_bit).collect::<Vec<_>>()
    };
    let (some, all) = (bits(0.3), bits(1.0));
    let corrupted = some.iter().filter(|bit| bit.is_some()).count();
    // 5 standard errors.
    assert!((228..=372).contains(&corrupted), "{corrupted} of 1000 corrupted");
    assert!(some.iter().zip(&all).all(|(bit, always)| bit.is_none() || bit == always));
}

#[test]
fn a_packet_keeps_the_bit_that_was_corrupted_first_and_one_without_bits_has_none() {
    let mut stage = Stage::corrupt(1.0, 0.0).build(SEED);
    stage.handle_packet(Packet { corrupted_bit: Some(7), ..packet(0, 100) }, at(0));
    stage.handle_packet(packet(1, 0), at(0));
    let bits: Vec<_> =
        std::iter::from_fn(|| stage.poll_packet(at(0))).map(|(_, packet)| packet.corrupted_bit).collect();
    assert_eq!(bits, [Some(7), None]);
}

#[test]
fn correlated_stages_act_in_bursts() {
    for stage in [Stage::duplicate(0.4, 0.9), Stage::corrupt(0.4, 0.9), Stage::correlated(0.4, 0.9)] {
        let mut acted = vec![false; 100_000];
        let mut built = stage.build(SEED);
        let left = pass(&mut *built, acted.len() as u64, Duration::from_millis(1), 100);
        let dropped = std::iter::from_fn(|| built.poll_dropped()).map(|drop| drop.packet.sequence);
        let touched = left.iter().filter(|(_, packet)| packet.copy || packet.corrupted_bit.is_some());
        touched.map(|(_, packet)| packet.sequence).chain(dropped).for_each(|sequence| acted[sequence as usize] = true);
        let share = acted.iter().filter(|acted| **acted).count() as f64 / acted.len() as f64;
        let both = acted.windows(2).filter(|pair| pair[0] && pair[1]).count() as f64 / acted.len() as f64;
        assert!((0.01..0.2).contains(&share), "{stage:?}: {share}");
        assert!(both / share > 0.5, "{stage:?}: {}", both / share);
    }
}
