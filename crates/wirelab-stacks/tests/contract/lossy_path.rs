//! QUIC and CoAP over a path that loses datagrams.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::json;
use tokio::net::UdpSocket;
use wirelab_schema::{ArrivalSpec, Outcome, PubSub, RequestResponse, Wait};

use crate::lab::{Lab, workload};

/// A port that leads to the server's, but for those of the clients' datagrams that it loses: `loses(connection, datagram)`, both counted from 0.
async fn lossy_path(server: u16, loses: impl Fn(usize, usize) -> bool + Send + 'static) -> u16 {
    let front = Arc::new(UdpSocket::bind("127.0.0.1:0").await.expect("bound"));
    let port = front.local_addr().expect("bound").port();
    tokio::spawn(async move {
        let mut connections: HashMap<SocketAddr, (usize, usize, Arc<UdpSocket>)> = HashMap::new();
        let mut buffer = [0; 2_000];
        loop {
            let (length, client) = front.recv_from(&mut buffer).await.expect("received");
            if !connections.contains_key(&client) {
                let back = Arc::new(UdpSocket::bind("127.0.0.1:0").await.expect("bound"));
                back.connect(("127.0.0.1", server)).await.expect("connected");
                tokio::spawn(return_path(back.clone(), front.clone(), client));
                connections.insert(client, (connections.len(), 0, back));
            }
            let (connection, datagrams, back) = connections.get_mut(&client).expect("it is there by now");
            let lost = loses(*connection, *datagrams);
            *datagrams += 1;
            if !lost {
                // It fails once the server is gone.
                let _ = back.send(&buffer[..length]).await;
            }
        }
    });
    port
}

async fn return_path(back: Arc<UdpSocket>, front: Arc<UdpSocket>, client: SocketAddr) {
    let mut buffer = [0; 2_000];
    while let Ok(length) = back.recv(&mut buffer).await {
        if front.send_to(&buffer[..length], client).await.is_err() {
            return;
        }
    }
}

#[tokio::test]
async fn losses_in_the_handshake_count_as_retransmitted() {
    let lab = Lab::new();
    let server = lab.serve("h3", workload(30, 30, 1), &[]).await;
    let port = lossy_path(server.port, |_, datagram| datagram == 0).await;
    let rows = lab.run_client("h3", port, workload(30, 30, 1), &[]).await.expect("done");
    assert_eq!(rows[0].outcome, Outcome::Completed, "{rows:?}");
    assert!(rows[0].client_retransmissions > Some(0), "{rows:?}");
    server.stop().await;
}

#[tokio::test]
async fn the_sent_bytes_of_an_upload_that_timed_out_are_recorded() {
    const UPLOAD: u64 = 4 << 20;
    let lab = Lab::new();
    let work = RequestResponse { timeout_ns: 3_000_000_000, ..workload(UPLOAD, 30, 1) };
    let server = lab.serve("h3", work.clone(), &[]).await;
    let port = lossy_path(server.port, |_, datagram| datagram > 300).await;
    let rows = lab.run_client("h3", port, work, &[]).await.expect("done");
    assert_eq!(rows[0].outcome, Outcome::TimedOut, "{rows:?}");
    assert!((1..UPLOAD).contains(&rows[0].body_sent_bytes), "{rows:?}");
    server.stop().await;
}

#[tokio::test]
async fn a_handshake_that_times_out_leaves_the_other_tickets() {
    let lab = Lab::new();
    let settings = [("resumption", json!(true))];
    let work = RequestResponse { timeout_ns: 3_000_000_000, ..workload(30, 30, 3) };
    let server = lab.serve("h3", work.clone(), &settings).await;
    let port = lossy_path(server.port, |connection, _| connection == 1).await;
    let rows = lab.run_client("h3", port, work, &settings).await.expect("done");
    let seen: Vec<_> = rows.iter().map(|row| (row.outcome, row.resumed)).collect();
    let expected = [(Outcome::Completed, Some(false)), (Outcome::TimedOut, None), (Outcome::Completed, Some(true))];
    assert_eq!(seen, expected, "{rows:?}");
    server.stop().await;
}

#[tokio::test]
async fn coap_retransmissions_are_counted_with_those_of_the_handshake() {
    let lab = Lab::new();
    for (stack, lost, setting) in [("coap", 0, "ack-timeout"), ("coaps", 0, "dtls-retransmit-timeout")] {
        let settings = [(setting, json!(100))];
        let server = lab.serve(stack, workload(30, 30, 1), &settings).await;
        let port = lossy_path(server.port, move |_, datagram| datagram == lost).await;
        let rows = lab.run_client(stack, port, workload(30, 30, 1), &settings).await.expect("done");
        assert_eq!(rows[0].outcome, Outcome::Completed, "{rows:?}");
        assert!(rows[0].client_retransmissions > Some(0), "{stack}: {rows:?}");
        server.stop().await;
    }
}

#[tokio::test]
async fn observed_and_polled_messages_survive_losses() {
    let lab = Lab::new();
    for wait in [Wait::Connected, Wait::Poll { every_ns: 100_000_000 }] {
        let settings = [("ack-timeout", json!(50))];
        let arrival = ArrivalSpec::Fixed { rate_hz: 5.0 };
        let (messages, timeout_ns) = (5, 10_000_000_000);
        let work = PubSub { message_bytes: 30, messages, subscribers: 1, arrival, timeout_ns, wait };
        let server = lab.serve("coap", work.clone(), &settings).await;
        let port = lossy_path(server.port, |_, datagram| datagram % 3 == 1).await;
        let rows = lab.run_client("coap", port, work, &settings).await.expect("done");
        assert!(rows.iter().all(|row| row.outcome == Outcome::Completed), "{wait:?}: {rows:?}");
        server.stop().await;
    }
}

#[tokio::test]
async fn an_exchange_that_coap_abandons_is_timed_out_with_a_reason() {
    let lab = Lab::new();
    let settings = [("ack-timeout", json!(20)), ("max-retransmit", json!(2))];
    let server = lab.serve("coap", workload(30, 0, 2), &settings).await;
    let port = lossy_path(server.port, |connection, _| connection == 0).await;
    let rows = lab.run_client("coap", port, workload(30, 0, 2), &settings).await.expect("done");
    assert_eq!((rows[0].outcome, rows[0].client_retransmissions), (Outcome::TimedOut, Some(2)), "{rows:?}");
    assert!(rows[0].error.as_deref().is_some_and(|error| error.contains("sent 3 times")), "{rows:?}");
    assert_eq!(rows[1].outcome, Outcome::Completed, "{rows:?}");
    server.stop().await;
}

#[tokio::test]
async fn a_persistent_association_survives_an_exchange_that_timed_out() {
    let lab = Lab::new();
    let settings = [("ack-timeout", json!(20)), ("max-retransmit", json!(1))];
    let server = lab.serve("coap", workload(30, 0, 3), &settings).await;
    let port = lossy_path(server.port, |_, datagram| (1..3).contains(&datagram)).await;
    let work = crate::lab::kept(1, workload(30, 0, 3));
    let rows = lab.run_client("coap", port, work, &settings).await.expect("done");
    let seen: Vec<_> = rows.iter().map(|row| row.outcome).collect();
    assert_eq!(seen, [Outcome::Completed, Outcome::TimedOut, Outcome::Completed], "{rows:?}");
    server.stop().await;
}
