//! 802.11: the distributed coordination function of one station, of several, and of an access point.

use wirelab_link::DropCause;
use wirelab_link::impairment::Wifi;
use wirelab_link::queue::Limit;

use crate::dialogue::{fraction, leave};
use crate::shared::{Air, ieee80211g};
use crate::{air80211, chi_square, hasty_wifi};

/// Nanoseconds of an 802.11g frame with 1500 IP bytes: 20 us, and 1536 bytes at 54 Mbit/s.
const AIRTIME: u64 = 20_000 + 227_556;
/// From the end of a data frame to the first slot behind it: SIFS, ACK, DIFS.
const GAP: u64 = 10_000 + 28_000 + 28_000;
const SLOT: u64 = 9_000;

/// The 99.9 % quantile of the chi-square distribution with 15 degrees of freedom.
const CHI_SQUARE_15: f64 = 37.70;

#[test]
fn a_station_that_finds_the_air_free_sends_immediately() {
    let mut medium = Air::Wifi(ieee80211g()).build(1);
    assert_eq!(
        leave(&mut *medium, &[(100, 0, 1500), (1_000_000, 1, 1500)]),
        [100_000 + AIRTIME, 1_000_000_000 + AIRTIME]
    );
}

#[test]
fn frames_of_one_station_are_an_ack_and_a_difs_apart() {
    let mut medium = Air::Wifi(hasty_wifi()).build(1);
    let cycle = AIRTIME + GAP;
    assert_eq!(leave(&mut *medium, &[(0, 0, 1500); 3]), [AIRTIME, AIRTIME + cycle, AIRTIME + 2 * cycle]);
}

#[test]
fn a_station_that_has_just_sent_counts_down_0_to_cw_min_slots_first() {
    let mut counts = [0; 16];
    for seed in 0..3200 {
        let departures = leave(&mut *Air::Wifi(ieee80211g()).build(seed), &[(0, 0, 1500); 2]);
        let wait = departures[1] - AIRTIME - GAP - AIRTIME;
        assert_eq!(wait % SLOT, 0);
        counts[(wait / SLOT) as usize] += 1;
    }
    assert!(chi_square(&counts) < CHI_SQUARE_15, "{counts:?}");
}

#[test]
fn the_backoff_continues_without_a_frame_and_a_frame_that_comes_during_it_waits_for_its_end() {
    for seed in 0..50 {
        let queued = leave(&mut *Air::Wifi(ieee80211g()).build(seed), &[(0, 0, 1500); 2]);
        // The first exchange ends at 285.556 us, the DIFS behind it at 313.556 us, and 15 slots after that at 448.556 us.
        let within = leave(&mut *Air::Wifi(ieee80211g()).build(seed), &[(0, 0, 1500), (300, 0, 1500)]);
        assert_eq!(within, queued);
        let after = leave(&mut *Air::Wifi(ieee80211g()).build(seed), &[(0, 0, 1500), (449, 0, 1500)]);
        assert_eq!(after[1], 449_000 + AIRTIME);
    }
}

#[test]
fn a_count_stands_still_while_the_air_is_busy() {
    let (mut went_on, mut collided) = (0, 0);
    for seed in 0..200 {
        let slots = |departure: u64, from: u64| (departure - AIRTIME - from - GAP) / SLOT;
        let alone = leave(&mut *Air::Wifi(ieee80211g()).build(seed), &[(0, 0, 1500), (10, 1, 1500)]);
        let theirs = slots(alone[1], AIRTIME);
        let both = leave(&mut *Air::Wifi(ieee80211g()).build(seed), &[(0, 0, 1500), (10, 1, 1500), (20, 0, 1500)]);
        let [_, other, own] = both[..] else { unreachable!() };
        let counted = slots(own, AIRTIME);
        if counted < theirs {
            assert_eq!(other, own + GAP + (theirs - counted) * SLOT + AIRTIME, "seed {seed}");
            went_on += 1;
        } else if other != alone[1] {
            assert!(own.min(other) > alone[1] + AIRTIME, "seed {seed}");
            collided += 1;
        }
    }
    assert!(went_on > 50 && collided > 2, "{went_on} went on, {collided} collided");
}

