//! The parameter file of an endpoint.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{PageFiles, WorkloadSpec};

/// The parameter file of one endpoint (`docs/contract.md`): the only input of an endpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndpointParameters {
    /// [`SCHEMA_VERSION`](crate::SCHEMA_VERSION) of the writer.
    pub schema_version: u32,
    /// Name of the protocol, for example `h2`.
    pub protocol: String,
    /// What this endpoint is.
    pub role: Role,
    /// Where the server listens: for a server its own address, for a client the peer to talk to. Of a proxy its own, which clients take for the
    /// server's.
    pub server: ServerAddress,
    /// The server behind a proxy; absent for other roles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upstream: Option<ServerAddress>,
    /// Settings of the protocol, every one resolved (defaults filled in); keys and units as in `schema/protocols.json`.
    pub settings: BTreeMap<String, Value>,
    /// What to do.
    pub workload: WorkloadSpec,
    /// The page of the workload `page`; absent for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<PageFiles>,
    /// Certificates, for protocols with TLS or QUIC.
    pub certificates: Option<Certificates>,
    /// Folder for everything the endpoint writes: `exchanges.arrow` or `exchanges.jsonl`, of `page` also `resources.arrow` or
    /// `resources.jsonl`, and its temporary files.
    pub output: PathBuf,
    /// Seed for every random draw of the endpoint (arrival gaps, payload); the same for all endpoints of a trial, which check each other's payload.
    pub seed: u64,
}

/// What an endpoint is in its trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Starts exchanges and measures them.
    Client,
    /// Answers them.
    Server,
    /// Of a protocol with a broker: publishes the changes of `pubsub` and `stream` to it, on the server's host. It is started when the client has
    /// said that it is ready.
    Publisher,
    /// Answers clients with what the server behind it (`upstream`) says, on a host of its own between the two.
    Proxy,
}

/// Where the server listens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerAddress {
    /// IPv4 or IPv6 address inside the slot.
    pub address: IpAddr,
    /// TCP or UDP port.
    pub port: u16,
    /// Name in the certificate and in `Host` or `:authority`; never looked up, since no name server runs in a slot.
    pub name: String,
}

/// PEM files of the campaign's own certificate authority and server certificate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Certificates {
    /// Certificate authority, for clients.
    pub authority: PathBuf,
    /// Server certificate chain.
    pub chain: PathBuf,
    /// Server private key, mode 0600.
    pub key: PathBuf,
    /// What clients show a server that asks for a certificate (setting `client-certificate`), of the same authority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientCertificate>,
}

/// PEM files of the clients' certificate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClientCertificate {
    /// Certificate chain.
    pub chain: PathBuf,
    /// Private key, mode 0600.
    pub key: PathBuf,
}

/// What a server prints on stdout, as one line, when it accepts connections, a client of `pubsub` or `stream` when all its subscribers wait, and
/// any other client just before its first exchange.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum EndpointEvent {
    /// Listening.
    Ready {
        /// Port by purpose, for example `{"main": 8443}`; none of a client.
        ports: BTreeMap<String, u16>,
        /// CPU time, user and system, that the process has used so far: the cost of starting.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cpu_ns: Option<u64>,
    },
}
