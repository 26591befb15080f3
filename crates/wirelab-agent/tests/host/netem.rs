//! Links that the kernel's netem runs, and the error if the kernel has no netem.

use std::process::Command;
use std::time::Duration;

use nix::unistd::geteuid;
use wirelab_schema::{
    DelaySpec, DirectionReport, DropCause, DuplicateSpec, HostOp, HostResult, ImpairmentSpec, LinkBackend, LinkSpec,
    LossSpec, OpenSlots, QueueSpec, RateSpec, TokenBucketSpec, TrialResult, TrialStatus,
};

use crate::machine::{AGENT, namespaces_work};
use crate::roles;
use crate::support::{Host, ONE_WAY, assert_echoes, delay, echo, lossy_echo};

/// A host whose slot may have netem; `None` if there is no netem, which is then printed.
fn host_with_netem() -> Option<Host> {
    if !namespaces_work() {
        return None;
    }
    let mut host = Host::start();
    let id = host.send(HostOp::Open(OpenSlots { slots: 1, mtu: 1500, netem: true, ..OpenSlots::default() }));
    match host.receive(id) {
        HostResult::Opened(_) => Some(host),
        HostResult::Error { message, hint } => {
            assert!(message.starts_with("backend: this kernel lacks netem or the token bucket filter ("), "{message}");
            assert!(hint.unwrap().starts_with("`sudo modprobe -a sch_netem sch_tbf`"));
            eprintln!("not tested: {message}");
            None
        }
        other => panic!("{other:?}"),
    }
}

fn netem(uplink: Vec<ImpairmentSpec>) -> LinkSpec {
    LinkSpec { uplink, backend: Some(LinkBackend::Netem), ..LinkSpec::default() }
}

fn dropped(direction: &DirectionReport, cause: DropCause) -> u64 {
    direction.dropped.iter().filter(|drop| drop.cause == cause).map(|drop| drop.packets).sum()
}

fn assert_conserved(result: &TrialResult) {
    for direction in &result.link.directions {
        let lost: u64 = direction.dropped.iter().map(|drop| drop.packets).sum();
        assert_eq!(direction.received + direction.duplicated, direction.delivered + lost + direction.held);
    }
    assert_eq!(result.link.kernel_drops, 0);
}

#[test]
fn a_kernel_without_netem_refuses_the_trial_and_the_slot_stays_usable() {
    if !namespaces_work() || host_with_netem().is_some() {
        return;
    }
    let mut host = Host::start();
    host.open(1);
    let message = host.refusal(echo(&host, "netem", LinkSpec { backend: Some(LinkBackend::Netem), ..delay(ONE_WAY) }));
    assert!(message.contains("putting netem on l0-0-1"), "{message}");
    assert_echoes(&mut host, "afterwards");
}

#[test]
fn what_a_refused_trial_had_put_on_one_interface_does_not_shape_the_next() {
    if !namespaces_work() || host_with_netem().is_some() {
        return;
    }
    let mut host = Host::start();
    host.open(1);
    // A bucket on one interface, where the kernel has those, and netem on the other, where it has none.
    let queue = QueueSpec::DropTail { bytes: Some(1600), packets: None };
    let bucket =
        ImpairmentSpec::TokenBucket(TokenBucketSpec { rate_bps: 800, burst_bytes: 1600, queue, overhead_bytes: 0 });
    let link = LinkSpec { downlink: delay(ONE_WAY).uplink, ..netem(vec![bucket]) };
    let message = host.refusal(echo(&host, "shaped", link));
    assert!(message.contains("putting "), "{message}");
    assert_echoes(&mut host, "afterwards");
}

#[test]
fn netem_delays_and_the_log_says_nothing_of_it() {
    let Some(mut host) = host_with_netem() else { return };
    let result = host.run(echo(&host, "delay", LinkSpec { backend: Some(LinkBackend::Netem), ..delay(ONE_WAY) }));
    assert_eq!((result.status, &result.error), (TrialStatus::Done, &None));
    let round_trips = host.printed("client", "round-trip");
    assert_eq!(round_trips.len(), roles::PACKETS);
    assert!(round_trips.iter().all(|time| Duration::from_nanos(*time) >= 2 * ONE_WAY), "{round_trips:?}");
    assert_conserved(&result);
    for direction in &result.link.directions {
        assert_eq!((direction.delivered, direction.delivered_bytes), (20, 20 * 128));
    }
    let replay = Command::new(AGENT).arg("replay").arg(host.log("delay")).output().unwrap();
    assert!(!replay.status.success());
    assert!(String::from_utf8_lossy(&replay.stderr).contains("netem ran this link, and keeps no log"));
    // Its qdiscs are gone with its trial.
    assert_echoes(&mut host, "afterwards");
}

