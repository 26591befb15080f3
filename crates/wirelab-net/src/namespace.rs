//! User and network namespaces.
//!
//! A network namespace lives as long as a process is in it or a descriptor of it is open; nothing is mounted, so nothing remains.

use std::fs::{self, File};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use nix::sched::{CloneFlags, setns, unshare};
use nix::unistd::{getegid, geteuid};

use crate::{Context, Error};

/// A network namespace, held by its descriptor (close-on-exec).
#[derive(Debug)]
pub struct NetNamespace {
    descriptor: OwnedFd,
}

impl NetNamespace {
    /// Make an empty one. The calling thread stays where it is.
    pub fn create() -> Result<Self, Error> {
        and_back(|| {
            unshare(CloneFlags::CLONE_NEWNET).context("making a network namespace")?;
            Self::current()
        })
    }

    /// That of the calling thread.
    pub fn current() -> Result<Self, Error> {
        let file = File::open("/proc/thread-self/ns/net").context("opening a network namespace")?;
        Ok(Self { descriptor: file.into() })
    }

    /// Run `work` inside. The calling thread comes back from there.
    pub fn run<T>(&self, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        and_back(|| {
            self.enter()?;
            work()
        })
    }

    fn enter(&self) -> Result<(), Error> {
        setns(&self.descriptor, CloneFlags::CLONE_NEWNET).context("entering a network namespace")
    }
}

impl AsFd for NetNamespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// Move this process into an empty network namespace, as it is if it may, otherwise as root of a new user namespace that maps only the caller's
/// own user and group. True if it is in a user namespace of its own then. Either way it may make namespaces from then on.
///
/// Call it before any thread exists: the kernel refuses to move a process of several threads into a user namespace.
pub fn gain_namespaces() -> Result<bool, Error> {
    gain(|_| 0)
}

/// As [`gain_namespaces`], but in the new user namespace the caller keeps user and group: a process in it is not root, and has capabilities only
/// until it executes a program, unless they are kept.
pub fn gain_namespaces_as_oneself() -> Result<bool, Error> {
    gain(|id| id)
}

fn gain(inside: impl Fn(u32) -> u32) -> Result<bool, Error> {
    if unshare(CloneFlags::CLONE_NEWNET).is_ok() {
        return Ok(false);
    }
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET).context("making a user namespace")?;
    fs::write("/proc/self/setgroups", "deny").context("writing /proc/self/setgroups")?;
    fs::write("/proc/self/uid_map", format!("{} {user} 1", inside(user))).context("writing /proc/self/uid_map")?;
    fs::write("/proc/self/gid_map", format!("{} {group} 1", inside(group))).context("writing /proc/self/gid_map")?;
    Ok(true)
}

/// Do `work`, which changes the calling thread's network namespace. A thread for it would cost as many system calls as the work itself.
fn and_back<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    let own = NetNamespace::current()?;
    let result = catch_unwind(AssertUnwindSafe(work));
    own.enter()?;
    result.unwrap_or_else(|panic| resume_unwind(panic))
}
