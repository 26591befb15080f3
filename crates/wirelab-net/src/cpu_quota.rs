//! Limits on the CPU time of processes: bandwidth control of the kernel's fair scheduler, in control groups of version 1 or 2.

mod place;

use std::fs;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crate::process::{self, Confinement};
use crate::{Context, Error, clock};
pub use place::Version;
use place::{Place, places};

/// The smallest quota of a period that the kernel accepts (`min_cfs_quota_period` in `kernel/sched/`); the shorter a period, the finer the grain.
const MIN_QUOTA_US: u64 = 1_000;
/// Its longest period.
const LONGEST_PERIOD_US: u64 = 1_000_000;
/// Shares of one CPU that can be had.
pub const SHARES: std::ops::RangeInclusive<f64> = 0.001..=1.0;
/// A group may not be removable right after its last process ended.
const REMOVALS: u32 = 200;
const REMOVE_AGAIN: Duration = Duration::from_millis(5);
/// Waits until its stdin is closed, which happens even if the holder is killed, and removes the folder `$0` with the groups in it.
const GUARD: &str = r#"cat
left=100
while [ -d "$0" ] && [ $left -gt 0 ]; do rmdir "$0"/*/ "$0" || sleep 0.1; left=$((left - 1)); done"#;

/// A control group of our own, without processes, for groups of processes. It goes when this is dropped, and when this process dies however it does.
#[derive(Debug)]
pub struct CpuQuotas {
    place: Place,
    made: AtomicU64,
    guardian: Child,
}

impl CpuQuotas {
    /// Make it below the control group of this process, or below the nearest one above where that can be done, and see whether `idle`, a command
    /// that ends by itself, can be limited there. What version 2 has to have enabled for it stays enabled.
    pub fn open(mut idle: impl FnMut() -> Command) -> Result<Self, Error> {
        let mut refused = None;
        for place in places()? {
            let opened = Self::open_at(place).and_then(|quotas| quotas.try_it(idle()).map(|()| quotas));
            match opened {
                Ok(quotas) => return Ok(quotas),
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        Err(refused.unwrap_or_else(place::none))
    }

    fn open_at(above: Place) -> Result<Self, Error> {
        let place = above.child(&format!("wirelab-{}-{}", std::process::id(), clock::now().as_nanos()))?;
        // Before there is a group, for this process may be killed as soon as there is.
        let guardian = guard(place.folder()).context("starting sh")?;
        let quotas = Self { place, made: AtomicU64::new(0), guardian };
        quotas.place.make()?;
        quotas.place.enable()?;
        Ok(quotas)
    }

    fn try_it(&self, mut idle: Command) -> Result<(), Error> {
        let quota = self.limit(1.0)?;
        let group = quota.join()?;
        let confinement = Confinement { group: Some(group.as_fd()), ..Confinement::default() };
        idle.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let what = format!("starting a process in {}", quota.place.folder().display());
        let mut child = process::spawn(&mut idle, &confinement).context(what)?;
        child.wait().context("waiting for a process")?;
        quota.used().map(drop)
    }

    /// Which version of control groups it is.
    pub fn version(&self) -> Version {
        self.place.version()
    }

    /// A group of processes that together may use this share of one CPU, one of [`SHARES`]; without processes at first.
    pub fn limit(&self, share: f64) -> Result<CpuQuota, Error> {
        let place = self.place.child(&self.made.fetch_add(1, Ordering::Relaxed).to_string())?;
        place.make()?;
        let (quota_us, period_us) = bandwidth(share);
        let quota = CpuQuota { place, quota_us, period_us };
        quota.place.limit(quota_us, period_us)?;
        Ok(quota)
    }
}

impl Drop for CpuQuotas {
    fn drop(&mut self) {
        end(self.place.folder(), &mut self.guardian);
    }
}

/// Processes under a limit. When this is dropped they must be gone, and so is the group then.
#[derive(Debug)]
pub struct CpuQuota {
    place: Place,
    quota_us: u64,
    period_us: u64,
}

/// A limit and its effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// CPU time in each period.
    pub quota: Duration,
    /// Length of a period.
    pub period: Duration,
    /// Periods in which there was something to do.
    pub periods: u64,
    /// Those in which the quota was used up.
    pub throttled_periods: u64,
    /// For how long processes were then held back; each CPU counts for itself.
    pub throttled: Duration,
}

impl CpuQuota {
    /// What a process writes `0` to in order to join, with [`Confinement::group`].
    pub fn joined_by(&self) -> PathBuf {
        self.place.folder().join("cgroup.procs")
    }

    fn join(&self) -> Result<fs::File, Error> {
        let path = self.joined_by();
        fs::File::options().write(true).open(&path).context(format!("opening {}", path.display()))
    }

    /// Its effect so far.
    pub fn used(&self) -> Result<Used, Error> {
        let stat = self.place.read("cpu.stat")?;
        let used = self.place.version().used(&stat);
        let (quota, period) = (Duration::from_micros(self.quota_us), Duration::from_micros(self.period_us));
        Ok(Used { quota, period, ..used })
    }
}

impl Drop for CpuQuota {
    fn drop(&mut self) {
        remove(self.place.folder());
    }
}

/// Quota and period, in microseconds: the shortest period for which the kernel accepts the quota.
fn bandwidth(share: f64) -> (u64, u64) {
    let period = (MIN_QUOTA_US as f64 / share).round().clamp(MIN_QUOTA_US as f64, LONGEST_PERIOD_US as f64);
    (((period * share).round() as u64).max(MIN_QUOTA_US), period as u64)
}

/// Start the guardian of a folder, in a process group of its own, so that Ctrl-C does not reach it.
fn guard(folder: &Path) -> io::Result<Child> {
    let mut guardian = Command::new("sh");
    guardian.args(["-c", GUARD]).arg(folder).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    guardian.process_group(0).spawn()
}

/// Remove the folder, or leave it to its guardian, which tries for longer.
fn end(folder: &Path, guardian: &mut Child) {
    if remove(folder) {
        let _ = guardian.kill();
        let _ = guardian.wait();
    } else {
        drop(guardian.stdin.take());
    }
}

/// True if the folder is gone.
fn remove(folder: &Path) -> bool {
    for _ in 0..REMOVALS {
        match fs::remove_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => thread::sleep(REMOVE_AGAIN),
            Err(error) => return error.kind() == io::ErrorKind::NotFound,
            Ok(()) => return true,
        }
    }
    false
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    let written = fs::File::options().write(true).open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.context(format!("writing {text} to {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_is_the_shortest_whose_quota_the_kernel_takes() {
        assert_eq!(bandwidth(0.1), (1_000, 10_000));
        assert_eq!(bandwidth(0.3), (1_000, 3_333));
        assert_eq!(bandwidth(0.001), (1_000, 1_000_000));
        assert_eq!(bandwidth(1.0), (1_000, 1_000));
    }

    #[test]
    fn what_cannot_be_removed_yet_is_left_to_the_guardian() {
        let folder = std::env::temp_dir().join(format!("wirelab-quota-{}", std::process::id()));
        let busy = folder.join("busy");
        for is_busy in [false, true] {
            fs::create_dir(&folder).expect("a folder");
            let mut guardian = guard(&folder).expect("sh");
            if is_busy {
                fs::write(&busy, "").expect("a file");
            }
            end(&folder, &mut guardian);
            assert_eq!(folder.exists(), is_busy);
            let _ = fs::remove_file(&busy);
            guardian.wait().expect("it ends by itself");
            assert!(!folder.exists());
        }
    }
}
