use std::time::Duration;

use super::outlet::Outlet;
use super::queued::Queued;
use super::scheduled_rate::ScheduledRate;
use super::settled::{Effect, Settled};
use crate::instant::nanoseconds;
use crate::queue::Queue;
use crate::random::{Generator, Purpose};
use crate::{Chain, DropCause, Instant, Packet, ParameterError, Probability, Seed};

pub(super) const ABOUT: &str = "Delay, rate and loss that change at given instants, counted from the link's first packet, and hold until the next \
    (as in a recorded time series `time,delay,rate,loss`). A packet waits in the queue, is sent at the rate, then is lost with the probability \
    and else delayed by the delay that hold when its last bit is sent. A packet that is being sent when the rate changes goes on at the new \
    rate for its rest, exactly, in integer arithmetic; at a rate of 0 nothing is sent until the next point. Packets do not overtake one another when the \
    delay falls: one that would leaves with its predecessor. One seeded draw for each packet sent, lossy or not. The queue is as behind `rate`.";

/// What holds from an instant on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SchedulePoint {
    /// From when, counted from the link's first packet.
    pub at: Duration,
    /// One-way delay.
    pub delay: Duration,
    /// Rate; `None` for no limit, 0 if nothing is sent.
    pub rate_bps: Option<u64>,
    /// Loss probability of each packet.
    pub loss: Probability,
}

/// Points in time, and what holds from each to the next.
#[derive(Clone, Debug)]
pub struct Schedule {
    points: Vec<SchedulePoint>,
    repeat_ns: Option<u64>,
    origin_ns: u64,
}

impl Schedule {
    /// Points in order of their instants, the first at 0, that begin again after `repeat`; else what is wrong.
    pub fn new(points: Vec<SchedulePoint>, repeat: Option<Duration>) -> Result<Self, ParameterError> {
        let (Some(first), Some(last)) = (points.first(), points.last()) else {
            return Err(ParameterError::new("a schedule has at least one point"));
        };
        if !first.at.is_zero() {
            return Err(ParameterError::new(format!("the first point is at 0, not at {:?}", first.at)));
        }
        if let Some(pair) = points.windows(2).find(|pair| pair[0].at > pair[1].at) {
            return Err(ParameterError::new(format!(
                "points are in order, but {:?} follows {:?}",
                pair[1].at, pair[0].at
            )));
        }
        if let Some(repeat) = repeat.filter(|repeat| *repeat <= last.at) {
            return Err(ParameterError::new(format!(
                "a schedule that begins again after {repeat:?} never reaches its point at {:?}",
                last.at
            )));
        }
        Ok(Self { points, repeat_ns: repeat.map(nanoseconds), origin_ns: 0 })
    }

    /// The stages that follow this schedule: a rate behind `queue`, and a path with loss and delay.
    pub fn into_chain(self, queue: Queue, overhead_bytes: u32, seed: Seed) -> Chain {
        let path = ScheduledPath {
            schedule: self.clone(),
            generator: Generator::new(seed, Purpose::Packet),
            last_departure: Instant::default(),
        };
        Chain::new(vec![
            Box::new(Queued::new(ScheduledRate::new(self), queue, overhead_bytes)),
            Box::new(Settled::new(path)),
        ])
    }

    /// Count instants from `origin` on.
    pub(super) fn start(&mut self, origin: Instant) {
        self.origin_ns = origin.as_nanos();
    }

    /// What holds at `now`, and until when; `None` for ever.
    pub(super) fn at(&self, now: Instant) -> (&SchedulePoint, Option<Instant>) {
        let elapsed = now.as_nanos().saturating_sub(self.origin_ns);
        let within = self.repeat_ns.map_or(elapsed, |repeat| elapsed % repeat);
        let next = self.points.partition_point(|point| nanoseconds(point.at) <= within);
        let until = self.points.get(next).map(|point| nanoseconds(point.at)).or(self.repeat_ns);
        let until = until.and_then(|until| now.as_nanos().checked_add(until - within));
        (&self.points[next - 1], until.map(Instant::from_nanos))
    }

    /// How many points hold one after another before the first holds again.
    pub(super) fn len(&self) -> usize {
        self.points.len()
    }

    /// The length of a repetition, and how many billionths of a bit its rates send; `None` without repetition or without limit.
    pub(super) fn sent_in_a_repetition(&self) -> Option<(u64, u128)> {
        let repeat = self.repeat_ns?;
        let ends = self.points[1..].iter().map(|point| nanoseconds(point.at)).chain([repeat]);
        let mut sent = 0u128;
        for (point, end) in self.points.iter().zip(ends) {
            let length = end - nanoseconds(point.at);
            if length > 0 {
                sent = sent.saturating_add(u128::from(point.rate_bps?) * u128::from(length));
            }
        }
        Some((repeat, sent))
    }
}

/// The part of a schedule behind its rate.
#[derive(Debug)]
struct ScheduledPath {
    schedule: Schedule,
    generator: Generator,
    last_departure: Instant,
}

impl Effect for ScheduledPath {
    fn start(&mut self, origin: Instant) {
        self.schedule.start(origin);
    }

    fn apply(&mut self, packet: Packet, now: Instant, out: &mut Outlet) {
        let (point, _) = self.schedule.at(now);
        if self.generator.chance(point.loss) {
            out.drop(packet, now, DropCause::Loss);
        } else {
            self.last_departure = self.last_departure.max(now + point.delay);
            out.depart(packet, self.last_departure);
        }
    }
}
