//! Files that only their owner may read: packet logs and captures hold addresses, payload and secrets.

use std::fs::{self, File, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

const MODE: u32 = 0o600;

/// Create a file of mode 0600, in place of one that may be there: of an earlier one of its kind, which begins with `magic`, or of an empty one.
/// Anything else, as what a mistyped name may lead to, stays as it is and is refused.
pub fn create(path: &Path, magic: &[u8]) -> io::Result<File> {
    may_create(path, magic)?;
    let is_new = !path.exists();
    let file = File::options().write(true).create(true).truncate(true).mode(MODE).open(path)?;
    if file.metadata()?.permissions().mode() & 0o777 != MODE {
        let closed = file.set_permissions(Permissions::from_mode(MODE));
        // A new one has it unless its file system has no modes, as FAT.
        if !is_new {
            closed?;
        }
    }
    Ok(file)
}

/// Whether [`create`] would refuse what is there.
pub fn may_create(path: &Path, magic: &[u8]) -> io::Result<()> {
    let there = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        there => there?,
    };
    if !there.is_file() {
        return Err(refused("it is there already and no file"));
    }
    let mut begins = Vec::new();
    File::open(path)?.take(magic.len() as u64).read_to_end(&mut begins)?;
    if begins.is_empty() || begins == magic {
        return Ok(());
    }
    Err(refused("a file of another kind is there already"))
}

fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_earlier_file_of_its_kind_is_replaced_and_any_other_stays() {
        let folder = std::env::temp_dir().join(format!("wirelab-private-file-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let path = folder.join("file");
        let text = |path: &Path| fs::read_to_string(path).unwrap();
        for replaced in ["", "KIND", "KIND and more"] {
            fs::write(&path, replaced).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
            let file = create(&path, b"KIND").unwrap();
            assert_eq!((file.metadata().unwrap().permissions().mode() & 0o777, text(&path).as_str()), (0o600, ""));
        }
        for kept in ["KIN", "kind", "#!/bin/sh\n"] {
            fs::write(&path, kept).unwrap();
            let error = create(&path, b"KIND").unwrap_err();
            assert_eq!(
                (error.to_string().as_str(), text(&path).as_str()),
                ("a file of another kind is there already", kept)
            );
        }
        assert_eq!(create(&folder, b"KIND").unwrap_err().to_string(), "it is there already and no file");
        fs::remove_dir_all(&folder).unwrap();
    }
}
