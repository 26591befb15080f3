//! Sans-IO protocol engines of our own: bytes and instants in, bytes and instants out. No socket, no clock, no task.

pub mod coap;
