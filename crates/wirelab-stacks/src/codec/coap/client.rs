//! The client's engine: requests to responses. No I/O, no clock.

mod event;
mod ping;
mod transfer;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use bytes::BytesMut;
use coap_lite::{CoapOption, MessageClass, Packet};

use super::block::MAX_SZX;
use super::channel::{Channel, Incoming, Receipt, SendEvent, SendId};
use super::framing::StreamError;
use super::message::{Class, Malformed, Method, class, set_path, status, uint, uint_option, unknown_critical};
use super::observe::Freshness;
pub use event::{ClientEvent, Ended, ExchangeId, Progress, Request};
use ping::{Due, Pings};

/// Critical options that a response may have: Block1 and Block2 (RFC 7959). One with others is rejected (RFC 7252, section 5.4.1).
const KNOWN_CRITICAL: &[u16] = &[23, 27];
/// Tokens have 32 bits, as RFC 7252, section 5.3.1, asks of clients without transport security.
const TOKEN_BYTES: usize = 4;

/// Why an association is over whose server did not answer a ping.
const NO_PONG: &str = "the server did not answer a ping";

/// The asking end of one association.
///
/// A request whose body does not fit into one message goes in blocks (Block1), a response that comes in blocks (Block2) is put together; each
/// block is a request with a token of its own. Uploads in blocks to one path follow one another, for RFC 7959 has no way to tell two apart
/// (section 2.5). An observation ([`Request::observe`]) lasts until cancelled or ended by the server.
pub struct Client {
    channel: Channel,
    szx: u8,
    confirmable: bool,
    next_exchange: u64,
    exchanges: BTreeMap<ExchangeId, Exchange>,
    tokens: HashMap<Vec<u8>, ExchangeId>,
    sent: HashMap<SendId, Sent>,
    /// Exchanges that upload in blocks, by path, in order: the first of each is under way.
    uploads: HashMap<String, VecDeque<ExchangeId>>,
    /// Those that wait to be told how long a message may be.
    unsettled: Vec<ExchangeId>,
    events: VecDeque<ClientEvent>,
    pings: Option<Pings>,
    /// The server has said that it wants no new requests, and this is in what words that is told.
    released: Option<String>,
    closed: Option<String>,
}

struct Sent {
    exchange: ExchangeId,
    token: Vec<u8>,
    body_bytes: u64,
}

struct Exchange {
    request: Request,
    stage: Stage,
    progress: Progress,
    /// Of the message whose answer is awaited.
    awaiting: Option<(Vec<u8>, Option<SendId>)>,
    /// Token and freshness of an observation that the server has registered.
    observation: Option<(Vec<u8>, Freshness)>,
    observed: bool,
}

enum Stage {
    /// Waits for its turn, or for the peer's limits.
    Waiting,
    /// Sends the body from `offset` on, `length` bytes of it in the message under way.
    Upload {
        offset: usize,
        length: usize,
        szx: u8,
    },
    /// Puts a response together.
    Download(Download),
    Over,
}

struct Download {
    code: MessageClass,
    content_format: Option<u16>,
    max_age: Option<u32>,
    etag: Option<Vec<u8>>,
    body: BytesMut,
}

impl Client {
    /// Over `channel`, with blocks of at most `szx`. `confirmable` says of which kind the requests are over datagrams.
    pub fn new(channel: Channel, szx: u8, confirmable: bool) -> Self {
        Client {
            channel,
            szx: szx.min(MAX_SZX),
            confirmable,
            next_exchange: 0,
            exchanges: BTreeMap::new(),
            tokens: HashMap::new(),
            sent: HashMap::new(),
            uploads: HashMap::new(),
            unsettled: Vec::new(),
            events: VecDeque::new(),
            pings: None,
            released: None,
            closed: None,
        }
    }

    /// Pings the server after each silence of `interval_ns`, and ends the association if that has no answer.
    pub fn pinging(self, interval_ns: u64) -> Self {
        Client { pings: Some(Pings::new(interval_ns)), ..self }
    }

    /// Asks.
    pub fn start(&mut self, now_ns: u64, request: Request) -> ExchangeId {
        let id = ExchangeId(self.next_exchange);
        self.next_exchange += 1;
        let exchange = Exchange {
            request,
            stage: Stage::Waiting,
            progress: Progress::default(),
            awaiting: None,
            observation: None,
            observed: false,
        };
        self.exchanges.insert(id, exchange);
        match self.closed.as_ref().or(self.released.as_ref()).cloned() {
            None => {
                self.cancel_ping(now_ns);
                self.begin(now_ns, id);
            }
            Some(words) => self.end(now_ns, id, Ended::Closed(words)),
        }
        self.take_send_events(now_ns);
        id
    }

