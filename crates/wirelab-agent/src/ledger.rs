//! `wirelab-agent ledger`: the bytes of captured trials by layer, as rows.

use std::path::PathBuf;
use std::process::ExitCode;

use wirelab_capture::ledger;

use crate::dissect::print_rows;

#[derive(clap::Args)]
pub struct Arguments {
    /// Folders of trials with captures of both ends.
    #[arg(required = true, value_name = "TRIAL")]
    trials: Vec<PathBuf>,
}

/// Print a line for each trial.
pub fn run(arguments: Arguments) -> ExitCode {
    print_rows(arguments.trials.iter().map(|folder| ledger::of_trial(folder)))
}
