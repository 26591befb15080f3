//! Protocol engines without I/O: bytes and instants in, bytes, events and deadlines out. They read no clock, open no socket and start no task,
//! so that dialogues with them can be played in virtual time. Instants are nanoseconds of the caller's clock.

pub mod coap;
pub mod mqtt;
