//! The kernel's counters of a running process.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

use nix::libc;
use nix::time::{ClockId, clock_getcpuclockid};
use nix::unistd::Pid;

/// User and system CPU time of a process so far, with that of its threads that have ended and without that of its children; `None` if there is
/// no such process.
pub fn cpu_time(pid: u32) -> Option<Duration> {
    let clock = clock_getcpuclockid(Pid::from_raw(i32::try_from(pid).ok()?)).ok()?;
    clock.now().ok().map(Duration::from)
}

/// The same of this process.
pub fn own_cpu_time() -> Option<Duration> {
    ClockId::CLOCK_PROCESS_CPUTIME_ID.now().ok().map(Duration::from)
}

/// The same of this thread.
pub fn thread_cpu_time() -> Option<Duration> {
    ClockId::CLOCK_THREAD_CPUTIME_ID.now().ok().map(Duration::from)
}

/// A counter of a process and of what it starts from now on (`perf_event_open(2)`), read as their sum, also when they have ended.
#[derive(Debug)]
pub struct Counter(OwnedFd);

/// The counted event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Instructions outside the kernel, by the processor.
    Instructions,
    /// Nanoseconds on a CPU, by the kernel: every machine has it.
    TaskClock,
}

impl Counter {
    /// Count from now on. Fails if the machine has no such counter, a virtual one for example, or does not allow it.
    pub fn of(event: Event, pid: u32) -> io::Result<Self> {
        let (kind, config) = match event {
            Event::Instructions => (PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS),
            Event::TaskClock => (PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK),
        };
        let attributes = Attributes {
            kind,
            size: size_of::<Attributes>() as u32,
            config,
            read_format: TOTAL_TIME_ENABLED | TOTAL_TIME_RUNNING,
            flags: INHERIT | EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR,
            ..Attributes::default()
        };
        let (every_cpu, no_group) = (-1, -1);
        // SAFETY: the pointer is to a live value that states its own size.
        let descriptor = unsafe {
            libc::syscall(libc::SYS_perf_event_open, &raw const attributes, pid as i32, every_cpu, no_group, CLOEXEC)
        };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just opened it for us alone.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(descriptor as i32) }))
    }

    /// How much so far; `None` if the processor's counter was lent to others meanwhile, so that nobody knows.
    pub fn read(&self) -> Option<u64> {
        let mut values = [0u64; 3];
        let wanted = size_of_val(&values);
        // SAFETY: the buffer is a live array of that many bytes.
        let length = unsafe { libc::read(self.0.as_raw_fd(), values.as_mut_ptr().cast(), wanted) };
        let [count, enabled, running] = values;
        (length == wanted as isize && enabled == running).then_some(count)
    }
}

const PERF_TYPE_HARDWARE: u32 = 0;
const PERF_TYPE_SOFTWARE: u32 = 1;
const PERF_COUNT_HW_INSTRUCTIONS: u64 = 1;
const PERF_COUNT_SW_TASK_CLOCK: u64 = 1;
const TOTAL_TIME_ENABLED: u64 = 1;
const TOTAL_TIME_RUNNING: u64 = 1 << 1;
const INHERIT: u64 = 1 << 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
const CLOEXEC: libc::c_ulong = 1 << 3;

/// `struct perf_event_attr` in its first size, which every kernel takes (`linux/perf_event.h`).
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    config1: u64,
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_cpu_time_of_a_process_is_known_while_it_runs_and_not_afterwards() {
        let mut child = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        while cpu_time(child.id()).unwrap() < Duration::from_millis(20) {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(cpu_time(child.id()), None);
        let of_thread = thread_cpu_time().unwrap();
        assert!(own_cpu_time().unwrap() >= of_thread);
    }

    #[test]
    fn a_counter_counts_what_a_process_starts_and_keeps_the_count() {
        let mut child = Command::new("sh")
            .args(["-c", "read line; sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'; true"])
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let counter = Counter::of(Event::TaskClock, child.id());
        drop(child.stdin.take());
        assert!(child.wait().unwrap().success());
        match counter {
            // The loop is its child's, which takes milliseconds for it.
            Ok(counter) => assert!(counter.read().unwrap() > 1_000_000, "{:?}", counter.read()),
            Err(error) => eprintln!("not tested: perf_event_open: {error}"),
        }
    }
}
