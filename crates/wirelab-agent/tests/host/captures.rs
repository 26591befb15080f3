//! Captures of a trial, at both ends.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use wirelab_capture::capture;
use wirelab_capture::packet_log::Record;
use wirelab_net::link::PortId;
use wirelab_schema::{CaptureFiles, ImpairmentSpec, LinkSpec, LossPatternSpec, TrialRequest, TrialStatus};

use crate::machine::namespaces_work;
use crate::support::{Host, ONE_WAY, assert_replays, delay};

const DATAGRAMS: u32 = 40;
const BYTES: usize = 500;
const SECRET: &str = "CLIENT_TRAFFIC_SECRET_0 0123 4567\n";

/// A trial that sends datagrams over `link` and captures them.
fn captured(host: &Host, name: &str, link: LinkSpec) -> (TrialRequest, CaptureFiles) {
    let path = |name: &str| host.folder.path().join(name);
    let files = CaptureFiles {
        client: path("client.pcapng"),
        server: path("server.pcapng"),
        key_logs: vec![path("secrets"), path("none")],
    };
    let endpoints = vec![host.server("udp_sink"), host.sender(DATAGRAMS, BYTES, Duration::from_millis(1))];
    (TrialRequest { capture: Some(files.clone()), ..host.trial(name, link, endpoints) }, files)
}

/// The datagrams of a capture.
fn datagrams(path: &PathBuf) -> Vec<Record> {
    assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    let packets = capture::read(File::open(path).unwrap()).unwrap().packets;
    let from_client =
        packets.into_iter().filter(|(record, _)| record.port == PortId(0) && record.size == BYTES as u32 + 28);
    from_client.map(|(record, _)| record).collect()
}

#[test]
fn each_end_has_what_it_saw_in_the_order_in_which_it_saw_it() {
    if !namespaces_work() {
        return;
    }
    let mut host = Host::start();
    host.open(1);
    let mut link = delay(ONE_WAY);
    link.uplink.insert(0, ImpairmentSpec::LossPattern(LossPatternSpec { pattern: "0001".into(), repeat: true }));
    let (trial, files) = captured(&host, "captured", link);
    fs::write(&files.key_logs[0], SECRET).unwrap();
    let result = host.run(trial);
    assert_eq!((result.status, &result.error), (TrialStatus::Done, &None), "{result:?}");
    assert_replays(&host, "captured");

    let (sent, received) = (datagrams(&files.client), datagrams(&files.server));
    assert_eq!(sent.len(), DATAGRAMS as usize);
    assert_eq!(received.len() as u64, result.link.directions[0].delivered);
    assert!([&sent, &received].iter().all(|packets| packets.is_sorted_by_key(|packet| packet.arrival)));
    assert!(received[0].arrival.saturating_since(sent[0].arrival) >= ONE_WAY);
    let trial = result.start_realtime_ns..result.start_realtime_ns + (result.end_ns - result.start_ns);
    assert!(sent.iter().all(|packet| trial.contains(&packet.arrival.as_nanos())));

    for path in [&files.client, &files.server] {
        let bytes = fs::read(path).unwrap();
        let count = |text: &str| bytes.windows(text.len()).filter(|window| *window == text.as_bytes()).count();
        assert_eq!(count(SECRET), 1);
        let dropped = if path == &files.client { sent.len() - received.len() } else { 0 };
        assert_eq!(count("lost by loss-pattern"), dropped);
    }
}

#[test]
fn a_capture_that_cannot_be_made_is_an_error_and_the_slot_stays_free() {
    if !namespaces_work() {
        return;
    }
    let mut host = Host::start();
    host.open(1);
    let (mut trial, _) = captured(&host, "nowhere", delay(ONE_WAY));
    let nowhere = host.folder.path().join("none/server.pcapng");
    trial.capture.as_mut().unwrap().server = nowhere.clone();
    let message = host.refusal(trial);
    assert!(message.starts_with(&format!("creating the capture {}: ", nowhere.display())), "{message}");
    let (trial, _) = captured(&host, "here", delay(ONE_WAY));
    assert_eq!(host.run(trial).status, TrialStatus::Done);
}
