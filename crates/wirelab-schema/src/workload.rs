//! Workloads: what the endpoints of a trial do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{PageLoads, WaitKind};

/// What the endpoints of a trial do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum WorkloadSpec {
    /// A client sends requests, a server answers each. `upload_bytes` > 0 is a POST with that body, otherwise a GET whose answer has
    /// `download_bytes` of body (a POST's answer has them too). Echo protocols send `upload_bytes` and receive as many as they sent.
    RequestResponse(RequestResponse),
    /// A client hands readings over, one in each exchange, which ends when the client knows that the server's application has it: `request-response`
    /// with an acknowledgement as its answer. `docs/concepts/equal-work.md` says what acknowledges in each protocol.
    Telemetry(Telemetry),
    /// Clients wait for the changes of a state and receive each. There is a row for each message and subscriber: `start_ns` is when it was
    /// published and `end_ns` when the subscriber's application had it, both on the machine's one clock.
    #[serde(rename = "pubsub")]
    PubSub(PubSub),
    /// `pubsub` at a steady rate with larger messages, as of a medium that a player buffers.
    Stream(Stream),
    /// A client loads a page with all its resources, which it comes to know of as the bytes arrive. A row is one load, which ends with the last
    /// byte of the last resource; each resource has a [`ResourceTiming`](crate::ResourceTiming).
    Page(PageLoads),
}

impl From<RequestResponse> for WorkloadSpec {
    fn from(workload: RequestResponse) -> Self {
        WorkloadSpec::RequestResponse(workload)
    }
}

impl From<Telemetry> for WorkloadSpec {
    fn from(workload: Telemetry) -> Self {
        WorkloadSpec::Telemetry(workload)
    }
}

impl From<PubSub> for WorkloadSpec {
    fn from(workload: PubSub) -> Self {
        WorkloadSpec::PubSub(workload)
    }
}

impl From<Stream> for WorkloadSpec {
    fn from(workload: Stream) -> Self {
        WorkloadSpec::Stream(workload)
    }
}

impl From<PageLoads> for WorkloadSpec {
    fn from(workload: PageLoads) -> Self {
        WorkloadSpec::Page(workload)
    }
}

/// Parameters of `request-response`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestResponse {
    /// Request body size.
    pub upload_bytes: u64,
    /// Response body size. Several sizes need GET: a POST does not say which exchange it is.
    pub download_bytes: DownloadBytes,
    /// How many exchanges each client performs.
    pub exchanges: u32,
    /// Independent clients in the one process, each with its own arrival process, concurrency, connections and sessions. Those after the first
    /// begin `fixed`, `periodic` and `bursts` at a phase drawn from the seed.
    #[serde(default = "one")]
    pub clients: u32,
    /// When exchanges are meant to start.
    pub arrival: ArrivalSpec,
    /// Maximum number of concurrent exchanges of a client. An open-loop exchange that finds all places taken starts late; its intended start is kept.
    pub concurrency: u32,
    /// An exchange that has not completed by then, counted from its start, ends with the outcome `timed-out`.
    pub timeout_ns: u64,
    /// Which connection an exchange uses.
    pub connection: ConnectionPolicy,
    /// What a client is on; absent, an ideal machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<Device>,
    /// What a client does with a message that failed, in an open loop with a `concurrency` of 1; absent, it is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    /// The request of every exchange; absent, those that built-in servers answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<OwnRequest>,
}

/// A request of the user's own, of HTTP or CoAP. Every response with a status of success is right, whatever its body. The built-in server answers it
/// with `download_bytes`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnRequest {
    /// The method, such as `PUT`.
    pub method: String,
    /// Path and query, such as `/api/items?first=1`.
    pub target: String,
    /// Header fields of HTTP, in their order. Of CoAP only `content-format`, with a number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<(String, String)>,
    /// The body in base64, of `upload_bytes`; empty without one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
}

/// Sizes of the responses' bodies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum DownloadBytes {
    /// All alike.
    Alike(u64),
    /// Exchanges of a client take them in turn: the one with index `i` the size at `i` modulo their number.
    InTurn(Vec<u64>),
}

