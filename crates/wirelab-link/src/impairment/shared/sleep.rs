//! The state machine of a radio's sleep.

use std::collections::VecDeque;
use std::time::Duration;

use crate::{Instant, ParameterError};

/// One depth of sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sleep {
    /// How long no packet has passed when it begins.
    pub after: Duration,
    /// How often the client listens, the first time this long after the sleep began; `None`: never.
    pub cycle: Option<Duration>,
    /// How long waking from it takes.
    pub wake: Duration,
}

/// What a client's radio does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RadioState {
    /// Packets pass.
    Awake,
    /// It sleeps at this depth, from 0, the lightest. Listening every cycle is part of it.
    Asleep(usize),
    /// It wakes: no packet passes yet.
    Waking,
}

/// A time in one state. It may be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RadioInterval {
    /// What the radio did.
    pub state: RadioState,
    /// From when.
    pub from: Instant,
    /// Until when.
    pub until: Instant,
}

/// When a client's radio sleeps and wakes, from the instants of its packets alone. Public with its states and intervals, which no link needs:
/// the times in each state are what a model of the client's energy takes.
///
/// Instants of all calls together never go backwards. It starts in its deepest sleep, at the instant given to [`start`](Self::start), else at 0. A
/// packet from the client wakes it immediately; one for it is kept by the network until the client listens. Sleep gets deeper meanwhile: a packet
/// kept beyond the last instant at which a sleep listens waits for the first of the next. An instant that is both belongs to the deeper sleep.
#[derive(Debug)]
pub struct SleepMachine {
    sleeps: Vec<Sleep>,
    state: RadioState,
    /// When that began.
    since: Instant,
    /// The end of waking.
    ready: Instant,
    /// When the last packet passed, or the last transfer ended.
    passed: Instant,
    /// A packet is being sent or received.
    transfers: bool,
    /// When it was awake last, if it is not.
    slept: Option<Instant>,
    /// Since when the network has a packet for the client.
    kept_since: Option<Instant>,
    ended: VecDeque<RadioInterval>,
}

impl SleepMachine {
    /// A radio with these `sleeps`, from light to deep; without any it is always awake. Refuses a sleep that begins before a lighter one, and a
    /// cycle of 0.
    pub fn new(sleeps: Vec<Sleep>) -> Result<Self, ParameterError> {
        if let Some(pair) = sleeps.windows(2).find(|pair| pair[1].after < pair[0].after) {
            let [lighter, deeper] = [pair[0].after, pair[1].after];
            let what = format!("sleeps go from light to deep, but one after {deeper:?} follows one after {lighter:?}");
            return Err(ParameterError::new(what));
        }
        if sleeps.iter().any(|sleep| sleep.cycle == Some(Duration::ZERO)) {
            return Err(ParameterError::new("a client that listens every 0 ns does not sleep"));
        }
        let state = sleeps.len().checked_sub(1).map_or(RadioState::Awake, RadioState::Asleep);
        let origin = Instant::default();
        Ok(Self {
            sleeps,
            state,
            since: origin,
            ready: origin,
            passed: origin,
            transfers: false,
            slept: None,
            kept_since: None,
            ended: VecDeque::new(),
        })
    }

    /// Its first sleep begins at `origin`. Called at most once, before any packet.
    pub fn start(&mut self, origin: Instant) {
        (self.since, self.passed) = (origin, origin);
    }

    /// A packet comes from the client at `now`. True if it passes without delay; else it passes when the radio is awake.
    pub fn handle_uplink(&mut self, now: Instant) -> bool {
        let passes = self.pass(now);
        if matches!(self.state, RadioState::Asleep(_)) {
            self.enter(RadioState::Waking, now);
        }
        passes
    }

    /// A packet for the client comes to the network at `now`. True if it passes without delay; else it is kept and passes when the radio is awake.
    pub fn handle_downlink(&mut self, now: Instant) -> bool {
        let passes = self.pass(now);
        if matches!(self.state, RadioState::Asleep(_)) {
            self.kept_since.get_or_insert(now);
        }
        passes
    }

    /// From `now` on a packet is being sent or received, or none is any more: an awake radio does not sleep meanwhile, and counts from the end of
    /// it. One that fell asleep at this instant did not.
    pub fn handle_transfer(&mut self, transfers: bool, now: Instant) {
        self.advance(now);
        if transfers && matches!(self.state, RadioState::Asleep(_)) && self.slept == Some(now) {
            self.enter(RadioState::Awake, now);
        }
        if self.transfers && !transfers && self.state == RadioState::Awake {
            self.passed = now;
        }
        self.transfers = transfers;
    }

