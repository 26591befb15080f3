//! Delay, rate and loss that change at given instants.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::queued::{Queued, overhead_words};
use super::scheduled_rate::ScheduledRate;
use crate::facts::{DelayFacts, Facts, LossFacts, OverTime, RateFacts, kept_by};
use crate::impairment::settled::{Effect, Settled};
use crate::impairment::spec::{Slot, Spec};
use crate::impairment::stage_exit::StageExit;
use crate::instant::nanoseconds;
use crate::netem::{NetemRefusal, NetemStage};
use crate::queue::{Queue, QueueSpec};
use crate::random::{Generator, Purpose};
use crate::spec::values::{overhead, probability};
use crate::spec::{Choices, Place, SpecError, words};
use crate::{Chain, DropCause, Impairment, Instant, Packet, ParameterError, Probability, Seed};

const ABOUT: &str = "Delay, rate and loss that change at given instants, counted from the link's first packet, and hold until the next \
    (as in a recorded time series `time,delay,rate,loss`). A packet waits in the queue, is sent at the rate, then is lost with the probability \
    and else delayed by the delay that hold when its last bit is sent. A packet that is being sent when the rate changes continues at the new \
    rate, exactly, in integer arithmetic; at a rate of 0 nothing is sent until the next point. Packets do not overtake one another when the \
    delay falls: one that would leaves with its predecessor. One seeded draw for each packet sent, lossy or not. The queue is as behind `rate`.";

/// What holds from an instant on; each absent value means: none (no delay, no limit, no loss).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SchedulePoint {
    /// From when, counted from the link's first packet.
    pub at_ns: u64,
    /// One-way delay. Packets do not overtake one another when it falls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ns: Option<u64>,
    /// Rate; 0 means that nothing is sent until the next point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_bps: Option<u64>,
    /// Loss probability per packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub loss: Option<f64>,
}

/// Delay, rate and loss that change at given instants, counted from the link's first packet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScheduleSpec {
    /// In order of their instants; the first at 0.
    pub points: Vec<SchedulePoint>,
    /// Begin again after this; absent means that the last point holds for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat_ns: Option<u64>,
    /// What waits behind the packet being sent.
    pub queue: QueueSpec,
    /// Bytes added to each packet's IP length.
    #[serde(default)]
    pub overhead_bytes: u32,
}

impl Spec for ScheduleSpec {
    const ABOUT: &'static str = ABOUT;
    const SLOT: Slot = Slot::Rate;

    fn build(&self, seed: Seed, at: &Place) -> Result<Box<dyn Impairment>, SpecError> {
        let at_points = at.key("points");
        for (index, pair) in (1..).zip(self.points.windows(2)) {
            let [before, now] = [pair[0].at_ns, pair[1].at_ns];
            if now < before {
                return Err(at_points.index(index).key("at_ns").error(format!("{now} comes after {before}")));
            }
        }
        if !self.points.is_empty() && self.points.iter().all(|point| point.rate_bps == Some(0)) {
            return Err(at_points.error("a rate of 0 bit/s throughout sends nothing"));
        }
        let point = |(index, point): (usize, &SchedulePoint)| {
            let loss = probability(point.loss.unwrap_or(0.0), &at_points.index(index).key("loss"))?;
            let (at, delay) = (Duration::from_nanos(point.at_ns), Duration::from_nanos(point.delay_ns.unwrap_or(0)));
            Ok(Point { at, delay, rate_bps: point.rate_bps, loss })
        };
        let points = self.points.iter().enumerate().map(point).collect::<Result<_, SpecError>>()?;
        let schedule =
            Schedule::new(points, self.repeat_ns.map(Duration::from_nanos)).map_err(|what| at.error(what))?;
        let queue = self.queue.build(&at.key("queue"))?;
        Ok(Box::new(schedule.into_chain(queue, overhead(self.overhead_bytes, at)?, seed)))
    }

    fn facts(&self) -> Facts {
        let again =
            self.repeat_ns.map(|repeat_ns| format!(", again every {}", words::time(repeat_ns))).unwrap_or_default();
        let pace = format!("delay, rate and loss at {} instants{again},", self.points.len());
        let over_time = OverTime { points: self.points.clone(), repeat_ns: self.repeat_ns };
        let mean_ns = over_time.lasting(|point| point.delay_ns.unwrap_or(0) as f64);
        let delay = DelayFacts { mean_ns, reach_ns: 0.0, spread_ns: 0, random: false };
        Facts {
            words: format!("{pace}{} behind {}", overhead_words(self.overhead_bytes), self.queue.words()),
            loss: self.loss_facts(&over_time),
            delay: Some(delay),
            rate: self.rate_facts(&over_time),
            queue: Some((&self.queue).into()),
            over_time: Some(over_time),
            away: None,
            duplicated: None,
            corrupted: None,
            held_back: None,
            keeps: kept_by(&self.queue),
            per_packet: true,
            overtakes: false,
            of_one_packet: false,
            varies: Some(CHANGES.to_owned()),
        }
    }

