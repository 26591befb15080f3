//! Topic names and filters (section 4.7), and who subscribed to what. It keeps no message.

use std::collections::BTreeMap;

use super::Reason;
use super::packet::SubscriptionOptions;
use super::session::SessionId;

/// The longest topic: its length is said in 16 bits.
const MAX_BYTES: usize = 65_535;
/// Filters of more levels are refused, since each is a step of a recursion.
const MAX_LEVELS: usize = 128;

/// Refuses what is no topic name: empty, or with a wildcard.
pub fn check_name(name: &str) -> Result<(), Reason> {
    let right = !name.is_empty() && name.len() <= MAX_BYTES && !name.contains(['+', '#', '\0']);
    if right { Ok(()) } else { Err(Reason::TOPIC_NAME) }
}

/// Refuses what is no topic filter: `+` stands for a whole level, `#` for all that follow and so is the last.
pub fn check_filter(filter: &str) -> Result<(), Reason> {
    if filter.is_empty() || filter.len() > MAX_BYTES || filter.contains('\0') {
        return Err(Reason::TOPIC_FILTER);
    }
    let levels = filter.split('/').count();
    let wrong = levels > MAX_LEVELS
        || filter.split('/').enumerate().any(|(position, level)| match level {
            "#" => position + 1 != levels,
            "+" => false,
            level => level.contains(['+', '#']),
        });
    if wrong { Err(Reason::TOPIC_FILTER) } else { Ok(()) }
}

/// Whether a filter matches a topic name, both of them valid. A filter that begins with a wildcard does not match a name that begins with `$`
/// (section 4.7.2).
pub fn matches(filter: &str, name: &str) -> bool {
    if name.starts_with('$') && filter.starts_with(['+', '#']) {
        return false;
    }
    let (mut filters, mut names) = (filter.split('/'), name.split('/'));
    loop {
        match (filters.next(), names.next()) {
            (Some("#"), _) => return true,
            (Some("+"), Some(_)) => {}
            (Some(level), Some(name)) if level == name => {}
            (None, None) => return true,
            _ => return false,
        }
    }
}

/// A subscription of a session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Subscription {
    /// As the client wants it.
    pub options: SubscriptionOptions,
    /// Subscription Identifier.
    pub identifier: Option<u32>,
}

/// All subscriptions, as a tree of the filters' levels.
#[derive(Debug, Default)]
pub struct Subscriptions {
    root: Level,
}

#[derive(Debug, Default)]
struct Level {
    below: BTreeMap<String, Level>,
    here: BTreeMap<SessionId, Subscription>,
}

impl Subscriptions {
    /// Adds a subscription, or replaces the session's with the same filter: then false.
    pub fn insert(&mut self, filter: &str, session: SessionId, subscription: Subscription) -> bool {
        let mut level = &mut self.root;
        for name in filter.split('/') {
            level = level.below.entry(name.to_owned()).or_default();
        }
        level.here.insert(session, subscription).is_none()
    }

    /// Removes one; false if there was none.
    pub fn remove(&mut self, filter: &str, session: SessionId) -> bool {
        let levels: Vec<&str> = filter.split('/').collect();
        self.root.remove(&levels, session)
    }

    /// Everyone who is to have a message on this topic, each once for every filter that matches.
    pub fn matching(&self, name: &str) -> Vec<(SessionId, Subscription)> {
        let levels: Vec<&str> = name.split('/').collect();
        let mut found = Vec::new();
        self.root.collect(&levels, !name.starts_with('$'), &mut found);
        found
    }

    /// True if nobody subscribes to anything.
    pub fn is_empty(&self) -> bool {
        self.root.is_empty()
    }
}

impl Level {
    fn is_empty(&self) -> bool {
        self.below.is_empty() && self.here.is_empty()
    }

    fn remove(&mut self, levels: &[&str], session: SessionId) -> bool {
        let Some((name, rest)) = levels.split_first() else { return self.here.remove(&session).is_some() };
        let Some(level) = self.below.get_mut(*name) else { return false };
        let removed = level.remove(rest, session);
        if level.is_empty() {
            self.below.remove(*name);
        }
        removed
    }

