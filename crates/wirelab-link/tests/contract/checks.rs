//! Facts against what a stage does: one check for each fact that packets can show.

use std::collections::BTreeSet;
use std::time::Duration;

use wirelab_link::facts::{Facts, Kept, LossFacts, RateFacts};
use wirelab_link::{DropCause, Impairment, Seed};

use crate::trains::{Mean, Seen, seed, send};

/// Independent runs: so many that a fact which is a tenth off is found.
pub const SEEDS: u64 = 400;
const PACKETS: u64 = 2000;
const SIZE: u32 = 100;
const LARGE: u32 = 1000;
const RUSH: u32 = 20_000;
/// That meet one outage.
const OUTAGE_PACKETS: u64 = 50;

/// What may have happened to a packet.
type Happened<'a> = &'a dyn Fn(&Seen) -> bool;

pub type Build<'a> = &'a dyn Fn(Seed) -> Box<dyn Impairment>;

/// What packets of so many runs show that the facts do not say, or say otherwise.
pub fn disagreements(facts: &Facts, build: Build<'_>, seeds: u64) -> Vec<String> {
    let mut found = Vec::new();
    let gap = lone_gap(facts);
    let runs: Vec<Vec<Seen>> = (0..seeds).map(|link| send(&mut *build(seed(link)), PACKETS, SIZE, gap)).collect();
    let settled: Vec<Vec<&Seen>> = runs.iter().map(|run| from_the_last_point(facts, run)).collect();
    losses(facts, &settled, &runs, gap, &mut found);
    delays(facts, &settled, &mut found);
    chances(facts, &settled, &mut found);
    away(facts, &settled[0], build, &mut found);
    quanta(facts, build, gap, &mut found);
    let rush = rush(facts, build);
    busy(facts, &rush, &mut found);
    // More than any example's queue holds.
    let flood = send(&mut *build(seed(1)), 3000, LARGE, Duration::ZERO);
    let all = || runs.iter().flatten().chain(&rush.seen).chain(&flood);
    let mut seen: BTreeSet<Kept> = all().filter_map(|seen| kept(seen.dropped?)).collect();
    seen.extend(all().any(Seen::was_held).then_some(Kept::Held));
    keeps(&facts.keeps, &seen, &mut found);
    if facts.words.is_empty() {
        found.push("it has no words".to_owned());
    }
    found
}

/// So far apart that no packet meets another.
fn lone_gap(facts: &Facts) -> Duration {
    let delay_ns = facts.delay.as_ref().map_or(0.0, |delay| delay.mean_ns + delay.spread_ns as f64);
    let sending_ns =
        facts.rate.as_ref().map_or(0.0, |rate| f64::from(SIZE + rate.overhead_bytes) * 8e9 / rate.busy_bps);
    let minimum = Duration::from_nanos((3.0 * (delay_ns + sending_ns)) as u64).max(Duration::from_millis(10));
    // Whole parts of a period, so that each of its times is met as often.
    let period = facts.over_time.as_ref().and_then(|over_time| over_time.repeat_ns);
    match period.or(facts.away.and_then(|away| away.every_ns)) {
        Some(period_ns) if u128::from(period_ns) > minimum.as_nanos() => {
            let parts = u128::from(period_ns) / minimum.as_nanos();
            Duration::from_nanos(period_ns / parts as u64)
        }
        _ => minimum,
    }
}

/// Of a schedule that does not repeat: from its last point on.
fn from_the_last_point<'a>(facts: &Facts, run: &'a [Seen]) -> Vec<&'a Seen> {
    let over_time = facts.over_time.as_ref().filter(|over_time| over_time.repeat_ns.is_none());
    let from_ns = over_time.and_then(|over_time| over_time.points.last()).map_or(0, |point| point.at_ns);
    run.iter().filter(|seen| seen.arrival_ns > from_ns || from_ns == 0).collect()
}

fn share<'a>(run: &[&'a Seen], counts: impl Fn(&'a Seen) -> bool) -> f64 {
    run.iter().filter(|seen| counts(seen)).count() as f64 / run.len() as f64
}

fn is_lost(seen: &Seen) -> bool {
    seen.dropped == Some(DropCause::Loss)
}

