//! See `wirelab_fuzz::link`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| wirelab_fuzz::link::check(bytes));
