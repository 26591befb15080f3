//! Checks of the files that a link writes, before anything starts. It writes none of them.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use wirelab_capture::{packet_log, pcapng, private_file};

use super::Arguments;
use super::failure::{Failure, USAGE};
use crate::taps::ENDS;

/// Refuse two names of one file, and a file that must not be replaced, before anything starts.
pub fn check(arguments: &Arguments) -> Result<(), Failure> {
    let log = arguments.log.as_deref().map(|path| ("--log".to_owned(), path, Some(&packet_log::MAGIC)));
    let captures = arguments.pcap.iter().map(|pcap| {
        let option = format!("--pcap {}", ENDS[pcap.end]);
        (option, &*pcap.file, Some(&pcapng::MAGIC))
    });
    let server_log = arguments.server_log.as_deref().map(|path| ("--server-log".to_owned(), path, None));
    let mut seen: Vec<(Place, String)> = Vec::new();
    for (option, path, magic) in log.into_iter().chain(captures).chain(server_log) {
        let place = Place::of(path);
        if let Some((_, other)) = seen.iter().find(|(other, _)| *other == place) {
            let what = format!("{other} and {option} name the same file, {}", path.display());
            return Err(Failure::new(what).code(USAGE));
        }
        if let Some(Err(error)) = magic.map(|magic| may_create(path, magic)) {
            return Err(Failure::new(format!("{option}: {}: {error:#}", path.display())).code(USAGE));
        }
        seen.push((place, option));
    }
    Ok(())
}

fn may_create(path: &Path, magic: &[u8]) -> anyhow::Result<()> {
    let folder = folder(path);
    let there = fs::metadata(folder).with_context(|| format!("the folder {} cannot be used", folder.display()))?;
    anyhow::ensure!(there.is_dir(), "{} is not a folder", folder.display());
    match private_file::may_create(path, magic) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            anyhow::bail!("{error}, and stays; only an earlier file of the same kind is replaced")
        }
        result => result.context("cannot be read"),
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Which file a path leads to.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    /// Device and inode of an existing file.
    There(u64, u64),
    /// Where it will be.
    Free(PathBuf),
}

impl Place {
    fn of(path: &Path) -> Self {
        if let Ok(metadata) = fs::metadata(path) {
            return Self::There(metadata.dev(), metadata.ino());
        }
        let folder = folder(path);
        let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.into());
        Self::Free(folder.join(path.file_name().unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn one_file_is_recognised_by_any_of_its_names() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link, other] = ["file", "link", "other"].map(|name| folder.path().join(name));
        let dotted = folder.path().join(".").join("file");
        assert_eq!(Place::of(&file), Place::of(&dotted));
        assert_ne!(Place::of(&file), Place::of(&other));
        fs::write(&file, "").unwrap();
        symlink(&file, &link).unwrap();
        assert_eq!(Place::of(&file), Place::of(&link));
        assert_eq!(Place::of(&file), Place::of(&dotted));
        assert_ne!(Place::of(&file), Place::of(&other));
    }
}
