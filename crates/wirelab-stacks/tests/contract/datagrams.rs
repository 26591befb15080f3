//! Datagrams between our client and our server, seen on their way.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::net::UdpSocket;
use wirelab_schema::Outcome;

use crate::lab::{Lab, PATIENCE, workload};

/// Content type of a DTLS record with an alert (RFC 6347, section 4.1).
const ALERT: u8 = 21;

/// What a server sends on its way to one client.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<Vec<u8>>>>);

impl Seen {
    fn first_bytes(&self) -> Vec<u8> {
        self.0.lock().expect("unpoisoned").iter().map(|datagram| datagram[0]).collect()
    }
}

/// A path between one client and the server at `port`, which holds back what `holds` says of the server's; the socket that the client talks to, and what
/// the server sent.
async fn path(port: u16, holds: fn(&[u8]) -> bool) -> (Arc<UdpSocket>, Seen) {
    let near = Arc::new(UdpSocket::bind("127.0.0.1:0").await.expect("bound"));
    let far = Arc::new(UdpSocket::bind("127.0.0.1:0").await.expect("bound"));
    far.connect(("127.0.0.1", port)).await.expect("connected");
    let (up_near, up_far) = (near.clone(), far.clone());
    let seen = Seen::default();
    let (of_server, client) = (seen.clone(), Arc::new(Mutex::new(None::<SocketAddr>)));
    let to = client.clone();
    tokio::spawn(async move {
        let mut buffer = [0; 2_048];
        while let Ok((length, from)) = up_near.recv_from(&mut buffer).await {
            let first = client.lock().expect("unpoisoned").replace(from).is_none();
            if first {
                up_near.connect(from).await.expect("connected");
            }
            let _ = up_far.send(&buffer[..length]).await;
        }
    });
    let down = near.clone();
    tokio::spawn(async move {
        let mut buffer = [0; 2_048];
        while let Ok(length) = far.recv(&mut buffer).await {
            let datagram = buffer[..length].to_vec();
            of_server.0.lock().expect("unpoisoned").push(datagram.clone());
            if to.lock().expect("unpoisoned").is_some() && !holds(&datagram) {
                let _ = down.send(&datagram).await;
            }
        }
    });
    (near, seen)
}

async fn until(mut happened: impl FnMut() -> bool) {
    let waiting = async {
        while !happened() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.expect("in time");
}

#[tokio::test]
async fn a_quic_server_sends_a_retry_packet_if_its_setting_says_so() {
    /// Long header, of type Retry (RFC 9000, section 17.2.5).
    fn is_retry(first: &u8) -> bool {
        first & 0xf0 == 0xf0
    }
    for stack in ["h3", "mqtt+quic"] {
        for retry in [false, true] {
            let (lab, settings) = (Lab::new(), [("retry", retry.into())]);
            let work = workload(30, 0, 1);
            let server = lab.serve(stack, work.clone(), &settings).await;
            let (near, seen) = path(server.port, |_| false).await;
            let port = near.local_addr().expect("bound").port();
            let rows = lab.run_client(stack, port, work, &settings).await.expect("done");
            assert_eq!(rows[0].outcome, Outcome::Completed, "{:?}", rows[0]);
            let retries = seen.first_bytes().iter().filter(|first| is_retry(first)).count();
            assert_eq!(retries, usize::from(retry), "{stack}");
            server.stop().await;
        }
    }
}

#[tokio::test]
async fn a_coaps_client_receives_the_servers_close_notify() {
    let lab = Lab::new();
    let server = lab.serve("coaps", workload(0, 5, 1), &[]).await;
    let (near, seen) = path(server.port, |datagram| datagram[0] == ALERT).await;
    let port = near.local_addr().expect("bound").port();
    let rows = lab.run_client("coaps", port, workload(0, 5, 1), &[]).await.expect("done");
    assert_eq!(rows[0].outcome, Outcome::Completed, "{:?}", rows[0]);
    until(|| seen.first_bytes().contains(&ALERT)).await;
    let alert = seen.0.lock().expect("unpoisoned").last().expect("an alert").clone();
    near.send(&alert).await.expect("sent");
    // On loopback a closed port answers with ICMP before the sending ends.
    assert!(near.take_error().expect("an option of the socket").is_none(), "port unreachable");
    server.stop().await;
}
