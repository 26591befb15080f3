//! One exchange as its client saw it: the columns of every workload, and an extension of each. No behaviour but access.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::WorkloadSpec;

/// One exchange as its client saw it: a row of `exchanges.arrow` (same names, same order) or a line of `exchanges.jsonl`.
///
/// These columns are in the rows of every workload. Behind them stand those of the workload's extension, flat in the same row: `exchange-request` of
/// `request-response` and `telemetry`, `exchange-message` of `pubsub` and `stream`, `exchange-page` of `page`. A column of another workload is an
/// error.
///
/// Instants are nanoseconds of CLOCK_MONOTONIC. A phase that did not happen (no name lookup; TCP connect over QUIC or on a persistent connection) or
/// was not seen (a third-party client that does not report it) is null, never 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Exchange {
    /// Position in the trial among those of its client, from 0; of `pubsub` and `stream` the message's, of `page` the load's.
    pub index: u32,
    /// Which of the trial's clients or subscribers, from 0.
    pub client: u32,
    /// When the arrival process wanted it to start; equals `start_ns` in a closed loop.
    pub intended_start_ns: u64,
    /// When it started.
    pub start_ns: u64,
    /// Name lookup done.
    pub name_lookup_ns: Option<u64>,
    /// TCP connection established.
    pub tcp_connect_ns: Option<u64>,
    /// TLS or QUIC handshake done (keys for application data available).
    pub handshake_ns: Option<u64>,
    /// First byte of the request handed to the transport.
    pub request_start_ns: Option<u64>,
    /// First byte of the request's body handed to the transport.
    pub first_body_sent_ns: Option<u64>,
    /// First byte of any response, including a 1xx one.
    pub first_response_byte_ns: Option<u64>,
    /// First byte of the final response.
    pub first_final_byte_ns: Option<u64>,
    /// Last byte of the final response, or the instant at which it timed out.
    pub end_ns: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// Why it failed or was unsupported, or why its protocol ended it before the workload's time-out, in one line.
    pub error: Option<String>,
    /// Status code of the final response.
    pub status: Option<u16>,
    /// Application body bytes sent.
    pub body_sent_bytes: u64,
    /// Application body bytes received.
    pub body_received_bytes: u64,
    /// The client's local port, which leads from the exchange to its packets.
    pub local_port: Option<u16>,
    /// The exchange used a connection that an earlier one opened.
    pub connection_reused: bool,
    /// The TLS or QUIC session was resumed.
    pub resumed: Option<bool>,
    /// The request was sent in 0-RTT (RFC 8446, section 2.3) and the server took it; null where it was not tried.
    pub early_data: Option<bool>,
    /// Segments or packets this client's transport retransmitted (TCP_INFO `tcpi_total_retrans`) or declared lost (QUIC), for this exchange.
    pub client_retransmissions: Option<u32>,
    /// Smoothed round-trip time at the end (TCP_INFO `tcpi_rtt` or QUIC).
    pub smoothed_rtt_ns: Option<u64>,
    /// The columns of its workload alone.
    #[serde(skip)]
    pub extension: Extension,
}

/// The columns that the rows of a workload have behind those of every workload.
#[derive(Clone, Debug, PartialEq)]
pub enum Extension {
    /// Of `request-response` and `telemetry`.
    Request(RequestExtension),
    /// Of `pubsub` and `stream`.
    Message(MessageExtension),
    /// Of `page`.
    Page(PageExtension),
}

/// Columns of a row of `request-response` or `telemetry`, behind those of every workload.
///
/// What a third-party program reports in its own definition is here, because only a program that runs once for each exchange reports it, and such a
/// program performs these two workloads alone. Places and attempts are here too: only these workloads have a `concurrency` and `retry`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RequestExtension {
    /// curl's `time_starttransfer` for a third-party curl, as curl printed it, from `start_ns`.
    pub curl_starttransfer_ns: Option<u64>,
    /// When the program that performed this exchange alone had ended; null for one that performs several. Its own clock began after `start_ns`, so
    /// all that it says may have happened later than it says, at the latest by now.
    pub program_end_ns: Option<u64>,
    /// When its client had one of the workload's `concurrency` places free for it. After `intended_start_ns` all places were taken; before it, the
    /// place waited for the exchange. Null in a closed loop, where places decide when an exchange starts, and where the client does not say.
    pub place_ns: Option<u64>,
    /// How often its client tried to send the message; 0 if it was given up before. Null without the workload's `retry`. With it, `start_ns` and the
    /// phases are of the last attempt, `end_ns` is also the instant at which the message was dropped or given up, and both are that instant without an
    /// attempt.
    pub attempts: Option<u32>,
}

/// Columns of a row of `pubsub` or `stream`, behind those of every workload.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MessageExtension {
    /// How often the message came, until the subscriber ended: 0 lost, more than 1 duplicated.
    pub copies: Option<u32>,
}

/// Columns of a row of `page`, behind those of every workload.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PageExtension {
    /// Connections that the load opened, or began to.
    pub connections: Option<u32>,
    /// Body bytes of pushed responses that the load received.
    pub pushed_bytes: Option<u64>,
    /// Of those, what the load did not use: of paths that its page does not have, that it had asked for itself, or that were cut off.
    pub wasted_pushed_bytes: Option<u64>,
}

impl Exchange {
    /// Its columns as a row of `request-response` or `telemetry`.
    pub fn request(&self) -> Option<&RequestExtension> {
        match &self.extension {
            Extension::Request(columns) => Some(columns),
            Extension::Message(_) | Extension::Page(_) => None,
        }
    }

    /// Its columns as a row of `pubsub` or `stream`.
    pub fn message(&self) -> Option<&MessageExtension> {
        match &self.extension {
            Extension::Message(columns) => Some(columns),
            Extension::Request(_) | Extension::Page(_) => None,
        }
    }

    /// Its columns as a row of `page`.
    pub fn page(&self) -> Option<&PageExtension> {
        match &self.extension {
            Extension::Page(columns) => Some(columns),
            Extension::Request(_) | Extension::Message(_) => None,
        }
    }
}

impl Extension {
    /// Of a row of this workload, with nothing known yet.
    pub fn of(workload: &WorkloadSpec) -> Self {
        match workload {
            WorkloadSpec::RequestResponse(_) | WorkloadSpec::Telemetry(_) => Extension::default(),
            WorkloadSpec::PubSub(_) | WorkloadSpec::Stream(_) => Extension::Message(MessageExtension::default()),
            WorkloadSpec::Page(_) => Extension::Page(PageExtension::default()),
        }
    }
}

impl Default for Extension {
    fn default() -> Self {
        Extension::Request(RequestExtension::default())
    }
}

/// How an exchange ended. Never averaged away: every figure states how many of each there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The whole final response arrived, with a status of success and the right body.
    Completed,
    /// Its last byte was handed to the transport, and nothing answers it (MQTT QoS 0, AMQP's settled transfers): it has no response time. Whether the
    /// link delivered it is counted when the trial ends ([`Confirmation`](crate::Confirmation)).
    Sent,
    /// It ended with an error.
    #[default]
    Failed,
    /// Ended by the workload's time-out, or by the protocol itself for lack of an answer (`error` says so): a censored value.
    TimedOut,
    /// The endpoint does not do this.
    Unsupported,
    /// Its client says `completed`, and the packets of the link do not confirm it. No endpoint says this: it is found when the trial ends
    /// ([`Confirmation`](crate::Confirmation)), and the trial is then failed.
    NotConfirmed,
}
