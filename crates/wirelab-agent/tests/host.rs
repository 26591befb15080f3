//! The host, its link process and its trials, in real namespaces.

mod support;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, geteuid};
use support::{Host, delay, eventually, namespaces_work, roles};
use wirelab_net::clock;
use wirelab_net::link::{Instant, PortId};
use wirelab_net::packet_log::{Fate, LogReader, Record};
use wirelab_schema::{
    DirectionReport, HostOp, HostResult, ImpairmentSpec, LinkSpec, MediumSpec, OpenLanes, PacketLogHeader,
    ReadyCondition, TrialRequest, TrialResult, TrialStatus,
};

const ONE_WAY: Duration = Duration::from_millis(10);
const NOBODY: u32 = 65534;

fn echo(host: &Host, name: &str, link: LinkSpec) -> TrialRequest {
    let endpoints = vec![host.server("support::roles::udp_echo"), host.client("support::roles::udp_pinger")];
    host.trial(name, link, endpoints)
}

fn assert_conserved(direction: &DirectionReport) {
    let dropped: u64 = direction.dropped.iter().map(|drop| drop.packets).sum();
    assert_eq!(direction.received, direction.delivered + dropped + direction.held, "{direction:?}");
    assert_eq!(direction.lateness.packets.iter().sum::<u64>(), direction.delivered);
}

fn log(host: &Host, trial: &str) -> (PacketLogHeader, Vec<(Record, Vec<u8>)>) {
    let reader = LogReader::new(File::open(host.log(trial)).unwrap()).unwrap();
    let header = serde_json::from_slice(reader.header()).unwrap();
    (header, reader.map(Result::unwrap).collect())
}

fn assert_echoes(host: &mut Host, name: &str) {
    let trial = echo(host, name, delay(ONE_WAY));
    let result = host.run(trial.clone());
    assert_eq!((result.status, &result.error), (TrialStatus::Done, &None), "{result:?}");
    let round_trips = host.printed("client", "round-trip");
    assert_eq!(round_trips.len(), roles::PACKETS);
    assert!(round_trips.iter().all(|time| Duration::from_nanos(*time) >= 2 * ONE_WAY), "{round_trips:?}");
    assert_eq!((result.link.kernel_drops, result.link.oversized, result.link.clock_step), (0, 0, false));
    for direction in &result.link.directions {
        assert_conserved(direction);
        assert_eq!((direction.delivered, direction.delivered_bytes), (20, 20 * 128));
    }
    let (header, records) = log(host, name);
    assert_eq!((header.link, header.seed), (trial.link, trial.link_seed));
    assert_eq!(records.len(), 2 * roles::PACKETS);
    for (record, packet) in records {
        assert_eq!((record.fate, record.size, packet.len()), (Fate::Delivered, 128, 64));
        assert_eq!(record.departure, record.arrival + ONE_WAY);
        assert_eq!(packet[0], 0x45);
    }
}

#[test]
fn an_echo_takes_at_least_the_configured_round_trip_and_every_packet_is_accounted_for() {
    if !namespaces_work() {
        return;
    }
    let mut host = Host::start();
    let facts = host.open(1);
    assert_eq!(facts.settings["offload.tcp-segmentation"], "off");
    assert_echoes(&mut host, "first");
    assert_echoes(&mut host, "second");
}

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
fn nothing_passes_a_link_that_loses_everything() {
    if !namespaces_work() {
        return;
    }
    let mut host = Host::start();
    host.open(1);
    let link = LinkSpec { uplink: vec![ImpairmentSpec::Loss { probability: 1.0 }], downlink: vec![], medium: None };
    let result = host.run(echo(&host, "loss", link));
    assert_eq!(result.status, TrialStatus::Done);
    assert_eq!(host.printed("client", "round-trip").len(), 0);
    let [uplink, downlink] = &result.link.directions[..] else { panic!("{result:?}") };
    assert_conserved(uplink);
    assert_eq!((uplink.received, uplink.delivered, downlink.received), (20, 0, 0));
    let (_, records) = log(&host, "loss");
    assert_eq!(records.len(), 20);
    assert!(records.iter().all(|(record, _)| record.fate == Fate::Loss));
}

