//! The two ends of a flow, with ordinary sockets and a system call for each packet, as an application has them.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::time::Duration;

use anyhow::{Context, ensure};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{setsockopt, sockopt};
use serde::{Deserialize, Serialize};
use wirelab_net::clock;
use wirelab_net::link::Instant;

/// Where the receiver listens.
pub const PORT: u16 = 9001;
/// With IPv4 and UDP headers, packets of 64 bytes.
const PAYLOAD_BYTES: usize = 36;
const CHUNK_BYTES: usize = 128 << 10;
/// The receiver's socket asks for as much; the kernel may grant less.
const BUFFER_BYTES: usize = 4 << 20;
/// A flow of datagrams is over when nothing has come for so long.
const SILENCE: Duration = Duration::from_millis(500);
/// How long a receiver waits for the first packet or connection, and each end of a connection for the other.
const PATIENCE: Duration = Duration::from_secs(20);
/// Packets between two looks at the clock.
const STRIDE: u32 = 32;

/// What a flow is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Datagrams in packets of 64 bytes, sent without regard to whether they arrive.
    Udp,
    /// One connection, one way.
    Tcp,
}

impl Kind {
    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Udp => "udp",
            Self::Tcp => "tcp",
        }
    }
}

/// The sender's account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// Datagrams that the kernel took, or 0.
    pub packets: u64,
    /// Bytes of payload.
    pub bytes: u64,
    pub span_ns: u64,
}

/// The receiver's account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Received {
    /// Datagrams that the receiver read, or 0.
    pub packets: u64,
    /// Bytes of payload.
    pub bytes: u64,
    /// From the first arrival to the last.
    pub span_ns: u64,
    /// Datagrams that came to the receiver's socket and found it full.
    pub dropped_at_socket: u64,
}

impl Received {
    /// Datagrams a second.
    pub fn packets_per_second(&self) -> f64 {
        per_second(self.packets, self.span_ns)
    }

    /// Bits of payload a second.
    pub fn bits_per_second(&self) -> f64 {
        per_second(8 * self.bytes, self.span_ns)
    }
}

pub fn send(kind: Kind, to: SocketAddr, time: Duration) -> anyhow::Result<Sent> {
    let start = clock::now();
    let sent = match kind {
        Kind::Udp => send_datagrams(to, start + time),
        Kind::Tcp => send_stream(to, start + time),
    };
    let (packets, bytes) = sent.with_context(|| format!("sending to {to}"))?;
    Ok(Sent { packets, bytes, span_ns: nanoseconds(start) })
}

/// `ready` is called when packets may come.
pub fn receive(kind: Kind, address: SocketAddr, ready: impl FnOnce()) -> anyhow::Result<Received> {
    match kind {
        Kind::Udp => receive_datagrams(address, ready),
        Kind::Tcp => receive_stream(address, ready),
    }
    .with_context(|| format!("receiving at {address}"))
}

