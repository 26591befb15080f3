//! The loop of the link process: one thread moves the packets of every lane, and does nothing else.
//!
//! A packet is due at the instant its chain says, counted from the kernel's receive stamp; how late it is sent does not move anything after it.
//! The thread sleeps until shortly before the next deadline and spins the rest, as long as spinning is cheap: see [`Effort`].
#![allow(unsafe_code)]

mod effort;
mod poller;

use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use wirelab_link::Instant;

use crate::awake::AwakeCpus;
use crate::clock::{self, RealtimeOffset};
use crate::lane::{Finished, Lane, TrialLink};
use crate::scheduling::{self, Scheduling};
use crate::topology::Ports;
use crate::{Context, Error};
use effort::Effort;
use poller::{Poller, Waker};

/// Orders to the loop. It ends when this is dropped.
pub struct LinkLoop {
    commands: Sender<Command>,
    waker: Waker,
    scheduling: Scheduling,
    cpu: Option<usize>,
    awake: Option<AwakeCpus>,
}

/// The loop's thread has ended, which it does not do by itself: it panicked.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the link's loop has ended")]
pub struct Ended;

enum Command {
    Begin(usize, Box<TrialLink>, Sender<()>),
    Finish(usize, Sender<Option<Finished>>),
}

impl LinkLoop {
    /// Start the thread. Here a lane is one link of a lane.
    pub fn start(lanes: Vec<Ports>) -> Result<Self, Error> {
        let numbered =
            lanes.iter().enumerate().flat_map(|(lane, ports)| ports.sockets.iter().map(move |port| (lane, port)));
        let poller = Poller::new(numbered).context("making an epoll instance")?;
        let waker = poller.waker().context("making an event descriptor")?;
        let (commands, queue) = unbounded();
        let (started, granted) = bounded(1);
        let lanes: Vec<_> = lanes.into_iter().map(Lane::new).collect();
        let deadlines = vec![None; lanes.len()];
        let run = move || {
            scheduling::exact_timers();
            let scheduling = Scheduling::best();
            let cpu = if scheduling == Scheduling::Fifo { None } else { scheduling::settle() };
            let _ = started.send((scheduling, cpu));
            let effort = Effort::new(scheduling, clock::now());
            Thread { lanes, deadlines, queue, poller, effort, offset: RealtimeOffset::measure() }.run();
        };
        thread::Builder::new().name("link".into()).spawn(run).context("starting a thread")?;
        let (scheduling, cpu) = granted.recv().unwrap_or((Scheduling::Default, None));
        Ok(Self { commands, waker, scheduling, cpu, awake: AwakeCpus::hold().ok() })
    }

    /// Scheduling that the thread was given.
    pub fn scheduling(&self) -> Scheduling {
        self.scheduling
    }

    /// CPU that the thread has for itself as long as everybody else leaves it; none where its scheduling needs none, or there is only one.
    pub fn cpu(&self) -> Option<usize> {
        self.cpu
    }

    /// True if the machine's CPUs do not sleep as long as this lives: only root may ask for that.
    pub fn keeps_cpus_awake(&self) -> bool {
        self.awake.is_some()
    }

    /// Begin a trial in a lane; returns when packets from now on are part of it.
    pub fn begin(&self, lane: usize, link: TrialLink) -> Result<(), Ended> {
        let (done, wait) = bounded(1);
        self.order(Command::Begin(lane, Box::new(link), done));
        wait.recv().map_err(|_| Ended)
    }

    /// End the trial in a lane, without waiting for packets that are still inside; `None` if there was none.
    pub fn finish(&self, lane: usize) -> Result<Option<Finished>, Ended> {
        let (done, wait) = bounded(1);
        self.order(Command::Finish(lane, done));
        wait.recv().map_err(|_| Ended)
    }

    fn order(&self, command: Command) {
        let _ = self.commands.send(command);
        self.waker.wake();
    }
}

struct Thread {
    lanes: Vec<Lane>,
    /// When something leaves each lane next, side by side: a lane with nothing to do is not looked at.
    deadlines: Vec<Option<Instant>>,
    queue: Receiver<Command>,
    poller: Poller,
    effort: Effort,
    offset: RealtimeOffset,
}

impl Thread {
    fn run(mut self) {
        loop {
            self.wait();
            if self.offset.refresh() {
                self.lanes.iter_mut().for_each(Lane::clock_stepped);
            }
            let now = clock::now();
            let mut taken = 0;
            for event in 0..self.poller.ready().len() {
                taken += self.advance(self.poller.ready()[event], now);
            }
            for lane in 0..self.lanes.len() {
                if self.deadlines[lane].is_some_and(|due| due <= now) {
                    taken += self.advance(lane, now);
                }
            }
            self.effort.account(now, taken);
            if self.poller.take_wake() && !self.obey() {
                return;
            }
        }
    }

    fn advance(&mut self, lane: usize, now: Instant) -> usize {
        let taken = self.lanes[lane].advance(now, self.offset);
        self.deadlines[lane] = self.lanes[lane].timeout();
        taken
    }

    /// Wait until something is due, has arrived or was ordered.
    fn wait(&mut self) {
        let due = self.deadlines.iter().flatten().min().copied();
        while !self.poller.look() {
            let now = clock::now();
            match due.map(|due| due.saturating_since(now)) {
                Some(Duration::ZERO) => return,
                Some(left) if self.effort.may_spin(left) => self.spin(now + left, now),
                Some(left) => self.sleep(Some(self.effort.sleep_before(left)), now),
                None => self.sleep(None, now),
            }
        }
    }

    fn spin(&mut self, due: Instant, from: Instant) {
        let mut now = from;
        while now < due && !self.poller.look() {
            now = clock::now();
        }
        self.effort.spun(now.saturating_since(from));
    }

    fn sleep(&mut self, time: Option<Duration>, from: Instant) {
        self.poller.sleep(time);
        self.effort.slept(clock::now().saturating_since(from), time);
    }

    /// Carry out what was ordered; false if nobody can order any more.
    fn obey(&mut self) -> bool {
        loop {
            match self.queue.try_recv() {
                Ok(Command::Begin(lane, link, done)) => {
                    self.lanes[lane].begin(*link, clock::now());
                    self.deadlines[lane] = self.lanes[lane].timeout();
                    let _ = done.send(());
                }
                Ok(Command::Finish(lane, done)) => {
                    let _ = done.send(self.lanes[lane].finish(clock::now(), self.offset));
                    self.deadlines[lane] = None;
                }
                Err(error) => return error.is_empty(),
            }
        }
    }
}
