//! CoDel (RFC 8289). It does not separate flows: see `fq_codel`.

use std::time::Duration;

use super::{Aqm, DropTail, Limit, Waiting};
use crate::impairment::stage_exit::StageExit;
use crate::{DropCause, Instant};

/// RFC 8289's `maxpacket`, "should use interface MTU": a packet that leaves no more than this behind it is never dropped, whatever its delay, so
/// that a slow rate does not run dry.
const MAXPACKET: u64 = 1500;

/// The parameters of CoDel, by their names in RFC 8289.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameters {
    /// TARGET: acceptable standing delay (section 4.3; 5 ms on the internet).
    pub(crate) target: Duration,
    /// INTERVAL: for how long the delay must have been above TARGET (section 4.3; 100 ms on the internet).
    pub(crate) interval: Duration,
}

/// A queue under CoDel: the pseudocode of RFC 8289, section 5, with its variables.
#[derive(Debug)]
pub(crate) struct Codel {
    parameters: Parameters,
    queue: DropTail<Waiting>,
    /// When the sojourn time will have been above TARGET for INTERVAL; `None` (0 in the RFC) while it is not.
    first_above_time: Option<Instant>,
    drop_next: Instant,
    count: u64,
    lastcount: u64,
    dropping: bool,
}

impl Codel {
    /// An empty queue for `limit_bytes`.
    pub(crate) fn new(parameters: Parameters, limit_bytes: u64) -> Self {
        Self {
            parameters,
            queue: DropTail::new(Limit::bytes(limit_bytes)),
            first_above_time: None,
            drop_next: Instant::default(),
            count: 0,
            lastcount: 0,
            dropping: false,
        }
    }

    /// How many bytes wait.
    pub(super) fn bytes(&self) -> u64 {
        self.queue.bytes()
    }

    /// The RFC's `dodequeue`: the first packet, and `ok_to_drop`.
    fn take(&mut self, now: Instant) -> (Option<Waiting>, bool) {
        let Some(waiting) = self.queue.pop() else {
            self.first_above_time = None;
            return (None, false);
        };
        let sojourn = now.saturating_since(waiting.arrival);
        let ok_to_drop = if sojourn < self.parameters.target || self.queue.bytes() <= MAXPACKET {
            self.first_above_time = None;
            false
        } else {
            *self.first_above_time.get_or_insert(now + self.parameters.interval) <= now
        };
        (Some(waiting), ok_to_drop)
    }

    fn control_law(&self, from: Instant) -> Instant {
        let interval = self.parameters.interval.as_nanos() as f64;
        from + Duration::from_nanos((interval / (self.count as f64).sqrt()).round() as u64)
    }
}

impl Aqm for Codel {
    fn push(&mut self, waiting: Waiting, exit: &mut StageExit) {
        let arrival = waiting.arrival;
        if let Err(refused) = self.queue.push(waiting.bytes, waiting) {
            exit.drop(refused.packet, arrival, DropCause::QueueFull);
        }
    }

    fn pop(&mut self, now: Instant, exit: &mut StageExit) -> Option<Waiting> {
        let mut discard = |waiting: Option<Waiting>| {
            waiting.into_iter().for_each(|waiting| exit.drop(waiting.packet, now, DropCause::Aqm));
        };
        let (mut waiting, ok_to_drop) = self.take(now);
        if self.dropping {
            self.dropping = ok_to_drop;
            while self.dropping && now >= self.drop_next {
                discard(waiting);
                self.count += 1;
                (waiting, self.dropping) = self.take(now);
                if self.dropping {
                    self.drop_next = self.control_law(self.drop_next);
                }
            }
        } else if ok_to_drop {
            discard(waiting);
            (waiting, _) = self.take(now);
            self.dropping = true;
            let delta = self.count - self.lastcount;
            let recently = now.saturating_since(self.drop_next) < self.parameters.interval * 16;
            self.count = if delta > 1 && recently { delta } else { 1 };
            self.drop_next = self.control_law(now);
            self.lastcount = self.count;
        }
        waiting
    }

    fn steal(&mut self) -> Option<Waiting> {
        self.queue.pop()
    }

