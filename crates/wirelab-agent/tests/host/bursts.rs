//! What a link does with more than it can carry, and with frames that wait.

use std::time::Duration;

use wirelab_schema::{DropCause, ImpairmentSpec, LinkSpec, QueueSpec, RateSpec, TrialStatus};

use crate::machine::namespaces_work;
use crate::support::{Host, assert_conserved, assert_replays};

#[test]
fn a_burst_beyond_capacity_ends_as_counted_queue_drops() {
    if !namespaces_work() {
        return;
    }
    let mut host = Host::start();
    host.open(1);
    let queue = QueueSpec::DropTail { bytes: None, packets: Some(50) };
    let rate = ImpairmentSpec::Rate(RateSpec { rate_bps: 1_000_000, queue, overhead_bytes: 0 });
    let mut server = host.server("udp_counter");
    server.ends_trial = true;
    let link = LinkSpec { uplink: vec![rate], ..LinkSpec::default() };
    let result = host.run(host.trial("burst", link, vec![server, host.client("udp_burst")]));
    assert_eq!((result.status, &result.error), (TrialStatus::Done, &None), "{result:?}");
    let (sent, received) = (host.printed("client", "sent"), host.printed("server", "received"));
    let uplink = &result.link.directions[0];
    assert_conserved(uplink);
    let queue_full: u64 = uplink.dropped.iter().map(|drop| drop.packets).sum();
    assert!(uplink.dropped.iter().all(|drop| drop.packets == 0 || drop.cause == DropCause::QueueFull));
    assert!(queue_full > uplink.delivered, "{uplink:?}");
    assert_eq!((uplink.held, host.printed("server", "dropped")), (0, vec![0]));
    assert_eq!(received, [uplink.delivered]);
    assert_eq!(sent, [uplink.delivered + queue_full + result.link.kernel_drops], "{result:?}");
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
