//! The contract that every registered stack keeps (`docs/contract.md`), on loopback.

mod changes;
mod conformance;
mod datagrams;
mod dialogue;
mod foreign;
mod lab;
mod lossy_path;
mod mqtt;
mod pages;
mod proxy;
mod requests;
mod settings;
mod sizes;
mod telemetry;

use std::net::{TcpListener, UdpSocket};

use lab::{Lab, kept, workload};
use serde_json::json;
use wirelab_schema::{ArrivalSpec, Exchange, Outcome, RequestResponse, Role};
use wirelab_stacks::workload::REQUEST_RESPONSE;
use wirelab_stacks::{Descriptor, STACKS, StackError};

fn descriptors(keep: impl Fn(&Descriptor) -> bool) -> Vec<Descriptor> {
    STACKS.iter().map(|stack| stack.descriptor()).filter(keep).collect()
}

/// Says in a status what it thinks of a request.
fn has_status(descriptor: &Descriptor) -> bool {
    descriptor.success.is_some()
}

/// Status of a success.
fn success(descriptor: &Descriptor, upload: u64) -> Option<u16> {
    descriptor.success.map(|status| if upload == 0 { status.fetched } else { status.stored })
}

/// Echoes what it is sent, whatever it is.
fn echoes(descriptor: &Descriptor) -> bool {
    descriptor.echo
}

fn does(kind: &str) -> impl Fn(&Descriptor) -> bool {
    move |descriptor| descriptor.workloads.iter().any(|known| known == kind)
}

fn has(descriptor: &Descriptor, setting: &str) -> bool {
    descriptor.settings.iter().any(|known| known.name == setting)
}

fn outcomes(rows: &[Exchange]) -> Vec<Outcome> {
    rows.iter().map(|row| row.outcome).collect()
}

#[track_caller]
fn assert_completed(rows: &[Exchange], count: usize, what: &str) {
    assert_all(Outcome::Completed, rows, count, what);
}

#[track_caller]
fn assert_all(outcome: Outcome, rows: &[Exchange], count: usize, what: &str) {
    assert_eq!(rows.len(), count, "{what}");
    let odd = rows.iter().find(|row| row.outcome != outcome);
    assert!(odd.is_none(), "{what}: {odd:?}");
}

