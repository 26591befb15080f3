//! The messages that a client keeps until they are sent, and when it tries again. Pure: no clock, no I/O.

use std::collections::VecDeque;

use rand_chacha::ChaCha8Rng;
use wirelab_schema::{ArrivalSpec, Exchange, Extension, Outcome, RequestExtension, RequestResponse, Retry};

use super::schedule::uniform;
use crate::base::payload::{Draw, generator_of};

/// A message that is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Position among those of its client.
    pub index: u32,
    /// When it was due (ns).
    pub produced_ns: u64,
    /// When nothing older was left to be sent. The client knows it at the first attempt.
    pub place_ns: Option<u64>,
    /// Attempts so far.
    pub attempts: u32,
    /// The row of the last one.
    pub last: Option<Exchange>,
}

impl Message {
    /// Its row when it is given up: that of its last attempt, with another end.
    fn given_up(self, client: u32, at_ns: u64, outcome: Outcome, why: String) -> Exchange {
        let unsent = Exchange { index: self.index, client, start_ns: at_ns, end_ns: at_ns, ..Exchange::default() };
        let mut row = self.last.unwrap_or(unsent);
        row.intended_start_ns = self.produced_ns;
        row.end_ns = row.end_ns.max(at_ns);
        (row.outcome, row.error) = (outcome, Some(why));
        row.extension = match row.extension {
            Extension::Request(columns) => Extension::Request(RequestExtension {
                place_ns: self.place_ns,
                attempts: Some(self.attempts),
                ..columns
            }),
            other => other,
        };
        row
    }
}

/// The messages of one client, oldest first, and its back-off.
///
/// A row that a method returns is of a message that is given up.
pub struct Backlog {
    retry: Retry,
    client: u32,
    draws: ChaCha8Rng,
    waiting: VecDeque<Message>,
    /// Attempts that failed one after another.
    failures: u32,
    /// When the back-off ends (ns); none after an attempt that did not fail.
    again_ns: Option<u64>,
}

impl Backlog {
    /// That of one of several clients, without messages.
    pub fn new(retry: Retry, seed: u64, client: u32) -> Self {
        let draws = generator_of(seed, Draw::Retry, client);
        Backlog { retry, client, draws, waiting: VecDeque::new(), failures: 0, again_ns: None }
    }

    /// One more message; a full backlog drops its oldest.
    pub fn push(&mut self, index: u32, produced_ns: u64) -> Option<Exchange> {
        self.waiting.push_back(Message { index, produced_ns, place_ns: None, attempts: 0, last: None });
        self.drop_oldest(produced_ns)
    }

    /// The oldest message, for an attempt, unless it is too early for one.
    pub fn take(&mut self, now_ns: u64) -> Option<Message> {
        if self.again_ns.is_some_and(|again_ns| now_ns < again_ns) {
            return None;
        }
        let mut message = self.waiting.pop_front()?;
        message.attempts += 1;
        Some(message)
    }

    /// The message that was taken needs no further attempt.
    pub fn ended(&mut self) {
        (self.failures, self.again_ns) = (0, None);
    }

    /// The message that was taken has failed: it is the oldest again, and the back-off begins.
    pub fn failed(&mut self, message: Message, now_ns: u64) -> Option<Exchange> {
        let back_off_ns = self.back_off_ns(&message);
        self.again_ns = Some(now_ns.saturating_add(back_off_ns));
        self.failures = self.failures.saturating_add(1);
        self.waiting.push_front(message);
        self.too_old(now_ns).or_else(|| self.drop_oldest(now_ns))
    }

    /// Gives up a message that has been kept for too long, if there is one.
    pub fn too_old(&mut self, now_ns: u64) -> Option<Exchange> {
        let until_ns = self.oldest_until_ns().filter(|until_ns| *until_ns <= now_ns)?;
        let why = format!("kept for {}", in_units(self.retry.keep_ns));
        self.give_up(until_ns, why)
    }

