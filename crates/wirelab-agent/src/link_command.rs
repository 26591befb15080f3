//! `wirelab-agent link-command`: runs a command behind a link, and a server at the other end if requested. Started by `wirelab link`.
//!
//! This process moves the packets and watches the others, which are its children in a PID namespace: when it dies, however it does, they die.
//! Exit codes are the command's (128 and the signal's number if one ended it), or one of [`failure`].

mod client;
mod failure;
mod files;
mod observed;
mod pcap;
mod ready;
mod server;
mod signals;
mod summary;
mod terminal;

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use wirelab_net::link_loop::{LinkLoop, Waits};
use wirelab_net::namespace::{self, NetNamespace};
use wirelab_net::pid_namespace::{PidNamespace, be_first};
use wirelab_net::slot::{Finished, TrialLink};
use wirelab_net::topology::{Addresses, Shape, Shaped, SingleLink, depth, min_mtu, try_netem};
use wirelab_net::{LogThread, process, scheduling};
use wirelab_schema::{AddressFamily, LinkSpec};

use crate::host::slots::{self, NETEM_CURE, NO_NETEM};
use crate::link::Files;
use crate::taps::{self, ENDS, KeyLog};
use crate::{link, link_chain, own_program, probe};
use client::Client;
use failure::Failure;
use observed::{Account, Observed, RunningCounts};
use pcap::Pcap;
use ready::Ready;
use server::Server;
use signals::Signals;
use summary::Summary;

const MTU: u32 = 1500;
/// Bytes of each packet in the log: IPv4 and TCP headers with options, or what tells QUIC's packets apart.
const HEADER_BYTES: u8 = 128;
/// Variable with the server's address, for the command behind a link.
const SERVER: &str = "WIRELAB_SERVER";
const CLIENT: &str = "WIRELAB_CLIENT";
/// How long from SIGTERM to SIGKILL, and how long the command's last packets may take to the other end.
const GRACE: Duration = Duration::from_secs(5);

#[derive(clap::Args)]
pub struct Arguments {
    /// Inherited descriptor of a file with the link's description: JSON of a `LinkSpec`.
    #[arg(long, required_unless_present_any = ["first", "link_file"])]
    link_fd: Option<i32>,
    /// The file itself, whose clock is a virtual one: nothing spins.
    #[arg(long, conflicts_with = "link_fd")]
    link_file: Option<PathBuf>,
    /// What people call the link.
    #[arg(long, default_value = "link")]
    name: String,
    /// Seed of everything random.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Command at the other end, as a JSON array of words.
    #[arg(long)]
    server: Option<Words>,
    /// When the server is ready: tcp:PORT, udp:PORT, or a number of seconds.
    #[arg(long, requires = "server")]
    server_ready: Option<Ready>,
    /// Where the server's output goes instead of stderr.
    #[arg(long, requires = "server")]
    server_log: Option<PathBuf>,
    /// Where to keep the packet log.
    #[arg(long)]
    log: Option<PathBuf>,
    /// Capture the packets at one end: client=FILE, server=FILE.
    #[arg(long)]
    pcap: Vec<Pcap>,
    /// Print no summary.
    #[arg(long)]
    quiet: bool,
    /// Be the first process of the others' PID namespace (started by this program).
    #[arg(long, hide = true)]
    first: bool,
    /// The command to run; a shell if there is none.
    #[arg(last = true)]
    command: Vec<OsString>,
}

/// A command's words.
#[derive(Clone, Debug)]
struct Words(Vec<OsString>);

impl FromStr for Words {
    type Err = serde_json::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(serde_json::from_str::<Vec<String>>(text)?.into_iter().map(OsString::from).collect()))
    }
}

/// What is at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherEnd {
    /// The server that was asked for.
    Server,
    /// Nobody: the kernel answers pings.
    Nobody,
    /// The command that this link began in.
    Outer,
}

pub fn run(arguments: Arguments) -> ExitCode {
    if arguments.first {
        be_first();
    }
    match play(arguments) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            eprint!("{failure}");
            ExitCode::from(failure.code)
        }
    }
}

