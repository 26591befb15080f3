//! Where a control group for CPU limits can be made, version 1 or 2. It makes none.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Used, write};
use crate::{Context, Error};

/// Of control groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// Each controller with a hierarchy of its own.
    One,
    /// All in one.
    Two,
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::One => "cgroup v1",
            Self::Two => "cgroup v2",
        })
    }
}

impl Version {
    /// What `cpu.stat` says of throttling.
    pub fn used(self, stat: &str) -> Used {
        let field = |name: &str| {
            let value = |line: &str| line.strip_prefix(name)?.trim().parse().ok();
            stat.lines().find_map(value).unwrap_or(0)
        };
        let throttled = match self {
            Self::One => Duration::from_nanos(field("throttled_time ")),
            Self::Two => Duration::from_micros(field("throttled_usec ")),
        };
        let (periods, throttled_periods) = (field("nr_periods "), field("nr_throttled "));
        Used { periods, throttled_periods, throttled, ..Used::default() }
    }
}

/// A control group, whether it exists or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    version: Version,
    folder: PathBuf,
}

/// The control group of this process that may limit CPU time, and those above it.
pub fn places() -> Result<Vec<Place>, Error> {
    let read = |path: &str| fs::read_to_string(path).context(format!("reading {path}"));
    Ok(find(&read("/proc/self/mountinfo")?, &read("/proc/self/cgroup")?))
}

/// Why there is none.
pub fn none() -> Error {
    Err::<(), _>(io::Error::from(io::ErrorKind::Unsupported)).context("finding the cpu controller").expect_err("made")
}

impl Place {
    pub fn version(&self) -> Version {
        self.version
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// One below, which can be limited if version 2 lets it be.
    pub fn child(&self, name: &str) -> Result<Self, Error> {
        self.enable()?;
        Ok(Self { version: self.version, folder: self.folder.join(name) })
    }

    pub fn make(&self) -> Result<(), Error> {
        fs::create_dir(&self.folder).context(format!("making {}", self.folder.display()))
    }

    pub fn read(&self, file: &str) -> Result<String, Error> {
        let path = self.folder.join(file);
        fs::read_to_string(&path).context(format!("reading {}", path.display()))
    }

    /// Hand the controller on to the groups below, as version 2 wants it (Documentation/admin-guide/cgroup-v2.rst in Linux, "Enabling and Disabling").
    pub fn enable(&self) -> Result<(), Error> {
        const CONTROL: &str = "cgroup.subtree_control";
        if self.version == Version::One || self.read(CONTROL)?.split_whitespace().any(|name| name == "cpu") {
            return Ok(());
        }
        write(&self.folder.join(CONTROL), "+cpu")
    }

    pub fn limit(&self, quota_us: u64, period_us: u64) -> Result<(), Error> {
        match self.version {
            Version::One => {
                write(&self.folder.join("cpu.cfs_period_us"), &period_us.to_string())?;
                write(&self.folder.join("cpu.cfs_quota_us"), &quota_us.to_string())
            }
            Version::Two => write(&self.folder.join("cpu.max"), &format!("{quota_us} {period_us}")),
        }
    }
}

/// By `/proc/self/mountinfo` (`proc_pid_mountinfo(5)`) and `/proc/self/cgroup` (`cgroups(7)`); version 1 has the controller where both are mounted.
fn find(mountinfo: &str, cgroup: &str) -> Vec<Place> {
    for version in [Version::One, Version::Two] {
        let own = cgroup.lines().find_map(|line| {
            let mut fields = line.splitn(3, ':').skip(1);
            let (controllers, path) = (fields.next()?, fields.next()?);
            let has_it = match version {
                Version::One => controllers.split(',').any(|name| name == "cpu"),
                Version::Two => controllers.is_empty(),
            };
            has_it.then_some(path)
        });
        let mounted = mountinfo.lines().find_map(|line| {
            let (mount, source) = line.split_once(" - ")?;
            let (mut mount, mut source) = (mount.split(' ').skip(3), source.split(' '));
            let (root, point) = (mount.next()?, mount.next()?);
            let (kind, options) = (source.next()?, source.nth(1)?);
            let is_it = match version {
                Version::One => kind == "cgroup" && options.split(',').any(|option| option == "cpu"),
                Version::Two => kind == "cgroup2",
            };
            is_it.then_some((root, Path::new(point)))
        });
        if let (Some(own), Some((root, point))) = (own, mounted) {
            let below = Path::new(own).strip_prefix(root).unwrap_or(Path::new(""));
            // Joined with nothing, a path ends with a slash.
            let folder: PathBuf = point.join(below).components().collect();
            let above = folder.ancestors().take_while(|folder| folder.starts_with(point));
            return above.map(|folder| Place { version, folder: folder.to_owned() }).collect();
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(mountinfo: &str, cgroup: &str) -> Vec<(Version, String)> {
        let words = |place: Place| (place.version, place.folder.display().to_string());
        find(mountinfo, cgroup).into_iter().map(words).collect()
    }

    #[test]
    fn in_a_session_of_systemd_it_is_ones_own_group_and_those_above() {
        let mounts = "25 30 0:23 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
        let two = |path: &str| (Version::Two, format!("/sys/fs/cgroup{path}"));
        let found = found(mounts, "0::/user.slice/app.slice/run-1.scope\n");
        let above = ["/user.slice/app.slice/run-1.scope", "/user.slice/app.slice", "/user.slice", ""];
        assert_eq!(found, above.map(two));
    }

    #[test]
    fn where_both_are_mounted_it_is_version_1_if_that_has_the_controller() {
        let mounts = "31 29 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n\
                      40 29 0:35 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        assert_eq!(
            found(mounts, "3:memory:/a\n1:cpu,cpuacct:/\n0::/\n"),
            [(Version::One, "/sys/fs/cgroup/cpu".into())]
        );
        let (_, two) = mounts.split_once('\n').unwrap();
        assert_eq!(found(two, "1:memory:/\n0::/\n"), [(Version::Two, "/sys/fs/cgroup/unified".into())]);
    }

    #[test]
    fn a_container_sees_its_part_of_the_hierarchy() {
        let mounts = "9 8 0:26 /docker/abc /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n";
        let one = |path: &str| (Version::One, path.to_owned());
        let inner = ["/sys/fs/cgroup/cpu/inner", "/sys/fs/cgroup/cpu"].map(one);
        assert_eq!(found(mounts, "1:cpu:/docker/abc/inner\n"), inner);
        assert_eq!(found(mounts, "1:cpu:/elsewhere\n"), [one("/sys/fs/cgroup/cpu")]);
        assert_eq!(found("", ""), []);
    }

    #[test]
    fn both_versions_say_how_long_they_held_back() {
        let one = "nr_periods 303\nnr_throttled 294\nthrottled_time 2143717893\n";
        let two = "usage_usec 7\nnr_periods 303\nnr_throttled 294\nthrottled_usec 2143717\n";
        let expected = |throttled| Used { periods: 303, throttled_periods: 294, throttled, ..Used::default() };
        assert_eq!(Version::One.used(one), expected(Duration::from_nanos(2_143_717_893)));
        assert_eq!(Version::Two.used(two), expected(Duration::from_micros(2_143_717)));
    }
}
