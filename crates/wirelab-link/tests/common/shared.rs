//! The stages that both directions of a link share, and random ones: those of the list of kinds.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::num::NonZeroU64;
use std::time::Duration;

use proptest::prelude::*;
use wirelab_link::impairment::{
    Csma, Dcf, Ieee802154, MEDIA, MediumSpec, Nat, NatSpec, Radio, RadioSpec, Shared as Built, SharedSpec, SharedStage,
    Sleep, Turns, Wifi,
};
use wirelab_link::queue::Limit;
use wirelab_link::spec::{Choices, Place};
use wirelab_link::{Direction, Link, Probability, Seed};

use crate::common::Plan;

/// A medium with its parameters.
#[derive(Clone, Debug)]
pub enum Air {
    /// Rate and queue.
    Serialiser(u64, u64),
    Wifi(Wifi),
    Ieee802154(Ieee802154),
    /// By its description.
    Of(MediumSpec),
}

/// What a link's directions share.
#[derive(Clone, Debug, Default)]
pub struct Shared {
    pub air: Option<Air>,
    /// Sleeps and buffer.
    pub radio: Option<(Vec<Sleep>, u64)>,
    pub nat: Option<NatSpec>,
}

impl Air {
    pub fn build(&self, link: u64) -> Box<dyn Built> {
        let seed = Seed { link, direction: Direction::Uplink, index: u16::MAX };
        match *self {
            Self::Serialiser(rate, queue) => {
                Box::new(Turns::new(NonZeroU64::new(rate).unwrap(), Limit::bytes(queue), 0))
            }
            Self::Wifi(wifi) => Box::new(Dcf::new(wifi, seed).unwrap()),
            Self::Ieee802154(ieee802154) => Box::new(Csma::new(ieee802154, seed).unwrap()),
            Self::Of(ref spec) => SharedStage::from(spec.clone()).build(seed, &Place::new("medium")).unwrap(),
        }
    }
}

impl Shared {
    /// A link with the plan's chains and these stages instead of its own.
    pub fn link(&self, plan: &Plan) -> Link {
        let mut link = Link::new(plan.chain(Direction::Uplink), plan.chain(Direction::Downlink));
        if let Some(air) = &self.air {
            link = link.with(air.build(plan.seed));
        }
        if let Some((sleeps, buffer)) = &self.radio {
            link = link.with(Box::new(Radio::new(sleeps.clone(), *buffer).unwrap()));
        }
        if let Some(nat) = &self.nat {
            let seed = Seed { link: plan.seed, direction: Direction::Uplink, index: u16::MAX - 2 };
            link = link.with(Box::new(Nat::new(nat.rules(), seed)));
        }
        link
    }
}

/// 802.11g without protection: 54 Mbit/s behind a preamble of 20 us; the ACK at 24 Mbit/s.
pub fn ieee80211g() -> Wifi {
    Wifi {
        rate_bps: NonZeroU64::new(54_000_000).unwrap(),
        overhead_bytes: 36,
        preamble: Duration::from_micros(20),
        ack: Duration::from_micros(28),
        slot: Duration::from_micros(9),
        sifs: Duration::from_micros(10),
        difs: Duration::from_micros(28),
        cw_min: 15,
        cw_max: 1023,
        retries: 6,
        frame_error: Probability::new(0.0).unwrap(),
        queue: Limit::NONE,
    }
}

/// IEEE 802.15.4 with its defaults and long addresses.
pub fn ieee802154() -> Ieee802154 {
    Ieee802154 {
        compressed_bytes: 40,
        mac_bytes: 23,
        frame_error: Probability::new(0.0).unwrap(),
        retries: 3,
        max_backoffs: 4,
        min_be: 3,
        max_be: 5,
        queue: Limit::NONE,
    }
}

/// Every medium.
pub fn air() -> impl Strategy<Value = Air> {
    (0..MEDIA.len()).prop_flat_map(|kind| chosen(MEDIA[kind].arbitrary)).prop_map(Air::Of)
}

pub fn wifi() -> impl Strategy<Value = Wifi> {
    let times = [0..200u64, 0..300, 1..20, 0..20, 0..60].map(|range| range.prop_map(Duration::from_micros));
    let windows = (0..32u32, 0..1000u32).prop_map(|(minimum, more)| (minimum, minimum + more));
    (1_000_000..54_000_000u64, 0..60u32, times, windows, 0..8u32, error(), queue()).prop_map(
        |(rate, overhead_bytes, [preamble, ack, slot, sifs, difs], (cw_min, cw_max), retries, frame_error, queue)| {
            let rate_bps = NonZeroU64::new(rate).unwrap();
            Wifi {
                rate_bps,
                overhead_bytes,
                preamble,
                ack,
                slot,
                sifs,
                difs,
                cw_min,
                cw_max,
                retries,
                frame_error,
                queue,
            }
        },
    )
}

fn queue() -> impl Strategy<Value = Limit> {
    prop_oneof![(0..10_000u64).prop_map(Limit::bytes), (0..10u32).prop_map(Limit::packets)]
}

pub fn any_ieee802154() -> impl Strategy<Value = Ieee802154> {
    let exponents = (0..4u32, 0..4u32).prop_map(|(minimum, more)| (minimum, minimum + more));
    (0..48u32, 5..115u32, error(), 0..4u32, 0..5u32, exponents, queue()).prop_map(
        |(compressed_bytes, mac_bytes, frame_error, retries, max_backoffs, (min_be, max_be), queue)| Ieee802154 {
            compressed_bytes,
            mac_bytes,
            frame_error,
            retries,
            max_backoffs,
            min_be,
            max_be,
            queue,
        },
    )
}

pub fn radio() -> impl Strategy<Value = (Vec<Sleep>, u64)> {
    let duration = Duration::from_nanos;
    chosen(RadioSpec::arbitrary).prop_map(move |spec| {
        let sleeps = spec.sleeps.iter().map(|sleep| Sleep {
            after: duration(sleep.after_ns),
            cycle: sleep.cycle_ns.map(duration),
            wake: duration(sleep.wake_ns),
        });
        (sleeps.collect(), spec.buffer_bytes)
    })
}

/// One that keeps ports: packets of both directions have ends that were chosen before.
pub fn nat() -> impl Strategy<Value = NatSpec> {
    chosen(NatSpec::arbitrary).prop_map(|spec| NatSpec { keep_port: true, ..spec })
}

pub fn shared() -> impl Strategy<Value = Shared> {
    (prop::option::of(air()), prop::option::of(radio()), prop::option::of(nat())).prop_map(|(air, radio, nat)| Shared {
        air,
        radio,
        nat,
    })
}

fn error() -> impl Strategy<Value = Probability> {
    prop_oneof![Just(0.0), Just(1.0), 0.0..1.0].prop_map(|value| Probability::new(value).unwrap())
}

fn chosen<T: std::fmt::Debug>(arbitrary: fn(&mut Choices<'_>) -> T) -> impl Strategy<Value = T> {
    prop::collection::vec(any::<u64>(), 32).prop_map(move |numbers| {
        let mut numbers = numbers.into_iter();
        arbitrary(&mut Choices::new(&mut || numbers.next().unwrap_or(0)))
    })
}
