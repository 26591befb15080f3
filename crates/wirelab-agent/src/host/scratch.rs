//! A temporary folder that lives as long as the host.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

use anyhow::Context;

/// A folder for files that a caller reads while the host lives. It is removed with the host, also if the caller was killed.
pub struct Scratch(PathBuf);

impl Scratch {
    /// Only its owner may look into it.
    pub fn make(path: PathBuf) -> anyhow::Result<Self> {
        DirBuilder::new().mode(0o700).create(&path).with_context(|| format!("making {}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The caller may have removed it.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scratch_folder_goes_with_all_that_is_in_it_and_takes_no_other_s_place() {
        let parent = tempfile::tempdir().expect("a folder");
        let path = parent.path().join("scratch");
        let scratch = Scratch::make(path.clone()).expect("made");
        fs::write(path.join("packets.wlpl"), b"WLPL").expect("writable");
        let error = Scratch::make(path.clone()).err().expect("refused");
        assert!(format!("{error:#}").contains("scratch"), "{error:#}");
        assert!(path.join("packets.wlpl").exists(), "a refused request removes nothing");
        drop(scratch);
        assert!(!path.exists());
    }
}