fn play(arguments: Arguments) -> Result<u8, Failure> {
    // Signals and namespaces before any thread exists.
    let signals = Signals::block()?;
    files::check(&arguments)?;
    let (spec, waits) = match &arguments.link_file {
        Some(file) => (read_link(File::open(file).with_context(|| file.display().to_string())?)?, Waits::Asleep),
        None => (read_link(inherited_link(arguments.link_fd)?)?, Waits::Spinning),
    };
    let (ends, other_end) = make_ends(&spec, arguments.server.is_some())?;
    let own = addresses(&spec, &ends)?;
    let addresses = Addresses { client: own.client, server: server_address(own.server, other_end) };
    let key_log = key_log();
    let by_netem = if spec.is_netem() { ", run by netem" } else { "" };
    let name = format!("{}{by_netem}", arguments.name);
    let summary = Summary { name: &name, seed: arguments.seed, addresses, other_end };
    let link_loop = LinkLoop::start(vec![ends.open_ports()?], waits)?;
    // Everything that is started from now on leaves the link's thread the CPU that it has for itself, if it has one.
    link_loop.cpu().map(scheduling::leave);
    scheduling::lock_memory();
    let counts = Arc::new(RunningCounts::default());
    let shaped = shape(&ends, &spec, arguments.seed)?;
    link_loop.begin(0, trial_link(spec, &arguments, &counts).map_err(Failure::usage)?)?;

    let mut first = own_program();
    first.args(["link-command", "--first"]);
    let family = PidNamespace::create(first).context("making a PID namespace")?;
    let mut server = None;
    if let Some(Words(words)) = &arguments.server {
        let started = Server::start(&family, &ends, words, addresses, &signals, arguments.server_log.clone())?;
        let ready = arguments.server_ready.unwrap_or_default();
        server.insert(started).wait_until_ready(ends.far(), ready, addresses.server, &signals, arguments.quiet)?;
    }
    if arguments.command.is_empty() && !arguments.quiet {
        eprintln!("{}", summary.greeting());
    }
    let code = Client::start(&family, &ends, &arguments.command, addresses, &signals)?.wait(&signals, &mut server);
    if other_end != OtherEnd::Nobody {
        let in_netem =
            || shaped.as_ref().is_some_and(|shaped| ends.in_the_middle(|_| shaped.is_busy()).unwrap_or(false));
        counts.wait_until_delivered(&signals, GRACE, in_netem);
    }
    // netem keeps its delays to itself.
    let account = if shaped.is_some() { counts.account().map(Account::without_delay) } else { counts.account() };
    let finished = link_loop.finish(0)?.context("the link was ended before")?;
    if let Some(server) = &mut server {
        server.end(&signals);
    }
    drop(family);
    if let Some(server) = server {
        server.hear_out();
    }
    let Finished { mut report, log, captures } = finished;
    if let Some(shaped) = shaped {
        ends.in_the_middle(|_| shaped.finish(&mut report))?;
    }
    report.kernel_drops += ends.dropped().unwrap_or(0);
    if !arguments.quiet {
        eprint!("{}", summary.text(&report, account));
    }
    if let Some(Err(error)) = log.map(|log| link::written(&log)) {
        eprintln!("error: the packet log is incomplete: {error}");
    }
    if let Some(lacking) = link::lacking(&report) {
        eprintln!("error: {lacking}");
    }
    let written = captures.iter().try_for_each(link::written).context("a capture is incomplete");
    let files = arguments.pcap.iter().map(|pcap| &*pcap.file);
    if let Err(error) = written.and_then(|()| taps::complete(files, key_log.as_slice())) {
        eprintln!("error: {error:#}");
    }
    Ok(code)
}

