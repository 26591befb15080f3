//! Readings handed over: every stack that does `telemetry`, and clients in numbers.

use std::collections::HashSet;

use serde_json::json;
use wirelab_schema::{ArrivalSpec, ConnectionPolicy, Exchange, Outcome, RequestResponse, Telemetry};
use wirelab_stacks::StackError;
use wirelab_stacks::workload::TELEMETRY;

use crate::lab::{Lab, deliver, kept, workload};
use crate::{assert_all, assert_completed, descriptors, does, echoes, has};

#[tokio::test]
async fn every_reading_is_acknowledged() {
    let lab = Lab::new();
    for stack in descriptors(does(TELEMETRY)) {
        for bytes in [1, 612, 100_000] {
            for work in [workload(bytes, 0, 4), kept(1, workload(bytes, 0, 4))] {
                let rows = lab.exchange(&stack.name, deliver(work), &[]).await;
                assert_completed(&rows, 4, &format!("{} {bytes}", stack.name));
                let echoed = if echoes(&stack) { bytes } else { 0 };
                let seen: Vec<_> = rows.iter().map(|row| (row.body_sent_bytes, row.body_received_bytes)).collect();
                assert_eq!(seen, [(bytes, echoed); 4], "{}", stack.name);
                assert!(rows.iter().all(|row| row.request().is_some()), "{}", stack.name);
            }
        }
    }
}

#[tokio::test]
async fn clients_of_a_population_have_connections_of_their_own() {
    let lab = Lab::new();
    for stack in descriptors(does(TELEMETRY)) {
        let work = RequestResponse { clients: 3, concurrency: 2, ..kept(1, workload(30, 0, 4)) };
        let rows = lab.exchange(&stack.name, deliver(work), &[]).await;
        assert_completed(&rows, 12, &stack.name);
        let ports: HashSet<_> = rows.iter().map(|row| (row.client, row.local_port)).collect();
        assert_eq!(ports.len(), 3, "{}: {ports:?}", stack.name);
        for client in 0..3 {
            let mut indices: Vec<_> = of(&rows, client).map(|row| row.index).collect();
            indices.sort();
            assert_eq!(indices, [0, 1, 2, 3], "{}", stack.name);
            assert!(of(&rows, client).any(|row| !row.connection_reused), "{}", stack.name);
        }
    }
}

#[tokio::test]
async fn every_recorded_exchange_of_a_resumed_connection_resumes_and_each_client_has_a_session_of_its_own() {
    let lab = Lab::new();
    for stack in descriptors(does(TELEMETRY)) {
        let connection = ConnectionPolicy::Resumed;
        let work = Telemetry { connection, ..deliver(RequestResponse { clients: 2, ..workload(30, 0, 3) }) };
        if !has(&stack, "resumption") {
            let refused = lab.run_client(&stack.name, 1, work, &[]).await.expect_err("refused");
            assert!(matches!(refused, StackError::Unsupported(_)), "{}", stack.name);
            continue;
        }
        let versions: &[Option<&str>] = if has(&stack, "tls") { &[Some("1.2"), Some("1.3")] } else { &[None] };
        for version in versions {
            let settings: Vec<_> = version.iter().map(|version| ("tls", json!(version))).collect();
            let rows = lab.exchange(&stack.name, work.clone(), &settings).await;
            assert_completed(&rows, 6, &stack.name);
            let resumed: Vec<_> = rows.iter().map(|row| row.resumed).collect();
            assert_eq!(resumed, [Some(true); 6], "{} {version:?}", stack.name);
        }
    }
}

#[tokio::test]
async fn early_data_leaves_before_the_handshake_ends_and_is_recorded() {
    let lab = Lab::new();
    for stack in descriptors(|stack| does(TELEMETRY)(stack) && has(stack, "early-data")) {
        let work = Telemetry { connection: ConnectionPolicy::Resumed, ..deliver(workload(30, 0, 3)) };
        for early in [true, false] {
            let rows = lab.exchange(&stack.name, work.clone(), &[("early-data", json!(early))]).await;
            assert_completed(&rows, 3, &stack.name);
            for row in rows {
                assert_eq!((row.early_data, row.resumed), (early.then_some(true), Some(true)), "{}", stack.name);
                assert_eq!(row.request_start_ns < row.handshake_ns, early, "{}: {row:?}", stack.name);
                assert!(row.handshake_ns <= row.first_final_byte_ns, "{}: {row:?}", stack.name);
            }
        }
    }
}

#[tokio::test]
async fn a_settled_transfer_is_sent_and_one_that_the_receiver_accepts_is_completed() {
    let lab = Lab::new();
    for stack in ["amqp", "amqps"] {
        for (delivery, outcome) in [("at-most-once", Outcome::Sent), ("at-least-once", Outcome::Completed)] {
            let rows = lab.exchange(stack, deliver(workload(30, 0, 4)), &[("delivery", json!(delivery))]).await;
            assert_all(outcome, &rows, 4, &format!("{stack} {delivery}"));
        }
    }
}

#[tokio::test]
async fn a_message_that_is_not_confirmable_is_completed_by_its_response() {
    let lab = Lab::new();
    for stack in ["coap", "coaps"] {
        let rows = lab.exchange(stack, deliver(workload(30, 0, 4)), &[("confirmable", json!(false))]).await;
        assert_completed(&rows, 4, stack);
        assert!(rows.iter().all(|row| row.first_final_byte_ns.is_some()), "{stack}: {rows:?}");
    }
}

#[tokio::test]
async fn a_reading_of_nothing_is_a_usage_error() {
    let lab = Lab::new();
    for stack in descriptors(does(TELEMETRY)) {
        let error = lab.run_client(&stack.name, 1, deliver(workload(0, 0, 1)), &[]).await.expect_err("refused");
        assert!(matches!(error, StackError::Usage(_)), "{}", stack.name);
    }
}

#[tokio::test]
async fn readings_at_a_rate_are_intended_evenly_and_sent_when_a_place_is_free() {
    let lab = Lab::new();
    for stack in descriptors(does(TELEMETRY)) {
        let arrival = ArrivalSpec::Fixed { rate_hz: 200.0 };
        let work = deliver(RequestResponse { arrival, ..kept(1, workload(30, 0, 5)) });
        let rows = lab.exchange(&stack.name, work, &[]).await;
        assert_eq!(rows.iter().map(|row| row.outcome).collect::<Vec<_>>(), [Outcome::Completed; 5], "{}", stack.name);
        let gaps: Vec<_> = rows.windows(2).map(|pair| pair[1].intended_start_ns - pair[0].intended_start_ns).collect();
        assert_eq!(gaps, [5_000_000; 4], "{}", stack.name);
        assert!(rows.iter().all(|row| row.start_ns >= row.intended_start_ns), "{}", stack.name);
    }
}

fn of(rows: &[Exchange], client: u32) -> impl Iterator<Item = &Exchange> {
    rows.iter().filter(move |row| row.client == client)
}
