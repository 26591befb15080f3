//! A link's description as qdiscs, and what no qdisc can do. `experiment/link/netem.py` refuses the same before anything starts.

use wirelab_net::link::impairment::Jitter;
use wirelab_net::topology::{Chance, Netem, NetemJitter, NetemLoss, NetemRate, Qdisc, Tbf};
use wirelab_schema::{ImpairmentSpec, LinkSpec, QueueSpec};

use super::values::Place;
use super::{LinkError, spread};

/// Of a netem whose packets are delayed and wait for no rate: more than memory would hold for long.
const NO_LIMIT: u32 = 1_000_000;
/// What qdiscs count of each frame, and our rates do not.
const ETHERNET_BYTES: i32 = 14;
/// Entries of a jitter's table, as many as iproute2's have.
const TABLE_ENTRIES: u16 = 4096;
/// A packet that waits in a tbf still counts as one of the socket that sent it, which may have far less room (`net.core.wmem_max`) than the tbf. A
/// netem that delays lets the socket go (skb_orphan_partial in netem_enqueue), however short the delay.
const RELEASE_NS: i64 = 1;
/// A rate that takes no time: netem lets nobody overtake where there is a rate.
const IN_ORDER: NetemRate = NetemRate { bytes_per_second: u64::MAX, overhead_bytes: 0 };

/// The qdiscs of a link that netem runs, by direction, outermost first; none where nothing happens to packets.
pub fn qdiscs(spec: &LinkSpec, seed: u64) -> Result<[Vec<Qdisc>; 2], LinkError> {
    let shared = [("medium", spec.medium.is_some()), ("radio", spec.radio.is_some()), ("nat", spec.nat.is_some())];
    if let Some((name, _)) = shared.into_iter().find(|(_, present)| *present) {
        return Err(Place::new(name).error(format!("netem has no {name}")));
    }
    Ok([
        direction(&spec.uplink, seed, &Place::new("uplink"))?,
        direction(&spec.downlink, !seed, &Place::new("downlink"))?,
    ])
}

fn direction(stages: &[ImpairmentSpec], seed: u64, at: &Place) -> Result<Vec<Qdisc>, LinkError> {
    in_netems_order(stages, at)?;
    let mut line = Line { first: Netem { limit: NO_LIMIT, ..Netem::default() }, more: Vec::new() };
    // A constant delay first, wherever it stands: what follows must know that packets are inside for longer than they wait.
    let numbered = || stages.iter().enumerate();
    let is_delay = |stage: &ImpairmentSpec| matches!(stage, ImpairmentSpec::Delay { .. });
    let delays = numbered().filter(|(_, stage)| is_delay(stage));
    for (index, stage) in delays.chain(numbered().filter(|(_, stage)| !is_delay(stage))) {
        line.add(stage, &at.index(index))?;
    }
    let duplicates = line.first.duplicate.probability > 0.0;
    for (index, stage) in stages.iter().enumerate() {
        if matches!(stage, ImpairmentSpec::Duplicate { .. }) && duplicates && !line.more.is_empty() {
            let what = "netem duplicates only where it does all else itself (since Linux 6.16), and this takes several";
            return Err(at.index(index).error(what));
        }
    }
    let mut qdiscs = line.into_qdiscs();
    for (number, qdisc) in (1..).zip(&mut qdiscs) {
        if let Qdisc::Netem(netem) = qdisc {
            netem.seed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(number);
        }
    }
    Ok(qdiscs)
}

/// What netem does to a packet, one after another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Duplicate,
    Drop,
    Corrupt,
    Delay,
    Reorder,
    Serialise,
}

impl Step {
    const fn verb(self) -> &'static str {
        match self {
            Self::Duplicate => "duplicates",
            Self::Drop => "drops",
            Self::Corrupt => "corrupts",
            Self::Delay => "delays",
            Self::Reorder => "reorders",
            Self::Serialise => "serialises",
        }
    }
}

