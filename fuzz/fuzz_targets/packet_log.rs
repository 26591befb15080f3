//! See `wirelab_fuzz::packet_log`.
#![cfg_attr(fuzzing, no_main)]

wirelab_fuzz::target!(wirelab_fuzz::packet_log::check);
