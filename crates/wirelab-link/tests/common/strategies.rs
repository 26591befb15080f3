//! Random chains, packet trains and callers. The stages are those of the lists of kinds.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::num::NonZeroU32;
use std::time::Duration;

use proptest::prelude::*;
use wirelab_link::IMPAIRMENTS;
use wirelab_link::impairment::SchedulePoint;
use wirelab_link::queue::{Limit, Queue};
use wirelab_link::spec::Choices;

use crate::common::{Caller, Plan, Send, Sender, Stage};

/// Numbers that choose one description; those beyond are 0.
const CHOICES: usize = 64;

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

/// A random description of what `arbitrary` makes.
pub fn chosen<T: std::fmt::Debug>(arbitrary: fn(&mut Choices<'_>) -> T) -> impl Strategy<Value = T> {
    prop::collection::vec(any::<u64>(), CHOICES).prop_map(move |numbers| {
        let mut numbers = numbers.into_iter();
        arbitrary(&mut Choices::new(&mut || numbers.next().unwrap_or(0)))
    })
}

/// Every impairment.
pub fn stage() -> impl Strategy<Value = Stage> {
    (0..IMPAIRMENTS.len()).prop_flat_map(|kind| chosen(IMPAIRMENTS[kind].arbitrary)).prop_map(Stage)
}

fn rate() -> impl Strategy<Value = u64> {
    100_000..50_000_000u64
}

/// Every transmitter; each sends all it is given soon or, where a schedule ends with a rate of 0, never.
pub fn sender() -> impl Strategy<Value = Sender> {
    let has_queue = |kind: &usize| (IMPAIRMENTS[*kind].examples)()[0].queue().is_some();
    let kinds: Vec<usize> = (0..IMPAIRMENTS.len()).filter(has_queue).collect();
    let stages = prop::sample::select(kinds).prop_flat_map(|kind| chosen(IMPAIRMENTS[kind].arbitrary));
    stages.prop_map(|stage| Sender::of(&stage).expect("it has a queue"))
}

/// Points and repetition. The last point sends, for at least 5 ms, or stops for ever.
pub fn schedule() -> impl Strategy<Value = (Vec<SchedulePoint>, Option<Duration>)> {
    let limit = prop_oneof![Just(None), Just(Some(0)), rate().prop_map(Some)];
    let last = prop_oneof![
        1 => Just((0, None)),
        3 => (rate(), prop::option::of(micros(5000..20_000))),
    ];
    (prop::collection::vec((micros(0..20_000), limit), 1..6), last).prop_map(|(points, (rate, lasts))| {
        let mut at = Duration::ZERO;
        let mut points: Vec<_> = points
            .into_iter()
            .map(|(length, rate_bps)| {
                let at_ns = at.as_nanos() as u64;
                at += length;
                SchedulePoint { at_ns, delay_ns: None, rate_bps, loss: None }
            })
            .collect();
        let last = points.last_mut().unwrap();
        last.rate_bps = Some(rate);
        let repeat = lasts.map(|lasts| Duration::from_nanos(last.at_ns) + lasts);
        if points.iter().all(|point| point.rate_bps == Some(0)) {
            // Refused, unless it has a rate for no time.
            points.insert(0, SchedulePoint { at_ns: 0, delay_ns: None, rate_bps: Some(1), loss: None });
        }
        (points, repeat)
    })
}

/// Every discipline, with parameters so small that a short train feels them.
pub fn queue() -> impl Strategy<Value = Queue> {
    let codel = || (micros(0..5000), micros(1..20_000));
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

pub fn plan() -> impl Strategy<Value = Plan> {
    // One stage that copies, so that sequence and copy name a packet.
    let one_copier = |stages: &Vec<Stage>| stages.iter().filter(|stage| stage.copies()).count() <= 1;
    let stages = move || prop::collection::vec(stage(), 0..4).prop_filter("more than one stage copies", one_copier);
    let medium = prop::option::of((100_000..50_000_000u64, 0..10_000u64));
    ([stages(), stages()], medium, any::<u64>()).prop_map(|(stages, medium, seed)| Plan { stages, medium, seed })
}

pub fn late_calls() -> impl Strategy<Value = Caller> {
    prop::collection::vec(prop_oneof![Just(Duration::ZERO), micros(0..30_000)], 1..20).prop_map(Caller::Late)
}
