//! See `wirelab_fuzz::settings`.
#![cfg_attr(fuzzing, no_main)]

wirelab_fuzz::target!(wirelab_fuzz::settings::check);
