//! See `wirelab_fuzz::link_text`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| wirelab_fuzz::link_text::check(bytes));