fn losses(facts: &Facts, settled: &[Vec<&Seen>], runs: &[Vec<Seen>], gap: Duration, found: &mut Vec<String>) {
    let shares: Vec<f64> = settled.iter().map(|run| share(run, is_lost)).collect();
    let seen = Mean::of(&shares);
    let Some(loss) = &facts.loss else {
        if seen.mean > 0.0 {
            found.push(format!("loss share: {} of packets are lost, and the facts name no loss", seen.mean));
        }
        return;
    };
    if let Some(pattern) = &loss.pattern {
        let is_in = |nth: usize| {
            let nth = nth as u64;
            (pattern.repeat || nth < pattern.period) && pattern.lost.contains(&(nth % pattern.period))
        };
        let lost = runs[0].iter().map(is_lost);
        if !lost.enumerate().all(|(nth, lost)| lost == is_in(nth)) {
            found.push("loss pattern: other packets are lost".to_owned());
        }
        let within = pattern.lost.len() as f64 / pattern.period as f64;
        let expected = (Some(if pattern.repeat { within } else { 0.0 }), within, within);
        let stated = (loss.share, loss.first, loss.again);
        if stated != expected {
            found.push(format!(
                "loss share, of a first packet and of its repetition: {stated:?}, the pattern has {expected:?}"
            ));
        }
        return;
    }
    if let Some(expected) = loss.share
        && !seen.agrees(expected, 1e-12)
    {
        found.push(format!("loss share: the facts say {expected}, packets show {} ± {}", seen.mean, seen.error));
    }
    if let Some(over_time) = &facts.over_time {
        let last_ns = over_time.repeat_ns.unwrap_or(u64::MAX);
        let held = |at_ns: u64| over_time.points.iter().rev().find(|point| point.at_ns <= at_ns % last_ns);
        let expected = |seen: &&Seen| held(seen.arrival_ns).and_then(|point| point.loss).unwrap_or(0.0);
        let mean = settled[0].iter().map(expected).sum::<f64>() / settled[0].len() as f64;
        // A packet meets the point that holds when its last bit is sent: at most one of each period is late for it.
        if !seen.agrees(mean, over_time.points.len() as f64 / settled[0].len() as f64) {
            found.push(format!("loss over time: the facts say {mean}, packets show {} ± {}", seen.mean, seen.error));
        }
    }
    pairs(loss, settled, gap, found);
    again(loss, settled, found);
    spread(loss, &shares, settled[0].len() as f64, found);
}

/// How often two packets in a row are lost.
fn pairs(loss: &LossFacts, settled: &[Vec<&Seen>], gap: Duration, found: &mut Vec<String>) {
    let Some(share) = loss.share else { return };
    let both = |run: &Vec<&Seen>| {
        let pairs = run.windows(2).filter(|pair| is_lost(pair[0]) && is_lost(pair[1])).count();
        pairs as f64 / (run.len() - 1) as f64
    };
    let expected = if let Some(chain) = &loss.chain {
        let next = |row: &Vec<f64>| row.iter().zip(&chain.loss).map(|(step, loss)| step * loss).sum::<f64>();
        let states = chain.stationary.iter().zip(&chain.loss).zip(&chain.transitions);
        states.map(|((at, loss), row)| at * loss * next(row)).sum()
    } else if let Some(state) = &loss.in_time {
        share * share + state.variance * (-state.decay_per_ns * gap.as_nanos() as f64).exp()
    } else if loss.design_effect == Some(1.0) {
        share * share
    } else {
        return;
    };
    let seen = Mean::of(&settled.iter().map(both).collect::<Vec<_>>());
    if !seen.agrees(expected, 1e-12) {
        found.push(format!("losses in a row: the facts say {expected}, packets show {} ± {}", seen.mean, seen.error));
    }
}

/// A repetition is as likely lost as packets show, to some hundredths: the facts may count bursts as they are met.
fn again(loss: &LossFacts, settled: &[Vec<&Seen>], found: &mut Vec<String>) {
    let Some(share) = loss.share.filter(|share| *share > 0.0) else { return };
    if loss.first > share * (1.0 + 1e-9) {
        found.push(format!("first: {} is more than the share of packets that are lost, {share}", loss.first));
    }
    if loss.chain.is_none() {
        let same = [loss.first, loss.again].iter().all(|each| (each - share).abs() < 1e-9);
        if !same {
            found
                .push(format!("first, again: {} and {}, and a state that fades gives {share}", loss.first, loss.again));
        }
        return;
    }
    let of_run = |run: &Vec<&Seen>| {
        let lost = run[..run.len() - 1].iter().filter(|seen| is_lost(seen)).count();
        let both = run.windows(2).filter(|pair| is_lost(pair[0]) && is_lost(pair[1])).count();
        (lost > 0).then_some((both as f64, lost as f64))
    };
    let (both, lost) = settled.iter().filter_map(of_run).fold((0.0, 0.0), |sum, run| (sum.0 + run.0, sum.1 + run.1));
    let seen = both / lost;
    let error = (seen * (1.0 - seen) / lost).sqrt();
    if (seen - loss.again).abs() > 0.02 * loss.again + 5.0 * error {
        found.push(format!("again: the facts say {}, packets show {seen}", loss.again));
    }
}

