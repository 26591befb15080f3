use std::fs;

use nix::unistd::{SysconfVar, sysconf};

/// How long the threads of a process were ready to run and waited for a CPU, in nanoseconds; `None` where the kernel does not count it. Of a
/// process that has ended and was not collected yet, its first thread's.
///
/// `/proc/PID/task/TID/schedstat`: time on a CPU, time waiting for one, time slices.
pub fn run_delay_ns(pid: u32) -> Option<u64> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten();
    let stats = tasks.filter_map(|task| fs::read_to_string(task.path().join("schedstat")).ok());
    stats.map(|text| waited(&text)).reduce(|one, other| Some(one? + other?))?
}

/// CPU time that a hypervisor gave to others while this machine was ready to run, over all CPUs, since it booted.
pub fn steal_ns() -> Option<u64> {
    let ticks = stolen_ticks(&fs::read_to_string("/proc/stat").ok()?)?;
    let hertz = u64::try_from(sysconf(SysconfVar::CLK_TCK).ok()??).ok()?;
    Some(ticks * 1_000_000_000 / hertz)
}

fn waited(schedstat: &str) -> Option<u64> {
    let mut fields = schedstat.split_whitespace().map(str::parse::<u64>);
    let (ran, waited) = (fields.next()?.ok()?, fields.next()?.ok()?);
    // A kernel without these statistics says 0 of everything.
    (ran > 0).then_some(waited)
}

/// `proc_stat(5)`: `cpu user nice system idle iowait irq softirq steal …`.
fn stolen_ticks(stat: &str) -> Option<u64> {
    stat.lines().next()?.split_whitespace().nth(8)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_says_how_long_it_waited_unless_the_kernel_counts_nothing() {
        assert_eq!(waited("491499 7496212 3\n"), Some(7_496_212));
        assert_eq!(waited("0 0 0\n"), None);
        assert_eq!(waited(""), None);
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
