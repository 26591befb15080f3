//! The terminal of a command in the foreground, given to it and taken back, as a shell does.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, BorrowedFd};

use nix::unistd::{Pid, getpgrp, tcgetpgrp, tcsetpgrp};

/// The terminal that a command in the foreground is given, and that we take back from it, as a shell does.
pub struct Terminal {
    device: File,
}

impl Terminal {
    /// The controlling terminal, if the command would be alone with it: at the end or the start of a pipe it stays in our process group, for the
    /// pipe's other programs may need the terminal, too.
    pub fn find() -> Option<Self> {
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return None;
        }
        let device = File::options().read(true).write(true).open("/dev/tty").ok()?;
        let terminal = Self { device };
        terminal.is_ours().then_some(terminal)
    }

    /// Put a process group in the foreground, if ours is.
    pub fn give(&self, group: Pid) {
        if self.is_ours() {
            let _ = tcsetpgrp(&self.device, group);
        }
    }

    /// Put our process group in the foreground again, if `group` is.
    pub fn take_from(&self, group: Pid) {
        if tcgetpgrp(&self.device) == Ok(group) {
            let _ = tcsetpgrp(&self.device, getpgrp());
        }
    }

    /// Put our process group in the foreground again, whichever group is there now.
    pub fn reclaim(&self) {
        let _ = tcsetpgrp(&self.device, getpgrp());
    }

    /// Our process group is in the foreground.
    pub fn is_ours(&self) -> bool {
        tcgetpgrp(&self.device) == Ok(getpgrp())
    }
}

impl AsFd for Terminal {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}
