//! Responses as messages, in blocks where they are long (RFC 7959). What they say is the application's.

use std::hash::{DefaultHasher, Hash, Hasher};

use bytes::Bytes;
use coap_lite::{CoapOption, MessageClass, Packet, ResponseType};

use super::super::block::{Block, MAX_NUMBER, size};
use super::super::message::{Method, Response, status, uint};
use super::{Kept, Pending, RequestId, Server};

impl Server {
    pub(super) fn refuse(&mut self, now_ns: u64, request: Pending, code: ResponseType, words: &str) {
        let payload = Bytes::copy_from_slice(words.as_bytes());
        self.answer_pending(now_ns, request, Response::new(code.into_code(), payload), None);
    }

    pub(super) fn answer(&mut self, now_ns: u64, id: RequestId, response: Response, sequence: Option<u32>) {
        if let Some(request) = self.pending.remove(&id) {
            self.answer_pending(now_ns, request, response, sequence);
        }
    }

    pub(super) fn answer_pending(&mut self, now_ns: u64, request: Pending, response: Response, sequence: Option<u32>) {
        let Pending { receipt, token, method, target, uploaded, wanted, acknowledged, multicast, .. } = request;
        let code = response.code;
        let mut packet = self.response_packet(now_ns, token, (method, target), response, wanted, sequence);
        if let Some(block) = uploaded {
            // In its last answer the server may still ask for smaller blocks (RFC 7959, section 2.5).
            let first = block.number == 0 && block.more;
            let szx = if first { block.szx.min(self.options.szx) } else { block.szx };
            let more = code == ResponseType::Continue.into_code();
            packet.add_option(CoapOption::Block1, Block { more, szx, ..block }.value());
        }
        if code == ResponseType::RequestEntityTooLarge.into_code() {
            packet.add_option(CoapOption::Size1, uint(self.options.max_body_bytes.try_into().unwrap_or(u32::MAX)));
        }
        if multicast {
            if status(code) / 100 == 2 {
                let share = (u128::from(self.options.leisure_ns) * u128::from(self.channel.draw())) >> 64;
                let key = (now_ns.saturating_add(share as u64), self.draw_id());
                self.at_leisure.insert(key, packet);
            }
            return;
        }
        // What a duplicate would do again does no harm: it reads.
        let again = method == Method::Get && sequence.is_none() || wanted.is_some_and(|block| block.number > 0);
        self.channel.respond(now_ns, receipt, acknowledged, packet, again);
    }

    /// The message with the wanted part of a response, which is kept if there are others.
    pub(super) fn response_packet(
        &mut self,
        now_ns: u64,
        token: Vec<u8>,
        key: (Method, String),
        response: Response,
        wanted: Option<Block>,
        sequence: Option<u32>,
    ) -> Packet {
        let mut packet = Packet::new();
        packet.header.code = response.code;
        packet.set_token(token);
        if let Some(sequence) = sequence {
            packet.add_option(CoapOption::Observe, uint(sequence));
        }
        if let Some(format) = response.content_format {
            packet.add_option(CoapOption::ContentFormat, uint(format.into()));
        }
        if let Some(seconds) = response.max_age {
            packet.add_option(CoapOption::MaxAge, uint(seconds));
        }
        let szx = wanted.map_or(self.options.szx, |block| block.szx.min(self.options.szx));
        let number = wanted.filter(|block| block.number > 0).map_or(0, |block| block.offset() / size(szx));
        let whole = self.channel.whole_body_bytes(szx).unwrap_or(size(szx));
        let length = response.payload.len();
        if length <= whole && number == 0 {
            packet.payload = response.payload.to_vec();
            return packet;
        }
        let offset = number * size(szx);
        let end = length.min(offset.saturating_add(size(szx)));
        if offset >= length || number > MAX_NUMBER as usize || length / size(szx) > MAX_NUMBER as usize {
            packet = error_packet(packet.get_token(), ResponseType::BadRequest);
            return packet;
        }
        let until_ns = now_ns.saturating_add(self.options.lifetime_ns);
        let kept = match self.kept.remove(&key).filter(|kept| kept.response == response) {
            Some(kept) => Kept { until_ns, ..kept },
            None => Kept { etag: etag(&response.payload), response, until_ns },
        };
        packet.add_option(CoapOption::ETag, kept.etag.clone());
        packet.add_option(CoapOption::Block2, Block { number: number as u32, more: end < length, szx }.value());
        packet.payload = kept.response.payload[offset..end].to_vec();
        self.kept.insert(key, kept);
        packet
    }
}

fn error_packet(token: &[u8], code: ResponseType) -> Packet {
    let mut packet = Packet::new();
    packet.header.code = code.into_code();
    packet.set_token(token.to_vec());
    packet
}

/// Tells bodies apart; the same in every run.
fn etag(body: &Bytes) -> Vec<u8> {
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    hasher.finish().to_be_bytes()[..4].to_vec()
}

pub(super) trait IntoCode {
    fn into_code(self) -> MessageClass;
}

impl IntoCode for ResponseType {
    fn into_code(self) -> MessageClass {
        MessageClass::Response(self)
    }
}
