//! See `wirelab_fuzz::capture`.
#![cfg_attr(fuzzing, no_main)]

wirelab_fuzz::target!(wirelab_fuzz::capture::check);