    fn queue(&self) -> Option<&QueueSpec> {
        Some(&self.queue)
    }

    fn netem(&self, at: &Place) -> Result<NetemStage, NetemRefusal> {
        Err(NetemRefusal::absent("schedule", at, "schedule"))
    }

    fn examples() -> Vec<Self> {
        let point = |at_ns, delay_ns, rate_bps, loss| SchedulePoint {
            at_ns,
            delay_ns: Some(delay_ns),
            rate_bps,
            loss: Some(loss),
        };
        let points =
            vec![point(0, 10_000_000, Some(2_000_000), 0.01), point(500_000_000, 20_000_000, Some(1_000_000), 0.02)];
        let schedule = |(repeat_ns, queue)| Self { points: points.clone(), repeat_ns, queue, overhead_bytes: 0 };
        let repeats = [None, Some(1_000_000_000), Some(800_000_000)];
        repeats.into_iter().zip(QueueSpec::examples()).map(schedule).collect()
    }

    fn arbitrary(choices: &mut Choices<'_>) -> Self {
        // The last point sends, for at least 5 ms, or stops for ever.
        let mut at_ns = 0;
        let mut points = choices.list(1..6, |choices| {
            let point = SchedulePoint {
                at_ns,
                delay_ns: choices.maybe(|choices| choices.micros(0..5000)),
                rate_bps: choices.maybe(|choices| if choices.flag() { choices.rate_bps() } else { 0 }),
                loss: choices.maybe(Choices::fraction),
            };
            at_ns += choices.micros(0..20_000);
            point
        });
        let mut repeat_ns = None;
        if let Some(last) = points.last_mut() {
            last.rate_bps = Some(choices.rate_bps());
            let lasts_ns = choices.maybe(|choices| choices.micros(5000..20_000));
            repeat_ns = lasts_ns.map(|lasts_ns| last.at_ns + lasts_ns);
        }
        if points.len() > 1 && repeat_ns.is_none() && choices.number(0..4) == 0 {
            let rates = points.iter_mut().rev().map(|point| &mut point.rate_bps);
            rates.zip([Some(0), Some(choices.rate_bps())]).for_each(|(rate, to)| *rate = to);
        }
        Self { points, repeat_ns, queue: QueueSpec::arbitrary(choices), overhead_bytes: choices.small(0..20) }
    }
}

const CHANGES: &str = "changes with time";

impl ScheduleSpec {
    fn loss_facts(&self, over_time: &OverTime) -> Option<LossFacts> {
        let mut losses = self.points.iter().map(|point| point.loss.unwrap_or(0.0));
        let first = losses.next()?;
        if losses.all(|loss| loss == first) {
            return (first != 0.0).then(|| LossFacts::independent(first));
        }
        let mean = over_time.over_all(|point| point.loss.unwrap_or(0.0));
        Some(LossFacts { share: None, ..LossFacts::of_share(mean) })
    }

    fn rate_facts(&self, over_time: &OverTime) -> Option<RateFacts> {
        let fastest = self.points.iter().filter_map(|point| point.rate_bps).max()?;
        let lasting = || over_time.lasting(|point| point.rate_bps.unwrap_or(0) as f64);
        Some(RateFacts {
            mean_bps: over_time.is_limited().then(|| lasting().round_ties_even() as u64),
            busy_bps: over_time.over_all(|point| point.rate_bps.unwrap_or(fastest) as f64),
            lone_bps: None,
            steady_bps: None,
            changes: Some(CHANGES.to_owned()),
            ..RateFacts::steady(0, self.overhead_bytes)
        })
    }
}

/// What holds from an instant on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
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
pub(super) struct Schedule {
    points: Vec<Point>,
    repeat_ns: Option<u64>,
    origin_ns: u64,
}

impl Schedule {
    /// Points in order of their instants, the first at 0, that begin again after `repeat`; else what is wrong.
    fn new(points: Vec<Point>, repeat: Option<Duration>) -> Result<Self, ParameterError> {
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
    fn into_chain(self, queue: Queue, overhead_bytes: u32, seed: Seed) -> Chain {
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
    pub(super) fn at(&self, now: Instant) -> (&Point, Option<Instant>) {
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

    fn apply(&mut self, packet: Packet, now: Instant, out: &mut StageExit) {
        let (point, _) = self.schedule.at(now);
        if self.generator.chance(point.loss) {
            out.drop(packet, now, DropCause::Loss);
        } else {
            self.last_departure = self.last_departure.max(now + point.delay);
            out.depart(packet, self.last_departure);
        }
    }
}
