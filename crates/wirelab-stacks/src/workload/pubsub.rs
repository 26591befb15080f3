//! `pubsub` and `stream` for any protocol: subscribers that wait for messages. What a subscription is on the wire is the protocol's.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use tokio::sync::Notify;
use wirelab_schema::{Exchange, Extension, MessageExtension, PubSub};

use super::changes::Messages;
use super::schedule::Schedule;
use super::{Attempt, ExchangeError, Work};
use crate::{Clock, Context, StackError};

/// How long the others wait for a subscriber that does not succeed, and how long all wait for the first message before its time-out begins.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);
/// Between a subscription that fails and the next.
const PAUSE: Duration = Duration::from_millis(100);

/// The protocol code of a client that waits for messages: [`listen`] does the rest.
pub trait Subscriber: Send + Sync + 'static {
    /// A subscription that the other side has confirmed.
    type Subscription: Send + 'static;

    /// Subscribes, with a new connection. Returning means that the other side has confirmed it. Also called when a subscription has failed: a
    /// protocol that can then have sent what was missed does so.
    fn subscribe(
        &self,
        attempt: &mut Attempt,
    ) -> impl Future<Output = Result<Self::Subscription, ExchangeError>> + Send;

    /// The next message. Returning an error ends the subscription. Given up only when nothing more is wanted.
    fn next(&self, subscription: &mut Self::Subscription) -> impl Future<Output = Result<Bytes, ExchangeError>> + Send;

    /// Says good-bye without waiting for the peer.
    fn close(&self, subscription: Self::Subscription) -> impl Future<Output = ()> + Send;
}

/// Performs the workload with a subscriber of `make` for each of its `subscribers`, counted from 0: says `ready` when all are confirmed, and records
/// a row for each message and subscriber, until all messages have come or their time is up and the last has had its gap, or until stopped. When
/// stopped, what has not come and could have is not recorded.
pub async fn listen<S: Subscriber>(
    context: Context,
    make: impl Fn(&Context, u32) -> Result<S, StackError>,
) -> Result<(), StackError> {
    let workload = Work::changes(&context.parameters.workload);
    let subscribers: Vec<S> =
        (0..workload.subscribers).map(|subscriber| make(&context, subscriber)).collect::<Result<_, _>>()?;
    let Context { parameters, clock, mut recorder, mut stop, ready, .. } = context;
    let (due_ns, after_last_ns) = due(&workload, parameters.seed);
    let audience = Audience {
        messages: Messages::new(&parameters),
        last_due_ns: due_ns.last().copied().unwrap_or(0),
        after_last_ns,
        due_ns,
        unsubscribed: AtomicU32::new(workload.subscribers),
        ready: Mutex::new((Some(ready), None)),
        origin_ns: Mutex::new(None),
        learned: Notify::new(),
        clock,
        workload,
    };
    let mut listeners: Vec<_> = subscribers
        .into_iter()
        .zip(0..)
        .map(|(subscriber, number)| Listener::new(subscriber, number, &audience))
        .collect();
    let stopped = tokio::select! {
        _ = join_all(listeners.iter_mut().map(Listener::hear)) => false,
        () = stop.stopped() => true,
    };
    for listener in listeners {
        for row in listener.rows(stopped) {
            recorder.record(row)?;
        }
        listener.close().await;
    }
    recorder.finish()
}

/// When each message is due, and when the one after the last would be, counted from the first instant of publishing.
fn due(workload: &PubSub, seed: u64) -> (Vec<u64>, u64) {
    let mut schedule = Schedule::new(&workload.arrival, workload.messages, seed, 0, 0);
    let due_ns = std::iter::from_fn(|| schedule.next_instant()).map(|(_, due_ns)| due_ns).collect();
    (due_ns, schedule.end_ns().expect("checked: an open loop"))
}

/// What the subscribers of a trial share.
struct Audience {
    workload: PubSub,
    messages: Messages,
    due_ns: Vec<u64>,
    last_due_ns: u64,
    /// Until then subscriptions stay, as they do between two messages.
    after_last_ns: u64,
    clock: Arc<dyn Clock>,
    unsubscribed: AtomicU32,
    /// What to call when all wait, and when that was.
    ready: Mutex<(Option<crate::Ready>, Option<u64>)>,
    /// When publishing began: no message is published before it is due, so the earliest that any stamp allows.
    origin_ns: Mutex<Option<u64>>,
    /// When publishing began, or that all wait, has just become known.
    learned: Notify,
}

impl Audience {
    /// One subscriber more waits, or keeps the others waiting no longer.
    fn settled(&self) {
        if self.unsubscribed.fetch_sub(1, Ordering::Relaxed) == 1 {
            let (ready, at_ns) = &mut *self.ready.lock().expect("no holder panics");
            *at_ns = Some(self.clock.now_ns());
            if let Some(ready) = ready.take() {
                ready(BTreeMap::new());
            }
            self.learned.notify_waiters();
        }
    }

