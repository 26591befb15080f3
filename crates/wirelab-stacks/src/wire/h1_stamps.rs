//! Phases of an HTTP/1.1 exchange, read from its bytes. It changes none.

use std::sync::Arc;

use tokio::sync::Notify;
use wirelab_schema::Exchange;

use crate::wire::tap::Observer;

const BLANK_LINE: &[u8] = b"\r\n\r\n";
/// Position of the first digit of the status code in `HTTP/1.1 200`.
const STATUS_DIGIT: usize = 9;

/// When the parts of one HTTP/1.1 exchange passed, read off its bytes (RFC 9112): a message's head ends with a blank line, and a response head
/// whose status begins with 1 is interim (RFC 9110, section 15.2).
#[derive(Default)]
pub struct H1Stamps {
    request_start_ns: Option<u64>,
    request_head: Head,
    first_body_ns: Option<u64>,
    body_bytes: u64,
    first_response_ns: Option<u64>,
    response_head: Head,
    response_head_ns: Option<u64>,
    interim: bool,
    first_final_ns: Option<u64>,
    responded: Arc<Notify>,
}

impl H1Stamps {
    /// Forgets the last exchange of the connection. The answer is notified at the first response, interim or final.
    pub fn begin(&mut self) -> Arc<Notify> {
        *self = H1Stamps::default();
        self.responded.clone()
    }

    /// Puts the stamps into the row.
    pub fn copy_to(&self, exchange: &mut Exchange) {
        exchange.request_start_ns = self.request_start_ns;
        exchange.first_body_sent_ns = self.first_body_ns;
        exchange.body_sent_bytes = self.body_bytes;
        exchange.first_response_byte_ns = self.first_response_ns;
        exchange.first_final_byte_ns = self.first_final_ns;
    }
}

impl Observer for H1Stamps {
    fn written(&mut self, bytes: &[u8], now_ns: u64) {
        if bytes.is_empty() {
            return;
        }
        self.request_start_ns.get_or_insert(now_ns);
        let head = self.request_head.advance(bytes);
        if head < bytes.len() {
            self.first_body_ns.get_or_insert(now_ns);
            self.body_bytes += (bytes.len() - head) as u64;
        }
    }

    fn read(&mut self, mut bytes: &[u8], now_ns: u64) {
        self.first_response_ns.get_or_insert(now_ns);
        while !bytes.is_empty() && self.first_final_ns.is_none() {
            self.response_head_ns.get_or_insert(now_ns);
            let before = self.response_head.length;
            let length = self.response_head.advance(bytes);
            if let Some(digit) = STATUS_DIGIT.checked_sub(before).and_then(|offset| bytes[..length].get(offset)) {
                self.responded.notify_one();
                self.interim = *digit == b'1';
                if !self.interim {
                    self.first_final_ns = self.response_head_ns;
                }
            }
            if self.response_head.is_complete() {
                self.response_head = Head::default();
                self.response_head_ns = None;
            }
            bytes = &bytes[length..];
        }
    }
}

/// How much of a message's head has passed.
#[derive(Default)]
struct Head {
    length: usize,
    matched: usize,
}

impl Head {
    /// Takes bytes up to the end of the head; says how many belong to it.
    fn advance(&mut self, bytes: &[u8]) -> usize {
        let mut taken = 0;
        for byte in bytes {
            if self.is_complete() {
                break;
            }
            self.matched = match *byte {
                byte if byte == BLANK_LINE[self.matched] => self.matched + 1,
                b'\r' => 1,
                _ => 0,
            };
            taken += 1;
        }
        self.length += taken;
        taken
    }

    fn is_complete(&self) -> bool {
        self.matched == BLANK_LINE.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: &[u8] = b"POST / HTTP/1.1\r\nhost: a\r\n\r\nbody";
    const RESPONSES: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

    fn stamps(write_sizes: usize, read_sizes: usize) -> Exchange {
        let mut stamps = H1Stamps::default();
        let mut now_ns = 0;
        for bytes in REQUEST.chunks(write_sizes) {
            now_ns += 1;
            stamps.written(bytes, now_ns);
        }
        now_ns = 1_000;
        for bytes in RESPONSES.chunks(read_sizes) {
            now_ns += 1;
            stamps.read(bytes, now_ns);
        }
        let mut exchange = Exchange::default();
        stamps.copy_to(&mut exchange);
        exchange
    }

    #[test]
    fn phases_are_the_same_for_any_chunking() {
        let whole = stamps(usize::MAX, usize::MAX);
        assert_eq!((whole.request_start_ns, whole.first_body_sent_ns), (Some(1), Some(1)));
        assert_eq!((whole.first_response_byte_ns, whole.first_final_byte_ns), (Some(1_001), Some(1_001)));
        let by_byte = stamps(1, 1);
        assert_eq!((by_byte.request_start_ns, by_byte.first_body_sent_ns), (Some(1), Some(29)));
        assert_eq!(by_byte.body_sent_bytes, 4);
        assert_eq!((by_byte.first_response_byte_ns, by_byte.first_final_byte_ns), (Some(1_001), Some(1_026)));
    }

    #[test]
    fn without_a_response_no_response_phase_happened() {
        let mut stamps = H1Stamps::default();
        stamps.written(b"GET / HTTP/1.1\r\n\r\n", 5);
        let mut exchange = Exchange::default();
        stamps.copy_to(&mut exchange);
        assert_eq!(exchange.first_body_sent_ns, None);
        assert_eq!(exchange.first_response_byte_ns, None);
    }
}
