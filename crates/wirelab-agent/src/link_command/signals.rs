//! Signals that end or stop a link, passed on to its command.

use std::os::fd::AsFd;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::Pid;

/// `si_code` of what the kernel sends, such as a terminal's Ctrl-C.
const SI_KERNEL: i32 = 0x80;
/// A terminal's, and those that stop us in the background, are blocked so that watching the command continues.
const BLOCKED: [Signal; 9] = [
    Signal::SIGCHLD,
    Signal::SIGCONT,
    Signal::SIGHUP,
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGTERM,
    Signal::SIGTSTP,
    Signal::SIGTTIN,
    Signal::SIGTTOU,
];

/// The signals that this process is sent.
pub struct Signals {
    descriptor: SignalFd,
    /// Reads SIGCONT alone.
    continued: SignalFd,
    before: SigSet,
}

/// One of them.
#[derive(Clone, Copy, Debug)]
pub struct Received {
    pub signal: Signal,
    /// The terminal sent it, to the whole group of processes in its foreground.
    pub from_terminal: bool,
}

impl Received {
    /// Its sender wants an end.
    pub fn ends(self) -> bool {
        matches!(self.signal, Signal::SIGHUP | Signal::SIGINT | Signal::SIGQUIT | Signal::SIGTERM)
    }
}

impl Signals {
    /// Block them in this thread and in those that it starts.
    pub fn block() -> nix::Result<Self> {
        let before = SigSet::thread_get_mask()?;
        let mut set = SigSet::empty();
        BLOCKED.into_iter().for_each(|signal| set.add(signal));
        set.thread_block()?;
        let reader = |set: &SigSet| SignalFd::with_flags(set, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC);
        Ok(Self { descriptor: reader(&set)?, continued: reader(&Signal::SIGCONT.into())?, before })
    }

    /// What this process blocked before.
    pub fn before(&self) -> SigSet {
        self.before
    }

    /// The next one; `None` if none comes within `time`.
    pub fn wait(&self, time: Option<Duration>) -> Option<Received> {
        let milliseconds = |time: Duration| PollTimeout::try_from(time).unwrap_or(PollTimeout::MAX);
        let timeout = time.map_or(PollTimeout::NONE, milliseconds);
        let _ = poll(&mut [PollFd::new(self.descriptor.as_fd(), PollFlags::POLLIN)], timeout);
        let info = self.descriptor.read_signal().ok().flatten()?;
        let signal = Signal::try_from(info.ssi_signo as i32).ok()?;
        Some(Received { signal, from_terminal: info.ssi_code == SI_KERNEL })
    }

    /// Stop this process group as its terminal would; returns when it continues. The kernel resumes it immediately if no other process could.
    ///
    /// The SIGCONT that ends the stop is not received again: a second resumption of the command would undo a Ctrl-Z typed in between.
    pub fn stop_ourselves(&self) {
        let mut stop = SigSet::empty();
        stop.add(Signal::SIGTSTP);
        // This thread alone has it unblocked, so that it is stopped before it returns.
        let _ = stop.thread_unblock();
        let _ = kill(Pid::from_raw(0), Signal::SIGTSTP);
        let _ = stop.thread_block();
        let _ = self.continued.read_signal();
    }
}
