//! Changes told to clients that wait: every stack that does `pubsub` and `stream`.

use std::net::UdpSocket;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::json;
use wirelab_schema::SettingValues::Choice;
use wirelab_schema::{ArrivalSpec, Exchange, Outcome, PubSub, Role, Stream, Wait, WaitKind};
use wirelab_stacks::workload::{PUBSUB, STREAM};
use wirelab_stacks::{Descriptor, StackError};

use crate::lab::{Lab, PATIENCE, copies, workload};
use crate::{assert_completed, descriptors, does};

fn notify(message_bytes: u64, messages: u32, subscribers: u32) -> PubSub {
    let arrival = ArrivalSpec::Fixed { rate_hz: 200.0 };
    PubSub { message_bytes, messages, subscribers, arrival, timeout_ns: 10_000_000_000, wait: Wait::Connected }
}

/// Every value of the setting `notification`, for a stack that has it.
fn ways(stack: &Descriptor) -> Vec<Vec<(&'static str, serde_json::Value)>> {
    let found = stack.settings.iter().find(|setting| setting.name == "notification").map(|setting| &setting.values);
    match found {
        Some(Choice { choices }) => choices.iter().map(|choice| vec![("notification", json!(choice))]).collect(),
        _ => vec![vec![]],
    }
}

#[track_caller]
fn assert_heard(rows: &[Exchange], work: &PubSub, what: &str) {
    assert_completed(rows, (work.messages * work.subscribers) as usize, what);
    let expected = (0..work.subscribers).flat_map(|client| (0..work.messages).map(move |index| (client, index)));
    assert!(rows.iter().map(|row| (row.client, row.index)).eq(expected), "{what}: {rows:?}");
    for row in rows {
        assert_eq!((copies(row), row.body_received_bytes), (Some(1), work.message_bytes), "{what}: {row:?}");
        assert!(row.intended_start_ns <= row.start_ns && row.start_ns <= row.end_ns, "{what}: {row:?}");
    }
}

#[tokio::test]
async fn every_message_reaches_every_subscriber_once() {
    let lab = Lab::new();
    for stack in descriptors(does(PUBSUB)) {
        for settings in ways(&stack) {
            for work in [notify(12, 3, 1), notify(612, 10, 3), notify(100_000, 3, 2)] {
                let what = format!("{} {settings:?} {work:?}", stack.name);
                let rows = lab.listen(&stack.name, work.clone(), &settings).await;
                assert_heard(&rows, &work, &what);
            }
        }
    }
}

fn come(by: WaitKind) -> Wait {
    match by {
        WaitKind::CheckIn => Wait::CheckIn { every_ns: 300_000_000, stay_ns: 100_000_000 },
        WaitKind::Poll => Wait::Poll { every_ns: 100_000_000 },
    }
}

#[tokio::test]
async fn every_message_reaches_subscribers_that_come_at_intervals() {
    let lab = &Lab::new();
    for stack in descriptors(does(PUBSUB)) {
        let cases = stack.waits.iter().flat_map(|way| ways(&stack).into_iter().map(move |settings| (way, settings)));
        join_all(cases.map(|(way, mut settings)| {
            let name = &stack.name;
            settings.extend(way.needs.iter().map(|need| (&*need.setting.clone().leak(), need.values[0].clone())));
            let arrival = ArrivalSpec::Fixed { rate_hz: 20.0 };
            let work = PubSub { arrival, wait: come(way.by), ..notify(612, 10, 2) };
            async move {
                let rows = lab.listen(name, work.clone(), &settings).await;
                assert_heard(&rows, &work, &format!("{name} {settings:?} {:?}", way.by));
            }
        }))
        .await;
    }
}

