//! Pages: the workload's parameters, the manifest, and rows of loaded resources.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Outcome;
use crate::workload::is_zero;

/// Parameters of `page`: one client loads a page as a browser with an empty cache does, one load after another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PageLoads {
    /// How many, at least 1.
    pub loads: u32,
    /// A load that is not complete by then, counted from its start, ends with the outcome `timed-out`.
    pub timeout_ns: u64,
    /// How long each request waits before it is sent, and holds its connection if it shares that with none: what a browser's developer tools add. A
    /// push is not requested, and waits for nothing.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub request_delay_ns: u64,
    /// Which page.
    pub page: PageIdentity,
}

/// What tells pages apart, and how much there is of one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PageIdentity {
    /// For people.
    pub name: String,
    /// SHA-256 of the manifest, and with it of every body, in lower-case hexadecimal digits.
    pub sha256: String,
    /// Resources, with the document.
    pub resources: u32,
    /// Of all bodies, without any coding of content.
    pub body_bytes: u64,
}

/// Where the endpoints of `page` find it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PageFiles {
    /// Its [`PageManifest`], a JSON file; absolute.
    pub manifest: PathBuf,
    /// Folder of its resources' files, each at the resource's path without query, percent-decoded; absolute. A client reads the manifest alone.
    pub folder: PathBuf,
}

/// What a page is made of, written by the control plane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PageManifest {
    /// Of the manifest's own format: 1.
    pub schema_version: u32,
    /// The document first, each other behind its parent, in the order of discovery.
    pub resources: Vec<PageResource>,
    /// What the page names and is never fetched.
    #[serde(default)]
    pub left_out: Vec<PageLeftOut>,
}

/// One answer that a page needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PageResource {
    /// Path and query as a request has them: percent-encoded, from the root.
    pub path: String,
    /// Size of the body.
    pub body_bytes: u64,
    /// Of the body, in lower-case hexadecimal digits.
    pub sha256: String,
    /// Of the body, for `content-type`.
    pub media_type: String,
    /// What it is used as, whatever its name says.
    pub kind: ResourceKind,
    /// Index of the resource that names it; null for the page's document.
    #[serde(default)]
    pub parent: Option<u32>,
    /// It is known as soon as so many bytes of the parent's body have arrived.
    #[serde(default)]
    pub at_bytes: u64,
    /// Rendering cannot begin before it is there.
    #[serde(default)]
    pub blocking: bool,
}

/// What a resource is used as: a browser's priorities go by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ResourceKind {
    /// The page's, or a frame's.
    Document,
    /// CSS.
    Stylesheet,
    /// JavaScript.
    Script,
    /// A picture of the page or of a stylesheet.
    Image,
    /// Of a stylesheet.
    Font,
    /// Anything else.
    Other,
}

/// A URL that a page names and that is not among its resources.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PageLeftOut {
    /// As resolved.
    pub url: String,
    /// Index of the resource that names it.
    pub parent: u32,
    /// Why.
    pub why: LeftOutReason,
}

/// Why what a page names is not among its resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LeftOutReason {
    /// Its URL names a host, or a scheme other than HTTP.
    Elsewhere,
    /// Video, audio, tracks, plug-ins: how much of them is fetched is up to a player.
    Embedded,
}

/// One resource of one page load as its client saw it: a row of `resources.arrow` (same names, same order) or a line of `resources.jsonl`.
///
/// Instants are nanoseconds of CLOCK_MONOTONIC. A phase that did not happen or was not seen is null, never 0. A resource that the load ended
/// without wanting has no row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ResourceTiming {
    /// Index of the load.
    pub exchange: u32,
    /// As in [`Exchange`](crate::Exchange).
    pub client: u32,
    /// Index in the manifest, once for each; null for a response that the load has no use for: a push of a path that the page does not have, of
    /// one that was asked for already, or that broke off.
    pub resource: Option<u32>,
    /// Path and query as requested or promised.
    pub path: String,
    /// How the client came to want it.
    pub found_by: FoundBy,
    /// When the client knew that it wants it (W3C Resource Timing, `fetchStart`).
    pub discovered_ns: u64,
    /// Number of the connection within the load, from 0 in the order in which they were begun; null if it never had one.
    pub connection: Option<u32>,
    /// The connection had carried another request of the load.
    pub connection_reused: bool,
    /// When the connection was begun; this and the next two only of the first request on it. It may have been begun for another, before this was
    /// discovered.
    pub connect_start_ns: Option<u64>,
    /// TCP connection established.
    pub tcp_connect_ns: Option<u64>,
    /// TLS or QUIC handshake done.
    pub handshake_ns: Option<u64>,
    /// First byte of the request handed to the transport; null for a push.
    pub request_start_ns: Option<u64>,
    /// First byte of any response, including a 1xx one, as in [`Exchange`](crate::Exchange).
    pub first_response_byte_ns: Option<u64>,
    /// Last byte of the response, or the instant at which it timed out.
    pub end_ns: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// Why it did not complete, in one line.
    pub error: Option<String>,
    /// Status code of the final response.
    pub status: Option<u16>,
    /// Body bytes received.
    pub body_received_bytes: u64,
    /// The server pushed it (RFC 9113, section 8.4).
    pub pushed: bool,
    /// Urgency of the request, 0 to 7 (RFC 9218, section 4.1), as sent.
    pub urgency: Option<u8>,
    /// Whether the request said that it can be processed incrementally (RFC 9218, section 4.2), as sent.
    pub incremental: Option<bool>,
}

/// How the client of a page came to want a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FoundBy {
    /// It is the page.
    #[default]
    Navigation,
    /// So much of its parent's body had arrived that names it.
    Body,
    /// A `Link` field named it (RFC 8288, `rel=preload`).
    Hint,
    /// The server promised to push it.
    Push,
}