    /// Ends an exchange, if it has not ended, and tells what happened in it. Of an observation, the server is told (section 3.6 of RFC 7641).
    pub fn finish(&mut self, now_ns: u64, id: ExchangeId) -> Option<Progress> {
        let exchange = self.exchanges.get(&id)?;
        let observation = exchange.observation.as_ref().map(|(token, _)| token.clone());
        let path = exchange.request.path.clone();
        self.stop(now_ns, id);
        let progress = self.exchanges.remove(&id)?.progress;
        self.events.retain(|event| event.exchange() != id);
        if let Some(token) = observation {
            let mut packet = request_packet(Method::Get, &path, token);
            packet.add_option(CoapOption::Observe, uint(1));
            self.channel.send(now_ns, packet, self.confirmable);
        }
        self.take_send_events(now_ns);
        Some(progress)
    }

    /// What has happened in an exchange so far.
    pub fn progress(&self, id: ExchangeId) -> Option<Progress> {
        self.exchanges.get(&id).map(|exchange| exchange.progress)
    }

    /// Takes what arrived.
    pub fn receive(&mut self, now_ns: u64, bytes: &[u8]) -> Result<(), Malformed> {
        let mut incoming = Vec::new();
        let received = self.channel.receive(now_ns, bytes, |_, message| incoming.push(message));
        if let Some(pings) = &mut self.pings {
            pings.received(now_ns);
        }
        for message in incoming {
            self.take(now_ns, message);
        }
        if self.channel.whole_body_bytes(self.szx).is_some() {
            for id in std::mem::take(&mut self.unsettled) {
                self.begin(now_ns, id);
            }
        }
        self.settle(now_ns);
        received
    }

    /// The association is over: so is everything in it.
    pub fn close(&mut self, now_ns: u64, words: &str) {
        self.closed.get_or_insert_with(|| words.to_owned());
        let ids: Vec<ExchangeId> = self.exchanges.keys().copied().collect();
        for id in ids {
            self.end(now_ns, id, Ended::Closed(words.to_owned()));
        }
    }

    /// Why the association is over, if it is: also once the server has released it (RFC 8323, section 5.5) and owes nothing any more.
    pub fn closed(&self) -> Option<&str> {
        let owed = || self.exchanges.values().any(|exchange| !matches!(exchange.stage, Stage::Over));
        self.closed.as_deref().or_else(|| self.released.as_deref().filter(|_| !owed()))
    }

    /// What is asked from now on can be answered.
    pub fn takes_requests(&self) -> bool {
        self.closed.is_none() && self.released.is_none()
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, now_ns: u64) {
        self.channel.handle_timeout(now_ns);
        self.ping(now_ns);
        self.settle(now_ns);
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called.
    pub fn poll_timeout(&self) -> Option<u64> {
        let ping_ns = self.next_ping().map(|(due_ns, _)| due_ns);
        self.channel.poll_timeout().into_iter().chain(ping_ns).min()
    }

    /// The next bytes to send.
    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.channel.poll_transmit()
    }

    /// What happened.
    pub fn poll_event(&mut self) -> Option<ClientEvent> {
        self.events.pop_front()
    }

    /// A request that is under way probes the server by itself, and what it sends may be longer than a silence.
    fn next_ping(&self) -> Option<(u64, Due)> {
        let is_idle = || self.exchanges.values().all(|exchange| matches!(exchange.stage, Stage::Over));
        let next = self.pings.as_ref().filter(|_| self.closed.is_none()).and_then(Pings::next)?;
        (next.1 == Due::End || is_idle()).then_some(next)
    }

    /// A request takes the turn of a ping that waits for its answer (NSTART, RFC 7252 section 4.7).
    fn cancel_ping(&mut self, now_ns: u64) {
        if let Channel::Datagrams(_) = self.channel
            && let Some(id) = self.pings.as_mut().and_then(Pings::cancel)
        {
            self.channel.cancel(now_ns, &BTreeSet::from([id]));
        }
    }

    fn ping(&mut self, now_ns: u64) {
        match self.next_ping().filter(|(due_ns, _)| *due_ns <= now_ns) {
            Some((_, Due::Ping)) => {
                let id = self.channel.ping(now_ns);
                let stream = matches!(self.channel, Channel::Stream(_));
                self.pings.as_mut().expect("one is due").pinged(now_ns, id, stream);
            }
            Some((_, Due::End)) => self.close(now_ns, NO_PONG),
            None => {}
        }
    }

