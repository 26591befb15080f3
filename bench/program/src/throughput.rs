//! How much a path carries: packets a second and bytes a second, each at the highest rate that one sender reaches. It judges nothing.
//!
//! `measure` does it over plain veth and over a link with delay, loss and rate stages and a packet log, in turn; every sent packet is
//! accounted for. `receive` and `send` are the two ends by themselves, for any other path.

mod paths;
pub mod traffic;

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use anyhow::Context;
use serde::Serialize;
use wirelab_net::namespace;
use wirelab_schema::EndpointEvent;

use crate::folder::Folder;
use crate::host::Agent;
use crate::number::number_in;
use paths::Carried;
use traffic::Kind;

#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Measure plain veth and a link on this machine, in turn; prints JSON.
    Measure(Measure),
    /// Receive what one sender sends; prints a line of JSON when it is ready, and another when that is over.
    Receive(Receive),
    /// Send as fast as possible; prints JSON.
    Send(Send),
}

#[derive(clap::Args)]
struct Measure {
    /// How long each flow lasts.
    #[arg(long, default_value_t = 3.0, value_parser = number_in(0.1..=600.0))]
    seconds: f64,
    /// How often each path is measured.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// One-way delay of the link, in milliseconds.
    #[arg(long, default_value_t = 1)]
    delay_ms: u32,
    /// Paths to measure.
    #[arg(long, value_delimiter = ',', default_value = "veth,link")]
    over: Vec<Path>,
    #[command(flatten)]
    agent: Agent,
}

#[derive(clap::Args)]
struct Receive {
    /// What to receive.
    #[arg(long, default_value = "udp")]
    kind: Kind,
    /// Where.
    #[arg(long, default_value_t = SocketAddr::from((Ipv4Addr::UNSPECIFIED, traffic::PORT)))]
    address: SocketAddr,
}

#[derive(clap::Args)]
struct Send {
    /// Where the receiver is.
    address: SocketAddr,
    /// What to send.
    #[arg(long, default_value = "udp")]
    kind: Kind,
    /// For how long.
    #[arg(long, default_value_t = 3.0, value_parser = number_in(0.1..=600.0))]
    seconds: f64,
}

/// What packets take from the client to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
enum Path {
    /// A veth between the client and the server.
    Veth,
    /// A link between two of them.
    Link,
}

/// What `measure` prints.
#[derive(Serialize)]
struct Measured {
    seconds: f64,
    delay_ms: u32,
    rootless: bool,
    flows: Vec<Flow>,
}

#[derive(Serialize)]
struct Flow {
    round: u32,
    path: Path,
    kind: Kind,
    #[serde(flatten)]
    carried: Carried,
}

pub fn run(arguments: Arguments) -> anyhow::Result<()> {
    match arguments.command {
        Command::Measure(measure) => measure.run().and_then(|measured| print(&measured)),
        Command::Receive(Receive { kind, address }) => {
            let ports = [("main".to_owned(), address.port())].into();
            let ready = || print(&EndpointEvent::Ready { ports, cpu_ns: None });
            traffic::receive(kind, address, || ready().unwrap_or(())).and_then(|received| print(&received))
        }
        Command::Send(Send { address, kind, seconds }) => {
            traffic::send(kind, address, Duration::from_secs_f64(seconds)).and_then(|sent| print(&sent))
        }
    }
}

impl Measure {
    fn run(&self) -> anyhow::Result<Measured> {
        let rootless = namespace::gain_namespaces()?;
        let folder = Folder::create("throughput")?;
        let mut flows = Vec::new();
        for round in 0..self.rounds {
            for path in &self.over {
                let request = |kind| paths::request(kind, &folder.path, self.seconds, self.delay_ms);
                let requests = [(Kind::Udp, request(Kind::Udp)?), (Kind::Tcp, request(Kind::Tcp)?)];
                let carried = match path {
                    Path::Veth => paths::over_veth(&requests)?,
                    Path::Link => paths::over_link(&self.agent.program, &requests)?,
                };
                let flow = |((kind, _), carried)| Flow { round, path: *path, kind, carried };
                flows.extend(requests.into_iter().zip(carried).map(flow));
            }
        }
        Ok(Measured { seconds: self.seconds, delay_ms: self.delay_ms, rootless, flows })
    }
}

fn print(value: &impl Serialize) -> anyhow::Result<()> {
    serde_json::to_writer(std::io::stdout(), value).context("writing the result")?;
    println!();
    Ok(())
}
