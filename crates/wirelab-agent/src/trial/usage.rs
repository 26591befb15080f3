//! CPU time, memory and context switches of an endpoint's processes, as the kernel counts them.

use std::fs;
use std::io::{self, ErrorKind};
use std::time::Duration;

use nix::errno::Errno;
use wirelab_net::counters::{Counter, Event, thread_cpu_time};
use wirelab_net::link::Instant;
use wirelab_net::process::Reaped;
use wirelab_schema::EndpointResult;

use super::tree::{Member, Tree};

/// What the processes of one endpoint used.
#[derive(Default)]
pub struct Usage {
    cpu_user: Duration,
    cpu_system: Duration,
    voluntary_switches: u64,
    involuntary_switches: u64,
    peak_memory_bytes: u64,
    /// CPU time when it was found ready.
    pub ready: Option<Duration>,
    proportional_memory_bytes: Option<u64>,
    memory_samples: u32,
    instructions: Option<Counter>,
    is_restarted: bool,
}

impl Usage {
    /// Of an endpoint that has just been started.
    pub fn of(pid: u32) -> Self {
        Self { instructions: Counter::of(Event::Instructions, pid).ok(), ..Self::default() }
    }

    /// It is one of several processes, one after the other. A counter of instructions is of the first alone, and so is what was used until it was
    /// ready: both no longer say what all of them used.
    pub fn restarted(&mut self) {
        self.instructions = None;
        self.is_restarted = true;
    }

    /// One of its processes has ended; with it are the children that it collected.
    pub fn add(&mut self, ended: &Reaped) {
        self.cpu_user += ended.cpu_user;
        self.cpu_system += ended.cpu_system;
        self.voluntary_switches += ended.voluntary_switches;
        self.involuntary_switches += ended.involuntary_switches;
        self.peak_memory_bytes = self.peak_memory_bytes.max(ended.peak_memory_bytes);
    }

    /// CPU time of those that have ended.
    pub fn cpu_time(&self) -> Duration {
        self.cpu_user + self.cpu_system
    }

    /// Add the usage to `result`. `stated` is the CPU time that the endpoint itself reports for when it was ready: it knows the instant better.
    pub fn tell(&self, stated: Option<Duration>, result: &mut EndpointResult) {
        let nanoseconds = |time: Duration| time.as_nanos() as u64;
        result.cpu_user_ns = Some(nanoseconds(self.cpu_user));
        result.cpu_system_ns = Some(nanoseconds(self.cpu_system));
        result.peak_memory_bytes = Some(self.peak_memory_bytes);
        result.cpu_ready_ns = stated.or(self.ready).filter(|_| !self.is_restarted).map(nanoseconds);
        result.voluntary_switches = Some(self.voluntary_switches);
        result.involuntary_switches = Some(self.involuntary_switches);
        result.proportional_memory_bytes = self.proportional_memory_bytes;
        result.memory_samples = self.memory_samples;
        result.instructions = self.instructions.as_ref().and_then(Counter::read);
    }
}

/// Takes samples of the memory of all endpoints, as often as its share of a CPU lets it.
pub struct Sampler {
    began: Instant,
    /// Without one it takes none.
    share: Option<f64>,
    /// CPU time of this thread.
    spent: Duration,
    /// The longest time that a sample has taken.
    expected: Duration,
}

/// Assumed time of the first sample.
const EXPECTED: Duration = Duration::from_micros(500);
const MIN_PAUSE: Duration = Duration::from_millis(10);
/// What a process and each of its resident pages add to a sample: `smaps_rollup` walks all of them (34 to 44 ns a page were measured).
const PROCESS: Duration = Duration::from_micros(20);
const PAGE: Duration = Duration::from_nanos(60);

impl Sampler {
    /// Begin now; `share` of a CPU is what it may use, if it may take samples at all.
    pub fn new(now: Instant, share: Option<f64>) -> Self {
        Self { began: now, share, spent: Duration::ZERO, expected: EXPECTED }
    }

    /// How long until the next sample.
    pub fn due_in(&self, now: Instant) -> Duration {
        let Some(share) = self.share else { return Duration::MAX };
        let earned = (self.spent + self.expected).as_secs_f64() / share;
        let due = self.began + Duration::try_from_secs_f64(earned).unwrap_or(Duration::MAX / 4).max(MIN_PAUSE);
        due.saturating_since(now)
    }

