//! Measures wake-up latency, as cyclictest does: a thread with the link's scheduling keeps CPUs awake as the link does, sleeps until shortly before a
//! deadline and spins the rest. Its latency is the lower bound for any link on this machine.

use std::io::Write;
use std::thread;
use std::time::Duration;

use anyhow::Context;
use wirelab_net::awake::AwakeCpus;
use wirelab_net::clock;
use wirelab_net::scheduling::{self, Scheduling};

use crate::flow;
use crate::number::number_in;

/// The longest spin of the link's loop.
const SPIN: Duration = Duration::from_micros(320);

#[derive(clap::Args)]
pub struct Arguments {
    /// Number of deadlines.
    #[arg(long)]
    instants: u32,
    /// Mean time between them, in microseconds; each is uniform from half of it to one and a half.
    #[arg(long, value_parser = number_in(1000.0..=10_000_000.0))]
    interval_us: f64,
}

/// Prints a line for each deadline: by how many nanoseconds it was missed.
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
