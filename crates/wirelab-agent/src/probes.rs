//! `wirelab-agent probes`: one end of a slot. It sends the plan's flows of its direction and receives those of the other. On stdout, at the end:
//! `sent CLIENT_PORT PACKETS` for each flow that it sent, `received CLIENT_PORT NUMBER SENT_NS RECEIVED_NS` for each probe, by the kernel's stamp.

use std::fs;
use std::io::Write;
use std::net::{SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use anyhow::{Context, ensure};
use nix::sys::socket::{setsockopt, sockopt};
use wirelab_net::clock;
use wirelab_net::link::Instant;
use wirelab_net::scheduling;
use wirelab_net::stamped::{PAYLOAD_BYTES, Receiver, write_payload};
use wirelab_net::topology::Addresses;
use wirelab_schema::{ProbeFlow, ProbePlan};

use crate::host::slots::addresses;

/// How often a receiver looks whether the plan is over.
const LOOK: Duration = Duration::from_millis(50);
/// A train of probes must fit; the kernel may grant less.
const BUFFER_BYTES: usize = 4 << 20;

#[derive(clap::Args)]
pub struct Arguments {
    /// The plan, a `ProbePlan`.
    #[arg(value_name = "PLAN")]
    plan: PathBuf,
    /// Which end this is.
    #[arg(long)]
    end: End,
}

/// An end of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum End {
    Client,
    Server,
}

pub fn run(arguments: Arguments) -> ExitCode {
    let played = read(&arguments.plan).and_then(|plan| play(&plan, arguments.end));
    match played {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn read(path: &PathBuf) -> anyhow::Result<ProbePlan> {
    let text = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let plan: ProbePlan = serde_json::from_slice(&text).with_context(|| format!("cannot read {}", path.display()))?;
    let short = plan.flows.iter().find(|flow| usize::from(flow.payload_bytes) < PAYLOAD_BYTES);
    ensure!(short.is_none(), "payload_bytes: less than {PAYLOAD_BYTES} in {short:?}");
    Ok(plan)
}

fn play(plan: &ProbePlan, end: End) -> anyhow::Result<()> {
    let sockets = open(plan, end)?;
    let begin = Instant::from_nanos(plan.start_ns).max(clock::now());
    let until = begin + Duration::from_nanos(plan.duration_ns);
    let lines = thread::scope(|scope| {
        let sender = scope.spawn(|| send(plan, end, &sockets, begin));
        let receivers: Vec<_> = sockets.iter().map(|socket| scope.spawn(move || receive(socket, until))).collect();
        let mut lines = sender.join().expect("it does not panic")?;
        for receiver in receivers {
            lines += &receiver.join().expect("it does not panic")?;
        }
        anyhow::Ok(lines)
    })?;
    std::io::stdout().write_all(lines.as_bytes()).context("writing the probes")
}

/// A socket with the port of the client's side that it is for; the server has one for all.
struct Socket {
    client_port: Option<u16>,
    socket: UdpSocket,
}

fn open(plan: &ProbePlan, end: End) -> anyhow::Result<Vec<Socket>> {
    let Addresses { client, server } = addresses(plan.family);
    let bind = |client_port: Option<u16>| {
        let address = client_port.map_or((server, plan.server_port), |port| (client, port));
        let socket = UdpSocket::bind(address).with_context(|| format!("binding {address:?}"))?;
        socket.set_read_timeout(Some(LOOK))?;
        let _ = setsockopt(&socket, sockopt::RcvBuf, &BUFFER_BYTES);
        let _ = setsockopt(&socket, sockopt::SndBuf, &BUFFER_BYTES);
        anyhow::Ok(Socket { client_port, socket })
    };
    match end {
        End::Server => Ok(vec![bind(None)?]),
        End::Client => {
            let mut ports: Vec<u16> = plan.flows.iter().map(|flow| flow.client_port).collect();
            ports.sort_unstable();
            ports.dedup();
            ports.into_iter().map(|port| bind(Some(port))).collect()
        }
    }
}

fn send(plan: &ProbePlan, end: End, sockets: &[Socket], begin: Instant) -> anyhow::Result<String> {
    scheduling::exact_timers();
    let Addresses { client, server } = addresses(plan.family);
    let mut lines = String::new();
    for flow in plan.flows.iter().filter(|flow| flow.uplink == (end == End::Client)) {
        let socket = sockets.iter().find(|one| one.client_port.is_none_or(|port| port == flow.client_port));
        let socket = &socket.context("a flow without a socket")?.socket;
        let to: SocketAddr = match end {
            End::Client => (server, plan.server_port).into(),
            End::Server => (client, flow.client_port).into(),
        };
        let mut payload = vec![0; usize::from(flow.payload_bytes)];
        let mut number = 0;
        for burst in 0..flow.bursts {
            sleep_until(begin + due(flow, burst));
            for _ in 0..flow.packets {
                write_payload(&mut payload, number);
                socket.send_to(&payload, to).with_context(|| format!("sending to {to}"))?;
                number += 1;
            }
        }
        lines += &format!("sent {} {number}\n", flow.client_port);
    }
    Ok(lines)
}

/// When a burst is sent, from the plan's beginning.
fn due(flow: &ProbeFlow, burst: u32) -> Duration {
    // Spread by the golden ratio: every part of the spread is met equally often, in no order that a timer could fall into.
    let share = u64::from(burst).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let spread = (u128::from(flow.spread_ns) * u128::from(share)) >> 32;
    let begins = flow.begin_ns.saturating_add(u64::from(burst).saturating_mul(flow.every_ns));
    Duration::from_nanos(begins.saturating_add(spread as u64))
}

fn sleep_until(instant: Instant) {
    thread::sleep(instant.saturating_since(clock::now()));
}

fn receive(socket: &Socket, until: Instant) -> anyhow::Result<String> {
    let mut receiver = Receiver::new(socket.socket.try_clone()?)?;
    let mut lines = String::new();
    loop {
        let probe = match receiver.receive()? {
            Some(probe) if probe.received < until => probe,
            None if clock::now() < until => continue,
            _ => break,
        };
        let port = socket.client_port.unwrap_or(probe.from_port);
        let received_ns = probe.received.as_nanos();
        lines += &format!("received {port} {} {} {received_ns}\n", probe.number, probe.sent_ns);
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(begin_ns: u64, every_ns: u64, spread_ns: u64) -> ProbeFlow {
        let (uplink, client_port, bursts, packets, payload_bytes) = (true, 1, 100, 1, 16);
        ProbeFlow { uplink, client_port, begin_ns, bursts, every_ns, spread_ns, packets, payload_bytes }
    }

    #[test]
    fn a_plan_beyond_the_end_of_time_is_due_at_its_end() {
        let end = Duration::from_nanos(u64::MAX);
        assert_eq!(due(&flow(u64::MAX, 1, 1), 99), end);
        assert_eq!(due(&flow(1, u64::MAX, 0), 99), end);
        assert_eq!(due(&flow(u64::MAX, u64::MAX, u64::MAX), 99), end);
    }

    #[test]
    fn bursts_are_spread_within_their_time_and_never_twice_alike() {
        let flow = flow(1_000, 10_000, 5_000);
        let offsets: Vec<u64> =
            (0..100).map(|burst| due(&flow, burst).as_nanos() as u64 - 1_000 - u64::from(burst) * 10_000).collect();
        assert!(offsets.iter().all(|offset| *offset < 5_000));
        let mut sorted = offsets.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), 100);
        assert!(sorted.windows(2).all(|pair| pair[1] - pair[0] < 100), "every part is met");
    }
}
