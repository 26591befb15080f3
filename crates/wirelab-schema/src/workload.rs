use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the endpoints of a trial do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum WorkloadSpec {
    /// A client sends requests, a server answers each. `upload_bytes` > 0 is a POST with that body, otherwise a GET whose answer has
    /// `download_bytes` of body (a POST's answer has them too). Echo stacks send `upload_bytes` and receive as many as they sent.
    RequestResponse(RequestResponse),
}

/// Parameters of `request-response`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestResponse {
    /// Request body size.
    pub upload_bytes: u64,
    /// Response body size.
    pub download_bytes: u64,
    /// How many exchanges the trial holds.
    pub exchanges: u32,
    /// When exchanges are meant to start.
    pub arrival: ArrivalSpec,
    /// Exchanges that may be under way at once. An open-loop exchange that finds all places taken starts late; its intended start is kept.
    pub concurrency: u32,
    /// An exchange that has not completed by then, counted from its start, is given up with outcome `timed-out`.
    pub timeout_ns: u64,
    /// Which connection an exchange uses.
    pub connection: ConnectionPolicy,
}

/// The arrival process of exchanges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "process", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ArrivalSpec {
    /// Closed loop: the next exchange starts when one ends (for each of `concurrency` places).
    Closed,
    /// Open loop, evenly spaced.
    Fixed {
        /// Exchanges per second.
        rate_hz: f64,
    },
    /// Open loop, exponential gaps drawn from the trial's seed.
    Poisson {
        /// Mean exchanges per second.
        rate_hz: f64,
    },
}

/// Which connection an exchange uses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "policy", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ConnectionPolicy {
    /// A new connection for each exchange; its set-up is part of the exchange.
    Fresh,
    /// `connections` connections, opened when first needed and kept; exchanges take turns on them. A connection that breaks is opened anew.
    Kept {
        /// How many.
        connections: u32,
    },
}
