//! The link emulator, sans-IO: packets and instants in, packets and instants out.
//!
//! A [`Link`] is two [`Chain`]s of [`Impairment`]s and the stages that they share: a [`Medium`](impairment::Medium), the client's
//! [`Radio`](impairment::Radio), a [`Nat`](impairment::Nat). This crate reads no clock, starts no thread, does no I/O and draws only from generators
//! that it is given a [`Seed`] for: `wirelab-net` owns the time and the packets' way in and out.

mod chain;
mod error;
pub mod impairment;
mod instant;
mod link;
mod packet;
pub mod queue;
mod random;

pub use chain::Chain;
pub use error::ParameterError;
pub use impairment::{Counters, IMPAIRMENTS, Impairment, SHARED};
pub use instant::Instant;
pub use link::Link;
pub use packet::{Direction, DropCause, Dropped, Flow, Packet, PortId, Transport};
pub use random::{Probability, Seed};
