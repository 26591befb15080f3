//! The resources of the machine, and whether they are enough for a small campaign.

use std::fs;

use nix::sys::statvfs::statvfs;
use wirelab_net::process;

use super::Check;
use crate::host::facts;

const OPEN_FILES: u64 = 1024;
const MEMORY_BYTES: u64 = 512 << 20;
const DISK_BYTES: u64 = 1 << 30;

/// The resources of the machine, and whether they are enough for a small campaign.
pub fn checks() -> Vec<Check> {
    vec![clock_source(), cpus(), memory(), open_files(), disk()]
}

fn clock_source() -> Check {
    let name = facts::clock_source();
    let slow = ["hpet", "acpi_pm", "jiffies"].contains(&name.as_str());
    let result = if slow { Err(format!("{name}: reading the time is a slow system call")) } else { Ok(name) };
    Check::of("clock-source", result, "boot with `clocksource=tsc` if the processor's counter is reliable")
}

fn cpus() -> Check {
    let count = facts::cpus();
    let result = if count >= 2 { Ok(format!("{count} CPUs")) } else { Err(format!("{count} CPU")) };
    Check::of("cpus", result, "give at least two: the link competes with the endpoints for a single one")
}

fn memory() -> Check {
    let limit = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]
        .iter()
        .find_map(|path| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok());
    let bytes = facts::memory_bytes().min(limit.unwrap_or(u64::MAX));
    let words = format!("{} MiB", bytes >> 20);
    let result = if bytes >= MEMORY_BYTES { Ok(words) } else { Err(words) };
    Check::of("memory", result, format!("give at least {} MiB", MEMORY_BYTES >> 20))
}

fn open_files() -> Check {
    let result = match process::raise_open_files() {
        Ok(limit) if limit >= OPEN_FILES => Ok(format!("up to {limit}")),
        Ok(limit) => Err(format!("only {limit}")),
        Err(error) => Err(error.to_string()),
    };
    Check::of("open-files", result, format!("raise the hard limit to at least {OPEN_FILES} (`ulimit -Hn`)"))
}

fn disk() -> Check {
    let result = match statvfs(".") {
        Ok(disk) => {
            let bytes = disk.blocks_available() * disk.fragment_size();
            let words = format!("{} MiB free here", bytes >> 20);
            if bytes >= DISK_BYTES { Ok(words) } else { Err(words) }
        }
        Err(error) => Err(format!("cannot tell: {error}")),
    };
    Check::of("free-disk", result, "free some, or write results elsewhere with `--out`")
}
