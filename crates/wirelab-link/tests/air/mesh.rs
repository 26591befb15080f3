//! 802.15.4: unslotted CSMA/CA, and datagrams in fragments.

use wirelab_link::DropCause;
use wirelab_link::impairment::Ieee802154;

use crate::dialogue::fraction;
use crate::shared::ieee802154;
use crate::{air802154, chi_square};

/// The 99.9 % quantile of the chi-square distribution with 7 degrees of freedom.
const CHI_SQUARE_7: f64 = 24.32;

/// No back-off at all.
fn hasty_ieee802154() -> Ieee802154 {
    Ieee802154 { min_be: 0, max_be: 0, ..ieee802154() }
}

fn delivered(microseconds: u64) -> (u64, Option<DropCause>) {
    (microseconds * 1000, None)
}

fn dropped_at(microseconds: u64) -> (u64, Option<DropCause>) {
    (microseconds * 1000, Some(DropCause::Retries))
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
    let outcomes = air802154(parameters, 1, &[(0, 0, 1280), (0, 0, 100)]);
    assert_eq!(outcomes, [dropped_at(tried(100)), dropped_at(tried(100) + tried(60))]);
}

#[test]
fn a_datagram_passes_only_if_all_its_frames_do() {
    let parameters = Ieee802154 { frame_error: fraction(0.3), retries: 1, ..ieee802154() };
    let packets = 10_000;
    // 100, 101 and 6 bytes.
    let outcomes = air802154(parameters, 1, &vec![(0, 0, 233); packets]);
    let passed = outcomes.iter().filter(|(_, cause)| cause.is_none()).count() as f64 / packets as f64;
    let theory = (1.0 - 0.3f64 * 0.3).powi(3);
    assert!((passed - theory).abs() < 5.0 * (theory * (1.0 - theory) / packets as f64).sqrt(), "{passed} not {theory}");
}

#[test]
fn a_station_that_finds_no_free_air_gives_its_datagram_up() {
    let parameters = Ieee802154 { max_backoffs: 2, ..hasty_ieee802154() };
    // The first one's frame is on the air from 320 us on: sensed three times in a row, 128 us each.
    assert_eq!(air802154(parameters, 1, &[(0, 0, 100), (1000, 1, 100)]), [delivered(3168), dropped_at(1384)]);
    // Its ACK ends at 3712 us: a station that senses the air from then on finds it free.
    let hasty = Ieee802154 { max_backoffs: 0, ..hasty_ieee802154() };
    assert_eq!(air802154(hasty, 1, &[(0, 0, 100), (3711, 1, 100)])[1], dropped_at(3839));
    assert_eq!(air802154(hasty, 1, &[(0, 0, 100), (3712, 1, 100)])[1], delivered(3712 + 3168));
}

#[test]
fn a_station_that_turns_round_is_not_heard_in_time() {
    let hasty = Ieee802154 { max_backoffs: 0, retries: 0, ..hasty_ieee802154() };
    // The first one's frame begins at 320 us. A station that has sensed the air by then sends into it, and both wait for an ACK in vain.
    for late in [0, 1, 191, 192] {
        let outcomes = air802154(hasty, 1, &[(0, 0, 100), (late, 1, 100)]);
        assert_eq!(outcomes, [dropped_at(3168 + 864), dropped_at(late + 3168 + 864)], "{late} us later");
    }
    assert_eq!(air802154(hasty, 1, &[(0, 0, 100), (193, 1, 100)]), [delivered(3168), dropped_at(193 + 128)]);
}
