//! Tests: instants of each arrival process.

use super::*;

const SECOND: u64 = 1_000_000_000;

fn starts(arrival: ArrivalSpec, exchanges: u32, seed: u64) -> Vec<u64> {
    starts_of(arrival, exchanges, seed, 0)
}

fn starts_of(arrival: ArrivalSpec, exchanges: u32, seed: u64, client: u32) -> Vec<u64> {
    let mut schedule = Schedule::new(&arrival, exchanges, seed, client, 1_000);
    std::iter::from_fn(|| schedule.next_instant()).map(|(_, start_ns)| start_ns).collect()
}

fn end_of(arrival: ArrivalSpec, exchanges: u32) -> Option<u64> {
    let mut schedule = Schedule::new(&arrival, exchanges, 3, 0, 1_000);
    while schedule.next().is_some() {}
    schedule.end_ns()
}

fn every_ten_minutes(jitter_ns: u64) -> ArrivalSpec {
    ArrivalSpec::Periodic { interval_ns: 600 * SECOND, jitter_ns }
}

/// Two a second for 10 s of each hour.
fn hourly_bursts() -> ArrivalSpec {
    ArrivalSpec::Bursts { interval_ns: 3_600 * SECOND, rate_hz: 2.0, duration_ns: 10 * SECOND }
}

#[test]
fn a_fixed_rate_is_evenly_spaced_from_the_origin() {
    let expected = [1_000, 500_001_000, 1_000_001_000];
    assert_eq!(starts(ArrivalSpec::Fixed { rate_hz: 2.0 }, 3, 1), expected);
}

#[test]
fn another_client_keeps_the_rate_at_a_phase_of_its_own_within_one_period() {
    let fixed = ArrivalSpec::Fixed { rate_hz: 2.0 };
    let phases: Vec<u64> = (1..50).map(|client| starts_of(fixed.clone(), 1, 1, client)[0]).collect();
    assert!(phases.iter().all(|phase| (1_000..500_001_000).contains(phase)));
    assert!(phases.iter().min() < Some(&100_000_000) && phases.iter().max() > Some(&400_000_000), "{phases:?}");
    let starts = starts_of(fixed, 2, 1, 1);
    assert_eq!(starts[1] - starts[0], 500_000_000);
}

#[test]
fn clients_draw_their_gaps_independently() {
    let poisson = ArrivalSpec::Poisson { rate_hz: 10.0 };
    assert_ne!(starts_of(poisson.clone(), 5, 3, 0), starts_of(poisson, 5, 3, 1));
}

#[test]
fn a_start_beyond_the_end_of_time_is_at_its_end() {
    assert_eq!(starts(ArrivalSpec::Fixed { rate_hz: 1e-12 }, 2, 1), [1_000, u64::MAX]);
}

fn on_device(device: Device, seed: u64) -> Vec<u64> {
    let fixed = ArrivalSpec::Fixed { rate_hz: 1.0 };
    let mut schedule = Schedule::new(&fixed, 3, seed, 0, 1_000).on(&device, seed, 0);
    std::iter::from_fn(|| schedule.next_instant()).map(|(_, start_ns)| start_ns).collect()
}

#[test]
fn a_device_begins_within_its_phase_and_its_seconds_are_all_as_long() {
    let device = Device { start_phase_ns: 60_000_000_000, drift_ppb: 20_000, ..Device::default() };
    let runs: Vec<_> = (0..200).map(|seed| on_device(device, seed)).collect();
    let begins: Vec<u64> = runs.iter().map(|starts| starts[0] / 1_000_000_000).collect();
    assert!(begins.iter().all(|second| *second <= 60));
    assert!(begins.iter().min() < Some(&5) && begins.iter().max() > Some(&55), "{begins:?}");
    let errors: Vec<i64> = runs.iter().map(|starts| (starts[1] - starts[0]) as i64 - SECOND as i64).collect();
    assert!(errors.iter().all(|error| error.abs() <= 20_000), "{errors:?}");
    assert!(errors.iter().min() < Some(&-15_000) && errors.iter().max() > Some(&15_000), "{errors:?}");
    for starts in &runs {
        assert!((starts[2] - starts[1]).abs_diff(starts[1] - starts[0]) <= 1);
    }
    assert_eq!(on_device(device, 7), on_device(device, 7));
    assert_eq!(on_device(Device::default(), 7), [0, 1, 2].map(|second| 1_000 + second * 1_000_000_000));
}

