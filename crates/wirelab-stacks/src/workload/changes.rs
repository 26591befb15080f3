//! The changes of `pubsub` and `stream`: their bodies and instants. Nothing is sent here.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bytes::{BufMut, Bytes, BytesMut};
use tokio::sync::watch;
use wirelab_schema::{EndpointParameters, PubSub};

use super::Work;
use super::pubsub::PATIENCE;
use super::schedule::Schedule;
use crate::base::attempt::ExchangeError;
use crate::{Clock, Payload};

/// Index (u32) and instant of publication (u64), both big endian.
pub const HEAD_BYTES: usize = 12;
/// An answer with several messages has no more than this, but for its first message.
pub const POLL_BYTES: usize = 1 << 20;

/// The messages of `pubsub` and `stream`: what is in them, and whether one that came is right.
#[derive(Clone)]
pub struct Messages {
    count: u32,
    /// What follows the head, the same in every message.
    rest: Bytes,
}

impl Messages {
    /// Of the workload that the parameters describe, which has changes.
    pub fn new(parameters: &EndpointParameters) -> Self {
        let PubSub { message_bytes, messages, .. } = Work::changes(&parameters.workload);
        let rest = Payload::new(parameters.seed).bytes(message_bytes as usize - HEAD_BYTES);
        Messages { count: messages, rest }
    }

    /// Length of each.
    pub fn length(&self) -> usize {
        HEAD_BYTES + self.rest.len()
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The message of that index, published at that instant.
    pub fn make(&self, index: u32, published_ns: u64) -> Bytes {
        let mut message = BytesMut::with_capacity(self.length());
        message.put_u32(index);
        message.put_u64(published_ns);
        message.put(&self.rest[..]);
        message.freeze()
    }

    /// Index and instant of publication, of a message whose every byte is right.
    pub fn read(&self, message: &[u8]) -> Result<(u32, u64), ExchangeError> {
        if message.len() != self.length() {
            let words = format!("message of {} bytes where {} were expected", message.len(), self.length());
            return Err(ExchangeError::new(words));
        }
        let (index, rest) = message.split_first_chunk().expect("long enough");
        let (published_ns, rest) = rest.split_first_chunk().expect("long enough");
        let index = u32::from_be_bytes(*index);
        if index >= self.count || rest != self.rest {
            return Err(ExchangeError::new("message differs from what was published"));
        }
        Ok((index, u64::from_be_bytes(*published_ns)))
    }

    /// The messages of a body that has one after the other.
    pub fn split(&self, mut body: Bytes) -> Result<Vec<Bytes>, ExchangeError> {
        if !body.len().is_multiple_of(self.length()) {
            let words = format!("body of {} bytes where messages of {} were expected", body.len(), self.length());
            return Err(ExchangeError::new(words));
        }
        Ok(std::iter::from_fn(|| (!body.is_empty()).then(|| body.split_to(self.length()))).collect())
    }
}

/// The changes of a state as they happen: each message at its instant, stamped when given.
pub struct Changes {
    messages: Messages,
    schedule: Schedule,
    due: Option<(u32, u64)>,
    clock: Arc<dyn Clock>,
}

impl Changes {
    /// The first is due now, or one gap from now in a Poisson process.
    pub fn new(parameters: &EndpointParameters, clock: Arc<dyn Clock>) -> Self {
        let PubSub { arrival, messages, .. } = Work::changes(&parameters.workload);
        let schedule = Schedule::new(&arrival, messages, parameters.seed, 0, clock.now_ns());
        Changes { messages: Messages::new(parameters), schedule, due: None, clock }
    }

    /// The next message, at its instant or at once if that has passed; `None` after the last. Given up while waiting, none is lost.
    pub async fn next(&mut self) -> Option<Bytes> {
        let (index, published_ns) = self.next_head().await?;
        Some(self.messages.make(index, published_ns))
    }

    async fn next_head(&mut self) -> Option<(u32, u64)> {
        if self.due.is_none() {
            self.due = self.schedule.next_instant();
        }
        let (index, due_ns) = self.due?;
        self.clock.sleep_until(due_ns).await;
        self.due = None;
        Some((index, self.clock.now_ns()))
    }
}

/// The changes of a server that makes them itself. It begins when all subscribers wait, or some have waited for 20 s as publishers of their own do,
/// and remembers every message for those that come late. A subscriber that comes again before its end was noticed counts twice.
pub struct Publication {
    messages: Messages,
    subscribers: u32,
    waiting: AtomicU32,
    /// Subscribers come at intervals, and wait in between as well.
    at_intervals: bool,
    /// Instants of publication; the position is the index.
    published: watch::Sender<Vec<u64>>,
    audience: watch::Sender<Audience>,
}

/// Of the subscribers, who has waited by now.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Audience {
    Nobody,
    Some,
    All,
}

