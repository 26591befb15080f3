//! See `wirelab_fuzz::link_text`.
#![cfg_attr(fuzzing, no_main)]

wirelab_fuzz::target!(wirelab_fuzz::link_text::check);
