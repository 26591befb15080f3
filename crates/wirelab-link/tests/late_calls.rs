//! Invariants of every impairment, chain and link: what comes out depends on what went in, never on when the caller came to look.

mod common;
#[path = "common/shared.rs"]
mod shared;
#[path = "common/strategies.rs"]
mod strategies;

use std::time::Duration;

use common::{Caller, Plan, Send, Stage, break_off, drive};
use proptest::prelude::*;
use shared::{air, nat, radio, shared};
use strategies::{late_calls, micros, plan, stage, train};
use wirelab_link::impairment::{Nat, Radio};
use wirelab_link::{Direction, DropCause, Impairment, Instant, Seed};

const SEED: Seed = Seed { link: 1, direction: Direction::Uplink, index: 0 };

/// A rate of one 1000-byte packet per millisecond with room for two.
fn narrow() -> Stage {
    Stage::rate(8_000_000, 2000, 0)
}

fn burst_then_trickle() -> Vec<Send> {
    let send = |microseconds| Send { gap: Duration::from_micros(microseconds), port: 0, size: 1000 };
    [[0; 6], [300; 6], [900; 6], [1000; 6], [1100; 6]].concat().into_iter().map(send).collect()
}

fn late_callers() -> [Caller; 3] {
    [Duration::from_micros(100), Duration::from_millis(3), Duration::from_secs(1)].map(|late| Caller::Late(vec![late]))
}

fn a_late_caller_sees_the_same_departures(stages: Vec<Stage>) {
    let plan = Plan { stages: [stages, vec![]], medium: None, seed: 1 };
    let train = burst_then_trickle();
    let prompt = drive(&mut plan.link(), &train, &Caller::Prompt);
    let causes: Vec<_> = prompt.values().map(|(_, cause)| *cause).collect();
    assert!([None, Some(DropCause::Loss), Some(DropCause::QueueFull)].iter().all(|cause| causes.contains(cause)));
    for caller in late_callers() {
        assert_eq!(drive(&mut plan.link(), &train, &caller), prompt);
    }
    assert_eq!(drive(&mut plan.link(), &train, &Caller::Absent), prompt);
}

#[test]
fn a_late_caller_sees_the_same_departures_with_the_rate_first() {
    a_late_caller_sees_the_same_departures(vec![
        narrow(),
        Stage::independent(0.2),
        Stage::constant(Duration::from_millis(5)),
    ]);
}

#[test]
fn a_late_caller_sees_the_same_departures_with_the_loss_first() {
    a_late_caller_sees_the_same_departures(vec![
        Stage::independent(0.2),
        narrow(),
        Stage::constant(Duration::from_millis(5)),
    ]);
}

#[test]
fn a_late_caller_sees_the_same_departures_behind_a_medium() {
    let plan = Plan {
        stages: [vec![], vec![Stage::constant(Duration::from_micros(10))]],
        medium: Some((8_000_000, 2000)),
        seed: 1,
    };
    let mut train = burst_then_trickle();
    train.iter_mut().skip(1).step_by(3).for_each(|send| send.port = 1);
    let prompt = drive(&mut plan.link(), &train, &Caller::Prompt);
    assert!(prompt.values().any(|(_, cause)| cause.is_some()));
    for caller in late_callers() {
        assert_eq!(drive(&mut plan.link(), &train, &caller), prompt);
    }
}

