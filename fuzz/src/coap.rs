//! Arbitrary bytes to either end of a CoAP association, among what both send each other: no bytes stop an end, and time continues.

use std::collections::VecDeque;
use std::sync::Arc;

use arbitrary::{Result, Unstructured};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use wirelab_stacks::codec::coap::{
    Channel, Client, ClientEvent, Framing, MessageLayer, Method, Options, Parameters, Request, Response, Server,
    ServerEvent,
};

/// Steps of one dialogue, and datagrams under way in one direction, at most.
const MAX_STEPS: usize = 64;
const MAX_UNDER_WAY: usize = 256;

/// The bytes say which end sends what, and whether it arrives.
pub fn check(bytes: &[u8]) {
    // The input may end anywhere.
    let _ = play(&mut Unstructured::new(bytes));
}

/// Dialogues over datagrams and over a stream, of requests that need one message or several, with messages from outside among them.
pub fn seeds() -> Vec<Vec<u8>> {
    let outside: [&[u8]; 6] = [
        &[0x40, 1, 0, 9, 0xb5, b'b', b'y', b't', b'e', b's', 0x01, b'3'],
        &[0x44, 2, 0, 1, 1, 2, 3, 4, 0xd1, 14, 0x08, 0xff, 1],
        &[0x62, 0x45, 0, 1, 7, 7, 0x60, 0xff, 2],
        &[0x70, 0, 0, 1],
        &[0xd2, 0xe1, 3, 0x21, 0x08],
        &[0x40, 0, 0, 5],
    ];
    let mut seeds = Vec::new();
    for (number, bytes) in outside.iter().enumerate() {
        for stream in [0, 1] {
            let mut seed = vec![stream, number as u8, 3];
            for step in 0..12 {
                seed.extend([step % 8, step, bytes.len() as u8]);
                seed.extend_from_slice(bytes);
            }
            seeds.push(seed);
        }
    }
    seeds
}

struct Pair {
    client: Client,
    server: Server,
    now_ns: u64,
    /// To the client, to the server.
    under_way: [VecDeque<Vec<u8>>; 2],
}

fn play(input: &mut Unstructured<'_>) -> Result<()> {
    let mut pair = pair(input)?;
    pair.settle();
    for _ in 0..MAX_STEPS {
        let to_server = usize::from(input.arbitrary::<bool>()?);
        match input.int_in_range(0..=7u8)? {
            0 => {
                let length = usize::from(input.arbitrary::<u8>()?).min(input.len());
                let bytes = input.bytes(length)?.to_vec();
                pair.arrive(to_server, &bytes);
            }
            1 | 2 => {
                if let Some(bytes) = pair.under_way[to_server].pop_front() {
                    pair.arrive(to_server, &bytes);
                }
            }
            3 => {
                if let Some(mut bytes) = pair.under_way[to_server].pop_front() {
                    let at = input.choose_index(bytes.len().max(1))?;
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte = input.arbitrary()?;
                    }
                    pair.arrive(to_server, &bytes);
                }
            }
            4 => drop(pair.under_way[to_server].pop_front()),
            5 => pair.wait(),
            6 => {
                let observe = input.arbitrary()?;
                let (method, path) =
                    *input.choose(&[(Method::Get, "/a"), (Method::Post, "/b"), (Method::Other(7), "/a/b")])?;
                let payload = vec![7; usize::from(input.arbitrary::<u8>()?)].into();
                let request = Request { method, path: path.to_owned(), content_format: None, payload, observe };
                let id = pair.client.start(pair.now_ns, request);
                if input.ratio(1, 4)? {
                    pair.client.finish(pair.now_ns, id);
                }
            }
            _ => {
                if let Some(bytes) = pair.under_way[to_server].front().cloned() {
                    pair.arrive(to_server, &bytes);
                }
            }
        }
        pair.settle();
    }
    Ok(())
}

fn pair(input: &mut Unstructured<'_>) -> Result<Pair> {
    let parameters =
        Arc::new(Parameters { nstart: 1 + usize::from(input.arbitrary::<u8>()? % 3), ..Parameters::default() });
    let stream: bool = input.arbitrary()?;
    let channel = |seed| match stream {
        true => Channel::Stream(Framing::new(2_000, ChaCha8Rng::seed_from_u64(seed))),
        false => Channel::Datagrams(MessageLayer::new(parameters.clone(), ChaCha8Rng::seed_from_u64(seed))),
    };
    let options =
        Options { separate: input.arbitrary()?, skips: input.arbitrary()?, ..Options::new(&parameters, 0, 300) };
    let client = Client::new(channel(1), input.arbitrary::<u8>()? % 7, input.arbitrary()?);
    let server = Server::new(channel(2), options);
    Ok(Pair { client, server, now_ns: 1_000_000_000, under_way: Default::default() })
}

impl Pair {
    fn arrive(&mut self, to_server: usize, bytes: &[u8]) {
        // A malformed message is reported and the dialogue continues.
        let _ = match to_server {
            0 => self.client.receive(self.now_ns, bytes),
            _ => self.server.receive(self.now_ns, bytes),
        };
    }

    /// To the next instant at which something is due.
    fn wait(&mut self) {
        let due = [self.client.poll_timeout(), self.server.poll_timeout()].into_iter().flatten().min();
        let Some(due_ns) = due else { return };
        assert!(due_ns > self.now_ns, "due at {due_ns}, and it is {} already", self.now_ns);
        self.now_ns = due_ns;
        self.client.handle_timeout(self.now_ns);
        self.server.handle_timeout(self.now_ns);
    }

    /// Answers what is asked and takes out what is to be sent.
    fn settle(&mut self) {
        while let Some(event) = self.server.poll_event() {
            let ServerEvent::IncomingRequest(id, asked) = event else { continue };
            let payload = vec![1; 10 * asked.payload.len()].into();
            let response = Response::new(0x45.into(), payload);
            if asked.observe {
                if let Some(observer) = self.server.observe(self.now_ns, id, response.clone()) {
                    self.server.notify(self.now_ns, observer, response, asked.path() == "/a");
                }
            } else {
                self.server.respond(self.now_ns, id, response);
            }
        }
        while let Some(event) = self.client.poll_event() {
            if let ClientEvent::Ended(id, _) = event {
                assert!(
                    self.client.finish(self.now_ns, id).is_some(),
                    "an exchange that ended is there until finished"
                );
            }
        }
        while let Some(bytes) = self.client.poll_transmit() {
            self.under_way[1].push_back(bytes);
        }
        while let Some(bytes) = self.server.poll_transmit() {
            self.under_way[0].push_back(bytes);
        }
        for under_way in &mut self.under_way {
            assert!(under_way.len() < 100 * MAX_UNDER_WAY, "one step sends without end");
            under_way.truncate(MAX_UNDER_WAY);
        }
        for due_ns in [self.client.poll_timeout(), self.server.poll_timeout()].into_iter().flatten() {
            assert!(due_ns > self.now_ns, "due at {due_ns}, and it is {} already", self.now_ns);
        }
    }
}
