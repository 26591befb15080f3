//! Random chains, packet trains and callers.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::num::NonZeroU32;
use std::time::Duration;

use proptest::prelude::*;
use wirelab_link::Probability;
use wirelab_link::impairment::{Jitter, Quantiles, SchedulePoint};
use wirelab_link::queue::{Limit, Queue};

use crate::common::{Caller, Plan, Send, Sender, Stage};

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

pub fn fraction() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(1.0), 0.0..1.0]
}

/// Short of what takes long to become stationary.
fn correlation() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(1.0), 0.0..0.99]
}

fn jitter() -> impl Strategy<Value = Jitter> {
    let offsets = prop::collection::vec(-5_000_000..5_000_000i64, 2..10);
    prop_oneof![
        micros(0..5000).prop_map(|sigma| Jitter::Normal { sigma }),
        micros(0..5000).prop_map(|half_width| Jitter::Uniform { half_width }),
        micros(0..5000).prop_map(|sigma| Jitter::Pareto { sigma }),
        micros(0..5000).prop_map(|sigma| Jitter::ParetoNormal { sigma }),
        offsets.prop_map(|mut offsets| {
            offsets.sort_unstable();
            Jitter::Table(Quantiles::new(offsets).unwrap())
        }),
    ]
}

/// Of two ways out of a state the second gets at most what the first leaves.
fn four_state([p13, p31, p32, p23, p14]: [f64; 5]) -> Stage {
    Stage::FourState([p13, p31, p32 * (1.0 - p31), p23, p14 * (1.0 - p13)])
}

/// Sparse chains too, in which some states are never entered and some never left.
fn markov(states: usize) -> impl Strategy<Value = Stage> {
    let weight = prop_oneof![Just(0.0), 0.001..1.0];
    let row = (prop::collection::vec(weight, states), 0..states).prop_map(|(mut weights, certain)| {
        weights[certain] += 0.1;
        let total: f64 = weights.iter().sum();
        weights.into_iter().map(|weight| weight / total).collect()
    });
    (prop::collection::vec(row, states), prop::collection::vec(fraction(), states))
        .prop_map(|(transitions, loss)| Stage::Markov(transitions, loss))
}

pub fn stage() -> impl Strategy<Value = Stage> {
    prop_oneof![
        micros(0..20_000).prop_map(Stage::Constant),
        (micros(0..5000), jitter()).prop_map(|(mean, jitter)| Stage::Jittered(mean, jitter)),
        (micros(0..5000), jitter(), correlation()).prop_map(|(mean, jitter, correlation)| Stage::Overtaking(
            mean,
            jitter,
            correlation
        )),
        (0.0..0.5).prop_map(Stage::Independent),
        (fraction(), correlation()).prop_map(|(loss, correlation)| Stage::Correlated(loss, correlation)),
        [fraction(), fraction(), fraction(), fraction(), fraction()].prop_map(four_state),
        (1..5usize).prop_flat_map(markov),
        ("[01]{1,20}", any::<bool>()).prop_map(|(pattern, repeat)| Stage::LossPattern(pattern, repeat)),
        (fraction(), micros(0..20_000), correlation()).prop_map(|(share, by, correlation)| Stage::Reorder(
            share,
            by,
            correlation
        )),
        (fraction(), correlation()).prop_map(|(share, correlation)| Stage::Duplicate(share, correlation)),
        (fraction(), correlation()).prop_map(|(share, correlation)| Stage::Corrupt(share, correlation)),
        [fraction(), fraction(), fraction(), fraction()].prop_map(Stage::GilbertElliott),
        (micros(10..20_000), micros(10..20_000), fraction(), fraction())
            .prop_map(|(good, bad, bad_loss, good_loss)| Stage::GilbertElliottTime(good, bad, bad_loss, good_loss)),
        (100_000..50_000_000u64, 0..10_000u64, 0..20u32)
            .prop_map(|(rate, queue, overhead)| Stage::Rate(rate, queue, overhead)),
        (sender(), queue(), 0..20u32).prop_map(|(sender, queue, overhead)| Stage::Queued(sender, queue, overhead)),
        outage(),
    ]
}

