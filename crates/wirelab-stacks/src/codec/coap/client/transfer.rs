//! Bodies in blocks, both ways (RFC 7959). It keeps no timer.

use bytes::BytesMut;
use coap_lite::{CoapOption, MessageClass, Packet, ResponseType};

use super::super::block::{Block, MAX_NUMBER, MAX_SZX, size};
use super::super::channel::Channel;
use super::super::message::{Response, content_format, max_age, status, uint};
use super::{Client, ClientEvent, Download, Ended, ExchangeId, Stage, request_packet};

const CONTINUE: MessageClass = MessageClass::Response(ResponseType::Continue);
const TOO_LARGE: MessageClass = MessageClass::Response(ResponseType::RequestEntityTooLarge);
/// The longest body that leaves in one message before the peer has said what it takes: fits RFC 8323's base limit.
const UNASKED_BYTES: usize = 1_024;

impl Client {
    /// Sends the first message, or waits for what must come first.
    pub(super) fn begin(&mut self, now_ns: u64, id: ExchangeId) {
        let Some(exchange) = self.exchanges.get(&id) else { return };
        let length = exchange.request.payload.len();
        let whole = match self.channel.whole_body_bytes(self.szx) {
            Some(whole) => whole,
            None if length <= UNASKED_BYTES => UNASKED_BYTES,
            None => return self.unsettled.push(id),
        };
        if length > whole {
            let row = self.uploads.entry(exchange.request.path.clone()).or_default();
            if row.front() != Some(&id) {
                row.push_back(id);
                if row.len() > 1 {
                    return;
                }
            }
        }
        self.upload(now_ns, id, 0, if length > whole { self.szx } else { u8::MAX });
    }

    /// Sends the body from `offset` on in blocks of `szx`, or the whole if that is no block size.
    pub(super) fn upload(&mut self, now_ns: u64, id: ExchangeId, offset: usize, szx: u8) {
        let exchange = self.exchanges.get_mut(&id).expect("it is under way");
        let payload = &exchange.request.payload;
        let mut packet = request_packet(exchange.request.method, &exchange.request.path, Vec::new());
        let mut body = payload.clone();
        let mut last = true;
        if szx <= MAX_SZX {
            let number = offset / size(szx);
            if number > MAX_NUMBER as usize {
                let words = format!("a body of {} bytes has too many blocks of {}", payload.len(), size(szx));
                return self.end(now_ns, id, Ended::Protocol(words));
            }
            body = payload.slice(offset..payload.len().min(offset + size(szx)));
            last = offset + body.len() == payload.len();
            packet.add_option(CoapOption::Block1, Block { number: number as u32, more: !last, szx }.value());
        }
        if let Some(format) = exchange.request.content_format {
            packet.add_option(CoapOption::ContentFormat, uint(format.into()));
        }
        if exchange.request.observe {
            packet.add_option(CoapOption::Observe, uint(0));
        }
        if self.szx < MAX_SZX && last && matches!(self.channel, Channel::Datagrams(_)) {
            // Early negotiation of the response's block size (RFC 7959, section 2.4).
            packet.add_option(CoapOption::Block2, Block { number: 0, more: false, szx: self.szx }.value());
        }
        packet.payload = body.to_vec();
        exchange.stage = Stage::Upload { offset, length: body.len(), szx };
        self.send(now_ns, id, packet);
    }

    /// Asks for the block of the response that follows what is there.
    pub(super) fn ask_for_more(&mut self, now_ns: u64, id: ExchangeId, szx: u8) {
        let exchange = self.exchanges.get_mut(&id).expect("it is under way");
        let Stage::Download(download) = &exchange.stage else { return };
        let number = download.body.len() / size(szx);
        let mut packet = request_packet(exchange.request.method, &exchange.request.path, Vec::new());
        packet.add_option(CoapOption::Block2, Block { number: number as u32, more: false, szx }.value());
        self.send(now_ns, id, packet);
    }

