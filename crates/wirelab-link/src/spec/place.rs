//! Where in a link's description something is wrong, and what.

/// What a link's description says that no link can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecError {
    /// Where, for example `uplink[1].p`.
    pub at: String,
    /// What is wrong, with the value.
    pub what: String,
}

impl std::fmt::Display for SpecError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}: {}", self.at, self.what)
    }
}

impl std::error::Error for SpecError {}

/// A place in a link's description, for example `uplink[1].p`.
#[derive(Clone, Debug)]
pub struct Place(String);

impl Place {
    /// A key of the description itself.
    pub fn new(name: &str) -> Self {
        Self(name.to_owned())
    }

    /// The value of a key here.
    #[must_use]
    pub fn key(&self, name: &str) -> Self {
        Self(format!("{}.{name}", self.0))
    }

    /// A member of the list that is here, from 0.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        Self(format!("{}[{index}]", self.0))
    }

    /// What is wrong here.
    pub fn error(&self, what: impl Into<String>) -> SpecError {
        SpecError { at: self.0.clone(), what: what.into() }
    }
}
