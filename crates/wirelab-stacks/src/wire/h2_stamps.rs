//! Phases of HTTP/2 exchanges, read from their frames. It changes none.

use std::collections::HashMap;

use wirelab_schema::Exchange;

use crate::wire::h2_frames::{DATA, Frames, HEADERS};
use crate::wire::tap::Observer;

/// When the frames of each stream passed, read off a client's HTTP/2 connection (RFC 9113, section 4.1). Of the HEADERS frames received before any
/// DATA the last is the final response; those before it are interim (section 8.1).
pub struct H2Stamps {
    written: Frames,
    read: Frames,
    streams: HashMap<u32, Stream>,
}

#[derive(Default)]
struct Stream {
    request_start_ns: Option<u64>,
    first_body_ns: Option<u64>,
    body_bytes: u64,
    first_response_ns: Option<u64>,
    final_response_ns: Option<u64>,
    body_came: bool,
}

impl H2Stamps {
    /// For a connection before its preface.
    pub fn new() -> Self {
        H2Stamps { written: Frames::from_preface(), read: Frames::default(), streams: HashMap::new() }
    }

    /// Moves the stamps of a stream into the row.
    pub fn take(&mut self, stream: u32, exchange: &mut Exchange) {
        let stamps = self.streams.remove(&stream).unwrap_or_default();
        exchange.request_start_ns = stamps.request_start_ns;
        exchange.first_body_sent_ns = stamps.first_body_ns;
        exchange.body_sent_bytes = stamps.body_bytes;
        exchange.first_response_byte_ns = stamps.first_response_ns;
        exchange.first_final_byte_ns = stamps.final_response_ns;
    }
}

impl Observer for H2Stamps {
    fn written(&mut self, bytes: &[u8], now_ns: u64) {
        self.written.advance(bytes, |frame, part| match frame.kind {
            HEADERS => {
                self.streams.entry(frame.stream).or_default().request_start_ns.get_or_insert(now_ns);
            }
            DATA if !part.is_empty() => {
                let stamps = self.streams.entry(frame.stream).or_default();
                stamps.first_body_ns.get_or_insert(now_ns);
                stamps.body_bytes += part.len() as u64;
            }
            _ => {}
        });
    }

    fn read(&mut self, bytes: &[u8], now_ns: u64) {
        self.read.advance(bytes, |frame, part| {
            // A stream that was given up is no longer there.
            let Some(stamps) = self.streams.get_mut(&frame.stream) else { return };
            match frame.kind {
                HEADERS if part.is_empty() && !stamps.body_came => {
                    stamps.first_response_ns.get_or_insert(now_ns);
                    stamps.final_response_ns = Some(now_ns);
                }
                DATA => stamps.body_came = true,
                _ => {}
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::h2_frames::{PREFACE, SETTINGS};

    fn frame(kind: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
        crate::wire::h2_frames::frame(kind, 0, stream, payload)
    }

    fn stamps(cut: usize) -> [Exchange; 2] {
        let mut stamps = H2Stamps::new();
        let sent = [
            PREFACE.to_vec(),
            frame(SETTINGS, 0, &[0; 6]),
            frame(HEADERS, 1, &[1; 20]),
            frame(DATA, 1, &[2; 30]),
            frame(HEADERS, 3, &[1; 5]),
            frame(DATA, 3, &[]),
        ];
        for (frame, now_ns) in sent.iter().zip(1..) {
            frame.chunks(cut).for_each(|bytes| stamps.written(bytes, now_ns));
        }
        let received = [
            frame(SETTINGS, 0, &[]),
            frame(HEADERS, 3, &[9; 4]),
            frame(HEADERS, 1, &[9; 4]),
            frame(HEADERS, 3, &[9; 4]),
            frame(DATA, 3, &[7; 10]),
            frame(HEADERS, 3, &[9; 4]),
        ];
        for (frame, now_ns) in received.iter().zip(11..) {
            frame.chunks(cut).for_each(|bytes| stamps.read(bytes, now_ns));
        }
        [1, 3].map(|stream| {
            let mut exchange = Exchange::default();
            stamps.take(stream, &mut exchange);
            exchange
        })
    }

    #[test]
    fn streams_are_separated_for_any_chunking() {
        for cut in [1, 7, usize::MAX] {
            let [upload, get] = stamps(cut);
            assert_eq!((upload.request_start_ns, upload.first_body_sent_ns), (Some(3), Some(4)), "{cut}");
            assert_eq!((upload.body_sent_bytes, upload.first_response_byte_ns), (30, Some(13)), "{cut}");
            assert_eq!((get.request_start_ns, get.first_body_sent_ns), (Some(5), None), "{cut}");
            assert_eq!((get.first_response_byte_ns, get.first_final_byte_ns), (Some(12), Some(14)), "{cut}");
        }
    }
}