    /// The answer to a message with (a part of) the body.
    pub(super) fn take_upload_answer(
        &mut self,
        now_ns: u64,
        id: ExchangeId,
        packet: &Packet,
        offset: usize,
        length: usize,
        szx: u8,
    ) {
        let whole = self.exchanges[&id].request.payload.len();
        let rest = offset + length < whole;
        let answered = match Block::of(packet, CoapOption::Block1) {
            Some(Err(())) => {
                return self.end(now_ns, id, Ended::Protocol("a Block1 option that makes no sense".to_owned()));
            }
            other => other.and_then(Result::ok),
        };
        let code = packet.header.code;
        let fits = answered.filter(|block| szx <= MAX_SZX && (block.number as usize) * size(szx) == offset);
        match fits {
            Some(block) if code == TOO_LARGE && offset == 0 && block.szx < szx => {
                self.upload(now_ns, id, 0, block.szx);
            }
            // A success before the last block is of a server that takes each block by itself (RFC 7959, section 2.3).
            Some(block) if rest && (code == CONTINUE || status(code) / 100 == 2) => {
                self.upload(now_ns, id, offset + length, block.szx.min(szx));
            }
            _ if code == CONTINUE => {
                self.end(now_ns, id, Ended::Protocol("2.31 Continue where nothing is to be continued".to_owned()));
            }
            _ => self.begin_download(now_ns, id, packet),
        }
    }

    pub(super) fn begin_download(&mut self, now_ns: u64, id: ExchangeId, packet: &Packet) {
        let exchange = self.exchanges.get_mut(&id).expect("it is under way");
        exchange.progress.first_final_ns.get_or_insert(now_ns);
        exchange.stage = Stage::Download(Download {
            code: packet.header.code,
            content_format: content_format(packet),
            max_age: max_age(packet),
            etag: packet.get_first_option(CoapOption::ETag).cloned(),
            body: BytesMut::new(),
        });
        self.take_block(now_ns, id, packet);
    }

    /// A message of the final response.
    pub(super) fn take_block(&mut self, now_ns: u64, id: ExchangeId, packet: &Packet) {
        let exchange = self.exchanges.get_mut(&id).expect("it is under way");
        let Stage::Download(download) = &mut exchange.stage else { return };
        let block = match Block::of(packet, CoapOption::Block2) {
            Some(Err(())) => {
                return self.end(now_ns, id, Ended::Protocol("a Block2 option that makes no sense".to_owned()));
            }
            other => other.and_then(Result::ok),
        };
        let etag = packet.get_first_option(CoapOption::ETag).cloned();
        if packet.header.code != download.code || (!download.body.is_empty() && etag != download.etag) {
            if status(packet.header.code) / 100 == 2 {
                return self.end(now_ns, id, Ended::Protocol("the response changed between its blocks".to_owned()));
            }
            // The response is an error after all.
            *download = Download {
                code: packet.header.code,
                content_format: content_format(packet),
                max_age: max_age(packet),
                etag,
                body: BytesMut::new(),
            };
        }
        exchange.progress.body_received_bytes += packet.payload.len() as u64;
        if block.is_some_and(|block| block.offset() != download.body.len())
            || block.is_some_and(|block| block.more && packet.payload.len() != block.size())
        {
            return self.end(now_ns, id, Ended::Protocol("a block that was not asked for".to_owned()));
        }
        download.body.extend_from_slice(&packet.payload);
        match block.filter(|block| block.more) {
            Some(block) => self.ask_for_more(now_ns, id, block.szx.min(self.szx)),
            None => self.complete(now_ns, id),
        }
    }

    pub(super) fn complete(&mut self, now_ns: u64, id: ExchangeId) {
        let exchange = self.exchanges.get_mut(&id).expect("it is under way");
        let Stage::Download(download) = std::mem::replace(&mut exchange.stage, Stage::Over) else { return };
        let Download { code, content_format, max_age, body, .. } = download;
        let response = Response { code, content_format, max_age, payload: body.freeze() };
        let event = match (&exchange.observation, exchange.observed) {
            (None, _) => ClientEvent::Response(id, response),
            (Some(_), false) => ClientEvent::Observing(id, response),
            (Some(_), true) => ClientEvent::Notification(id, response),
        };
        exchange.observed = true;
        self.events.push_back(event);
        self.next_upload(now_ns, id);
    }

    /// The exchange is through with its upload in blocks, if it had one: the next to the same path begins.
    pub(super) fn next_upload(&mut self, now_ns: u64, id: ExchangeId) {
        let Some(path) = self.exchanges.get(&id).map(|exchange| exchange.request.path.clone()) else { return };
        let Some(row) = self.uploads.get_mut(&path) else { return };
        let was_first = row.front() == Some(&id);
        row.retain(|waiting| *waiting != id);
        match row.front().copied() {
            None => drop(self.uploads.remove(&path)),
            Some(next) if was_first => self.begin(now_ns, next),
            Some(_) => {}
        }
    }
}
