//! Endpoints: ignored as tests, started by name inside a slot.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::socket::{setsockopt, sockopt};
use wirelab_net::topology::IPV4;

use crate::machine::eventually;

pub const PACKETS: usize = 20;
pub const BULK_BYTES: usize = 3_000_000;
pub const FLOOD: u64 = 5000;
/// Variable that tells a sender how many datagrams to send, of how many bytes, and how many microseconds apart.
pub const SEND: &str = "WIRELAB_TEST_SEND";
/// When `udp_late_echo` answers again, and for how long `udp_listener` listens.
pub const LATE: Duration = Duration::from_millis(300);
/// For how long a spinner spins.
const SPIN: Duration = Duration::from_secs(1);
/// How long a sender stays after its last datagram, so that the link can deliver it.
const LINGER: Duration = Duration::from_millis(400);
/// Variable that tells the server's address; IPv4's without it.
pub const ADDRESS: &str = "WIRELAB_TEST_SERVER";

/// Variable with the address of a relay's server.
pub const UPSTREAM: &str = "WIRELAB_TEST_UPSTREAM";

fn server() -> SocketAddr {
    let address = std::env::var(ADDRESS).map_or(IPV4.server, |address| address.parse().unwrap());
    (address, 9000).into()
}

/// A socket of the server's family.
fn socket() -> UdpSocket {
    let any = if server().is_ipv4() { "0.0.0.0" } else { "::" };
    UdpSocket::bind((any, 0)).unwrap()
}

fn ready() {
    // On a line of its own: the test harness has begun one.
    println!("\n{{\"event\": \"ready\", \"ports\": {{\"main\": 9000}}}}");
    std::io::stdout().flush().unwrap();
}

/// For each datagram `serve` is given what sends it back.
fn serve_udp(serve: impl Fn(&dyn Fn())) -> ! {
    let socket = UdpSocket::bind(server()).unwrap();
    ready();
    let mut buffer = [0; 2048];
    loop {
        let (length, peer) = socket.recv_from(&mut buffer).unwrap();
        serve(&|| {
            socket.send_to(&buffer[..length], peer).unwrap();
        });
    }
}

#[test]
#[ignore = "an endpoint of other tests"]
fn spinner() {
    let begin = Instant::now();
    while begin.elapsed() < SPIN {
        std::hint::spin_loop();
    }
}

#[test]
#[ignore = "an endpoint of other tests"]
fn udp_echo() {
    serve_udp(|answer| answer());
}

/// Forwards each datagram to its server, and the answer back.
#[test]
#[ignore = "an endpoint of other tests"]
fn udp_relay() {
    let upstream: IpAddr = std::env::var(UPSTREAM).unwrap().parse().unwrap();
    let (front, back) = (UdpSocket::bind(server()).unwrap(), UdpSocket::bind(("0.0.0.0", 0)).unwrap());
    back.connect((upstream, 9000)).unwrap();
    ready();
    let mut buffer = [0; 2048];
    loop {
        let (length, peer) = front.recv_from(&mut buffer).unwrap();
        back.send(&buffer[..length]).unwrap();
        let length = back.recv(&mut buffer).unwrap();
        front.send_to(&buffer[..length], peer).unwrap();
    }
}

/// Sends a datagram to a server that it cannot reach: it has no route, or no answer comes.
#[test]
#[ignore = "an endpoint of other tests"]
fn udp_hopeless() {
    let socket = socket();
    socket.set_read_timeout(Some(LATE)).unwrap();
    if socket.send_to(&[1; 100], server()).is_ok() {
        socket.recv(&mut [0; 100]).unwrap_err();
    }
}

/// Asks its server until there is an answer, then until there is none, then until there is one again. Prints when each of the two answers came.
#[test]
#[ignore = "an endpoint of other tests"]
fn udp_twice() {
    let socket = socket();
    socket.connect(server()).unwrap();
    socket.set_read_timeout(Some(SHORT_PATIENCE)).unwrap();
    let answered = || socket.send(&[1; 100]).and_then(|_| socket.recv(&mut [0; 100])).is_ok();
    println!();
    for awaited in [true, false, true] {
        while answered() != awaited {
            std::thread::sleep(Duration::from_millis(1));
        }
        if awaited {
            println!("answered {}", wirelab_net::clock::now().as_nanos());
        }
    }
}

/// How long a pinger waits for an answer that may have been lost.
const SHORT_PATIENCE: Duration = Duration::from_millis(50);
/// Where none may be: a machine with too much to do answers late, and all the same.
const LONG_PATIENCE: Duration = Duration::from_secs(10);
/// Variable that tells a pinger that answers may be lost.
pub const LOSSY: &str = "WIRELAB_TEST_LOSSY";

fn patience() -> Duration {
    if std::env::var_os(LOSSY).is_some() { SHORT_PATIENCE } else { LONG_PATIENCE }
}

