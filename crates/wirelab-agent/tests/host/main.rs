//! The host, its link process and its trials, in real namespaces.

mod captures;
mod families;
mod library;
mod lifetime;
mod limits;
mod machine;
mod mqtt;
mod netem;
mod roles;
mod support;
mod throughput;
mod topologies;
mod traffic;
mod trials;
mod usage;
