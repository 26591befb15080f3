//! Echo over TCP and over UDP: the references for protocols that run over them. Neither is an application protocol.

mod tcp;
mod udp;

pub use tcp::RawTcp;
pub use udp::RawUdp;
