//! See `wirelab_fuzz::packet_log`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| wirelab_fuzz::packet_log::check(bytes));
