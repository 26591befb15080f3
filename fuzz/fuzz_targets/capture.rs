//! See `wirelab_fuzz::capture`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| wirelab_fuzz::capture::check(bytes));
