//! A first-in first-out queue with a bound.

use std::collections::VecDeque;

use super::Limit;

/// A first-in first-out queue bounded in bytes, packets or both: what does not fit behind the last is refused. It holds whatever a stage keeps of
/// a packet.
#[derive(Debug)]
pub(crate) struct DropTail<T> {
    limit: Limit,
    queued_bytes: u64,
    items: VecDeque<(u64, T)>,
}

impl<T> DropTail<T> {
    /// An empty queue.
    pub(crate) const fn new(limit: Limit) -> Self {
        Self { limit, queued_bytes: 0, items: VecDeque::new() }
    }

    /// Append an item of `bytes`, or give it back if there is no room for all of it.
    pub(crate) fn push(&mut self, bytes: u64, item: T) -> Result<(), T> {
        let total = self
            .queued_bytes
            .checked_add(bytes)
            .filter(|total| self.limit.bytes.is_none_or(|maximum| *total <= maximum));
        match total {
            Some(total) if self.limit.packets.is_none_or(|maximum| self.items.len() < maximum as usize) => {
                self.queued_bytes = total;
                self.items.push_back((bytes, item));
                Ok(())
            }
            _ => Err(item),
        }
    }

    /// Take the first item.
    pub(crate) fn pop(&mut self) -> Option<T> {
        let (bytes, item) = self.items.pop_front()?;
        self.queued_bytes -= bytes;
        Some(item)
    }

    /// Look at the first item.
    pub(crate) fn front(&self) -> Option<&T> {
        self.items.front().map(|(_, item)| item)
    }

    /// How many bytes wait.
    pub(crate) const fn bytes(&self) -> u64 {
        self.queued_bytes
    }

    /// How many items wait.
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// True if none waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_given_back_and_what_fits_exactly_is_kept() {
        let mut queue = DropTail::new(Limit::bytes(100));
        assert_eq!(queue.push(60, 'a'), Ok(()));
        assert_eq!(queue.push(41, 'b'), Err('b'));
        assert_eq!(queue.push(40, 'c'), Ok(()));
        assert_eq!(queue.push(1, 'd'), Err('d'));
        assert_eq!(queue.pop(), Some('a'));
        assert_eq!(queue.push(60, 'e'), Ok(()));
        assert_eq!((queue.front(), queue.len(), queue.bytes()), (Some(&'c'), 2, 100));
    }

    #[test]
    fn the_bounds_in_packets_and_in_bytes_both_apply() {
        let mut queue = DropTail::new(Limit { bytes: Some(100), packets: Some(2) });
        assert_eq!(queue.push(101, 'a'), Err('a'));
        assert_eq!(queue.push(1, 'b'), Ok(()));
        assert_eq!(queue.push(1, 'c'), Ok(()));
        assert_eq!(queue.push(0, 'd'), Err('d'));
        assert_eq!(queue.pop(), Some('b'));
        assert_eq!(queue.push(1, 'e'), Ok(()));
    }

    #[test]
    fn a_queue_without_room_refuses_everything_but_the_empty() {
        let mut queue = DropTail::new(Limit::bytes(0));
        assert_eq!(queue.push(1, 'a'), Err('a'));
        assert_eq!(queue.push(u64::MAX, 'b'), Err('b'));
        assert!(queue.is_empty());
    }
}
