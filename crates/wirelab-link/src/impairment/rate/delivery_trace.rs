//! A recorded trace of delivery opportunities.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::queued::{Transmitter, overhead_words, queued};
use crate::facts::{Facts, RateFacts, kept_by};
use crate::impairment::spec::{Slot, Spec};
use crate::netem::{NetemRefusal, NetemStage};
use crate::queue::QueueSpec;
use crate::spec::values::ascending;
use crate::spec::{Choices, Place, SpecError, words};
use crate::{Impairment, Instant, ParameterError, Seed};

const ABOUT: &str = "Delivery opportunities recorded from a link, as mahimahi's mm-link plays them (Netravali et al., USENIX ATC 2015; \
    src/frontend/link_queue.cc): at each, 1500 bytes can be delivered, several in one millisecond if it is listed several times. A packet that needs \
    more than is left of one continues with the next and leaves with the last it needs; what is left of one is for the packets behind it, if they \
    wait already. An opportunity that no packet waits for is lost, and one at the very instant of an arrival comes before it. The trace begins with \
    the link's first packet and again at its last opportunity. mahimahi itself counts 4 bytes of its TUN device for each packet and 1504 for an \
    opportunity, so a packet of full size needs one with both. The queue is as behind `rate`.";

/// Delivery opportunities as mahimahi records them: at each a link can deliver 1500 bytes; unused ones are lost. Begins again at its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeliveryTraceSpec {
    /// Milliseconds from the trace's beginning, in order; the last is the trace's length and is above 0.
    pub opportunities_ms: Vec<u32>,
    /// What waits for an opportunity.
    pub queue: QueueSpec,
    /// Bytes added to each packet's IP length.
    #[serde(default)]
    pub overhead_bytes: u32,
}

impl Spec for DeliveryTraceSpec {
    const ABOUT: &'static str = ABOUT;
    const SLOT: Slot = Slot::Rate;

    fn build(&self, _seed: Seed, at: &Place) -> Result<Box<dyn Impairment>, SpecError> {
        let at_trace = at.key("opportunities_ms");
        ascending(&self.opportunities_ms, &at_trace)?;
        let trace = DeliveryTrace::new(&self.opportunities_ms).map_err(|what| at_trace.error(what))?;
        queued(trace, &self.queue, self.overhead_bytes, at)
    }

    fn facts(&self) -> Facts {
        let (many, last_ms) = (self.opportunities_ms.len(), self.opportunities_ms.last().copied().unwrap_or(0));
        let length = words::time(u64::from(last_ms) * MILLISECOND_NS);
        let pace = format!("a trace of {many} chances to send 1500 B in {length}");
        let busy_bps = (many as u64 * 8 * OPPORTUNITY_BYTES * 1000) as f64 / f64::from(last_ms);
        let rate = RateFacts {
            mean_bps: Some(busy_bps.round_ties_even() as u64),
            busy_bps,
            quantum_bytes: Some(OPPORTUNITY_BYTES as u32),
            lone_bps: None,
            steady_bps: None,
            changes: Some(CHANGES.to_owned()),
            ..RateFacts::steady(0, self.overhead_bytes)
        };
        Facts {
            words: format!("{pace}{} behind {}", overhead_words(self.overhead_bytes), self.queue.words()),
            loss: None,
            delay: None,
            rate: Some(rate),
            queue: Some((&self.queue).into()),
            over_time: None,
            away: None,
            duplicated: None,
            corrupted: None,
            held_back: None,
            keeps: kept_by(&self.queue),
            per_packet: false,
            overtakes: false,
            of_one_packet: false,
            varies: Some(CHANGES.to_owned()),
        }
    }

    fn queue(&self) -> Option<&QueueSpec> {
        Some(&self.queue)
    }

    fn netem(&self, at: &Place) -> Result<NetemStage, NetemRefusal> {
        Err(NetemRefusal::absent("delivery-trace", at, "trace"))
    }

    fn examples() -> Vec<Self> {
        let opportunities_ms: Vec<u32> = (1..=100).map(|number| 3 * number).collect();
        let trace = |queue| Self { opportunities_ms: opportunities_ms.clone(), queue, overhead_bytes: 0 };
        QueueSpec::examples().into_iter().map(trace).collect()
    }

