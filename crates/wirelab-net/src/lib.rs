//! The kernel side of Wirelab: namespaces, AF_PACKET on veth, the loop that drives [`link`], the packet log.
//!
//! This is the only crate with `unsafe` or raw system calls. It knows no experiment and no protocol above IP, and prints nothing.
//!
//! Time here is CLOCK_MONOTONIC; the kernel stamps packets with CLOCK_REALTIME and [`clock`] maps one to the other.

pub mod awake;
pub mod clock;
pub mod counters;
pub mod cpu_quota;
mod error;
pub mod icmp;
pub mod link_loop;
mod log_sink;
pub mod memory;
pub mod namespace;
pub mod pid_namespace;
pub mod process;
mod report;
mod ring;
pub mod scheduling;
mod send_ring;
mod shared_ring;
pub mod slot;
mod sock_diag;
pub mod socket;
pub mod stamped;
pub mod topology;

pub use error::{Context, Error};
pub use log_sink::{Backlog, LogSink, LogThread};
pub use report::{BUCKETS, DirectionCounts, Histogram, SlotReport};
pub use sock_diag::destroy_sockets;
pub use wirelab_link as link;