/// Which step a stage is; `None` for a constant delay, which gives the same wherever it stands.
fn step(stage: &ImpairmentSpec, at: &Place) -> Result<Option<Step>, LinkError> {
    let unable = |name: &str| Err(at.error(format!("netem has no {name}")));
    Ok(match stage {
        ImpairmentSpec::Duplicate { .. } => Some(Step::Duplicate),
        ImpairmentSpec::Loss { .. } | ImpairmentSpec::GilbertElliott { .. } | ImpairmentSpec::FourState { .. } => {
            Some(Step::Drop)
        }
        ImpairmentSpec::Corrupt { .. } => Some(Step::Corrupt),
        ImpairmentSpec::Delay { jitter: None, .. } => None,
        ImpairmentSpec::Delay { .. } => Some(Step::Delay),
        ImpairmentSpec::Reorder { .. } => Some(Step::Reorder),
        ImpairmentSpec::Rate { .. } | ImpairmentSpec::TokenBucket { .. } => Some(Step::Serialise),
        ImpairmentSpec::Markov { .. } => return unable("markov"),
        ImpairmentSpec::LossPattern { .. } => return unable("loss-pattern"),
        ImpairmentSpec::GilbertElliottTime { .. } => return unable("gilbert-elliott-time"),
        ImpairmentSpec::DeliveryTrace { .. } => return unable("delivery-trace"),
        ImpairmentSpec::Schedule { .. } => return unable("schedule"),
        ImpairmentSpec::Outage { .. } => return unable("outage"),
        ImpairmentSpec::DutyCycle { .. } => return unable("duty-cycle"),
    })
}

fn in_netems_order(stages: &[ImpairmentSpec], at: &Place) -> Result<(), LinkError> {
    let mut last: Option<Step> = None;
    let (mut delays, mut steps) = (0, Vec::new());
    for (index, stage) in stages.iter().enumerate() {
        let at = at.index(index);
        let next = step(stage, &at)?;
        delays += u32::from(matches!(stage, ImpairmentSpec::Delay { .. }));
        let Some(next) = next else { continue };
        match last {
            Some(last) if next < last => {
                return Err(at.error(format!("netem {} before it {}", next.verb(), last.verb())));
            }
            Some(last) if next == last => return Err(at.error(format!("netem {} once", next.verb()))),
            _ => last = Some(next),
        }
        if next == Step::Drop && steps.contains(&Step::Duplicate) {
            return Err(at.error("netem takes the copy of a packet back instead of losing it, where it duplicates"));
        }
        steps.push(next);
    }
    if delays > 1 { Err(at.error("netem delays once")) } else { Ok(()) }
}

/// The qdiscs of one direction as they are put together.
struct Line {
    first: Netem,
    more: Vec<Qdisc>,
}

impl Line {
    fn add(&mut self, stage: &ImpairmentSpec, at: &Place) -> Result<(), LinkError> {
        match *stage {
            ImpairmentSpec::Duplicate { probability, correlation } => {
                self.first.duplicate = Chance { probability, correlation };
            }
            ImpairmentSpec::Loss { probability, correlation } => {
                self.first.loss = Some(NetemLoss::Independent(Chance { probability, correlation }));
            }
            ImpairmentSpec::GilbertElliott { p, r, bad_loss, good_loss } => {
                self.first.loss = Some(NetemLoss::GilbertElliott { p, r, bad_pass: 1.0 - bad_loss, good_loss });
            }
            ImpairmentSpec::FourState { p13, p31, p32, p23, p14 } => {
                self.first.loss = Some(NetemLoss::FourState { p13, p31, p32, p23, p14 });
            }
            ImpairmentSpec::Corrupt { probability, correlation } => {
                self.first.corrupt = Chance { probability, correlation };
            }
            ImpairmentSpec::Delay { delay_ns, ref jitter, correlation, overtaking } => {
                self.first.delay_ns = nanoseconds(delay_ns, &at.key("delay_ns"))?;
                if let Some(spec) = jitter {
                    if correlation > 0.0 {
                        let what = "netem takes the remainder of a correlated number, which leaves nothing of it";
                        return Err(at.key("correlation").error(what));
                    }
                    let at_jitter = at.key("jitter");
                    self.first.jitter = table(&spread(spec, &at_jitter)?, &at_jitter)?;
                    let spreads = self.first.jitter.is_some();
                    self.first.rate = (spreads && !overtaking).then_some(IN_ORDER);
                }
            }
            ImpairmentSpec::Reorder { probability, by_ns, correlation } => {
                let at_once = Chance { probability: 1.0 - probability, correlation };
                let delay_ns = nanoseconds(by_ns, &at.key("by_ns"))?;
                if probability > 0.0 && delay_ns > 0 {
                    self.next(|netem| (netem.delay_ns, netem.at_once) = (delay_ns, at_once));
                }
            }
            ImpairmentSpec::Rate { rate_bps, ref queue, overhead_bytes } => {
                let QueueSpec::DropTail { bytes: None, packets: Some(packets) } = *queue else {
                    return Err(at.key("queue").error("netem's queue is drop-tail, counted in packets alone"));
                };
                let rate = NetemRate {
                    bytes_per_second: bytes_per_second(rate_bps, at)?,
                    overhead_bytes: overhead(overhead_bytes, at)?,
                };
                // Also the packet that is being sent is inside.
                let limit = packets.saturating_add(1);
                self.next(|netem| (netem.rate, netem.limit) = (Some(rate), limit));
            }
            ImpairmentSpec::TokenBucket { rate_bps, burst_bytes, ref queue, overhead_bytes } => {
                let at_queue = at.key("queue");
                let QueueSpec::DropTail { bytes: Some(bytes), packets: None } = *queue else {
                    return Err(at_queue.error("tbf's queue is drop-tail, counted in bytes alone"));
                };
                let small = |value, at: &Place| {
                    u32::try_from(value).map_err(|_| at.error(format!("{value} is more than tbf can take (32 bits)")))
                };
                self.more.push(Qdisc::Tbf(Tbf {
                    bytes_per_second: bytes_per_second(rate_bps, at)?,
                    burst_bytes: small(burst_bytes, &at.key("burst_bytes"))?,
                    limit_bytes: small(bytes, &at_queue)?,
                    overhead_bytes: overhead(overhead_bytes, at)?,
                }));
            }
            // Refused before.
            _ => {}
        }
        Ok(())
    }

