//! The buffers before a rate.

mod drop_tail;

pub use drop_tail::DropTail;
