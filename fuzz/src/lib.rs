//! What any bytes may do to the parts of Wirelab that read other people's bytes: a link's description, frames, packet logs, captures, requests,
//! MQTT packets, CoAP messages.
//!
//! Each module has a `check` that panics if it finds something wrong, and `seeds` to begin with. libFuzzer calls the checks from `fuzz_targets/`;
//! the tests call them with the seeds and with what a fixed generator makes of these, so that no target rots.

pub mod capture;
pub mod coap;
pub mod drive;
pub mod frames;
pub mod link;
pub mod link_text;
pub mod mqtt;
pub mod mutate;
pub mod packet_log;
pub mod request;

/// One target: its name, its check and what to begin with.
pub type Target = (&'static str, fn(&[u8]), fn() -> Vec<Vec<u8>>);

/// All.
pub const TARGETS: &[Target] = &[
    ("link", link::check, link::seeds),
    ("link_text", link_text::check, link_text::seeds),
    ("frames", frames::check, frames::seeds),
    ("packet_log", packet_log::check, packet_log::seeds),
    ("capture", capture::check, capture::seeds),
    ("mqtt", mqtt::check, mqtt::seeds),
    ("request", request::check, request::seeds),
    ("coap", coap::check, coap::seeds),
];

#[cfg(test)]
mod tests;
