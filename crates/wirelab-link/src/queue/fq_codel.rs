//! FQ-CoDel (RFC 8290): a CoDel queue for each flow, served in turn.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroU32;

use super::codel::{Codel, Parameters};
use super::{Aqm, Waiting};
use crate::impairment::stage_exit::StageExit;
use crate::{DropCause, Instant};

/// Maximum number of packets dropped together when the queue is full (RFC 8290, section 4.1).
const DROP_BATCH: usize = 64;

/// FQ-CoDel (RFC 8290, section 4): deficit round robin over queues, new ones first, each under CoDel.
///
/// A flow's queue is its id modulo the number of queues: the caller's id is a hash already, so the hash here has no random perturbation, and two
/// flows meet in one queue on every machine or on none.
#[derive(Debug)]
pub(crate) struct FqCodel {
    parameters: Parameters,
    flows: NonZeroU32,
    quantum: i64,
    limit_packets: usize,
    packets: usize,
    queues: BTreeMap<u64, Subqueue>,
    /// Queues that have just begun to hold packets.
    new: VecDeque<u64>,
    /// Queues that have had a turn.
    old: VecDeque<u64>,
}

#[derive(Debug)]
struct Subqueue {
    codel: Codel,
    /// Bytes that may still be sent in this turn.
    deficit: i64,
    /// In one of the two lists.
    active: bool,
}

impl FqCodel {
    /// `flows` empty queues that hold `limit_packets` together.
    pub(crate) fn new(parameters: Parameters, flows: NonZeroU32, quantum: NonZeroU32, limit_packets: u32) -> Self {
        Self {
            parameters,
            flows,
            quantum: i64::from(quantum.get()),
            limit_packets: limit_packets as usize,
            packets: 0,
            queues: BTreeMap::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
        }
    }

    /// Give all old queues, none of which can pay for as much as a byte, the turns after which that is still so: with a quantum far below a packet
    /// they are many.
    fn skip_idle_turns(&mut self) {
        let turns =
            self.old.iter().filter_map(|index| self.queues.get(index)).map(|queue| -queue.deficit / self.quantum);
        let idle = turns.min().unwrap_or(0).max(0);
        for index in &self.old {
            if let Some(queue) = self.queues.get_mut(index) {
                queue.deficit += idle * self.quantum;
            }
        }
    }

    /// Drop half of the queue with the most bytes, from its head.
    fn drop_from_longest(&mut self, now: Instant, exit: &mut StageExit) {
        let longest = self.queues.iter_mut().max_by_key(|(index, queue)| (queue.codel.bytes(), Reverse(**index)));
        let Some((_, Subqueue { codel, .. })) = longest else { return };
        for _ in 0..codel.len().div_ceil(2).min(DROP_BATCH) {
            if let Some(waiting) = codel.steal() {
                self.packets -= 1;
                exit.drop(waiting.packet, now, DropCause::QueueFull);
            }
        }
    }
}

impl Aqm for FqCodel {
    fn push(&mut self, waiting: Waiting, exit: &mut StageExit) {
        let now = waiting.arrival;
        let index = waiting.packet.flow.id % u64::from(self.flows.get());
        let parameters = self.parameters;
        let queue = self.queues.entry(index).or_insert_with(|| Subqueue {
            codel: Codel::new(parameters, u64::MAX),
            deficit: 0,
            active: false,
        });
        if !queue.active {
            (queue.active, queue.deficit) = (true, self.quantum);
            self.new.push_back(index);
        }
        queue.codel.push(waiting, exit);
        self.packets += 1;
        if self.packets > self.limit_packets {
            self.drop_from_longest(now, exit);
        }
    }

    fn pop(&mut self, now: Instant, exit: &mut StageExit) -> Option<Waiting> {
        loop {
            let is_new = !self.new.is_empty();
            let index = *if is_new { self.new.front() } else { self.old.front() }?;
            if !is_new && self.queues.get(&index)?.deficit <= -self.quantum {
                self.skip_idle_turns();
            }
            let list = if is_new { &mut self.new } else { &mut self.old };
            let queue = self.queues.get_mut(&index)?;
            if queue.deficit <= 0 {
                queue.deficit += self.quantum;
                list.pop_front();
                self.old.push_back(index);
                continue;
            }
            let before = queue.codel.len();
            let popped = queue.codel.pop(now, exit);
            self.packets -= before - queue.codel.len();
            match popped {
                Some(waiting) => {
                    queue.deficit -= i64::try_from(waiting.bytes).unwrap_or(i64::MAX);
                    return Some(waiting);
                }
                None if is_new => {
                    // It must not come back as a new queue before the old ones had their turn.
                    list.pop_front();
                    self.old.push_back(index);
                }
                None => {
                    list.pop_front();
                    queue.active = false;
                }
            }
        }
    }

    fn steal(&mut self) -> Option<Waiting> {
        let stolen = self.queues.values_mut().find_map(|queue| queue.codel.steal());
        self.packets -= usize::from(stolen.is_some());
        stolen
    }

