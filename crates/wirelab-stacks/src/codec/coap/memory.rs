//! Message IDs to one peer, and messages from it, remembered for their lifetime. It sends nothing.

use std::collections::{HashMap, VecDeque};

/// Message IDs for messages to one peer: in turn from a random first one, none again within its lifetime (RFC 7252, section 4.4).
pub struct MessageIds {
    next: u16,
    /// Until when the last ones taken are busy, oldest first.
    busy_until_ns: VecDeque<u64>,
}

impl MessageIds {
    /// All 65,536.
    pub fn new(first: u16) -> Self {
        MessageIds { next: first, busy_until_ns: VecDeque::new() }
    }

    /// The next one, busy for `lifetime_ns` from now; `None` while all are.
    pub fn take(&mut self, now_ns: u64, lifetime_ns: u64) -> Option<u16> {
        while self.busy_until_ns.front().is_some_and(|until_ns| *until_ns <= now_ns) {
            self.busy_until_ns.pop_front();
        }
        if self.busy_until_ns.len() > usize::from(u16::MAX) {
            return None;
        }
        self.busy_until_ns.push_back(now_ns.saturating_add(lifetime_ns));
        let id = self.next;
        self.next = self.next.wrapping_add(1);
        Some(id)
    }

    /// When one gets free, if none is.
    pub fn free_at_ns(&self) -> Option<u64> {
        self.busy_until_ns.front().copied().filter(|_| self.busy_until_ns.len() > usize::from(u16::MAX))
    }
}

/// What became of a message that came from the peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing yet: a confirmable message that is being worked on.
    Pending,
    /// Nothing, for good: a non-confirmable message.
    Nothing,
    /// This acknowledgement or Reset, which every duplicate gets again.
    Bytes(Vec<u8>),
}

/// Messages that came from one peer, for as long as their IDs last (RFC 7252, section 4.5).
#[derive(Default)]
pub struct RecentMessages {
    answers: HashMap<u16, (u64, Answer)>,
    /// When each is forgotten, about in order: those of both lifetimes are in one row.
    order: VecDeque<(u64, u16)>,
}

impl RecentMessages {
    /// What became of the message with this ID, if it came before.
    pub fn get(&mut self, now_ns: u64, id: u16) -> Option<&Answer> {
        self.expire(now_ns);
        self.answers.get(&id).filter(|(until_ns, _)| *until_ns > now_ns).map(|(_, answer)| answer)
    }

    /// It came, and is remembered for `lifetime_ns`.
    pub fn insert(&mut self, now_ns: u64, lifetime_ns: u64, id: u16, answer: Answer) {
        let until_ns = now_ns.saturating_add(lifetime_ns);
        self.answers.insert(id, (until_ns, answer));
        self.order.push_back((until_ns, id));
    }

    /// It was answered so.
    pub fn answer(&mut self, id: u16, bytes: &[u8]) {
        if let Some((_, answer)) = self.answers.get_mut(&id) {
            *answer = Answer::Bytes(bytes.to_vec());
        }
    }

    /// A duplicate of it may be worked on anew.
    pub fn forget(&mut self, id: u16) {
        self.answers.remove(&id);
    }

    /// None is remembered any more.
    pub fn is_empty(&mut self, now_ns: u64) -> bool {
        self.expire(now_ns);
        self.answers.is_empty()
    }

    fn expire(&mut self, now_ns: u64) {
        while let Some((until_ns, id)) = self.order.front().copied().filter(|(until_ns, _)| *until_ns <= now_ns) {
            self.order.pop_front();
            // Unless the ID came again since.
            if self.answers.get(&id).is_some_and(|(of_answer_ns, _)| *of_answer_ns == until_ns) {
                self.answers.remove(&id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_not_reused_within_its_lifetime() {
        let mut ids = MessageIds::new(65_535);
        assert_eq!([ids.take(0, 100), ids.take(0, 100)], [Some(65_535), Some(0)]);
        for _ in 2..65_536 {
            assert!(ids.take(10, 100).is_some());
        }
        assert_eq!((ids.take(99, 100), ids.free_at_ns()), (None, Some(100)));
        assert_eq!((ids.take(100, 100), ids.free_at_ns()), (Some(65_535), None));
    }

    #[test]
    fn a_message_is_a_duplicate_until_its_lifetime_is_over() {
        let mut recent = RecentMessages::default();
        recent.insert(0, 100, 7, Answer::Pending);
        recent.answer(7, b"ack");
        assert_eq!(recent.get(99, 7), Some(&Answer::Bytes(b"ack".to_vec())));
        assert_eq!(recent.get(100, 7), None);
        recent.insert(100, 100, 7, Answer::Nothing);
        assert!(!recent.is_empty(199) && recent.is_empty(200));
    }
}
