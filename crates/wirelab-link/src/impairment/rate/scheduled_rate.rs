//! The rate of a schedule.

use super::queued::Transmitter;
use super::schedule::Schedule;
use crate::Instant;

const NANOSECONDS: u128 = 1_000_000_000;

/// Sends one packet at a time at the rate that holds, as exactly as [`Serialiser`](super::serialiser::Serialiser) does at one rate.
#[derive(Debug)]
pub(super) struct ScheduledRate {
    schedule: Schedule,
    /// The length of a repetition and what it sends, where it has a limit.
    repetition: Option<(u64, u128)>,
    /// When the last packet is sent: nanoseconds, and beyond them `finish_part` billionths of a bit at the rate that holds then.
    finish_ns: u64,
    finish_part: u128,
}

impl ScheduledRate {
    pub(super) fn new(schedule: Schedule) -> Self {
        let repetition = schedule.sent_in_a_repetition();
        Self { schedule, repetition, finish_ns: 0, finish_part: 0 }
    }

    fn free_at(&self) -> Instant {
        Instant::from_nanos(self.finish_ns.saturating_add(u64::from(self.finish_part > 0)))
    }

    /// When `billionths` of a bit are sent that are begun at `from`: nanoseconds, and what is sent beyond them.
    fn finish(&self, from: u64, billionths: u128) -> (u64, u128) {
        let (mut now, mut unsent) = (from, billionths);
        if let Some((length, sent)) = self.repetition {
            // Whole repetitions in one step, except the last, which determines when the last bit is sent.
            let Some(whole) = unsent.saturating_sub(1).checked_div(sent) else { return (u64::MAX, 0) };
            unsent -= whole * sent;
            now = now.saturating_add(clamp(whole.saturating_mul(u128::from(length))));
        }
        loop {
            let (point, until) = self.schedule.at(Instant::from_nanos(now));
            let Some(rate) = point.rate_bps.map(u128::from) else { return (now, 0) };
            let room = until.map(|until| rate * u128::from(until.as_nanos() - now));
            if rate > 0 && room.is_none_or(|room| unsent <= room) {
                return (now.saturating_add(clamp(unsent / rate)), unsent % rate);
            }
            let (Some(until), Some(room)) = (until, room) else { return (u64::MAX, 0) };
            unsent -= room;
            now = until.as_nanos();
        }
    }
}

impl Transmitter for ScheduledRate {
    fn start(&mut self, origin: Instant) {
        self.schedule.start(origin);
    }

    fn begins(&self, _bytes: u64, arrival: Instant) -> Instant {
        let mut now = self.free_at().max(arrival);
        for _ in 0..=self.schedule.len() {
            match self.schedule.at(now) {
                (point, Some(until)) if point.rate_bps == Some(0) => now = until,
                (point, None) if point.rate_bps == Some(0) => break,
                _ => return now,
            }
        }
        Instant::from_nanos(u64::MAX)
    }

    fn send(&mut self, bytes: u64, arrival: Instant) -> Instant {
        if self.free_at() <= arrival {
            (self.finish_ns, self.finish_part) = (arrival.as_nanos(), 0);
        }
        let billionths = self.finish_part + u128::from(bytes) * 8 * NANOSECONDS;
        (self.finish_ns, self.finish_part) = self.finish(self.finish_ns, billionths);
        self.free_at()
    }
}

fn clamp(nanoseconds: u128) -> u64 {
    u64::try_from(nanoseconds).unwrap_or(u64::MAX)
}
