//! Under any parameters, no two exchanges are on the air at the same time.

use std::time::Duration;

use proptest::prelude::*;
use wirelab_link::impairment::{Ieee802154, Wifi};
use wirelab_link::queue::Limit;

use crate::common::{Caller, Outcomes, Send, drive};
use crate::dialogue::{fraction, micros};
use crate::shared::{Air, any_ieee802154, wifi};

/// From the beginning of each frame that was received to the end of its ACK.
fn exchanges(outcomes: &Outcomes, train: &[Send], begins: impl Fn(u64, u32) -> u64, ack: u64) -> Vec<(u64, u64)> {
    let delivered = outcomes.iter().filter(|(_, (_, cause))| cause.is_none());
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
        let outcomes = drive(&mut *Air::Wifi(wifi).build(seed), &train, &Caller::Prompt);
        let nanoseconds = |duration: Duration| duration.as_nanos() as u64;
        let begins = |end: u64, size: u32| {
            let bits = u64::from(size + wifi.overhead_bytes) * 8_000_000_000;
            end - nanoseconds(wifi.preamble) - bits.div_ceil(wifi.rate_bps.get())
        };
        let exchanges = exchanges(&outcomes, &train, begins, nanoseconds(wifi.sifs + wifi.ack));
        prop_assert!(exchanges.windows(2).all(|pair| pair[0].1 + nanoseconds(wifi.difs) <= pair[1].0));
    }

    #[test]
    fn exchanges_over_802_15_4_never_overlap(parameters in any_ieee802154(), train in crowd(), seed in any::<u64>()) {
        let mac_bytes = parameters.mac_bytes.min(27);
        let frame_error = fraction(parameters.frame_error.get() / 2.0);
        let parameters = Ieee802154 { mac_bytes, frame_error, queue: Limit::NONE, ..parameters };
        let outcomes = drive(&mut *Air::Ieee802154(parameters).build(seed), &train, &Caller::Prompt);
        let frame = |size: u32| 6 + mac_bytes + size.saturating_sub(parameters.compressed_bytes);
        let begins = |end: u64, size: u32| end - u64::from(frame(size)) * 32_000;
        let exchanges = exchanges(&outcomes, &train, begins, 544_000);
        prop_assert!(exchanges.windows(2).all(|pair| pair[0].1 <= pair[1].0));
    }
}
