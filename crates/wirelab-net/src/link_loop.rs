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
        let poller = Poller::new(lanes.iter().flat_map(|lane| &lane.sockets)).context("making an epoll instance")?;
        let waker = poller.waker().context("making an event descriptor")?;
        let (commands, queue) = unbounded();
        let (started, granted) = bounded(1);
        let lanes = lanes.into_iter().map(Lane::new).collect();
        let run = move || {
            scheduling::exact_timers();
            let scheduling = Scheduling::best();
            let cpu = if scheduling == Scheduling::Fifo { None } else { scheduling::settle() };
            let _ = started.send((scheduling, cpu));
            let effort = Effort::new(scheduling, clock::now());
            Thread { lanes, queue, poller, effort, offset: RealtimeOffset::measure() }.run();
        };
        thread::Builder::new().name("link".into()).spawn(run).context("starting a thread")?;
        let (scheduling, cpu) = granted.recv().unwrap_or((Scheduling::Default, None));
        Ok(Self { commands, waker, scheduling, cpu })
    }

    /// Scheduling that the thread was given.
    pub fn scheduling(&self) -> Scheduling {
        self.scheduling
    }

    /// CPU that the thread has for itself as long as everybody else leaves it; none where its scheduling needs none, or there is only one.
    pub fn cpu(&self) -> Option<usize> {
        self.cpu
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
            let taken = self.lanes.iter_mut().map(|lane| lane.advance(now, self.offset)).sum();
            self.effort.account(now, taken);
            if self.poller.take_wake() && !self.obey() {
                return;
            }
        }
    }

    /// Wait until something is due, has arrived or was ordered.
    fn wait(&mut self) {
        let due = self.lanes.iter().filter_map(Lane::timeout).min();
        loop {
            let now = clock::now();
            if due.is_some_and(|due| due <= now) || self.lanes.iter().any(Lane::is_ready) || self.poller.is_woken() {
                return;
            }
            match due.map(|due| due.saturating_since(now)) {
                Some(left) if self.effort.may_spin(left) => self.spin(due, now),
                Some(left) => self.sleep(Some(self.effort.sleep_before(left)), now),
                None => self.sleep(None, now),
            }
        }
    }

    fn spin(&mut self, due: Option<Instant>, from: Instant) {
        let mut now = from;
        while due.is_some_and(|due| now < due) && !self.lanes.iter().any(Lane::is_ready) && !self.poller.is_woken() {
            std::hint::spin_loop();
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
                    let _ = done.send(());
                }
                Ok(Command::Finish(lane, done)) => {
                    let _ = done.send(self.lanes[lane].finish(clock::now(), self.offset));
                }
                Err(error) => return error.is_empty(),
            }
        }
    }
}