    fn arbitrary(choices: &mut Choices<'_>) -> Self {
        let mut opportunities_ms = choices.list(1..10, |choices| choices.small(1..30));
        opportunities_ms.push(0);
        opportunities_ms.sort_unstable();
        Self { opportunities_ms, queue: QueueSpec::arbitrary(choices), overhead_bytes: choices.small(0..20) }
    }
}

const OPPORTUNITY_BYTES: u64 = 1500;
const MILLISECOND_NS: u64 = 1_000_000;
const CHANGES: &str = "changes with time";

/// Delivers at given instants, counted from the link's first packet.
#[derive(Debug)]
struct DeliveryTrace {
    /// From the beginning of the trace, nanoseconds, in order; the last is its length.
    opportunities: Vec<u64>,
    origin: Instant,
    /// The next opportunity that is not used yet: its repetition of the trace, and its place there.
    next: (u64, usize),
    /// When the last one that was used came, and how many bytes are left of it.
    last: Instant,
    left: u64,
}

impl DeliveryTrace {
    /// A trace of opportunities at these milliseconds, in order, the last of them above 0; else what is wrong.
    fn new(opportunities_ms: &[u32]) -> Result<Self, ParameterError> {
        match opportunities_ms.last() {
            None => return Err(ParameterError::new("a trace has at least one opportunity")),
            Some(0) => {
                return Err(ParameterError::new("a trace lasts until its last opportunity, which cannot be at 0 ms"));
            }
            Some(_) => {}
        }
        if let Some(pair) = opportunities_ms.windows(2).find(|pair| pair[0] > pair[1]) {
            return Err(ParameterError::new(format!(
                "opportunities are in order, but {} ms follows {} ms",
                pair[1], pair[0]
            )));
        }
        let opportunities = opportunities_ms.iter().map(|at| u64::from(*at) * MILLISECOND_NS).collect();
        Ok(Self { opportunities, origin: Instant::default(), next: (0, 0), last: Instant::default(), left: 0 })
    }

    fn period(&self) -> u64 {
        self.opportunities[self.opportunities.len() - 1]
    }

    fn instant(&self, (repetition, place): (u64, usize)) -> Instant {
        let before = self.origin.as_nanos().saturating_add(repetition.saturating_mul(self.period()));
        Instant::from_nanos(before.saturating_add(self.opportunities[place]))
    }

    /// The first opportunity that is not used yet and comes after `arrival`.
    fn first_after(&self, arrival: Instant) -> (u64, usize) {
        let elapsed = arrival.as_nanos().saturating_sub(self.origin.as_nanos());
        let within = elapsed % self.period();
        self.next.max((elapsed / self.period(), self.opportunities.partition_point(|at| *at <= within)))
    }

    /// Is what is left of the last opportunity for a packet that waits since `arrival`?
    fn shares_the_last(&self, arrival: Instant) -> bool {
        self.left > 0 && arrival < self.last
    }
}

impl Transmitter for DeliveryTrace {
    fn start(&mut self, origin: Instant) {
        self.origin = origin;
    }

    fn begins(&self, _bytes: u64, arrival: Instant) -> Instant {
        if self.shares_the_last(arrival) { self.last } else { self.instant(self.first_after(arrival)) }
    }

    fn send(&mut self, bytes: u64, arrival: Instant) -> Instant {
        if !self.shares_the_last(arrival) {
            self.next = self.first_after(arrival);
            self.left = 0;
        }
        let mut unsent = bytes;
        loop {
            if self.left == 0 {
                self.last = self.instant(self.next);
                let (repetition, place) = self.next;
                let is_last = place + 1 == self.opportunities.len();
                self.next = if is_last { (repetition + 1, 0) } else { (repetition, place + 1) };
                self.left = OPPORTUNITY_BYTES;
            }
            let part = self.left.min(unsent);
            self.left -= part;
            unsent -= part;
            if unsent == 0 {
                return self.last;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dense_trace_lasts_to_the_end_of_time() {
        let mut trace = DeliveryTrace::new(&vec![1; 1 << 21]).unwrap();
        let last = Instant::from_nanos(u64::MAX);
        assert_eq!([trace.send(1500, last), trace.send(1500, last)], [last; 2]);
    }
}
