//! See `wirelab_fuzz::request`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| wirelab_fuzz::request::check(bytes));
