//! Endpoints: ignored as tests, started by name inside a lane.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use crate::machine::eventually;

pub const PACKETS: usize = 20;
pub const BULK_BYTES: usize = 3_000_000;
pub const FLOOD: u64 = 5000;
const SERVER: SocketAddr = SocketAddr::new(wirelab_net::topology::SERVER, 9000);

fn ready() {
    // On a line of its own: the test harness has begun one.
    println!("\n{{\"event\": \"ready\", \"ports\": {{\"main\": 9000}}}}");
    std::io::stdout().flush().unwrap();
}

#[test]
#[ignore = "an endpoint of other tests"]
fn udp_echo() {
    let socket = UdpSocket::bind(SERVER).unwrap();
    ready();
    let mut buffer = [0; 2048];
    loop {
        let (length, peer) = socket.recv_from(&mut buffer).unwrap();
        socket.send_to(&buffer[..length], peer).unwrap();
    }
}

/// Prints the round-trip time of each packet that came back, in nanoseconds.
#[test]
#[ignore = "an endpoint of other tests"]
fn udp_pinger() {
    let socket = UdpSocket::bind(("0.0.0.0", 0)).unwrap();
    socket.connect(SERVER).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    println!();
    for number in 0..PACKETS {
        let start = Instant::now();
        socket.send(&[number as u8; 100]).unwrap();
        let mut buffer = [0; 2048];
        while let Ok(length) = socket.recv(&mut buffer) {
            if buffer[..length] == [number as u8; 100] {
                println!("round-trip {}", start.elapsed().as_nanos());
                break;
            }
        }
    }
}

#[test]
#[ignore = "an endpoint of other tests"]
fn tcp_sink() {
    let listener = TcpListener::bind(SERVER).unwrap();
    ready();
    let _accepted: Vec<TcpStream> = listener.incoming().map(Result::unwrap).collect();
}

/// Sends a byte and leaves: its connection is not over when its process is.
#[test]
#[ignore = "an endpoint of other tests"]
fn tcp_deserter() {
    let mut stream = TcpStream::connect(SERVER).unwrap();
    stream.write_all(b"x").unwrap();
}

fn pattern() -> Vec<u8> {
    (0..BULK_BYTES as u32).map(|position| (position.wrapping_mul(0x9e37_79b9) >> 24) as u8).collect()
}

/// Takes one upload and checks it.
#[test]
#[ignore = "an endpoint of other tests"]
fn tcp_bulk_server() {
    let listener = TcpListener::bind(SERVER).unwrap();
    ready();
    let mut received = Vec::new();
    let (mut stream, _) = listener.accept().unwrap();
    stream.read_to_end(&mut received).unwrap();
    assert!(received == pattern());
    stream.write_all(b"intact").unwrap();
}

#[test]
#[ignore = "an endpoint of other tests"]
fn tcp_bulk_client() {
    let mut stream = TcpStream::connect(SERVER).unwrap();
    stream.write_all(&pattern()).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert_eq!(answer, "intact");
}

/// When the file `go` appears sends many packets, then makes the file `sent` and waits for `finish`.
#[test]
#[ignore = "an endpoint of other tests"]
fn udp_flood() {
    eventually(|| File::open("go").ok());
    let socket = UdpSocket::bind(("0.0.0.0", 0)).unwrap();
    for _ in 0..FLOOD {
        socket.send_to(&[7; 100], SERVER).unwrap();
    }
    File::create("sent").unwrap();
    eventually(|| File::open("finish").ok());
}
