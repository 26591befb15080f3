//! One end of a flow of UDP packets that tell when they were sent, over whatever path is between the two ends. Both read one machine's clock, so
//! their difference is a one-way delay.

use std::io::Write;
use std::net::{SocketAddr, UdpSocket};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use nix::sys::socket::{setsockopt, sockopt};
use wirelab_net::stamped::{PAYLOAD_BYTES, Received, Receiver, write_payload};
use wirelab_net::{clock, scheduling};

use crate::number::number_in;

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
    /// Mean time between them, in microseconds. They are sent on schedule, or immediately if their time has passed.
    #[arg(long, value_parser = number_in(1.0..=10_000_000.0))]
    interval_us: f64,
    /// Each time between packets is uniform from half of the mean to one and a half, so that no timer falls into step.
    #[arg(long)]
    spread: bool,
    /// How many are sent together at the beginning.
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

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    match &arguments.end {
        End::Source(source) => send(source),
        End::Sink(sink) => receive(sink),
    }
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
    while let Some(probe) = receiver.receive()? {
        if probe.number == END {
            break;
        }
        receiver.socket().set_read_timeout(Some(Duration::from_secs(sink.silence_s)))?;
        let Received { number, sent_ns, received, bytes, .. } = probe;
        lines += &format!("{number} {sent_ns} {} {bytes}\n", received.as_nanos());
    }
    std::io::stdout().write_all(lines.as_bytes()).context("writing the packets")
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
}
