//! See `wirelab_fuzz::coap`.
#![cfg_attr(fuzzing, no_main)]

wirelab_fuzz::target!(wirelab_fuzz::coap::check);
