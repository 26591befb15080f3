//! Nothing outlives its owner: trials their endpoints, a host everything.

use std::fs;
use std::os::unix::fs::MetadataExt;

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, geteuid};
use wirelab_schema::{HostResult, TrialStatus};

use crate::machine::{eventually, namespaces_work};
use crate::support::{Host, ONE_WAY, assert_echoes, delay, host_with_a_trial_under_way};

const NOBODY: u32 = 65534;

#[test]
fn an_unprivileged_user_can_run_trials_and_owns_their_files() {
    if !namespaces_work() || !geteuid().is_root() {
        return;
    }
    let mut host = Host::start_as(Some(NOBODY));
    assert!(host.open(2).rootless);
    assert_echoes(&mut host, "unprivileged");
    for file in [host.log("unprivileged"), host.folder.path().join("client.out")] {
        let metadata = fs::metadata(file).unwrap();
        assert_eq!((metadata.uid(), metadata.gid()), (NOBODY, NOBODY));
    }
}

#[test]
fn a_killed_host_leaves_no_process_and_no_namespace() {
    if !namespaces_work() {
        return;
    }
    let mut host = host_with_a_trial_under_way();
    let namespaces = host.namespaces();
    assert!(namespaces.len() >= 5, "{namespaces:?}");
    host.signal(Signal::SIGKILL);
    host.assert_nothing_is_left(&namespaces);
}

#[test]
fn a_host_whose_stdin_ends_leaves_no_process_and_no_namespace() {
    if !namespaces_work() {
        return;
    }
    let mut host = host_with_a_trial_under_way();
    let namespaces = host.namespaces();
    host.close_stdin();
    host.assert_nothing_is_left(&namespaces);
}

#[test]
fn a_host_continues_after_its_program_file_is_removed() {
    if !namespaces_work() {
        return;
    }
    let mut host = Host::start();
    fs::remove_file(host.folder.path().join("wirelab-agent")).unwrap();
    host.open(1);
    assert_echoes(&mut host, "removed");
    let link = fs::read_to_string(format!("/proc/{}/comm", host.process("--mtu"))).unwrap();
    assert_eq!(link, "wirelab-agent\n");
}

#[test]
fn an_interrupt_from_the_terminal_is_left_to_the_runner() {
    if !namespaces_work() {
        return;
    }
    let mut host = Host::start();
    host.open(1);
    host.signal(Signal::SIGINT);
    assert_echoes(&mut host, "interrupted");
}

#[test]
fn a_dead_link_process_ends_its_trials_with_an_error() {
    if !namespaces_work() {
        return;
    }
    let mut host = host_with_a_trial_under_way();
    kill(Pid::from_raw(host.process("--mtu")), Signal::SIGKILL).unwrap();
    let HostResult::Error { message, .. } = host.receive(2) else { panic!() };
    assert_eq!(message, "the link process ended");
}

#[test]
fn processes_that_an_endpoint_leaves_behind_end_with_the_trial() {
    if !namespaces_work() {
        return;
    }
    let mut host = Host::start();
    host.open(1);
    let client = host.endpoint("client", &["sh", "-c", "setsid sleep 1000 & setsid sleep 1000 & sleep 0.1"]);
    let result = host.run(host.trial("daemons", delay(ONE_WAY), vec![client]));
    assert_eq!(result.status, TrialStatus::Done);
    // The host and its link process.
    assert_eq!(eventually(|| Some(host.processes())).len(), 2);
}
