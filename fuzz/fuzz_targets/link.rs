//! See `wirelab_fuzz::link`.
#![cfg_attr(fuzzing, no_main)]

wirelab_fuzz::target!(wirelab_fuzz::link::check);
