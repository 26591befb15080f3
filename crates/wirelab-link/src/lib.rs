//! The link emulator, sans-IO: packets and instants in, packets and instants out.
//!
//! A [`LinkSpec`](spec::LinkSpec) describes a link. It builds a [`Link`]: two [`Chain`]s of [`Impairment`]s and the [shared](impairment::shared) stages.
//! [`LinkFacts`](facts::LinkFacts) are what is known of it beforehand. This crate reads no clock, starts no thread, does no I/O and draws only from
//! generators that it is given a [`Seed`] for: `wirelab-net` owns the time and the packets' way in and out.

mod chain;
mod error;
pub mod facts;
pub mod impairment;
mod instant;
mod link;
pub mod netem;
mod packet;
pub mod queue;
mod random;
mod resting;
pub mod spec;

pub use chain::Chain;
pub use error::ParameterError;
pub use impairment::{Counters, IMPAIRMENTS, Impairment, SHARED};
pub use instant::Instant;
pub use link::Link;
pub use packet::{Carries, Direction, DropCause, Dropped, Ends, Flow, Packet, PortId, TcpFlags, Transport};
pub use random::{Probability, Seed};
pub use resting::{Busy, Resting};
