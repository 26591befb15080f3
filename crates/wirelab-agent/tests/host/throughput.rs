//! The throughput meter, and what a link does with more than it can carry.

use std::os::fd::AsRawFd;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use wirelab_schema::{DropCause, ImpairmentSpec, LinkSpec, QueueSpec, ReadyCondition, TrialStatus};

use crate::machine::{AGENT, copy_program, eventually, namespaces_work};
use crate::support::{Host, assert_conserved, assert_replays};

#[test]
fn of_all_packets_that_a_saturating_sender_sends_none_is_lost_in_silence() {
    if !namespaces_work() {
        return;
    }
    let output = Command::new(AGENT).args(["throughput", "measure", "--rounds=1", "--seconds=0.5"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let measured: Value = serde_json::from_slice(&output.stdout).unwrap();
    let flows = measured["flows"].as_array().unwrap();
    let names: Vec<_> =
        flows.iter().map(|flow| (flow["path"].as_str().unwrap(), flow["kind"].as_str().unwrap())).collect();
    assert_eq!(names, [("veth", "udp"), ("veth", "tcp"), ("link", "udp"), ("link", "tcp")]);
    for flow in flows {
        assert!(flow["bits_per_second"].as_f64() > Some(0.0), "{flow}");
        match flow["kind"].as_str() {
            Some("udp") => assert_eq!(flow["unaccounted"].as_i64(), Some(0), "{flow}"),
            _ => assert_eq!(flow["sent"]["bytes"], flow["received"]["bytes"], "{flow}"),
        }
    }
}

#[test]
fn a_calibration_measures_with_itself_though_its_program_was_removed() {
    if !namespaces_work() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("wirelab-agent");
    copy_program(AGENT, &program);
    let open = std::fs::File::open(&program).unwrap();
    std::fs::remove_file(&program).unwrap();
    let mut command = Command::new(format!("/proc/self/fd/{}", open.as_raw_fd()));
    let output = command.args(["calibrate", "--delays=1", "--lanes=1", "--packets=20", "--json"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let row: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(row["packets"].as_u64() > Some(0), "{row}");
}

#[test]
fn a_measurement_that_is_killed_leaves_no_files() {
    if !namespaces_work() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let files = || std::fs::read_dir(folder.path()).unwrap().count();
    let mut command = Command::new(AGENT);
    command.args(["throughput", "measure", "--seconds=60"]).env("TMPDIR", folder.path()).stdout(Stdio::null());
    let mut measurement = command.spawn().unwrap();
    eventually(|| (files() > 0).then_some(()));
    measurement.kill().unwrap();
    measurement.wait().unwrap();
    eventually(|| (files() == 0).then_some(()));
}

#[test]
fn a_burst_beyond_capacity_ends_as_counted_queue_drops() {
    if !namespaces_work() {
        return;
    }
    let mut host = Host::start();
    host.open(1);
    let queue = QueueSpec::DropTail { bytes: None, packets: Some(50) };
    let rate = ImpairmentSpec::Rate { rate_bps: 1_000_000, queue, overhead_bytes: 0 };
    let end = |name: &str, words: &[&str]| host.endpoint(name, &[&[AGENT, "throughput"], words].concat());
    let mut server = end("server", &["receive"]);
    server.ready = Some(ReadyCondition::Event { timeout_ns: 10_000_000_000 });
    let client = end("client", &["send", "10.77.0.2:9001", "--seconds=0.3"]);
    let link = LinkSpec { uplink: vec![rate], ..LinkSpec::default() };
    let result = host.run(host.trial("burst", link, vec![server, client]));
    assert_eq!((result.status, &result.error), (TrialStatus::Done, &None), "{result:?}");
    let printed = |name: &str| -> Value {
        let text = std::fs::read_to_string(host.folder.path().join(format!("{name}.out"))).unwrap();
        serde_json::from_str(text.lines().last().unwrap()).unwrap()
    };
    let (sent, received) = (printed("client")["packets"].as_u64(), printed("server"));
    let uplink = &result.link.directions[0];
    assert_conserved(uplink);
    let queue_full: u64 = uplink.dropped.iter().map(|drop| drop.packets).sum();
    assert!(uplink.dropped.iter().all(|drop| drop.packets == 0 || drop.cause == DropCause::QueueFull));
    assert!(queue_full > uplink.delivered, "{uplink:?}");
    assert_eq!((uplink.held, &received["dropped_at_socket"]), (0, &Value::from(0)));
    assert_eq!(received["packets"].as_u64(), Some(uplink.delivered));
    assert_eq!(sent, Some(uplink.delivered + queue_full + result.link.kernel_drops), "{result:?}");
    assert_replays(&host, "burst");
}

#[test]
fn frames_stay_as_they_were_sent_while_they_wait_at_their_receiver() {
    if !namespaces_work() {
        return;
    }
    let mut host = Host::start();
    host.open(1);
    // More than a ring has places.
    let (count, bytes) = (150, 300);
    let mut reader = host.server("udp_late_reader");
    reader.ends_trial = true;
    let sender = host.sender(count, bytes, Duration::ZERO);
    let result = host.run(host.trial("late", LinkSpec::default(), vec![reader, sender]));
    assert_eq!((result.status, &result.error), (TrialStatus::Done, &None), "{result:?}");
    assert_eq!(host.printed("server", "number"), (0..u64::from(count)).collect::<Vec<_>>());
}
