//! The workload `page`: what a client of HTTP fetches for a page and when, as a browser with an empty cache does, and what a server answers.
//!
//! [`Load`] decides and knows no connection; [`load_pages`] carries out what it says over one version of HTTP, which is a [`Fetch`].

mod client;
mod fetch;
pub mod hints;
mod load;
mod manifest;
mod priority;
mod site;

pub use client::load_pages;
pub use fetch::{Fetch, Part};
pub use load::{HTTP1, HTTP2, HTTP3, Rules};
pub use priority::Priority;
pub use site::Site;

/// What a client grants a stream: Chromium's `kSpdyStreamMaxRecvWindowSize` and `kQuicStreamMaxRecvWindowSize`.
pub const STREAM_WINDOW_BYTES: u32 = 6 << 20;
/// And a connection: Chromium's `kSpdySessionMaxRecvWindowSize` and `kQuicSessionMaxRecvWindowSize`.
pub const CONNECTION_WINDOW_BYTES: u32 = 15 << 20;
/// Requests that a server takes at once on a connection: nginx's `http2_max_concurrent_streams`, unless it is configured otherwise.
pub const CONCURRENT_STREAMS: u32 = 128;
