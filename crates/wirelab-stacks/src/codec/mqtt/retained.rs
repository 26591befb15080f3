//! Retained messages of the broker. It is not written to disk.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::packet::{Message, Qos};
use super::topics;

/// The last message of each topic whose publisher asked for that (section 3.3.1.3).
#[derive(Debug, Default)]
pub struct Retained {
    messages: BTreeMap<String, Kept>,
}

/// A retained message.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The message.
    pub message: Arc<Message>,
    /// The quality of service with which it was published.
    pub qos: Qos,
    /// When it is not to be given any more.
    pub expires_ns: Option<u64>,
}

impl Retained {
    /// Keeps a message in the place of the topic's last one; an empty payload leaves none. False if there are `most` topics already.
    pub fn put(&mut self, kept: Kept, most: usize) -> bool {
        let topic = &kept.message.topic;
        if kept.message.payload.is_empty() {
            self.messages.remove(topic);
        } else if self.messages.len() < most || self.messages.contains_key(topic) {
            self.messages.insert(topic.clone(), kept);
        } else {
            return false;
        }
        true
    }

    /// Those whose topic the filter matches, in the order of their topics.
    pub fn matching(&mut self, filter: &str, now_ns: u64) -> Vec<Kept> {
        self.messages.retain(|_, kept| kept.expires_ns.is_none_or(|expires_ns| expires_ns > now_ns));
        let matching = self.messages.iter().filter(|(topic, _)| topics::matches(filter, topic));
        matching.map(|(_, kept)| kept.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(topic: &str, payload: &'static str, expires_ns: Option<u64>) -> Kept {
        Kept { message: Message::new(topic, payload), qos: Qos::AtMostOnce, expires_ns }
    }

    fn topics(retained: &mut Retained, filter: &str, now_ns: u64) -> Vec<String> {
        retained.matching(filter, now_ns).into_iter().map(|kept| kept.message.topic.clone()).collect()
    }

    #[test]
    fn the_last_message_of_a_topic_stays_until_an_empty_one_or_its_expiry() {
        let mut retained = Retained::default();
        for (topic, payload, expires_ns) in
            [("a", "1", None), ("a", "2", None), ("b", "3", Some(10)), ("$c", "4", None)]
        {
            assert!(retained.put(kept(topic, payload, expires_ns), 3));
        }
        assert_eq!(retained.matching("a", 0)[0].message.payload, "2");
        assert_eq!(topics(&mut retained, "#", 9), ["a", "b"]);
        assert!(!retained.put(kept("d", "5", None), 3), "no room");
        assert_eq!(topics(&mut retained, "+", 10), ["a"]);
        assert!(retained.put(kept("a", "", None), 3));
        assert_eq!(topics(&mut retained, "#", 10), [""; 0]);
        assert_eq!(topics(&mut retained, "$c", 10), ["$c"]);
    }
}