    /// Gives up a message at the end of the trial, if there is one.
    pub fn left_over(&mut self, now_ns: u64) -> Option<Exchange> {
        self.give_up(now_ns, "kept until the end of the trial".to_owned())
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// When there is something to be done, if nothing is produced before: now, if the answer is in the past.
    pub fn next_ns(&self) -> Option<u64> {
        let until_ns = self.oldest_until_ns()?;
        Some(until_ns.min(self.again_ns.unwrap_or(0)))
    }

    fn oldest_until_ns(&self) -> Option<u64> {
        self.waiting.front().map(|oldest| oldest.produced_ns.saturating_add(self.retry.keep_ns))
    }

    fn give_up(&mut self, at_ns: u64, why: String) -> Option<Exchange> {
        self.waiting.pop_front().map(|oldest| oldest.given_up(self.client, at_ns, Outcome::TimedOut, why))
    }

    fn drop_oldest(&mut self, at_ns: u64) -> Option<Exchange> {
        if self.waiting.len() <= self.retry.backlog as usize {
            return None;
        }
        let why = format!("dropped: the backlog holds {} messages", self.retry.backlog);
        self.waiting.pop_front().map(|oldest| oldest.given_up(self.client, at_ns, Outcome::Failed, why))
    }

    /// How long to wait after an attempt. Its draw belongs to the attempt: one more failure shifts none of another message.
    fn back_off_ns(&mut self, message: &Message) -> u64 {
        let factor = f64::from(self.retry.factor_percent) / 100.0;
        let exponent = i32::try_from(self.failures).unwrap_or(i32::MAX);
        let mean_ns = (self.retry.first_ns as f64 * factor.powi(exponent)).min(self.retry.longest_ns as f64);
        // A draw takes two words.
        self.draws.set_word_pos(2 * (u128::from(message.index) << 32 | u128::from(message.attempts)));
        let off = (uniform(&mut self.draws) - 0.5) * f64::from(self.retry.jitter_percent) / 100.0;
        ((mean_ns * (1.0 + off)) as u64).max(1)
    }
}

/// Refuses values that make no sense.
pub fn check(retry: &Retry, work: &RequestResponse) -> Result<(), String> {
    let Retry { first_ns, factor_percent, longest_ns, jitter_percent, keep_ns, backlog } = *retry;
    let wrong = [
        (
            matches!(work.arrival, ArrivalSpec::Closed | ArrivalSpec::IdleStart { .. }),
            "goes with an open loop alone".to_owned(),
        ),
        (work.concurrency != 1, format!("sends one message at a time, and `concurrency` is {}", work.concurrency)),
        (first_ns == 0, "`first_ns` is 0, less than 1".to_owned()),
        (factor_percent < 100, format!("`factor_percent` is {factor_percent}, less than 100")),
        (longest_ns < first_ns, format!("`longest_ns` is {longest_ns}, less than the first of {first_ns}")),
        (jitter_percent > 100, format!("`jitter_percent` is {jitter_percent}, more than 100")),
        (keep_ns < work.timeout_ns, format!("`keep_ns` is {keep_ns}, less than the time-out of {}", work.timeout_ns)),
        (backlog == 0, "`backlog` is 0, less than 1".to_owned()),
    ];
    wrong.into_iter().find(|(is_wrong, _)| *is_wrong).map_or(Ok(()), |(_, why)| Err(format!("`retry`: {why}")))
}

/// A duration in the largest unit of which it is a whole number.
fn in_units(nanoseconds: u64) -> String {
    const UNITS: [(&str, u64); 6] = [
        ("h", 3_600_000_000_000),
        ("min", 60_000_000_000),
        ("s", 1_000_000_000),
        ("ms", 1_000_000),
        ("us", 1_000),
        ("ns", 1),
    ];
    let whole = UNITS.iter().find(|(_, unit_ns)| nanoseconds.is_multiple_of(*unit_ns));
    whole.map_or_else(String::new, |(unit, unit_ns)| format!("{} {unit}", nanoseconds / unit_ns))
}

#[cfg(test)]
mod tests;