    /// Take one, or look only, if it would take more than was waited for.
    pub fn sample(&mut self, tree: &mut Tree, usages: &mut [Usage]) {
        let begin = thread_cpu_time();
        let members = tree.look();
        let pages: u32 = members.iter().map(|member| resident_pages(member.pid)).sum();
        let forecast = PROCESS * members.len() as u32 + PAGE * pages;
        if forecast > self.expected {
            self.expected = forecast;
        } else {
            Self::read(&members, usages);
        }
        let took = thread_cpu_time().zip(begin).map_or(EXPECTED, |(end, begin)| end.saturating_sub(begin));
        self.spent += took;
        self.expected = self.expected.max(took);
    }

    fn read(members: &[Member], usages: &mut [Usage]) {
        for (owner, usage) in usages.iter_mut().enumerate() {
            let mine = members.iter().filter(|member| member.owner == owner).map(|member| member.pid);
            let bytes = proportional(mine, |pid| fs::read_to_string(format!("/proc/{pid}/smaps_rollup")));
            if let Some(bytes) = bytes.filter(|bytes| *bytes > 0) {
                usage.proportional_memory_bytes = usage.proportional_memory_bytes.max(Some(bytes));
                usage.memory_samples += 1;
            }
        }
    }
}

/// The second number of `/proc/PID/statm`; 0 of a process that has ended.
fn resident_pages(pid: u32) -> u32 {
    let sizes = fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
    sizes.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0)
}

/// Bytes of all these processes; `None` if one of them may not be looked at. One that has just ended has none.
fn proportional(pids: impl Iterator<Item = u32>, read: impl Fn(u32) -> io::Result<String>) -> Option<u64> {
    pids.map(|pid| match read(pid) {
        Ok(text) => Some(pss_bytes(&text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Some(0),
        Err(error) if error.raw_os_error() == Some(Errno::ESRCH as i32) => Some(0),
        Err(_) => None,
    })
    .sum()
}

/// `Pss:  123 kB` (Documentation/ABI/testing/procfs-smaps_rollup in Linux).
fn pss_bytes(rollup: &str) -> u64 {
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:")?.trim().strip_suffix(" kB"));
    line.and_then(|kib| kib.trim().parse::<u64>().ok()).unwrap_or(0) * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proportional_memory_is_that_of_all_processes_or_unknown() {
        let rollup = "55d0-7ffd ---p 00000000 00:00 0 [rollup]\nRss:   900 kB\nPss:   700 kB\nPss_Dirty:  5 kB\n";
        assert_eq!(pss_bytes(rollup), 700 * 1024);
        let read = |pid: u32| match pid {
            1 => Ok(rollup.to_owned()),
            2 => Err(io::Error::from_raw_os_error(Errno::ESRCH as i32)),
            3 => Err(io::ErrorKind::NotFound.into()),
            _ => Err(io::ErrorKind::PermissionDenied.into()),
        };
        assert_eq!(proportional([1, 1, 2, 3].into_iter(), read), Some(2 * 700 * 1024));
        assert_eq!(proportional([1, 4].into_iter(), read), None);
    }

    #[test]
    fn samples_are_so_far_apart_that_they_keep_to_their_share() {
        let mut sampler = Sampler::new(Instant::default(), Some(0.01));
        let at = |milliseconds| Instant::default() + Duration::from_millis(milliseconds);
        assert_eq!(sampler.due_in(at(0)), Duration::from_millis(50), "half a millisecond is 1 % of it");
        sampler.spent = Duration::from_millis(2);
        sampler.expected = Duration::from_millis(3);
        assert_eq!(sampler.due_in(at(100)), Duration::from_millis(400));
        assert_eq!(sampler.due_in(at(900)), Duration::ZERO);
        assert_eq!(Sampler::new(Instant::default(), None).due_in(at(900)), Duration::MAX);
    }

    #[test]
    fn a_sample_sees_this_process() {
        let mut tree = Tree::default();
        tree.plant(std::process::id(), 0);
        let (mut sampler, mut usages) = (Sampler::new(Instant::default(), Some(1.0)), [Usage::default()]);
        sampler.expected = Duration::ZERO;
        sampler.sample(&mut tree, &mut usages);
        assert_eq!(usages[0].memory_samples, 0, "what it takes was not waited for");
        assert!(sampler.expected > PROCESS, "{:?}", sampler.expected);
        sampler.sample(&mut tree, &mut usages);
        assert_eq!(usages[0].memory_samples, 1);
        assert!(usages[0].proportional_memory_bytes > Some(100_000), "{:?}", usages[0].proportional_memory_bytes);
        assert!(sampler.spent > Duration::ZERO);
    }
}
