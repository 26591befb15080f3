//! What is special about MQTT: qualities of service, versions and sessions between the built-in ends.

use serde_json::json;
use wirelab_schema::{ArrivalSpec, Exchange, Outcome, PubSub, RequestResponse, Wait};

use crate::lab::{Lab, copies, deliver, kept, workload};
use crate::{assert_all, assert_completed};

const STACKS: [&str; 3] = ["mqtt", "mqtts", "mqtt+quic"];

#[tokio::test]
async fn every_quality_of_service_delivers_in_both_versions() {
    let lab = Lab::new();
    for stack in STACKS {
        for version in ["3.1.1", "5"] {
            for qos in [0, 1, 2] {
                let settings = [("version", json!(version)), ("qos", json!(qos))];
                let what = format!("{stack} {version} {qos}");
                for work in [workload(612, 0, 4), kept(1, RequestResponse { concurrency: 3, ..workload(612, 0, 12) })] {
                    let count = work.exchanges as usize;
                    let rows = lab.exchange(stack, deliver(work), &settings).await;
                    // Nothing answers a message of QoS 0.
                    let outcome = if qos > 0 { Outcome::Completed } else { Outcome::Sent };
                    assert_all(outcome, &rows, count, &what);
                    let status = (version == "5" && qos > 0).then_some(0);
                    assert!(rows.iter().all(|row| row.status == status), "{what}: {rows:?}");
                    assert!(rows.iter().all(|row| row.first_final_byte_ns.is_some() == (qos > 0)), "{what}: {rows:?}");
                    if qos == 2 {
                        let two_answers = |row: &Exchange| row.first_response_byte_ns < row.first_final_byte_ns;
                        assert!(rows.iter().all(two_answers), "PUBREC before PUBCOMP: {rows:?}");
                    }
                }
                let arrival = ArrivalSpec::Fixed { rate_hz: 200.0 };
                let work = PubSub {
                    message_bytes: 612,
                    messages: 5,
                    subscribers: 3,
                    arrival,
                    timeout_ns: 10_000_000_000,
                    wait: Wait::Connected,
                };
                let rows = lab.listen(stack, work, &settings).await;
                assert_completed(&rows, 15, &what);
                assert!(rows.iter().all(|row| copies(row) == Some(1)), "{what}: {rows:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_reading_that_is_not_the_expected_one_is_refused() {
    let mut lab = Lab::new();
    lab.client_seed = 2;
    for (version, status, words) in [("3.1.1", None, "closed"), ("5", Some(0x99), "PayloadFormatInvalid")] {
        for qos in [1, 2] {
            let settings = [("version", json!(version)), ("qos", json!(qos))];
            let rows = lab.exchange("mqtt", deliver(workload(30, 0, 2)), &settings).await;
            for row in rows {
                assert_eq!((row.outcome, row.status), (Outcome::Failed, status), "{row:?}");
                assert!(row.error.as_deref().is_some_and(|error| error.contains(words)), "{row:?}");
            }
        }
    }
}

#[tokio::test]
async fn new_connections_continue_their_session_if_the_setting_is_on() {
    let lab = Lab::new();
    for version in ["3.1.1", "5"] {
        let settings = [("version", json!(version)), ("clean-start", json!(false)), ("qos", json!(2))];
        let work = RequestResponse { concurrency: 2, clients: 2, ..workload(30, 0, 6) };
        assert_completed(&lab.exchange("mqtt", deliver(work), &settings).await, 12, version);
    }
}

#[tokio::test]
async fn a_session_that_expires_between_two_check_ins_loses_its_messages() {
    let lab = Lab::new();
    for version in ["3.1.1", "5"] {
        for expiry_s in [60, 0] {
            let session = [("clean-start", json!(false)), ("session-expiry", json!(expiry_s))];
            let settings = [session, [("version", json!(version)), ("qos", json!(1))]].concat();
            let arrival = ArrivalSpec::Fixed { rate_hz: 20.0 };
            let wait = Wait::CheckIn { every_ns: 500_000_000, stay_ns: 50_000_000 };
            let (messages, timeout_ns) = (20, 2_000_000_000);
            let work = PubSub { message_bytes: 30, messages, subscribers: 1, arrival, timeout_ns, wait };
            let rows = lab.listen("mqtt", work, &settings).await;
            let lost = rows.iter().filter(|row| copies(row) == Some(0)).count();
            // MQTT 3.1.1 has no expiry.
            let is_kept = expiry_s > 0 || version == "3.1.1";
            assert_eq!(lost == 0, is_kept, "{version} {expiry_s} s: {rows:?}");
        }
    }
}

#[tokio::test]
async fn a_reading_that_no_packet_may_carry_is_a_usage_error() {
    let lab = Lab::new();
    let settings = [("maximum-packet-size", json!(4_096))];
    let error = lab.run_client("mqtt", 1, deliver(workload(4_090, 0, 1)), &settings).await.expect_err("refused");
    assert!(error.to_string().contains("maximum-packet-size"), "{error}");
}
