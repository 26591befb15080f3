//! One load under way: the engine of `load` over real connections. What is fetched when is decided in `load`.

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use http::Request;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use wirelab_schema::Exchange;

use super::{Browser, Event, Line, Made};
use crate::base::context::Stop;
use crate::page::load::{Action, Load};
use crate::page::{Fetch, Part, hints, priority};

/// A load under way.
pub struct Run<'a, F: Fetch> {
    browser: &'a Browser<'a, F>,
    /// What it decides.
    pub load: Load,
    /// Connections by number; `None` while it is opened.
    pub lines: Vec<Option<Line<F::Connection>>>,
    /// Stamps of the document's request, once it has ended.
    pub document: Option<Exchange>,
    tasks: FuturesUnordered<BoxFuture<'a, ()>>,
    sender: UnboundedSender<Event<F>>,
    receiver: UnboundedReceiver<Event<F>>,
    cancelled: Stop,
}

impl<'a, F: Fetch> Run<'a, F> {
    /// At its start; `cancelled` ends what is under way.
    pub fn new(browser: &'a Browser<'a, F>, load: Load, cancelled: Stop) -> Self {
        let (sender, receiver) = unbounded_channel();
        let tasks = FuturesUnordered::new();
        Run { browser, load, lines: Vec::new(), document: None, tasks, sender, receiver, cancelled }
    }

    /// To the load's end; or, when everything was cancelled, until all has ended that was under way.
    pub async fn run(&mut self, cancelled: bool) {
        loop {
            // What was heard comes before what is done next: a promise may be of what would be asked for.
            while let Ok(event) = self.receiver.try_recv() {
                self.handle(event);
            }
            if !cancelled {
                self.act();
                if self.load.is_over() {
                    return;
                }
            }
            tokio::select! {
                biased;
                Some(event) = self.receiver.recv() => self.handle(event),
                ended = self.tasks.next() => {
                    // Its last words are in the channel.
                    if ended.is_none() && self.receiver.is_empty() {
                        return;
                    }
                }
            }
        }
    }

    fn act(&mut self) {
        let browser = self.browser;
        self.look_for_closed();
        while let Some(action) = self.load.poll(browser.clock.now_ns()) {
            let (cancelled, sender) = (self.cancelled.clone(), self.sender.clone());
            match action {
                Action::Connect(number) => {
                    self.lines.push(None);
                    self.tasks.push(Box::pin(browser.connect(number, cancelled, sender)));
                }
                Action::Request { fetch, connection } => {
                    let line = self.lines[connection].as_mut().expect("it is there");
                    let shared = line.connection.as_ref().and_then(|connection| browser.version.share(connection));
                    let handle = shared.or_else(|| line.connection.take()).expect("no other request has it");
                    let request = self.request(fetch);
                    let task = browser.fetch(fetch, (connection, handle), request, cancelled, sender);
                    self.tasks.push(Box::pin(task));
                }
            }
        }
    }

    /// A server may close a connection that it thinks idle, or say that it takes no more requests on it.
    fn look_for_closed(&mut self) {
        for (number, line) in self.lines.iter().enumerate() {
            let connection = line.as_ref().and_then(|line| line.connection.as_ref());
            if connection.is_some_and(|connection| !self.browser.version.is_usable(connection)) {
                self.load.handle_gone(number);
            }
        }
    }

    fn request(&self, fetch: usize) -> Request<()> {
        let (path, priority) = self.load.request(fetch);
        let request = self.browser.origin.get(path);
        let request = match priority.and_then(|priority| priority.field()) {
            Some(value) => request.header(priority::FIELD, value),
            None => request,
        };
        request.body(()).expect("a path of the manifest")
    }

    fn handle(&mut self, event: Event<F>) {
        match event {
            Event::Connected { connection, made } => {
                let Made { attempt, result } = *made;
                match result {
                    Ok(line) => {
                        self.load.handle_connected(connection, &attempt.exchange);
                        self.lines[connection] = Some(Line { connection: Some(line), attempt });
                    }
                    Err(error) => self.load.handle_not_connected(connection, &attempt.finish(Err(error))),
                }
            }
            Event::Heard { fetch, part, now_ns } => self.hear(fetch, part, now_ns),
            Event::Ended { fetch, stamps, connection } => {
                if let Some((number, connection)) = connection {
                    if !self.browser.version.is_usable(&connection) {
                        self.load.handle_gone(number);
                    }
                    let line = self.lines[number].as_mut().expect("it was there");
                    line.connection.get_or_insert(connection);
                }
                self.load.handle_end(fetch, &stamps);
                if fetch == 0 {
                    self.document = Some(*stamps);
                }
            }
        }
    }

    fn hear(&mut self, fetch: usize, part: Part<F::Promise>, now_ns: u64) {
        match part {
            Part::Interim(fields) => self.hear_hints(&fields, now_ns),
            Part::Head(status, fields) => {
                self.load.handle_status(fetch, status.as_u16());
                if hints::says_http3(&fields) {
                    self.load.handle_http3();
                }
                self.hear_hints(&fields, now_ns);
            }
            Part::Data(bytes) => self.load.handle_data(fetch, &bytes, now_ns),
            Part::Promise(path, promise) => {
                // Dropped, it is refused with RST_STREAM.
                let Some(pushed) = self.load.handle_promise(&path, fetch, now_ns) else { return };
                let task = self.browser.fetch_pushed(pushed, promise, self.cancelled.clone(), self.sender.clone());
                self.tasks.push(Box::pin(task));
            }
        }
    }

    fn hear_hints(&mut self, fields: &http::HeaderMap, now_ns: u64) {
        for path in hints::preloads(fields) {
            self.load.handle_hint(&path, now_ns);
        }
    }
}