    fn len(&self) -> usize {
        self.packets
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::codel::tests::{at, drops, waiting};
    use super::*;

    const BULK: u64 = 1;
    const OTHER: u64 = 2;

    fn queue(quantum: u32, limit: u32) -> FqCodel {
        let parameters = Parameters { target: Duration::from_millis(5), interval: Duration::from_millis(100) };
        FqCodel::new(parameters, NonZeroU32::new(1024).unwrap(), NonZeroU32::new(quantum).unwrap(), limit)
    }

    fn push(queue: &mut FqCodel, sequences: std::ops::Range<u64>, flow: u64, size: u32) -> StageExit {
        let mut exit = StageExit::default();
        sequences.for_each(|sequence| queue.push(waiting(sequence, flow, size, at(0)), &mut exit));
        exit
    }

    fn pop(queue: &mut FqCodel) -> Option<u64> {
        queue.pop(at(1), &mut StageExit::default()).map(|waiting| waiting.packet.sequence)
    }

    #[test]
    fn a_sparse_flow_passes_the_backlog_of_a_bulk_flow() {
        let mut queue = queue(1514, 10_240);
        push(&mut queue, 0..50, BULK, 1000);
        assert_eq!([pop(&mut queue), pop(&mut queue), pop(&mut queue)], [Some(0), Some(1), Some(2)]);
        push(&mut queue, 100..101, OTHER, 100);
        assert_eq!([pop(&mut queue), pop(&mut queue)], [Some(100), Some(3)]);
    }

    #[test]
    fn a_flow_that_sends_more_than_a_quantum_is_no_longer_new() {
        let mut queue = queue(1000, 10_240);
        push(&mut queue, 0..10, BULK, 1000);
        push(&mut queue, 100..110, OTHER, 1000);
        let order: Vec<_> = std::iter::from_fn(|| pop(&mut queue)).collect();
        assert_eq!(order[..6], [0, 100, 1, 101, 2, 102]);
        assert_eq!((order.len(), queue.len()), (20, 0));
    }

    #[test]
    fn a_queue_that_ran_empty_waits_behind_the_old_ones_before_it_is_new_again() {
        let mut queue = queue(1000, 10_240);
        push(&mut queue, 0..10, BULK, 1000);
        assert_eq!(pop(&mut queue), Some(0));
        push(&mut queue, 100..101, OTHER, 100);
        assert_eq!(pop(&mut queue), Some(100));
        assert_eq!(pop(&mut queue), Some(1));
        push(&mut queue, 101..102, OTHER, 100);
        // The pop of packet 1 found it empty and put it behind the bulk flow's queue.
        assert_eq!([pop(&mut queue), pop(&mut queue)], [Some(101), Some(2)]);
        assert!(queue.new.is_empty());
    }

    #[test]
    fn flows_share_by_bytes_whatever_the_size_of_their_packets() {
        for quantum in [1, 300, 1514] {
            let mut queue = queue(quantum, 10_240);
            push(&mut queue, 0..1000, BULK, 1500);
            push(&mut queue, 1000..6000, OTHER, 300);
            let (mut bulk, mut other) = (0i64, 0i64);
            for _ in 0..3000 {
                match pop(&mut queue).unwrap() {
                    0..1000 => bulk += 1500,
                    _ => other += 300,
                }
                assert!((bulk - other).abs() <= 2 * (1514 + 1500), "{bulk} and {other} bytes");
            }
        }
    }

    #[test]
    fn turns_of_a_byte_end_also_with_the_largest_packets() {
        let mut queue = queue(1, 10_240);
        push(&mut queue, 0..100, BULK, u32::MAX);
        push(&mut queue, 100..200, OTHER, u32::MAX);
        let order: Vec<_> = std::iter::from_fn(|| pop(&mut queue)).collect();
        assert!(order.iter().copied().eq((0..100).flat_map(|nth| [nth, 100 + nth])));
    }

    #[test]
    fn beyond_the_bound_half_of_the_longest_queue_is_dropped_from_its_head() {
        let mut queue = queue(1514, 10);
        push(&mut queue, 0..3, OTHER, 100);
        assert!(drops(&mut push(&mut queue, 10..17, BULK, 1000)).is_empty());
        let full = |sequence| (sequence, 0, DropCause::QueueFull);
        assert_eq!(drops(&mut push(&mut queue, 20..21, OTHER, 100)), [10, 11, 12, 13].map(full));
        assert_eq!(queue.len(), 7);
    }

    #[test]
    fn at_most_sixty_four_packets_are_dropped_together() {
        let mut queue = queue(1514, 200);
        assert_eq!(drops(&mut push(&mut queue, 0..201, BULK, 100)).len(), 64);
        assert_eq!(queue.len(), 137);
    }

    #[test]
    fn each_queue_has_a_separate_codel() {
        let mut queue = queue(1514, 10_240);
        push(&mut queue, 0..500, BULK, 1000);
        let mut exit = StageExit::default();
        for now in 1..400 {
            queue.push(waiting(1000 + now, OTHER, 100, at(now)), &mut exit);
            queue.pop(at(now), &mut exit);
            queue.pop(at(now), &mut exit);
        }
        let dropped = drops(&mut exit);
        assert!(
            dropped.len() >= 4
                && dropped.iter().all(|(sequence, _, cause)| *sequence < 500 && *cause == DropCause::Aqm)
        );
        assert_eq!(queue.len(), 500 + 399 - 2 * 399 - dropped.len());
    }

    #[test]
    fn flows_meet_in_a_queue_when_their_ids_agree_modulo_the_number_of_queues() {
        let mut queue = queue(1000, 10_240);
        push(&mut queue, 0..3, BULK, 1000);
        push(&mut queue, 3..6, BULK + 1024, 1000);
        push(&mut queue, 6..7, OTHER, 1000);
        assert_eq!([pop(&mut queue), pop(&mut queue), pop(&mut queue)], [Some(0), Some(6), Some(1)]);
        assert_eq!(queue.queues.len(), 2);
    }
}
