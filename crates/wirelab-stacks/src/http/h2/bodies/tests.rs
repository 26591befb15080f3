//! Tests: how bodies of several streams share a connection.

use std::time::Duration;

use futures_util::future::join_all;
use h2::client::ResponseFuture;
use http::{Request, Response};
use tokio::io::duplex;
use tokio::sync::oneshot;
use tokio::task::yield_now;

use super::*;
use crate::SystemClock;
use crate::wire::tap::Tap;

/// Of the DATA frames that come, whose each is, `a` being the first stream's; several in a row are one.
#[derive(Default)]
struct Order {
    frames: Frames,
    came: String,
}

impl Observer for Order {
    fn written(&mut self, _bytes: &[u8], _now_ns: u64) {}

    fn read(&mut self, bytes: &[u8], _now_ns: u64) {
        let came = &mut self.came;
        self.frames.advance(bytes, |frame, part| {
            let name = char::from(b'a' + (frame.stream / 2) as u8);
            if frame.kind == DATA && !part.is_empty() && !came.ends_with(name) {
                came.push(name);
            }
        });
    }
}

/// The order in which bodies of 100,000 bytes come over a connection that holds a few kilobytes. Each has its urgency and whether it is
/// incremental.
async fn order(window: u32, priorities: &[(u8, bool)]) -> String {
    let (near, far) = duplex(4096);
    let priority = |(urgency, incremental): &(u8, bool)| Priority { urgency: *urgency, incremental: *incremental };
    let priorities: Vec<Priority> = priorities.iter().map(priority).collect();
    let count = priorities.len();
    tokio::spawn(async move {
        let (bodies, written) = Bodies::new();
        let tap = Tap::new(far, written, Arc::new(SystemClock));
        let mut connection = h2::server::handshake(tap).await.expect("a preface");
        let mut streams = Vec::new();
        while let Some(accepted) = connection.accept().await {
            let (_, mut respond) = accepted.expect("a request");
            streams.push(respond.send_response(Response::new(()), false).expect("sent"));
            if streams.len() == count {
                for (stream, priority) in streams.drain(..).zip(&priorities) {
                    bodies.send(stream, vec![0; 100_000].into(), *priority);
                }
            }
        }
    });
    let order = Arc::new(Mutex::new(Order::default()));
    let tap = Tap::new(near, order.clone(), Arc::new(SystemClock));
    let mut builder = h2::client::Builder::new();
    builder.initial_window_size(window).initial_connection_window_size(window);
    let (mut sender, connection) = builder.handshake::<_, Bytes>(tap).await.expect("a connection");
    let _task = Task::spawn(async { drop(connection.await) });
    let request = || Request::get("http://a/").body(()).expect("a request");
    let responses: Vec<_> = (0..count).map(|_| sender.send_request(request(), true).expect("sent").0).collect();
    assert_eq!(join_all(responses.into_iter().map(length)).await, vec![100_000; count]);
    let order = order.lock().expect("unpoisoned");
    order.came.clone()
}

async fn length(response: ResponseFuture) -> usize {
    let mut body = response.await.expect("a response").into_body();
    let mut length = 0;
    while let Some(part) = body.data().await {
        let part = part.expect("data").len();
        body.flow_control().release_capacity(part).expect("as many as came");
        length += part;
    }
    length
}

#[tokio::test]
async fn urgent_responses_are_sent_first_and_incremental_ones_interleaved() {
    let wide = 1 << 20;
    assert_eq!(order(wide, &[(3, false), (0, false), (1, false)]).await, "bca");
    assert_eq!(order(wide, &[(0, true), (0, false), (0, false)]).await, "bca");
    let turns = order(wide, &[(3, true), (3, true), (0, true)]).await;
    let (first, shared) = turns.split_at(1);
    assert_eq!(first, "c");
    assert!(shared.len() > 8 && shared.starts_with("abab"), "{turns}");
}

#[tokio::test]
async fn small_windows_block_nothing_for_ever() {
    let turns = order(65_535, &[(0, false), (3, true), (3, true), (3, true), (3, true), (3, true)]).await;
    assert_eq!(turns.chars().collect::<std::collections::BTreeSet<_>>().len(), 6, "{turns}");
}

#[tokio::test]
async fn a_part_of_a_reset_stream_does_not_block_the_others() {
    let (near, far) = duplex(1 << 20);
    let ((come, came), (leave, left)) = (oneshot::channel(), oneshot::channel());
    tokio::spawn(async move {
        let (bodies, written) = Bodies::new();
        let tap = Tap::new(far, written, Arc::new(SystemClock));
        let mut connection = h2::server::handshake(tap).await.expect("a preface");
        let mut streams = Vec::new();
        while streams.len() < 2 {
            let (_, mut respond) = connection.accept().await.expect("open").expect("a request");
            streams.push(respond.send_response(Response::new(()), false).expect("sent"));
        }
        come.send(()).expect("the client waits");
        left.await.expect("the client says so");
        for stream in streams {
            bodies.send(stream, vec![0; 100_000].into(), Priority { urgency: 0, incremental: false });
        }
        // The first part is handed down before the connection reads the reset.
        some_turns().await;
        connection.accept().await;
    });
    let (mut sender, connection) = h2::client::handshake(near).await.expect("a connection");
    let _task = Task::spawn(async { drop(connection.await) });
    let request = || Request::get("http://a/").body(()).expect("a request");
    let [first, second] = [(); 2].map(|()| sender.send_request(request(), true).expect("sent").0);
    came.await.expect("the server says so");
    drop(first);
    some_turns().await;
    leave.send(()).expect("the server waits");
    let whole = tokio::time::timeout(Duration::from_secs(10), length(second)).await;
    assert_eq!(whole.expect("it is not held up"), 100_000);
}

/// Has the other tasks do what they can.
async fn some_turns() {
    for _ in 0..20 {
        yield_now().await;
    }
}
