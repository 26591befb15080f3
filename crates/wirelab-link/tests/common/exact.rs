//! The exact outcomes of a few packets.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::time::Duration;

use wirelab_link::impairment::SchedulePoint;
use wirelab_link::queue::{Limit, Queue};
use wirelab_link::{Direction, Impairment, Instant, Packet, PortId, Seed};

use crate::common::{Caller, Outcome, Send, Sender, Stage, drive, flow};

pub const SEED: Seed = Seed { link: 1, direction: Direction::Uplink, index: 0 };
pub const UNBOUNDED: Queue = Queue::DropTail(Limit::NONE);

pub fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Packets of these sizes at these microseconds.
pub fn sends(packets: &[(u64, u32)]) -> Vec<Send> {
    let mut last = 0;
    let gap = |at| Duration::from_micros(at - std::mem::replace(&mut last, at));
    packets
        .iter()
        .map(|(at, _)| *at)
        .map(gap)
        .zip(packets)
        .map(|(gap, (_, size))| Send { gap, port: 0, size: *size })
        .collect()
}

pub fn outcomes(impairment: &mut dyn Impairment, train: &[Send]) -> Vec<Outcome> {
    drive(impairment, train, &Caller::Prompt).into_values().collect()
}

/// Departures in order of arrival, microseconds; `None` where a packet was dropped.
pub fn departures(stage: &Stage, packets: &[(u64, u32)]) -> Vec<Option<u64>> {
    let departure = |(at, cause): Outcome| cause.is_none().then_some(at.as_nanos() / 1000);
    outcomes(&mut *stage.build(SEED), &sends(packets)).into_iter().map(departure).collect()
}

pub fn unbounded(sender: Sender) -> Stage {
    Stage::queued(sender, UNBOUNDED, 0)
}

/// From when, rate, delay and loss.
pub fn point(at: Duration, rate_bps: Option<u64>, delay: Duration, loss: f64) -> SchedulePoint {
    SchedulePoint { at_ns: at.as_nanos() as u64, delay_ns: Some(delay.as_nanos() as u64), rate_bps, loss: Some(loss) }
}

pub fn packet(sequence: u64) -> Packet {
    Packet::new(sequence, PortId(0), 1000, Instant::default(), flow(1000))
}