    /// Set what comes after a delay: in the first netem if it has none, else in one of its own.
    fn next(&mut self, set: impl FnOnce(&mut Netem)) {
        let delays = self.first.delay_ns > 0 || self.first.jitter.is_some();
        if delays || !self.more.is_empty() {
            let mut netem = Netem { limit: NO_LIMIT, ..Netem::default() };
            set(&mut netem);
            self.more.push(Qdisc::Netem(Box::new(netem)));
        } else {
            set(&mut self.first);
        }
    }

    fn into_qdiscs(mut self) -> Vec<Qdisc> {
        let waits_for_tokens = self.more.iter().any(|qdisc| matches!(qdisc, Qdisc::Tbf(_)));
        let first = &mut self.first;
        if waits_for_tokens && first.delay_ns == 0 && first.jitter.is_none() && first.rate.is_none() {
            first.delay_ns = RELEASE_NS;
        }
        let idle = self.first == Netem { limit: NO_LIMIT, ..Netem::default() };
        let first = (!idle).then(|| Qdisc::Netem(Box::new(self.first)));
        first.into_iter().chain(self.more).collect()
    }
}

/// The jitter as a table of equally likely offsets; `None` if it spreads nothing.
fn table(jitter: &Jitter, at: &Place) -> Result<Option<NetemJitter>, LinkError> {
    let middle = |entry| (f64::from(entry) + 0.5) / f64::from(TABLE_ENTRIES);
    let offsets: Vec<f64> = (0..TABLE_ENTRIES).map(|entry| jitter.quantile(middle(entry))).collect();
    let farthest = offsets.iter().fold(0.0, |farthest: f64, offset| farthest.max(offset.abs()));
    let scale = f64::from(NetemJitter::TABLE_SCALE);
    // The farthest becomes the largest entry that there is.
    let unit = (farthest * scale / f64::from(i16::MAX)).ceil();
    if unit == 0.0 {
        return Ok(None);
    }
    if unit > f64::from(i32::MAX) {
        let what = format!("{:.3} s from the mean is farther than netem can take (8.59 s)", farthest / 1e9);
        return Err(at.error(what));
    }
    let table = offsets.iter().map(|offset| (offset / unit * scale).round() as i16).collect();
    Ok(Some(NetemJitter { unit_ns: unit as i32, table }))
}

fn nanoseconds(value: u64, at: &Place) -> Result<i64, LinkError> {
    i64::try_from(value).map_err(|_| at.error(format!("{value} ns is longer than netem can take (63 bits)")))
}

fn bytes_per_second(rate_bps: u64, at: &Place) -> Result<u64, LinkError> {
    if rate_bps.is_multiple_of(8) {
        return Ok(rate_bps / 8);
    }
    Err(at.key("rate_bps").error(format!("netem counts whole bytes a second, and {rate_bps} bit/s are not")))
}

/// What the kernel adds to a frame so that IP bytes and the overhead count.
fn overhead(bytes: u32, at: &Place) -> Result<i32, LinkError> {
    let bytes = i32::try_from(bytes).map_err(|_| at.key("overhead_bytes").error(format!("{bytes} is too much")))?;
    Ok(bytes - ETHERNET_BYTES)
}

#[cfg(test)]
mod tests;
