//! Requests and messages of the user's own: method, target, fields and body, or topic and body.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use wirelab_schema::{Exchange, Outcome, OwnMessage, OwnRequest, RequestResponse, Telemetry};
use wirelab_stacks::StackError;
use wirelab_stacks::workload::{REQUEST_RESPONSE, TELEMETRY};

use crate::foreign::exchange;
use crate::lab::{Lab, deliver, workload};
use crate::{assert_completed, descriptors, does, has_status};

/// `hi` in base64.
const BODY: &str = "aGk=";

fn put(download_bytes: u64) -> RequestResponse {
    let request = OwnRequest {
        method: "PUT".to_owned(),
        target: "/api/items?first=1".to_owned(),
        fields: Vec::new(),
        body: BODY.to_owned(),
    };
    RequestResponse { request: Some(request), ..workload(2, download_bytes, 2) }
}

fn get(target: &str) -> RequestResponse {
    let request =
        OwnRequest { method: "GET".to_owned(), target: target.to_owned(), fields: Vec::new(), body: String::new() };
    RequestResponse { request: Some(request), ..workload(0, 30, 1) }
}

#[tokio::test]
async fn the_built_in_server_answers_it_with_the_download() {
    let lab = Lab::new();
    for stack in descriptors(has_status) {
        let rows = lab.exchange(&stack.name, put(612), &[]).await;
        assert_completed(&rows, 2, &stack.name);
        let bytes: Vec<_> = rows.iter().map(|row: &Exchange| (row.body_sent_bytes, row.body_received_bytes)).collect();
        assert_eq!(bytes, [(2, 612); 2], "{}", stack.name);
    }
}

#[tokio::test]
async fn a_target_that_the_server_does_not_have_fails_with_its_status() {
    let lab = Lab::new();
    for stack in descriptors(has_status) {
        let server = lab.serve(&stack.name, get("/one"), &[]).await;
        let rows = lab.run_client(&stack.name, server.port, get("/other"), &[]).await.expect("done");
        assert_eq!((rows[0].outcome, rows[0].status), (Outcome::Failed, Some(404)), "{}", stack.name);
        server.stop().await;
    }
}

#[tokio::test]
async fn it_is_sent_as_written_and_a_body_of_any_size_is_right() {
    let lab = Lab::new();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
    let port = listener.local_addr().expect("bound").port();
    let mut work = put(0);
    work.exchanges = 1;
    work.request.as_mut().expect("it has one").fields = vec![("Content-Type".to_owned(), "text/plain".to_owned())];
    let (_stopper, client) = lab.client("http1", port, work, &[]);
    let client = tokio::spawn(client);
    let (mut stream, _) = listener.accept().await.expect("accepted");
    let mut buffer = vec![0; 4_096];
    let length = stream.read(&mut buffer).await.expect("read");
    let sent = format!(
        "PUT /api/items?first=1 HTTP/1.1\r\nhost: server.test:{port}\r\ncontent-length: 2\r\ncontent-type: text/plain\r\n\r\nhi"
    );
    assert_eq!(String::from_utf8_lossy(&buffer[..length]), sent);
    stream.write_all(b"HTTP/1.1 201 Created\r\ncontent-length: 7\r\n\r\ncreated").await.expect("written");
    let rows = client.await.expect("no panic").expect("done");
    assert_eq!((rows[0].outcome, rows[0].status, rows[0].body_received_bytes), (Outcome::Completed, Some(201), 7));
}

#[tokio::test]
async fn a_protocol_without_methods_does_not_do_it_and_coap_has_its_own() {
    let lab = Lab::new();
    for stack in descriptors(|stack| does(REQUEST_RESPONSE)(stack) && !has_status(stack)) {
        let error = lab.run_client(&stack.name, 1, put(0), &[]).await.expect_err("refused");
        assert!(matches!(error, StackError::Unsupported(_)), "{}: {error}", stack.name);
    }
    for (method, field) in [("TRACE", None), ("GET", Some("accept"))] {
        let mut work = get("/");
        let request = work.request.as_mut().expect("it has one");
        request.method = method.to_owned();
        request.fields = field.map(|name| (name.to_owned(), "40".to_owned())).into_iter().collect();
        let error = lab.run_client("coap", 1, work, &[]).await.expect_err("refused");
        assert!(matches!(error, StackError::Usage(_)), "{error}");
    }
    let wrong = RequestResponse { upload_bytes: 3, ..put(0) };
    assert!(matches!(lab.run_client("http1", 1, wrong, &[]).await, Err(StackError::Usage(_))));
}

#[tokio::test]
async fn a_program_that_is_run_for_each_exchange_gets_it() {
    let script = r#"[ "$(cat {upload_file})-$(cat {fields_file})" = hi-accept:\ text/plain ] || exit 9
        [ "{method} {url}" = "PUT http://server.test:8080/api/items?first=1" ] || exit 8
        echo '{"status": 200, "body_received_bytes": 99}'"#;
    let mut work = put(0);
    work.request.as_mut().expect("it has one").fields = vec![("accept".to_owned(), "text/plain".to_owned())];
    let rows = exchange(&Lab::new(), script, work).await.expect("done");
    assert_completed(&rows, 2, "sh");
}

fn publish(topic: &str, body: &str, message_bytes: u64) -> Telemetry {
    let message = OwnMessage { topic: topic.to_owned(), body: body.to_owned() };
    Telemetry { publish: Some(message), ..deliver(workload(message_bytes, 0, 2)) }
}

#[tokio::test]
async fn a_message_goes_to_its_own_topic_with_its_own_body() {
    let lab = Lab::new();
    for stack in descriptors(|stack| stack.topics.is_some()) {
        for work in [publish("sensors/1", BODY, 2), publish("sensors/1", "", 612)] {
            let bytes = work.message_bytes;
            let rows = lab.exchange(&stack.name, work, &[]).await;
            assert_completed(&rows, 2, &stack.name);
            assert!(rows.iter().all(|row| row.body_sent_bytes == bytes), "{}", stack.name);
        }
    }
}

#[tokio::test]
async fn the_built_in_server_takes_readings_at_their_own_topic_alone() {
    let lab = Lab::new();
    for stack in descriptors(|stack| stack.topics.is_some()) {
        let server = lab.serve(&stack.name, publish("sensors/1", "", 30), &[]).await;
        // Another body of this size is wrong where readings are checked, and is kept like any message elsewhere.
        let other = Telemetry { publish: None, ..publish("", "", 20) };
        let rows = lab.run_client(&stack.name, server.port, publish("sensors/1", "", 20), &[]).await.expect("done");
        assert_eq!(rows[0].outcome, Outcome::Failed, "{}", stack.name);
        let rows = lab.run_client(&stack.name, server.port, other, &[]).await.expect("done");
        assert_completed(&rows, 2, &stack.name);
        server.stop().await;
    }
}

#[tokio::test]
async fn a_protocol_without_topics_does_not_publish_and_mqtt_refuses_wildcards() {
    let lab = Lab::new();
    for stack in descriptors(|stack| does(TELEMETRY)(stack) && stack.topics.is_none()) {
        let error = lab.run_client(&stack.name, 1, publish("a", "", 30), &[]).await.expect_err("refused");
        assert!(matches!(error, StackError::Unsupported(_)), "{}: {error}", stack.name);
    }
    for wrong in [publish("", "", 30), publish("a", BODY, 30), publish("a/#", "", 30)] {
        let error = lab.run_client("mqtt", 1, wrong, &[]).await.expect_err("refused");
        assert!(matches!(error, StackError::Usage(_)), "{error}");
    }
}
