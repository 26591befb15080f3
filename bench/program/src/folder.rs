//! A temporary folder that a killed measurement leaves nowhere. It holds no figures.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use anyhow::Context;

/// A temporary folder. It vanishes with this process, however that ends: a shell of its own waits for it.
pub struct Folder {
    /// Where it is.
    pub path: PathBuf,
    remover: Child,
}

impl Folder {
    /// Make one, with a name that says what for.
    pub fn create(purpose: &str) -> anyhow::Result<Self> {
        let path = std::env::temp_dir().join(format!("wirelab-{purpose}-{}", std::process::id()));
        let mut remover = Command::new("sh");
        remover.args(["-c", "cat; rm -rf -- \"$0\""]).arg(&path).stdin(Stdio::piped()).stdout(Stdio::null());
        // Before there is a folder, since this process may be killed as soon as there is; in a process group of its own, so that Ctrl-C does not reach it.
        let mut remover = remover.process_group(0).spawn().context("starting sh")?;
        if let Err(error) = fs::create_dir(&path) {
            // It would remove what is not ours.
            let _ = remover.kill();
            let _ = remover.wait();
            return Err(error).with_context(|| format!("creating {}", path.display()));
        }
        Ok(Self { path, remover })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        self.remover.stdin = None;
        let _ = self.remover.wait();
    }
}