/// Prints the round-trip time of each packet that came back, in nanoseconds.
#[test]
#[ignore = "an endpoint of other tests"]
fn udp_pinger() {
    let socket = socket();
    socket.connect(server()).unwrap();
    socket.set_read_timeout(Some(patience())).unwrap();
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

/// Sends datagrams of which each byte is their number, as [`SEND`] says.
#[test]
#[ignore = "an endpoint of other tests"]
fn udp_sender() {
    let words = std::env::var(SEND).unwrap();
    let [count, bytes, gap_us] =
        words.split(' ').map(|word| word.parse().unwrap()).collect::<Vec<u64>>().try_into().unwrap();
    let socket = socket();
    for number in 0..count {
        socket.send_to(&vec![number as u8; bytes as usize], server()).unwrap();
        std::thread::sleep(Duration::from_micros(gap_us));
    }
    std::thread::sleep(LINGER);
}

/// Prints number and length of each datagram, and how many packets the kernel discarded as damaged whenever that changes.
#[test]
#[ignore = "an endpoint of other tests"]
fn udp_sink() {
    let socket = UdpSocket::bind(server()).unwrap();
    ready();
    std::thread::spawn(|| {
        let mut damaged = 0;
        loop {
            let now = damaged_packets();
            if now != damaged {
                println!("damaged {now}");
            }
            damaged = now;
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    let mut buffer = [0; 2048];
    loop {
        let length = socket.recv(&mut buffer).unwrap();
        assert!(buffer[..length].iter().all(|byte| *byte == buffer[0]));
        println!("number {}\nlength {length}", buffer[0]);
    }
}

/// IP packets with a damaged header and UDP datagrams with a wrong checksum or length, in this network namespace.
fn damaged_packets() -> u64 {
    let text = std::fs::read_to_string("/proc/self/net/snmp").unwrap();
    let counter = |protocol: &str, name: &str| -> u64 {
        let mut lines = text.lines().filter_map(|line| line.strip_prefix(protocol)).map(str::split_whitespace);
        let (mut names, mut values) = (lines.next().unwrap(), lines.next().unwrap());
        let place = names.position(|other| other == name).unwrap();
        values.nth(place).unwrap().parse().unwrap()
    };
    counter("Ip:", "InHdrErrors") + counter("Udp:", "InErrors")
}

/// For how long a burst lasts.
const BURST: Duration = Duration::from_millis(300);
/// A burst is over when nothing has come for so long.
const SILENCE: Duration = Duration::from_millis(500);
/// As much as a burst needs; the kernel may grant less.
const BUFFER_BYTES: usize = 4 << 20;

/// Sends datagrams as fast as the kernel takes them, and prints how many it took.
#[test]
#[ignore = "an endpoint of other tests"]
fn udp_burst() {
    let socket = socket();
    socket.connect(server()).unwrap();
    let (begin, mut sent) = (Instant::now(), 0);
    while begin.elapsed() < BURST {
        match socket.send(&[0; 36]) {
            Ok(_) => sent += 1,
            Err(error) if error.raw_os_error() == Some(Errno::ENOBUFS as i32) => {}
            Err(error) => panic!("{error}"),
        }
    }
    println!("\nsent {sent}");
}

/// Prints how many datagrams of a burst came, and how many the kernel dropped at the socket.
#[test]
#[ignore = "an endpoint of other tests"]
fn udp_counter() {
    let socket = UdpSocket::bind(server()).unwrap();
    let _ = setsockopt(&socket, sockopt::RcvBuf, &BUFFER_BYTES);
    ready();
    let mut buffer = [0; 2048];
    socket.recv(&mut buffer).unwrap();
    socket.set_read_timeout(Some(SILENCE)).unwrap();
    let received = 1 + std::iter::from_fn(|| socket.recv(&mut buffer).ok()).count();
    // The only socket here: the last column is what it dropped (`/proc/net/udp` in proc(5)).
    let table = std::fs::read_to_string("/proc/self/net/udp").unwrap();
    let dropped = table.lines().last().unwrap().split_whitespace().last().unwrap();
    println!("\nreceived {received}\ndropped {dropped}");
}

/// Lets datagrams wait for a while, then prints the number of each that is as it was sent.
#[test]
#[ignore = "an endpoint of other tests"]
fn udp_late_reader() {
    let socket = UdpSocket::bind(server()).unwrap();
    ready();
    let mut buffer = [0; 2048];
    socket.peek(&mut buffer).unwrap();
    std::thread::sleep(LATE);
    socket.set_read_timeout(Some(LATE)).unwrap();
    while let Ok(length) = socket.recv(&mut buffer) {
        assert!(buffer[..length].iter().all(|byte| *byte == buffer[0]));
        println!("number {}", buffer[0]);
    }
}

/// Answers each datagram twice: immediately, and later.
#[test]
#[ignore = "an endpoint of other tests"]
fn udp_late_echo() {
    serve_udp(|answer| {
        answer();
        std::thread::sleep(LATE);
        answer();
    });
}

/// Sends a datagram, and prints the length of each answer within twice the time that a late one takes.
#[test]
#[ignore = "an endpoint of other tests"]
fn udp_listener() {
    let socket = socket();
    socket.set_read_timeout(Some(2 * LATE)).unwrap();
    socket.send_to(&[1; 1400], server()).unwrap();
    println!();
    let mut buffer = [0; 2048];
    while let Ok(length) = socket.recv(&mut buffer) {
        println!("answer {length}");
    }
}

#[test]
#[ignore = "an endpoint of other tests"]
fn tcp_sink() {
    let listener = TcpListener::bind(server()).unwrap();
    ready();
    let _accepted: Vec<TcpStream> = listener.incoming().map(Result::unwrap).collect();
}

/// Sends a byte and leaves: its connection is not over when its process is.
#[test]
#[ignore = "an endpoint of other tests"]
fn tcp_deserter() {
    let mut stream = TcpStream::connect(server()).unwrap();
    stream.write_all(b"x").unwrap();
}

fn pattern() -> Vec<u8> {
    (0..BULK_BYTES as u32).map(|position| (position.wrapping_mul(0x9e37_79b9) >> 24) as u8).collect()
}

/// Takes one upload and checks it.
#[test]
#[ignore = "an endpoint of other tests"]
fn tcp_bulk_server() {
    let listener = TcpListener::bind(server()).unwrap();
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
    let mut stream = TcpStream::connect(server()).unwrap();
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
    let socket = socket();
    for _ in 0..FLOOD {
        socket.send_to(&[7; 100], server()).unwrap();
    }
    File::create("sent").unwrap();
    eventually(|| File::open("finish").ok());
}
