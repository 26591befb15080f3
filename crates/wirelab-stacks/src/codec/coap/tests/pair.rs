//! A client and a server on a clock that jumps to the next thing that happens, over a path that does to each datagram what the test says.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use bytes::Bytes;
use coap_lite::{CoapOption, MessageType, Packet};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::super::block::Block;
use super::super::message::{Class, class, decode, target};
use super::super::*;

pub const MS: u64 = 1_000_000;
pub const SECOND: u64 = 1_000 * MS;
/// Each way.
pub const LATENCY_NS: u64 = 10 * MS;
/// No dialogue goes on for longer.
const LONG_NS: u64 = 1_000 * SECOND;

/// What the path does to a datagram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fate {
    Arrives,
    Lost,
    Twice,
    /// Later than others by so much.
    Late(u64),
}

/// Decides by the number of the datagram among those of its direction, from 0, and what it says.
pub type Path = Box<dyn FnMut(usize, &str) -> Fate>;

pub struct Pair {
    pub client: Client,
    pub server: Server,
    pub now_ns: u64,
    /// Each datagram sent: milliseconds, `>` of the client or `<` of the server, what it says, and ` x` if it was lost.
    pub log: Vec<String>,
    /// What the client learned, with its instant.
    pub learned: VecDeque<(u64, ClientEvent)>,
    /// What the server's application was asked.
    pub asked: Vec<IncomingRequest>,
    pub observers: Vec<ObservationId>,
    pub unobserved: usize,
    /// How long the application takes.
    pub thinking_ns: u64,
    pub up: Path,
    pub down: Path,
    sent: [usize; 2],
    under_way: BTreeMap<(u64, u64), (bool, Vec<u8>)>,
    answers: BTreeMap<(u64, u64), (RequestId, IncomingRequest)>,
    serial: u64,
}

/// Parameters without the random part of the first wait, so that instants are round.
pub fn parameters() -> Parameters {
    Parameters { ack_random_factor_percent: 100, ..Parameters::default() }
}

pub fn layer(parameters: &Parameters, seed: u64) -> MessageLayer {
    MessageLayer::new(Arc::new(parameters.clone()), ChaCha8Rng::seed_from_u64(seed))
}

pub fn get(path: &str) -> Request {
    Request { method: Method::Get, path: path.to_owned(), content_format: None, payload: Bytes::new(), observe: false }
}

pub fn post(bytes: usize) -> Request {
    Request { method: Method::Post, payload: body(bytes), path: "/upload".to_owned(), ..get("") }
}

/// A body no two blocks of which are alike.
pub fn body(bytes: usize) -> Bytes {
    (0..bytes).map(|position| (position / 16 + position) as u8).collect()
}

pub fn content(payload: Bytes) -> Response {
    Response::new(0x45.into(), payload)
}

impl Pair {
    pub fn new(parameters: &Parameters) -> Self {
        Self::with(parameters, 6, true, Options::new(parameters, 6, 1 << 20))
    }

    pub fn with(parameters: &Parameters, szx: u8, confirmable: bool, options: Options) -> Self {
        let client = Client::new(Channel::Datagrams(layer(parameters, 1)), szx, confirmable);
        let server = Server::new(Channel::Datagrams(layer(parameters, 2)), options);
        Self::of(client, server)
    }

    pub fn over_stream(max_message_bytes: usize) -> Self {
        let framing = |seed| Channel::Stream(Framing::new(max_message_bytes, ChaCha8Rng::seed_from_u64(seed)));
        let options = Options::new(&parameters(), 6, 1 << 20);
        Self::of(Client::new(framing(1), 6, true), Server::new(framing(2), options))
    }

    fn of(client: Client, server: Server) -> Self {
        Pair {
            client,
            server,
            now_ns: 0,
            log: Vec::new(),
            learned: VecDeque::new(),
            asked: Vec::new(),
            observers: Vec::new(),
            unobserved: 0,
            thinking_ns: 0,
            up: Box::new(|_, _| Fate::Arrives),
            down: Box::new(|_, _| Fate::Arrives),
            sent: [0; 2],
            under_way: BTreeMap::new(),
            answers: BTreeMap::new(),
            serial: 0,
        }
    }

    pub fn start(&mut self, request: Request) -> ExchangeId {
        let id = self.client.start(self.now_ns, request);
        self.flush();
        id
    }

    /// A change of the state, which every observer is told.
    pub fn change(&mut self, payload: Bytes, confirmable: bool) {
        for observer in self.observers.clone() {
            self.server.notify(self.now_ns, observer, content(payload.clone()), confirmable);
        }
        self.flush();
    }

    /// Nobody waits for the answer any more.
    pub fn finish(&mut self, id: ExchangeId) {
        self.client.finish(self.now_ns, id);
        self.flush();
    }

    /// Until `end_ns`.
    pub fn run_until(&mut self, end_ns: u64) {
        self.play(end_ns);
        self.now_ns = end_ns;
    }

    /// Until nothing more is going to happen.
    pub fn run(&mut self) {
        let end_ns = self.now_ns + LONG_NS;
        self.play(end_ns);
    }

    fn play(&mut self, end_ns: u64) {
        loop {
            let due = [
                self.under_way.keys().next().map(|(at_ns, _)| *at_ns),
                self.answers.keys().next().map(|(at_ns, _)| *at_ns),
                self.client.poll_timeout(),
                self.server.poll_timeout(),
            ];
            let Some(next_ns) = due.into_iter().flatten().min().filter(|next_ns| *next_ns <= end_ns) else { break };
            self.now_ns = self.now_ns.max(next_ns);
            self.step();
        }
    }

