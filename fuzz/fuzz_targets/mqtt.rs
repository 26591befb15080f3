//! See `wirelab_fuzz::mqtt`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| wirelab_fuzz::mqtt::check(bytes));
