//! The server's engine: requests in, responses and notifications out. No I/O, no clock.

mod answering;
mod observing;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use bytes::{Bytes, BytesMut};
use coap_lite::{CoapOption, Packet, ResponseType};

use super::block::{Block, MAX_SZX};
use super::channel::{Channel, Incoming, Receipt, SendEvent, SendId};
use super::framing::StreamError;
use super::message::{
    Class, Malformed, Method, Response, accept, class, content_format, target, uint_option, unknown_critical,
};
use super::parameters::{Parameters, nanos};
use answering::IntoCode;

/// Critical options that are understood: Uri-Host, Uri-Port, Uri-Path, Uri-Query, Accept, Block2, Block1.
const KNOWN_CRITICAL: &[u16] = &[3, 7, 11, 15, 17, 23, 27];
/// Proxy-Uri and Proxy-Scheme.
const PROXY: &[u16] = &[35, 39];

/// The answering end of one association.
///
/// Bodies that come in blocks (Block1) are put together before the request is told, all or nothing; responses that do not fit into one message
/// are kept and served in blocks (Block2). A confirmable request that its owner does not answer within half of ACK_TIMEOUT is acknowledged, and
/// its response then goes in a message of its own.
pub struct Server {
    channel: Channel,
    options: Options,
    next: u64,
    events: VecDeque<ServerEvent>,
    pending: BTreeMap<RequestId, Pending>,
    uploads: HashMap<(Method, String), Upload>,
    kept: HashMap<(Method, String), Kept>,
    observations: BTreeMap<ObservationId, Observation>,
    /// What is being received was sent to a multicast group.
    multicast: bool,
    /// Answers to such requests, by the instant at which they leave.
    at_leisure: BTreeMap<(u64, u64), Packet>,
    /// The client will ask nothing more.
    released: bool,
    closed: bool,
}

/// How a server answers.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Largest block it takes or sends.
    pub szx: u8,
    /// Longest body it takes.
    pub max_body_bytes: usize,
    /// It never piggy-backs a response.
    pub separate: bool,
    /// A state that a newer one follows before its notification could leave is not told (RFC 7641, section 4.5).
    pub skips: bool,
    /// How long an unfinished upload, or a response in blocks, is kept: EXCHANGE_LIFETIME.
    pub lifetime_ns: u64,
    /// How long a response may take before its request is acknowledged without.
    pub patience_ns: u64,
    /// How long the next state waits for a client that fetches the one before: with confirmable requests, and with others.
    pub fetch_ns: [u64; 2],
    /// DEFAULT_LEISURE.
    pub leisure_ns: u64,
}

/// A request that is to be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(u64);

/// A client that is to be told of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObservationId(u64);

/// What a client asks.
#[derive(Clone, Debug, PartialEq)]
pub struct IncomingRequest {
    /// Method.
    pub method: Method,
    /// Path and query, as a URI has them.
    pub target: String,
    /// Content-Format of the body.
    pub content_format: Option<u16>,
    /// Content-Format of the response that is wanted.
    pub accept: Option<u16>,
    /// The body.
    pub payload: Bytes,
    /// It asks to be told of changes: answer with [`Server::observe`] to do so.
    pub observe: bool,
}

impl IncomingRequest {
    /// Path, with a slash before each segment.
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }
}

/// What a server learns.
#[derive(Debug)]
pub enum ServerEvent {
    /// A request, to be answered by [`Server::respond`] or [`Server::observe`].
    IncomingRequest(RequestId, IncomingRequest),
    /// A client is not to be told any more: it said so, rejected a notification or did not acknowledge one.
    Unobserved(ObservationId),
}

struct Pending {
    receipt: Receipt,
    token: Vec<u8>,
    method: Method,
    target: String,
    /// Block1 of the last block, which the response repeats.
    uploaded: Option<Block>,
    /// The block of the response that is wanted.
    wanted: Option<Block>,
    acknowledge_at_ns: Option<u64>,
    acknowledged: bool,
    multicast: bool,
}

struct Upload {
    body: BytesMut,
    until_ns: u64,
}

struct Kept {
    response: Response,
    etag: Vec<u8>,
    until_ns: u64,
}

struct Observation {
    token: Vec<u8>,
    target: String,
    szx: u8,
    sequence: u32,
    /// Confirmable notifications that are to be acknowledged, or to be sent before that.
    unacknowledged: BTreeSet<SendId>,
    /// Others that a Reset may still be of, the newest last.
    resettable: VecDeque<SendId>,
    /// States that are still to be told.
    queue: VecDeque<(Response, bool)>,
    /// The client fetches the blocks of a state, and has until then for the next one; with that, how long it has for one.
    fetching: Option<(u64, u64)>,
}

