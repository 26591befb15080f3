//! See `wirelab_fuzz::mqtt`.
#![cfg_attr(fuzzing, no_main)]

wirelab_fuzz::target!(wirelab_fuzz::mqtt::check);
