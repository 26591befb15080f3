//! Dialogues of a client and a server in virtual time.

mod blocks;
mod messages;
mod observing;
mod pair;
mod pings;
mod streams;
