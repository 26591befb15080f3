//! When a server's application had each whole and right message: its own word on what a client says that it exchanged. It judges nothing.

use std::fmt;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::{Clock, StackError};

/// The file of the instants, in a server's output folder.
pub const RECEIVED: &str = "received.json";

/// The instants of the messages so far; clones share them. That of a server that keeps no record is empty.
#[derive(Clone, Default)]
pub struct Received(Option<Arc<Record>>);

struct Record {
    clock: Arc<dyn Clock>,
    instants_ns: Mutex<Vec<u64>>,
}

impl Received {
    /// One that keeps a record.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Received(Some(Arc::new(Record { clock, instants_ns: Mutex::default() })))
    }

    /// The application has another message, whole and right.
    pub fn note(&self) {
        if let Some(record) = &self.0 {
            let now_ns = record.clock.now_ns();
            record.instants_ns.lock().expect("no holder panics").push(now_ns);
        }
    }

    /// Writes the instants so far, if a record is kept.
    pub fn write(&self, folder: &Path) -> Result<(), StackError> {
        let Some(record) = &self.0 else { return Ok(()) };
        let text = serde_json::to_string(&*record.instants_ns.lock().expect("no holder panics"));
        let path = folder.join(RECEIVED);
        let failed = |error: &dyn fmt::Display| StackError::failed(path.display(), error);
        fs::write(&path, text.map_err(|error| failed(&error))?).map_err(|error| failed(&error))
    }
}

/// The instants in such a file, in their order.
pub fn read(path: &Path) -> Result<Vec<u64>, StackError> {
    let failed = |error: &dyn fmt::Display| StackError::failed(path.display(), error);
    let text = fs::read_to_string(path).map_err(|error| failed(&error))?;
    serde_json::from_str(&text).map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SystemClock;

    #[test]
    fn what_was_noted_is_read_as_it_was_written_and_without_a_record_nothing_is() {
        let folder = tempfile::tempdir().expect("a folder");
        Received::default().write(folder.path()).expect("nothing to write");
        let path = folder.path().join(RECEIVED);
        assert!(!path.exists());
        let received = Received::new(Arc::new(SystemClock));
        received.write(folder.path()).expect("written");
        assert!(read(&path).expect("read").is_empty());
        received.note();
        received.clone().note();
        received.write(folder.path()).expect("written");
        let instants = read(&path).expect("read");
        assert!(instants.len() == 2 && instants.is_sorted(), "{instants:?}");
    }
}