/// Hand the link to netem, if that is to run it.
fn shape(ends: &SingleLink, spec: &LinkSpec, seed: u64) -> Result<Option<Shaped>, Failure> {
    if !spec.is_netem() {
        return Ok(None);
    }
    let qdiscs = link_chain::qdiscs(spec, seed).map_err(anyhow::Error::from)?;
    let missing = |error| Failure::new(format!("backend: {NO_NETEM} ({error})")).hint(NETEM_CURE);
    ends.in_the_middle(|_| try_netem()).map_err(missing)?;
    Ok(Some(ends.in_the_middle(|outgoing| Shaped::install(outgoing, qdiscs))?))
}

fn make_ends(spec: &LinkSpec, with_server: bool) -> Result<(SingleLink, OtherEnd), Failure> {
    let mtu = mtu(spec)?;
    let (depth, here) = (depth(), NetNamespace::current()?);
    let rootless = namespace::gain_namespaces_as_oneself().map_err(|error| {
        Failure::new(format!("this machine does not let an ordinary user make namespaces ({error})"))
            .hint(probe::cure())
    })?;
    let other_end = match depth {
        _ if with_server => OtherEnd::Server,
        0 => OtherEnd::Nobody,
        _ => OtherEnd::Outer,
    };
    if other_end == OtherEnd::Outer && rootless {
        let lost = "no other link can begin here: this user has no rights over the network of the link around it";
        return Err(Failure::new(lost).hint("do not change the user between one `wirelab link` and the next"));
    }
    let outer = (other_end == OtherEnd::Outer).then_some(here);
    Ok((SingleLink::create(depth, outer, mtu)?, other_end))
}

fn inherited_link(descriptor: Option<i32>) -> anyhow::Result<File> {
    Ok(process::inherited(descriptor.context("no descriptor of a link")?)?.into())
}

fn read_link(mut file: File) -> anyhow::Result<LinkSpec> {
    let mut text = String::new();
    file.read_to_string(&mut text).context("reading the link's description")?;
    serde_json::from_str(&text).context("reading the link's description")
}

fn mtu(spec: &LinkSpec) -> anyhow::Result<u32> {
    let family = spec.family.unwrap_or_default();
    let (mtu, minimum) = (spec.mtu.unwrap_or(MTU), min_mtu(slots::addresses(family).client));
    let name = if family == AddressFamily::Ipv6 { "IPv6" } else { "IPv4" };
    anyhow::ensure!((minimum..=u16::MAX.into()).contains(&mtu), "mtu: {mtu} is out of range for {name}");
    Ok(mtu)
}

/// The settings of both ends of this link. They have IPv4 addresses in any case, and IPv6 addresses if possible.
fn addresses(spec: &LinkSpec, ends: &SingleLink) -> anyhow::Result<Addresses> {
    match spec.family.unwrap_or_default() {
        AddressFamily::Ipv4 => Ok(ends.ipv4()),
        AddressFamily::Ipv6 => {
            ends.ipv6().map_err(|error| anyhow::anyhow!("family: this link can have no IPv6 addresses: {error}"))
        }
    }
}

/// The file to which both programs write their TLS secrets, if the user set it: only additions are read.
fn key_log() -> Option<KeyLog> {
    std::env::var_os("SSLKEYLOGFILE").filter(|path| !path.is_empty()).map(|path| KeyLog::from_now_on(path.into()))
}

/// Behind several links, the server of the outermost that has one.
fn server_address(own: IpAddr, other_end: OtherEnd) -> IpAddr {
    let outer = || std::env::var(SERVER).ok()?.parse().ok();
    let outer = if other_end == OtherEnd::Outer { outer() } else { None };
    outer.unwrap_or(own)
}

fn trial_link(spec: LinkSpec, arguments: &Arguments, counts: &Arc<RunningCounts>) -> anyhow::Result<TrialLink> {
    let mut logs = LogThread::start()?;
    let captures = arguments.pcap.iter().map(|pcap| (ENDS[pcap.end], &*pcap.file)).collect();
    let files = Files { packet_log: arguments.log.as_deref(), header_bytes: HEADER_BYTES, captures };
    let mut trial = link::build(spec, arguments.seed, &Shape::default().links()[0], &files, &mut logs)?;
    trial.link = Box::new(Observed::new(trial.link, counts.clone()));
    Ok(trial)
}
