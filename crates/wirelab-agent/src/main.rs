//! The process: everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    wirelab_agent::run()
}
