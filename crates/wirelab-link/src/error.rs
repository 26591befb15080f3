//! The error for parameters that no model can have.

use std::error::Error;
use std::fmt;

/// Parameters that no model can have: what is wrong with them, with the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterError(String);

impl ParameterError {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}

impl fmt::Display for ParameterError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Error for ParameterError {}

impl From<ParameterError> for String {
    fn from(error: ParameterError) -> Self {
        error.0
    }
}
