//! Server-sent events (HTML Living Standard, section 9.2.6): one event for each message, its bytes in base64 because the format is text.
//! It opens no connection.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;

use crate::base::attempt::ExchangeError;

/// Media type of the format.
pub const EVENT_STREAM: &str = "text/event-stream";

/// The event of a message.
pub fn event(id: u32, message: &[u8]) -> Bytes {
    format!("id: {id}\ndata: {}\n\n", STANDARD.encode(message)).into()
}

/// Takes a stream apart as it comes, however its bytes are cut.
#[derive(Default)]
pub struct EventReader {
    line: Vec<u8>,
    data: Vec<u8>,
    messages: Vec<Bytes>,
}

impl EventReader {
    /// The next bytes of the stream.
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<(), ExchangeError> {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.line.extend_from_slice(&bytes[..end]);
            bytes = &bytes[end + 1..];
            let line = std::mem::take(&mut self.line);
            self.take(line.strip_suffix(b"\r").unwrap_or(&line))?;
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    /// The messages of the events that are complete since it was last asked.
    pub fn messages(&mut self) -> impl Iterator<Item = Bytes> + '_ {
        self.messages.drain(..)
    }

    /// Fields other than `data` are of no use here, and neither are comments.
    fn take(&mut self, line: &[u8]) -> Result<(), ExchangeError> {
        if let Some(data) = line.strip_prefix(b"data:") {
            self.data.extend_from_slice(data.strip_prefix(b" ").unwrap_or(data));
        } else if line.is_empty() && !self.data.is_empty() {
            let message = STANDARD.decode(&self.data)?;
            self.messages.push(message.into());
            self.data.clear();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(stream: &[u8], cut: usize) -> Vec<Bytes> {
        let mut reader = EventReader::default();
        stream.chunks(cut).for_each(|bytes| reader.push(bytes).expect("well-formed"));
        reader.messages().collect()
    }

    #[test]
    fn messages_are_read_back_however_the_stream_is_cut() {
        let stream = [event(0, b"first"), event(1, &[0, 10, 13, 255])].concat();
        for cut in [1, 3, stream.len()] {
            assert_eq!(read(&stream, cut), [&b"first"[..], &[0, 10, 13, 255]], "{cut}");
        }
    }

    #[test]
    fn comments_other_fields_and_lines_that_end_in_crlf_are_understood() {
        assert_eq!(read(b": hello\r\nretry: 5\r\ndata: Zm9v\r\n\r\n\r\n", 2), [&b"foo"[..]]);
    }

    #[test]
    fn an_event_is_dispatched_at_its_empty_line() {
        assert!(read(b"data: Zm9v\n", 4).is_empty());
    }

    #[test]
    fn data_that_is_not_base64_is_an_error() {
        assert!(EventReader::default().push(b"data: %\n\n").is_err());
    }
}
