//! What a trial process waits for: its host's words on stdin, and its children.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

/// What a trial process waits for: its host's words on stdin, and its children.
pub struct Inbox {
    children: SignalFd,
    text: Vec<u8>,
}

impl Inbox {
    /// From now on SIGCHLD is blocked and read here. Programs that are started do not inherit that.
    pub fn new() -> io::Result<Self> {
        let mask = SigSet::from(Signal::SIGCHLD);
        mask.thread_block()?;
        Ok(Self {
            children: SignalFd::with_flags(&mask, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?,
            text: Vec::new(),
        })
    }

    /// The first line; an error if stdin ends before.
    pub fn first_line(&mut self) -> io::Result<String> {
        loop {
            if let Some(end) = self.text.iter().position(|byte| *byte == b'\n') {
                let rest = self.text.split_off(end + 1);
                let line = std::mem::replace(&mut self.text, rest);
                return String::from_utf8(line).map_err(io::Error::other);
            }
            self.read()?;
        }
    }

    /// Wait for at most `time`, or 24.8 days, until a child ends or the host says something. True if it said `cancel`, the only thing it can say.
    ///
    /// Ends this process, and with it the namespace, when stdin has ended.
    pub fn wait(&mut self, time: Duration) -> bool {
        let stdin = io::stdin();
        let mut waited =
            [PollFd::new(stdin.as_fd(), PollFlags::POLLIN), PollFd::new(self.children.as_fd(), PollFlags::POLLIN)];
        let _ = poll(&mut waited, poll_timeout(time));
        let spoken = waited[0].any().unwrap_or(true);
        while let Ok(Some(_)) = self.children.read_signal() {}
        if spoken && self.read().is_err() {
            std::process::exit(1);
        }
        self.text.starts_with(b"cancel")
    }

    fn read(&mut self) -> io::Result<()> {
        let mut buffer = [0; 4096];
        let length = nix::unistd::read(io::stdin(), &mut buffer)?;
        if length == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.text.extend_from_slice(&buffer[..length]);
        Ok(())
    }
}

/// Rounded up, so that a deadline has passed when its wait is over. What is longer than poll can wait is waited for in parts.
fn poll_timeout(time: Duration) -> PollTimeout {
    PollTimeout::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(PollTimeout::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_of_thirty_days_is_not_cut_at_the_longest_poll() {
        let mut left = Duration::from_secs(30 * 86_400);
        let mut waits = Vec::new();
        while !left.is_zero() {
            let waited = Duration::from_millis(poll_timeout(left).as_millis().expect("it ends").into());
            waits.push(waited.min(left));
            left = left.saturating_sub(waited);
        }
        assert_eq!(waits.iter().sum::<Duration>(), Duration::from_secs(30 * 86_400));
        assert_eq!((waits.len(), waits[0].as_secs()), (2, 2_147_483));
    }

    #[test]
    fn a_wait_is_never_shorter_than_asked() {
        assert_eq!(poll_timeout(Duration::from_nanos(1)).as_millis(), Some(1));
        assert_eq!(poll_timeout(Duration::ZERO).as_millis(), Some(0));
    }
}