#[test]
fn stations_whose_counts_end_in_one_slot_collide_until_they_give_up() {
    let wifi = Wifi { retries: 2, ..hasty_wifi() };
    let outcomes = air80211(wifi, 1, &[(0, 0, 1500), (10, 1, 1500), (20, 2, 100)]);
    // All three tries take the air for as long as the longer frame, an ACK that does not come, and a DIFS before.
    let last = AIRTIME + GAP + 3 * AIRTIME + 2 * GAP + 38_000;
    assert_eq!(outcomes, [(AIRTIME, None), (last, Some(DropCause::Retries)), (last, Some(DropCause::Retries))]);
}

#[test]
fn a_frame_that_is_never_received_is_dropped_after_its_last_retry() {
    for retries in [0, 1, 6] {
        let wifi = Wifi { retries, frame_error: fraction(1.0), ..hasty_wifi() };
        let outcomes = air80211(wifi, 1, &[(0, 0, 1500)]);
        let tries = u64::from(retries) + 1;
        assert_eq!(outcomes, [(tries * (AIRTIME + 38_000) + (tries - 1) * 28_000, Some(DropCause::Retries))]);
    }
}

#[test]
fn the_window_doubles_with_each_retry_up_to_cw_max() {
    let wifi = Wifi { cw_min: 15, cw_max: 63, retries: 3, frame_error: fraction(1.0), ..ieee80211g() };
    let seeds = 4000;
    let fixed = 4 * (AIRTIME + 38_000) + 3 * 28_000;
    let total: u64 = (0..seeds).map(|seed| (air80211(wifi, seed, &[(0, 0, 1500)])[0].0 - fixed) / SLOT).sum();
    let mean = total as f64 / seeds as f64;
    // Windows 31, 63, 63; variance of a uniform draw from n values is (n^2 - 1) / 12. Five standard errors.
    let deviation = ((1023.0 + 4095.0 + 4095.0) / 12.0f64).sqrt();
    assert!((mean - 78.5).abs() < 5.0 * deviation / (seeds as f64).sqrt(), "mean of all slots {mean}");
}

#[test]
fn the_window_is_cw_min_again_for_the_next_frame() {
    let wifi = Wifi { cw_min: 0, cw_max: 7, retries: 3, frame_error: fraction(1.0), ..ieee80211g() };
    for seed in 0..50 {
        let outcomes = air80211(wifi, seed, &[(0, 0, 1500); 2]);
        let begins = outcomes[0].0 + 28_000;
        let slots = (outcomes[1].0 - begins - 4 * (AIRTIME + 38_000) - 3 * 28_000) / SLOT;
        assert!(slots <= 1 + 3 + 7, "{slots} slots");
    }
}

#[test]
fn frames_are_lost_with_their_probability() {
    let wifi = Wifi { retries: 1, frame_error: fraction(0.3), ..ieee80211g() };
    let packets = 20_000;
    let outcomes = air80211(wifi, 1, &vec![(0, 0, 100); packets]);
    let dropped = outcomes.iter().filter(|(_, cause)| cause.is_some()).count() as f64;
    // Both tries: 0.09, and five standard errors.
    let bound = 5.0 * (0.09 * 0.91 / packets as f64).sqrt();
    assert!((dropped / packets as f64 - 0.09).abs() < bound, "{dropped} of {packets} dropped");
}