    /// A packet for the client has been received at `now`, in `airtime`. True if the radio was awake when that began and has only fallen asleep
    /// since: it did not, and is awake.
    ///
    /// The time until `now` was reported as sleep before; a radio that an uplink packet has begun to wake meanwhile continues to wake.
    pub fn handle_reception(&mut self, airtime: Duration, now: Instant) -> bool {
        self.advance(now);
        let resumes = matches!(self.state, RadioState::Asleep(_))
            && self.slept.is_some_and(|slept| now.saturating_since(slept) < airtime);
        if resumes {
            self.enter(RadioState::Awake, now);
        }
        resumes
    }

    /// The next time in a state that has ended by `now`. All packets kept or waiting pass where one of [`RadioState::Waking`] ends.
    pub fn poll_interval(&mut self, now: Instant) -> Option<RadioInterval> {
        self.advance(now);
        self.ended.pop_front()
    }

    /// Its state at the last call.
    pub fn state(&self) -> RadioState {
        self.state
    }

    /// When its state changes next, if no packet comes.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.next().map(|(instant, _)| instant)
    }

    fn pass(&mut self, now: Instant) -> bool {
        self.advance(now);
        let awake = self.state == RadioState::Awake;
        if awake {
            self.passed = now;
        }
        awake
    }

    fn advance(&mut self, now: Instant) {
        while let Some((instant, state)) = self.next().filter(|(instant, _)| *instant <= now) {
            self.enter(state, instant);
        }
    }

    fn next(&self) -> Option<(Instant, RadioState)> {
        let depth = match self.state {
            RadioState::Awake if self.transfers => return None,
            RadioState::Awake => return self.deepens(0),
            RadioState::Waking => return Some((self.ready, RadioState::Awake)),
            RadioState::Asleep(depth) => depth,
        };
        let deepens = self.deepens(depth + 1);
        let listens = self.kept_since.and_then(|kept| self.listens(depth, kept));
        match (deepens, listens) {
            (Some((deeper, _)), Some(listens)) if deeper <= listens => deepens,
            (_, Some(listens)) => Some((listens, RadioState::Waking)),
            (_, None) => deepens,
        }
    }

    fn deepens(&self, depth: usize) -> Option<(Instant, RadioState)> {
        self.sleeps.get(depth).map(|sleep| (self.passed + sleep.after, RadioState::Asleep(depth)))
    }

    /// When the present sleep listens first, from `kept` on.
    fn listens(&self, depth: usize, kept: Instant) -> Option<Instant> {
        let cycle = self.sleeps[depth].cycle?.as_nanos();
        let cycles = kept.saturating_since(self.since).as_nanos().div_ceil(cycle).max(1);
        Some(self.since + Duration::from_nanos(u64::try_from(cycles * cycle).unwrap_or(u64::MAX)))
    }

    fn enter(&mut self, state: RadioState, now: Instant) {
        self.ended.push_back(RadioInterval { state: self.state, from: self.since, until: now });
        match (self.state, state) {
            (RadioState::Asleep(depth), RadioState::Waking) => self.ready = now + self.sleeps[depth].wake,
            (RadioState::Awake, _) => self.slept = Some(now),
            (_, RadioState::Awake) => (self.passed, self.kept_since) = (now, None),
            _ => {}
        }
        (self.state, self.since) = (state, now);
    }
}

#[cfg(test)]
mod tests {
    use super::RadioState::{Asleep, Awake, Waking};
    use super::*;

    fn at(milliseconds: u64) -> Instant {
        Instant::from_nanos(milliseconds * 1_000_000)
    }

    fn sleep(after: u64, cycle: Option<u64>, wake: u64) -> Sleep {
        let [after, wake] = [after, wake].map(Duration::from_millis);
        Sleep { after, cycle: cycle.map(Duration::from_millis), wake }
    }

    /// Light sleep after 100 ms that listens every 40 ms, PSM after 1 s.
    fn machine() -> SleepMachine {
        SleepMachine::new(vec![sleep(100, Some(40), 5), sleep(1000, None, 50)]).unwrap()
    }

    fn states(machine: &mut SleepMachine, now: u64) -> Vec<(RadioState, u64, u64)> {
        let milliseconds = |instant: Instant| instant.as_nanos() / 1_000_000;
        std::iter::from_fn(|| machine.poll_interval(at(now)))
            .map(|RadioInterval { state, from, until }| (state, milliseconds(from), milliseconds(until)))
            .collect()
    }

    #[test]
    fn it_starts_in_its_deepest_sleep_and_goes_from_light_to_deep_after_a_packet() {
        let mut machine = machine();
        machine.start(at(10));
        assert!(!machine.handle_uplink(at(30)));
        assert_eq!(
            states(&mut machine, 5000),
            [(Asleep(1), 10, 30), (Waking, 30, 80), (Awake, 80, 180), (Asleep(0), 180, 1080)]
        );
        assert_eq!(machine.poll_timeout(), None);
    }

