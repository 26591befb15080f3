//! Gives every target, or those named, this many inputs that a fixed generator makes of its seeds: `inputs COUNT SEED [TARGET...]`.
//! It prints a line for each, and fails if the process ever had more than 256 MB of memory. A panic names its input's number.

use std::cell::Cell;
use std::error::Error;
use std::panic;
use std::time::Instant;

use wirelab_fuzz::{TARGETS, mutate};

/// Limit of the resident memory at its peak.
const MAX_MEMORY_BYTES: u64 = 256 << 20;

thread_local! {
    static RUN: Cell<u64> = const { Cell::new(0) };
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [count, seed, names @ ..] = &arguments[..] else { return Err("usage: inputs COUNT SEED [TARGET...]".into()) };
    let (count, seed): (u64, u64) = (count.parse()?, seed.parse()?);
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        eprintln!("input {} of seed {seed}:", RUN.get());
        before(info);
    }));
    if let Some(unknown) = names.iter().find(|name| TARGETS.iter().all(|(known, ..)| known != name)) {
        return Err(format!("there is no target {unknown}").into());
    }
    let chosen = |name: &str| names.is_empty() || names.iter().any(|each| each == name);
    let targets: Vec<_> = TARGETS.iter().filter(|(name, ..)| chosen(name)).collect();
    for (name, check, seeds) in &targets {
        let (seeds, begun) = (seeds(), Instant::now());
        for run in 0..count {
            RUN.set(run);
            check(&mutate::bytes(&seeds[(run % seeds.len() as u64) as usize], seed.wrapping_add(run)));
        }
        let (took, memory) = (begun.elapsed().as_secs(), peak_memory_bytes()?);
        println!("{name}: {count} inputs from seed {seed}, {took} s, at most {} MB of memory", memory >> 20);
        if memory > MAX_MEMORY_BYTES {
            return Err(format!("{name}: more than {} MB of memory", MAX_MEMORY_BYTES >> 20).into());
        }
    }
    println!("{} passed", targets.len());
    Ok(())
}

/// Of this process since it began.
fn peak_memory_bytes() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM in /proc/self/status")?;
    Ok(line.trim().trim_end_matches(" kB").trim().parse::<u64>()? << 10)
}
