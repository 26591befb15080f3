//! A server that is killed during a trial and started again.

use std::fs;
use std::time::Duration;

use wirelab_schema::{RestartPlan, TrialResult, TrialStatus};

use crate::machine::namespaces_work;
use crate::support::{Host, ONE_WAY, delay};

const AFTER: Duration = Duration::from_millis(200);
const DOWN: Duration = Duration::from_millis(300);

fn restart(every: Duration, down: Duration) -> Option<RestartPlan> {
    let [after_ns, down_ns, every_ns] = [AFTER, down, every].map(|time| time.as_nanos() as u64);
    Some(RestartPlan { after_ns, down_ns, every_ns: Some(every_ns) })
}

/// A trial of a server with this plan, and a client that plays `role`.
fn run(host: &mut Host, role: &str, plan: Option<RestartPlan>) -> TrialResult {
    let mut server = host.server("udp_echo");
    server.restart = plan;
    let trial = host.trial("restart", delay(ONE_WAY), vec![server, host.client(role)]);
    host.run(trial)
}

#[test]
fn a_server_that_is_restarted_answers_again_and_says_when() {
    if !namespaces_work() {
        return;
    }
    let mut host = Host::start();
    host.open(1);
    // A client that starts late meets a later one.
    let result = run(&mut host, "udp_twice", restart(Duration::from_secs(3), DOWN));
    assert_eq!((result.status, &result.error), (TrialStatus::Done, &None));
    let restarts = &result.endpoints[0].restarts;
    let answered = host.printed("client", "answered");
    let met = restarts.iter().find(|each| answered[0] < each.stopped_ns).unwrap();
    let ready_ns = met.ready_ns.unwrap();
    assert!(ready_ns > met.stopped_ns && ready_ns < result.end_ns, "{met:?}");
    assert!(met.stopped_ns >= result.start_ns + AFTER.as_nanos() as u64);
    assert!(answered[1] > met.stopped_ns);
    assert_eq!(result.endpoints[1].restarts, []);
    let text = fs::read_to_string(host.folder.path().join("server.out")).unwrap();
    let ready = restarts.iter().filter(|each| each.ready_ns.is_some()).count();
    assert_eq!(text.matches("\"ready\"").count(), 1 + ready, "what it wrote before is kept: {text}");
}

#[test]
fn a_trial_that_ends_while_its_server_is_down_is_done() {
    if !namespaces_work() {
        return;
    }
    let mut host = Host::start();
    host.open(1);
    let plan = restart(Duration::from_secs(7200), Duration::from_secs(3600));
    let result = run(&mut host, "spinner", plan);
    assert_eq!((result.status, &result.error), (TrialStatus::Done, &None));
    assert!(matches!(&result.endpoints[0].restarts[..], [restarted] if restarted.ready_ns.is_none()));
}

#[test]
fn a_server_is_restarted_again_and_again() {
    if !namespaces_work() {
        return;
    }
    let mut host = Host::start();
    host.open(1);
    let plan = restart(Duration::from_millis(350), Duration::from_millis(50));
    let result = run(&mut host, "spinner", plan);
    assert_eq!(result.status, TrialStatus::Done);
    assert!(result.endpoints[0].restarts.len() >= 2, "{:?}", result.endpoints[0].restarts);
}

#[test]
fn a_restart_that_would_never_be_over_is_refused() {
    if !namespaces_work() {
        return;
    }
    let mut host = Host::start();
    host.open(1);
    let mut server = host.server("udp_echo");
    server.restart = restart(DOWN, DOWN);
    let trial = host.trial("restart", delay(ONE_WAY), vec![server, host.client("spinner")]);
    let message = host.refusal(trial);
    assert_eq!(message, "restart: `server` is down for 300000000 ns every 300000000 ns");
}