fn send_datagrams(to: SocketAddr, until: Instant) -> anyhow::Result<(u64, u64)> {
    let any = if to.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let socket = UdpSocket::bind(any)?;
    socket.connect(to)?;
    let mut packets = 0;
    while clock::now() < until {
        for _ in 0..STRIDE {
            match socket.send(&[0; PAYLOAD_BYTES]) {
                Ok(_) => packets += 1,
                Err(error) if error.raw_os_error() == Some(Errno::ENOBUFS as i32) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok((packets, packets * PAYLOAD_BYTES as u64))
}

fn receive_datagrams(address: SocketAddr, ready: impl FnOnce()) -> anyhow::Result<Received> {
    let socket = UdpSocket::bind(address)?;
    setsockopt(&socket, sockopt::RcvBuf, &BUFFER_BYTES)?;
    ready();
    let mut payload = [0; 2048];
    socket.set_read_timeout(Some(PATIENCE))?;
    let mut bytes = socket.recv(&mut payload).context("no packet came")? as u64;
    let first = clock::now();
    let (mut packets, mut last) = (1, first);
    socket.set_read_timeout(Some(SILENCE))?;
    loop {
        match socket.recv(&mut payload) {
            Ok(length) => bytes += length as u64,
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) => return Err(error.into()),
        }
        packets += 1;
        last = clock::now();
    }
    let table = if address.is_ipv4() { "/proc/self/net/udp" } else { "/proc/self/net/udp6" };
    let dropped_at_socket = drops(&fs::read_to_string(table)?, address.port()).context("the socket's counters")?;
    let span_ns = last.saturating_since(first).as_nanos() as u64;
    Ok(Received { packets, bytes, span_ns, dropped_at_socket })
}

fn send_stream(to: SocketAddr, until: Instant) -> anyhow::Result<(u64, u64)> {
    let mut stream = TcpStream::connect_timeout(&to, PATIENCE)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let chunk = vec![0; CHUNK_BYTES];
    let mut bytes = 0;
    while clock::now() < until {
        bytes += stream.write(&chunk)? as u64;
    }
    stream.shutdown(Shutdown::Write)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    ensure!(stream.read(&mut [0])? == 0, "the receiver answered");
    Ok((0, bytes))
}

fn receive_stream(address: SocketAddr, ready: impl FnOnce()) -> anyhow::Result<Received> {
    let listener = TcpListener::bind(address)?;
    ready();
    let mut stream = accept(&listener, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut bytes = stream.read(&mut chunk)? as u64;
    let first = clock::now();
    loop {
        match stream.read(&mut chunk)? {
            0 => break,
            length => bytes += length as u64,
        }
    }
    Ok(Received { packets: 0, bytes, span_ns: nanoseconds(first), dropped_at_socket: 0 })
}

/// The first connection, if one comes in time.
fn accept(listener: &TcpListener, patience: Duration) -> anyhow::Result<TcpStream> {
    let mut wanted = [PollFd::new(listener.as_fd(), PollFlags::POLLIN)];
    ensure!(poll(&mut wanted, PollTimeout::try_from(patience)?)? > 0, "no connection came in {patience:?}");
    Ok(listener.accept()?.0)
}

/// The last column of `/proc/net/udp` is what the socket dropped, the second begins with address and port in hexadecimal digits.
fn drops(table: &str, port: u16) -> Option<u64> {
    let local = format!(":{port:04X}");
    let is_ours = |line: &&str| line.split_whitespace().nth(1).is_some_and(|address| address.ends_with(&local));
    table.lines().skip(1).find(is_ours)?.split_whitespace().last()?.parse().ok()
}

fn nanoseconds(since: Instant) -> u64 {
    clock::now().saturating_since(since).as_nanos() as u64
}

fn per_second(count: u64, span_ns: u64) -> f64 {
    if span_ns == 0 { 0.0 } else { count as f64 * 1e9 / span_ns as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sockets_own_drops_are_found_by_its_port() {
        let table = "   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops\n \
                     77: 0200004D:2328 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 52 2 00000000 1\n \
                     78: 0200004D:2329 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 53 2 00000000 4711\n";
        assert_eq!([drops(table, PORT), drops(table, 9000), drops(table, 9002)], [Some(4711), Some(1), None]);
    }

    #[test]
    fn a_receiver_does_not_wait_for_ever_for_a_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let error = accept(&listener, Duration::from_millis(1)).unwrap_err().to_string();
        assert_eq!(error, "no connection came in 1ms");
        let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        accept(&listener, PATIENCE).unwrap();
    }

    #[test]
    fn a_rate_counts_over_the_span_of_the_arrivals() {
        let received = Received { packets: 3, bytes: 108, span_ns: 500_000_000, dropped_at_socket: 0 };
        assert_eq!((received.packets_per_second(), received.bits_per_second()), (6.0, 1728.0));
        assert_eq!(Received { span_ns: 0, ..received }.packets_per_second(), 0.0);
    }
}
