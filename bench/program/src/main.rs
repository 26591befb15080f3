//! `wirelab-bench`: the instruments of `bench/`, which ship with no wheel. It emulates nothing itself: a link that it measures is carried by the
//! agent that it is given.

mod calibrate;
mod flow;
mod folder;
mod host;
// One source for both programs.
#[path = "../../../crates/wirelab-agent/src/number.rs"]
mod number;
mod throughput;
mod wakeup;

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
    /// Measure the timing error of the link on this machine, by delay and number of parallel trials; prints a table.
    Calibrate(calibrate::Arguments),
    /// Send packets that carry their send time, or receive them, at one end of any path.
    Flow(flow::Arguments),
    /// Measure how many packets and bytes a second a path carries.
    Throughput(throughput::Arguments),
    /// Measure the wake-up latency of a standalone thread, without a link.
    Wakeup(wakeup::Arguments),
}

fn main() -> ExitCode {
    let (verb, result) = match Arguments::parse().command {
        Command::Calibrate(arguments) => ("calibrate", calibrate::run(&arguments)),
        Command::Flow(arguments) => ("flow", flow::run(&arguments)),
        Command::Throughput(arguments) => ("throughput", throughput::run(arguments)),
        Command::Wakeup(arguments) => ("wakeup", wakeup::run(&arguments)),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("wirelab-bench {verb}: {error:#}");
            ExitCode::FAILURE
        }
    }
}
