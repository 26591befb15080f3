//! One end of a flow of UDP packets that tell when they were sent, over whatever path is between the two ends. Both read one machine's clock, so
//! their difference is a one-way delay.

use std::io::{IoSliceMut, Write};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use anyhow::Context;
use nix::errno::Errno;
use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, SockaddrIn, SockaddrIn6, SockaddrStorage, recvmsg, setsockopt, sockopt,
};
use nix::sys::time::TimeSpec;
use wirelab_net::clock::{self, RealtimeOffset};
use wirelab_net::link::Instant;
use wirelab_net::scheduling;

use crate::number::number_in;

/// Number and instant of sending, little-endian.
pub const PAYLOAD_BYTES: usize = 16;
/// How old the offset between the two clocks may be.
const MEASURE_EVERY_NS: u64 = 10_000_000;
/// Number of the packets that tell the sink that all have been sent.
const END: u64 = u64::MAX;
/// Some of them may be lost.
const ENDS: u32 = 40;
const END_EVERY: Duration = Duration::from_millis(5);
/// As much as the kernel grants, so that a sink that has to wait for its CPU loses nothing.
const BUFFER_BYTES: usize = 4 << 20;

#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    end: End,
}

/// One end of a flow.
#[derive(clap::Subcommand)]
enum End {
    /// Send packets.
    Source(Source),
    /// Receive them, and print a line for each: its number, when it was sent and when the kernel received it (CLOCK_MONOTONIC nanoseconds), and
    /// its payload's bytes.
    Sink(Sink),
}

#[derive(clap::Args)]
struct Source {
    /// Where the sink listens.
    #[arg(long, value_name = "ADDRESS:PORT")]
    to: SocketAddr,
    /// How many packets.
    #[arg(long)]
    packets: u64,
    /// Mean time between them, in microseconds. They are sent at their instants, or at once if these have passed.
    #[arg(long, value_parser = number_in(1.0..=10_000_000.0))]
    interval_us: f64,
    /// Each time between packets is uniform from half of the mean to one and a half, so that no timer falls into step.
    #[arg(long)]
    spread: bool,
    /// How many are sent at once, at the beginning.
    #[arg(long, default_value_t = 1)]
    at_once: u64,
    /// How many seconds to stay when all has been sent, for paths that end with their source.
    #[arg(long, default_value_t = 0.0, value_parser = number_in(0.0..=3600.0))]
    stay_s: f64,
    /// Bytes of each packet above UDP.
    #[arg(long, default_value_t = PAYLOAD_BYTES as u16, value_parser = clap::value_parser!(u16).range(PAYLOAD_BYTES as i64..=65507))]
    payload: u16,
}

#[derive(clap::Args)]
struct Sink {
    /// Where to listen.
    #[arg(long, value_name = "ADDRESS:PORT")]
    at: SocketAddr,
    /// Give up when nothing has come for so many seconds, counted from the first packet on.
    #[arg(long, default_value_t = 5)]
    silence_s: u64,
}

pub fn run(arguments: Arguments) -> ExitCode {
    let played = match arguments.end {
        End::Source(source) => send(&source),
        End::Sink(sink) => receive(&sink),
    };
    match played {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("wirelab-agent flow: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Number and instant of sending.
pub fn read_payload(bytes: &[u8]) -> Option<(u64, u64)> {
    let number = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    Some((number(0)?, number(8)?))
}

fn send(source: &Source) -> anyhow::Result<()> {
    scheduling::exact_timers();
    let any = if source.to.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let socket = UdpSocket::bind(any)?;
    socket.connect(source.to).with_context(|| format!("connecting to {}", source.to))?;
    let mut payload = vec![0; usize::from(source.payload)];
    let mut at = clock::now();
    for number in 0..source.packets {
        if number >= source.at_once {
            at = at + gap(source, number);
            thread::sleep(at.saturating_since(clock::now()));
        }
        write_payload(&mut payload, number);
        socket.send(&payload)?;
    }
    for _ in 0..ENDS {
        thread::sleep(END_EVERY);
        write_payload(&mut payload[..PAYLOAD_BYTES], END);
        // Nobody listens any more when an earlier one was enough.
        let _ = socket.send(&payload[..PAYLOAD_BYTES]);
    }
    thread::sleep(Duration::from_secs_f64(source.stay_s));
    Ok(())
}

/// From the packet before to this one.
fn gap(source: &Source, number: u64) -> Duration {
    let mean = Duration::from_secs_f64(source.interval_us / 1e6);
    if source.spread { spread(mean, number) } else { mean }
}

/// From half of the mean to one and a half, by the golden ratio: every part of the spread is met equally often.
pub fn spread(mean: Duration, number: u64) -> Duration {
    let share = number.wrapping_add(u64::from(std::process::id())).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54;
    mean.mul_f64(0.5 + share as f64 / 1024.0)
}

fn receive(sink: &Sink) -> anyhow::Result<()> {
    let socket = UdpSocket::bind(sink.at).with_context(|| format!("binding {}", sink.at))?;
    let _ = setsockopt(&socket, sockopt::RcvBuf, &BUFFER_BYTES);
    let mut receiver = Receiver::new(socket)?;
    let mut lines = String::new();
    while let Some(probe) = receiver.next()? {
        if probe.number == END {
            break;
        }
        receiver.socket.set_read_timeout(Some(Duration::from_secs(sink.silence_s)))?;
        let Received { number, sent_ns, received, bytes, .. } = probe;
        lines += &format!("{number} {sent_ns} {} {bytes}\n", received.as_nanos());
    }
    std::io::stdout().write_all(lines.as_bytes()).context("writing the packets")
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
    /// Of its payload.
    pub bytes: usize,
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
            // With this flag the kernel tells the whole length of a packet that is longer than what is read of it.
            let flags = MsgFlags::MSG_TRUNC;
            let message = recvmsg::<SockaddrStorage>(descriptor, &mut parts, Some(&mut control), flags);
            let message = match message {
                Ok(message) => message,
                Err(Errno::EINTR) => continue,
                Err(Errno::EAGAIN) => return Ok(None),
                Err(error) => return Err(error).context("receiving"),
            };
            let bytes = message.bytes;
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
                return Ok(Some(Received {
                    number,
                    sent_ns,
                    received: self.offset.to_monotonic(stamp),
                    from_port,
                    bytes,
                }));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn source(spread: bool) -> Source {
        let to = "127.0.0.1:1".parse().unwrap();
        Source { to, packets: 0, interval_us: 1000.0, spread, at_once: 1, stay_s: 0.0, payload: 16 }
    }

    #[test]
    fn times_between_packets_have_their_mean_and_spread_evenly_around_it() {
        let gaps: Vec<u128> = (0..1000).map(|number| gap(&source(true), number).as_micros()).collect();
        assert!(gaps.iter().all(|gap| (500..1500).contains(gap)));
        let mean = gaps.iter().sum::<u128>() / 1000;
        assert!((990..1010).contains(&mean), "{mean}");
        let early = gaps.iter().filter(|gap| **gap < 750).count();
        assert!((240..260).contains(&early), "{early}");
        assert_eq!(gap(&source(false), 7), Duration::from_millis(1));
    }

    #[test]
    fn a_payload_tells_its_number_and_when_it_was_written() {
        let before = clock::now().as_nanos();
        let mut payload = [0; 40];
        write_payload(&mut payload, 7);
        let (number, sent_ns) = read_payload(&payload).unwrap();
        assert_eq!(number, 7);
        assert!((before..=clock::now().as_nanos()).contains(&sent_ns));
        assert_eq!(read_payload(&payload[..15]), None);
    }
}
