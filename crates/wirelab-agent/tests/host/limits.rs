//! Hosts with less than a CPU.

use std::fs;
use std::path::{Path, PathBuf};

use nix::sys::signal::Signal;
use wirelab_schema::{HostOp, OpenSlots, TrialRequest, TrialResult, TrialStatus};

use crate::machine::{eventually, namespaces_work};
use crate::support::{Host, ONE_WAY, cpu_ns, delay};

/// A host whose trials may limit CPU time; `None` if the machine does not allow it, which is printed.
fn host() -> Option<Host> {
    if !namespaces_work() {
        return None;
    }
    let mut host = Host::start();
    let facts = host.open_with(OpenSlots { slots: 1, mtu: 1500, cpu_quota: true, ..OpenSlots::default() });
    let quota = &facts.settings["trial.cpu_quota"];
    if quota.starts_with("none") {
        assert!(std::env::var("WIRELAB_REQUIRE_CPU_QUOTA").is_err(), "{quota}");
        eprintln!("not tested: {quota}");
        return None;
    }
    Some(host)
}

/// A trial whose client's only process, a child of the one that is started, computes as much as it may for a second.
fn spin(host: &mut Host, name: &str, share: Option<f64>) -> TrialResult {
    let words = "./endpoint roles::spinner --exact --ignored; true";
    let mut trial = host.trial(name, delay(ONE_WAY), vec![host.endpoint("client", &["sh", "-c", words])]);
    trial.cpu_shares.extend(share.map(|share| ("client".to_owned(), share)));
    host.run(trial)
}

/// Control groups that a host made, wherever they are.
fn groups(host: &Host) -> Vec<PathBuf> {
    fn search(folder: &Path, depth: u32, name: &str, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if depth > 0 && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if entry.file_name().to_string_lossy().starts_with(name) {
                    found.push(entry.path());
                }
                search(&entry.path(), depth - 1, name, found);
            }
        }
    }
    let mut found = Vec::new();
    search(Path::new("/sys/fs/cgroup"), 8, &format!("wirelab-{}-", host.child.id()), &mut found);
    found
}

#[test]
fn a_host_with_a_tenth_of_a_cpu_computes_less_and_the_trial_says_that_it_was_held_back() {
    let Some(mut host) = host() else { return };
    let (free, limited) = (spin(&mut host, "free", None), spin(&mut host, "limited", Some(0.1)));
    assert_eq!([free.status, limited.status], [TrialStatus::Done; 2], "{limited:?}");
    assert!(free.cpu_limits.is_empty());
    let limit = limited.cpu_limits["client"];
    assert_eq!((limit.quota_ns, limit.period_ns), (1_000_000, 10_000_000));
    assert!(limit.throttled_periods > 5 && limit.throttled_ns > 100_000_000, "{limit:?}");
    let [limited_ns, free_ns] = [&limited, &free].map(|result| cpu_ns(&result.endpoints[0]));
    assert!(limited_ns * 2 < free_ns, "{limited_ns} of {free_ns}");
    let [group] = &groups(&host)[..] else { panic!("{:?}", groups(&host)) };
    assert!(!fs::read_dir(group).unwrap().flatten().any(|entry| entry.path().is_dir()), "a trial left its group");
}

#[test]
fn a_share_that_cannot_be_is_refused_with_its_host() {
    let Some(mut host) = host() else { return };
    let mut refused = |name: &str, share| {
        let mut trial = host.trial("refused", delay(ONE_WAY), vec![host.endpoint("client", &["true"])]);
        trial.cpu_shares.insert(name.into(), share);
        host.refusal(trial)
    };
    assert_eq!(refused("elsewhere", 0.5), "cpu_shares: there is no host `elsewhere`");
    assert_eq!(refused("client", 0.0), "cpu_shares: 0 of `client` is not from 0.001 to 1");
    let mut without_quota = Host::start();
    without_quota.open(1);
    let endpoints = vec![without_quota.endpoint("client", &["true"])];
    let cpu_shares = [("client".to_owned(), 0.5)].into();
    let trial = TrialRequest { cpu_shares, ..without_quota.trial("without_quota", delay(ONE_WAY), endpoints) };
    assert_eq!(without_quota.refusal(trial), "cpu_shares: `open` was requested without `cpu_quota`");
}

#[test]
fn control_groups_go_with_their_host_however_it_ends() {
    for kill in [false, true] {
        let Some(mut host) = host() else { return };
        let mut trial = host.trial("endless", delay(ONE_WAY), vec![host.endpoint("client", &["sleep", "1000"])]);
        trial.cpu_shares.insert("client".into(), 0.5);
        host.send(HostOp::RunTrial(Box::new(trial)));
        // The word by itself: the guardian's script has it too.
        host.process("sleep\0");
        // Its own, and the trial's in it.
        assert_eq!(groups(&host).len(), 1);
        assert!(fs::read_dir(&groups(&host)[0]).unwrap().flatten().any(|entry| entry.path().is_dir()));
        let namespaces = host.namespaces();
        if kill {
            host.signal(Signal::SIGKILL)
        } else {
            host.close_stdin()
        }
        host.assert_nothing_is_left(&namespaces);
        eventually(|| groups(&host).is_empty().then_some(()));
    }
}
