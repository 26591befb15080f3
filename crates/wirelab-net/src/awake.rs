//! CPUs that do not sleep while nothing runs on them.

use std::fs::File;
use std::io::{self, Write};

/// Documentation/power/pm_qos_interface.rst in Linux: a process that holds it open says how late the machine's CPUs may wake, in microseconds.
const CPU_LATENCY: &str = "/dev/cpu_dma_latency";

/// Keeps every CPU of the machine from sleeping while it lives, and no longer than its process does: an idle CPU polls for work, so that what it is to
/// run begins immediately. That costs the power of CPUs that are never idle. Root only.
#[derive(Debug)]
pub struct AwakeCpus {
    _held: File,
}

impl AwakeCpus {
    /// Begin.
    pub fn hold() -> io::Result<Self> {
        let mut file = File::options().write(true).open(CPU_LATENCY)?;
        file.write_all(&0i32.to_ne_bytes())?;
        Ok(Self { _held: file })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn root_gets_cpus_that_wake_without_delay_and_others_are_refused() {
        match AwakeCpus::hold() {
            Ok(_held) => {
                let mut latency_us = [0xff; 4];
                File::open(CPU_LATENCY).unwrap().read_exact(&mut latency_us).unwrap();
                assert_eq!(i32::from_ne_bytes(latency_us), 0);
            }
            Err(error) => {
                let refusals = [io::ErrorKind::PermissionDenied, io::ErrorKind::NotFound];
                assert!(refusals.contains(&error.kind()), "{error}");
            }
        }
    }
}
