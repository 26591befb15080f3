//! Contention for the air against the standards' clauses and figures, nanosecond by nanosecond.

mod common;
#[path = "common/dialogue.rs"]
mod dialogue;
#[path = "common/shared.rs"]
mod shared;

use std::num::NonZeroU64;
use std::time::Duration;

use common::{Caller, Fates, Send, drive};
use dialogue::{fates, fraction, leave, micros};
use proptest::prelude::*;
use shared::{Air, any_ieee802154, ieee80211g, ieee802154, wifi};
use wirelab_link::DropCause;
use wirelab_link::impairment::{Ieee802154, Medium, Wifi};
use wirelab_link::queue::Limit;

/// Nanoseconds of an 802.11g frame with 1500 IP bytes: 20 us, and 1536 bytes at 54 Mbit/s.
const AIRTIME: u64 = 20_000 + 227_556;
/// From the end of a data frame to the first slot behind it: SIFS, ACK, DIFS.
const GAP: u64 = 10_000 + 28_000 + 28_000;
const SLOT: u64 = 9_000;

/// The 99.9 % quantile of the chi-square distribution with 7 and 15 degrees of freedom.
const CHI_SQUARE_7: f64 = 24.32;
const CHI_SQUARE_15: f64 = 37.70;

fn air80211(wifi: Wifi, seed: u64, packets: &[(u64, u16, u32)]) -> Vec<(u64, Option<DropCause>)> {
    fates(&mut Air::Wifi(wifi).build(seed), packets)
}

fn air802154(parameters: Ieee802154, seed: u64, packets: &[(u64, u16, u32)]) -> Vec<(u64, Option<DropCause>)> {
    fates(&mut Air::Ieee802154(parameters).build(seed), packets)
}

/// No back-off at all.
fn hasty_wifi() -> Wifi {
    Wifi { cw_min: 0, cw_max: 0, ..ieee80211g() }
}

/// No back-off at all.
fn hasty_ieee802154() -> Ieee802154 {
    Ieee802154 { min_be: 0, max_be: 0, ..ieee802154() }
}

fn delivered(microseconds: u64) -> (u64, Option<DropCause>) {
    (microseconds * 1000, None)
}

fn given_up(microseconds: u64) -> (u64, Option<DropCause>) {
    (microseconds * 1000, Some(DropCause::Retries))
}

/// Pearson's statistic of `counts` against equal shares.
fn chi_square(counts: &[u32]) -> f64 {
    let expected = f64::from(counts.iter().sum::<u32>()) / counts.len() as f64;
    counts.iter().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum()
}

#[test]
fn a_station_that_finds_the_air_free_sends_at_once() {
    let mut medium = Air::Wifi(ieee80211g()).build(1);
    assert_eq!(
        leave(&mut medium, &[(100, 0, 1500), (1_000_000, 1, 1500)]),
        [100_000 + AIRTIME, 1_000_000_000 + AIRTIME]
    );
}

#[test]
fn frames_of_one_station_are_an_ack_and_a_difs_apart() {
    let mut medium = Air::Wifi(hasty_wifi()).build(1);
    let cycle = AIRTIME + GAP;
    assert_eq!(leave(&mut medium, &[(0, 0, 1500); 3]), [AIRTIME, AIRTIME + cycle, AIRTIME + 2 * cycle]);
}

#[test]
fn a_station_that_has_just_sent_counts_down_0_to_cw_min_slots_first() {
    let mut counts = [0; 16];
    for seed in 0..3200 {
        let departures = leave(&mut Air::Wifi(ieee80211g()).build(seed), &[(0, 0, 1500); 2]);
        let wait = departures[1] - AIRTIME - GAP - AIRTIME;
        assert_eq!(wait % SLOT, 0);
        counts[(wait / SLOT) as usize] += 1;
    }
    assert!(chi_square(&counts) < CHI_SQUARE_15, "{counts:?}");
}

#[test]
fn the_count_goes_on_without_a_frame_and_one_that_comes_within_it_waits_for_its_end() {
    for seed in 0..50 {
        let queued = leave(&mut Air::Wifi(ieee80211g()).build(seed), &[(0, 0, 1500); 2]);
        // The first exchange ends at 285.556 us, the DIFS behind it at 313.556 us, and 15 slots after that at 448.556 us.
        let within = leave(&mut Air::Wifi(ieee80211g()).build(seed), &[(0, 0, 1500), (300, 0, 1500)]);
        assert_eq!(within, queued);
        let after = leave(&mut Air::Wifi(ieee80211g()).build(seed), &[(0, 0, 1500), (449, 0, 1500)]);
        assert_eq!(after[1], 449_000 + AIRTIME);
    }
}