/// A packet that meets no other takes as long as a whole quantum, and one of a byte more longer.
fn quanta(facts: &Facts, build: Build<'_>, gap: Duration, found: &mut Vec<String>) {
    let Some(rate) = &facts.rate else { return };
    let Some(quantum) = rate.quantum_bytes.map(|bytes| bytes - rate.overhead_bytes) else { return };
    let delays = |size| {
        let run = send(&mut *build(seed(0)), 200, size, gap * quantum.div_ceil(SIZE));
        run.iter().filter_map(|seen| seen.delay_ns).collect::<Vec<_>>()
    };
    let [part, whole, more] = [quantum - 1, quantum, quantum + 1].map(delays);
    if part != whole || whole.iter().zip(&more).any(|(whole, more)| more <= whole) {
        found.push(format!("quantum: packets do not take whole quanta of {quantum} bytes"));
    }
}

/// How far the counts of independent runs spread.
fn spread(loss: &LossFacts, shares: &[f64], packets: f64, found: &mut Vec<String>) {
    let (Some(share), Some(expected)) = (loss.share, loss.design_effect) else { return };
    let independent = share * (1.0 - share) / packets;
    if independent == 0.0 {
        return;
    }
    let variance = shares.iter().map(|one| (one - share).powi(2)).sum::<f64>() / shares.len() as f64;
    let seen = variance / independent;
    // Of a variance of many runs the standard error is sqrt(2 / runs) of it; a finite run falls short of the limit by about its share of a burst.
    let tolerance = 5.0 * (2.0 / shares.len() as f64).sqrt() + 2.0 * expected / packets;
    if (seen / expected - 1.0).abs() > tolerance {
        found.push(format!("design effect: the facts say {expected}, packets show {seen}"));
    }
}

fn delays(facts: &Facts, settled: &[Vec<&Seen>], found: &mut Vec<String>) {
    if facts.varies.is_some() {
        return;
    }
    let sending_ns =
        facts.rate.as_ref().and_then(|rate| Some(f64::from(SIZE + rate.overhead_bytes) * 8e9 / rate.lone_bps? as f64));
    let mean_ns = facts.delay.as_ref().map_or(0.0, |delay| delay.mean_ns);
    let expected = mean_ns + sending_ns.unwrap_or(0.0);
    let of_run = |run: &Vec<&Seen>| {
        let delays: Vec<f64> = run.iter().filter_map(|seen| seen.delay_ns).map(|delay| delay as f64).collect();
        delays.iter().sum::<f64>() / delays.len() as f64
    };
    let means: Vec<f64> =
        settled.iter().filter(|run| run.iter().any(|seen| seen.delay_ns.is_some())).map(of_run).collect();
    // A link that loses every packet shows no delay.
    if means.is_empty() {
        return;
    }
    let seen = Mean::of(&means);
    // Departures are whole nanoseconds; the mean of a distribution is that of 4096 steps.
    if !seen.agrees(expected, 1.0 + 2e-5 * mean_ns) {
        found.push(format!("mean delay: the facts say {expected} ns, packets show {} ± {} ns", seen.mean, seen.error));
    }
    let Some(delay) = facts.delay.filter(|delay| delay.random && facts.held_back.is_none()) else { return };
    let is_far = |seen: &Seen| seen.delay_ns.is_some_and(|at| (at as f64 - expected).abs() > delay.reach_ns + 1.0);
    let far = Mean::of(&settled.iter().map(|run| share(run, is_far)).collect::<Vec<_>>());
    if far.mean > 0.001 + 5.0 * far.error {
        found.push(format!("reach: {} of packets are farther than {} ns from the mean", far.mean, delay.reach_ns));
    }
}

