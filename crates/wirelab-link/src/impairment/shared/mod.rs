//! Stages that both directions of a link share, and the list of their kinds.

mod ieee802154;
mod nat;
mod radio;
mod sixlowpan;
mod sleep;
mod station;
mod turns;
mod wifi;

use std::time::Duration;

pub use self::ieee802154::{Csma, Ieee802154, Ieee802154Spec};
pub use self::nat::{Dependence, Nat, NatSpec, Rules as NatRules, Unmapped};
pub use self::radio::{Radio, RadioSpec, SleepSpec};
pub use self::sleep::{RadioInterval, RadioState, Sleep, SleepMachine};
pub use self::turns::{SerialiserSpec, Turns};
pub use self::wifi::{Dcf, Wifi, WifiSpec};
use super::Impairment;
use super::spec::{Kind, SharedSpec, kinds};
use crate::facts::{Kept, QueueFacts, SharedFacts, SharedQueue};
use crate::queue::room_words;
use crate::spec::{Place, SpecError};
use crate::{Instant, Seed};

/// A stage that both directions of a link share.
///
/// What one direction does to it the other one sees, so arrivals must not be handed in behind a poll: [`Link`](crate::Link) sees to that.
pub trait Shared: Impairment {
    /// Where packets pass it.
    fn position(&self) -> Position;

    /// From `now` on the near end sends or receives, or does neither any more. Only a stage at the near end is asked.
    fn handle_transfer(&mut self, _transfers: bool, _now: Instant) {}

    /// A downlink packet comes at `now` that the near end has been receiving for `airtime`. Only a stage at the near end is asked, and only if none
    /// is in the middle.
    fn handle_reception(&mut self, _airtime: Duration, _now: Instant) {}
}

/// The key of every medium in a link's description; any other shared stage has its own key.
pub const MEDIUM: &str = "medium";

/// Where packets pass a shared stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Position {
    /// At the client: uplink packets pass it first, downlink packets last.
    Near,
    /// Behind the direction's own chain, in both directions.
    Middle,
    /// At the server: uplink packets pass it last, downlink packets first.
    Far,
}

/// The one list of shared stages: media by their `kind`, other stages by their key in a link's description.
macro_rules! shared_stages {
    (
        media { $($kind:literal => $medium:ident($medium_spec:ty),)* }
        others { $($key:literal => $other:ident($other_spec:ty),)* }
    ) => {
        kinds! {
            /// A stage that both directions and all hosts share: one frame at a time, each station behind its own bounded drop-tail queue. A station is each host
            /// of the near side, and one, the access point, for all of the far side.
            enum MediumSpec, const MEDIA, trait SharedSpec, slot std::convert::identity;
            $($kind => $medium($medium_spec),)*
        }

        kinds! {
            /// Any stage that both directions share.
            enum SharedStage, const SHARED, trait SharedSpec, slot std::convert::identity;
            $($kind => $medium($medium_spec),)*
            $($key => $other($other_spec),)*
        }

        impl From<MediumSpec> for SharedStage {
            fn from(spec: MediumSpec) -> Self {
                match spec {
                    $(MediumSpec::$medium(spec) => Self::$medium(spec),)*
                }
            }
        }

        impl SharedStage {
            /// See [`SharedSpec::build`].
            pub fn build(&self, seed: Seed, at: &Place) -> Result<Box<dyn Shared>, SpecError> {
                match self {
                    $(Self::$medium(spec) => spec.build(seed, at),)*
                    $(Self::$other(spec) => spec.build(seed, at),)*
                }
            }

            /// See [`SharedSpec::facts`].
            pub fn facts(&self) -> SharedFacts {
                match self {
                    $(Self::$medium(spec) => spec.facts(),)*
                    $(Self::$other(spec) => spec.facts(),)*
                }
            }

            /// See [`SharedSpec::added_bytes`].
            pub fn added_bytes(&self, size: u32) -> Option<i64> {
                match self {
                    $(Self::$medium(spec) => spec.added_bytes(size),)*
                    $(Self::$other(spec) => spec.added_bytes(size),)*
                }
            }

            /// The smallest [`seed_index`](Self::seed_index).
            pub const LOWEST_SEED_INDEX: u16 = u16::MAX - [$($key),*].len() as u16;

            /// Index of its seed, beyond the indices of every chain: one for the medium, one for each other stage.
            pub fn seed_index(&self) -> u16 {
                let nth = [$($key),*].iter().position(|key| *key == self.kind());
                nth.map_or(u16::MAX, |nth| u16::MAX - 1 - nth as u16)
            }

            /// Where packets pass it.
            pub const fn position(&self) -> Position {
                match self {
                    $(Self::$medium(_) => <$medium_spec as SharedSpec>::POSITION,)*
                    $(Self::$other(_) => <$other_spec as SharedSpec>::POSITION,)*
                }
            }
        }
    };
}

shared_stages! {
    media {
        "serialiser" => Serialiser(SerialiserSpec),
        "wifi" => Wifi(WifiSpec),
        "ieee802154" => Ieee802154(Ieee802154Spec),
    }
    others {
        "radio" => Radio(RadioSpec),
        "nat" => Nat(NatSpec),
    }
}

impl SharedFacts {
    /// Of a medium that says the rest itself: what all media have.
    fn medium(queue_bytes: Option<u64>, queue_packets: Option<u32>) -> Self {
        let queue = Some(QueueFacts::drop_tail(queue_bytes, queue_packets));
        let kept = || vec![Kept::Held, Kept::QueueFull, Kept::Retries];
        Self {
            key: MEDIUM.to_owned(),
            words: String::new(),
            rate_bps: None,
            service: vec![],
            airtime: None,
            frame_loss: 0.0,
            random: false,
            contends: false,
            queue: Some(SharedQueue { uplink: queue.clone(), downlink: queue }),
            sleeps: vec![],
            opened_by_uplink: false,
            silence_ns: None,
            silence_words: None,
            tells_flows_apart: false,
            keeps: [kept(), kept()],
        }
    }
}

fn medium_words(air: &str, queue_bytes: Option<u64>, queue_packets: Option<u32>) -> String {
    format!("{air}; both directions contend, each behind {}", room_words(queue_bytes, queue_packets))
}
