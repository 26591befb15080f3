use std::process::ExitCode;

#[derive(clap::Args)]
pub struct Arguments {}

pub fn run(_arguments: Arguments) -> ExitCode {
    ExitCode::FAILURE
}
