//! How long an endpoint's threads were ready to run and waited for a CPU.

use std::fs;

use nix::unistd::{SysconfVar, sysconf};

/// How long the threads of a process were ready to run and waited for a CPU, in nanoseconds; `None` if the kernel does not count it. Of a
/// process that has ended and was not collected yet, its first thread's.
///
/// `/proc/PID/task/TID/schedstat`: time on a CPU, time waiting for one, time slices.
pub fn run_delay_ns(pid: u32) -> Option<u64> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten();
    waited(tasks.filter_map(|task| fs::read_to_string(task.path().join("schedstat")).ok()))
}

/// CPU time that a hypervisor gave to others while this machine was ready to run, over all CPUs, since it booted.
pub fn steal_ns() -> Option<u64> {
    let ticks = stolen_ticks(&fs::read_to_string("/proc/stat").ok()?)?;
    let hertz = u64::try_from(sysconf(SysconfVar::CLK_TCK).ok()??).ok()?;
    Some(ticks * 1_000_000_000 / hertz)
}

/// By the threads' `schedstat`. A kernel without these statistics says 0 of everything, as of a thread that has not run yet: what all others waited
/// for is known then, without a first wait that is not over.
fn waited(threads: impl Iterator<Item = String>) -> Option<u64> {
    let mut some_ran = false;
    let mut sum = 0;
    for schedstat in threads {
        let mut fields = schedstat.split_whitespace().map(str::parse::<u64>);
        let (ran, waited) = (fields.next()?.ok()?, fields.next()?.ok()?);
        some_ran |= ran > 0;
        sum += waited;
    }
    some_ran.then_some(sum)
}

/// `proc_stat(5)`: `cpu user nice system idle iowait irq softirq steal …`.
fn stolen_ticks(stat: &str) -> Option<u64> {
    stat.lines().next()?.split_whitespace().nth(8)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_say_how_long_they_waited_unless_the_kernel_counts_nothing() {
        let waited = |threads: &[&str]| waited(threads.iter().map(|text| (*text).to_owned()));
        assert_eq!(waited(&["491499 7496212 3\n"]), Some(7_496_212));
        assert_eq!(waited(&["491499 7496212 3\n", "2 88 1\n"]), Some(7_496_300));
        assert_eq!(waited(&["0 0 0\n", "0 0 0\n"]), None);
        assert_eq!(waited(&["491499 7496212 3\n", "nonsense"]), None);
        assert_eq!(waited(&[""]), None);
        assert_eq!(waited(&[]), None);
    }

    #[test]
    fn a_thread_that_has_not_run_yet_hides_nothing_of_the_others() {
        let threads = ["491499 7496212 3\n", "0 0 0\n"].map(str::to_owned);
        assert_eq!(waited(threads.into_iter()), Some(7_496_212));
    }

    #[test]
    fn stolen_time_is_the_eighth_count_of_all_cpus() {
        let stat = "cpu  1963963 214835 342547 2513223 36793 0 20237 2866 0 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n";
        assert_eq!(stolen_ticks(stat), Some(2866));
        assert_eq!(stolen_ticks("intr 1"), None);
    }

    #[test]
    fn nothing_is_known_of_a_process_that_is_not_there() {
        assert_eq!(run_delay_ns(u32::MAX), None);
    }
}
