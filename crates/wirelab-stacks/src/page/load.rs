//! What a browser does to load a page, without I/O. It renders and runs nothing.

mod outcome;
mod pushes;
mod scheduling;
#[cfg(test)]
pub mod tests;

use std::sync::Arc;

use ring::digest::{Context, SHA256};
use wirelab_schema::{Exchange, FoundBy, Outcome, ResourceTiming};

use super::manifest::Page;
use super::priority::Priority;
use scheduling::Connections;

/// What a browser does over a version of HTTP.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Connections to one host at most.
    pub connections: usize,
    /// Requests share a connection, and say how urgent they are.
    pub overlap: bool,
    /// Requests under way from which on those that can wait do.
    pub concurrent: usize,
}

/// Six connections (Chromium's `g_max_sockets_per_group`), each with one request at a time.
pub const HTTP1: Rules = Rules { connections: 6, overlap: false, concurrent: MAX_DELAYABLE };
/// One connection with all requests at once, as Chromium does where it knows that the server has priorities
/// (`HttpServerProperties::SupportsRequestPriority`): by ALPN.
pub const HTTP2: Rules = Rules { connections: 1, overlap: true, concurrent: usize::MAX };
/// The same, once the server has said by `Alt-Svc` that it has HTTP/3.
pub const HTTP3: Rules = Rules { connections: 1, overlap: true, concurrent: MAX_DELAYABLE };
/// Chromium's `kMaxNumDelayableRequestsPerHostPerClient`.
const MAX_DELAYABLE: usize = 6;

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// Open the connection of this number.
    Connect(usize),
    /// Request what this fetch wants.
    Request {
        /// Which.
        fetch: usize,
        /// On which connection.
        connection: usize,
    },
}

/// One load of a page, as a browser does it with an empty cache: which request goes when, and on which connection.
///
/// No I/O and no clock: instants and what came are arguments. A resource is known when so much of its parent's body has arrived that names it,
/// when a hint names it, or when a push is promised; it is requested once, and once more if its connection or its push breaks. The load is
/// over with the last response of a resource that it knows, since every body that is complete has named what it names. A resource that fails takes
/// with it what only it names.
pub struct Load {
    page: Arc<Page>,
    rules: Rules,
    /// Of each resource of the page.
    wanted: Vec<Option<usize>>,
    fetches: Vec<Fetch>,
    connections: Connections,
    /// Images of documents that were found so far.
    images: usize,
}

/// A response that is wanted, or that was pushed.
struct Fetch {
    row: ResourceTiming,
    priority: Option<Priority>,
    state: State,
    hash: Context,
    /// How many of those that it names are known.
    named: usize,
    retried: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// Held back for others.
    Held,
    /// For a connection.
    Waiting,
    Busy,
    Ended,
}

impl Load {
    /// Navigates to the page's document.
    pub fn new(page: Arc<Page>, rules: Rules, now_ns: u64) -> Self {
        let wanted = vec![None; page.resources().len()];
        let mut load =
            Load { page, rules, wanted, fetches: Vec::new(), connections: Connections::default(), images: 0 };
        load.discover(0, FoundBy::Navigation, now_ns);
        load
    }

    /// The next thing to do, until there is none.
    pub fn poll(&mut self, now_ns: u64) -> Option<Action> {
        self.release();
        let next = self.next(now_ns);
        if next.is_some() || !self.see_images() {
            return next;
        }
        self.release();
        self.next(now_ns)
    }

    fn next(&mut self, now_ns: u64) -> Option<Action> {
        let startable = self.startable();
        let first = *startable.first()?;
        if let Some(number) = self.connections.free(self.rules) {
            let said = self.request(first).1;
            let Fetch { row, state, .. } = &mut self.fetches[first];
            let connection = &mut self.connections[number];
            *state = State::Busy;
            row.connection = Some(number as u32);
            row.connection_reused = connection.take();
            row.urgency = said.map(|priority| priority.urgency);
            row.incremental = said.map(|priority| priority.incremental);
            if !row.connection_reused {
                connection.stamp(row);
            }
            return Some(Action::Request { fetch: first, connection: number });
        }
        let needed = if self.rules.overlap { 1 } else { startable.len() };
        let opens = self.connections.opening() < needed && self.connections.live() < self.rules.connections;
        opens.then(|| Action::Connect(self.connections.open(now_ns)))
    }

    /// The path that a fetch asks for, and what its request says of its priority.
    pub fn request(&self, fetch: usize) -> (&str, Option<Priority>) {
        let Fetch { row, priority, .. } = &self.fetches[fetch];
        (&row.path, priority.filter(|_| self.rules.overlap))
    }

    /// A connection is there; `phases` has its stamps.
    pub fn handle_connected(&mut self, connection: usize, phases: &Exchange) {
        self.connections[connection].handle_connected(phases);
    }

