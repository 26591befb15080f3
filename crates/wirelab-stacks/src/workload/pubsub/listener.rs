//! One subscriber's part of `pubsub` and `stream`: how it waits, and its rows.

use std::time::Duration;

use bytes::Bytes;
use wirelab_schema::{Exchange, Extension, MessageExtension, Wait};

use super::{Audience, PATIENCE, Subscriber};
use crate::workload::waiting::Contacts;
use crate::workload::{Attempt, ExchangeError, POLL_BYTES};

/// Between a subscription that fails and the next.
const PAUSE: Duration = Duration::from_millis(100);

/// A message as it came to one subscriber.
#[derive(Clone, Copy, Default)]
struct Arrival {
    published_ns: u64,
    came_ns: u64,
    copies: u32,
    /// Of the connection on which it came first.
    local_port: Option<u16>,
}

/// One subscriber's part.
pub struct Listener<'a, S: Subscriber> {
    subscriber: S,
    number: u32,
    audience: &'a Audience,
    subscription: Option<S::Subscription>,
    local_port: Option<u16>,
    arrivals: Vec<Arrival>,
    missing: usize,
    /// How many messages it has, if those that came were in order.
    received: u32,
    settled: bool,
    /// Why it has no subscription, or what came was no message.
    error: Option<String>,
}

impl<'a, S: Subscriber> Listener<'a, S> {
    /// The subscriber with this number.
    pub fn new(subscriber: S, number: u32, audience: &'a Audience) -> Self {
        let missing = audience.messages.count() as usize;
        Listener {
            subscriber,
            number,
            audience,
            subscription: None,
            local_port: None,
            arrivals: vec![Arrival::default(); missing],
            missing,
            received: 0,
            settled: false,
            error: None,
        }
    }

    /// Until every message has come or the time of the last is up, and the last has had its gap.
    pub async fn hear(&mut self) {
        match self.audience.workload.wait {
            Wait::Connected => self.stay_connected().await,
            Wait::CheckIn { every_ns, .. } | Wait::Poll { every_ns } => self.come_every(every_ns).await,
        }
        self.settle();
    }

    async fn stay_connected(&mut self) {
        let clock = self.audience.clock.clone();
        let patience_ns = clock.now_ns().saturating_add(PATIENCE.as_nanos() as u64);
        loop {
            let is_missing = self.missing > 0;
            match &mut self.subscription {
                None if self.audience.end_ns(is_missing).is_some_and(|end_ns| clock.now_ns() >= end_ns) => break,
                None => self.connect().await,
                Some(subscription) => tokio::select! {
                    message = self.subscriber.next(subscription) => self.take(message),
                    () = self.audience.end(is_missing) => break,
                },
            }
            if self.subscription.is_some() || clock.now_ns() >= patience_ns {
                self.settle();
            }
        }
    }

    async fn come_every(&mut self, every_ns: u64) {
        let (audience, clock) = (self.audience, self.audience.clock.clone());
        let patience_ns = clock.now_ns().saturating_add(PATIENCE.as_nanos() as u64);
        while !self.come_first().await && clock.now_ns() < patience_ns {
            tokio::time::sleep(PAUSE).await;
        }
        self.settle();
        // The other side counts first contacts, not who made them.
        audience.all_wait().await;
        let contacts = Contacts::new(every_ns, audience.seed, self.number, clock.now_ns());
        loop {
            let is_missing = self.missing > 0;
            let contact = async {
                clock.sleep_until(contacts.next_ns(clock.now_ns())).await;
                self.come().await;
            };
            tokio::select! {
                () = contact => {}
                () = audience.end(is_missing) => break,
            }
        }
    }

    /// The first contact, with which the other side knows it. What is published after it waits for the next one.
    async fn come_first(&mut self) -> bool {
        match self.audience.workload.wait {
            Wait::Poll { .. } => self.poll().await,
            Wait::Connected | Wait::CheckIn { .. } => {
                self.connect().await;
                let is_known = self.subscription.is_some();
                self.leave().await;
                is_known
            }
        }
    }

    async fn come(&mut self) {
        match self.audience.workload.wait {
            Wait::CheckIn { stay_ns, .. } => self.check_in(Duration::from_nanos(stay_ns)).await,
            Wait::Poll { .. } => {
                self.poll().await;
            }
            Wait::Connected => {}
        }
    }

    /// Opens a connection, takes what waits for it, and closes it.
    async fn check_in(&mut self, stay: Duration) {
        self.connect().await;
        while let Some(subscription) = &mut self.subscription {
            match tokio::time::timeout(stay, self.subscriber.next(subscription)).await {
                Ok(message) => self.take(message),
                Err(_) => break,
            }
        }
        self.leave().await;
    }

