//! An idle start in real namespaces: endpoints in real time on a link whose clock is put forward between their messages.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};
use wirelab_capture::packet_log::Outcome;
use wirelab_net::link::PortId;
use wirelab_net::topology::IPV4;
use wirelab_schema::{LinkSpec, RadioSpec, ReadyCondition, SleepSpec, TrialRequest, TrialStatus};

use crate::machine::{PATIENCE, namespaces_work};
use crate::support::{Host, assert_conserved, assert_replays, delay, log};

const MESSAGES: usize = 3;
const WAKE: Duration = Duration::from_secs(1);
const ONE_WAY: Duration = Duration::from_millis(50);
const INTERVAL: Duration = Duration::from_secs(600);

/// A device that sends a reading over CoAP every ten minutes of its link's clock. Its radio sleeps after 10 s, hears nothing then, and wakes in a second.
fn sensor(host: &Host, rests: bool) -> TrialRequest {
    let parameters = |role: &str| {
        let workload = json!({
            "kind": "telemetry", "message_bytes": 64, "exchanges": MESSAGES, "concurrency": 1, "timeout_ns": 20_000_000_000u64,
            "arrival": {"process": "idle-start", "interval_ns": INTERVAL.as_nanos() as u64}, "connection": {"policy": "new"},
        });
        json!({
            "schema_version": wirelab_schema::SCHEMA_VERSION, "protocol": "coap", "role": role,
            "server": {"address": IPV4.server, "port": 5683, "name": "server.test"}, "settings": {"ack-timeout": 6_000},
            "workload": workload, "certificates": Value::Null, "output": host.folder.path(), "seed": 1,
        })
    };
    let endpoint = |role: &str| {
        let file = format!("{role}.json");
        fs::write(host.folder.path().join(&file), parameters(role).to_string()).unwrap();
        host.endpoint(role, &["./wirelab-agent", "endpoint", &file])
    };
    let (mut server, client) = (endpoint("server"), endpoint("client"));
    server.ready = Some(ReadyCondition::Event { timeout_ns: PATIENCE.as_nanos() as u64 });
    server.ends_trial = false;
    let sleep = SleepSpec { after_ns: 10_000_000_000, cycle_ns: None, wake_ns: WAKE.as_nanos() as u64 };
    let radio = Some(RadioSpec { sleeps: vec![sleep], buffer_bytes: 10_000 });
    let trial = host.trial("sensor", LinkSpec { radio, ..delay(ONE_WAY) }, vec![server, client]);
    TrialRequest { rests, timeout_ns: 60_000_000_000, ..trial }
}

#[test]
fn each_message_of_an_idle_start_wakes_the_radio_in_seconds_of_real_time() {
    if !namespaces_work() {
        return;
    }
    let mut host = Host::start();
    host.open(1);
    let trial = sensor(&host, true);
    let result = host.run(trial);
    let words = fs::read_to_string(host.folder.path().join("client.err")).unwrap_or_default();
    assert_eq!((result.status, &result.error), (TrialStatus::Done, &None), "{words}");
    // It is answered by the link, and no packet of the trial.
    for direction in &result.link.directions {
        assert_conserved(direction);
        assert_eq!((direction.received, direction.delivered), (MESSAGES as u64, MESSAGES as u64));
    }
    assert_eq!((result.link.rests, result.link.kernel_drops), (MESSAGES as u64 - 1, 0));
    let lasted = Duration::from_nanos(result.end_ns - result.start_ns);
    let rested = Duration::from_nanos(result.link.rested_ns);
    assert!(lasted < Duration::from_secs(30), "{lasted:?}");
    // What is left of two intervals, and not of a third.
    let gaps = 2 * INTERVAL - rested;
    assert!(gaps > 2 * (WAKE + 2 * ONE_WAY) && gaps < lasted, "{rested:?} rested in {lasted:?}");

    let (_, records) = log(&host, "sensor");
    let rests = records.iter().filter(|(record, _)| record.outcome == Outcome::Rest);
    assert_eq!(rests.map(|(record, _)| record.sequence).collect::<Vec<_>>(), [2, 4]);
    let uplink = records.iter().filter(|(record, _)| record.port == PortId(0) && record.outcome != Outcome::Rest);
    let delays: Vec<_> = uplink.map(|(record, _)| record.departure.saturating_since(record.arrival)).collect();
    assert_eq!(delays, [WAKE + ONE_WAY; MESSAGES]);
    assert_replays(&host, "sensor");
}

#[test]
fn a_client_whose_link_does_not_rest_fails_with_the_reason() {
    if !namespaces_work() {
        return;
    }
    let mut host = Host::start();
    host.open(1);
    let trial = sensor(&host, false);
    let result = host.run(trial);
    assert_eq!((result.status, result.link.rests), (TrialStatus::Failed, 0));
    let words = fs::read_to_string(host.folder.path().join("client.err")).unwrap_or_default();
    assert!(words.contains("the link does not rest: Connection refused"), "{words}");
}
