//! See `wirelab_fuzz::frames`.
#![cfg_attr(fuzzing, no_main)]

wirelab_fuzz::target!(wirelab_fuzz::frames::check);