impl DownloadBytes {
    /// Every size, in the order in which they are taken.
    pub fn sizes(&self) -> &[u64] {
        match self {
            DownloadBytes::Alike(size) => std::slice::from_ref(size),
            DownloadBytes::InTurn(sizes) => sizes,
        }
    }

    /// That of one exchange; 0 if there are no sizes.
    pub fn of(&self, index: u32) -> u64 {
        let sizes = self.sizes();
        sizes.get(index as usize % sizes.len().max(1)).copied().unwrap_or(0)
    }

    /// The largest; 0 if there are none.
    pub fn largest(&self) -> u64 {
        self.sizes().iter().copied().max().unwrap_or(0)
    }
}

impl From<u64> for DownloadBytes {
    fn from(size: u64) -> Self {
        DownloadBytes::Alike(size)
    }
}

/// Parameters of `telemetry`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Telemetry {
    /// Size of a reading, at least 1.
    pub message_bytes: u64,
    /// How many readings each client hands over.
    pub exchanges: u32,
    /// As in [`RequestResponse`].
    #[serde(default = "one")]
    pub clients: u32,
    /// When exchanges are meant to start.
    pub arrival: ArrivalSpec,
    /// As in [`RequestResponse`].
    pub concurrency: u32,
    /// As in [`RequestResponse`].
    pub timeout_ns: u64,
    /// Which connection an exchange uses.
    pub connection: ConnectionPolicy,
    /// What a client is on; absent, an ideal machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<Device>,
    /// What a client does with a message that failed, in an open loop with a `concurrency` of 1; absent, it is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    /// Where every reading goes, and what it says; absent, what built-in brokers take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub publish: Option<OwnMessage>,
}

/// A message of the user's own, of MQTT or AMQP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnMessage {
    /// The topic of MQTT, or the address of AMQP as the broker knows it.
    pub topic: String,
    /// The body in base64, of `message_bytes`; empty, it is the endpoints' key stream.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
}

/// Parameters of `pubsub`.
///
/// A message begins with its index (u32) and the nanoseconds of CLOCK_MONOTONIC at which it was published (u64), both big endian; the rest is the
/// endpoints' key stream. Publishing begins when all subscribers wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PubSub {
    /// Size of a message, at least 12.
    pub message_bytes: u64,
    /// How many messages are published.
    pub messages: u32,
    /// Clients that wait, each with its own connection, all in one process; each is sent every message.
    #[serde(default = "one")]
    pub subscribers: u32,
    /// When messages are published: an open loop, never `closed`.
    pub arrival: ArrivalSpec,
    /// A message that a subscriber does not have by then, counted from when it was meant to be published, is `timed-out` for that subscriber.
    pub timeout_ns: u64,
    /// How a subscriber waits.
    #[serde(default, skip_serializing_if = "Wait::is_connected")]
    pub wait: Wait,
}

/// How a subscriber waits for messages. Its first contact is at its start, and publishing begins after that of all; the contacts after it are at a
/// phase drawn from the trial's seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Wait {
    /// It stays connected, and messages come when they are published.
    #[default]
    Connected,
    /// It opens a connection at intervals, takes what waits for it, and closes it. The first contact subscribes and takes nothing.
    CheckIn {
        /// From one contact to the next, more than 0.
        every_ns: u64,
        /// It closes the connection after so long without a message; more than 0 and less than `every_ns`.
        stay_ns: u64,
    },
    /// It keeps its connection open, and asks on it at intervals for what is new. The answer comes at once, also if that is nothing.
    Poll {
        /// From one request to the next, more than 0.
        every_ns: u64,
    },
}

impl Wait {
    /// Whether it is the default.
    pub fn is_connected(&self) -> bool {
        *self == Wait::Connected
    }

    /// Which way it is; `None` for the one that every protocol with subscribers has.
    pub fn way(self) -> Option<WaitKind> {
        match self {
            Wait::Connected => None,
            Wait::CheckIn { .. } => Some(WaitKind::CheckIn),
            Wait::Poll { .. } => Some(WaitKind::Poll),
        }
    }
}

