use std::io::{IoSliceMut, Write};
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::thread;
use std::time::Duration;

use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, setsockopt, sockopt};
use nix::sys::time::TimeSpec;
use wirelab_net::clock::{self, RealtimeOffset};
use wirelab_net::scheduling;
use wirelab_net::topology::{CLIENT, SERVER};

/// Where the sink listens.
pub const PORT: u16 = 9000;
/// Number and instant of sending, little-endian.
pub const PAYLOAD_BYTES: usize = 16;
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
    let socket = UdpSocket::bind((CLIENT, 0))?;
    socket.connect((SERVER, PORT))?;
    for number in 0..u64::from(packets) {
        // Spread by the golden ratio, so that lanes and timers do not fall into step.
        let spread = number.wrapping_add(clock::now().as_nanos()).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54;
        thread::sleep(interval.mul_f64(0.5 + spread as f64 / 1024.0));
        let mut payload = [0; PAYLOAD_BYTES];
        payload[..8].copy_from_slice(&number.to_le_bytes());
        payload[8..].copy_from_slice(&clock::now().as_nanos().to_le_bytes());
        socket.send(&payload)?;
    }
    Ok(())
}

fn receive(packets: u32) -> anyhow::Result<()> {
    let socket = UdpSocket::bind((SERVER, PORT))?;
    socket.set_read_timeout(Some(SILENCE))?;
    setsockopt(&socket, sockopt::ReceiveTimestampns, &true)?;
    let mut offset = RealtimeOffset::measure();
    let mut lines = String::new();
    for _ in 0..packets {
        let mut payload = [0; PAYLOAD_BYTES];
        let mut parts = [IoSliceMut::new(&mut payload)];
        let mut control = nix::cmsg_space!(TimeSpec);
        let message = recvmsg::<SockaddrStorage>(socket.as_raw_fd(), &mut parts, Some(&mut control), MsgFlags::empty());
        let Ok(message) = message else { break };
        let stamp = message.cmsgs()?.find_map(|control| match control {
            ControlMessageOwned::ScmTimestampns(time) => {
                Some(time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
            }
            _ => None,
        });
        offset.refresh();
        if let (Some(stamp), Some((number, _))) = (stamp, read_payload(&payload)) {
            lines += &format!("{number} {}\n", offset.to_monotonic(stamp).as_nanos());
        }
    }
    std::io::stdout().write_all(lines.as_bytes())?;
    Ok(())
}