#[tokio::test]
async fn a_way_of_waiting_that_a_protocol_does_not_have_is_refused() {
    let lab = Lab::new();
    for stack in descriptors(does(PUBSUB)) {
        for by in [WaitKind::CheckIn, WaitKind::Poll] {
            let known = stack.waits.iter().find(|way| way.by == by);
            let work = PubSub { wait: come(by), ..notify(30, 1, 1) };
            let refused = |settings: &[(&str, serde_json::Value)]| {
                wirelab_stacks::check(&lab.parameters(&stack.name, Role::Client, 1, work.clone(), settings)).err()
            };
            match known {
                None => {
                    let error = refused(&[]);
                    assert!(matches!(error, Some(StackError::Unsupported(_))), "{} {by:?}: {error:?}", stack.name);
                }
                Some(way) => {
                    for need in &way.needs {
                        let wrong =
                            if need.values[0].is_boolean() { json!(need.values[0] == json!(false)) } else { json!(0) };
                        let mut settings: Vec<_> =
                            way.needs.iter().map(|other| (other.setting.as_str(), other.values[0].clone())).collect();
                        settings.retain(|(name, _)| *name != need.setting);
                        settings.push((need.setting.as_str(), wrong));
                        let error = refused(&settings);
                        assert!(matches!(error, Some(StackError::Usage(_))), "{} {by:?}: {error:?}", stack.name);
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn subscribers_have_connections_of_their_own() {
    let lab = Lab::new();
    for stack in descriptors(does(PUBSUB)) {
        let rows = lab.listen(&stack.name, notify(30, 2, 3), &[]).await;
        let mut ports: Vec<_> = rows.iter().map(|row| row.local_port).collect();
        ports.dedup();
        assert_eq!(ports.len(), 3, "{}: {ports:?}", stack.name);
        assert!(ports.iter().all(Option::is_some), "{}", stack.name);
    }
}

#[tokio::test]
async fn messages_published_faster_than_fetched_are_all_delivered() {
    let lab = Lab::new();
    for stack in descriptors(does(PUBSUB)) {
        for settings in ways(&stack) {
            let work = PubSub { arrival: ArrivalSpec::Poisson { rate_hz: 20_000.0 }, ..notify(100, 200, 1) };
            let rows = lab.listen(&stack.name, work.clone(), &settings).await;
            assert_heard(&rows, &work, &format!("{} {settings:?}", stack.name));
        }
    }
}

#[tokio::test]
async fn a_stream_is_delivered_as_changes_are() {
    let lab = Lab::new();
    for stack in descriptors(does(STREAM)) {
        let work = notify(20_000, 10, 1);
        let stream = Stream {
            message_bytes: work.message_bytes,
            messages: work.messages,
            subscribers: work.subscribers,
            rate_hz: 200.0,
            timeout_ns: work.timeout_ns,
            playout_delay_ns: 50_000_000,
        };
        assert_heard(&lab.listen(&stack.name, stream, &[]).await, &work, &stack.name);
    }
}

#[tokio::test]
async fn a_message_that_differs_from_what_was_to_be_published_fails() {
    let mut lab = Lab::new();
    // The seed decides the messages' bytes: a client with another one expects others.
    lab.client_seed = 2;
    let lab = &lab;
    // At once, for each waits until it is sure that nothing else comes.
    join_all(descriptors(|stack| does(PUBSUB)(stack) && !stack.roles.contains(&Role::Publisher)).into_iter().map(
        async |stack| {
            let work = PubSub { timeout_ns: 200_000_000, ..notify(612, 2, 1) };
            let rows = lab.listen(&stack.name, work, &[]).await;
            assert_eq!(rows.iter().map(|row| row.outcome).collect::<Vec<_>>(), [Outcome::Failed; 2], "{}", stack.name);
        },
    ))
    .await;
}

#[tokio::test]
async fn a_server_that_vanishes_fails_what_had_not_come() {
    let lab = Lab::new();
    for stack in descriptors(|stack| does(PUBSUB)(stack) && !stack.roles.contains(&Role::Publisher)) {
        let arrival = ArrivalSpec::Fixed { rate_hz: 20.0 };
        let work = PubSub { arrival, timeout_ns: 500_000_000, ..notify(30, 20, 1) };
        let server = lab.serve(&stack.name, work.clone(), &[]).await;
        let (_stopper, client) = lab.client(&stack.name, server.port, work, &[]);
        let client = tokio::spawn(client);
        tokio::time::sleep(Duration::from_millis(300)).await;
        server.vanish();
        let rows = client.await.expect("no panic").expect("a clean end");
        assert_eq!(rows.len(), 20, "{}", stack.name);
        assert_eq!(rows[0].outcome, Outcome::Completed, "{}: {:?}", stack.name, rows[0]);
        let last = rows.iter().find(|row| row.index == 19).expect("a row for each");
        assert!(matches!(last.outcome, Outcome::Failed | Outcome::TimedOut), "{}: {last:?}", stack.name);
        assert_eq!(copies(last), Some(0), "{}", stack.name);
    }
}

/// Somebody who takes connections and datagrams and says nothing.
fn silent() -> (std::net::TcpListener, UdpSocket) {
    loop {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        if let Ok(socket) = UdpSocket::bind(listener.local_addr().expect("its address")) {
            return (listener, socket);
        }
    }
}

#[tokio::test]
async fn a_publisher_with_a_silent_broker_ends_at_the_time_out_or_when_stopped() {
    let lab = Lab::new();
    let broker = silent();
    let port = broker.1.local_addr().expect("its address").port();
    for stack in descriptors(|stack| stack.roles.contains(&Role::Publisher)) {
        for (timeout_ns, stops) in [(100_000_000, false), (3_600_000_000_000, true)] {
            let work = PubSub { timeout_ns, ..notify(30, 1, 1) };
            let (mut context, stopper, _) = lab.client_context(&stack.name, port, work, &[]);
            context.parameters.role = Role::Publisher;
            let publisher = tokio::spawn(wirelab_stacks::run(context));
            if stops {
                tokio::time::sleep(Duration::from_millis(100)).await;
                stopper.stop();
            }
            let ended = tokio::time::timeout(PATIENCE, publisher).await.expect("it ends").expect("no panic");
            match ended {
                Ok(()) => assert!(stops, "{}", stack.name),
                Err(error) => assert!(!stops && error.to_string().contains("timed out"), "{}: {error}", stack.name),
            }
        }
    }
}

#[tokio::test]
async fn wrong_values_are_usage_errors_and_a_protocol_without_publishers_is_unsupported() {
    let lab = Lab::new();
    for stack in descriptors(does(PUBSUB)) {
        for absurd in [notify(11, 1, 1), notify(30, 1, 0), PubSub { arrival: ArrivalSpec::Closed, ..notify(30, 1, 1) }]
        {
            let error = lab.run_client(&stack.name, 1, absurd, &[]).await.expect_err("refused");
            assert!(matches!(error, StackError::Usage(_)), "{}", stack.name);
        }
    }
    for stack in descriptors(|_| true) {
        let parameters = lab.parameters(&stack.name, Role::Publisher, 1, workload(1, 0, 1), &[]);
        let refused = wirelab_stacks::check(&parameters);
        assert!(matches!(refused, Err(StackError::Unsupported(_))), "{}", stack.name);
    }
}
