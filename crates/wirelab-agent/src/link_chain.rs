//! Builds a chain from its description.
