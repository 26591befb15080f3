//! Random chains, packet trains and callers.

use std::time::Duration;

use proptest::prelude::*;
use wirelab_link::impairment::Jitter;

use crate::common::{Caller, Plan, Send, Stage};

pub fn micros(range: std::ops::Range<u64>) -> impl Strategy<Value = Duration> {
    range.prop_map(Duration::from_micros)
}

/// Bursts at one instant, packets close together, and silences.
pub fn train() -> impl Strategy<Value = Vec<Send>> {
    let gap = prop_oneof![Just(Duration::ZERO), (0..100_000u64).prop_map(Duration::from_nanos), micros(0..20_000)];
    let send =
        (gap, 0..2u16, prop_oneof![Just(40u32), 40..1500u32]).prop_map(|(gap, port, size)| Send { gap, port, size });
    prop::collection::vec(send, 0..60)
}

pub fn stage() -> impl Strategy<Value = Stage> {
    let fraction = || prop_oneof![Just(0.0), Just(1.0), 0.0..1.0];
    let jitter = prop_oneof![
        micros(0..5000).prop_map(|sigma| Jitter::Normal { sigma }),
        micros(0..5000).prop_map(|half_width| Jitter::Uniform { half_width }),
    ];
    prop_oneof![
        micros(0..20_000).prop_map(Stage::Constant),
        (micros(0..5000), jitter).prop_map(|(mean, jitter)| Stage::Jittered(mean, jitter)),
        (0.0..0.5).prop_map(Stage::Independent),
        [fraction(), fraction(), fraction(), fraction()].prop_map(Stage::GilbertElliott),
        (micros(10..20_000), micros(10..20_000), fraction(), fraction())
            .prop_map(|(good, bad, bad_loss, good_loss)| Stage::GilbertElliottTime(good, bad, bad_loss, good_loss)),
        (100_000..50_000_000u64, 0..10_000u64, 0..20u32)
            .prop_map(|(rate, queue, overhead)| Stage::Rate(rate, queue, overhead)),
    ]
}

pub fn plan() -> impl Strategy<Value = Plan> {
    let stages = || prop::collection::vec(stage(), 0..4);
    let medium = prop::option::of((100_000..50_000_000u64, 0..10_000u64));
    ([stages(), stages()], medium, any::<u64>()).prop_map(|(stages, medium, seed)| Plan { stages, medium, seed })
}

pub fn lateness() -> impl Strategy<Value = Caller> {
    prop::collection::vec(prop_oneof![Just(Duration::ZERO), micros(0..30_000)], 1..20).prop_map(Caller::Late)
}
