//! `wirelab-agent link-command` as an ordinary user. The effect of a link on a command is tested from the command line, in `tests/interop`.

#[allow(dead_code)]
#[path = "host/machine.rs"]
mod machine;

use std::fs::{self, Permissions};
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::unistd::geteuid;
use tempfile::TempDir;

use machine::{AGENT, copy_program, eventually, namespaces_work, numbers_in};

const NOBODY: u32 = 65534;
const LINK: &str = r#"{"uplink": [{"kind": "delay", "delay_ns": 20000000}], "downlink": []}"#;
const MARKER: &str = "WIRELAB_TEST_MARKER";

/// A folder that nobody may use, with a copy of the agent.
struct Folder(TempDir);

impl Folder {
    fn create() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        copy_program(AGENT, folder.path().join("wirelab-agent"));
        Self(folder)
    }

    /// Run a command behind a link as nobody, without supplementary groups.
    fn link_command(&self, arguments: &[&str]) -> Command {
        let mut link = tempfile::tempfile().unwrap();
        link.write_all(LINK.as_bytes()).unwrap();
        std::io::Seek::rewind(&mut link).unwrap();
        fcntl(&link, FcntlArg::F_SETFD(FdFlag::empty())).unwrap();
        let mut command = Command::new(self.0.path().join("wirelab-agent"));
        command.args(["link-command", "--link-fd", &link.as_raw_fd().to_string(), "--quiet"]).args(arguments);
        command.uid(NOBODY).gid(NOBODY).current_dir(self.0.path()).env(MARKER, self.0.path()).stdin(Stdio::null());
        // Open until the command was started.
        std::mem::forget(link);
        command
    }

    fn output(&self, arguments: &[&str]) -> Output {
        self.link_command(arguments).output().unwrap()
    }

    fn processes(&self) -> Vec<i32> {
        let mark = format!("{MARKER}={}", self.0.path().display());
        let is_ours = |pid: &i32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
        };
        numbers_in("/proc").filter(is_ours).collect()
    }
}

fn can_be_nobody() -> bool {
    namespaces_work() && geteuid().is_root()
}

/// Container runtimes that mask parts of `/proc` forbid another one.
fn proc_can_be_mounted() -> bool {
    let checks = Command::new(AGENT).arg("probe").output().unwrap().stdout;
    String::from_utf8_lossy(&checks).contains("made one with a /proc of its own")
}

#[test]
fn an_ordinary_user_keeps_their_id_and_may_open_low_ports_and_raw_sockets() {
    if !can_be_nobody() {
        return;
    }
    let folder = Folder::create();
    let output = folder.output(&["--", "sh", "-c", "id -u; touch mine; grep CapAmb /proc/self/status"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let kept: u64 = (1 << 10) | (1 << 12) | (1 << 13) | (1 << 21);
    assert_eq!(text.lines().collect::<Vec<_>>(), [NOBODY.to_string(), format!("CapAmb:\t{kept:016x}")]);
    assert_eq!(std::os::unix::fs::MetadataExt::uid(&fs::metadata(folder.0.path().join("mine")).unwrap()), NOBODY);
}

#[test]
fn a_command_sees_its_own_processes_only() {
    if !can_be_nobody() || !proc_can_be_mounted() {
        return;
    }
    let folder = Folder::create();
    let output = folder.output(&["--", "sh", "-c", "cd /proc; echo [0-9]*"]);
    let first = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(first.starts_with("1 "), "{first}");
    assert!(first.split_whitespace().count() <= 4, "{first}");
}

#[test]
fn a_killed_link_leaves_no_process() {
    if !can_be_nobody() {
        return;
    }
    let folder = Folder::create();
    let server = r#"["sh", "-c", "setsid sleep 1000 & sleep 1000"]"#;
    let script = "setsid sleep 1000 & sleep 1000";
    let mut child =
        folder.link_command(&["--server", server, "--server-ready", "0.1", "--", "sh", "-c", script]).spawn().unwrap();
    // The agent, the first of its namespace, two shells and what they started.
    eventually(|| (folder.processes().len() >= 8).then_some(()));
    child.kill().unwrap();
    child.wait().unwrap();
    eventually(|| folder.processes().is_empty().then_some(()));
}