    fn send(&mut self, now_ns: u64, id: ExchangeId, mut packet: Packet) {
        let token = (self.channel.draw() as u32).to_be_bytes()[..TOKEN_BYTES].to_vec();
        packet.set_token(token.clone());
        let body_bytes = packet.payload.len() as u64;
        let exchange = self.exchanges.get_mut(&id).expect("it is under way");
        exchange.awaiting = Some((token.clone(), None));
        self.tokens.insert(token.clone(), id);
        let send = self.channel.send(now_ns, packet, self.confirmable);
        self.sent.insert(send, Sent { exchange: id, token: token.clone(), body_bytes });
        if let Some(exchange) = self.exchanges.get_mut(&id) {
            exchange.awaiting = Some((token, Some(send)));
        }
    }

    fn take(&mut self, now_ns: u64, incoming: Incoming) {
        match incoming {
            Incoming::Message { packet, receipt } => self.take_message(now_ns, &packet, receipt),
            Incoming::Acknowledged { id, response } => {
                let Some((exchange, token)) = self.sent.get(&id).map(|sent| (sent.exchange, sent.token.clone())) else {
                    return;
                };
                if let Some(exchange) = self.exchanges.get_mut(&exchange) {
                    exchange.progress.first_response_ns.get_or_insert(now_ns);
                }
                match response {
                    None => {}
                    Some(packet) if packet.get_token() == token => self.take_response(now_ns, exchange, &packet),
                    Some(_) => {
                        let words = "a response with another token on the acknowledgement".to_owned();
                        self.end(now_ns, exchange, Ended::Protocol(words));
                    }
                }
            }
            Incoming::Reset { id } => {
                if let Some(sent) = self.sent.get(&id) {
                    self.end(now_ns, sent.exchange, Ended::Reset);
                }
            }
            Incoming::Closed(StreamError::Released) => self.released = Some(StreamError::Released.to_string()),
            Incoming::Closed(error) => self.close(now_ns, &error.to_string()),
        }
    }

    fn take_message(&mut self, now_ns: u64, packet: &Packet, receipt: Receipt) {
        let exchange = self.tokens.get(packet.get_token()).copied();
        match exchange.filter(|_| class(packet) == Class::Response) {
            Some(exchange) => {
                match unknown_critical(packet, KNOWN_CRITICAL) {
                    None => self.channel.acknowledge(receipt),
                    Some(_) => self.channel.reject(receipt),
                }
                self.take_response(now_ns, exchange, packet);
            }
            // A request, a response to nothing, or a notification of what is not observed any more (RFC 7641, section 3.6).
            None => self.channel.reject(receipt),
        }
    }

    fn take_response(&mut self, now_ns: u64, id: ExchangeId, packet: &Packet) {
        let Some(exchange) = self.exchanges.get_mut(&id) else { return };
        exchange.progress.first_response_ns.get_or_insert(now_ns);
        if let Some(number) = unknown_critical(packet, KNOWN_CRITICAL) {
            return self.end(now_ns, id, Ended::Protocol(format!("a response with the critical option {number}")));
        }
        let awaited = exchange.awaiting.as_ref().is_some_and(|(token, _)| token == packet.get_token());
        if !awaited {
            let observing = exchange.observation.as_ref().is_some_and(|(token, _)| token == packet.get_token());
            return if observing {
                self.take_notification(now_ns, id, packet)
            };
        }
        let (token, send) = exchange.awaiting.take().expect("just looked at");
        if let Some(send) = send {
            self.channel.answered(now_ns, send);
            self.sent.remove(&send);
        }
        let exchange = self.exchanges.get_mut(&id).expect("it is there");
        if exchange.request.observe
            && exchange.observation.is_none()
            && packet.get_first_option(CoapOption::Observe).is_some()
        {
            let mut freshness = Freshness::default();
            freshness.take(sequence(packet), now_ns);
            exchange.observation = Some((token, freshness));
        } else {
            self.tokens.remove(&token);
        }
        match &exchange.stage {
            Stage::Upload { offset, length, szx } => {
                let (offset, length, szx) = (*offset, *length, *szx);
                self.take_upload_answer(now_ns, id, packet, offset, length, szx);
            }
            Stage::Download(_) => self.take_block(now_ns, id, packet),
            Stage::Waiting | Stage::Over => {}
        }
    }

