//! `wirelab-agent`: the one binary of Wirelab's data plane. It is driven by `wirelab`; people rarely call it.
//!
//! This crate is the only place that reads arguments, prints or exits. It is a library too, so that its parsers of foreign bytes can be
//! called without a process: [`inputs`].

mod capture;
mod certificates;
mod confirm;
mod describe;
mod dissect;
mod endpoint;
mod generate;
mod guest;
mod host;
pub mod inputs;
mod ledger;
mod link;
mod link_chain;
mod link_command;
mod link_facts;
mod number;
mod packet_log;
mod probe;
mod probes;
mod replay;
mod slot_shape;
mod taps;
mod traffic;
mod trial;

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{self, ExitCode};

use clap::{Parser, Subcommand};

/// The data plane of Wirelab: hosts, links and endpoints of a campaign.
#[derive(Parser)]
#[command(name = "wirelab-agent", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Own the namespaces of a campaign; requests and replies as lines of JSON on stdin and stdout.
    Host(host::Arguments),
    /// Run a command behind an emulated link (started by `wirelab link`).
    #[command(name = "link-command")]
    RunOverLink(link_command::Arguments),
    /// Carry every link of a campaign (started by `host`).
    #[command(hide = true)]
    Link(link::Arguments),
    /// Be the first process of a trial's PID namespace (started by `host`).
    #[command(hide = true)]
    Trial(trial::Arguments),
    /// Play one role of one protocol, as set by a parameter file.
    Endpoint(endpoint::Arguments),
    /// Print the packets or flows of packet logs as lines of JSON.
    Dissect(dissect::Arguments),
    /// Print the packets of a capture (pcap, pcapng) as lines of JSON.
    Capture(capture::Arguments),
    /// Print the bytes of captured trials by layer, as lines of JSON.
    Ledger(ledger::Arguments),
    /// Replay a packet log through a new chain and compare packet by packet: delivered or dropped, and when.
    Replay(replay::Arguments),
    /// Print the facts of links, described by lines of JSON on stdin, as lines of JSON.
    LinkFacts(link_facts::Arguments),
    /// Print every registered protocol, setting and impairment as JSON.
    Describe(describe::Arguments),
    /// Test what this machine allows: namespaces, AF_PACKET, scheduling; as JSON.
    Probe(probe::Arguments),
    /// Send and receive the probes of a plan at one end of a slot.
    #[command(hide = true)]
    Probes(probes::Arguments),
    /// Background traffic on a link: bulk transfers or echo requests until SIGTERM.
    Traffic(traffic::Arguments),
    /// Boot a guest of a time-travelling kernel and have it run the commands of a script.
    #[command(hide = true)]
    Guest(guest::Arguments),
    /// Be the first process of a guest (started by its kernel).
    #[command(hide = true, name = "guest-init")]
    GuestInit(guest::init::Arguments),
    /// Write a certificate authority and a server certificate.
    Certificates(certificates::Arguments),
    /// Write the JSON Schemas of the border.
    Generate(generate::Arguments),
}

/// Run the subcommand of the process's arguments.
pub fn run() -> ExitCode {
    // Started as `own_program`, it would be called `exe` by ps and pgrep.
    let _ = fs::write("/proc/self/comm", env!("CARGO_PKG_NAME"));
    match Arguments::parse().command {
        Command::RunOverLink(arguments) => link_command::run(arguments),
        Command::Host(arguments) => host::run(arguments),
        Command::Link(arguments) => link::run(arguments),
        Command::Trial(arguments) => trial::run(arguments),
        Command::Endpoint(arguments) => endpoint::run(arguments),
        Command::Dissect(arguments) => dissect::run(arguments),
        Command::Capture(arguments) => capture::run(arguments),
        Command::Ledger(arguments) => ledger::run(arguments),
        Command::Replay(arguments) => replay::run(arguments),
        Command::LinkFacts(arguments) => link_facts::run(arguments),
        Command::Describe(arguments) => describe::run(arguments),
        Command::Probe(arguments) => probe::run(arguments),
        Command::Probes(arguments) => probes::run(arguments),
        Command::Traffic(arguments) => traffic::run(arguments),
        Command::Guest(arguments) => guest::run(arguments),
        Command::GuestInit(arguments) => guest::init::run(arguments),
        Command::Certificates(arguments) => certificates::run(arguments),
        Command::Generate(arguments) => generate::run(arguments),
    }
}

/// The path by which this program starts itself. It stays valid if the file was replaced or removed meanwhile.
const OWN_PROGRAM: &str = "/proc/self/exe";

/// This very program.
fn own_program() -> process::Command {
    let mut command = process::Command::new(OWN_PROGRAM);
    command.arg0(env!("CARGO_PKG_NAME"));
    command
}
