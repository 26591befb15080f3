//! The host, its link process and its trials, in real namespaces.

mod bursts;
mod captures;
mod families;
mod library;
mod lifetime;
mod limits;
mod machine;
mod mqtt;
mod netem;
mod restarts;
mod rests;
mod roles;
mod support;
mod topologies;
mod traffic;
mod trials;
mod usage;
