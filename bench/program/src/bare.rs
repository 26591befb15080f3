//! A thread that has nothing to do but be on time, as the link's does it: it gets the link's scheduling and keeps CPUs awake as the link does, sleeps
//! until shortly before an instant and spins the rest. How late it still is, the machine is: no link on it can be less.

use std::io::Write;
use std::thread;
use std::time::Duration;

use anyhow::Context;
use wirelab_net::awake::AwakeCpus;
use wirelab_net::clock;
use wirelab_net::scheduling::{self, Scheduling};

use crate::flow;
use crate::number::number_in;

/// As much as the link's loop spins at most.
const SPIN: Duration = Duration::from_micros(320);

#[derive(clap::Args)]
pub struct Arguments {
    /// How many instants.
    #[arg(long)]
    instants: u32,
    /// Mean time between them, in microseconds; each is uniform from half of it to one and a half.
    #[arg(long, value_parser = number_in(1000.0..=10_000_000.0))]
    interval_us: f64,
}

/// A line for each instant: by how many nanoseconds it was missed.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let _awake = AwakeCpus::hold();
    scheduling::exact_timers();
    if Scheduling::best() != Scheduling::Fifo {
        scheduling::settle();
    }
    print(&late(arguments))
}

fn late(arguments: &Arguments) -> Vec<Duration> {
    let mean = Duration::from_secs_f64(arguments.interval_us / 1e6);
    let mut due = clock::now();
    let mut late = Vec::with_capacity(arguments.instants as usize);
    for number in 0..arguments.instants {
        due = due + flow::spread(mean, number.into());
        thread::sleep(due.saturating_since(clock::now()).saturating_sub(SPIN));
        while clock::now() < due {
            std::hint::spin_loop();
        }
        late.push(clock::now().saturating_since(due));
    }
    late
}

fn print(late: &[Duration]) -> anyhow::Result<()> {
    let mut text = Vec::new();
    for time in late {
        writeln!(text, "{}", time.as_nanos())?;
    }
    std::io::stdout().write_all(&text).context("writing to stdout")
}
