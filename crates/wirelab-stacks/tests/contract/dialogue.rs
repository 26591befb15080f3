//! What clients put on the wire, against a server played by hand.

use crate::lab::{Lab, workload};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UdpSocket};
use wirelab_schema::Outcome;
use wirelab_stacks::Payload;

#[tokio::test]
async fn an_http1_upload_is_a_minimal_post_in_one_write() {
    let lab = Lab::new();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
    let port = listener.local_addr().expect("bound").port();
    let (_stopper, client) = lab.client("http1", port, workload(30, 2, 1), &[]);
    let client = tokio::spawn(client);
    let (mut stream, _) = listener.accept().await.expect("accepted");
    let mut buffer = vec![0; 4_096];
    let length = stream.read(&mut buffer).await.expect("read");
    let head = format!(
        "POST /upload HTTP/1.1\r\nhost: server.test:{port}\r\ncontent-type: application/vnd.wirelab\r\ncontent-length: 30\r\n\r\n"
    );
    assert_eq!(String::from_utf8_lossy(&buffer[..head.len()]), head);
    assert_eq!(buffer[head.len()..length], Payload::new(1).bytes(30));
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await.expect("written");
    assert_eq!(stream.read(&mut buffer).await.expect("read"), 0, "the client closes a new connection");
    let rows = client.await.expect("no panic").expect("done");
    assert_eq!(rows[0].outcome, Outcome::Completed, "{:?}", rows[0]);
}

#[tokio::test]
async fn an_http1_body_waits_a_second_at_most_for_100_continue() {
    let lab = Lab::new();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
    let port = listener.local_addr().expect("bound").port();
    let settings = [("expect-continue", true.into())];
    let (_stopper, client) = lab.client("http1", port, workload(30, 0, 1), &settings);
    let client = tokio::spawn(client);
    let (mut stream, _) = listener.accept().await.expect("accepted");
    let mut buffer = vec![0; 4_096];
    let length = stream.read(&mut buffer).await.expect("read");
    let head = String::from_utf8_lossy(&buffer[..length]).into_owned();
    assert!(head.ends_with("\r\n\r\n") && head.contains("expect: 100-continue\r\n"), "{head}");
    stream.read_exact(&mut buffer[..30]).await.expect("the body comes unasked");
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.expect("written");
    let rows = client.await.expect("no panic").expect("done");
    assert_eq!(rows[0].outcome, Outcome::Completed, "{:?}", rows[0]);
}

#[tokio::test]
async fn an_h2_client_sends_preface_settings_and_request_without_waiting_for_the_server() {
    const SETTINGS: u8 = 4;
    const HEADERS: u8 = 1;
    const DATA: u8 = 0;
    let lab = Lab::new();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
    let port = listener.local_addr().expect("bound").port();
    let (stopper, client) = lab.client("h2c", port, workload(30, 0, 1), &[]);
    let client = tokio::spawn(client);
    let (mut stream, _) = listener.accept().await.expect("accepted");
    let mut preface = [0; 24];
    stream.read_exact(&mut preface).await.expect("a preface");
    assert_eq!(&preface, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    let mut kinds = Vec::new();
    while kinds.last() != Some(&DATA) {
        let mut header = [0; 9];
        stream.read_exact(&mut header).await.expect("a frame");
        let mut payload = vec![0; u32::from_be_bytes([0, header[0], header[1], header[2]]) as usize];
        stream.read_exact(&mut payload).await.expect("its payload");
        kinds.push(header[3]);
    }
    assert_eq!(kinds, [SETTINGS, HEADERS, DATA]);
    stopper.stop();
    client.await.expect("no panic").expect("done");
}

#[tokio::test]
async fn raw_udp_retransmits_nothing_and_sends_at_most_ten_datagrams_ahead() {
    let lab = Lab::new();
    let socket = UdpSocket::bind("127.0.0.1:0").await.expect("bound");
    let port = socket.local_addr().expect("bound").port();
    let mut work = workload(20_000, 0, 1);
    work.timeout_ns = 300_000_000;
    let rows = lab.run_client("raw-udp", port, work, &[]).await.expect("done");
    assert_eq!(rows[0].outcome, Outcome::TimedOut);
    let mut buffer = [0; 2_000];
    let mut lengths = Vec::new();
    while let Ok(length) = socket.try_recv(&mut buffer) {
        lengths.push(length);
    }
    assert_eq!(lengths, [1_200; 10]);
}

#[tokio::test]
async fn an_mqtt_client_sends_connect_publish_and_disconnect_and_nothing_else() {
    // CONNECT with 21 characters of identifier and a keep alive of 60 s, CONNACK, PUBLISH up to its identifier, and PUBACK.
    let old = (
        &b"\x10\x21\0\x04MQTT\x04\x02\0\x3c\0\x15"[..],
        &b"\x20\x02\0\0"[..],
        &b"\x32\x31\0\x0fwirelab/deliver\0\x01"[..],
    );
    let new = (
        &b"\x10\x22\0\x04MQTT\x05\x02\0\x3c\0\0\x15"[..],
        &b"\x20\x03\0\0\0"[..],
        &b"\x32\x32\0\x0fwirelab/deliver\0\x01\0"[..],
    );
    for (version, (connect, connack, publish)) in [("3.1.1", old), ("5", new)] {
        let lab = Lab::new();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
        let port = listener.local_addr().expect("bound").port();
        let (_stopper, client) = lab.client("mqtt", port, workload(30, 0, 1), &[("version", version.into())]);
        let client = tokio::spawn(client);
        let (mut stream, _) = listener.accept().await.expect("accepted");
        let mut buffer = vec![0; 4_096];
        let length = stream.read(&mut buffer).await.expect("read");
        assert_eq!((&buffer[..connect.len()], length), (connect, connect.len() + 21), "{version}");
        assert_eq!(&buffer[connect.len()..length], b"wlc7f0000010000000000", "role, address, client and session");
        stream.write_all(connack).await.expect("written");
        let length = stream.read(&mut buffer).await.expect("read");
        assert_eq!(&buffer[..publish.len()], publish, "{version}");
        assert_eq!(buffer[publish.len()..length], Payload::new(1).bytes(30), "{version}");
        stream.write_all(b"\x40\x02\0\x01").await.expect("written");
        let length = stream.read(&mut buffer).await.expect("read");
        assert_eq!(&buffer[..length], b"\xe0\0", "{version}");
        assert_eq!(stream.read(&mut buffer).await.expect("read"), 0, "the client closes a new connection");
        let rows = client.await.expect("no panic").expect("done");
        assert_eq!(rows[0].outcome, Outcome::Completed, "{:?}", rows[0]);
    }
}

#[tokio::test]
async fn an_mqtt_client_reports_why_its_broker_refuses_it() {
    let lab = Lab::new();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
    let port = listener.local_addr().expect("bound").port();
    let (_stopper, client) = lab.client("mqtt", port, workload(30, 0, 1), &[]);
    let client = tokio::spawn(client);
    let (mut stream, _) = listener.accept().await.expect("accepted");
    stream.write_all(b"\x20\x02\0\x05").await.expect("written");
    let rows = client.await.expect("no panic").expect("done");
    assert_eq!(rows[0].outcome, Outcome::Failed);
    assert!(rows[0].error.as_deref().is_some_and(|error| error.contains("NotAuthorized")), "{:?}", rows[0]);
}
