//! See `wirelab_fuzz::amqp`.
#![cfg_attr(fuzzing, no_main)]

wirelab_fuzz::target!(wirelab_fuzz::amqp::check);
