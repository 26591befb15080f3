//! Facts of a stage that both directions share against what it does to packets of one sender.

use std::collections::BTreeSet;
use std::time::Duration;

use wirelab_link::facts::{Airtime, Kept, Service, SharedFacts};
use wirelab_link::impairment::Shared;
use wirelab_link::{Direction, DropCause, Seed};

use crate::checks::{keeps, kept};
use crate::trains::{Mean, Seen, Sent, seed, watch};

/// Packets of a run, one after the other or all together.
const PACKETS: u32 = 200;
/// An instant at which a stage has long been left alone.
const LATER: Duration = Duration::from_secs(10_000);
/// Sizes outside what a frame carries are tried up to this.
const LARGEST: u32 = 1500;
/// For how much of its airtime a packet of several frames may be off.
const AIRTIME_OFF: f64 = 0.08;
/// For how much of its bytes a queue may be off: it may count headers too.
const QUEUE_OFF: f64 = 0.05;

/// Builds the stage anew.
pub type Build<'a> = &'a dyn Fn(Seed) -> Box<dyn Shared>;

/// What a stage's packets show that its facts do not say, or say otherwise.
pub fn disagreements(facts: &SharedFacts, build: Build<'_>, seeds: u64) -> Vec<String> {
    let stage = Watched { facts, build, seeds };
    let mut found = Vec::new();
    for piece in &facts.service {
        for size in BTreeSet::from([piece.from_bytes.max(40), piece.to_bytes.min(LARGEST)]) {
            stage.alone(piece, size, &mut found);
            stage.in_a_row(piece, size, &mut found);
        }
    }
    if facts.service.is_empty() {
        stage.together(&mut found);
    }
    stage.frames(&mut found);
    stage.queues(&mut found);
    stage.sleep(&mut found);
    stage.mapping(&mut found);
    stage.contention(&mut found);
    stage.causes(&mut found);
    if facts.words.is_empty() {
        found.push("it has no words".to_owned());
    }
    found
}

struct Watched<'a> {
    facts: &'a SharedFacts,
    build: Build<'a>,
    seeds: u64,
}

