//! `wirelab-agent replay`: each log through a fresh chain, with a report.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use wirelab_capture::log_file::Log;
use wirelab_capture::replay::{Rebuilt, replay};
use wirelab_schema::ReplayReport;

use crate::{link_chain, packet_log};

#[derive(clap::Args)]
pub struct Arguments {
    /// Packet logs.
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<PathBuf>,
}

/// Replay every log and print a report of each; fails if one does not match or cannot be read.
pub fn run(arguments: Arguments) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for path in arguments.logs {
        match print(&path) {
            Ok(true) => {}
            Ok(false) => code = ExitCode::FAILURE,
            Err(error) => {
                eprintln!("error: {error:#}");
                code = ExitCode::FAILURE;
            }
        }
    }
    code
}

fn print(path: &Path) -> Result<bool> {
    let log = packet_log::read(path)?;
    let report = of(path.display().to_string(), &log).with_context(|| format!("cannot replay {}", path.display()))?;
    let mut stdout = io::stdout().lock();
    serde_json::to_writer(&mut stdout, &report)?;
    writeln!(stdout)?;
    Ok(report.mismatches == 0)
}

/// Replay one log through the link of its header.
pub fn of(name: String, log: &Log) -> Result<ReplayReport> {
    let spec = &log.header.link;
    ensure!(!spec.is_netem(), "netem ran this link, and keeps no log of what it did");
    let link = link_chain::build(spec, log.header.seed)?;
    Ok(replay(name, log, Rebuilt { link, tells_flows_apart: spec.tells_flows_apart() }))
}

#[cfg(test)]
mod tests;
