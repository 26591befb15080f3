//! How trials end, and why some do not begin.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use wirelab_schema::{HostOp, HostResult, ImpairmentSpec, LossSpec, ReadyCondition, TrialRequest, TrialStatus};

use crate::machine::namespaces_work;
use crate::support::{Host, ONE_WAY, assert_echoes, delay, host_with_a_trial_under_way};

#[test]
fn a_trial_whose_server_is_killed_has_failed() {
    if !namespaces_work() {
        return;
    }
    let mut host = host_with_a_trial_under_way();
    kill(Pid::from_raw(host.process("udp_echo")), Signal::SIGKILL).unwrap();
    let HostResult::Trial(result) = host.receive(2) else { panic!() };
    assert_eq!(result.status, TrialStatus::Failed);
    assert_eq!(result.error.as_deref(), Some("server was killed by SIGKILL"));
    assert_eq!(result.endpoints[0].signal, Some(9));
}

#[test]
fn a_trial_ends_at_its_time_out() {
    if !namespaces_work() {
        return;
    }
    let mut host = Host::start();
    host.open(1);
    let mut trial = host.trial("slow", delay(ONE_WAY), vec![host.endpoint("client", &["sleep", "1000"])]);
    trial.timeout_ns = 200_000_000;
    let result = host.run(trial);
    assert_eq!(result.status, TrialStatus::TimedOut);
    assert_eq!(result.error.as_deref(), Some("the trial was not over after 200ms"));
    assert_eq!(result.endpoints[0].signal, Some(15));
    assert_echoes(&mut host, "afterwards");
}

#[test]
fn a_cancelled_trial_ends_immediately() {
    if !namespaces_work() {
        return;
    }
    let mut host = host_with_a_trial_under_way();
    let id = host.send(HostOp::Cancel { trial: "endless".into() });
    let replies = [host.receive_any(), host.receive_any()];
    let trial = replies.iter().find(|reply| reply.id != id).unwrap();
    let HostResult::Trial(result) = &trial.result else { panic!("{replies:?}") };
    assert_eq!(result.status, TrialStatus::Cancelled);
    let id = host.send(HostOp::Cancel { trial: "endless".into() });
    assert_eq!(host.receive(id), HostResult::Cancelled);
}

#[test]
fn a_server_that_ignores_sigterm_is_killed_and_named() {
    if !namespaces_work() {
        return;
    }
    let mut host = Host::start();
    host.open(1);
    let mut server = host.endpoint("server", &["sh", "-c", "trap '' TERM; touch deaf; sleep 1000; sleep 1000"]);
    server.ends_trial = false;
    let client = host.endpoint("client", &["sh", "-c", "while ! test -e deaf; do sleep 0.01; done"]);
    let result = host.run(host.trial("deaf", delay(ONE_WAY), vec![server, client]));
    assert_eq!(result.status, TrialStatus::Done);
    assert_eq!(result.error.as_deref(), Some("server did not end within 2s of SIGTERM"));
    assert_eq!(result.endpoints[0].signal, Some(9));
}

fn outcome(change: impl FnOnce(&Host, &mut TrialRequest)) -> (TrialStatus, String) {
    let mut host = Host::start();
    host.open(1);
    let mut trial = host.trial("wrong", delay(ONE_WAY), vec![host.endpoint("client", &["true"])]);
    change(&host, &mut trial);
    let result = host.run(trial);
    (result.status, result.error.unwrap_or_default())
}

#[test]
fn each_way_an_endpoint_can_fail_has_its_own_error() {
    if !namespaces_work() {
        return;
    }
    let command = |words: &[&str]| outcome(|host, trial| trial.endpoints = vec![host.endpoint("client", words)]);
    assert_eq!(command(&["true"]), (TrialStatus::Done, String::new()));
    let not_found = "client: cannot start `no-such-program`: No such file or directory (os error 2)";
    assert_eq!(command(&["no-such-program", "x"]), (TrialStatus::Failed, not_found.into()));
    let words = ["sh", "-c", "echo 'the reason' >&2; exit 7"];
    assert_eq!(command(&words), (TrialStatus::Failed, "client exited with 7: the reason".into()));
    assert_eq!(command(&["sh", "-c", "exit 3"]), (TrialStatus::Unsupported, "client does not do this".into()));
    let (status, error) = outcome(|_, trial| trial.endpoints[0].directory = "/no/such/folder".into());
    assert_eq!((status, &*error), (TrialStatus::Failed, "client: its directory /no/such/folder does not exist"));
    let (status, error) = outcome(|_, trial| trial.endpoints[0].host = "elsewhere".into());
    assert_eq!((status, &*error), (TrialStatus::Failed, "client: there is no host `elsewhere`"));
}

