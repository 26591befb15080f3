//! The loop of the link process: one thread moves the packets of every slot, and does nothing else.
//!
//! A packet is due at the instant its chain says, counted from the kernel's receive stamp; how late it is sent does not move anything after it.
//! The thread sleeps until shortly before the next deadline and spins the rest, as long as spinning is cheap: see [`SpinPolicy`].
#![allow(unsafe_code)]

mod poller;
mod spin_policy;

use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use wirelab_link::Instant;

use crate::awake::AwakeCpus;
use crate::clock::{self, RealtimeOffset};
use crate::scheduling::{self, Scheduling};
use crate::slot::{Finished, Slot, TrialLink};
use crate::topology::Ports;
use crate::{Context, Error};
use poller::{Poller, Waker};
use spin_policy::SpinPolicy;

/// Orders to the loop. It ends when this is dropped.
pub struct LinkLoop {
    commands: Sender<Command>,
    waker: Waker,
    scheduling: Scheduling,
    cpu: Option<usize>,
    awake: Option<AwakeCpus>,
}

/// How the thread waits for a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// It spins at last, for the kernel wakes it late.
    Spinning,
    /// It sleeps: under a virtual clock the kernel is never late, and spinning takes none of its time.
    Asleep,
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
    /// Start the thread. Here a slot is one link of a slot.
    pub fn start(slots: Vec<Ports>, waits: Waits) -> Result<Self, Error> {
        let numbered =
            slots.iter().enumerate().flat_map(|(slot, ports)| ports.sockets.iter().map(move |port| (slot, port)));
        let poller = Poller::new(numbered).context("making an epoll instance")?;
        let waker = poller.waker().context("making an event descriptor")?;
        let (commands, queue) = unbounded();
        let (started, granted) = bounded(1);
        let slots: Vec<_> = slots.into_iter().map(Slot::new).collect();
        let deadlines = vec![None; slots.len()];
        let run = move || {
            scheduling::exact_timers();
            let scheduling = Scheduling::best();
            let cpu = if scheduling == Scheduling::Fifo { None } else { scheduling::settle() };
            let _ = started.send((scheduling, cpu));
            let spin_policy = SpinPolicy::new(scheduling, waits, clock::now());
            Thread { slots, deadlines, queue, poller, spin_policy, offset: RealtimeOffset::measure() }.run();
        };
        thread::Builder::new().name("link".into()).spawn(run).context("starting a thread")?;
        let (scheduling, cpu) = granted.recv().unwrap_or((Scheduling::Default, None));
        let awake = (waits == Waits::Spinning).then(|| AwakeCpus::hold().ok()).flatten();
        Ok(Self { commands, waker, scheduling, cpu, awake })
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

    /// Begin a trial in a slot; returns when packets from now on are part of it.
    pub fn begin(&self, slot: usize, link: TrialLink) -> Result<(), Ended> {
        let (done, wait) = bounded(1);
        self.order(Command::Begin(slot, Box::new(link), done));
        wait.recv().map_err(|_| Ended)
    }

    /// End the trial in a slot, without waiting for packets that are still inside; `None` if there was none.
    pub fn finish(&self, slot: usize) -> Result<Option<Finished>, Ended> {
        let (done, wait) = bounded(1);
        self.order(Command::Finish(slot, done));
        wait.recv().map_err(|_| Ended)
    }

    fn order(&self, command: Command) {
        let _ = self.commands.send(command);
        self.waker.wake();
    }
}

struct Thread {
    slots: Vec<Slot>,
    /// When something leaves each slot next, side by side: a slot with nothing to do is not looked at.
    deadlines: Vec<Option<Instant>>,
    queue: Receiver<Command>,
    poller: Poller,
    spin_policy: SpinPolicy,
    offset: RealtimeOffset,
}

impl Thread {
    fn run(mut self) {
        loop {
            self.wait();
            if self.offset.refresh() {
                self.slots.iter_mut().for_each(Slot::clock_stepped);
            }
            let now = clock::now();
            let mut taken = 0;
            for event in 0..self.poller.ready().len() {
                taken += self.advance(self.poller.ready()[event], now);
            }
            for slot in 0..self.slots.len() {
                if self.deadlines[slot].is_some_and(|due| due <= now) {
                    taken += self.advance(slot, now);
                }
            }
            self.spin_policy.account(now, taken);
            if self.poller.take_wake() && !self.obey() {
                return;
            }
        }
    }

    fn advance(&mut self, slot: usize, now: Instant) -> usize {
        let taken = self.slots[slot].advance(now, self.offset);
        self.deadlines[slot] = self.slots[slot].timeout();
        taken
    }

    /// Wait until something is due, has arrived or was ordered.
    fn wait(&mut self) {
        let due = self.deadlines.iter().flatten().min().copied();
        let mut looked = false;
        loop {
            let now = clock::now();
            let found = match due.map(|due| due.saturating_since(now)) {
                // A wait for this instant has just found nothing.
                Some(Duration::ZERO) if looked => return,
                Some(Duration::ZERO) => {
                    self.poller.look();
                    return;
                }
                Some(left) if self.spin_policy.may_spin(left) => self.spin(now + left, now),
                Some(left) => self.sleep(Some(self.spin_policy.sleep_before(left)), now),
                None => self.sleep(None, now),
            };
            if found {
                return;
            }
            looked = true;
        }
    }

    fn spin(&mut self, due: Instant, from: Instant) -> bool {
        let (mut now, mut found) = (from, false);
        while now < due && !found {
            found = self.poller.look();
            now = clock::now();
        }
        self.spin_policy.spun(now.saturating_since(from));
        found
    }

    fn sleep(&mut self, time: Option<Duration>, from: Instant) -> bool {
        let found = self.poller.wait(time);
        self.spin_policy.slept(clock::now().saturating_since(from), time);
        found
    }

    /// Carry out commands; false once no caller is left.
    fn obey(&mut self) -> bool {
        loop {
            match self.queue.try_recv() {
                Ok(Command::Begin(slot, link, done)) => {
                    self.slots[slot].begin(*link, clock::now());
                    self.deadlines[slot] = self.slots[slot].timeout();
                    let _ = done.send(());
                }
                Ok(Command::Finish(slot, done)) => {
                    let _ = done.send(self.slots[slot].finish(clock::now(), self.offset));
                    self.deadlines[slot] = None;
                }
                Err(error) => return error.is_empty(),
            }
        }
    }
}