#[test]
fn lanes_do_not_see_one_another() {
    if !namespaces_work() {
        return;
    }
    let mut host = Host::start();
    host.open(3);
    let mut expected = BTreeMap::new();
    for lane in 0..3 {
        let mut trial = echo(&host, &format!("lane-{lane}"), delay(ONE_WAY));
        trial.lane = lane;
        for endpoint in &mut trial.endpoints {
            endpoint.stdout = host.folder.path().join(format!("{}-{lane}.out", endpoint.name));
        }
        expected.insert(host.send(HostOp::RunTrial(Box::new(trial))), lane);
    }
    while !expected.is_empty() {
        let reply = host.receive_any();
        let HostResult::Trial(result) = reply.result else { panic!("{reply:?}") };
        assert_eq!(result.trial, format!("lane-{}", expected.remove(&reply.id).unwrap()));
        assert_eq!(result.link.directions[0].delivered, 20, "{result:?}");
    }
}

#[test]
fn what_a_connection_still_says_after_its_trial_does_not_reach_the_next() {
    if !namespaces_work() {
        return;
    }
    let mut host = Host::start();
    if host.open(1).settings["trial.leftover_sockets"] != "destroyed" {
        eprintln!("not tested: this kernel does not destroy sockets");
        return;
    }
    let endpoints = vec![host.server("support::roles::tcp_sink"), host.client("support::roles::tcp_deserter")];
    let result = host.run(host.trial("deserter", delay(Duration::from_millis(100)), endpoints));
    assert_eq!(result.status, TrialStatus::Done, "{result:?}");
    assert!(result.link.directions[0].held > 0, "{result:?}");
    let idle = host.endpoint("client", &["sleep", "1"]);
    let result = host.run(host.trial("idle", delay(Duration::ZERO), vec![idle]));
    assert_eq!(result.link.directions.iter().map(|direction| direction.received).sum::<u64>(), 0);
}

fn assert_bulk_arrives(offloads: bool) -> u32 {
    let mut host = Host::start();
    let facts = host.open_with(OpenLanes { lanes: 1, mtu: 1500, offloads });
    let expected = if offloads { "on" } else { "off" };
    assert_eq!(facts.settings["offload.tcp-segmentation"], expected);
    let endpoints =
        vec![host.server("support::roles::tcp_bulk_server"), host.client("support::roles::tcp_bulk_client")];
    let result = host.run(host.trial("bulk", delay(Duration::from_millis(1)), endpoints));
    assert_eq!((result.status, &result.error), (TrialStatus::Done, &None), "{result:?}");
    assert_eq!(result.link.oversized, 0);
    result.link.directions.iter().for_each(assert_conserved);
    log(&host, "bulk").1.iter().map(|(record, _)| record.size).max().unwrap()
}

#[test]
fn a_bulk_upload_arrives_intact_in_packets_of_the_mtu() {
    if namespaces_work() {
        assert_eq!(assert_bulk_arrives(false), 1500);
    }
}

#[test]
fn with_offloads_a_bulk_upload_arrives_intact_in_larger_packets() {
    if namespaces_work() {
        assert!(assert_bulk_arrives(true) > 1500);
    }
}

/// A trial whose link process sleeps while the client sends more packets than wait for it, and when it woke up again.
fn flood(host: &mut Host, link: LinkSpec) -> (TrialResult, Instant) {
    let client = host.client("support::roles::udp_flood");
    let id = host.send(HostOp::RunTrial(Box::new(host.trial("flood", link, vec![client]))));
    host.process("udp_flood");
    let link = Pid::from_raw(host.process("--mtu"));
    let file = |name: &str| host.folder.path().join(name);
    let create = |name: &str| File::create(file(name)).unwrap();
    kill(link, Signal::SIGSTOP).unwrap();
    create("go");
    eventually(|| file("sent").exists().then_some(()));
    let woken = clock::now();
    kill(link, Signal::SIGCONT).unwrap();
    create("finish");
    let HostResult::Trial(result) = host.receive(id) else { panic!() };
    assert_eq!(result.status, TrialStatus::Done, "{result:?}");
    (*result, woken)
}

