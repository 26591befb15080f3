//! The link emulator, sans-IO: packets and instants in, packets and instants out.
//!
//! A [`Link`] is two chains of [`Impairment`]s and perhaps a [`Medium`] they share. This crate reads no clock, starts no thread, does no I/O
//! and draws only from generators that it is given a seed for: `wirelab-net` owns the time and the packets' way in and out.

pub mod impairment;
mod instant;
mod packet;

pub use instant::Instant;
pub use packet::{Dropped, DropCause, Packet, PortId};