impl Publication {
    /// Of the workload that the parameters describe, which has changes. Needs the runtime, on which it publishes.
    pub fn new(parameters: &EndpointParameters, clock: Arc<dyn Clock>) -> Arc<Self> {
        let PubSub { subscribers, wait, .. } = Work::changes(&parameters.workload);
        let publication = Arc::new(Publication {
            messages: Messages::new(parameters),
            subscribers,
            waiting: AtomicU32::new(0),
            at_intervals: !wait.is_connected(),
            published: watch::Sender::default(),
            audience: watch::Sender::new(Audience::Nobody),
        });
        let (published, audience) = (publication.published.clone(), publication.audience.subscribe());
        tokio::spawn(publish(published, audience, parameters.clone(), clock));
        publication
    }

    /// One that waits for the messages from `first` on, until dropped.
    pub fn wait(self: &Arc<Self>, first: u32) -> Waiting {
        self.has_come();
        Waiting { publication: self.clone(), published: self.published.subscribe(), next: first }
    }

    /// One that asks for no message has come. If it comes at intervals, it waits for the next one.
    pub fn visit(&self) {
        if self.at_intervals && self.published.borrow().is_empty() {
            self.has_come();
        }
    }

    /// The messages from `first` on that are there, one after the other.
    pub fn poll(&self, first: u32) -> Bytes {
        self.visit();
        let mut body = BytesMut::new();
        for (published_ns, index) in self.published.borrow().iter().skip(first as usize).zip(first..) {
            if !body.is_empty() && body.len() + self.messages.length() > POLL_BYTES {
                break;
            }
            body.extend_from_slice(&self.messages.make(index, *published_ns));
        }
        body.freeze()
    }

    /// One subscriber more.
    fn has_come(&self) {
        let all = self.waiting.fetch_add(1, Ordering::Relaxed) + 1 >= self.subscribers;
        let audience = if all { Audience::All } else { Audience::Some };
        self.audience.send_modify(|known| *known = audience.max(*known));
    }

    /// The messages.
    pub fn messages(&self) -> &Messages {
        &self.messages
    }
}

/// A subscriber, as its server sees it.
pub struct Waiting {
    publication: Arc<Publication>,
    published: watch::Receiver<Vec<u64>>,
    next: u32,
}

impl Waiting {
    /// The next message, when it is there; `None` after the last. Given up while waiting, none is lost.
    pub async fn next(&mut self) -> Option<Bytes> {
        if self.next >= self.publication.messages.count {
            return None;
        }
        let index = self.next as usize;
        let published_ns = *self.published.wait_for(|published| published.len() > index).await.ok()?.get(index)?;
        self.next += 1;
        Some(self.publication.messages.make(index as u32, published_ns))
    }

    /// The next message if it is there already.
    pub fn try_next(&mut self) -> Option<Bytes> {
        let published_ns = *self.published.borrow().get(self.next as usize)?;
        self.next += 1;
        Some(self.publication.messages.make(self.next - 1, published_ns))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if !self.publication.at_intervals {
            self.publication.waiting.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Ends when nobody is left to begin it, or to hear of it.
async fn publish(
    published: watch::Sender<Vec<u64>>,
    mut audience: watch::Receiver<Audience>,
    parameters: EndpointParameters,
    clock: Arc<dyn Clock>,
) {
    if audience.wait_for(|audience| *audience > Audience::Nobody).await.is_err() {
        return;
    }
    let patience = clock.sleep_until(clock.now_ns().saturating_add(PATIENCE.as_nanos() as u64));
    tokio::select! {
        all = audience.wait_for(|audience| *audience == Audience::All) => if all.is_err() {
            return;
        },
        () = patience => {}
    }
    drop(audience);
    let mut changes = Changes::new(&parameters, clock);
    while let Some((_, published_ns)) = changes.next_head().await {
        published.send_modify(|published| published.push(published_ns));
    }
}
