//! What failed in a system call, and the system's reason.

use std::io;

/// What failed, and the system's reason.
#[derive(Debug, thiserror::Error)]
#[error("{what}: {reason}")]
pub struct Error {
    what: String,
    // Not a `source`, which a print of the whole chain would repeat.
    reason: io::Error,
}

impl Error {
    /// True if the system's reason is of this kind.
    pub fn is(&self, kind: io::ErrorKind) -> bool {
        self.reason.kind() == kind
    }
}

/// Names the step in which a system call failed.
pub trait Context<T> {
    /// `what` in the present participle or as a noun: it stands before a colon and the system's reason.
    fn context(self, what: impl Into<String>) -> Result<T, Error>;
}

impl<T, E: Into<io::Error>> Context<T> for Result<T, E> {
    fn context(self, what: impl Into<String>) -> Result<T, Error> {
        self.map_err(|reason| Error { what: what.into(), reason: reason.into() })
    }
}
