//! See `wirelab_fuzz::request`.
#![cfg_attr(fuzzing, no_main)]

wirelab_fuzz::target!(wirelab_fuzz::request::check);
