//! How `wirelab link` fails, with its exit code. It prints nothing.

use std::fmt;

/// The link could not be made, or its server not be started; the code that `timeout(1)` and container runtimes use, too.
const NO_LINK: u8 = 125;
/// The request cannot be carried out.
pub const USAGE: u8 = 2;
/// The command was found and could not be started.
pub const NOT_EXECUTABLE: u8 = 126;
/// The command was not found.
pub const NOT_FOUND: u8 = 127;
/// Added to a signal's number.
pub const SIGNALLED: u8 = 128;

/// Why there is no exit code of a command.
#[derive(Debug)]
pub struct Failure {
    /// The exit code in its place.
    pub code: u8,
    message: Option<String>,
    hint: Option<String>,
}

impl Failure {
    pub fn new(message: impl Into<String>) -> Self {
        Self { code: NO_LINK, message: Some(message.into()), hint: None }
    }

    /// Ended by a signal before there was a command: no message is needed.
    pub fn signalled(number: i32) -> Self {
        Self { code: SIGNALLED + number as u8, message: None, hint: None }
    }

    /// The request cannot be carried out.
    pub fn usage(error: anyhow::Error) -> Self {
        Self::from(error).code(USAGE)
    }

    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// The same of the server's command, which has no exit code of its own here.
    pub fn of_the_server(self) -> Self {
        Self { code: NO_LINK, message: self.message.map(|message| format!("server: {message}")), ..self }
    }

    pub fn code(self, code: u8) -> Self {
        Self { code, ..self }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(message) = &self.message else { return Ok(()) };
        writeln!(formatter, "error: {message}")?;
        self.hint.as_ref().map_or(Ok(()), |hint| writeln!(formatter, "hint: {hint}"))
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::new(format!("{:#}", error.into()))
    }
}