    /// Asks for what is new, until no more is there. A connection that has ended is opened anew, once. Whether there was an answer.
    async fn poll(&mut self) -> bool {
        loop {
            let is_new = self.subscription.is_none();
            if is_new {
                self.connect().await;
            }
            let Some(subscription) = &mut self.subscription else { return false };
            let fetch = self.subscriber.fetch(subscription, self.received);
            match tokio::time::timeout(self.audience.contact_limit(), fetch)
                .await
                .unwrap_or(Err(ExchangeError::TimedOut))
            {
                Ok(messages) => {
                    self.error = None;
                    let (held, next) =
                        (messages.iter().map(Bytes::len).sum::<usize>(), messages.last().map_or(0, Bytes::len));
                    messages.into_iter().for_each(|message| self.take(Ok(message)));
                    // An answer holds so much, and there may be more.
                    if held + next <= POLL_BYTES || self.missing == 0 {
                        return true;
                    }
                }
                Err(error) => {
                    self.error = Some(format!("fetching: {error}"));
                    self.subscription = None;
                    if is_new {
                        return false;
                    }
                }
            }
        }
    }

    /// Subscribes or, to ask by request, opens a connection alone.
    async fn connect(&mut self) {
        let audience = self.audience;
        let mut attempt = Attempt::start(audience.clock.clone(), 0, None);
        let connect = async {
            match audience.workload.wait {
                Wait::Poll { .. } => self.subscriber.open(&mut attempt).await,
                Wait::Connected | Wait::CheckIn { .. } => self.subscriber.subscribe(&mut attempt).await,
            }
        };
        let connected = tokio::time::timeout(audience.contact_limit(), connect).await;
        match connected.unwrap_or(Err(ExchangeError::TimedOut)) {
            Ok(subscription) => {
                self.subscription = Some(subscription);
                self.local_port = attempt.exchange.local_port;
                self.error = None;
            }
            Err(error) => {
                self.error = Some(format!("subscribing: {error}"));
                tokio::time::sleep(PAUSE).await;
            }
        }
    }

    async fn leave(&mut self) {
        if let Some(subscription) = self.subscription.take() {
            self.subscriber.close(subscription).await;
        }
    }

    /// The others need not wait for it, once.
    fn settle(&mut self) {
        if !self.settled {
            self.settled = true;
            self.audience.settled();
        }
    }

    fn take(&mut self, message: Result<Bytes, ExchangeError>) {
        let came_ns = self.audience.clock.now_ns();
        if message.is_err() {
            self.subscription = None;
        }
        match message.and_then(|message| self.audience.messages.read(&message)) {
            Ok((index, published_ns)) => {
                let arrival = &mut self.arrivals[index as usize];
                if arrival.copies == 0 {
                    (arrival.published_ns, arrival.came_ns) = (published_ns, came_ns);
                    arrival.local_port = self.local_port;
                    self.missing -= 1;
                }
                arrival.copies += 1;
                self.received = self.received.max(index + 1);
                self.audience.published(index, published_ns);
            }
            Err(error) => self.error = Some(error.to_string()),
        }
    }

    /// One row for each message whose fate is known.
    pub fn rows(&self, stopped: bool) -> Vec<Exchange> {
        let now_ns = self.audience.clock.now_ns();
        let rows = (0..).zip(&self.arrivals).map(|(index, arrival)| self.row(index, arrival));
        let came = |row: &Exchange| row.message().is_some_and(|columns| columns.copies > Some(0));
        rows.filter(|row| !stopped || came(row) || row.end_ns <= now_ns).collect()
    }

    fn row(&self, index: u32, arrival: &Arrival) -> Exchange {
        let intended_start_ns = self.audience.origin_ns().saturating_add(self.audience.due_ns[index as usize]);
        let up_ns = intended_start_ns.saturating_add(self.audience.workload.timeout_ns);
        let came = arrival.copies > 0;
        let ended = match &self.error {
            _ if came && arrival.came_ns <= up_ns => Ok(()),
            Some(error) if !came => Err(ExchangeError::new(error.clone())),
            _ => Err(ExchangeError::TimedOut),
        };
        let mut attempt = Attempt::start(self.audience.clock.clone(), index, Some(intended_start_ns));
        attempt.exchange = Exchange {
            client: self.number,
            start_ns: if came { arrival.published_ns } else { intended_start_ns },
            end_ns: if came { arrival.came_ns.min(up_ns) } else { up_ns },
            body_received_bytes: if came { self.audience.messages.length() as u64 } else { 0 },
            local_port: if came { arrival.local_port } else { self.local_port },
            connection_reused: true,
            extension: Extension::Message(MessageExtension { copies: Some(arrival.copies) }),
            ..attempt.exchange
        };
        attempt.finish(ended)
    }

    /// Says good-bye, if it has a connection.
    pub async fn close(mut self) {
        self.leave().await;
    }
}