    fn take_notification(&mut self, now_ns: u64, id: ExchangeId, packet: &Packet) {
        let exchange = self.exchanges.get_mut(&id).expect("it is there");
        let Some((token, freshness)) = &mut exchange.observation else { return };
        if status(packet.header.code) / 100 != 2 || packet.get_first_option(CoapOption::Observe).is_none() {
            self.tokens.remove(&token.clone());
            exchange.observation = None;
            let words = format!("the server ended the observation with {}", packet.header.code);
            return self.end(now_ns, id, Ended::Protocol(words));
        }
        // A stream keeps the order, and its notifications need no number (RFC 8323, section 7.1).
        if matches!(self.channel, Channel::Stream(_)) || freshness.take(sequence(packet), now_ns) {
            // What is being fetched of an older state is of no use any more.
            self.forget_awaited(now_ns, id);
            self.begin_download(now_ns, id, packet);
        }
    }

    /// What has ended is cancelled before more is sent.
    fn settle(&mut self, now_ns: u64) {
        self.take_send_events(now_ns);
        self.channel.send_waiting(now_ns);
        self.take_send_events(now_ns);
    }

    fn take_send_events(&mut self, now_ns: u64) {
        while let Some(event) = self.channel.poll_event() {
            let (SendEvent::Sent { id, .. } | SendEvent::Retransmitted { id } | SendEvent::GaveUp { id, .. }) = event;
            if let Some(pings) = &mut self.pings {
                match event {
                    SendEvent::Sent { .. } | SendEvent::Retransmitted { .. } => pings.sent(now_ns),
                    SendEvent::GaveUp { .. } if pings.is_ping(id) => return self.close(now_ns, NO_PONG),
                    SendEvent::GaveUp { .. } => {}
                }
            }
            let Some(sent) = self.sent.get(&id) else { continue };
            let (exchange, body_bytes) = (sent.exchange, sent.body_bytes);
            let Some(progress) = self.exchanges.get_mut(&exchange).map(|exchange| &mut exchange.progress) else {
                continue;
            };
            match event {
                SendEvent::Sent { at_ns, .. } => {
                    progress.request_start_ns.get_or_insert(at_ns);
                    if body_bytes > 0 {
                        progress.first_body_ns.get_or_insert(at_ns);
                        progress.body_sent_bytes += body_bytes;
                    }
                }
                SendEvent::Retransmitted { .. } => progress.retransmissions += 1,
                SendEvent::GaveUp { transmissions, .. } => self.end(now_ns, exchange, Ended::GaveUp { transmissions }),
            }
        }
    }

    fn end(&mut self, now_ns: u64, id: ExchangeId, ended: Ended) {
        let Some(exchange) = self.exchanges.get(&id) else { return };
        // A response that came stays one; an observation may end at any time.
        if !matches!(exchange.stage, Stage::Over) || exchange.observation.is_some() {
            self.events.push_back(ClientEvent::Ended(id, ended));
        }
        self.stop(now_ns, id);
    }

    /// Nothing more is sent or awaited for the exchange.
    fn stop(&mut self, now_ns: u64, id: ExchangeId) {
        self.forget_awaited(now_ns, id);
        self.unsettled.retain(|waiting| *waiting != id);
        let Some(exchange) = self.exchanges.get_mut(&id) else { return };
        exchange.stage = Stage::Over;
        if let Some((token, _)) = exchange.observation.take() {
            self.tokens.remove(&token);
        }
        self.sent.retain(|_, sent| sent.exchange != id);
        self.next_upload(now_ns, id);
    }

    fn forget_awaited(&mut self, now_ns: u64, id: ExchangeId) {
        let Some((token, send)) = self.exchanges.get_mut(&id).and_then(|exchange| exchange.awaiting.take()) else {
            return;
        };
        self.tokens.remove(&token);
        if let Some(send) = send {
            self.channel.cancel(now_ns, &BTreeSet::from([send]));
            self.sent.remove(&send);
        }
    }
}

fn request_packet(method: Method, path: &str, token: Vec<u8>) -> Packet {
    let mut packet = Packet::new();
    packet.header.code = method.code();
    packet.set_token(token);
    set_path(&mut packet, path);
    packet
}

/// The sequence number of a notification; too long a one counts as 0.
fn sequence(packet: &Packet) -> u32 {
    uint_option(packet, CoapOption::Observe).and_then(Result::ok).unwrap_or(0) & super::observe::SEQUENCE_MASK
}
