//! What any bytes may do to the parts of Wirelab that read other people's bytes: a link's description, frames, packet logs, captures, requests,
//! MQTT packets, CoAP messages, AMQP frames, settings in force.
//!
//! Each module has a `check` that panics if it finds something wrong, and `seeds` to begin with. libFuzzer calls the checks from `fuzz_targets/`;
//! the tests call them with the seeds and with what a fixed generator makes of these, so that no target rots.

pub mod amqp;
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
pub mod settings;

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
    ("amqp", amqp::check, amqp::seeds),
    ("settings", settings::check, settings::seeds),
];

/// What libFuzzer calls, or, built without cargo-fuzz, a program that checks the files that its arguments name: so an
/// input that was found can be looked at again, and no target fails to compile unnoticed.
#[macro_export]
macro_rules! target {
    ($check:path) => {
        #[cfg(fuzzing)]
        libfuzzer_sys::fuzz_target!(|bytes: &[u8]| $check(bytes));

        #[cfg(not(fuzzing))]
        fn main() -> std::io::Result<()> {
            std::env::args_os().skip(1).try_for_each(|path| std::fs::read(path).map(|bytes| $check(&bytes)))
        }
    };
}

#[cfg(test)]
mod tests;
