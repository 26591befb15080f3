//! Background traffic that shares a link with the measured endpoints. It continues until SIGTERM, and then prints what it carried, a
//! [`TrafficReport`] in a line of JSON.

mod bulk;
mod ping;

use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use tokio::signal::unix::{SignalKind, signal};
use wirelab_net::clock;
use wirelab_schema::{EndpointEvent, TrafficReport};

use crate::number::number_in;
use bulk::Bulk;
use ping::Pings;

#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    kind: Kind,
}

#[derive(clap::Subcommand)]
enum Kind {
    /// Accept bulk transfers.
    BulkServer {
        /// Where.
        #[arg(long, value_name = "ADDRESS:PORT")]
        at: SocketAddr,
    },
    /// Keep up bulk transfers over TCP, each on a connection of its own.
    Bulk(BulkArguments),
    /// Send echo requests at a steady rate, whether they are answered or not.
    Ping(PingArguments),
}

#[derive(clap::Args)]
struct BulkArguments {
    /// Where the server is.
    #[arg(long, value_name = "ADDRESS:PORT")]
    to: SocketAddr,
    /// How many side by side.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    flows: u32,
    /// Which way the bytes go.
    #[arg(long)]
    direction: Direction,
    /// Each begins at an instant drawn uniformly from so many milliseconds.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=60_000))]
    stagger_ms: u64,
    /// Seed of these instants.
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

#[derive(clap::Args)]
struct PingArguments {
    /// Address that answers.
    #[arg(long)]
    to: IpAddr,
    /// Bytes of a request's payload.
    #[arg(long, default_value_t = 56, value_parser = clap::value_parser!(u16).range(0..=65_000))]
    payload: u16,
    /// Time between requests, in microseconds.
    #[arg(long, value_parser = number_in(10.0..=3_600_000_000.0))]
    interval_us: f64,
    /// How many floods side by side, each at this rate.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    flows: u16,
}

/// Which way bulk flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Direction {
    /// From the client.
    Upload,
    /// To it.
    Download,
}

pub fn run(arguments: Arguments) -> ExitCode {
    match play(arguments.kind) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("wirelab-agent traffic: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn play(kind: Kind) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().context("starting")?;
    runtime.block_on(async {
        let mut terminate = signal(SignalKind::terminate()).context("signal handlers")?;
        let begin_ns = clock::now().as_nanos();
        let flows = match kind {
            Kind::BulkServer { at } => bulk::serve(at, ready, terminate.recv()).await?,
            Kind::Bulk(BulkArguments { to, flows, direction, stagger_ms, seed }) => {
                let upload = direction == Direction::Upload;
                let bulk = Bulk { to, flows, upload, stagger: Duration::from_millis(stagger_ms), seed };
                bulk.run(ready, terminate.recv()).await
            }
            Kind::Ping(PingArguments { to, payload, interval_us, flows }) => {
                let interval = Duration::from_nanos((interval_us * 1e3) as u64);
                Pings { to, payload: payload.into(), interval, flows }.run(ready, terminate.recv()).await?
            }
        };
        tell(&TrafficReport { begin_ns, end_ns: clock::now().as_nanos(), flows })
    })
}

/// The background traffic runs: the measured endpoints may begin.
fn ready() {
    // It fails if nobody waits for it, which is fine.
    let _ = tell(&EndpointEvent::Ready { ports: Default::default(), cpu_ns: None });
}

fn tell(value: &impl serde::Serialize) -> anyhow::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    let mut stdout = io::stdout().lock();
    stdout.write_all(&line).and_then(|()| stdout.flush()).context("writing")
}
