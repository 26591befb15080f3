use std::io::{IoSliceMut, Write};
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::thread;
use std::time::Duration;

use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, SockaddrIn, SockaddrIn6, SockaddrStorage, recvmsg, setsockopt, sockopt,
};
use nix::sys::time::TimeSpec;
use wirelab_net::clock::{self, RealtimeOffset};
use wirelab_net::link::Instant;
use wirelab_net::scheduling;
use wirelab_net::topology::IPV4;

/// Where the sink listens.
pub const PORT: u16 = 9000;
/// Number and instant of sending, little-endian.
pub const PAYLOAD_BYTES: usize = 16;
/// How old the offset between the two clocks may be.
const MEASURE_EVERY_NS: u64 = 10_000_000;
/// The sink gives up when nothing has come for so long.
const SILENCE: Duration = Duration::from_secs(5);

/// One end of a flow of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Role {
    /// Sends.
    Source,
    /// Receives, and prints each packet's number and when the kernel received it on CLOCK_MONOTONIC.
    Sink,
}

impl Role {
    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Sink => "sink",
        }
    }
}

pub fn play(role: Role, packets: u32, interval: Duration) -> anyhow::Result<()> {
    match role {
        Role::Source => send(packets, interval),
        Role::Sink => receive(packets),
    }
}

/// Number and instant of sending.
pub fn read_payload(bytes: &[u8]) -> Option<(u64, u64)> {
    let number = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    Some((number(0)?, number(8)?))
}

fn send(packets: u32, interval: Duration) -> anyhow::Result<()> {
    scheduling::exact_timers();
    let socket = UdpSocket::bind((IPV4.client, 0))?;
    socket.connect((IPV4.server, PORT))?;
    for number in 0..u64::from(packets) {
        // Spread by the golden ratio, so that lanes and timers do not fall into step.
        let spread = number.wrapping_add(clock::now().as_nanos()).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54;
        thread::sleep(interval.mul_f64(0.5 + spread as f64 / 1024.0));
        let mut payload = [0; PAYLOAD_BYTES];
        write_payload(&mut payload, number);
        socket.send(&payload)?;
    }
    Ok(())
}

fn receive(packets: u32) -> anyhow::Result<()> {
    let socket = UdpSocket::bind((IPV4.server, PORT))?;
    socket.set_read_timeout(Some(SILENCE))?;
    let mut receiver = Receiver::new(socket)?;
    let mut lines = String::new();
    for _ in 0..packets {
        let Some(probe) = receiver.next()? else { break };
        lines += &format!("{} {}\n", probe.number, probe.received.as_nanos());
    }
    std::io::stdout().write_all(lines.as_bytes())?;
    Ok(())
}

/// A packet of a flow, as it was received.
pub struct Received {
    /// Which of the flow.
    pub number: u64,
    /// When its sender sent it, CLOCK_MONOTONIC nanoseconds.
    pub sent_ns: u64,
    /// When the kernel received it.
    pub received: Instant,
    /// Port that it came from.
    pub from_port: u16,
}

/// Receives the packets of a flow with the kernel's stamps.
pub struct Receiver {
    socket: UdpSocket,
    offset: RealtimeOffset,
    /// The stamp at which the offset was last measured.
    measured_at: u64,
}

impl Receiver {
    /// On this socket, whose read time-out holds.
    pub fn new(socket: UdpSocket) -> anyhow::Result<Self> {
        setsockopt(&socket, sockopt::ReceiveTimestampns, &true)?;
        Ok(Self { socket, offset: RealtimeOffset::measure(), measured_at: 0 })
    }

    /// The next one; none within the time-out.
    pub fn next(&mut self) -> anyhow::Result<Option<Received>> {
        loop {
            let mut payload = [0; PAYLOAD_BYTES];
            let mut parts = [IoSliceMut::new(&mut payload)];
            let mut control = nix::cmsg_space!(TimeSpec);
            let descriptor = self.socket.as_raw_fd();
            let message = recvmsg::<SockaddrStorage>(descriptor, &mut parts, Some(&mut control), MsgFlags::empty());
            let Ok(message) = message else { return Ok(None) };
            let from_port = message.address.as_ref().and_then(port).unwrap_or_default();
            let stamp = message.cmsgs()?.find_map(|control| match control {
                ControlMessageOwned::ScmTimestampns(time) => {
                    Some(time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
                }
                _ => None,
            });
            if let (Some(stamp), Some((number, sent_ns))) = (stamp, read_payload(&payload)) {
                // Where a look at the clock is a system call, looking for each packet costs more than receiving it.
                if stamp.abs_diff(self.measured_at) > MEASURE_EVERY_NS {
                    self.offset.refresh();
                    self.measured_at = stamp;
                }
                return Ok(Some(Received { number, sent_ns, received: self.offset.to_monotonic(stamp), from_port }));
            }
        }
    }
}

fn port(address: &SockaddrStorage) -> Option<u16> {
    let v4 = address.as_sockaddr_in().map(SockaddrIn::port);
    v4.or_else(|| address.as_sockaddr_in6().map(SockaddrIn6::port))
}

/// A payload that begins with the packet's number and this instant.
pub fn write_payload(payload: &mut [u8], number: u64) {
    payload[..8].copy_from_slice(&number.to_le_bytes());
    payload[8..PAYLOAD_BYTES].copy_from_slice(&clock::now().as_nanos().to_le_bytes());
}
