//! Packet logs for `dissect`, `replay` and `calibrate`: read from their files, with a warning for people. It parses nothing.

use std::path::Path;

use anyhow::Result;
use wirelab_capture::log_file::{self, Log};

/// Read a whole log. Warns people if its end is torn.
pub fn read(path: &Path) -> Result<Log> {
    let log = log_file::read(path)?;
    if log.torn_bytes > 0 {
        let (path, bytes) = (path.display(), log.torn_bytes);
        eprintln!("warning: {path} ends within a record, of which {bytes} bytes are left out: its link was stopped");
    }
    Ok(log)
}