#[test]
fn a_closed_loop_intends_nothing() {
    let mut schedule = Schedule::new(&ArrivalSpec::Closed, 2, 1, 0, 1_000);
    let next: Vec<_> = std::iter::from_fn(|| schedule.next()).collect();
    assert_eq!(next, [(0, Due::Now), (1, Due::Now)]);
}

#[test]
fn poisson_gaps_have_the_mean_and_spread_of_an_exponential() {
    let arrivals = starts(ArrivalSpec::Poisson { rate_hz: 1_000.0 }, 20_000, 3);
    let instants: Vec<f64> = arrivals.into_iter().map(|start_ns| start_ns as f64).collect();
    let gaps: Vec<f64> = instants.windows(2).map(|pair| (pair[1] - pair[0]) / 1e6).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let deviation = (gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt();
    // Five standard errors of 20,000 draws are 0.035 for the mean and 0.05 for the deviation.
    assert!((mean - 1.0).abs() < 0.035 && (deviation - 1.0).abs() < 0.05, "{mean} {deviation}");
}

#[test]
fn poisson_arrivals_follow_from_the_seed() {
    let poisson = ArrivalSpec::Poisson { rate_hz: 10.0 };
    assert_eq!(starts(poisson.clone(), 50, 3), starts(poisson.clone(), 50, 3));
    assert_ne!(starts(poisson.clone(), 50, 3), starts(poisson, 50, 4));
}
#[test]
fn a_periodic_client_keeps_its_phase_whatever_its_jitter() {
    for client in [0, 1] {
        let exact = starts_of(every_ten_minutes(0), 1_000, 3, client);
        assert!(exact.windows(2).all(|pair| pair[1] - pair[0] == 600 * SECOND));
        let mut schedule = Schedule::new(&every_ten_minutes(60 * SECOND), 1_000, 3, client, 1_000);
        let varied: Vec<u64> = std::iter::from_fn(|| schedule.next_instant()).map(|(_, start_ns)| start_ns).collect();
        let phase_ns = varied[0].abs_diff(exact[0]);
        assert!(phase_ns <= 30 * SECOND, "{phase_ns}");
        let off: Vec<i64> = varied.iter().zip(&exact).map(|(one, other)| *one as i64 - *other as i64).collect();
        let of = |part: &[i64]| part.iter().sum::<i64>() as f64 / part.len() as f64 / SECOND as f64;
        // Five standard errors of 500 draws within 30 s to either side.
        let (early, late) = (of(&off[..500]), of(&off[500..]));
        assert!(early.abs() < 3.9 && late.abs() < 3.9, "{early} {late}");
    }
}

#[test]
fn jitter_lies_within_half_of_itself_and_is_drawn_once_a_message() {
    let exact = starts(every_ten_minutes(0), 1_000, 3);
    let varied = starts(every_ten_minutes(600 * SECOND), 1_000, 3);
    let off: Vec<i64> = varied.iter().zip(&exact).map(|(one, other)| *one as i64 - *other as i64).collect();
    assert!(off.iter().all(|off_ns| off_ns.unsigned_abs() <= 300 * SECOND), "{off:?}");
    let (earliest, latest) = (off.iter().min().expect("some"), off.iter().max().expect("some"));
    assert!(*earliest < -290 * SECOND as i64 && *latest > 290 * SECOND as i64, "{earliest} {latest}");
    assert!(varied.is_sorted() && varied[0] >= 1_000, "none is due before the first instant");
    assert_eq!(varied, starts(every_ten_minutes(600 * SECOND), 1_000, 3));
    assert_ne!(varied, starts(every_ten_minutes(600 * SECOND), 1_000, 4));
    // The same draws, whatever the jitter.
    let narrow = starts(every_ten_minutes(60 * SECOND), 1_000, 3);
    let tenths = narrow.iter().zip(&exact).map(|(one, other)| 10 * (*one as i64 - *other as i64));
    assert!(off[1..].iter().zip(tenths.skip(1)).all(|(one, other)| one.abs_diff(other) < 20), "drawn otherwise");
}

#[test]
fn a_burst_ends_and_the_next_begins_an_interval_later() {
    let starts = starts(hourly_bursts(), 41, 1);
    let at = |seconds: u64| 1_000 + seconds * SECOND;
    assert_eq!((starts[0], starts[1], starts[19]), (at(0), 1_000 + SECOND / 2, 1_000 + 19 * SECOND / 2));
    assert_eq!((starts[20], starts[39], starts[40]), (at(3_600), at(3_609) + SECOND / 2, at(7_200)));
}

#[test]
fn bursts_of_another_client_begin_at_a_phase_of_its_own_within_the_interval() {
    let phases: Vec<u64> = (1..50).map(|client| starts_of(hourly_bursts(), 1, 1, client)[0]).collect();
    assert!(phases.iter().all(|phase| (1_000..3_600 * SECOND + 1_000).contains(phase)));
    assert!(phases.iter().min() < Some(&(720 * SECOND)) && phases.iter().max() > Some(&(2_880 * SECOND)));
}

#[test]
fn a_burst_as_long_as_its_interval_goes_on_without_a_pause() {
    for (rate_hz, size) in [(2.0, 20), (0.3, 3), (0.25, 3), (0.01, 1)] {
        let arrival = ArrivalSpec::Bursts { interval_ns: 10 * SECOND, rate_hz, duration_ns: 10 * SECOND };
        let starts = starts(arrival, 100, 1);
        let begins = starts.iter().position(|start_ns| *start_ns >= 10 * SECOND + 1_000);
        assert_eq!(begins, Some(size), "{rate_hz}");
        assert!(starts.is_sorted());
    }
}

#[test]
fn the_end_is_when_the_exchange_after_the_last_would_be_due() {
    assert_eq!(end_of(ArrivalSpec::Closed, 3), None);
    assert_eq!(end_of(ArrivalSpec::Fixed { rate_hz: 2.0 }, 3), Some(1_000 + 3 * SECOND / 2));
    assert_eq!(end_of(every_ten_minutes(60 * SECOND), 3), Some(1_000 + 1_800 * SECOND));
    for (exchanges, hours) in [(1, 1), (20, 1), (21, 2)] {
        assert_eq!(end_of(hourly_bursts(), exchanges), Some(1_000 + hours * 3_600 * SECOND), "{exchanges}");
    }
    let poisson = ArrivalSpec::Poisson { rate_hz: 2.0 };
    let last = *starts(poisson.clone(), 3, 3).last().expect("three");
    assert!(end_of(poisson, 3).expect("an open loop").abs_diff(last + SECOND / 2) <= 1);
    assert_eq!(end_of(ArrivalSpec::Fixed { rate_hz: 1e-12 }, 1), Some(u64::MAX));
}

#[test]
fn an_idle_start_has_no_instants_and_its_intervals_have_the_error_of_the_oscillator() {
    let idle = ArrivalSpec::IdleStart { interval_ns: 600 * SECOND };
    let mut schedule = Schedule::new(&idle, 2, 3, 0, 1_000);
    let after_rest = Due::AfterRest { interval_ns: 600 * SECOND };
    assert_eq!(
        [schedule.next(), schedule.next(), schedule.next()],
        [Some((0, after_rest)), Some((1, after_rest)), None]
    );
    assert_eq!((schedule.end_ns(), schedule.rest_ns()), (None, Some(600 * SECOND)));
    assert_eq!(Schedule::new(&ArrivalSpec::Closed, 2, 3, 0, 1_000).rest_ns(), None);
    let device = Device { drift_ppb: 20_000, ..Device::default() };
    let error_ns = Schedule::new(&idle, 2, 3, 0, 1_000).on(&device, 3, 0).rest_ns().unwrap().abs_diff(600 * SECOND);
    assert!((1..=12_000_000).contains(&error_ns), "{error_ns}");
}
