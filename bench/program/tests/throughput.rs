//! The instruments over a real veth and a real link: what they send is accounted for, and nothing of them stays.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::Value;

const BENCH: &str = env!("CARGO_BIN_EXE_wirelab-bench");
/// Nothing that these tests wait for takes longer.
const PATIENCE: Duration = Duration::from_secs(20);
const NEEDED: [&str; 5] = ["user-namespace", "network-namespace", "pid-namespace", "veth", "af-packet"];

/// The agent that `WIRELAB_AGENT` names, or else this workspace's next to the bench's program. Tests of the whole workspace have just built it; tests
/// of this package alone build it if it is missing, for cargo builds only a package's own programs.
fn agent() -> &'static Path {
    static AGENT: OnceLock<PathBuf> = OnceLock::new();
    AGENT.get_or_init(|| {
        if let Some(named) = std::env::var_os("WIRELAB_AGENT") {
            return named.into();
        }
        let built = Path::new(BENCH).with_file_name("wirelab-agent");
        if !built.exists() {
            let target = built.ancestors().nth(2).unwrap();
            let mut cargo = Command::new(env!("CARGO"));
            cargo.args(["build", "--locked", "--quiet", "--package", "wirelab-agent"]).arg("--target-dir").arg(target);
            if !cfg!(debug_assertions) {
                cargo.arg("--release");
            }
            assert!(cargo.status().unwrap().success());
        }
        built
    })
}

/// True if this machine lets us make namespaces. Where it does not, says why; with WIRELAB_REQUIRE_NAMESPACES=1 that is a failure.
fn namespaces_work() -> bool {
    let output = Command::new(agent()).arg("probe").output().unwrap();
    let checks: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let works = |name: &str| checks.iter().any(|check| check["name"] == name && check["ok"] == true);
    let refused: Vec<_> = NEEDED.into_iter().filter(|name| !works(name)).collect();
    if !refused.is_empty() {
        assert!(std::env::var("WIRELAB_REQUIRE_NAMESPACES").is_err(), "this machine refuses {refused:#?}");
        eprintln!("not tested: this machine refuses {refused:#?}");
    }
    refused.is_empty()
}

fn instrument(words: &[&str]) -> Command {
    let mut command = Command::new(BENCH);
    command.args(words).arg("--agent").arg(agent());
    command
}

fn eventually(mut condition: impl FnMut() -> bool) {
    let give_up = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < give_up, "it did not happen within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn of_all_packets_that_a_saturating_sender_sends_none_is_lost_in_silence() {
    if !namespaces_work() {
        return;
    }
    let output = instrument(&["throughput", "measure", "--rounds=1", "--seconds=0.5"]).output().unwrap();
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
fn a_calibration_has_a_row_for_each_delay_and_number_of_jobs() {
    if !namespaces_work() {
        return;
    }
    let words = ["calibrate", "--delays=1,5", "--jobs=1,2", "--packets=20", "--json"];
    let output = instrument(&words).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let rows: Vec<Value> = lines.map(|line| serde_json::from_slice(line).unwrap()).collect();
    let of: Vec<_> = rows.iter().map(|row| (row["delay_ms"].as_u64(), row["lanes"].as_u64())).collect();
    assert_eq!(of, [(1, 1), (1, 2), (5, 1), (5, 2)].map(|(delay, slots)| (Some(delay), Some(slots))));
    assert!(rows.iter().all(|row| row["packets"].as_u64() > Some(0)), "{rows:?}");
}

#[test]
fn an_agent_that_is_not_there_is_named() {
    let output = Command::new(BENCH).args(["calibrate", "--agent", "/no/such/agent"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(words.starts_with("wirelab-bench calibrate: starting /no/such/agent: "), "{words}");
}

#[test]
fn a_measurement_that_is_killed_leaves_no_files() {
    if !namespaces_work() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let files = || std::fs::read_dir(folder.path()).unwrap().count();
    let mut command = instrument(&["throughput", "measure", "--seconds=60"]);
    command.env("TMPDIR", folder.path()).stdout(Stdio::null());
    let mut measurement = command.spawn().unwrap();
    eventually(|| files() > 0);
    measurement.kill().unwrap();
    measurement.wait().unwrap();
    eventually(|| files() == 0);
}