impl Options {
    /// Blocks of at most `szx`, bodies of at most `max_body_bytes`.
    pub fn new(parameters: &Parameters, szx: u8, max_body_bytes: usize) -> Self {
        Options {
            szx: szx.min(MAX_SZX),
            max_body_bytes,
            separate: false,
            skips: false,
            lifetime_ns: nanos(parameters.exchange_lifetime()),
            patience_ns: nanos(parameters.ack_timeout) / 2,
            leisure_ns: nanos(parameters.default_leisure),
            fetch_ns: [parameters.max_transmit_wait(), parameters.longest_first_wait()].map(nanos),
        }
    }
}

impl Server {
    /// Over `channel`.
    pub fn new(channel: Channel, options: Options) -> Self {
        Server {
            channel,
            options,
            next: 0,
            events: VecDeque::new(),
            pending: BTreeMap::new(),
            uploads: HashMap::new(),
            kept: HashMap::new(),
            observations: BTreeMap::new(),
            multicast: false,
            at_leisure: BTreeMap::new(),
            released: false,
            closed: false,
        }
    }

    /// Answers a request, at most once.
    pub fn respond(&mut self, now_ns: u64, id: RequestId, response: Response) {
        self.answer(now_ns, id, response, None);
    }

    /// Takes what arrived.
    pub fn receive(&mut self, now_ns: u64, bytes: &[u8]) -> Result<(), Malformed> {
        let mut incoming = Vec::new();
        let received = self.channel.receive(now_ns, bytes, |_, message| incoming.push(message));
        for message in incoming {
            match message {
                Incoming::Message { packet, receipt } if class(&packet) == Class::Request => {
                    self.take_request(now_ns, &packet, receipt);
                }
                Incoming::Message { receipt, .. } => self.reject(receipt),
                Incoming::Reset { id } => self.unobserve_sent(now_ns, id),
                Incoming::Acknowledged { id, .. } => self.acknowledged(id),
                Incoming::Closed(StreamError::Released) => self.released = true,
                Incoming::Closed(_) => self.closed = true,
            }
        }
        self.settle(now_ns);
        received
    }

    /// Takes a datagram that was sent to a multicast group (RFC 7252, section 8): only a non-confirmable request is taken, only a success is
    /// answered, and that at a random instant within DEFAULT_LEISURE.
    pub fn receive_multicast(&mut self, now_ns: u64, bytes: &[u8]) -> Result<(), Malformed> {
        if bytes.first().is_none_or(|first| (first >> 4) & 3 != 1) {
            return Ok(());
        }
        self.multicast = true;
        let received = self.receive(now_ns, bytes);
        self.multicast = false;
        received
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, now_ns: u64) {
        for pending in self.pending.values_mut() {
            if pending.acknowledge_at_ns.is_some_and(|at_ns| at_ns <= now_ns) {
                pending.acknowledge_at_ns = None;
                pending.acknowledged = true;
                self.channel.acknowledge(pending.receipt);
            }
        }
        self.stop_fetching(now_ns);
        while let Some(entry) = self.at_leisure.first_entry().filter(|entry| entry.key().0 <= now_ns) {
            self.channel.send(now_ns, entry.remove(), false);
        }
        self.channel.handle_timeout(now_ns);
        self.settle(now_ns);
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called.
    pub fn poll_timeout(&self) -> Option<u64> {
        let acknowledgements = self.pending.values().filter_map(|pending| pending.acknowledge_at_ns);
        let fetching = self.observations.values().filter_map(|observation| observation.fetching);
        let fetching = fetching.map(|(until_ns, _)| until_ns);
        let at_leisure = self.at_leisure.keys().map(|(at_ns, _)| *at_ns);
        acknowledgements.chain(at_leisure).chain(fetching).chain(self.channel.poll_timeout()).min()
    }

    /// The next bytes to send.
    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.channel.poll_transmit()
    }

    /// What happened.
    pub fn poll_event(&mut self) -> Option<ServerEvent> {
        self.events.pop_front()
    }

    /// The stream is over: nothing more is to be read from it, and nothing is owed to a client that has released it (RFC 8323, section 5.5).
    pub fn is_closed(&self) -> bool {
        self.closed || self.released && self.pending.is_empty()
    }

    /// Nothing is under way, kept or remembered: a new server would do as well.
    pub fn is_idle(&mut self, now_ns: u64) -> bool {
        self.expire(now_ns);
        let nothing = self.pending.is_empty()
            && self.at_leisure.is_empty()
            && self.observations.is_empty()
            && self.uploads.is_empty()
            && self.kept.is_empty();
        nothing && self.channel.is_idle(now_ns)
    }

