use std::collections::HashMap;

use wirelab_schema::Exchange;

use crate::tap::Observer;

const PREFACE_BYTES: usize = 24;
const FRAME_HEADER_BYTES: usize = 9;
/// Type of the frames of a body (RFC 9113, section 6.1).
pub const DATA: u8 = 0;
const HEADERS: u8 = 1;

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
        let written = Frames { skip: PREFACE_BYTES, ..Frames::default() };
        H2Stamps { written, read: Frames::default(), streams: HashMap::new() }
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
        self.written.advance(bytes, |kind, stream, payload| match kind {
            HEADERS => {
                self.streams.entry(stream).or_default().request_start_ns.get_or_insert(now_ns);
            }
            DATA if payload > 0 => {
                let stamps = self.streams.entry(stream).or_default();
                stamps.first_body_ns.get_or_insert(now_ns);
                stamps.body_bytes += payload as u64;
            }
            _ => {}
        });
    }

    fn read(&mut self, bytes: &[u8], now_ns: u64) {
        self.read.advance(bytes, |kind, stream, payload| {
            // A stream that was given up is no longer there.
            let Some(stamps) = self.streams.get_mut(&stream) else { return };
            match kind {
                HEADERS if payload == 0 && !stamps.body_came => {
                    stamps.first_response_ns.get_or_insert(now_ns);
                    stamps.final_response_ns = Some(now_ns);
                }
                DATA => stamps.body_came = true,
                _ => {}
            }
        });
    }
}

/// Where in a sequence of frames one direction is.
#[derive(Default)]
pub struct Frames {
    skip: usize,
    header: Vec<u8>,
    payload_left: usize,
}

impl Frames {
    /// Calls `passed(type, stream, payload bytes)` when a frame's header is complete (with 0) and for each part of its payload.
    pub fn advance(&mut self, mut bytes: &[u8], mut passed: impl FnMut(u8, u32, usize)) {
        let skipped = self.skip.min(bytes.len());
        self.skip -= skipped;
        bytes = &bytes[skipped..];
        while !bytes.is_empty() {
            if self.header.len() < FRAME_HEADER_BYTES {
                let taken = (FRAME_HEADER_BYTES - self.header.len()).min(bytes.len());
                self.header.extend_from_slice(&bytes[..taken]);
                bytes = &bytes[taken..];
                if let Some((length, kind, stream)) = self.parsed() {
                    self.payload_left = length;
                    passed(kind, stream, 0);
                }
            }
            if let Some((_, kind, stream)) = self.parsed() {
                let taken = self.payload_left.min(bytes.len());
                self.payload_left -= taken;
                bytes = &bytes[taken..];
                if taken > 0 {
                    passed(kind, stream, taken);
                }
                if self.payload_left == 0 {
                    self.header.clear();
                }
            }
        }
    }

    /// Length, type and stream of a complete header.
    fn parsed(&self) -> Option<(usize, u8, u32)> {
        let [l2, l1, l0, kind, _flags, s3, s2, s1, s0] = *self.header.first_chunk::<FRAME_HEADER_BYTES>()?;
        let length = u32::from_be_bytes([0, l2, l1, l0]) as usize;
        Some((length, kind, u32::from_be_bytes([s3 & 0x7f, s2, s1, s0])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: u8 = 4;

    fn frame(kind: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
        let length = (payload.len() as u32).to_be_bytes();
        [&length[1..], &[kind, 0], &stream.to_be_bytes(), payload].concat()
    }

    fn stamps(cut: usize) -> [Exchange; 2] {
        let mut stamps = H2Stamps::new();
        let sent = [
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
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
    fn streams_are_told_apart_however_the_bytes_are_cut() {
        for cut in [1, 7, usize::MAX] {
            let [upload, get] = stamps(cut);
            assert_eq!((upload.request_start_ns, upload.first_body_sent_ns), (Some(3), Some(4)), "{cut}");
            assert_eq!((upload.body_sent_bytes, upload.first_response_byte_ns), (30, Some(13)), "{cut}");
            assert_eq!((get.request_start_ns, get.first_body_sent_ns), (Some(5), None), "{cut}");
            assert_eq!((get.first_response_byte_ns, get.first_final_byte_ns), (Some(12), Some(14)), "{cut}");
        }
    }
}