#[test]
fn what_netem_drops_is_counted_by_its_cause() {
    let Some(mut host) = host_with_netem() else { return };
    let all = ImpairmentSpec::Loss(LossSpec { probability: 1.0, correlation: 0.0 });
    let result = host.run(lossy_echo(&host, "loss", netem(vec![all])));
    assert_conserved(&result);
    let [uplink, downlink] = &result.link.directions[..] else { panic!("{result:?}") };
    let lost = dropped(uplink, DropCause::Loss);
    assert_eq!((uplink.received, uplink.delivered, lost, downlink.received), (20, 0, 20, 0));

    let queue = QueueSpec::DropTail { bytes: None, packets: Some(3) };
    let rate = ImpairmentSpec::Rate(RateSpec { rate_bps: 100_000, queue, overhead_bytes: 0 });
    let delay =
        ImpairmentSpec::Delay(DelaySpec { delay_ns: 5_000_000, jitter: None, correlation: 0.0, overtaking: false });
    for (name, stages) in [("rate", vec![rate.clone()]), ("behind-a-delay", vec![delay, rate])] {
        let endpoints = vec![host.server("udp_echo"), host.sender(20, 1000, Duration::ZERO)];
        let result = host.run(host.trial(name, netem(stages), endpoints));
        assert_conserved(&result);
        let uplink = &result.link.directions[0];
        let full = dropped(uplink, DropCause::QueueFull);
        // One is being sent, three wait; the burst is over before the first has left, 82 ms later.
        assert_eq!((uplink.received, dropped(uplink, DropCause::Loss), full), (20, 0, 16), "{name}: {uplink:?}");
    }
}

#[test]
fn a_token_bucket_lets_as_much_pass_as_it_holds_and_keeps_what_its_queue_takes() {
    let Some(mut host) = host_with_netem() else { return };
    let delay =
        ImpairmentSpec::Delay(DelaySpec { delay_ns: 5_000_000, jitter: None, correlation: 0.0, overtaking: false });
    // 1028 bytes each: one leaves immediately, and three wait for longer than the trial lasts.
    let queue = QueueSpec::DropTail { bytes: Some(3 * 1028), packets: None };
    let bucket =
        ImpairmentSpec::TokenBucket(TokenBucketSpec { rate_bps: 800, burst_bytes: 1500, queue, overhead_bytes: 0 });
    for (name, stages) in [("bucket", vec![bucket.clone()]), ("behind-a-delay", vec![delay, bucket])] {
        let endpoints = vec![host.server("udp_echo"), host.sender(20, 1000, Duration::from_millis(10))];
        let result = host.run(host.trial(name, netem(stages), endpoints));
        assert_conserved(&result);
        let uplink = &result.link.directions[0];
        let full = dropped(uplink, DropCause::QueueFull);
        assert_eq!((uplink.received, uplink.delivered, uplink.held, full), (20, 1, 3, 16), "{name}: {uplink:?}");
        assert_eq!(uplink.delivered_bytes, 1028);
    }
}

#[test]
fn a_token_buckets_queue_holds_the_configured_bytes_though_a_socket_may_hold_less() {
    if host_with_netem().is_none() || !geteuid().is_root() {
        return;
    }
    // An ordinary user's sockets have the room of net.core.wmem_max, some hundred packets.
    let mut host = Host::start_as(Some(65534));
    host.open_with(OpenSlots { slots: 1, mtu: 1500, netem: true, ..OpenSlots::default() });
    let queue = QueueSpec::DropTail { bytes: Some(4_000_000), packets: None };
    let bucket =
        ImpairmentSpec::TokenBucket(TokenBucketSpec { rate_bps: 800, burst_bytes: 1500, queue, overhead_bytes: 0 });
    let packets = 3000;
    let endpoints = vec![host.server("udp_echo"), host.sender(packets, 20, Duration::ZERO)];
    let result = host.run(host.trial("long-queue", netem(vec![bucket]), endpoints));
    assert_conserved(&result);
    let uplink = &result.link.directions[0];
    assert_eq!(
        (uplink.received, uplink.delivered + uplink.held),
        (u64::from(packets), u64::from(packets)),
        "{uplink:?}"
    );
}

#[test]
fn netem_s_copies_are_counted() {
    let Some(mut host) = host_with_netem() else { return };
    let twice = ImpairmentSpec::Duplicate(DuplicateSpec { probability: 1.0, correlation: 0.0 });
    let result = host.run(echo(&host, "copies", netem(vec![twice])));
    assert_conserved(&result);
    let uplink = &result.link.directions[0];
    assert_eq!((uplink.received, uplink.duplicated, uplink.delivered), (20, 20, 40));
}