/// Parameters of `stream`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// As in [`PubSub`].
    pub message_bytes: u64,
    /// As in [`PubSub`].
    pub messages: u32,
    /// As in [`PubSub`].
    #[serde(default = "one")]
    pub subscribers: u32,
    /// Messages per second, evenly spaced.
    pub rate_hz: f64,
    /// As in [`PubSub`].
    pub timeout_ns: u64,
    /// What the player buffers: it plays the first message so long after it came, and each later one as long after as it was published later. A
    /// message that is not there then is late.
    pub playout_delay_ns: u64,
}

/// The device of each client: when it begins, how exact its oscillator is, and how long it computes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// A client begins up to so much later than at once, at an instant drawn from the trial's seed.
    pub start_phase_ns: u64,
    /// The most by which a client's oscillator is fast or slow, in billionths (0.001 ppm). Its error is drawn from the trial's seed, and the gaps
    /// between its arrivals have it.
    pub drift_ppb: u32,
    /// How long a client computes for each exchange, before it sends anything of it on its connection.
    pub message_ns: u64,
    /// How long a client computes for each connection, before it opens it.
    pub handshake_ns: u64,
}

/// How a client keeps messages and sends them again.
///
/// Messages that are due wait in order in a backlog, and the client sends one at a time. An attempt that failed or timed out leaves its message at
/// the front, and nothing is sent until the back-off is over: `first_ns` after one failure, `factor_percent` of the one before after each more in a
/// row, at most `longest_ns`. A completed message ends the row. A failed attempt closes a persistent connection, and the next opens another.
///
/// When the arrival process is over, and the time-out of its last message as well, what backs off is given up; what does not is sent until an attempt
/// fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Retry {
    /// The first back-off, more than 0.
    pub first_ns: u64,
    /// Each back-off by the one before, in percent; at least 100.
    pub factor_percent: u32,
    /// The longest back-off, before its jitter; at least the first.
    pub longest_ns: u64,
    /// Each back-off is up to half of this share of it longer or shorter, drawn from the trial's seed; at most 100.
    pub jitter_percent: u32,
    /// A message that is kept for longer, counted from its intended start, is `timed-out`. At least the workload's time-out.
    pub keep_ns: u64,
    /// How many messages a client keeps, besides the one that is under way; at least 1. One more drops the oldest, which is `failed`.
    pub backlog: u32,
}

/// The arrival process of exchanges.
///
/// In an open loop the last exchange is followed by a gap as well: connections stay open until the exchange after it would be due, after `poisson`
/// for a mean gap, after `bursts` until the next burst.
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
    /// Open loop, one exchange in each interval.
    Periodic {
        /// From one exchange to the next, more than 0.
        interval_ns: u64,
        /// Each exchange is due up to half of it earlier or later, drawn from the trial's seed, but never before the first instant; at most the
        /// interval. Those after it are due as without it.
        #[serde(default, skip_serializing_if = "is_zero")]
        jitter_ns: u64,
    },
    /// Open loop, a burst of exchanges in each interval.
    Bursts {
        /// From the beginning of one burst to that of the next, more than 0.
        interval_ns: u64,
        /// Exchanges per second of a burst, evenly spaced from its beginning.
        rate_hz: f64,
        /// Length of a burst: no exchange begins at its end or later. More than 0, at most the interval.
        duration_ns: u64,
    },
    /// One exchange after another, each from an idle link: before each but the first the client asks the link to rest
    /// ([`RestRequest`](crate::RestRequest)) until an interval has passed on its clock since the one before began. The clients' and servers' own clocks
    /// do not jump. For one client with one exchange at a time.
    IdleStart {
        /// From one exchange to the next on the link's clock, more than 0.
        interval_ns: u64,
    },
}

/// Which connection an exchange uses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "policy", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ConnectionPolicy {
    /// A new connection for each exchange; its set-up is part of the exchange.
    New,
    /// A new connection for each exchange that resumes the TLS or QUIC session of the one before. Each client's first connection, which gets the
    /// session, carries nothing and is not recorded.
    Resumed,
    /// `connections` connections, opened when first needed and kept; exchanges take turns on them. A connection that breaks is opened anew.
    Persistent {
        /// How many.
        connections: u32,
    },
}

fn one() -> u32 {
    1
}

pub(crate) fn is_zero(number: &u64) -> bool {
    *number == 0
}