#[test]
fn a_poll_ahead_of_an_arrival_changes_nothing_without_a_medium() {
    let plan = Plan { stages: [vec![narrow()], vec![]], medium: None, seed: 1 };
    let train = burst_then_trickle();
    let prompt = drive(&mut plan.link(), &train, &Caller::Prompt);
    let mut ahead = plan.link();
    ahead.poll_packet(Instant::from_nanos(40_000_000));
    assert_eq!(drive(&mut ahead, &train, &Caller::Absent), prompt);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_impairment_conserves_packets_and_tolerates_late_calls(stage in stage(), train in train(), late in late_calls()) {
        let prompt = drive(&mut *stage.build(SEED), &train, &Caller::Prompt);
        prop_assert_eq!(&drive(&mut *stage.build(SEED), &train, &late), &prompt);
        prop_assert_eq!(&drive(&mut *stage.build(SEED), &train, &Caller::Absent), &prompt);
    }

    #[test]
    fn every_medium_conserves_packets_and_tolerates_late_calls(air in air(), train in train(), late in late_calls()) {
        let prompt = drive(&mut *air.build(1), &train, &Caller::Prompt);
        prop_assert_eq!(&drive(&mut *air.build(1), &train, &late), &prompt);
        prop_assert_eq!(&drive(&mut *air.build(1), &train, &Caller::Absent), &prompt);
    }

    #[test]
    fn a_sleeping_radio_conserves_packets_and_tolerates_late_calls(radio in radio(), train in train(), late in late_calls()) {
        let radio = || Radio::new(radio.0.clone(), radio.1).unwrap();
        let prompt = drive(&mut radio(), &train, &Caller::Prompt);
        prop_assert_eq!(&drive(&mut radio(), &train, &late), &prompt);
        prop_assert_eq!(&drive(&mut radio(), &train, &Caller::Absent), &prompt);
    }

    #[test]
    fn an_address_translation_conserves_packets_and_tolerates_late_calls(spec in nat(), train in train(), late in late_calls()) {
        let seed = Seed { link: 1, direction: Direction::Uplink, index: 0 };
        let nat = || Nat::new(spec.rules(), seed);
        let prompt = drive(&mut nat(), &train, &Caller::Prompt);
        prop_assert_eq!(&drive(&mut nat(), &train, &late), &prompt);
        prop_assert_eq!(&drive(&mut nat(), &train, &Caller::Absent), &prompt);
    }

    #[test]
    fn every_chain_conserves_packets_and_tolerates_late_calls(plan in plan(), train in train(), late in late_calls()) {
        let prompt = drive(&mut plan.chain(Direction::Uplink), &train, &Caller::Prompt);
        prop_assert_eq!(&drive(&mut plan.chain(Direction::Uplink), &train, &late), &prompt);
        prop_assert_eq!(&drive(&mut plan.chain(Direction::Uplink), &train, &Caller::Absent), &prompt);
    }

    #[test]
    fn every_link_conserves_packets_and_tolerates_late_calls(plan in plan(), shared in shared(), train in train(), late in late_calls()) {
        let link = || shared.link(&plan);
        let prompt = drive(&mut link(), &train, &Caller::Prompt);
        prop_assert_eq!(&drive(&mut link(), &train, &late), &prompt);
        prop_assert_eq!(&drive(&mut link(), &train, &Caller::Absent), &prompt);
    }

    #[test]
    fn whatever_is_inside_can_be_taken_out(
        stage in stage(), air in air(), radio in radio(), plan in plan(), shared in shared(), train in train(), lasts in micros(0..20_000)
    ) {
        break_off(&mut *stage.build(SEED), &train, lasts);
        break_off(&mut *air.build(1), &train, lasts);
        break_off(&mut Radio::new(radio.0, radio.1).unwrap(), &train, lasts);
        break_off(&mut shared.link(&plan), &train, lasts);
    }

    #[test]
    fn packets_of_a_direction_never_overtake_one_another_unless_a_stage_lets_them(plan in plan(), train in train()) {
        prop_assume!(!plan.stages.iter().flatten().any(Stage::overtakes));
        let outcomes = drive(&mut plan.link(), &train, &Caller::Prompt);
        for port in 0..2 {
            let departures: Vec<_> = outcomes.iter()
                .filter(|((sequence, _), (_, cause))| train[*sequence as usize].port == port && cause.is_none())
                .map(|(_, (departure, _))| *departure)
                .collect();
            prop_assert!(departures.is_sorted());
        }
    }

    #[test]
    fn one_direction_without_a_medium_never_sees_the_other(plan in plan(), train in train()) {
        let plan = Plan { medium: None, ..plan };
        let uplink_alone: Vec<_> = {
            let mut since = Duration::ZERO;
            train.iter().filter_map(|send| {
                since += send.gap;
                (send.port == 0).then(|| Send { gap: std::mem::take(&mut since), ..send.clone() })
            }).collect()
        };
        let both = drive(&mut plan.link(), &train, &Caller::Prompt);
        let uplink = both.iter().filter(|((sequence, _), _)| train[*sequence as usize].port == 0).map(|(_, outcome)| *outcome);
        let mut alone = plan.link();
        alone.start(Instant::default() + train.first().map_or(Duration::ZERO, |send| send.gap));
        let alone = drive(&mut alone, &uplink_alone, &Caller::Prompt);
        prop_assert!(uplink.eq(alone.into_values()));
    }
}