    /// Learns from a message that was published when publishing began.
    fn published(&self, index: u32, published_ns: u64) {
        let origin_ns = published_ns.saturating_sub(self.due_ns[index as usize]);
        let mut known_ns = self.origin_ns.lock().expect("no holder panics");
        if known_ns.is_none_or(|known_ns| origin_ns < known_ns) {
            *known_ns = Some(origin_ns);
            self.learned.notify_waiters();
        }
    }

    /// When the last message has had its gap, and its time is up if one is missing; `None` while nobody can say.
    fn end_ns(&self, is_missing: bool) -> Option<u64> {
        let began_ns = *self.origin_ns.lock().expect("no holder panics");
        let ready_ns = self.ready.lock().expect("no holder panics").1;
        let origin_ns = began_ns.or(ready_ns.map(|ready_ns| ready_ns.saturating_add(PATIENCE.as_nanos() as u64)))?;
        let up_ns = if is_missing { self.last_due_ns.saturating_add(self.workload.timeout_ns) } else { 0 };
        Some(origin_ns.saturating_add(up_ns.max(self.after_last_ns)))
    }

    /// Completes then.
    async fn end(&self, is_missing: bool) {
        loop {
            // Before the look at what is known, so that nothing that becomes known after it is missed.
            let mut learned = pin!(self.learned.notified());
            learned.as_mut().enable();
            let Some(end_ns) = self.end_ns(is_missing) else {
                learned.await;
                continue;
            };
            tokio::select! {
                () = self.clock.sleep_until(end_ns) => return,
                () = learned => {}
            }
        }
    }

    fn origin_ns(&self) -> u64 {
        let ready_ns = self.ready.lock().expect("no holder panics").1;
        self.origin_ns.lock().expect("no holder panics").or(ready_ns).unwrap_or_else(|| self.clock.now_ns())
    }
}

/// A message as it came to one subscriber.
#[derive(Clone, Copy, Default)]
struct Arrival {
    published_ns: u64,
    came_ns: u64,
    copies: u32,
}

/// One subscriber's part.
struct Listener<'a, S: Subscriber> {
    subscriber: S,
    number: u32,
    audience: &'a Audience,
    subscription: Option<S::Subscription>,
    local_port: Option<u16>,
    arrivals: Vec<Arrival>,
    missing: usize,
    settled: bool,
    /// Why it has no subscription, or what came was no message.
    error: Option<String>,
}

impl<'a, S: Subscriber> Listener<'a, S> {
    fn new(subscriber: S, number: u32, audience: &'a Audience) -> Self {
        let missing = audience.messages.count() as usize;
        Listener {
            subscriber,
            number,
            audience,
            subscription: None,
            local_port: None,
            arrivals: vec![Arrival::default(); missing],
            missing,
            settled: false,
            error: None,
        }
    }

    /// Until every message has come or the time of the last is up, and the last has had its gap.
    async fn hear(&mut self) {
        let clock = self.audience.clock.clone();
        let patience_ns = clock.now_ns().saturating_add(PATIENCE.as_nanos() as u64);
        loop {
            let is_missing = self.missing > 0;
            match &mut self.subscription {
                None if self.audience.end_ns(is_missing).is_some_and(|end_ns| clock.now_ns() >= end_ns) => break,
                None => self.subscribe().await,
                Some(subscription) => tokio::select! {
                    message = self.subscriber.next(subscription) => self.take(message),
                    () = self.audience.end(is_missing) => break,
                },
            }
            if !self.settled && (self.subscription.is_some() || clock.now_ns() >= patience_ns) {
                self.settled = true;
                self.audience.settled();
            }
        }
        if !self.settled {
            self.audience.settled();
        }
    }

    async fn subscribe(&mut self) {
        let clock = self.audience.clock.clone();
        let mut attempt = Attempt::start(clock, 0, None);
        let timeout = Duration::from_nanos(self.audience.workload.timeout_ns).min(PATIENCE);
        let subscribed = tokio::time::timeout(timeout, self.subscriber.subscribe(&mut attempt)).await;
        match subscribed.unwrap_or(Err(ExchangeError::TimedOut)) {
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
                    self.missing -= 1;
                }
                arrival.copies += 1;
                self.audience.published(index, published_ns);
            }
            Err(error) => self.error = Some(error.to_string()),
        }
    }

    /// One row for each message whose fate is known.
    fn rows(&self, stopped: bool) -> Vec<Exchange> {
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
            local_port: self.local_port,
            connection_reused: true,
            extension: Extension::Message(MessageExtension { copies: Some(arrival.copies) }),
            ..attempt.exchange
        };
        attempt.finish(ended)
    }

    async fn close(self) {
        if let Some(subscription) = self.subscription {
            self.subscriber.close(subscription).await;
        }
    }
}

#[cfg(test)]
mod tests;
