//! HTTP/2 frame headers, read from bytes. Nothing is decompressed.

/// What a client's connection begins with (RFC 9113, section 3.4).
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const HEADER_BYTES: usize = 9;

/// Types of frames (RFC 9113, section 6).
pub const DATA: u8 = 0;
/// The head of a request or an answer, or trailers.
pub const HEADERS: u8 = 1;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PUSH_PROMISE: u8 = 5;
pub const WINDOW_UPDATE: u8 = 8;

/// The header of a frame (RFC 9113, section 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Of its payload.
    pub length: usize,
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
}

/// Where in a sequence of frames one direction of a connection is.
#[derive(Debug, Default)]
pub struct Frames {
    skip: usize,
    header: Vec<u8>,
    payload_left: usize,
}

impl Frames {
    /// Of a client's connection, before its preface.
    pub fn from_preface() -> Self {
        Frames { skip: PREFACE.len(), ..Frames::default() }
    }

    /// Calls `passed(frame, part of its payload)` when a frame's header is complete (with nothing) and for each part of its payload.
    pub fn advance(&mut self, mut bytes: &[u8], mut passed: impl FnMut(Frame, &[u8])) {
        let skipped = self.skip.min(bytes.len());
        self.skip -= skipped;
        bytes = &bytes[skipped..];
        while !bytes.is_empty() {
            if self.header.len() < HEADER_BYTES {
                let taken = (HEADER_BYTES - self.header.len()).min(bytes.len());
                self.header.extend_from_slice(&bytes[..taken]);
                bytes = &bytes[taken..];
                if let Some(frame) = self.parsed() {
                    self.payload_left = frame.length;
                    passed(frame, &[]);
                }
            }
            if let Some(frame) = self.parsed() {
                let (part, rest) = bytes.split_at(self.payload_left.min(bytes.len()));
                self.payload_left -= part.len();
                bytes = rest;
                if !part.is_empty() {
                    passed(frame, part);
                }
                if self.payload_left == 0 {
                    self.header.clear();
                }
            }
        }
    }

    /// A complete header.
    fn parsed(&self) -> Option<Frame> {
        let [l2, l1, l0, kind, flags, s3, s2, s1, s0] = *self.header.first_chunk::<HEADER_BYTES>()?;
        let length = u32::from_be_bytes([0, l2, l1, l0]) as usize;
        Some(Frame { length, kind, flags, stream: u32::from_be_bytes([s3 & 0x7f, s2, s1, s0]) })
    }
}

/// A frame with this payload, for tests.
#[cfg(test)]
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}
