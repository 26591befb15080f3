//! Packets at given microseconds, and what becomes of them.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::time::Duration;

use wirelab_link::{DropCause, Impairment, Probability};

use crate::common::{Caller, Send, drive};

/// Microsecond, port and size.
pub type Arrival = (u64, u16, u32);

pub fn micros(microseconds: u64) -> Duration {
    Duration::from_micros(microseconds)
}

pub fn millis(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

pub fn fraction(value: f64) -> Probability {
    Probability::new(value).unwrap()
}

pub fn train(packets: &[Arrival]) -> Vec<Send> {
    let mut last = 0;
    let send = |(at, port, size): &Arrival| {
        let gap = micros(at - std::mem::replace(&mut last, *at));
        Send { gap, port: *port, size: *size }
    };
    packets.iter().map(send).collect()
}

/// What becomes of each packet: nanoseconds at which it leaves or is dropped, and why.
pub fn outcomes(impairment: &mut dyn Impairment, packets: &[Arrival]) -> Vec<(u64, Option<DropCause>)> {
    let outcomes = drive(impairment, &train(packets), &Caller::Prompt);
    outcomes.into_values().map(|(instant, cause)| (instant.as_nanos(), cause)).collect()
}

/// Nanoseconds at which each packet leaves; all do.
pub fn leave(impairment: &mut dyn Impairment, packets: &[Arrival]) -> Vec<u64> {
    let outcomes = outcomes(impairment, packets);
    assert!(outcomes.iter().all(|(_, cause)| cause.is_none()), "{outcomes:?}");
    outcomes.into_iter().map(|(instant, _)| instant).collect()
}
