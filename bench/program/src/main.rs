//! `wirelab-bench`: the instruments of `bench/`, which ship with no wheel. It emulates nothing itself: a link that it measures is carried by the
//! agent that it is given.

mod bare;
mod calibrate;
mod flow;
mod folder;
mod host;
// One source for both programs.
#[path = "../../../crates/wirelab-agent/src/number.rs"]
mod number;
mod throughput;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The instruments of Wirelab's bench.
#[derive(Parser)]
#[command(name = "wirelab-bench", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Be on time at instants, and print how late that was all the same.
    Bare(bare::Arguments),
    /// Measure how late the link is on this machine, by delay and number of lanes in use; prints a table.
    Calibrate(calibrate::Arguments),
    /// Send packets that tell when they were sent, or receive them, at one end of any path.
    Flow(flow::Arguments),
    /// Measure how many packets and bytes a second a path carries.
    Throughput(throughput::Arguments),
}

fn main() -> ExitCode {
    let (verb, result) = match Arguments::parse().command {
        Command::Bare(arguments) => ("bare", bare::run(&arguments)),
        Command::Calibrate(arguments) => ("calibrate", calibrate::run(&arguments)),
        Command::Flow(arguments) => ("flow", flow::run(&arguments)),
        Command::Throughput(arguments) => ("throughput", throughput::run(arguments)),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("wirelab-bench {verb}: {error:#}");
            ExitCode::FAILURE
        }
    }
}