#[test]
fn a_saturated_station_reaches_the_textbook_throughput_of_802_11g() {
    let packets = 20_000;
    let departures = leave(&mut *Air::Wifi(ieee80211g()).build(1), &vec![(0, 0, 1500); packets]);
    let cycle = departures[packets - 1] as f64 / packets as f64;
    // DIFS, 7.5 slots, frame, SIFS, ACK: 31.5 Mbit/s of IP.
    let textbook = 7.5 * SLOT as f64 + (AIRTIME + GAP) as f64;
    assert!((cycle / textbook - 1.0).abs() < 0.005, "{cycle} ns instead of {textbook}");
}

/// Bianchi, IEEE JSAC 18 (2000) 535, equations 7, 9 and 13: share of the time in which payload frames of n saturated stations succeed.
fn bianchi(stations: i32, wifi: &Wifi) -> f64 {
    let window = f64::from(wifi.cw_min) + 1.0;
    let stages = ((f64::from(wifi.cw_max) + 1.0) / window).log2();
    let tau = |p: f64| {
        2.0 * (1.0 - 2.0 * p) / ((1.0 - 2.0 * p) * (window + 1.0) + p * window * (1.0 - (2.0 * p).powf(stages)))
    };
    let collides = |p: f64| 1.0 - (1.0 - tau(p)).powi(stations - 1);
    let (mut low, mut high) = (0.0, 0.499_999);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if collides(middle) > middle { low = middle } else { high = middle }
    }
    let tau = tau(low);
    let sends = 1.0 - (1.0 - tau).powi(stations);
    let succeeds = f64::from(stations) * tau * (1.0 - tau).powi(stations - 1);
    let busy = (AIRTIME + GAP) as f64;
    succeeds * AIRTIME as f64 / ((1.0 - sends) * SLOT as f64 + sends * busy)
}

#[test]
fn saturated_stations_share_the_air_as_bianchis_model_says() {
    let wifi = Wifi { retries: 1000, ..ieee80211g() };
    for stations in [2, 5, 10] {
        // The access point, and the others on the near side.
        let port = |station: u16| if station == 0 { 1 } else { 2 * (station - 1) };
        let packets: Vec<_> = (0..4000 * stations).map(|packet| (0, port(packet % stations), 1500)).collect();
        let mut departures = leave(&mut *Air::Wifi(wifi).build(1), &packets);
        departures.sort_unstable();
        // As long as no station runs dry.
        let seen = departures.len() / 2;
        let share = seen as f64 * AIRTIME as f64 / departures[seen - 1] as f64;
        let theory = bianchi(stations.into(), &wifi);
        // The standard stops the count in a busy slot, the model does not.
        assert!((share / theory - 1.0).abs() < 0.05, "{stations} stations: {share} instead of {theory}");
    }
}

#[test]
fn a_queue_bounds_what_waits_behind_the_frame_that_contends() {
    let wifi = Wifi { queue: Limit::bytes(2 * 1536), ..hasty_wifi() };
    let outcomes = air80211(wifi, 1, &[(0, 0, 1500); 4]);
    assert!(outcomes[..3].iter().all(|(_, cause)| cause.is_none()));
    assert_eq!(outcomes[3], (0, Some(DropCause::QueueFull)));
}

#[test]
fn the_far_sides_hosts_have_one_transmitter_and_the_near_sides_one_each() {
    let cycle = AIRTIME + GAP;
    // The access point sends what both servers say in the order in which it came, and does not contend.
    let servers = leave(&mut *Air::Wifi(hasty_wifi()).build(1), &[(0, 1, 1500), (10, 3, 1500), (20, 1, 1500)]);
    assert_eq!(servers, [AIRTIME, AIRTIME + cycle, AIRTIME + 2 * cycle]);
    // Two stations of the near side count down to one slot and collide.
    let wifi = Wifi { retries: 0, ..hasty_wifi() };
    let clients = air80211(wifi, 1, &[(0, 0, 1500), (10, 2, 1500), (20, 4, 1500)]);
    assert!(clients[1..].iter().all(|(_, cause)| *cause == Some(DropCause::Retries)), "{clients:?}");
}