#[test]
fn a_server_that_is_never_ready_fails_the_trial() {
    if !namespaces_work() {
        return;
    }
    let never = |ready: ReadyCondition| {
        outcome(|host, trial| {
            let mut server = host.endpoint("server", &["sleep", "1000"]);
            server.ready = Some(ready);
            trial.endpoints = vec![server];
        })
    };
    let timeout_ns = 50_000_000;
    let expected = |what| (TrialStatus::Failed, format!("server was not ready after 50ms (waited for {what})"));
    assert_eq!(never(ReadyCondition::Event { timeout_ns }), expected("a ready event on stdout"));
    assert_eq!(never(ReadyCondition::TcpConnect { port: 9000, timeout_ns }), expected("TCP port 9000 to accept"));
    assert_eq!(never(ReadyCondition::UdpBound { port: 9000, timeout_ns }), expected("UDP port 9000 to be bound"));
}

#[test]
fn readiness_is_probed_inside_the_servers_own_namespace() {
    if !namespaces_work() {
        return;
    }
    let mut host = Host::start();
    host.open(1);
    let timeout_ns = 10_000_000_000;
    let tcp = ("tcp_sink", ReadyCondition::TcpConnect { port: 9000, timeout_ns });
    let udp = ("udp_echo", ReadyCondition::UdpBound { port: 9000, timeout_ns });
    for (role, ready) in [tcp, udp] {
        let mut server = host.server(role);
        server.ready = Some(ready);
        let trial = host.trial("probed", delay(ONE_WAY), vec![server, host.endpoint("client", &["true"])]);
        let result = host.run(trial);
        assert_eq!(result.status, TrialStatus::Done, "{result:?}");
        assert_eq!(result.link.directions[0].received, 0);
    }
}

#[test]
fn a_request_that_cannot_be_carried_out_is_answered_with_a_reason() {
    if !namespaces_work() {
        return;
    }
    let mut host = Host::start();
    let refused = |host: &mut Host, change: &dyn Fn(&mut TrialRequest)| {
        let mut trial = host.trial("refused", delay(ONE_WAY), vec![host.endpoint("client", &["true"])]);
        change(&mut trial);
        host.refusal(trial)
    };
    assert_eq!(refused(&mut host, &|_| ()), "`open` must be requested first");
    host.open(1);
    assert_eq!(refused(&mut host, &|trial| trial.slot = 1), "lane: 1 does not exist; there are 1, counted from 0");
    let twice = ImpairmentSpec::Loss(LossSpec { probability: 2.0, correlation: 0.0 });
    let loss = |trial: &mut TrialRequest| trial.link.uplink = vec![twice.clone()];
    assert_eq!(refused(&mut host, &loss), "uplink[0].probability: 2 is not a probability (0 to 1)");
    let narrow = |trial: &mut TrialRequest| trial.link.mtu = Some(67);
    assert_eq!(refused(&mut host, &narrow), "mtu: 67 is below 68, the minimum of IPv4 (RFC 791 section 3.2)");
    let wide = |trial: &mut TrialRequest| trial.link.mtu = Some(9000);
    assert_eq!(refused(&mut host, &wide), "mtu: 9000 is above 1500, the MTU of the campaign");
    let unknown = |trial: &mut TrialRequest| trial.congestion_control = "none-such".into();
    assert!(refused(&mut host, &unknown).starts_with("routing to 10.77.0.2 with congestion control none-such: "));
    let nowhere = |trial: &mut TrialRequest| trial.packet_log = Some("/no/such/folder/log".into());
    assert!(refused(&mut host, &nowhere).starts_with("creating the packet log /no/such/folder/log: No such file"));
    assert_echoes(&mut host, "after-all");
}
