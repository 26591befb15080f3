//! Impairments in a row, which are an impairment again. It adds no behaviour.

use std::fmt;

use crate::impairment::stage_exit::StageExit;
use crate::{Counters, Dropped, Impairment, Instant, Packet};

/// Impairments in a row: the departure instant of one is the arrival instant of the next, so timing errors never accumulate.
///
/// The order matters. Losses behind a rate have used their airtime, as on a radio, and that is what the experiment layer writes by default;
/// losses before it have not. An empty chain passes packets without delay.
#[derive(Default)]
pub struct Chain {
    stages: Vec<Box<dyn Impairment>>,
    exit: StageExit,
}

impl Chain {
    /// A chain that packets pass in the order of `stages`.
    pub fn new(stages: Vec<Box<dyn Impairment>>) -> Self {
        Self { stages, exit: StageExit::default() }
    }

    /// Move everything due by `now` as far as it has come by then.
    fn advance(&mut self, now: Instant) {
        for index in 0..self.stages.len() {
            while let Some((instant, packet)) = self.stages[index].poll_packet(now) {
                self.hand_to(index + 1, packet, instant);
            }
        }
    }

    fn hand_to(&mut self, index: usize, packet: Packet, now: Instant) {
        match self.stages.get_mut(index) {
            Some(stage) => stage.handle_packet(packet, now),
            None => self.exit.depart(packet, now),
        }
    }
}

impl Impairment for Chain {
    fn start(&mut self, origin: Instant) {
        self.stages.iter_mut().for_each(|stage| stage.start(origin));
    }

    fn handle_packet(&mut self, packet: Packet, now: Instant) {
        self.advance(now);
        self.exit.receive();
        self.hand_to(0, packet, now);
    }

    fn poll_packet(&mut self, now: Instant) -> Option<(Instant, Packet)> {
        self.advance(now);
        self.exit.poll_packet(now)
    }

    fn poll_dropped(&mut self) -> Option<Dropped> {
        self.stages.iter_mut().find_map(|stage| stage.poll_dropped())
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.stages.iter().filter_map(|stage| stage.poll_timeout()).chain(self.exit.poll_timeout()).min()
    }

    fn settles_when_polled(&self) -> bool {
        self.stages.iter().any(|stage| stage.settles_when_polled())
    }

    fn poll_held(&mut self) -> Option<Packet> {
        self.exit.poll_held().or_else(|| self.stages.iter_mut().find_map(|stage| stage.poll_held()))
    }

    fn sending(&self) -> Option<u64> {
        let mut before = 0;
        for stage in &self.stages {
            if let Some(sending) = stage.sending() {
                return Some(before + sending);
            }
            before += stage.counters().held;
        }
        None
    }

    fn counters(&self) -> Counters {
        let mut counters = self.exit.counters(0);
        for stage in self.stages.iter().map(|stage| stage.counters()) {
            counters.duplicated += stage.duplicated;
            counters.dropped += stage.dropped;
            counters.held += stage.held;
        }
        counters
    }
}

impl fmt::Debug for Chain {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Chain({} stages, {:?})", self.stages.len(), self.counters())
    }
}
