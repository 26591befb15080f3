//! A PID namespace into which this process starts children of its own, as a shell starts commands.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::ptr::null;
use std::sync::{Mutex, PoisonError};
use std::thread;

use crossbeam_channel::{Sender, bounded, unbounded};
use nix::libc;
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{SigHandler, SigSet, Signal, signal};
use nix::sys::wait::waitpid;
use nix::unistd::{Pid, pause};

/// Capabilities (`linux/capability.h`) that a process keeps when its user is not root: of the namespaces of `wirelab` alone, so that it may open
/// low ports and raw sockets, change its interfaces, and begin another link.
const KEPT: [libc::c_ulong; 4] = [CAP_NET_BIND_SERVICE, CAP_NET_ADMIN, CAP_NET_RAW, CAP_SYS_ADMIN];
const CAP_NET_BIND_SERVICE: libc::c_ulong = 10;
const CAP_NET_ADMIN: libc::c_ulong = 12;
const CAP_NET_RAW: libc::c_ulong = 13;
const CAP_SYS_ADMIN: libc::c_ulong = 21;
const CAPABILITY_VERSION_3: u32 = 0x2008_0522;

/// When this is dropped, or this process dies however it does, everything in the namespace dies.
#[derive(Debug)]
pub struct PidNamespace {
    orders: Sender<Order>,
    first: Child,
    children: Mutex<Vec<u32>>,
}

/// Where a process of a [`PidNamespace`] is started.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// Network namespace.
    pub network: BorrowedFd<'a>,
    /// Process group.
    pub group: Group<'a>,
    /// Signals that it blocks.
    pub blocked: SigSet,
}

/// A process group.
#[derive(Clone, Copy)]
pub enum Group<'a> {
    /// That of this process.
    Callers,
    /// One of its own.
    Own,
    /// One of its own, in the foreground of this terminal.
    Foreground(BorrowedFd<'a>),
}

#[derive(Debug)]
struct Order {
    command: Command,
    started: Sender<io::Result<Child>>,
}

impl PidNamespace {
    /// Make one. `first` must do nothing but [`be_first`].
    pub fn create(mut first: Command) -> io::Result<Self> {
        first.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // SAFETY: between fork and exec the closure only makes a system call.
        unsafe { first.pre_exec(die_with_parent) };
        let (orders, queue) = unbounded::<Order>();
        let (made, wait) = bounded(1);
        // The thread is the parent of all, and lives as long as `orders`: one that has made a PID namespace can start no thread any more.
        thread::Builder::new().name("pid-namespace".into()).spawn(move || {
            let _ = made.send(unshare(CloneFlags::CLONE_NEWPID).map_err(io::Error::from).and_then(|()| first.spawn()));
            for Order { mut command, started } in queue {
                let _ = started.send(command.spawn());
            }
        })?;
        let first = wait.recv().unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into()))?;
        Ok(Self { orders, first, children: Mutex::default() })
    }

    /// Start a child of this process in the namespace, with a `/proc` of the namespace where the machine allows it.
    pub fn spawn(&self, mut command: Command, place: &Place<'_>) -> io::Result<Child> {
        let (network, blocked) = (place.network.as_raw_fd(), place.blocked);
        let (own, terminal) = match place.group {
            Group::Callers => (false, None),
            Group::Own => (true, None),
            Group::Foreground(terminal) => (true, Some(terminal.as_raw_fd())),
        };
        // SAFETY: between fork and exec the closure only makes system calls; it allocates nothing and takes no lock.
        unsafe {
            command.pre_exec(move || {
                die_with_parent()?;
                check(libc::setns(network, libc::CLONE_NEWNET))?;
                // Container runtimes that mask parts of `/proc` forbid a new one; then the old one stays.
                let _ = mount_proc();
                if own {
                    check(libc::setpgid(0, 0))?;
                }
                if let Some(terminal) = terminal {
                    check(libc::tcsetpgrp(terminal, libc::getpid()))?;
                }
                keep_capabilities();
                Ok(blocked.thread_set_mask()?)
            });
        }
        let (started, wait) = bounded(1);
        let _ = self.orders.send(Order { command, started });
        let child = wait.recv().unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into()))?;
        self.children.lock().unwrap_or_else(PoisonError::into_inner).push(child.id());
        Ok(child)
    }
}

impl Drop for PidNamespace {
    fn drop(&mut self) {
        let _ = self.first.kill();
        // The first process ends only when every other one is collected, and these are ours to collect.
        for child in self.children.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let _ = waitpid(Pid::from_raw(child as i32), None);
        }
        let _ = self.first.wait();
    }
}

/// What the first process of a [`PidNamespace`] does: lets the kernel collect orphans, until it is killed.
pub fn be_first() -> ! {
    // SAFETY: ignoring a signal installs no handler.
    let _ = unsafe { signal(Signal::SIGCHLD, SigHandler::SigIgn) };
    loop {
        pause();
    }
}

fn die_with_parent() -> io::Result<()> {
    // SAFETY: no pointers.
    check(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) })
}

/// A mount namespace from which nothing spreads, with `/proc` of the process's own PID namespace. Allocates nothing.
fn mount_proc() -> io::Result<()> {
    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    // SAFETY: every pointer is null or to a constant that ends with 0.
    unsafe {
        check(libc::unshare(libc::CLONE_NEWNS))?;
        check(libc::mount(null(), c"/".as_ptr(), null(), libc::MS_REC | libc::MS_PRIVATE, null()))?;
        check(libc::mount(c"proc".as_ptr(), c"/proc".as_ptr(), c"proc".as_ptr(), flags, null()))
    }
}

#[repr(C)]
struct CapabilityHeader {
    version: u32,
    pid: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct CapabilitySets {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// Make capabilities outlive exec as ambient ones (`capabilities(7)`); root's do by themselves. What is not permitted is left out.
fn keep_capabilities() {
    let mut header = CapabilityHeader { version: CAPABILITY_VERSION_3, pid: 0 };
    let mut sets = [CapabilitySets::default(); 2];
    // SAFETY: both pointers are to live values of the layout that this version of the interface has.
    unsafe {
        if libc::geteuid() == 0 || libc::syscall(libc::SYS_capget, &raw mut header, sets.as_mut_ptr()) < 0 {
            return;
        }
        for capability in KEPT {
            let set = &mut sets[capability as usize / 32];
            set.inheritable |= set.permitted & (1 << (capability % 32));
        }
        if libc::syscall(libc::SYS_capset, &raw mut header, sets.as_ptr()) == 0 {
            for capability in KEPT {
                libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_RAISE, capability, 0, 0);
            }
        }
    }
}

fn check(result: i32) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