    /// A connection did not come about: the first that waits for one fails, or all that would have shared it.
    pub fn handle_not_connected(&mut self, connection: usize, phases: &Exchange) {
        self.connections[connection].handle_gone();
        let waiting = self.startable();
        if let Some(first) = waiting.first() {
            let row = &mut self.fetches[*first].row;
            row.connection = Some(connection as u32);
            self.connections[connection].stamp(row);
        }
        for fetch in waiting.into_iter().take(if self.rules.overlap { usize::MAX } else { 1 }) {
            self.end(fetch, phases.end_ns, phases.outcome, phases.error.clone());
        }
    }

    /// A connection takes no more requests.
    pub fn handle_gone(&mut self, connection: usize) {
        self.connections[connection].handle_gone();
    }

    /// The final response's status.
    pub fn handle_status(&mut self, fetch: usize, status: u16) {
        self.fetches[fetch].row.status = Some(status);
    }

    /// The server has told that it has HTTP/3, and so priorities.
    pub fn handle_http3(&mut self) {
        if self.rules.overlap {
            self.rules.concurrent = usize::MAX;
        }
    }

    /// Some of a body.
    pub fn handle_data(&mut self, fetch: usize, bytes: &[u8], now_ns: u64) {
        let Fetch { row, hash, .. } = &mut self.fetches[fetch];
        row.body_received_bytes += bytes.len() as u64;
        hash.update(bytes);
        self.discover_named(fetch, now_ns);
    }

    /// Something said that the page needs `path`. What the page does not have is not fetched.
    pub fn handle_hint(&mut self, path: &str, now_ns: u64) {
        if let Some(resource) = self.page.find(path) {
            self.discover(resource, FoundBy::Hint, now_ns);
        }
    }

    /// A response ended, or was given up; `stamps` has its stamps, outcome and error.
    pub fn handle_end(&mut self, fetch: usize, stamps: &Exchange) {
        let Fetch { row, state, retried, .. } = &mut self.fetches[fetch];
        let connection = row.connection.expect("it had one") as usize;
        self.connections[connection].release();
        row.request_start_ns = stamps.request_start_ns;
        row.first_response_byte_ns = stamps.first_response_byte_ns;
        let broken = stamps.outcome == Outcome::Failed;
        let unanswered = broken && row.connection_reused && !row.pushed && stamps.first_response_byte_ns.is_none();
        // The server closed a connection that it thought idle (RFC 9112, section 9.3.1), or took no more requests on it (RFC 9113, section 6.8).
        if unanswered && !*retried && (!self.rules.overlap || self.connections[connection].is_gone()) {
            (*state, *retried) = (State::Waiting, true);
            self.connections[connection].handle_gone();
            return;
        }
        let breaks_off = broken && row.pushed;
        let (outcome, error) = match stamps.outcome {
            Outcome::Completed => self.judge(fetch),
            outcome => (outcome, stamps.error.clone()),
        };
        self.end(fetch, stamps.end_ns, outcome, error);
        if outcome == Outcome::Completed {
            self.discover_named(fetch, stamps.end_ns);
        }
        if breaks_off {
            self.ask_instead(fetch);
        }
    }

    /// True once all that it knows of the page has ended.
    pub fn is_over(&self) -> bool {
        self.wanted.iter().flatten().all(|fetch| self.fetches[*fetch].state == State::Ended)
    }

    fn end(&mut self, fetch: usize, end_ns: u64, outcome: Outcome, error: Option<String>) {
        let Fetch { row, state, .. } = &mut self.fetches[fetch];
        *state = State::Ended;
        (row.end_ns, row.outcome, row.error) = (end_ns, outcome, error);
    }

    fn discover_named(&mut self, fetch: usize, now_ns: u64) {
        let Fetch { row, named, .. } = &self.fetches[fetch];
        let (Some(resource), Some(200..300), arrived) = (row.resource, row.status, row.body_received_bytes) else {
            return;
        };
        let page = self.page.clone();
        let unknown = &page.named_by(resource as usize)[*named..];
        let known = unknown.iter().take_while(|child| page.resources()[**child].at_bytes <= arrived).count();
        self.fetches[fetch].named += known;
        for child in &unknown[..known] {
            self.discover(*child, FoundBy::Body, now_ns);
        }
    }

    fn discover(&mut self, resource: usize, found_by: FoundBy, now_ns: u64) -> usize {
        if let Some(fetch) = self.wanted[resource] {
            return fetch;
        }
        let path = self.page.resources()[resource].path.clone();
        let fetch = self.add(Some(resource), path, found_by, now_ns);
        self.wanted[resource] = Some(fetch);
        fetch
    }

    fn add(&mut self, resource: Option<usize>, path: String, found_by: FoundBy, now_ns: u64) -> usize {
        let priority = resource.map(|resource| self.first_priority(resource, found_by));
        let row = ResourceTiming {
            resource: resource.map(|resource| resource as u32),
            path,
            found_by,
            discovered_ns: now_ns,
            ..ResourceTiming::default()
        };
        let hash = Context::new(&SHA256);
        self.fetches.push(Fetch { row, priority, state: State::Held, hash, named: 0, retried: false });
        self.fetches.len() - 1
    }
}
