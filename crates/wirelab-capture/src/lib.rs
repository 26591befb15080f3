//! Bytes of others to packets: packet logs, captures, flows, dissection, what bytes were spent on, replay.
//!
//! It opens no socket, reads no clock, prints nothing and has no `unsafe`: any bytes are read or refused, and none make it panic.
//!
//! `wirelab-net` depends on it and not the reverse: the loop writes the packet log and the captures that are read here, and names a packet's flow as
//! a replay does, so that each format and the flow's hash stand in one place.

#![forbid(unsafe_code)]

pub mod capture;
pub mod confirm;
pub mod dissect;
pub mod flow;
mod fragments;
pub mod icmp;
pub mod ledger;
pub mod log_file;
pub mod packet_log;
pub mod pcapng;
pub mod private_file;
pub mod replay;
pub mod rest;
pub mod translation;

pub use wirelab_link as link;
