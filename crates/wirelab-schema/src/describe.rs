//! What `describe` says of protocols, settings and impairments.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use wirelab_link::impairment::Slot;

use crate::{Role, Timing};

/// What `wirelab-agent describe` prints and `schema/protocols.json` holds: everything registered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Description {
    /// [`SCHEMA_VERSION`](crate::SCHEMA_VERSION).
    pub schema_version: u32,
    /// Registered protocols.
    pub protocols: Vec<ProtocolDescription>,
    /// Registered impairments.
    pub impairments: Vec<ImpairmentDescription>,
    /// Registered stages that both directions of a link share: the media, the radio, the address translation.
    pub shared: Vec<ImpairmentDescription>,
}

/// One protocol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProtocolDescription {
    /// Name, for example `h2`.
    pub name: String,
    /// Layers, for example `HTTP/2 over TLS over TCP`.
    pub title: String,
    /// A paragraph for people: what it is, with the RFC, and what to know before choosing it.
    pub about: String,
    /// Libraries that provide it, with versions.
    pub libraries: Vec<String>,
    /// `tcp` or `udp`.
    pub transport: String,
    /// Port its server listens on by default.
    pub default_port: u16,
    /// True if it encrypts. It then needs certificates if it has the setting `certificate-key`, else both ends share a key.
    pub secure: bool,
    /// True if it has no application protocol and sends back what it is sent: the reference for the others. It needs something to send.
    #[serde(default)]
    pub echo: bool,
    /// Version of HTTP, for example `1.1`; absent if it is another protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_version: Option<String>,
    /// Status of a success; absent if its answers have no status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub success: Option<SuccessStatus>,
    /// Where its messages go; absent if a message names no place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topics: Option<Topics>,
    /// What the time of an exchange follows from.
    pub timing: Timing,
    /// Roles it has.
    pub roles: Vec<Role>,
    /// Workload kinds it can do.
    pub workloads: Vec<String>,
    /// How its subscribers can wait, other than connected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<WaitDescription>,
    /// Settings it takes.
    pub settings: Vec<SettingDescription>,
}

/// Topics or addresses that messages go to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Topics {
    /// What the protocol calls one.
    pub called: String,
    /// Characters that one cannot have.
    pub without: String,
}

/// A way of waiting, in addition to staying connected ([`Wait`](crate::Wait)).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaitDescription {
    /// Which.
    pub by: WaitKind,
    /// What it needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<NeededSetting>,
}

/// The ways of [`Wait`](crate::Wait), other than connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WaitKind {
    /// A connection at intervals.
    CheckIn,
    /// A request at intervals.
    Poll,
}

/// A setting that must have one of some values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NeededSetting {
    /// Its name.
    pub setting: String,
    /// The values, the one to propose first.
    pub values: Vec<Value>,
    /// What they give, in words.
    pub what: String,
}

/// How an answer says that all went well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SuccessStatus {
    /// To a request without a body.
    pub fetched: u16,
    /// To a request with one.
    pub stored: u16,
}

/// One setting of a protocol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SettingDescription {
    /// Key in the experiment file.
    pub name: String,
    /// What it does, with the RFC's name for it.
    pub about: String,
    /// What values it takes.
    pub values: SettingValues,
    /// Value when none is given.
    pub default: Value,
    /// Of a choice: what each word stands for, values of other settings that are left to their default.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stands_for: BTreeMap<String, BTreeMap<String, Value>>,
}

/// The values that a setting takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum SettingValues {
    /// One of these words.
    Choice {
        /// The words.
        choices: Vec<String>,
    },
    /// True or false.
    Boolean,
    /// A whole number.
    Integer {
        /// Smallest.
        minimum: i64,
        /// Largest.
        maximum: i64,
        /// Unit, for example `bytes`; empty for a count.
        unit: String,
        /// Words that may stand in its place.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        words: Vec<String>,
    },
}

/// One kind of impairment or shared stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ImpairmentDescription {
    /// `kind` in an [`ImpairmentSpec`](crate::ImpairmentSpec) or a [`MediumSpec`](crate::MediumSpec); else the key in a [`LinkSpec`](crate::LinkSpec).
    pub kind: String,
    /// A paragraph for people, with the source of the model.
    pub about: String,
    /// Where it stands in a direction's chain unless an experiment says otherwise; `None` of a shared stage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<Slot>,
}
