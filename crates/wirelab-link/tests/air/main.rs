//! Contention for the air against the standards' clauses and figures, nanosecond by nanosecond.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/dialogue.rs"]
mod dialogue;
mod exchanges;
mod mesh;
#[path = "../common/shared.rs"]
mod shared;
mod wifi;

use std::num::NonZeroU64;

use dialogue::outcomes;
use shared::{Air, ieee80211g, ieee802154};
use wirelab_link::DropCause;
use wirelab_link::impairment::{Ieee802154, Turns, Wifi};
use wirelab_link::queue::Limit;

fn air80211(wifi: Wifi, seed: u64, packets: &[(u64, u16, u32)]) -> Vec<(u64, Option<DropCause>)> {
    outcomes(&mut *Air::Wifi(wifi).build(seed), packets)
}

fn air802154(parameters: Ieee802154, seed: u64, packets: &[(u64, u16, u32)]) -> Vec<(u64, Option<DropCause>)> {
    outcomes(&mut *Air::Ieee802154(parameters).build(seed), packets)
}

/// No back-off at all.
fn hasty_wifi() -> Wifi {
    Wifi { cw_min: 0, cw_max: 0, ..ieee80211g() }
}

/// Pearson's statistic of `counts` against equal shares.
fn chi_square(counts: &[u32]) -> f64 {
    let expected = f64::from(counts.iter().sum::<u32>()) / counts.len() as f64;
    counts.iter().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum()
}

#[test]
fn a_queue_counted_in_packets_has_as_much_room_for_small_ones_as_for_large() {
    for size in [40, 1500] {
        let queue = Limit::packets(2);
        let packets = [(10, 0, size); 4];
        let wifi = air80211(Wifi { queue, ..hasty_wifi() }, 1, &packets);
        let mesh = air802154(Ieee802154 { queue, ..ieee802154() }, 1, &packets);
        let mut turns = Turns::new(NonZeroU64::new(8_000_000).unwrap(), queue, 0);
        for outcomes in [wifi, mesh, outcomes(&mut turns, &packets)] {
            let causes = outcomes.iter().map(|(_, cause)| *cause).collect::<Vec<_>>();
            assert_eq!(causes, [None, None, None, Some(DropCause::QueueFull)], "{size} B");
        }
    }
}

#[test]
fn the_access_points_queue_is_common_and_a_stations_its_own() {
    let full = Some(DropCause::QueueFull);
    for (ports, causes) in [([1, 3, 5], [None, None, full]), ([0, 2, 4], [None, None, None])] {
        let wifi = Wifi { queue: Limit::bytes(1536), ..hasty_wifi() };
        let packets = ports.map(|port| (10, port, 1500));
        let outcomes = air80211(Wifi { cw_min: 1023, cw_max: 1023, ..wifi }, 1, &packets);
        assert_eq!(outcomes.iter().map(|(_, cause)| *cause).collect::<Vec<_>>(), causes);
        let parameters = Ieee802154 { queue: Limit::bytes(100), ..ieee802154() };
        let outcomes = air802154(parameters, 1, &ports.map(|port| (10, port, 100)));
        assert_eq!(outcomes.iter().filter(|(_, cause)| *cause == full).count(), usize::from(causes[2].is_some()));
        let mut serialiser = Air::Serialiser(8_000_000, 1000).build(1);
        let dropped = dialogue::outcomes(&mut *serialiser, &ports.map(|port| (10, port, 1000)));
        assert_eq!(dropped.iter().map(|(_, cause)| *cause).collect::<Vec<_>>(), causes);
    }
}

#[test]
fn the_same_seed_gives_the_same_contention_and_another_seed_another() {
    let packets: Vec<_> = (0..200).map(|packet| (packet * 50, (packet % 2) as u16, 100)).collect();
    assert_eq!(air80211(ieee80211g(), 1, &packets), air80211(ieee80211g(), 1, &packets));
    assert_ne!(air80211(ieee80211g(), 1, &packets), air80211(ieee80211g(), 2, &packets));
    assert_eq!(air802154(ieee802154(), 1, &packets), air802154(ieee802154(), 1, &packets));
    assert_ne!(air802154(ieee802154(), 1, &packets), air802154(ieee802154(), 2, &packets));
}