#[tokio::test]
async fn every_message_is_delivered_byte_exact() {
    let lab = Lab::new();
    for stack in descriptors(does(REQUEST_RESPONSE)) {
        for (upload, download) in [(0, 0), (0, 1), (1, 0), (30, 3_500), (3_500, 30), (1 << 20, 1 << 20)] {
            for work in [workload(upload, download, 6), kept(1, workload(upload, download, 6))] {
                for concurrency in [1, 4] {
                    let work = RequestResponse { concurrency, ..work.clone() };
                    let what = format!("{} {work:?}", stack.name);
                    let rows = lab.exchange(&stack.name, work, &[]).await;
                    assert_completed(&rows, 6, &what);
                    let expected = if echoes(&stack) { (upload, upload) } else { (upload, download) };
                    let bytes: Vec<_> = rows.iter().map(|row| (row.body_sent_bytes, row.body_received_bytes)).collect();
                    assert_eq!(bytes, vec![expected; 6], "{what}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_body_that_is_not_the_expected_one_fails_the_exchange() {
    let mut lab = Lab::new();
    lab.client_seed = 2;
    for stack in descriptors(has_status) {
        let upload = lab.exchange(&stack.name, workload(30, 0, 1), &[]).await;
        assert_eq!((upload[0].outcome, upload[0].status), (Outcome::Failed, Some(400)), "{}", stack.name);
        let download = lab.exchange(&stack.name, workload(0, 30, 1), &[]).await;
        assert_eq!((download[0].outcome, download[0].status), (Outcome::Failed, success(&stack, 0)), "{}", stack.name);
    }
}

#[tokio::test]
async fn a_body_of_another_length_fails_the_exchange() {
    let lab = Lab::new();
    for stack in descriptors(has_status) {
        let server = lab.serve(&stack.name, workload(31, 10, 1), &[]).await;
        let rows = lab.run_client(&stack.name, server.port, workload(30, 10, 1), &[]).await.expect("done");
        assert_eq!((rows[0].outcome, rows[0].status), (Outcome::Failed, Some(400)), "{}", stack.name);
        let rows = lab.run_client(&stack.name, server.port, workload(31, 11, 1), &[]).await.expect("done");
        assert_eq!((rows[0].outcome, rows[0].status), (Outcome::Failed, success(&stack, 31)), "{}", stack.name);
        server.stop().await;
    }
}

/// Every phase that happened, in the order in which phases follow one another.
fn phases(row: &Exchange) -> Vec<u64> {
    let between = [
        row.name_lookup_ns,
        row.tcp_connect_ns,
        row.handshake_ns,
        row.request_start_ns,
        row.first_body_sent_ns,
        row.first_response_byte_ns,
        row.first_final_byte_ns,
    ];
    [Some(row.start_ns)].into_iter().chain(between).chain([Some(row.end_ns)]).flatten().collect()
}

#[tokio::test]
async fn phases_are_in_order_and_null_where_they_did_not_happen() {
    let lab = Lab::new();
    for stack in descriptors(does(REQUEST_RESPONSE)) {
        for upload in [0, 30] {
            for row in lab.exchange(&stack.name, kept(1, workload(upload, 100, 2)), &[]).await {
                let what = format!("{} {row:?}", stack.name);
                assert!(phases(&row).is_sorted(), "{what}");
                let opened = !row.connection_reused;
                assert_eq!(opened, row.index == 0, "{what}");
                assert_eq!(row.name_lookup_ns, None, "{what}");
                assert_eq!(row.tcp_connect_ns.is_some(), opened && stack.transport == "tcp", "{what}");
                assert_eq!(row.handshake_ns.is_some(), opened && stack.secure, "{what}");
                assert_eq!(row.resumed, (opened && stack.secure).then_some(false), "{what}");
                let over_tcp = stack.transport == "tcp";
                // An echo of nothing over TCP ends when it is connected; over UDP it is a datagram.
                let says_something = upload > 0 || !(echoes(&stack) && over_tcp);
                assert_eq!(row.request_start_ns.is_some(), says_something, "{what}");
                assert_eq!(row.first_final_byte_ns.is_some(), says_something, "{what}");
                assert_eq!(row.first_body_sent_ns.is_some(), upload > 0, "{what}");
                assert_eq!(row.status, success(&stack, upload), "{what}");
                assert!(row.local_port.is_some_and(|port| port > 0), "{what}");
                assert_eq!(row.client_retransmissions.is_some(), over_tcp || !echoes(&stack), "{what}");
            }
        }
    }
}

#[tokio::test]
async fn new_connections_have_a_port_each_and_persistent_ones_share_theirs() {
    let lab = Lab::new();
    for stack in descriptors(|_| true) {
        for (work, ports) in [(workload(30, 0, 3), 3), (kept(1, workload(30, 0, 3)), 1)] {
            let rows = lab.exchange(&stack.name, work, &[]).await;
            let mut seen: Vec<_> = rows.iter().map(|row| row.local_port).collect();
            seen.sort();
            seen.dedup();
            assert_eq!(seen.len(), ports, "{}", stack.name);
        }
    }
}

#[tokio::test]
async fn an_unknown_setting_or_choice_is_unsupported_and_a_wrong_value_is_a_usage_error() {
    let lab = Lab::new();
    for stack in descriptors(|_| true) {
        let refusal = async |name: &str, value| {
            lab.run_client(&stack.name, 1, workload(1, 0, 1), &[(name, value)]).await.expect_err("refused")
        };
        assert!(matches!(refusal("colour", json!("red")).await, StackError::Unsupported(_)));
        if has(&stack, "certificate-key") {
            assert!(matches!(refusal("certificate-key", json!("dsa")).await, StackError::Unsupported(_)));
            assert!(matches!(refusal("resumption", json!("yes")).await, StackError::Usage(_)));
        }
        let absurd = RequestResponse { concurrency: 0, ..workload(1, 0, 1) };
        let error = lab.run_client(&stack.name, 1, absurd, &[]).await.expect_err("refused");
        assert!(matches!(error, StackError::Usage(_)));
    }
}

#[tokio::test]
async fn a_stack_that_needs_certificates_and_has_none_is_a_usage_error() {
    let lab = Lab::new();
    for stack in descriptors(|stack| has(stack, "certificate-key")) {
        let mut parameters = lab.parameters(&stack.name, Role::Client, 1, workload(1, 0, 1), &[]);
        parameters.certificates = None;
        assert!(matches!(wirelab_stacks::check(&parameters), Err(StackError::Usage(_))), "{}", stack.name);
    }
}

#[tokio::test]
async fn a_server_ends_cleanly_when_stopped_with_open_connections() {
    let lab = Lab::new();
    for stack in descriptors(|_| true) {
        let server = lab.serve(&stack.name, workload(30, 0, 1), &[]).await;
        let arrival = ArrivalSpec::Fixed { rate_hz: 50.0 };
        let work = RequestResponse { arrival, ..kept(1, workload(30, 0, 1_000)) };
        let (context, stopper, rows) = lab.client_context(&stack.name, server.port, work, &[]);
        let client = tokio::spawn(wirelab_stacks::run(context));
        rows.first().await;
        server.stop().await;
        stopper.stop();
        client.await.expect("no panic").expect("a clean end");
        let rows = rows.taken();
        assert!(!rows.is_empty() && rows.len() < 1_000, "{}: {} rows", stack.name, rows.len());
        assert_eq!(rows[0].outcome, Outcome::Completed, "{}", stack.name);
    }
}

#[tokio::test]
async fn a_server_that_vanishes_fails_exchanges_or_times_them_out() {
    let lab = Lab::new();
    let mut left = Vec::new();
    for stack in descriptors(|_| true) {
        for connections in [None, Some(1)] {
            let server = lab.serve(&stack.name, workload(30, 0, 1), &[]).await;
            let arrival = ArrivalSpec::Fixed { rate_hz: 20.0 };
            let work = RequestResponse { arrival, timeout_ns: 1_000_000_000, ..workload(30, 0, 12) };
            let work = connections.map_or(work.clone(), |connections| kept(connections, work));
            let (context, stopper, rows) = lab.client_context(&stack.name, server.port, work, &[]);
            let client = tokio::spawn(wirelab_stacks::run(context));
            rows.first().await;
            server.vanish();
            left.push((stack.name.clone(), client, stopper, rows));
        }
    }
    // Some clients wait for long until they are sure: all at once.
    for (stack, client, _stopper, rows) in left {
        client.await.expect("no panic").expect("a clean end");
        let rows = rows.taken();
        let outcomes = outcomes(&rows);
        assert_eq!(outcomes.len(), 12, "{stack}");
        assert_eq!(outcomes[0], Outcome::Completed, "{stack}");
        assert!(matches!(outcomes[11], Outcome::Failed | Outcome::TimedOut), "{stack}: {outcomes:?}");
        for row in rows {
            assert_eq!(row.error.is_some(), row.outcome == Outcome::Failed, "{row:?}");
        }
    }
}

#[tokio::test]
async fn a_server_that_never_answers_times_exchanges_out() {
    let lab = Lab::new();
    for stack in descriptors(|_| true) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bound");
        let socket = UdpSocket::bind("127.0.0.1:0").expect("bound");
        let address = if stack.transport == "tcp" { listener.local_addr() } else { socket.local_addr() };
        let work = RequestResponse { timeout_ns: 50_000_000, concurrency: 2, ..workload(30, 0, 2) };
        let port = address.expect("bound").port();
        let rows = lab.run_client(&stack.name, port, work, &[]).await.expect("done");
        assert_eq!(outcomes(&rows), [Outcome::TimedOut; 2], "{}", stack.name);
        for row in rows {
            assert!(row.end_ns - row.start_ns >= 50_000_000, "{}: {row:?}", stack.name);
            assert_eq!((row.first_response_byte_ns, row.status, row.error), (None, None, None), "{}", stack.name);
            assert_eq!(row.tcp_connect_ns.is_some(), stack.transport == "tcp", "{}", stack.name);
            assert_eq!(row.handshake_ns, None, "{}", stack.name);
        }
    }
}

#[tokio::test]
async fn a_refused_connection_fails_exchanges_over_tcp() {
    let lab = Lab::new();
    let port = TcpListener::bind("127.0.0.1:0").expect("bound").local_addr().expect("bound").port();
    for stack in descriptors(|stack| stack.transport == "tcp") {
        let rows = lab.run_client(&stack.name, port, workload(30, 0, 2), &[]).await.expect("done");
        assert_eq!(outcomes(&rows), [Outcome::Failed; 2], "{}", stack.name);
        assert!(rows[0].error.as_deref().is_some_and(|error| error.contains("refused")), "{:?}", rows[0].error);
    }
}

#[tokio::test]
async fn a_certificate_of_another_authority_or_name_is_refused() {
    let lab = Lab::new();
    let stranger = Lab::new();
    let mut misnamed = Lab::new();
    for stack in descriptors(|stack| has(stack, "certificate-key")) {
        let server = lab.serve(&stack.name, workload(30, 0, 1), &[]).await;
        let rows = stranger.run_client(&stack.name, server.port, workload(30, 0, 1), &[]).await.expect("done");
        assert_eq!(outcomes(&rows), [Outcome::Failed], "{}", stack.name);
        server.stop().await;
        misnamed.server_name = "other.test".to_owned();
        let rows = misnamed.exchange(&stack.name, workload(30, 0, 1), &[]).await;
        assert_eq!(outcomes(&rows), [Outcome::Failed], "{}", stack.name);
        assert_eq!((rows[0].handshake_ns, rows[0].status), (None, None), "{}", stack.name);
    }
}

#[tokio::test]
async fn a_server_that_asks_for_a_certificate_refuses_a_client_without() {
    let lab = Lab::new();
    let asks = |asks: bool| [("client-certificate", json!(asks))];
    for stack in descriptors(|stack| has(stack, "client-certificate")) {
        let server = lab.serve(&stack.name, workload(30, 0, 1), &asks(true)).await;
        for shows in [true, false] {
            let rows = lab.run_client(&stack.name, server.port, workload(30, 0, 1), &asks(shows)).await.expect("done");
            assert_eq!(rows[0].outcome == Outcome::Completed, shows, "{}: {:?}", stack.name, rows[0]);
        }
        server.stop().await;
    }
}

#[tokio::test]
async fn the_tls_version_that_is_set_is_the_only_one_spoken() {
    let lab = Lab::new();
    let version = |version: &str| [("tls", json!(version))];
    for stack in descriptors(|stack| has(stack, "tls")) {
        for spoken in ["1.2", "1.3"] {
            let server = lab.serve(&stack.name, workload(30, 0, 1), &version(spoken)).await;
            for asked in ["1.2", "1.3"] {
                let rows = lab.run_client(&stack.name, server.port, workload(30, 0, 1), &version(asked)).await;
                let completed = rows.expect("done")[0].outcome == Outcome::Completed;
                assert_eq!(completed, spoken == asked, "{}: {asked} with {spoken}", stack.name);
            }
            server.stop().await;
        }
    }
}

#[tokio::test]
async fn a_new_connection_resumes_only_if_the_setting_is_on() {
    let lab = Lab::new();
    for stack in descriptors(|stack| has(stack, "resumption")) {
        let versions: &[Option<&str>] = if has(&stack, "tls") { &[Some("1.2"), Some("1.3")] } else { &[None] };
        for version in versions {
            for resumption in [false, true] {
                let mut settings = vec![("resumption", json!(resumption))];
                settings.extend(version.map(|version| ("tls", json!(version))));
                let rows = lab.exchange(&stack.name, workload(30, 0, 4), &settings).await;
                assert_completed(&rows, 4, &stack.name);
                let resumed: Vec<_> = rows.iter().map(|row| row.resumed).collect();
                let expected = [false, resumption, resumption, resumption].map(Some);
                assert_eq!(resumed, expected, "{} {version:?}", stack.name);
            }
        }
    }
}

#[tokio::test]
async fn every_value_of_every_setting_carries_an_exchange() {
    use wirelab_schema::RoundTripPart;
    use wirelab_schema::SettingValues::{Boolean, Choice, Integer};
    let lab = Lab::new();
    for stack in descriptors(|_| true) {
        for setting in &stack.settings {
            let values = match &setting.values {
                Boolean => vec![json!(false), json!(true)],
                Choice { choices } => choices.iter().map(|choice| json!(choice)).collect(),
                Integer { minimum, maximum, .. } => vec![json!(minimum), json!(maximum)],
            };
            for value in values {
                let what = format!("{} {}={value}", stack.name, setting.name);
                let unanswered = stack.timing.changes.iter().any(|change| {
                    let is_set = change.setting == setting.name && change.value == value;
                    is_set && change.part == RoundTripPart::Request && change.round_trips == 0
                });
                let rows = lab.exchange(&stack.name, workload(3_500, 0, 2), &[(&setting.name, value)]).await;
                assert_all(if unanswered { Outcome::Sent } else { Outcome::Completed }, &rows, 2, &what);
            }
        }
    }
}

#[test]
fn the_length_of_every_timer_is_fixed_or_a_setting_with_a_unit_of_time() {
    use wirelab_schema::SettingValues::{Boolean, Integer};
    for stack in descriptors(|_| true) {
        let named = |name: &str| stack.settings.iter().find(|setting| setting.name == name);
        for timer in &stack.timing.timers {
            let values = named(&timer.name).map(|setting| &setting.values);
            let is_time = matches!(values, Some(Integer { unit, .. }) if unit == "ms" || unit == "s");
            assert!(is_time != timer.fixed_ns.is_some(), "{}: {timer:?}", stack.name);
            let mut conditions = timer.unless.iter().chain(&timer.only_with);
            let is_boolean = |name: &String| named(name).is_some_and(|setting| matches!(setting.values, Boolean));
            assert!(conditions.all(is_boolean), "{}: {timer:?}", stack.name);
        }
    }
}

#[tokio::test]
async fn with_expect_continue_the_body_follows_the_interim_response() {
    let lab = Lab::new();
    for stack in descriptors(|stack| has(stack, "expect-continue")) {
        for row in lab.exchange(&stack.name, workload(3_500, 0, 2), &[("expect-continue", json!(true))]).await {
            assert_eq!(row.outcome, Outcome::Completed, "{row:?}");
            assert!(row.first_response_byte_ns < row.first_body_sent_ns, "{row:?}");
            assert!(row.first_body_sent_ns < row.first_final_byte_ns, "{row:?}");
        }
    }
}
