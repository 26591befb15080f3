//! How promptly the kernel runs the link's thread.
#![allow(unsafe_code)]

use std::mem::size_of;
use std::{fmt, io};

use nix::libc;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

/// A custom slice of the fair scheduler (EEVDF, Linux 6.12): a short one is run sooner after it wakes. No privilege is needed.
const SLICE_NS: u64 = 100_000;
const FIFO_PRIORITY: u32 = 10;

/// Scheduling of a thread, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduling {
    /// SCHED_FIFO.
    Fifo,
    /// The default policy with a short slice.
    Slice,
    /// The default policy.
    Default,
}

impl fmt::Display for Scheduling {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Fifo => "fifo",
            Self::Slice => "slice",
            Self::Default => "default",
        })
    }
}

impl Scheduling {
    /// Give the calling thread the best that is allowed.
    pub fn best() -> Self {
        if Self::fifo() { Self::Fifo } else { Self::short_slice() }
    }

    /// Try SCHED_FIFO for the calling thread.
    pub fn fifo() -> bool {
        let attributes = Attributes { policy: libc::SCHED_FIFO as u32, priority: FIFO_PRIORITY, ..Attributes::new() };
        attributes.set().is_ok()
    }

    /// Leave SCHED_FIFO, for a short slice if the kernel knows it.
    pub fn short_slice() -> Self {
        let set = Attributes { runtime: SLICE_NS, ..Attributes::new() }.set();
        let known = set.is_ok() && Attributes::get().is_ok_and(|attributes| attributes.runtime == SLICE_NS);
        if known { Self::Slice } else { Self::Default }
    }
}

/// CPUs that the calling thread may use.
pub fn cpus() -> Vec<usize> {
    let set = sched_getaffinity(Pid::from_raw(0)).unwrap_or_default();
    (0..CpuSet::count()).filter(|cpu| set.is_set(*cpu).unwrap_or(false)).collect()
}

/// Give the calling thread a CPU of its own, the last it may use, if there are several: without a real-time policy that is what keeps it from
/// waiting for the endpoints. Everybody else has to [`leave`] that CPU.
pub fn settle() -> Option<usize> {
    let cpus = cpus();
    let cpu = *cpus.last().filter(|_| cpus.len() > 1)?;
    keep_to([cpu]).then_some(cpu)
}

/// Keep the calling thread, and what it starts from now on, away from a CPU; false if that is refused.
pub fn leave(cpu: usize) -> bool {
    keep_to(cpus().into_iter().filter(|other| *other != cpu))
}

/// Keep the calling thread, and what it starts from now on, to these CPUs; false if that is refused.
pub fn keep_to(cpus: impl IntoIterator<Item = usize>) -> bool {
    let mut set = CpuSet::new();
    cpus.into_iter().all(|cpu| set.set(cpu).is_ok()) && sched_setaffinity(Pid::from_raw(0), &set).is_ok()
}

/// Let timers of the calling thread fire at their instant, not up to 50 us later.
pub fn exact_timers() {
    // SAFETY: no pointers.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
}

/// Keep this process in memory; true if that is allowed. Not tried against a limit, for then a later allocation could fail.
pub fn lock_memory() -> bool {
    let unlimited = nix::sys::resource::getrlimit(nix::sys::resource::Resource::RLIMIT_MEMLOCK)
        .is_ok_and(|(soft, _)| soft == libc::RLIM_INFINITY);
    let privileged = crate::process::status_field("CapEff")
        .and_then(|mask| u64::from_str_radix(&mask, 16).ok())
        .is_some_and(|mask| mask & (1 << CAP_IPC_LOCK) != 0)
        && !in_user_namespace();
    // SAFETY: no pointers.
    (unlimited || privileged) && unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE) } == 0
}

const CAP_IPC_LOCK: u32 = 14;

/// True if user ids of this process are mapped, so that its capabilities do not reach the machine's own limits.
fn in_user_namespace() -> bool {
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    !map.split_whitespace().eq(["0", "0", "4294967295"])
}

/// `struct sched_attr` as of Linux 4.
#[repr(C)]
struct Attributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
}

impl Attributes {
    fn new() -> Self {
        let size = size_of::<Self>() as u32;
        Self { size, policy: 0, flags: 0, nice: 0, priority: 0, runtime: 0, deadline: 0, period: 0 }
    }

    fn set(&self) -> io::Result<()> {
        // SAFETY: the pointer is to a live value that states its own size.
        result(unsafe { libc::syscall(libc::SYS_sched_setattr, 0, self as *const Self, 0) })
    }

    fn get() -> io::Result<Self> {
        let mut attributes = Self::new();
        // SAFETY: the pointer is to a live value of the size that is passed.
        let code = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, size_of::<Self>(), 0) };
        result(code).map(|()| attributes)
    }
}

fn result(code: libc::c_long) -> io::Result<()> {
    if code < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_takes_a_cpu_alone_and_the_others_leave_it() {
        let thread = || {
            let before = cpus();
            let own = settle();
            (before, own, cpus())
        };
        let (before, own, after) = std::thread::spawn(thread).join().unwrap();
        let Some(own) = own else { return assert_eq!(before.len(), 1) };
        assert_eq!(after, [own]);
        let others = move || {
            assert!(leave(own));
            cpus()
        };
        let others = std::thread::spawn(others).join().unwrap();
        assert_eq!([others, vec![own]].concat(), before);
    }
}
