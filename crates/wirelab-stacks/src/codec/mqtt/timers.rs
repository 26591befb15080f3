//! Deadlines, at most one for each thing. It reads no clock.

use std::collections::BTreeSet;

/// Deadlines of things that have one each at most. A thing whose deadline moves away keeps its place until that is reached, and is then asked again,
/// so that a keep-alive costs nothing on each packet.
#[derive(Debug)]
pub struct Timers<T> {
    deadlines: BTreeSet<(u64, T)>,
}

impl<T> Default for Timers<T> {
    fn default() -> Self {
        Timers { deadlines: BTreeSet::new() }
    }
}

impl<T: Copy + Ord> Timers<T> {
    /// Has `thing` looked at when `at_ns` has come.
    pub fn set(&mut self, at_ns: u64, thing: T) {
        self.deadlines.insert((at_ns, thing));
    }

    /// The earliest instant at which something is to be looked at.
    pub fn next_ns(&self) -> Option<u64> {
        self.deadlines.first().map(|(at_ns, _)| *at_ns)
    }

    /// Something to be looked at by now.
    pub fn take_due(&mut self, now_ns: u64) -> Option<T> {
        self.next_ns().filter(|at_ns| *at_ns <= now_ns)?;
        self.deadlines.pop_first().map(|(_, thing)| thing)
    }
}
