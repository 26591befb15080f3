//! See `wirelab_fuzz::coap`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| wirelab_fuzz::coap::check(bytes));
