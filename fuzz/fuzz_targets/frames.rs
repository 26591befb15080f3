//! See `wirelab_fuzz::frames`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| wirelab_fuzz::frames::check(bytes));
