//! A set of integers as disjoint half-open ranges.

use std::collections::BTreeMap;

/// A set of integers as disjoint half-open ranges.
#[derive(Debug, Default)]
pub(crate) struct Ranges(BTreeMap<i64, i64>);

impl Ranges {
    /// Add `start..end`; nothing if it is empty.
    pub(crate) fn insert(&mut self, mut start: i64, mut end: i64) {
        if start >= end {
            return;
        }
        while let Some((before, until)) = self.0.range(..=end).next_back().map(|(before, until)| (*before, *until)) {
            if until < start {
                break;
            }
            self.0.remove(&before);
            (start, end) = (start.min(before), end.max(until));
        }
        self.0.insert(start, end);
    }

    /// How many integers of `start..end` are in the set.
    pub(crate) fn count(&self, start: i64, end: i64) -> i64 {
        let overlapping = self.0.range(..end).rev().take_while(|(_, until)| **until > start);
        overlapping.map(|(from, until)| (*until).min(end) - (*from).max(start)).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn it_counts_as_a_set_does(inserts in prop::collection::vec((-20..20i64, -20..20i64), 0..20), start in -25..25i64, length in 0..30i64) {
            let end = start + length;
            let (mut ranges, mut set) = (Ranges::default(), BTreeSet::new());
            for (from, until) in inserts {
                ranges.insert(from, until);
                set.extend(from..until);
            }
            prop_assert_eq!(ranges.count(start, end), (start..end).filter(|value| set.contains(value)).count() as i64);
            let edges: Vec<_> = ranges.0.iter().flat_map(|(from, until)| [*from, *until]).collect();
            prop_assert!(edges.windows(2).all(|pair| pair[0] < pair[1]), "adjacent ranges are one");
        }
    }
}