    fn take_request(&mut self, now_ns: u64, packet: &Packet, receipt: Receipt) {
        self.expire(now_ns);
        if self.options.separate && receipt.confirmable {
            self.channel.acknowledge(receipt);
        }
        let request = Pending {
            receipt,
            token: packet.get_token().to_vec(),
            method: Method::of(packet.header.code),
            target: target(packet),
            uploaded: None,
            wanted: None,
            acknowledge_at_ns: receipt.confirmable.then(|| now_ns.saturating_add(self.options.patience_ns)),
            acknowledged: self.options.separate,
            multicast: self.multicast,
        };
        if let Some(number) = unknown_critical(packet, KNOWN_CRITICAL) {
            return match receipt.confirmable || matches!(self.channel, Channel::Stream(_)) {
                true if PROXY.contains(&number) => self.refuse(now_ns, request, ResponseType::ProxyingNotSupported, ""),
                true => self.refuse(now_ns, request, ResponseType::BadOption, &format!("option {number}")),
                false => self.reject(receipt),
            };
        }
        let blocks = (Block::of(packet, CoapOption::Block1), Block::of(packet, CoapOption::Block2));
        let (Ok(uploaded), Ok(wanted)) = (blocks.0.transpose(), blocks.1.transpose()) else {
            return self.refuse(now_ns, request, ResponseType::BadRequest, "a block that makes no sense");
        };
        let request = Pending { uploaded, wanted, ..request };
        let later_block = wanted.filter(|block| block.number > 0 && uploaded.is_none());
        if later_block.is_some()
            && let Some(kept) = self.kept.get(&(request.method, request.target.clone()))
        {
            let response = kept.response.clone();
            let last = later_block.is_some_and(|block| block.offset() + block.size() >= response.payload.len());
            let target = request.target.clone();
            self.answer_pending(now_ns, request, response, None);
            return self.fetched(now_ns, &target, last);
        }
        match uploaded {
            None if later_block.is_some() && request.method != Method::Get => {
                self.refuse(now_ns, request, ResponseType::RequestEntityIncomplete, "no such response is kept");
            }
            None => self.ask(now_ns, request, packet, packet.payload.clone().into(), later_block.is_none()),
            Some(block) => self.take_block(now_ns, request, block, packet),
        }
    }

    /// A part of a request's body.
    fn take_block(&mut self, now_ns: u64, request: Pending, block: Block, packet: &Packet) {
        let key = (request.method, request.target.clone());
        let until_ns = now_ns.saturating_add(self.options.lifetime_ns);
        if block.number == 0 {
            self.uploads.insert(key.clone(), Upload { body: BytesMut::new(), until_ns });
        }
        let Some(upload) = self.uploads.get_mut(&key).filter(|upload| upload.body.len() == block.offset()) else {
            return self.refuse(
                now_ns,
                request,
                ResponseType::RequestEntityIncomplete,
                "a block before this one is missing",
            );
        };
        if block.more && packet.payload.len() != block.size() {
            return self.refuse(now_ns, request, ResponseType::BadRequest, "a block that is not full");
        }
        if upload.body.len() + packet.payload.len() > self.options.max_body_bytes {
            self.uploads.remove(&key);
            return self.refuse(now_ns, request, ResponseType::RequestEntityTooLarge, "");
        }
        upload.body.extend_from_slice(&packet.payload);
        upload.until_ns = until_ns;
        if block.more {
            let response = Response::new(ResponseType::Continue.into_code(), Bytes::new());
            return self.answer_pending(now_ns, request, response, None);
        }
        let body = self.uploads.remove(&key).expect("just looked at").body.freeze();
        self.ask(now_ns, request, packet, body, true);
    }

    fn ask(&mut self, now_ns: u64, request: Pending, packet: &Packet, payload: Bytes, may_observe: bool) {
        let observe = uint_option(packet, CoapOption::Observe).and_then(Result::ok);
        let is_get = request.method == Method::Get && may_observe;
        if is_get && observe == Some(1) {
            self.unobserve(now_ns, &request.token);
        }
        let asked = IncomingRequest {
            method: request.method,
            target: request.target.clone(),
            content_format: content_format(packet),
            accept: accept(packet),
            payload,
            observe: is_get && observe == Some(0),
        };
        let id = RequestId(self.draw_id());
        self.pending.insert(id, request);
        self.events.push_back(ServerEvent::IncomingRequest(id, asked));
    }

    /// Whoever is told no more is so before more is sent.
    fn settle(&mut self, now_ns: u64) {
        while let Some(event) = self.channel.poll_event() {
            if let SendEvent::GaveUp { id, .. } = event {
                self.unobserve_sent(now_ns, id);
            }
        }
        self.channel.send_waiting(now_ns);
    }

    fn expire(&mut self, now_ns: u64) {
        self.uploads.retain(|_, upload| upload.until_ns > now_ns);
        self.kept.retain(|_, kept| kept.until_ns > now_ns);
    }

    /// A message to a group is not rejected.
    fn reject(&mut self, receipt: Receipt) {
        if !self.multicast {
            self.channel.reject(receipt);
        }
    }

    fn draw_id(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}
