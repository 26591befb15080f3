//! The list of the kinds of impairment and of shared stages. What a kind is and does stands in its own file.

pub(crate) mod correlated;
pub(crate) mod settled;
pub(crate) mod spec;
mod stage;
pub(crate) mod stage_exit;

/// When packets leave: propagation and reordering.
pub mod delay {
    pub(crate) mod jitter;
    mod normal_quantile;
    pub(crate) mod propagation;
    pub(crate) mod reorder;

    pub use jitter::{Jitter, JitterSpec, Quantiles};
    pub use propagation::DelaySpec;
    pub use reorder::ReorderSpec;
}

/// Which packets are lost.
pub mod loss {
    pub(crate) mod four_state;
    pub(crate) mod gilbert_elliott;
    pub(crate) mod gilbert_elliott_time;
    pub(crate) mod independent;
    pub(crate) mod markov;
    pub(crate) mod model;
    pub(crate) mod outage;
    pub(crate) mod pattern;
    pub(crate) mod stationary;

    pub use four_state::FourStateSpec;
    pub use gilbert_elliott::GilbertElliottSpec;
    pub use gilbert_elliott_time::GilbertElliottTimeSpec;
    pub use independent::LossSpec;
    pub use markov::MarkovSpec;
    pub use model::LossModel;
    pub use outage::OutageSpec;
    pub use pattern::LossPatternSpec;
}

/// What is done to single packets.
pub mod packet {
    pub(crate) mod corrupt;
    pub(crate) mod duplicate;

    pub use corrupt::CorruptSpec;
    pub use duplicate::DuplicateSpec;
}

/// How fast packets leave.
pub mod rate {
    pub(crate) mod constant;
    pub(crate) mod delivery_trace;
    pub(crate) mod duty_cycle;
    pub(crate) mod queued;
    pub(crate) mod schedule;
    mod scheduled_rate;
    pub(crate) mod serialiser;
    pub(crate) mod token_bucket;

    pub use constant::RateSpec;
    pub use delivery_trace::DeliveryTraceSpec;
    pub use duty_cycle::DutyCycleSpec;
    pub use schedule::{SchedulePoint, ScheduleSpec};
    pub use token_bucket::TokenBucketSpec;
}

/// Stages that both directions share, and the list of their kinds.
pub mod shared;

pub use self::correlated::Correlation;
pub use self::delay::*;
pub use self::loss::*;
pub use self::packet::*;
pub use self::rate::*;
pub use self::shared::*;
pub use self::spec::{Kind, SharedSpec, Slot, Spec};
pub use self::stage::{Counters, Impairment};

use self::spec::kinds;
use crate::Seed;
use crate::facts::Facts;
use crate::netem::{NetemRefusal, NetemStage};
use crate::queue::QueueSpec;
use crate::spec::{Place, SpecError};

/// The one list of impairments: `kind` in a link's description, variant, description.
macro_rules! impairments {
    ($($kind:literal => $name:ident($spec:ty),)*) => {
        kinds! {
            /// One effect on packets. The order of a chain matters: the departure instant of one stage is the arrival instant of the next.
            enum ImpairmentSpec, const IMPAIRMENTS, trait Spec, slot Some;
            $($kind => $name($spec),)*
        }

        impl ImpairmentSpec {
            /// See [`Spec::build`].
            pub fn build(&self, seed: Seed, at: &Place) -> Result<Box<dyn Impairment>, SpecError> {
                match self {
                    $(Self::$name(spec) => spec.build(seed, at),)*
                }
            }

            /// See [`Spec::check_mtu`].
            pub fn check_mtu(&self, mtu: u32, at: &Place) -> Result<(), SpecError> {
                match self {
                    $(Self::$name(spec) => spec.check_mtu(mtu, at),)*
                }
            }

            /// See [`Spec::facts`].
            pub fn facts(&self) -> Facts {
                match self {
                    $(Self::$name(spec) => spec.facts(),)*
                }
            }

            /// See [`Spec::queue`].
            pub fn queue(&self) -> Option<&QueueSpec> {
                match self {
                    $(Self::$name(spec) => spec.queue(),)*
                }
            }

            /// See [`Spec::netem`].
            pub fn netem(&self, at: &Place) -> Result<NetemStage, NetemRefusal> {
                match self {
                    $(Self::$name(spec) => spec.netem(at),)*
                }
            }
        }
    };
}

impairments! {
    "delay" => Delay(DelaySpec),
    "loss" => Loss(LossSpec),
    "gilbert-elliott" => GilbertElliott(GilbertElliottSpec),
    "gilbert-elliott-time" => GilbertElliottTime(GilbertElliottTimeSpec),
    "four-state" => FourState(FourStateSpec),
    "markov" => Markov(MarkovSpec),
    "loss-pattern" => LossPattern(LossPatternSpec),
    "reorder" => Reorder(ReorderSpec),
    "duplicate" => Duplicate(DuplicateSpec),
    "corrupt" => Corrupt(CorruptSpec),
    "rate" => Rate(RateSpec),
    "token-bucket" => TokenBucket(TokenBucketSpec),
    "delivery-trace" => DeliveryTrace(DeliveryTraceSpec),
    "schedule" => Schedule(ScheduleSpec),
    "outage" => Outage(OutageSpec),
    "duty-cycle" => DutyCycle(DutyCycleSpec),
}
