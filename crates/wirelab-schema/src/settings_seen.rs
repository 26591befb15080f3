//! Protocol settings as they were announced and used on connections.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the connections of an endpoint of ours announced of their settings, both ends of them, and what the other end made of it
/// (`settings-seen.json` in the endpoint's folder).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingsSeen {
    /// Connections that were read. One of QUIC counts once both ends have sent something after their handshakes.
    pub connections: u64,
    /// What the client announced, by the setting's name.
    pub client: BTreeMap<String, SettingSeen>,
    /// What the server announced, by the setting's name.
    pub server: BTreeMap<String, SettingSeen>,
}

/// One setting of one end, over all connections, in the setting's own unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingSeen {
    /// Smallest and largest that was announced; what the protocol takes for granted where nothing was.
    pub announced: Option<[u64; 2]>,
    /// Smallest and largest that the other end said it used, or that was granted again; null if unknown.
    pub effective: Option<[u64; 2]>,
    /// Maximum that the other end used of it at one time; null if unknown.
    pub used: Option<u64>,
}