fn chances(facts: &Facts, settled: &[Vec<&Seen>], found: &mut Vec<String>) {
    let held_ns = facts.held_back.and_then(|chance| chance.by_ns);
    let kinds: [(&str, Option<f64>, Happened<'_>); 3] = [
        ("duplicated", facts.duplicated.map(|chance| chance.share), &|seen| seen.copies > 0),
        ("corrupted", facts.corrupted.map(|chance| chance.share), &|seen| seen.corrupted),
        ("held back", facts.held_back.map(|chance| chance.share), &|seen| {
            held_ns.is_some_and(|by_ns| seen.delay_ns.is_some_and(|delay| delay >= by_ns))
        }),
    ];
    for (what, stated, happened) in kinds {
        let seen = Mean::of(&settled.iter().map(|run| share(run, happened)).collect::<Vec<_>>());
        let expected = stated.unwrap_or(0.0);
        if !seen.agrees(expected, 1e-12) {
            found.push(format!("{what}: the facts say {expected}, packets show {} ± {}", seen.mean, seen.error));
        }
        if stated.is_some() && !facts.per_packet {
            found.push(format!("{what}: it is done packet by packet, and the facts deny it"));
        }
    }
    if facts.loss.is_some() && !facts.per_packet {
        found.push("loss: it is done packet by packet, and the facts deny it".to_owned());
    }
}

/// Packets in a row meet each time without a link: its length, its distance from the next, and whether it holds them.
fn away(facts: &Facts, run: &[&Seen], build: Build<'_>, found: &mut Vec<String>) {
    let Some(away) = facts.away else {
        if run.iter().any(|seen| seen.dropped == Some(DropCause::Outage)) {
            found.push("outage: packets meet one, and the facts name none".to_owned());
        }
        return;
    };
    let gap = Duration::from_nanos(away.duration_ns / OUTAGE_PACKETS);
    let packets = OUTAGE_PACKETS * 5 * away.every_ns.map_or(10, |every_ns| every_ns.div_ceil(away.duration_ns));
    let seen = send(&mut *build(seed(0)), packets, SIZE, gap);
    let met: Vec<bool> = seen.iter().map(|seen| seen.dropped.is_some() || seen.delay_ns != Some(0)).collect();
    let edges = |from| met.windows(2).enumerate().filter(move |(_, pair)| pair[0] == from && pair[1] != from);
    let begins: Vec<usize> = edges(false).map(|(at, _)| at).collect();
    let ends: Vec<usize> = edges(true).map(|(at, _)| at).collect();
    let near = |packets: usize, ns: u64| (packets as f64 - ns as f64 / gap.as_nanos() as f64).abs() <= 1.0;
    if ends.is_empty() || !begins.iter().zip(&ends).all(|(begin, end)| near(end - begin, away.duration_ns)) {
        found.push(format!("outage: the facts say {} ns, packets show others", away.duration_ns));
    }
    let again = match away.every_ns {
        None => begins.len() == 1,
        Some(every_ns) => begins.len() > 1 && begins.windows(2).all(|pair| near(pair[1] - pair[0], every_ns)),
    };
    if !again {
        found.push(format!("outage: the facts say one every {:?} ns, packets show others", away.every_ns));
    }
    let holds = seen.iter().all(|seen| seen.dropped != Some(DropCause::Outage));
    if holds != away.holds {
        found.push(format!("outage: packets are held: the facts say {}, packets show {holds}", away.holds));
    }
}

/// Many packets, faster than they may pass.
struct Rush {
    gap: Duration,
    seen: Vec<Seen>,
}

fn rush(facts: &Facts, build: Build<'_>) -> Rush {
    let offered_bps = facts.rate.as_ref().map_or(8e6, |rate| 3.0 * rate.busy_bps);
    let gap = Duration::from_nanos((f64::from(LARGE) * 8e9 / offered_bps) as u64);
    Rush { gap, seen: send(&mut *build(seed(1)), RUSH.into(), LARGE, gap) }
}

/// Many packets together: rate, order, and whether they wait at all.
fn busy(facts: &Facts, rush: &Rush, found: &mut Vec<String>) {
    let fair = facts.queue.as_ref().is_some_and(|queue| queue.fair);
    let (gap, run) = (rush.gap, &rush.seen);
    let passed: Vec<&Seen> = run.iter().filter(|seen| seen.delay_ns.is_some()).collect();
    let overtaken = !passed.windows(2).all(|pair| pair[0].place < pair[1].place);
    if overtaken && !facts.overtakes && !fair {
        found.push("order: packets overtake others, and the facts deny it".to_owned());
    }
    if !overtaken && facts.overtakes {
        found.push("order: no packet overtakes another, and the facts say so".to_owned());
    }
    match &facts.rate {
        None => {
            let random = facts.delay.is_some() || facts.away.is_some();
            if !random && facts.over_time.is_none() && passed.iter().any(|seen| seen.delay_ns != Some(0)) {
                found.push("rate: packets wait for one another, and the facts name no rate".to_owned());
            }
        }
        Some(rate) => {
            if rate.steady_bps.is_none() && rate.changes.is_none() {
                found.push("steady rate: there is none, and no reason".to_owned());
            }
            steady(rate, run, found);
            let Some(mean_bps) = rate.mean_bps else { return };
            let delay_ns = facts
                .over_time
                .as_ref()
                .map_or(0, |over_time| over_time.points.iter().filter_map(|point| point.delay_ns).max().unwrap_or(0));
            let mut left: Vec<u64> = run.iter().filter_map(|seen| Some(seen.arrival_ns + seen.delay_ns?)).collect();
            left.sort_unstable();
            // Past its beginning: a bucket is empty then, and a schedule has come to its last point. Whole periods.
            let period = facts.over_time.as_ref().and_then(|over_time| over_time.repeat_ns);
            let begin_ns = facts.over_time.as_ref().map_or(0, |over_time| match (period, over_time.points.last()) {
                (None, Some(last)) => last.at_ns + 100_000_000,
                _ => 0,
            });
            let offered_ns = gap.as_nanos() as u64 * u64::from(RUSH);
            let begin_ns = begin_ns.max(offered_ns / 10 / period.unwrap_or(1) * period.unwrap_or(1));
            let span_ns = (offered_ns - begin_ns) / period.unwrap_or(1) * period.unwrap_or(1);
            let lost = facts.loss.as_ref().map_or(0.0, |loss| loss.share.unwrap_or(loss.first));
            let within = |at: &&u64| (begin_ns..begin_ns + span_ns).contains(*at);
            let packets = left.iter().filter(within).count() as f64;
            let bits = f64::from(LARGE + rate.overhead_bytes) * 8.0;
            let seen = packets * bits / (span_ns as f64 / 1e9) / (1.0 - lost);
            // A packet more or less at either end; one in the air for each delay; losses have their standard error.
            let ends = 2.0 + delay_ns as f64 / gap.as_nanos() as f64;
            let error = 5.0 * (lost * (1.0 - lost) / packets).sqrt();
            if (seen / mean_bps as f64 - 1.0).abs() > ends / packets + error {
                found.push(format!("mean rate: the facts say {mean_bps} bit/s, packets show {seen:.0}"));
            }
        }
    }
}

/// A train shows its one rate: from packet to packet the time of one.
fn steady(rate: &RateFacts, run: &[Seen], found: &mut Vec<String>) {
    let Some(steady_bps) = rate.steady_bps else { return };
    let mut left: Vec<u64> = run.iter().filter_map(|seen| Some(seen.arrival_ns + seen.delay_ns?)).collect();
    left.sort_unstable();
    let expected = f64::from(LARGE + rate.overhead_bytes) * 8e9 / steady_bps as f64;
    let off = left.windows(2).find(|pair| ((pair[1] - pair[0]) as f64 - expected).abs() > 1.0);
    if let Some([one, next]) = off {
        let seen = next - one;
        found.push(format!(
            "steady rate: the facts say {steady_bps} bit/s, {expected:.0} ns a packet; one shows {seen} ns"
        ));
    }
}

/// Where a dropped packet is counted; lost on purpose it is counted apart.
pub const fn kept(cause: DropCause) -> Option<Kept> {
    match cause {
        DropCause::Loss => None,
        DropCause::QueueFull => Some(Kept::QueueFull),
        DropCause::Aqm => Some(Kept::Aqm),
        DropCause::Outage => Some(Kept::Outage),
        DropCause::Retries => Some(Kept::Retries),
        DropCause::Nat => Some(Kept::Nat),
    }
}

/// Packets are kept where the facts say, and everywhere there.
pub fn keeps(stated: &[Kept], seen: &BTreeSet<Kept>, found: &mut Vec<String>) {
    let stated = BTreeSet::from_iter(stated.iter().copied());
    found.extend(seen.difference(&stated).map(|kept| format!("keeps: {kept:?}, which the facts do not name")));
    found.extend(stated.difference(seen).map(|kept| format!("keeps: {kept:?}, which no packet shows")));
}