impl Watched<'_> {
    fn run(&self, nth: u64, train: &[Sent]) -> Vec<Seen> {
        let end = train.last().map_or(Duration::ZERO, |last| last.at) + LATER;
        watch(&mut *(self.build)(seed(nth)), train, end)
    }

    /// Uplink packets so far apart that none meets another.
    fn lone(&self, size: u32) -> Vec<Vec<Seen>> {
        let train: Vec<Sent> = (0..PACKETS).map(|nth| uplink(Duration::from_secs(nth.into()), size)).collect();
        (0..self.seeds).map(|nth| self.run(nth, &train)).collect()
    }

    /// Of a packet that meets no other: delay, its chance, and loss.
    fn alone(&self, piece: &Service, size: u32, found: &mut Vec<String>) {
        let runs = self.lone(size);
        let delays: Vec<Vec<f64>> = runs
            .iter()
            .map(|run| run.iter().filter_map(|seen| seen.delay_ns).map(|delay| delay as f64).collect())
            .collect();
        let means: Vec<f64> = delays.iter().filter(|run| !run.is_empty()).map(|run| mean(run)).collect();
        compare("idle service", piece.idle_ns + f64::from(size) * piece.idle_ns_per_byte, &means, 1.0, found);
        let mut each = delays.iter().flatten();
        let differs = each.next().is_some_and(|first| each.any(|delay| (delay - first).abs() > 1.0));
        if differs != self.facts.random {
            found.push(format!("random: the facts say {}, delays of lone packets say {differs}", self.facts.random));
        }
        let lost = |run: &Vec<Seen>| share(run, |seen| seen.dropped == Some(DropCause::Retries));
        let few = 5.0 / (f64::from(PACKETS) * runs.len() as f64);
        compare("frame loss", self.facts.frame_loss, &runs.iter().map(lost).collect::<Vec<_>>(), few, found);
    }

    /// Of packets that wait already: the time from one to the next.
    fn in_a_row(&self, piece: &Service, size: u32, found: &mut Vec<String>) {
        let expected = piece.busy_ns + f64::from(size) * piece.busy_ns_per_byte;
        let spacings = self.spacings(size);
        compare("busy service", expected, &spacings, 1.0, found);
        if let Some(air) = &self.facts.airtime {
            compare("airtime", hold_ns(air, size), &spacings, AIRTIME_OFF * expected, found);
        }
    }

    /// Mean time from one departure to the next of packets that come all together, one figure for each run.
    fn spacings(&self, size: u32) -> Vec<f64> {
        let train: Vec<Sent> = (0..PACKETS.min(90_000 / size)).map(|_| uplink(Duration::ZERO, size)).collect();
        let of_run = |nth| {
            let run = self.run(nth, &train);
            let gap = |pair: &[Seen]| Some((pair[1].delay_ns? - pair[0].delay_ns?) as f64);
            let gaps: Vec<f64> = run.windows(2).filter_map(gap).collect();
            (!gaps.is_empty()).then(|| mean(&gaps))
        };
        (0..self.seeds).filter_map(of_run).collect()
    }

    /// A stage without service lets an open flow's packets pass in no time.
    fn together(&self, found: &mut Vec<String>) {
        if self.facts.airtime.is_some() || self.facts.rate_bps.is_some() {
            found.push("service: the facts name a rate or airtime, and none".to_owned());
        }
        if !self.facts.sleeps.is_empty() {
            return;
        }
        let train: Vec<Sent> = (0..PACKETS).map(|nth| uplink(Duration::from_micros(nth.into()), LARGEST)).collect();
        if self.run(0, &train).iter().any(|seen| seen.delay_ns != Some(0)) {
            found.push("service: packets take time, and the facts deny it".to_owned());
        }
    }

    /// Airtime of packets of several frames, and the rate that a byte more shows.
    fn frames(&self, found: &mut Vec<String>) {
        let Some(air) = &self.facts.airtime else { return };
        if air.frame_bytes.is_some() && self.facts.frame_loss < 0.001 {
            let spacings = self.spacings(1280);
            let expected = hold_ns(air, 1280);
            compare("airtime", expected, &spacings, AIRTIME_OFF * expected, found);
        }
        let Some(piece) = self.facts.service.iter().max_by_key(|piece| piece.to_bytes - piece.from_bytes) else {
            return;
        };
        let [small, large] = [piece.from_bytes.max(40), piece.to_bytes.min(LARGEST)];
        let minimum = |size| self.lone(size).iter().flatten().filter_map(|seen| seen.delay_ns).min();
        let (Some(short), Some(long)) = (minimum(small), minimum(large)) else { return };
        let seen_bps = f64::from(large - small) * 8e9 / (long - short) as f64;
        match self.facts.rate_bps {
            Some(rate) if (seen_bps / rate as f64 - 1.0).abs() < 1e-3 => {}
            stated => found.push(format!("rate: the facts say {stated:?} bit/s, frames show {seen_bps:.0}")),
        }
    }

    /// How much waits, by direction: in total, and behind the packet that is served where there is one.
    fn queues(&self, found: &mut Vec<String>) {
        let stated = self.facts.queue.clone();
        let [up, down] = stated.map_or([None, None], |queue| [queue.uplink, queue.downlink]);
        for (direction, queue) in Direction::ALL.into_iter().zip([up, down]) {
            let room = queue.and_then(|queue| match (queue.bytes, queue.packets) {
                (Some(bytes), packets) => Some((bytes / 1000).min(packets.map_or(u64::MAX, u64::from))),
                (None, packets) => packets.map(u64::from),
            });
            let packets = room.map_or(2000, |room| 2 * room + 10);
            let mut train: Vec<Sent> = (0..packets).map(|_| Sent { direction, ..uplink(LATER, 1000) }).collect();
            if self.facts.opened_by_uplink {
                train.insert(0, uplink(LATER, 100));
            }
            let full =
                self.run(0, &train).iter().filter(|seen| seen.dropped == Some(DropCause::QueueFull)).count() as u64;
            let served = u64::from(!self.facts.service.is_empty());
            let expected = room.map_or(0, |room| packets - room - served);
            let off = room.map_or(0.0, |room| QUEUE_OFF * room as f64);
            if full.abs_diff(expected) as f64 > off {
                found.push(format!(
                    "{direction:?} queue: it turns away {full} of {packets} packets that come together, not {expected}"
                ));
            }
        }
    }

    /// Each depth begins when its time is over, and takes its time to wake; a downlink packet waits for the next cycle.
    fn sleep(&self, found: &mut Vec<String>) {
        let sleeps = &self.facts.sleeps;
        let waits = |direction, silence_ns: u64| {
            let later = Sent { direction, ..uplink(LATER + Duration::from_nanos(silence_ns), 100) };
            self.run(0, &[uplink(LATER, 100), later])[1].delay_ns
        };
        for (depth, sleep) in sleeps.iter().enumerate() {
            let before = depth.checked_sub(1).map_or(0, |lighter| sleeps[lighter].wake_ns);
            // The first packet wakes the radio, which counts from the end of that on.
            let woken = sleeps.last().map_or(0, |deepest| deepest.wake_ns);
            for (silence_ns, expected) in
                [(sleep.after_ns * 19 / 20, before), (sleep.after_ns * 21 / 20, sleep.wake_ns)]
            {
                let seen = waits(Direction::Uplink, woken + silence_ns);
                if seen != Some(expected) {
                    found.push(format!(
                        "sleep {depth}: after {silence_ns} ns a packet waits {seen:?} ns, not {expected}"
                    ));
                }
            }
            let silence_ns = sleep.after_ns * 21 / 20;
            let listens = sleep.cycle_ns.map(|cycle| cycle - (silence_ns - sleep.after_ns) % cycle + sleep.wake_ns);
            let seen = waits(Direction::Downlink, woken + silence_ns);
            if seen != listens {
                found.push(format!("cycle {depth}: a downlink packet waits {seen:?} ns, not {listens:?}"));
            }
        }
    }

    /// Which downlink packets pass: before any uplink packet, of another flow, and after a silence.
    fn mapping(&self, found: &mut Vec<String>) {
        let facts = self.facts;
        let passes = |train: &[Sent]| self.run(0, train).last().is_none_or(|seen| seen.dropped.is_none());
        let down = |at: Duration, flow: u64| Sent { direction: Direction::Downlink, flow, ..uplink(at, 100) };
        let open = uplink(LATER, 100);
        let soon = LATER + Duration::from_secs(1);
        let mut says = |what: &str, stated: bool, seen: bool| {
            if stated != seen {
                found.push(format!("{what}: the facts say {stated}, packets show {seen}"));
            }
        };
        says("opened by uplink", facts.opened_by_uplink, !passes(&[down(LATER, 0)]));
        says("flows distinguished", facts.tells_flows_apart, !passes(&[open, down(soon, 1)]));
        let silence = Duration::from_nanos(facts.silence_ns.unwrap_or(3_600_000_000_000));
        says("silence", false, !passes(&[open, down(LATER + silence * 19 / 20, 0)]));
        says("silence", facts.silence_ns.is_some(), !passes(&[open, down(LATER + silence * 21 / 20, 0)]));
        says("silence words", facts.silence_ns.is_some(), facts.silence_words.is_some());
    }

    /// Of two senders that begin at one instant, the order is random if they contend.
    fn contention(&self, found: &mut Vec<String>) {
        let both = |at: Duration| Direction::ALL.map(|direction| Sent { direction, ..uplink(at, 100) });
        let train: Vec<Sent> = (0..20).flat_map(|nth| both(LATER + Duration::from_secs(nth))).collect();
        let outcomes = |nth| self.run(nth, &train).iter().map(|seen| seen.delay_ns).collect::<Vec<_>>();
        let differs = (1..self.seeds).any(|nth| outcomes(nth) != outcomes(0));
        if differs != (self.facts.contends || self.facts.random) {
            found.push(format!("contends: the facts say {}, two concurrent senders {differs}", self.facts.contends));
        }
    }

    /// Packets are kept where the facts say, in each direction.
    fn causes(&self, found: &mut Vec<String>) {
        for direction in Direction::ALL {
            // Too many for any queue and any table, over some seconds, by a sender that nothing opened the way for.
            let at = |nth: u32| LATER + Duration::from_micros(nth.into());
            let sent = |nth: u32| Sent { direction, flow: nth.into(), ..uplink(at(nth), 1000) };
            let train: Vec<Sent> = (0..2000).map(sent).collect();
            let mut seen = BTreeSet::new();
            for nth in 0..self.seeds {
                let all = self.run(nth, &train);
                seen.extend(all.iter().filter_map(|one| kept(one.dropped?)));
                seen.extend(all.iter().any(Seen::was_held).then_some(Kept::Held));
            }
            // Too rare to be met here: so many errors, or collisions, in a row.
            if self.facts.contends {
                seen.insert(Kept::Retries);
            }
            keeps(&self.facts.keeps[direction.index()], &seen, found);
        }
    }
}

fn uplink(at: Duration, size: u32) -> Sent {
    Sent { at, direction: Direction::Uplink, size, flow: 0 }
}

fn hold_ns(air: &Airtime, size: u32) -> f64 {
    let sent = size.saturating_sub(air.compressed_bytes);
    let frames = air.frame_bytes.map_or(1, |bytes| sent.div_ceil(bytes).max(1));
    f64::from(frames) * air.per_frame_ns + f64::from(sent) * air.per_byte_ns
}

fn mean(of: &[f64]) -> f64 {
    of.iter().sum::<f64>() / of.len() as f64
}

fn share(run: &[Seen], counts: impl Fn(&Seen) -> bool) -> f64 {
    run.iter().filter(|seen| counts(seen)).count() as f64 / run.len() as f64
}

fn compare(what: &str, expected: f64, runs: &[f64], rounding: f64, found: &mut Vec<String>) {
    if runs.is_empty() {
        return;
    }
    let seen = Mean::of(runs);
    if !seen.agrees(expected, rounding) {
        found.push(format!("{what}: the facts say {expected}, packets show {} ± {}", seen.mean, seen.error));
    }
}
