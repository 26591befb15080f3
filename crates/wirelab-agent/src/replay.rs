//! `wirelab-agent replay`: each log through a new chain, with a report.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use wirelab_capture::replay::replay;

use crate::packet_log;

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
    let report =
        replay(path.display().to_string(), &log).with_context(|| format!("cannot replay {}", path.display()))?;
    let mut stdout = io::stdout().lock();
    serde_json::to_writer(&mut stdout, &report)?;
    writeln!(stdout)?;
    Ok(report.mismatches == 0)
}
