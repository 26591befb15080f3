//! placeholder

pub mod packet_log;

pub use wirelab_link as link;
