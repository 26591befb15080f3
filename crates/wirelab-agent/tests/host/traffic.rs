//! What endpoints of a slot see, and how the link accounts for it.

use std::collections::BTreeMap;
use std::fs::File;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use wirelab_capture::packet_log::Outcome;
use wirelab_net::clock;
use wirelab_net::link::{Instant, PortId};
use wirelab_schema::{
    HostOp, HostResult, ImpairmentSpec, LinkSpec, LossSpec, MediumSpec, OpenSlots, SerialiserSpec, TrialResult,
    TrialStatus,
};

use crate::machine::{eventually, namespaces_work};
use crate::roles;
use crate::support::{Host, ONE_WAY, assert_conserved, assert_echoes, delay, echo, log, lossy_echo};

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
fn nothing_passes_a_link_that_loses_everything() {
    if !namespaces_work() {
        return;
    }
    let mut host = Host::start();
    host.open(1);
    let all = ImpairmentSpec::Loss(LossSpec { probability: 1.0, correlation: 0.0 });
    let link = LinkSpec { uplink: vec![all], ..LinkSpec::default() };
    let result = host.run(lossy_echo(&host, "loss", link));
    assert_eq!(result.status, TrialStatus::Done);
    assert_eq!(host.printed("client", "round-trip").len(), 0);
    let [uplink, downlink] = &result.link.directions[..] else { panic!("{result:?}") };
    assert_conserved(uplink);
    assert_eq!((uplink.received, uplink.delivered, downlink.received), (20, 0, 0));
    let (_, records) = log(&host, "loss");
    assert_eq!(records.len(), 20);
    assert!(records.iter().all(|(record, _)| record.outcome == Outcome::Loss));
}

#[test]
fn slots_do_not_see_one_another() {
    if !namespaces_work() {
        return;
    }
    let mut host = Host::start();
    host.open(3);
    let mut expected = BTreeMap::new();
    for slot in 0..3 {
        let mut trial = echo(&host, &format!("slot-{slot}"), delay(ONE_WAY));
        trial.slot = slot;
        for endpoint in &mut trial.endpoints {
            endpoint.stdout = host.folder.path().join(format!("{}-{slot}.out", endpoint.name));
        }
        expected.insert(host.send(HostOp::RunTrial(Box::new(trial))), slot);
    }
    while !expected.is_empty() {
        let reply = host.receive_any();
        let HostResult::Trial(result) = reply.result else { panic!("{reply:?}") };
        assert_eq!(result.trial, format!("slot-{}", expected.remove(&reply.id).unwrap()));
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
    let endpoints = vec![host.server("tcp_sink"), host.client("tcp_deserter")];
    // Long enough for the trial to end, on a busy machine too, while the last packets are on their way.
    let result = host.run(host.trial("deserter", delay(Duration::from_millis(500)), endpoints));
    assert_eq!(result.status, TrialStatus::Done, "{result:?}");
    assert!(result.link.directions[0].held > 0, "{result:?}");
    let idle = host.endpoint("client", &["sleep", "1"]);
    let result = host.run(host.trial("idle", delay(Duration::ZERO), vec![idle]));
    assert_eq!(result.link.directions.iter().map(|direction| direction.received).sum::<u64>(), 0);
}

fn assert_bulk_arrives(offloads: bool) -> u32 {
    let mut host = Host::start();
    let facts = host.open_with(OpenSlots { slots: 1, mtu: 1500, offloads, ..OpenSlots::default() });
    let expected = if offloads { "on" } else { "off" };
    assert_eq!(facts.settings["offload.tcp-segmentation"], expected);
    let endpoints = vec![host.server("tcp_bulk_server"), host.client("tcp_bulk_client")];
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
    let client = host.client("udp_flood");
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
    let medium = Some(MediumSpec::Serialiser(SerialiserSpec {
        rate_bps: 1_000_000_000,
        queue_bytes: Some(1 << 30),
        queue_packets: None,
        overhead_bytes: 0,
    }));
    let (_, woken) = flood(&mut host, LinkSpec { medium, ..delay(Duration::ZERO) });
    let (_, records) = log(&host, "flood");
    let uplink: Vec<_> = records.iter().filter(|(record, _)| record.port == PortId(0)).collect();
    assert!(uplink.len() > 100, "{} packets", uplink.len());
    assert!(uplink.iter().all(|(record, _)| record.arrival < woken));
}
