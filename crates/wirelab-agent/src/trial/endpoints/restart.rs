//! Endpoints that are killed and started again during a trial.

use std::fs;
use std::os::fd::AsFd;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use wirelab_net::clock;
use wirelab_net::link::Instant;
use wirelab_net::process;
use wirelab_schema::{ReadyCondition, RestartPlan, Restarted};

use super::{Endpoints, PROBE_EVERY, Stop, not_ready};
use crate::trial::readiness;

/// When one endpoint is stopped and started, and when it was.
pub struct Restarts {
    state: State,
    down: Duration,
    every: Option<Duration>,
    past: Vec<Restarted>,
}

/// What an endpoint waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// To be stopped.
    Up { until: Instant },
    /// To be started; stopped again at `again`.
    Down { until: Instant, again: Option<Instant> },
    /// To be ready. The process before it had written `skipped` bytes to stdout.
    Starting { skipped: u64, give_up: Instant, again: Option<Instant> },
    /// Nothing more.
    Over,
}

impl Restarts {
    fn new(plan: &RestartPlan, start: Instant) -> Self {
        Self {
            state: State::Up { until: start + Duration::from_nanos(plan.after_ns) },
            down: Duration::from_nanos(plan.down_ns),
            every: plan.every_ns.map(Duration::from_nanos),
            past: Vec::new(),
        }
    }

    /// Those so far.
    pub fn past(&self) -> &[Restarted] {
        &self.past
    }

    /// When there is something to do next.
    fn due(&self, now: Instant) -> Option<Instant> {
        match self.state {
            State::Up { until } => Some(until),
            // Its port is free when it is collected.
            State::Down { until, .. } => Some(if until > now { until } else { now + PROBE_EVERY }),
            State::Starting { .. } => Some(now + PROBE_EVERY),
            State::Over => None,
        }
    }

    /// It was stopped at `now`, which was due at `due`: how late one is does not move the next.
    fn stopped(&mut self, due: Instant, now: Instant) {
        self.past.push(Restarted { stopped_ns: now.as_nanos(), ready_ns: None });
        self.state = State::Down { until: now + self.down, again: self.every.map(|every| due + every) };
    }

    /// It is ready at `now`.
    fn ready(&mut self, now: Instant, again: Option<Instant>) {
        if let Some(last) = self.past.last_mut() {
            last.ready_ns = Some(now.as_nanos());
        }
        let Some((mut until, every)) = again.zip(self.every) else {
            self.state = State::Over;
            return;
        };
        // One that took longer to be ready than it had misses a turn.
        while until <= now {
            until = until + every;
        }
        self.state = State::Up { until };
    }
}

