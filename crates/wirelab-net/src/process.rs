//! Starting and collecting processes that die with their parent.
#![allow(unsafe_code)]

use std::convert::Infallible;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::time::Duration;
use std::{fs, io, thread};

use crossbeam_channel::{Sender, bounded};
use nix::libc;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{SigHandler, Signal, signal};
use nix::sys::wait::{Id, WaitPidFlag, waitid};

use crate::{Context, Error};

/// How a process is set apart from its parent.
#[derive(Default)]
pub struct Confinement<'a> {
    /// Network namespace to be in.
    pub network: Option<BorrowedFd<'a>>,
    /// Descriptors to keep open under the same number.
    pub inherited: Vec<BorrowedFd<'a>>,
    /// Control group to be in: its `cgroup.procs`, open for writing.
    pub group: Option<BorrowedFd<'a>>,
    /// Begin a session, by which a process that outlives its parent is found.
    pub session: bool,
}

/// Start `command`. It is killed when the calling **thread** ends, so call this from one that lives long enough. SIGINT is back at its default.
pub fn spawn(command: &mut Command, confinement: &Confinement<'_>) -> io::Result<Child> {
    prepare(command, confinement, Some(std::process::id()));
    command.spawn()
}

/// The first process of a PID namespace of its own: when it ends, so does everything in the namespace. It is killed when this is dropped.
#[derive(Debug)]
pub struct FirstProcess {
    /// The process.
    pub child: Child,
    _parent: Sender<Infallible>,
}

impl FirstProcess {
    /// Start `command` as one.
    ///
    /// A thread of its own is the parent, and lives as long: a thread that has made a PID namespace can start no thread any more, and in a user
    /// namespace it cannot go back.
    pub fn spawn(mut command: Command, confinement: &Confinement<'_>) -> io::Result<Self> {
        prepare(&mut command, confinement, None);
        let (started, child) = bounded(1);
        let (parent, dropped) = bounded::<Infallible>(0);
        thread::Builder::new().name("pid-namespace".into()).spawn(move || {
            let child = unshare(CloneFlags::CLONE_NEWPID).map_err(io::Error::from).and_then(|()| command.spawn());
            let _ = started.send(child);
            let _ = dropped.recv();
        })?;
        let child = child.recv().unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into()))?;
        Ok(Self { child, _parent: parent })
    }
}

/// `parent` is what the child must see as its parent when it has asked to die with it; in a PID namespace of its own it sees none.
fn prepare(command: &mut Command, confinement: &Confinement<'_>, parent: Option<u32>) {
    let network = confinement.network.map(|descriptor| descriptor.as_raw_fd());
    let group = confinement.group.map(|descriptor| descriptor.as_raw_fd());
    let session = confinement.session;
    let inherited: Vec<RawFd> = confinement.inherited.iter().map(|descriptor| descriptor.as_raw_fd()).collect();
    // SAFETY: between fork and exec the closure only makes system calls; it allocates nothing and takes no lock.
    unsafe {
        command.pre_exec(move || {
            check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
            if parent.is_some_and(|parent| libc::getppid() as u32 != parent) {
                libc::_exit(1);
            }
            libc::signal(libc::SIGINT, libc::SIG_DFL);
            if session {
                check(libc::setsid())?;
            }
            if let Some(group) = group {
                // A process that writes 0 means itself.
                check(libc::write(group, c"0".as_ptr().cast(), 1) as i32)?;
            }
            if let Some(network) = network {
                check(libc::setns(network, libc::CLONE_NEWNET))?;
            }
            for descriptor in &inherited {
                check(libc::fcntl(*descriptor, libc::F_SETFD, 0))?;
            }
            Ok(())
        });
    }
}

/// A process that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reaped {
    /// Its id.
    pub pid: u32,
    /// Exit code, if it exited.
    pub exit_code: Option<i32>,
    /// Signal, if one ended it.
    pub signal: Option<i32>,
    /// User CPU time of it and the children it waited for.
    pub cpu_user: Duration,
    /// System CPU time.
    pub cpu_system: Duration,
    /// Peak resident memory of the largest among them, in bytes. Not below that of its parent when it was started.
    pub peak_memory_bytes: u64,
    /// Voluntary context switches of it and them.
    pub voluntary_switches: u64,
    /// How often they were made to.
    pub involuntary_switches: u64,
}

/// A child that has ended and is not collected yet: `/proc` still knows it.
pub fn ended() -> Option<u32> {
    let status = waitid(Id::All, WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT).ok()?;
    status.pid().map(|pid| pid.as_raw() as u32)
}

/// Collect this child, which has ended.
pub fn reap(pid: u32) -> Option<Reaped> {
    let mut status = 0;
    // SAFETY: rusage is plain old data, for which zeros are valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to live variables of the right types.
    let pid = unsafe { libc::wait4(pid as i32, &mut status, libc::WNOHANG, &mut usage) };
    (pid > 0).then(|| Reaped {
        pid: pid as u32,
        exit_code: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
        signal: libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)),
        cpu_user: duration(usage.ru_utime),
        cpu_system: duration(usage.ru_stime),
        peak_memory_bytes: usage.ru_maxrss as u64 * 1024,
        voluntary_switches: usage.ru_nvcsw as u64,
        involuntary_switches: usage.ru_nivcsw as u64,
    })
}

/// Take over a descriptor that the parent left open under this number, and close it on exec from now on.
pub fn inherited(number: RawFd) -> Result<OwnedFd, Error> {
    // SAFETY: fcntl on any number is harmless; it fails if nothing is open there.
    check(unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) })
        .context(format!("inheriting descriptor {number}"))?;
    // SAFETY: it is open, and the parent opened it for us alone.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Move this process, which must have one thread, into a network namespace.
pub fn enter_network(namespace: BorrowedFd<'_>) -> Result<(), Error> {
    setns(namespace, CloneFlags::CLONE_NEWNET).context("entering a network namespace")
}

/// Give this process a mount namespace from which nothing spreads, with a `/proc` of its own PID namespace. An error of the second step leaves
/// the old `/proc` in place: container runtimes that mask parts of `/proc` forbid a new one.
pub fn mount_own_proc() -> Result<(), Error> {
    unshare(CloneFlags::CLONE_NEWNS).context("making a mount namespace")?;
    let none = None::<&str>;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none).context("making mounts private")?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("proc"), "/proc", Some("proc"), flags, none).context("mounting /proc")
}

/// Leave the terminal's session if there is one, so that Ctrl-C and a hang-up reach only our parent; SIGINT is ignored in any case.
pub fn ignore_terminal() {
    // Fails for the leader of a process group, which then is not in the caller's group anyway.
    let _ = nix::unistd::setsid();
    // SAFETY: ignoring a signal installs no handler.
    let _ = unsafe { signal(Signal::SIGINT, SigHandler::SigIgn) };
}

/// Allow as many open files as the hard limit does; children inherit it.
pub fn raise_open_files() -> Result<u64, Error> {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).context("reading the limit of open files")?;
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard).context("raising the limit of open files")?;
    Ok(hard)
}

/// The value of `name:` in `/proc/self/status`.
pub fn status_field(name: &str) -> Option<String> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim().to_owned()))
}

fn check(result: i32) -> io::Result<i32> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn duration(time: libc::timeval) -> Duration {
    Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000)
}