    fn len(&self) -> usize {
        self.queue.len()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::{Flow, Packet, PortId};

    pub(in crate::queue) fn at(milliseconds: u64) -> Instant {
        Instant::from_nanos(milliseconds * 1_000_000)
    }

    pub(in crate::queue) fn waiting(sequence: u64, flow: u64, size: u32, arrival: Instant) -> Waiting {
        let packet = Packet::new(sequence, PortId(0), size, arrival, Flow { id: flow, ..Flow::default() });
        Waiting { packet, bytes: u64::from(size), arrival }
    }

    /// Sequences of what was dropped since the last call, with milliseconds and causes.
    pub(in crate::queue) fn drops(exit: &mut StageExit) -> Vec<(u64, u64, DropCause)> {
        std::iter::from_fn(|| exit.poll_dropped())
            .map(|drop| (drop.packet.sequence, drop.at.as_nanos() / 1_000_000, drop.cause))
            .collect()
    }

    fn internet() -> Codel {
        Codel::new(Parameters { target: Duration::from_millis(5), interval: Duration::from_millis(100) }, u64::MAX)
    }

    /// One packet is taken each millisecond from a queue filled at 0.
    fn drop_times(codel: &mut Codel, milliseconds: std::ops::Range<u64>) -> Vec<u64> {
        let mut exit = StageExit::default();
        milliseconds.for_each(|now| assert!(codel.pop(at(now), &mut exit).is_some()));
        drops(&mut exit).into_iter().map(|(_, at, _)| at).collect()
    }

    fn fill(codel: &mut Codel, packets: u64, now: u64) {
        (0..packets).for_each(|sequence| codel.push(waiting(sequence, 0, 1000, at(now)), &mut StageExit::default()));
    }

    #[test]
    fn drops_begin_an_interval_after_the_target_was_passed_and_come_at_interval_over_the_square_root_of_count() {
        let mut codel = internet();
        fill(&mut codel, 1000, 0);
        // Above TARGET from 5 ms on. Then 105 + 100, + 100/sqrt(2) = 275.71, + 100/sqrt(3) = 333.45, + 50 = 383.45, + 100/sqrt(5) = 428.17.
        assert_eq!(drop_times(&mut codel, 1..430), [105, 205, 276, 334, 384, 429]);
    }

    #[test]
    fn a_packet_is_dropped_from_the_head_and_the_next_is_sent() {
        let mut codel = internet();
        let mut exit = StageExit::default();
        fill(&mut codel, 10, 0);
        assert_eq!(codel.pop(at(5), &mut exit).map(|waiting| waiting.packet.sequence), Some(0));
        assert_eq!(codel.pop(at(104), &mut exit).map(|waiting| waiting.packet.sequence), Some(1));
        assert_eq!(codel.pop(at(105), &mut exit).map(|waiting| waiting.packet.sequence), Some(3));
        assert_eq!(drops(&mut exit), [(2, 105, DropCause::Aqm)]);
    }

    #[test]
    fn a_delay_that_falls_below_the_target_within_the_interval_is_forgiven() {
        let mut codel = internet();
        fill(&mut codel, 60, 0);
        assert!(drop_times(&mut codel, 1..60).is_empty());
        assert_eq!(codel.len(), 1);
        fill(&mut codel, 1, 60);
        assert!(drop_times(&mut codel, 60..61).is_empty());
        fill(&mut codel, 60, 62);
        assert!(drop_times(&mut codel, 63..123).is_empty());
    }

    #[test]
    fn a_packet_that_leaves_less_than_an_mtu_behind_it_is_never_dropped() {
        let mut codel = internet();
        for now in 0..50 {
            fill(&mut codel, 2, now * 1000);
            assert!(drop_times(&mut codel, now * 1000 + 900..now * 1000 + 902).is_empty());
        }
    }

    #[test]
    fn a_late_pop_makes_up_for_the_drops_that_were_due() {
        let mut codel = internet();
        fill(&mut codel, 100, 0);
        assert!(drop_times(&mut codel, 5..6).is_empty());
        assert_eq!(drop_times(&mut codel, 105..106), [105]);
        // Due at 205, 275.71, 333.45 and 383.45.
        assert_eq!(drop_times(&mut codel, 400..401), [400; 4]);
        assert_eq!(codel.count, 5);
    }

    #[test]
    fn a_queue_that_fills_again_soon_is_dropped_from_at_the_rate_that_worked() {
        let again_after = |pause: u64| {
            let begins = 432 + pause;
            let mut codel = internet();
            fill(&mut codel, 437, 0);
            assert_eq!(drop_times(&mut codel, 1..432).len(), 6);
            assert_eq!((codel.len(), codel.count), (0, 6));
            fill(&mut codel, 500, begins);
            drop_times(&mut codel, begins..begins + 250).iter().map(|drop| drop - begins).collect::<Vec<_>>()
        };
        // Six drops, the first of which was the start: delta is 5. The last was due at 428.17, the next at 468.99.
        assert_eq!(again_after(1000), [105, 150, 191, 229]);
        assert_eq!(again_after(2000), [105, 205]);
    }

    #[test]
    fn an_arrival_beyond_the_bound_is_dropped_and_not_counted_by_codel() {
        let mut codel = Codel::new(internet().parameters, 2000);
        let mut exit = StageExit::default();
        (0..3).for_each(|sequence| codel.push(waiting(sequence, 0, 1000, at(7)), &mut exit));
        assert_eq!(drops(&mut exit), [(2, 7, DropCause::QueueFull)]);
        assert_eq!((codel.len(), codel.bytes(), codel.count), (2, 2000, 0));
    }
}
