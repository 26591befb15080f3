//! The qdiscs of a link that netem runs. What netem can do of a stage, and what not, the stage itself says.

use wirelab_net::link::netem::{self, NetemRefusal, NetemStage};
use wirelab_net::topology::{Netem, NetemRate, Qdisc, Tbf};
use wirelab_schema::LinkSpec;

/// Of a netem whose packets are delayed and wait for no rate: more than memory would hold for long.
const NO_LIMIT: u32 = 1_000_000;
/// What qdiscs count of each frame, and our rates do not.
const ETHERNET_BYTES: i32 = 14;
/// A packet that waits in a tbf still counts as one of the socket that sent it, which may have far less room (`net.core.wmem_max`) than the tbf. A
/// netem that delays lets the socket go (skb_orphan_partial in netem_enqueue), however short the delay.
const RELEASE_NS: i64 = 1;
/// A rate without serialisation delay: with a rate, netem does not reorder packets.
const IN_ORDER: NetemRate = NetemRate { bytes_per_second: u64::MAX, overhead_bytes: 0 };

/// The qdiscs of a link that netem runs, by direction, outermost first; none where nothing happens to packets.
pub fn qdiscs(spec: &LinkSpec, seed: u64) -> Result<[Vec<Qdisc>; 2], NetemRefusal> {
    let [uplink, downlink] = netem::stages(spec)?;
    Ok([direction(uplink, seed), direction(downlink, !seed)])
}

fn direction(stages: Vec<NetemStage>, seed: u64) -> Vec<Qdisc> {
    let mut line = Line { first: Netem { limit: NO_LIMIT, ..Netem::default() }, more: Vec::new() };
    // A constant delay first, wherever it stands: what follows must know that packets are inside for longer than they wait.
    let (delays, others): (Vec<_>, Vec<_>) =
        stages.into_iter().partition(|stage| matches!(stage, NetemStage::Delay { .. }));
    delays.into_iter().chain(others).for_each(|stage| line.add(stage));
    let mut qdiscs = line.into_qdiscs();
    for (number, qdisc) in (1..).zip(&mut qdiscs) {
        if let Qdisc::Netem(netem) = qdisc {
            netem.seed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(number);
        }
    }
    qdiscs
}

/// The qdiscs of one direction as they are put together.
struct Line {
    first: Netem,
    more: Vec<Qdisc>,
}

impl Line {
    fn add(&mut self, stage: NetemStage) {
        match stage {
            NetemStage::Duplicate(chance) => self.first.duplicate = chance,
            NetemStage::Drop(loss) => self.first.loss = Some(loss),
            NetemStage::Corrupt(chance) => self.first.corrupt = chance,
            NetemStage::Delay { delay_ns, spread } => {
                self.first.delay_ns = delay_ns;
                if let Some(spread) = spread {
                    self.first.rate = (spread.table.is_some() && !spread.overtaking).then_some(IN_ORDER);
                    self.first.jitter = spread.table;
                }
            }
            NetemStage::Reorder { delay_ns, at_once } => {
                if delay_ns > 0 && at_once.probability < 1.0 {
                    self.next(|netem| (netem.delay_ns, netem.at_once) = (delay_ns, at_once));
                }
            }
            NetemStage::Rate { bytes_per_second, overhead_bytes, packets } => {
                let rate = NetemRate { bytes_per_second, overhead_bytes: overhead_bytes - ETHERNET_BYTES };
                // Also the packet that is being sent is inside.
                let limit = packets.saturating_add(1);
                self.next(|netem| (netem.rate, netem.limit) = (Some(rate), limit));
            }
            NetemStage::TokenBucket { bytes_per_second, burst_bytes, limit_bytes, overhead_bytes } => {
                let overhead_bytes = overhead_bytes - ETHERNET_BYTES;
                self.more.push(Qdisc::Tbf(Tbf { bytes_per_second, burst_bytes, limit_bytes, overhead_bytes }));
            }
        }
    }

    /// Set a stage after a delay: in the first netem if it has no delay, else in a separate one.
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

#[cfg(test)]
mod tests;
