//! Counts from which a plan estimates the time of an exchange. No measured figure uses them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What the time of an exchange follows from, in addition to its link and its workload. For estimates before a run: what is measured needs none of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timing {
    /// Round trips with every setting at its default.
    pub round_trips: RoundTrips,
    /// What other settings change of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<RoundTripChange>,
    /// True if a connection carries one exchange at a time.
    pub sequential: bool,
    /// Flow control above the transport's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow_control: Option<FlowControl>,
    /// The setting with the size of the blocks in which a body is carried, a round trip each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_setting: Option<String>,
    /// The setting, in milliseconds, with the time until the first retransmission.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timer_setting: Option<String>,
    /// The longest body that a new connection carries before the server has said what it takes; a longer one waits a round trip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unannounced_bytes: Option<u64>,
    /// Congestion control of its transport; absent if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion: Option<CongestionControl>,
    /// What its ends do of their own accord when nothing is sent for long.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timers: Vec<Timer>,
    /// IP bytes, up and down, that a new connection takes before its first request: with the certificate and the settings that an endpoint has by default, over IPv4, without losses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opening_bytes: Option<[u32; 2]>,
    /// After how long without progress its client gives up opening a connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opening_limit: Option<Length>,
    /// After how long without an answer the first packet of a new connection is retransmitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opening_timer: Option<Length>,
    /// The smallest UDP payload that a path has to carry, without which no connection opens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least_datagram_bytes: Option<u32>,
}

/// A length of time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Length {
    /// The setting that has it, in the setting's unit; or what has it, in words, if it is fixed.
    pub name: String,
    /// It, if no setting has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed_ns: Option<u64>,
}

/// A silence after which an end does something of its own accord.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Timer {
    /// The setting with its length, in the setting's unit, of which 0 turns it off; or words, if its length is fixed.
    pub name: String,
    /// Its length, if no setting has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed_ns: Option<u64>,
    /// It runs out so often in the length that the setting says.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub times: u32,
    /// The setting that turns it off if it is on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unless: Option<String>,
    /// The setting without which it does not run; the connection policy `resumed` turns it on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only_with: Option<String>,
    /// What the end does.
    pub kind: TimerKind,
}

/// What an end does after a silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimerKind {
    /// It sends something on its connection.
    Probes,
    /// It sends something on its connection, and without an answer it ends that before the next message would.
    Asks,
    /// It ends its connection.
    Closes,
    /// It forgets what the next connection would resume.
    Forgets,
}

const fn once() -> u32 {
    1
}

const fn is_once(times: &u32) -> bool {
    *times == 1
}

/// What one connection reaches under random loss depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CongestionControl {
    /// The setting with the algorithm's name; absent if the kernel's TCP has it, whose algorithm the experiment names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setting: Option<String>,
    /// Application bytes of a full packet.
    pub packet_bytes: u32,
    /// The setting without which packets are smaller, and how many bytes they then carry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discovery: Option<PacketDiscovery>,
    /// Constants of each algorithm, with their source.
    pub constants: BTreeMap<String, String>,
}

/// A setting that finds the largest packet of a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PacketDiscovery {
    /// The setting, which is on or off.
    pub setting: String,
    /// Application bytes of a full packet if it is off.
    pub packet_bytes: u32,
}

/// Round trips of each part of an exchange on a new connection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoundTrips {
    /// Handshake of the transport.
    pub transport: u32,
    /// Handshake of its security, as far as it comes after the transport's.
    pub security: u32,
    /// What the protocol says before the first request.
    pub session: u32,
    /// A short request and its answer; 0 without an answer.
    pub request: u32,
}

/// Round trips of one part if a setting has a value other than its default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoundTripChange {
    /// The setting.
    pub setting: String,
    /// Its value.
    pub value: Value,
    /// The part of an exchange.
    pub part: RoundTripPart,
    /// What it then takes.
    pub round_trips: u32,
}

/// A field of [`RoundTrips`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RoundTripPart {
    /// [`RoundTrips::transport`].
    Transport,
    /// [`RoundTrips::security`].
    Security,
    /// [`RoundTrips::session`].
    Session,
    /// [`RoundTrips::request`].
    Request,
}

/// How much may be on its way before the receiver allows more. Each setting is in bytes unless it counts streams; a word leaves it as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowControl {
    /// Of an exchange by default; absent if it is wide enough to be no limit. A page's is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_window_bytes: Option<u64>,
    /// Settings that limit an exchange.
    pub stream_settings: Vec<String>,
    /// Settings that limit a connection.
    pub connection_settings: Vec<String>,
    /// The setting that limits how many exchanges a connection carries at a time.
    pub streams_setting: String,
}