    #[test]
    fn a_packet_while_awake_passes_and_keeps_it_awake() {
        let mut machine = machine();
        assert!(!machine.handle_uplink(at(0)));
        assert!(machine.handle_downlink(at(149)));
        assert!(machine.handle_uplink(at(248)));
        assert!(!machine.handle_uplink(at(348)));
        let expected =
            [(Asleep(1), 0, 0), (Waking, 0, 50), (Awake, 50, 348), (Asleep(0), 348, 348), (Waking, 348, 353)];
        assert_eq!(states(&mut machine, 353), expected);
    }

    #[test]
    fn a_packet_for_a_sleeping_client_waits_for_the_next_instant_at_which_it_listens() {
        for (kept, listens) in [(151, 190), (189, 190), (190, 190), (191, 230)] {
            let mut machine = machine();
            machine.handle_uplink(at(0));
            assert!(!machine.handle_downlink(at(kept)));
            assert_eq!(
                states(&mut machine, listens + 5).last(),
                Some(&(Waking, listens, listens + 5)),
                "kept since {kept}"
            );
        }
    }

    #[test]
    fn a_packet_for_a_client_that_never_listens_waits_for_an_uplink_packet() {
        let mut machine = machine();
        assert!(!machine.handle_downlink(at(0)));
        assert_eq!((states(&mut machine, 100_000), machine.poll_timeout()), (vec![], None));
        assert!(!machine.handle_uplink(at(100_000)));
        assert_eq!(states(&mut machine, 100_050), [(Asleep(1), 0, 100_000), (Waking, 100_000, 100_050)]);
        assert!(machine.handle_downlink(at(100_050)));
    }

    #[test]
    fn a_packet_kept_beyond_the_last_instant_of_a_sleep_waits_for_the_deeper_one() {
        let mut machine = SleepMachine::new(vec![sleep(100, Some(40), 5), sleep(200, Some(1000), 50)]).unwrap();
        machine.handle_uplink(at(0));
        assert!(!machine.handle_downlink(at(245)));
        assert_eq!(states(&mut machine, 2000)[2..5], [(Awake, 50, 150), (Asleep(0), 150, 250), (Asleep(1), 250, 1250)]);
    }

    #[test]
    fn an_uplink_packet_wakes_a_client_before_it_listens() {
        let mut machine = machine();
        machine.handle_uplink(at(0));
        assert!(!machine.handle_downlink(at(152)));
        assert!(!machine.handle_uplink(at(160)));
        assert_eq!(states(&mut machine, 200)[3..], [(Asleep(0), 150, 160), (Waking, 160, 165)]);
        assert!(machine.handle_downlink(at(200)));
    }

    #[test]
    fn it_does_not_sleep_while_a_packet_is_sent_and_counts_from_its_end() {
        let mut machine = machine();
        machine.handle_uplink(at(0));
        machine.handle_transfer(true, at(50));
        machine.handle_transfer(false, at(450));
        assert!(machine.handle_downlink(at(549)));
        assert_eq!(states(&mut machine, 700)[2..], [(Awake, 50, 649)]);
    }

    #[test]
    fn a_radio_that_sleeps_immediately_sends_first() {
        let mut machine = SleepMachine::new(vec![sleep(0, Some(40), 5)]).unwrap();
        machine.handle_uplink(at(0));
        assert_eq!(states(&mut machine, 5), [(Asleep(0), 0, 0), (Waking, 0, 5), (Awake, 5, 5)]);
        machine.handle_transfer(true, at(5));
        machine.handle_transfer(false, at(25));
        assert_eq!(states(&mut machine, 30), [(Asleep(0), 5, 5), (Awake, 5, 25)]);
    }

    #[test]
    fn a_transfer_of_others_does_not_wake_it() {
        let mut machine = machine();
        machine.handle_transfer(true, at(0));
        machine.handle_transfer(false, at(10));
        assert_eq!((machine.state(), states(&mut machine, 20)), (Asleep(1), vec![]));
    }

    #[test]
    fn a_reception_that_began_before_sleep_continues() {
        for (airtime, resumes) in [(101, true), (100, false), (0, false)] {
            let mut machine = machine();
            machine.handle_uplink(at(0));
            assert_eq!(machine.handle_reception(Duration::from_millis(airtime), at(250)), resumes, "{airtime}");
            assert_eq!(machine.handle_downlink(at(250)), resumes);
        }
    }

    #[test]
    fn a_radio_without_sleeps_is_always_awake() {
        let mut machine = SleepMachine::new(vec![]).unwrap();
        assert!(machine.handle_downlink(at(0)) && machine.handle_uplink(at(1_000_000)));
        assert_eq!(states(&mut machine, 2_000_000), []);
    }
}