impl Endpoints<'_> {
    /// From now on, at the start of the last endpoint.
    pub(super) fn plan_restarts(&mut self) {
        let now = clock::now();
        let plans = self.plan.endpoints.iter().enumerate();
        let planned =
            plans.filter_map(|(place, endpoint)| Some((place, Restarts::new(endpoint.restart.as_ref()?, now))));
        self.restarts = planned.collect();
    }

    /// When an endpoint is to be stopped, started or looked at next.
    pub(super) fn restart_due(&self) -> Option<Instant> {
        let now = clock::now();
        self.restarts.values().filter_map(|restarts| restarts.due(now)).min()
    }

    /// Stop and start what is due.
    pub(super) fn restart(&mut self) -> Result<(), Stop> {
        for place in self.restarts.keys().copied().collect::<Vec<_>>() {
            self.restart_one(place)?;
        }
        Ok(())
    }

    fn restart_one(&mut self, place: usize) -> Result<(), Stop> {
        let (plan, now) = (self.plan, clock::now());
        let endpoint = &plan.endpoints[place];
        let state = self.restarts[&place].state;
        let next = match state {
            State::Up { until } if until <= now => {
                self.running[place].down = true;
                // An endpoint leads a session, and so a process group, of its own.
                let _ = killpg(Pid::from_raw(self.running[place].pid as i32), Signal::SIGKILL);
                self.usages[place].restarted();
                // The kernel's count is of each process.
                self.running[place].waited_before_ns = None;
                self.change(place, |restarts| restarts.stopped(until, now));
                None
            }
            State::Down { until, again } if until <= now && self.running[place].ended.is_some() => {
                let skipped = fs::metadata(&endpoint.stdout).map_or(0, |data| data.len());
                let pid = self.start(endpoint)?;
                self.tree.plant(pid, place);
                let running = &mut self.running[place];
                (running.pid, running.ended, running.down) = (pid, None, false);
                let limit = endpoint.ready.as_ref().map_or(Duration::ZERO, readiness::timeout);
                Some(State::Starting { skipped, give_up: now + limit, again })
            }
            State::Starting { skipped, give_up, again } => match &endpoint.ready {
                Some(condition) if !self.is_ready(place, condition, skipped)? => {
                    if give_up <= now {
                        return Err(not_ready(endpoint, condition));
                    }
                    None
                }
                _ => {
                    self.change(place, |restarts| restarts.ready(now, again));
                    None
                }
            },
            State::Up { .. } | State::Down { .. } | State::Over => None,
        };
        if let Some(next) = next {
            self.change(place, |restarts| restarts.state = next);
        }
        Ok(())
    }

    fn change(&mut self, place: usize, change: impl FnOnce(&mut Restarts)) {
        if let Some(restarts) = self.restarts.get_mut(&place) {
            change(restarts);
        }
    }

    fn is_ready(&self, place: usize, condition: &ReadyCondition, skipped: u64) -> Result<bool, Stop> {
        let endpoint = &self.plan.endpoints[place];
        let failed = |error: wirelab_net::Error| Stop::Failed(format!("{} {error}", endpoint.name));
        process::enter_network(self.hosts[&endpoint.host].as_fd()).map_err(failed)?;
        let addresses = &self.plan.hosts[&endpoint.host].addresses;
        Ok(readiness::is_met(condition, &endpoint.stdout, skipped, addresses))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::default() + Duration::from_secs(seconds)
    }

    fn plan(every: Option<u64>) -> RestartPlan {
        let [after_ns, down_ns] = [10, 5].map(|seconds: u64| seconds * 1_000_000_000);
        RestartPlan { after_ns, down_ns, every_ns: every.map(|seconds| seconds * 1_000_000_000) }
    }

    #[test]
    fn one_that_is_restarted_once_is_over_when_it_is_ready() {
        let mut restarts = Restarts::new(&plan(None), at(100));
        assert_eq!(restarts.due(at(100)), Some(at(110)));
        restarts.stopped(at(110), at(111));
        assert_eq!(restarts.due(at(111)), Some(at(116)));
        assert_eq!(restarts.past(), [Restarted { stopped_ns: at(111).as_nanos(), ready_ns: None }]);
        restarts.ready(at(116), None);
        assert_eq!(restarts.due(at(116)), None);
        let ready_ns = Some(at(116).as_nanos());
        assert_eq!(restarts.past(), [Restarted { stopped_ns: at(111).as_nanos(), ready_ns }]);
    }

    #[test]
    fn how_late_a_restart_is_does_not_move_the_next() {
        let mut restarts = Restarts::new(&plan(Some(60)), at(0));
        restarts.stopped(at(10), at(13));
        let State::Down { until, again } = restarts.state else { panic!("{:?}", restarts.state) };
        assert_eq!((until, again), (at(18), Some(at(70))));
        restarts.ready(at(19), again);
        assert_eq!(restarts.state, State::Up { until: at(70) });
    }

    #[test]
    fn one_that_is_ready_late_misses_a_turn() {
        let mut restarts = Restarts::new(&plan(Some(60)), at(0));
        restarts.stopped(at(10), at(10));
        restarts.ready(at(75), Some(at(70)));
        assert_eq!(restarts.state, State::Up { until: at(130) });
    }

    #[test]
    fn one_that_starts_is_looked_at_again_and_again() {
        let mut restarts = Restarts::new(&plan(None), at(0));
        restarts.state = State::Starting { skipped: 0, give_up: at(30), again: None };
        assert_eq!(restarts.due(at(20)), Some(at(20) + PROBE_EVERY));
    }
}