    /// The only response, which there must be.
    pub fn response(&mut self) -> Response {
        match self.learned.pop_front() {
            Some((_, ClientEvent::Response(_, response))) => response,
            other => panic!("{other:?}\n{}", self.log.join("\n")),
        }
    }

    /// How the only exchange ended, and when.
    pub fn ended(&mut self) -> (u64, Ended) {
        match self.learned.pop_front() {
            Some((at_ns, ClientEvent::Ended(_, ended))) => (at_ns, ended),
            other => panic!("{other:?}\n{}", self.log.join("\n")),
        }
    }

    fn step(&mut self) {
        let now_ns = self.now_ns;
        while let Some(entry) = self.under_way.first_entry().filter(|entry| entry.key().0 <= now_ns) {
            let (to_server, bytes) = entry.remove();
            let received = match to_server {
                true => self.server.receive(now_ns, &bytes),
                false => self.client.receive(now_ns, &bytes),
            };
            received.expect("each understands the other");
            self.flush();
        }
        while let Some(entry) = self.answers.first_entry().filter(|entry| entry.key().0 <= now_ns) {
            let (id, asked) = entry.remove();
            self.answer(id, &asked);
        }
        self.client.handle_timeout(now_ns);
        self.server.handle_timeout(now_ns);
        self.flush();
    }

    fn answer(&mut self, id: RequestId, asked: &IncomingRequest) {
        let response = match (asked.method, asked.path().strip_prefix("/bytes/").and_then(|number| number.parse().ok()))
        {
            (Method::Get, Some(number)) => content(body(number)),
            (Method::Get, None) => content(Bytes::from_static(b"0")),
            _ => Response::new(0x44.into(), Bytes::new()),
        };
        if asked.observe {
            let observer = self.server.observe(self.now_ns, id, response).expect("it is pending");
            self.observers.push(observer);
        } else {
            self.server.respond(self.now_ns, id, response);
        }
        self.flush();
    }

    fn flush(&mut self) {
        while let Some(event) = self.server.poll_event() {
            match event {
                ServerEvent::IncomingRequest(id, asked) => {
                    self.asked.push(asked.clone());
                    self.serial += 1;
                    match self.thinking_ns {
                        0 => self.answer(id, &asked),
                        thinking_ns => drop(self.answers.insert((self.now_ns + thinking_ns, self.serial), (id, asked))),
                    }
                }
                ServerEvent::Unobserved(id) => {
                    self.observers.retain(|observer| *observer != id);
                    self.unobserved += 1;
                }
            }
        }
        while let Some(event) = self.client.poll_event() {
            self.learned.push_back((self.now_ns, event));
        }
        while let Some(bytes) = self.client.poll_transmit() {
            self.carry(true, bytes);
        }
        while let Some(bytes) = self.server.poll_transmit() {
            self.carry(false, bytes);
        }
    }

    fn carry(&mut self, to_server: bool, bytes: Vec<u8>) {
        let text = decode(&bytes).map_or_else(|_| format!("{} bytes", bytes.len()), |packet| show(&packet));
        let number = &mut self.sent[usize::from(to_server)];
        let fate = if to_server { (self.up)(*number, &text) } else { (self.down)(*number, &text) };
        *number += 1;
        let (arrow, lost) = (if to_server { '>' } else { '<' }, if fate == Fate::Lost { " x" } else { "" });
        self.log.push(format!("{} {arrow} {text}{lost}", self.now_ns / MS));
        let delays: &[u64] = match &fate {
            Fate::Arrives => &[0],
            Fate::Lost => &[],
            Fate::Twice => &[0, 0],
            Fate::Late(by_ns) => std::slice::from_ref(by_ns),
        };
        for delay_ns in delays {
            self.serial += 1;
            self.under_way.insert((self.now_ns + LATENCY_NS + delay_ns, self.serial), (to_server, bytes.clone()));
        }
    }
}

/// As the figures of the RFCs have it: type, code, path, observe and block options (`2:NUM/M/SIZE`), length of the payload.
pub fn show(packet: &Packet) -> String {
    let mut words = vec![
        match packet.header.get_type() {
            MessageType::Confirmable => "CON",
            MessageType::NonConfirmable => "NON",
            MessageType::Acknowledgement => "ACK",
            MessageType::Reset => "RST",
        }
        .to_owned(),
    ];
    match (class(packet), Method::of(packet.header.code)) {
        (Class::Empty, _) => {}
        (Class::Request, method) => words.push(format!("{method:?} {}", target(packet)).to_uppercase()),
        _ => words.push(packet.header.code.to_string()),
    }
    if let Some(value) = packet.get_first_option(CoapOption::Observe) {
        words.push(format!("o:{}", value.iter().fold(0u32, |sum, byte| sum << 8 | u32::from(*byte))));
    }
    for (number, option) in [(1, CoapOption::Block1), (2, CoapOption::Block2)] {
        if let Some(Ok(block)) = Block::of(packet, option) {
            words.push(format!("{number}:{}/{}/{}", block.number, u8::from(block.more), block.size()));
        }
    }
    if !packet.payload.is_empty() {
        words.push(format!("+{}", packet.payload.len()));
    }
    words.join(" ")
}
