//! What carries the protocols: TCP and UDP sockets, TLS, QUIC, and the phases of connecting. It knows no application protocol and no workload.

pub mod lingering;
pub mod quic;
pub mod rest;
pub mod socket;
pub mod stream;
pub mod task;
pub mod tickets;
pub mod tls;
pub mod udp;