    fn collect(&self, levels: &[&str], wildcards: bool, found: &mut Vec<(SessionId, Subscription)>) {
        let take = |level: &Level, found: &mut Vec<_>| {
            found.extend(level.here.iter().map(|(session, subscription)| (*session, *subscription)));
        };
        // `sport/#` also matches `sport`.
        if let Some(level) = self.below.get("#").filter(|_| wildcards) {
            take(level, found);
        }
        let Some((name, rest)) = levels.split_first() else {
            take(self, found);
            return;
        };
        if let Some(level) = self.below.get(*name) {
            level.collect(rest, true, found);
        }
        if let Some(level) = self.below.get("+").filter(|_| wildcards) {
            level.collect(rest, true, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::mqtt::Qos;

    /// Filter, name, whether it matches: the examples of section 4.7.
    const EXAMPLES: &[(&str, &str, bool)] = &[
        ("sport/tennis/player1/#", "sport/tennis/player1", true),
        ("sport/tennis/player1/#", "sport/tennis/player1/ranking", true),
        ("sport/tennis/player1/#", "sport/tennis/player1/score/wimbledon", true),
        ("sport/#", "sport", true),
        ("#", "sport/tennis", true),
        ("sport/tennis/+", "sport/tennis/player1", true),
        ("sport/tennis/+", "sport/tennis/player1/ranking", false),
        ("sport/+", "sport", false),
        ("sport/+", "sport/", true),
        ("+", "/finance", false),
        ("+/+", "/finance", true),
        ("/+", "/finance", true),
        ("+/tennis/#", "sport/tennis/x", true),
        ("sport/+/player1", "sport/tennis/player1", true),
        ("#", "$SYS/uptime", false),
        ("+/monitor/Clients", "$SYS/monitor/Clients", false),
        ("$SYS/#", "$SYS/uptime", true),
        ("$SYS/monitor/+", "$SYS/monitor/Clients", true),
        ("a/$b/+", "a/$b/c", true),
        ("a/+", "a/$b", true),
        ("ACCOUNTS", "Accounts", false),
        ("/a", "a", false),
    ];

    fn subscription() -> Subscription {
        Subscription { options: SubscriptionOptions::new(Qos::AtMostOnce), identifier: None }
    }

    #[test]
    fn filters_match_as_the_standards_examples_do() {
        for (filter, name, expected) in EXAMPLES {
            assert_eq!(matches(filter, name), *expected, "{filter} {name}");
        }
    }

    #[test]
    fn the_tree_finds_what_matching_one_filter_finds() {
        let mut subscriptions = Subscriptions::default();
        for (session, (filter, ..)) in EXAMPLES.iter().enumerate() {
            subscriptions.insert(filter, SessionId(session as u64), subscription());
        }
        for (_, name, _) in EXAMPLES {
            let mut found: Vec<u64> = subscriptions.matching(name).into_iter().map(|(session, _)| session.0).collect();
            found.sort_unstable();
            let expected: Vec<u64> =
                (0..).zip(EXAMPLES).filter(|(_, (filter, ..))| matches(filter, name)).map(|(index, _)| index).collect();
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn removing_every_subscription_leaves_an_empty_tree() {
        let mut subscriptions = Subscriptions::default();
        for (filter, ..) in EXAMPLES {
            subscriptions.insert(filter, SessionId(1), subscription());
        }
        assert!(!subscriptions.insert("sport/#", SessionId(1), subscription()), "replaced");
        for (filter, ..) in EXAMPLES {
            subscriptions.remove(filter, SessionId(1));
        }
        assert!(subscriptions.is_empty());
        assert!(!subscriptions.remove("sport/#", SessionId(1)));
    }

    #[test]
    fn names_and_filters_that_are_none_are_refused() {
        for filter in ["", "sport/tennis#", "sport/tennis/#/ranking", "sport+", "+a", "a/b+/c", "\0", &"a/".repeat(128)]
        {
            assert_eq!(check_filter(filter), Err(Reason::TOPIC_FILTER), "{filter}");
        }
        for filter in ["#", "+", "/", "a//b", "+/+/#", "$share"] {
            assert_eq!(check_filter(filter), Ok(()), "{filter}");
        }
        for name in ["", "a/+", "#", "a\0"] {
            assert_eq!(check_name(name), Err(Reason::TOPIC_NAME), "{name}");
        }
        assert_eq!(check_name("/"), Ok(()));
    }
}
