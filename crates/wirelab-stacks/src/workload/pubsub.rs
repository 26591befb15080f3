//! `pubsub` and `stream` for any protocol: subscribers that wait for messages. What a subscription is on the wire is the protocol's.

mod listener;

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use tokio::sync::Notify;
use wirelab_schema::PubSub;

use super::changes::Messages;
use super::schedule::Schedule;
use super::{Attempt, ExchangeError, Work};
use crate::{Clock, Context, StackError};
use listener::Listener;

/// How long the others wait for a subscriber that does not succeed, and how long all wait for the first message before its time-out begins.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);
const NO_REQUEST: &str = "it fetches nothing by request";

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

    /// Opens a connection on which [`fetch`](Self::fetch) asks. Nothing is subscribed.
    fn open(&self, _attempt: &mut Attempt) -> impl Future<Output = Result<Self::Subscription, ExchangeError>> + Send {
        async { Err(ExchangeError::Unsupported(NO_REQUEST.to_owned())) }
    }

    /// Asks for the messages after the first `after`, of which the oldest come first: those that are there, perhaps none.
    fn fetch(
        &self,
        _subscription: &mut Self::Subscription,
        _after: u32,
    ) -> impl Future<Output = Result<Vec<Bytes>, ExchangeError>> + Send {
        async { Err(ExchangeError::Unsupported(NO_REQUEST.to_owned())) }
    }

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
        seed: parameters.seed,
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
    seed: u64,
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

    /// Completes when all wait.
    async fn all_wait(&self) {
        loop {
            // Before the look at what is known, as in `end`.
            let mut learned = pin!(self.learned.notified());
            learned.as_mut().enable();
            if self.ready.lock().expect("no holder panics").1.is_some() {
                return;
            }
            learned.await;
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

    /// The longest that connecting and asking may take.
    fn contact_limit(&self) -> Duration {
        Duration::from_nanos(self.workload.timeout_ns).min(PATIENCE)
    }

    fn origin_ns(&self) -> u64 {
        let ready_ns = self.ready.lock().expect("no holder panics").1;
        self.origin_ns.lock().expect("no holder panics").or(ready_ns).unwrap_or_else(|| self.clock.now_ns())
    }
}

#[cfg(test)]
mod tests;