fn rate() -> impl Strategy<Value = u64> {
    100_000..50_000_000u64
}

/// Every transmitter; each sends all it is given soon or, where a schedule ends with a rate of 0, never.
pub fn sender() -> impl Strategy<Value = Sender> {
    prop_oneof![
        rate().prop_map(Sender::Rate),
        (rate(), 0..5000u64).prop_map(|(rate, burst)| Sender::TokenBucket(rate, burst)),
        prop::collection::vec(1..30u32, 1..10).prop_map(|mut opportunities| {
            opportunities.push(0);
            opportunities.sort_unstable();
            Sender::DeliveryTrace(opportunities)
        }),
        schedule(),
        (1_000_000..50_000_000u64, prop_oneof![Just(1.0), 0.1..1.0])
            .prop_map(|(rate, share)| Sender::DutyCycle(rate, share)),
    ]
}

/// The last point sends, for at least 5 ms, or stops for ever.
pub fn schedule() -> impl Strategy<Value = Sender> {
    let limit = prop_oneof![Just(None), Just(Some(0)), rate().prop_map(Some)];
    let point = (micros(0..20_000), micros(0..5000), limit, fraction());
    let last = prop_oneof![
        1 => Just((0, None)),
        3 => (rate(), prop::option::of(micros(5000..20_000))),
    ];
    (prop::collection::vec(point, 1..6), last).prop_map(|(points, (rate, lasts))| {
        let mut at = Duration::ZERO;
        let mut points: Vec<_> = points
            .into_iter()
            .map(|(length, delay, rate_bps, loss)| {
                let point = SchedulePoint { at, delay, rate_bps, loss: Probability::new(loss).unwrap() };
                at += length;
                point
            })
            .collect();
        let last = points.last_mut().unwrap();
        last.rate_bps = Some(rate);
        let repeat = lasts.map(|lasts| last.at + lasts);
        Sender::Schedule(points, repeat)
    })
}

/// Every discipline, with parameters so small that a short train feels them.
pub fn queue() -> impl Strategy<Value = Queue> {
    let codel = || (micros(0..5000), micros(0..20_000));
    prop_oneof![
        (prop::option::of(0..10_000u64), 0..10u32)
            .prop_map(|(bytes, packets)| Queue::DropTail(Limit { bytes, packets: Some(packets) })),
        (codel(), 0..20_000u64).prop_map(|((target, interval), bytes)| Queue::Codel { target, interval, bytes }),
        (codel(), 1..4u32, 1..3000u32, 0..20u32).prop_map(|((target, interval), flows, quantum, packets)| {
            let [flows, quantum_bytes] = [flows, quantum].map(|value| NonZeroU32::new(value).unwrap());
            Queue::FqCodel { target, interval, flows, quantum_bytes, packets }
        }),
    ]
}

fn outage() -> impl Strategy<Value = Stage> {
    let gap = prop::option::of(micros(1..20_000));
    (micros(0..20_000), micros(0..20_000), gap, prop::option::of(0..5000u64))
        .prop_map(|(start, lasts, gap, hold)| Stage::Outage(start, lasts, gap.map(|gap| lasts + gap), hold))
}

pub fn plan() -> impl Strategy<Value = Plan> {
    // One stage that copies, so that sequence and copy name a packet.
    let one_copier =
        |stages: &Vec<Stage>| stages.iter().filter(|stage| matches!(stage, Stage::Duplicate(..))).count() <= 1;
    let stages = move || prop::collection::vec(stage(), 0..4).prop_filter("more than one stage copies", one_copier);
    let medium = prop::option::of((100_000..50_000_000u64, 0..10_000u64));
    ([stages(), stages()], medium, any::<u64>()).prop_map(|(stages, medium, seed)| Plan { stages, medium, seed })
}

pub fn lateness() -> impl Strategy<Value = Caller> {
    prop::collection::vec(prop_oneof![Just(Duration::ZERO), micros(0..30_000)], 1..20).prop_map(Caller::Late)
}
