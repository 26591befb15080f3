//! What this machine allows and runs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::Value;

pub const AGENT: &str = env!("CARGO_BIN_EXE_wirelab-agent");
/// Nothing that these tests wait for takes longer.
pub const PATIENCE: Duration = Duration::from_secs(20);
const NEEDED: [&str; 5] = ["user-namespace", "network-namespace", "pid-namespace", "veth", "af-packet"];

/// True if this machine lets us make namespaces. Where it does not, says why; with WIRELAB_REQUIRE_NAMESPACES=1 that is a failure.
pub fn namespaces_work() -> bool {
    static REFUSED: OnceLock<Vec<String>> = OnceLock::new();
    let refused = REFUSED.get_or_init(refused);
    if !refused.is_empty() {
        assert!(std::env::var("WIRELAB_REQUIRE_NAMESPACES").is_err(), "this machine refuses {refused:#?}");
        eprintln!("not tested: this machine refuses {refused:#?}");
    }
    refused.is_empty()
}

/// Copy a program that is run then. Another process copies it: the descriptor that it was written through would live on in whatever
/// a concurrent test forks meanwhile, and a program that is open for writing cannot be run (ETXTBSY).
pub fn copy_program(from: impl AsRef<Path>, to: impl AsRef<Path>) {
    assert!(Command::new("cp").arg(from.as_ref()).arg(to.as_ref()).status().unwrap().success());
}

/// What this machine refuses, with its reason.
fn refused() -> Vec<String> {
    let output = Command::new(AGENT).arg("probe").output().unwrap();
    let checks: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let refused = |name: &str| match checks.iter().find(|check| check["name"] == name) {
        Some(check) if check["ok"] == true => None,
        Some(check) => Some(format!("{name}: {}", check["detail"])),
        None => Some(format!("{name}: not tried")),
    };
    NEEDED.into_iter().filter_map(refused).collect()
}

/// What `attempt` gives once it gives something; a failure if that takes too long.
pub fn eventually<T>(mut attempt: impl FnMut() -> Option<T>) -> T {
    let give_up = Instant::now() + PATIENCE;
    loop {
        if let Some(value) = attempt() {
            return value;
        }
        assert!(Instant::now() < give_up, "it did not happen within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Network namespaces that these processes are in or hold open, by their names, and where each was found.
pub fn network_namespaces(processes: impl Iterator<Item = i32>) -> BTreeMap<PathBuf, PathBuf> {
    let mut found = BTreeMap::new();
    for pid in processes {
        let descriptors = numbers_in(format!("/proc/{pid}/fd")).map(|fd| format!("/proc/{pid}/fd/{fd}"));
        for path in descriptors.chain([format!("/proc/{pid}/ns/net")]).map(PathBuf::from) {
            if let Ok(name) = fs::read_link(&path)
                && name.to_string_lossy().starts_with("net:")
            {
                found.insert(name, path);
            }
        }
    }
    found
}

/// Names in a folder that are numbers.
pub fn numbers_in<P: AsRef<Path>>(folder: P) -> impl Iterator<Item = i32> + use<P> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}