#[test]
fn packets_that_the_kernel_drops_before_the_link_reads_them_are_counted() {
    if !namespaces_work() {
        return;
    }
    let mut host = Host::start();
    host.open(1);
    let (result, _) = flood(&mut host, delay(ONE_WAY));
    assert!(result.link.kernel_drops > 0);
    assert_eq!(result.link.directions[0].received + result.link.kernel_drops, roles::FLOOD);
    assert_conserved(&result.link.directions[0]);
}

#[test]
fn a_link_that_slept_takes_packets_to_a_shared_medium_at_the_instants_at_which_they_came() {
    if !namespaces_work() {
        return;
    }
    let mut host = Host::start();
    host.open(1);
    let medium = Some(MediumSpec { rate_bps: 1_000_000_000, queue_bytes: 1 << 30, overhead_bytes: 0 });
    let (_, woken) = flood(&mut host, LinkSpec { medium, ..delay(Duration::ZERO) });
    let (_, records) = log(&host, "flood");
    let uplink: Vec<_> = records.iter().filter(|(record, _)| record.port == PortId(0)).collect();
    assert!(uplink.len() > 100, "{} packets", uplink.len());
    assert!(uplink.iter().all(|(record, _)| record.arrival < woken));
}

fn host_with_a_trial_under_way() -> Host {
    let mut host = Host::start();
    host.open(2);
    let endpoints = vec![host.server("support::roles::udp_echo"), host.endpoint("client", &["sleep", "1000"])];
    host.send(HostOp::RunTrial(Box::new(host.trial("endless", delay(ONE_WAY), endpoints))));
    host.process("sleep");
    host
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
fn a_cancelled_trial_ends_at_once() {
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
fn endpoints_that_cannot_do_their_part_are_told_apart() {
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
    let told = |what| (TrialStatus::Failed, format!("server was not ready after 50ms (waited for {what})"));
    assert_eq!(never(ReadyCondition::Event { timeout_ns }), told("a ready event on stdout"));
    assert_eq!(never(ReadyCondition::TcpConnect { port: 9000, timeout_ns }), told("TCP port 9000 to accept"));
    assert_eq!(never(ReadyCondition::UdpBound { port: 9000, timeout_ns }), told("UDP port 9000 to be bound"));
}

#[test]
fn readiness_is_probed_inside_the_servers_own_namespace() {
    if !namespaces_work() {
        return;
    }
    let mut host = Host::start();
    host.open(1);
    let timeout_ns = 10_000_000_000;
    let tcp = ("support::roles::tcp_sink", ReadyCondition::TcpConnect { port: 9000, timeout_ns });
    let udp = ("support::roles::udp_echo", ReadyCondition::UdpBound { port: 9000, timeout_ns });
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
        let id = host.send(HostOp::RunTrial(Box::new(trial)));
        match host.receive(id) {
            HostResult::Error { message, .. } => message,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(refused(&mut host, &|_| ()), "no lanes are open; `open` comes first");
    host.open(1);
    assert_eq!(refused(&mut host, &|trial| trial.lane = 1), "there is no lane 1: 1 are open, from 0");
    let loss = |trial: &mut TrialRequest| trial.link.uplink = vec![ImpairmentSpec::Loss { probability: 2.0 }];
    assert_eq!(refused(&mut host, &loss), "uplink[0].probability: 2 is not a probability (0 to 1)");
    let unknown = |trial: &mut TrialRequest| trial.congestion_control = "none-such".into();
    assert!(refused(&mut host, &unknown).starts_with("routing to 10.77.0.2 with congestion control none-such: "));
    let nowhere = |trial: &mut TrialRequest| trial.packet_log = Some("/no/such/folder/log".into());
    assert!(refused(&mut host, &nowhere).starts_with("creating the packet log /no/such/folder/log: No such file"));
    assert_echoes(&mut host, "after-all");
}
