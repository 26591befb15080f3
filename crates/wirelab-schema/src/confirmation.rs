//! What a link's packet log says of the exchanges that a client calls complete.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The client whose exchanges are compared with the packets of the trial's first link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfirmRequest {
    /// Its parameter file, which says its protocol, its workload and where its rows are.
    pub parameters: PathBuf,
    /// How far the instants in its rows may lie from those of CLOCK_MONOTONIC.
    #[serde(default)]
    pub stamp_tolerance_ns: u64,
    /// The instants at which a server of Wirelab's own had each whole message, as it writes them when it ends; it answers only then. Absent if another
    /// serves, which may answer before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received: Option<PathBuf>,
}

/// What the packets say of the exchanges that a client calls complete (`docs/reference/confirmed.md`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Confirmation {
    /// Exchanges that were compared with the packets.
    pub checked: u32,
    /// Those of them that the packets do not confirm, in order of their ends.
    pub not_confirmed: Vec<NotConfirmed>,
    /// Why other exchanges, or all, were not compared; null if all were.
    #[serde(default)]
    pub not_checked: Option<String>,
    /// Why the client's rows cannot be read. Nothing confirms its exchanges then, and the trial fails.
    #[serde(default)]
    pub unread: Option<String>,
    /// Messages that were sent and that nothing answers, as far as they were compared with the packets.
    #[serde(default)]
    pub sent: u32,
    /// Those of them whose bytes the link had delivered when the trial ended.
    #[serde(default)]
    pub arrived: u32,
}

/// An exchange that its client calls complete, and that the packets do not confirm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NotConfirmed {
    /// Which of the trial's clients or subscribers.
    pub client: u32,
    /// Its position among those of its client.
    pub index: u32,
    /// What the packets lack, in one line.
    pub reason: String,
}