#[test]
fn a_count_stands_still_while_the_air_is_busy() {
    let (mut went_on, mut collided) = (0, 0);
    for seed in 0..200 {
        let slots = |departure: u64, from: u64| (departure - AIRTIME - from - GAP) / SLOT;
        let alone = leave(&mut Air::Wifi(ieee80211g()).build(seed), &[(0, 0, 1500), (10, 1, 1500)]);
        let theirs = slots(alone[1], AIRTIME);
        let both = leave(&mut Air::Wifi(ieee80211g()).build(seed), &[(0, 0, 1500), (10, 1, 1500), (20, 0, 1500)]);
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
    let fates = air80211(wifi, 1, &[(0, 0, 1500), (10, 1, 1500), (20, 2, 100)]);
    // All three tries take the air for as long as the longer frame, an ACK that does not come, and a DIFS before.
    let last = AIRTIME + GAP + 3 * AIRTIME + 2 * GAP + 38_000;
    assert_eq!(fates, [(AIRTIME, None), (last, Some(DropCause::Retries)), (last, Some(DropCause::Retries))]);
}

#[test]
fn a_frame_that_is_never_received_is_dropped_after_its_last_retry() {
    for retries in [0, 1, 6] {
        let wifi = Wifi { retries, frame_error: fraction(1.0), ..hasty_wifi() };
        let fates = air80211(wifi, 1, &[(0, 0, 1500)]);
        let tries = u64::from(retries) + 1;
        assert_eq!(fates, [(tries * (AIRTIME + 38_000) + (tries - 1) * 28_000, Some(DropCause::Retries))]);
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
        let fates = air80211(wifi, seed, &[(0, 0, 1500); 2]);
        let begins = fates[0].0 + 28_000;
        let slots = (fates[1].0 - begins - 4 * (AIRTIME + 38_000) - 3 * 28_000) / SLOT;
        assert!(slots <= 1 + 3 + 7, "{slots} slots");
    }
}

#[test]
fn frames_are_lost_with_their_probability() {
    let wifi = Wifi { retries: 1, frame_error: fraction(0.3), ..ieee80211g() };
    let packets = 20_000;
    let fates = air80211(wifi, 1, &vec![(0, 0, 100); packets]);
    let dropped = fates.iter().filter(|(_, cause)| cause.is_some()).count() as f64;
    // Both tries: 0.09, and five standard errors.
    let bound = 5.0 * (0.09 * 0.91 / packets as f64).sqrt();
    assert!((dropped / packets as f64 - 0.09).abs() < bound, "{dropped} of {packets} dropped");
}

#[test]
fn a_saturated_station_reaches_the_textbook_throughput_of_802_11g() {
    let packets = 20_000;
    let departures = leave(&mut Air::Wifi(ieee80211g()).build(1), &vec![(0, 0, 1500); packets]);
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
        let mut departures = leave(&mut Air::Wifi(wifi).build(1), &packets);
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
    let fates = air80211(wifi, 1, &[(0, 0, 1500); 4]);
    assert!(fates[..3].iter().all(|(_, cause)| cause.is_none()));
    assert_eq!(fates[3], (0, Some(DropCause::QueueFull)));
}

#[test]
fn a_queue_counted_in_packets_has_as_much_room_for_small_ones_as_for_large() {
    for size in [40, 1500] {
        let queue = Limit::packets(2);
        let packets = [(10, 0, size); 4];
        let wifi = air80211(Wifi { queue, ..hasty_wifi() }, 1, &packets);
        let mesh = air802154(Ieee802154 { queue, ..ieee802154() }, 1, &packets);
        let mut turns = Medium::serialiser(NonZeroU64::new(8_000_000).unwrap(), queue, 0);
        for fates in [wifi, mesh, fates(&mut turns, &packets)] {
            let causes = fates.iter().map(|(_, cause)| *cause).collect::<Vec<_>>();
            assert_eq!(causes, [None, None, None, Some(DropCause::QueueFull)], "{size} B");
        }
    }
}

#[test]
fn the_far_sides_hosts_have_one_transmitter_and_the_near_sides_one_each() {
    let cycle = AIRTIME + GAP;
    // The access point sends what both servers say in the order in which it came, and contends with nobody for it.
    let servers = leave(&mut Air::Wifi(hasty_wifi()).build(1), &[(0, 1, 1500), (10, 3, 1500), (20, 1, 1500)]);
    assert_eq!(servers, [AIRTIME, AIRTIME + cycle, AIRTIME + 2 * cycle]);
    // Two stations of the near side count down to one slot and collide.
    let wifi = Wifi { retries: 0, ..hasty_wifi() };
    let clients = air80211(wifi, 1, &[(0, 0, 1500), (10, 2, 1500), (20, 4, 1500)]);
    assert!(clients[1..].iter().all(|(_, cause)| *cause == Some(DropCause::Retries)), "{clients:?}");
}

#[test]
fn the_access_points_queue_is_common_and_a_stations_its_own() {
    let full = Some(DropCause::QueueFull);
    for (ports, causes) in [([1, 3, 5], [None, None, full]), ([0, 2, 4], [None, None, None])] {
        let wifi = Wifi { queue: Limit::bytes(1536), ..hasty_wifi() };
        let packets = ports.map(|port| (10, port, 1500));
        let fates = air80211(Wifi { cw_min: 1023, cw_max: 1023, ..wifi }, 1, &packets);
        assert_eq!(fates.iter().map(|(_, cause)| *cause).collect::<Vec<_>>(), causes);
        let parameters = Ieee802154 { queue: Limit::bytes(100), ..ieee802154() };
        let fates = air802154(parameters, 1, &ports.map(|port| (10, port, 100)));
        assert_eq!(fates.iter().filter(|(_, cause)| *cause == full).count(), usize::from(causes[2].is_some()));
        let mut serialiser = Air::Serialiser(8_000_000, 1000).build(1);
        let dropped = dialogue::fates(&mut serialiser, &ports.map(|port| (10, port, 1000)));
        assert_eq!(dropped.iter().map(|(_, cause)| *cause).collect::<Vec<_>>(), causes);
    }
}

#[test]
fn a_datagram_on_free_802_15_4_air_takes_sensing_turning_round_and_its_frame() {
    // 128 us, 192 us, and 6 + 23 + 60 bytes of 32 us.
    assert_eq!(air802154(hasty_ieee802154(), 1, &[(0, 0, 100)]), [delivered(3168)]);
}

#[test]
fn a_frame_waits_0_to_7_back_off_periods_first() {
    let mut counts = [0; 8];
    for seed in 0..1600 {
        let (departure, _) = air802154(ieee802154(), seed, &[(0, 0, 100)])[0];
        assert_eq!((departure / 1000 - 3168) % 320, 0);
        counts[((departure / 1000 - 3168) / 320) as usize] += 1;
    }
    assert!(chi_square(&counts) < CHI_SQUARE_7, "{counts:?}");
}

#[test]
fn frames_of_one_station_are_an_ack_and_a_space_for_their_size_apart() {
    // 192 + 352 us of ACK, and LIFS of 640 us.
    assert_eq!(
        air802154(hasty_ieee802154(), 1, &[(0, 0, 100); 2]),
        [delivered(3168), delivered(3168 + 544 + 640 + 3168)]
    );
    // Frames of 11 + 5 bytes are followed by SIFS, 192 us.
    let short = Ieee802154 { mac_bytes: 11, ..hasty_ieee802154() };
    assert_eq!(air802154(short, 1, &[(0, 0, 45); 2]), [delivered(1024), delivered(1024 + 544 + 192 + 1024)]);
}

#[test]
fn a_datagram_that_does_not_fit_leaves_with_its_last_fragment() {
    // 148 bytes, 40 saved: 100 and 17 bytes behind 29 of PHY and MAC.
    let first = 320 + 129 * 32;
    assert_eq!(air802154(hasty_ieee802154(), 1, &[(0, 0, 148)]), [delivered(first + 544 + 640 + 320 + 46 * 32)]);
}

#[test]
fn a_datagram_dies_with_one_frame_and_the_rest_is_not_sent() {
    let parameters = Ieee802154 { frame_error: fraction(1.0), retries: 1, ..hasty_ieee802154() };
    // Twice sensing, turning round, the frame, and the wait for its ACK, 864 us.
    let tried = |bytes: u64| 2 * (320 + (6 + 23 + bytes) * 32 + 864);
    let fates = air802154(parameters, 1, &[(0, 0, 1280), (0, 0, 100)]);
    assert_eq!(fates, [given_up(tried(100)), given_up(tried(100) + tried(60))]);
}

#[test]
fn a_datagram_passes_only_if_all_its_frames_do() {
    let parameters = Ieee802154 { frame_error: fraction(0.3), retries: 1, ..ieee802154() };
    let packets = 10_000;
    // 100, 101 and 6 bytes.
    let fates = air802154(parameters, 1, &vec![(0, 0, 233); packets]);
    let passed = fates.iter().filter(|(_, cause)| cause.is_none()).count() as f64 / packets as f64;
    let theory = (1.0 - 0.3f64 * 0.3).powi(3);
    assert!((passed - theory).abs() < 5.0 * (theory * (1.0 - theory) / packets as f64).sqrt(), "{passed} not {theory}");
}

#[test]
fn a_station_that_finds_no_free_air_gives_its_datagram_up() {
    let parameters = Ieee802154 { max_backoffs: 2, ..hasty_ieee802154() };
    // The first one's frame is on the air from 320 us on: sensed three times in a row, 128 us each.
    assert_eq!(air802154(parameters, 1, &[(0, 0, 100), (1000, 1, 100)]), [delivered(3168), given_up(1384)]);
    // Its ACK ends at 3712 us: who senses the air from there on finds it free.
    let hasty = Ieee802154 { max_backoffs: 0, ..hasty_ieee802154() };
    assert_eq!(air802154(hasty, 1, &[(0, 0, 100), (3711, 1, 100)])[1], given_up(3839));
    assert_eq!(air802154(hasty, 1, &[(0, 0, 100), (3712, 1, 100)])[1], delivered(3712 + 3168));
}

#[test]
fn a_station_that_turns_round_is_not_heard_in_time() {
    let hasty = Ieee802154 { max_backoffs: 0, retries: 0, ..hasty_ieee802154() };
    // The first one's frame begins at 320 us. Whoever has sensed the air by then sends into it, and both wait for an ACK in vain.
    for late in [0, 1, 191, 192] {
        let fates = air802154(hasty, 1, &[(0, 0, 100), (late, 1, 100)]);
        assert_eq!(fates, [given_up(3168 + 864), given_up(late + 3168 + 864)], "{late} us later");
    }
    assert_eq!(air802154(hasty, 1, &[(0, 0, 100), (193, 1, 100)]), [delivered(3168), given_up(193 + 128)]);
}

#[test]
fn the_same_seed_gives_the_same_contention_and_another_seed_another() {
    let packets: Vec<_> = (0..200).map(|packet| (packet * 50, (packet % 2) as u16, 100)).collect();
    assert_eq!(air80211(ieee80211g(), 1, &packets), air80211(ieee80211g(), 1, &packets));
    assert_ne!(air80211(ieee80211g(), 1, &packets), air80211(ieee80211g(), 2, &packets));
    assert_eq!(air802154(ieee802154(), 1, &packets), air802154(ieee802154(), 1, &packets));
    assert_ne!(air802154(ieee802154(), 1, &packets), air802154(ieee802154(), 2, &packets));
}

/// From the beginning of each frame that was received to the end of its ACK.
fn exchanges(fates: &Fates, train: &[Send], begins: impl Fn(u64, u32) -> u64, ack: u64) -> Vec<(u64, u64)> {
    let delivered = fates.iter().filter(|(_, (_, cause))| cause.is_none());
    let mut exchanges: Vec<_> = delivered
        .map(|((sequence, _), (instant, _))| {
            (begins(instant.as_nanos(), train[*sequence as usize].size), instant.as_nanos() + ack)
        })
        .collect();
    exchanges.sort_unstable();
    exchanges
}

/// Three stations, packets that 802.15.4 does not fragment.
fn crowd() -> impl Strategy<Value = Vec<Send>> {
    let send = (0..5000u64, 0..3u16, 40..100u32).prop_map(|(gap, port, size)| Send { gap: micros(gap), port, size });
    prop::collection::vec(send, 0..80)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn exchanges_over_wifi_never_overlap(wifi in wifi(), train in crowd(), seed in any::<u64>()) {
        let wifi = Wifi { queue: Limit::NONE, frame_error: fraction(wifi.frame_error.get() / 2.0), ..wifi };
        let fates = drive(&mut Air::Wifi(wifi).build(seed), &train, &Caller::Prompt);
        let nanoseconds = |duration: Duration| duration.as_nanos() as u64;
        let begins = |end: u64, size: u32| {
            let bits = u64::from(size + wifi.overhead_bytes) * 8_000_000_000;
            end - nanoseconds(wifi.preamble) - bits.div_ceil(wifi.rate_bps.get())
        };
        let exchanges = exchanges(&fates, &train, begins, nanoseconds(wifi.sifs + wifi.ack));
        prop_assert!(exchanges.windows(2).all(|pair| pair[0].1 + nanoseconds(wifi.difs) <= pair[1].0));
    }

    #[test]
    fn exchanges_over_802_15_4_never_overlap(parameters in any_ieee802154(), train in crowd(), seed in any::<u64>()) {
        let mac_bytes = parameters.mac_bytes.min(27);
        let frame_error = fraction(parameters.frame_error.get() / 2.0);
        let parameters = Ieee802154 { mac_bytes, frame_error, queue: Limit::NONE, ..parameters };
        let fates = drive(&mut Air::Ieee802154(parameters).build(seed), &train, &Caller::Prompt);
        let frame = |size: u32| 6 + mac_bytes + size.saturating_sub(parameters.compressed_bytes);
        let begins = |end: u64, size: u32| end - u64::from(frame(size)) * 32_000;
        let exchanges = exchanges(&fates, &train, begins, 544_000);
        prop_assert!(exchanges.windows(2).all(|pair| pair[0].1 <= pair[1].0));
    }
}
