//! The types that cross the border between Wirelab's data plane (Rust) and its control plane (Python).
//!
//! They are the source of truth: the JSON Schemas in `schema/` are generated from them and the Python side is checked against those. Links are
//! described by `wirelab-link`, where each impairment's file has its description. There is no behaviour here beyond (de)serialisation. Every quantity carries its unit in its name: `_ns` nanoseconds, `_bytes` octets, `_bps` bits per
//! second, `_hz` events per second; probabilities are fractions in `[0, 1]`.

mod capture;
mod confirmation;
mod describe;
mod endpoint;
mod exchange;
mod host;
mod link;
mod link_report;
mod packet_log;
mod page;
mod probe;
mod rest;
mod settings_seen;
mod timing;
mod traffic;
mod workload;

pub use capture::*;
pub use confirmation::*;
pub use describe::*;
pub use endpoint::*;
pub use exchange::*;
pub use host::*;
pub use link::*;
pub use link_report::*;
pub use packet_log::*;
pub use page::*;
pub use probe::*;
pub use rest::*;
pub use settings_seen::*;
pub use timing::*;
pub use traffic::*;
pub use workload::*;

/// Version of everything in this crate taken together; part of every scenario's key, so a change re-runs what it could affect.
pub const SCHEMA_VERSION: u32 = 1;
