use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the connections of a trial announced of their settings and what the other end made of it, as one source saw it: a capture, or an endpoint
/// of ours by itself (`settings-seen.json` in its folder).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingsSeen {
    /// The trial's folder, as given on the command line; absent in an endpoint's own file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<String>,
    /// Connections that were read.
    pub connections: u64,
    /// Connections that could not be opened for want of a secret.
    pub sealed: u64,
    /// Connections of QUIC whose handshake did not end: at least one end sent nothing behind it.
    pub unfinished: u64,
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
    /// Smallest and largest that the other end said it took, or that was granted again; null where nothing tells.
    pub effective: Option<[u64; 2]>,
    /// The most that the other end used of it at once; null where nothing tells.
    pub used: Option<u64>,
}
