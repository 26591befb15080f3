//! What to do where namespaces are forbidden: the cause, and its cure. It changes nothing.

use std::fs;
use std::path::Path;

use super::capabilities;

/// What surrounds this process and may forbid namespaces.
#[derive(Debug, PartialEq, Eq)]
pub struct Surroundings {
    container: Option<Container>,
    wsl1: bool,
    apparmor_restricts: bool,
    clone_forbidden: bool,
    no_namespaces_left: bool,
    agent: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Container {
    Docker,
    Podman,
    Other,
}

impl Surroundings {
    /// Look at this machine.
    pub fn detect() -> Self {
        let version = read("/proc/version");
        Self {
            container: container(),
            wsl1: version.contains("Microsoft") && !version.to_lowercase().contains("wsl2"),
            apparmor_restricts: read("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1",
            clone_forbidden: read("/proc/sys/kernel/unprivileged_userns_clone") == "0",
            no_namespaces_left: read("/proc/sys/user/max_user_namespaces") == "0",
            agent: std::env::current_exe()
                .map(|path| path.display().to_string())
                .unwrap_or_else(|_| "wirelab-agent".into()),
        }
    }

    /// What to do if the machine refuses namespaces or their use.
    pub fn cure(&self) -> String {
        if self.wsl1 {
            return "WSL1 has no namespaces: `wsl --set-version DISTRIBUTION 2`".into();
        }
        if self.clone_forbidden {
            return "`sudo sysctl kernel.unprivileged_userns_clone=1`".into();
        }
        if self.no_namespaces_left {
            return "`sudo sysctl user.max_user_namespaces=10000`".into();
        }
        match self.container {
            Some(Container::Docker) => {
                return "run the container with `--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt \
                        systempaths=unconfined`, or as root with `--cap-add SYS_ADMIN --cap-add NET_ADMIN --security-opt \
                        apparmor=unconfined`"
                    .into();
            }
            Some(Container::Podman) => {
                return "run the container with `--security-opt seccomp=unconfined --security-opt unmask=ALL`".into();
            }
            _ => {}
        }
        if self.apparmor_restricts {
            return format!(
                "Ubuntu's AppArmor restricts user namespaces. Allow them to this program alone: write\n\n{}\nto \
                 /etc/apparmor.d/wirelab-agent, then `sudo apparmor_parser -r /etc/apparmor.d/wirelab-agent`",
                self.profile()
            );
        }
        let place =
            if self.container.is_some() { "the container's runtime" } else { "a security module or seccomp filter" };
        format!("{place} forbids it (effective capabilities {}); see docs/guide/containers.md", capabilities())
    }

    /// What to do when the kernel has namespaces but makes no veth.
    pub fn cure_for_veth(&self) -> String {
        format!("if the kernel lacks veth: `sudo modprobe veth`. Otherwise: {}", self.cure())
    }

    fn profile(&self) -> String {
        format!(
            "abi <abi/4.0>,\ninclude <tunables/global>\nprofile wirelab-agent {} flags=(unconfined) {{\n  userns,\n}}\n",
            self.agent
        )
    }
}

fn container() -> Option<Container> {
    let hint = std::env::var("container").unwrap_or_default();
    if Path::new("/run/.containerenv").exists() || hint == "podman" {
        return Some(Container::Podman);
    }
    let cgroup = read("/proc/1/cgroup");
    if Path::new("/.dockerenv").exists() || cgroup.contains("docker") {
        return Some(Container::Docker);
    }
    (!hint.is_empty() || cgroup.contains("kubepods") || cgroup.contains("lxc")).then_some(Container::Other)
}

fn read(path: &str) -> String {
    fs::read_to_string(path).map(|text| text.trim().to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without_findings() -> Surroundings {
        Surroundings {
            container: None,
            wsl1: false,
            apparmor_restricts: false,
            clone_forbidden: false,
            no_namespaces_left: false,
            agent: "/opt/wirelab-agent".into(),
        }
    }

    #[test]
    fn ubuntu_is_cured_by_a_profile_for_this_program_not_by_the_global_switch() {
        let cure = Surroundings { apparmor_restricts: true, ..without_findings() }.cure();
        assert!(cure.contains("profile wirelab-agent /opt/wirelab-agent flags=(unconfined) {\n  userns,\n}"));
        assert!(!cure.contains("sysctl"));
    }

    #[test]
    fn a_container_is_cured_by_the_flags_of_its_runtime() {
        let docker =
            Surroundings { container: Some(Container::Docker), apparmor_restricts: true, ..without_findings() }.cure();
        assert!(docker.contains("--security-opt seccomp=unconfined"));
        assert!(docker.contains("--cap-add SYS_ADMIN"));
        let podman = Surroundings { container: Some(Container::Podman), ..without_findings() }.cure();
        assert!(podman.contains("unmask=ALL"));
    }

    #[test]
    fn a_switch_that_is_off_is_named() {
        let debian = Surroundings { clone_forbidden: true, ..without_findings() }.cure();
        assert_eq!(debian, "`sudo sysctl kernel.unprivileged_userns_clone=1`");
        let exhausted = Surroundings { no_namespaces_left: true, ..without_findings() }.cure();
        assert_eq!(exhausted, "`sudo sysctl user.max_user_namespaces=10000`");
        assert!(Surroundings { wsl1: true, ..without_findings() }.cure().contains("wsl --set-version"));
    }
}
