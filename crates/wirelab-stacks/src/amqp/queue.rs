//! The built-in queue's messages by address. It persists none.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use fe2o3_amqp::Sendable;
use fe2o3_amqp::types::messaging::{Header, Message};
use tokio::sync::Notify;

use super::NOTIFY_ADDRESS;
use super::message::{AnyBody, size_of};

/// A message on its way to receivers.
pub type Stored = Arc<Sendable<AnyBody>>;

/// Bytes of bodies that a queue holds at most, those under way to a receiver included.
const QUEUE_BYTES: usize = 1 << 30;

/// The queues of a server by address. `notify` is told to every receiver that is attached at the time, each by a queue of its own; what arrives at
/// another address is kept, in its order, until one of the receivers there has accepted it.
#[derive(Default)]
pub struct Queues {
    nodes: Mutex<HashMap<String, Node>>,
}

enum Node {
    Queue(Arc<Queue>),
    Topic(Vec<Weak<Queue>>),
}

impl Queues {
    /// Takes a message in.
    pub fn put(&self, address: &str, message: Message<AnyBody>) -> Result<(), Full> {
        // Annotations of the delivery are for this hop alone (part 3, section 3.2.2).
        let message = Arc::new(Sendable::from(Message { delivery_annotations: None, ..message }));
        let queues = match self.node(address, |node| node.receivers()) {
            Receivers::Queue(queue) => return queue.put(message),
            Receivers::Topic(queues) => queues,
        };
        queues.into_iter().try_for_each(|queue| queue.put(message.clone()))
    }

    /// The queue from which a receiver at that address is served, for as long as this is kept.
    pub fn receiver(&self, address: &str) -> Arc<Queue> {
        self.node(address, |node| match node {
            Node::Queue(queue) => queue.clone(),
            Node::Topic(queues) => {
                let queue = Arc::<Queue>::default();
                queues.retain(|queue| queue.strong_count() > 0);
                queues.push(Arc::downgrade(&queue));
                queue
            }
        })
    }

    fn node<T>(&self, address: &str, with: impl FnOnce(&mut Node) -> T) -> T {
        let mut nodes = self.nodes.lock().expect("no holder panics");
        with(nodes.entry(address.to_owned()).or_insert_with(|| match address {
            NOTIFY_ADDRESS => Node::Topic(Vec::new()),
            _ => Node::Queue(Arc::default()),
        }))
    }
}

impl Node {
    fn receivers(&self) -> Receivers {
        match self {
            Node::Queue(queue) => Receivers::Queue(queue.clone()),
            Node::Topic(queues) => Receivers::Topic(queues.iter().filter_map(Weak::upgrade).collect()),
        }
    }
}

enum Receivers {
    Queue(Arc<Queue>),
    Topic(Vec<Arc<Queue>>),
}

/// There is no room for a message.
#[derive(Debug, thiserror::Error)]
#[error("the queue holds {QUEUE_BYTES} bytes, which is all it takes")]
pub struct Full;

/// Messages in the order in which they arrived.
#[derive(Default)]
pub struct Queue {
    state: Mutex<State>,
    arrived: Notify,
}

#[derive(Default)]
struct State {
    next: u64,
    bytes: usize,
    waiting: BTreeMap<u64, Stored>,
}

impl Queue {
    fn put(&self, message: Stored) -> Result<(), Full> {
        let bytes = size_of(&message.message.body);
        let mut state = self.state();
        if state.bytes + bytes > QUEUE_BYTES {
            return Err(Full);
        }
        state.bytes += bytes;
        let position = state.next;
        state.next += 1;
        state.waiting.insert(position, message);
        self.arrived.notify_one();
        Ok(())
    }

    /// The oldest message that nobody has, when there is one. Given up while waiting, none is lost.
    pub async fn take(self: &Arc<Self>) -> Lease {
        loop {
            let arrived = self.arrived.notified();
            if let Some((position, message)) = self.state().waiting.pop_first() {
                return Lease { queue: self.clone(), position, message: Some(message), attempted: false };
            }
            arrived.await;
        }
    }

    /// Also asked while a panic unwinds.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A message that one receiver has. Dropped, it goes back to where it was.
pub struct Lease {
    queue: Arc<Queue>,
    position: u64,
    message: Option<Stored>,
    attempted: bool,
}

impl Lease {
    /// The message.
    pub fn message(&self) -> &Stored {
        self.message.as_ref().expect("there until settled")
    }

    /// It is being sent: if it comes back, that counts as a failed delivery.
    pub fn attempt(&mut self) {
        self.attempted = true;
    }

    /// The receiver is done with it.
    pub fn settle(mut self) {
        if let Some(message) = self.message.take() {
            self.queue.state().bytes -= size_of(&message.message.body);
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(message) = self.message.take() else { return };
        let message = if self.attempted { Arc::new(failed_once_more(&message)) } else { message };
        self.queue.state().waiting.insert(self.position, message);
        self.queue.arrived.notify_one();
    }
}

/// The message for its next delivery: its header says how often one has failed (part 3, section 3.2.1).
fn failed_once_more(stored: &Sendable<AnyBody>) -> Sendable<AnyBody> {
    let mut message = stored.message.clone();
    let header = message.header.get_or_insert_with(Header::default);
    header.delivery_count = header.delivery_count.saturating_add(1);
    Sendable { message, message_format: stored.message_format, settled: stored.settled }
}

#[cfg(test)]
mod tests {
    use fe2o3_amqp::types::messaging::{Batch, Body, Data};
    use futures_util::FutureExt;

    use super::super::message::bytes_of;
    use super::*;

    fn body(byte: u8) -> Message<AnyBody> {
        Message::builder().body(Body::Data(Batch::new(vec![Data::from([byte])]))).build()
    }

    fn put(queues: &Queues, address: &str, byte: u8) {
        let message = body(byte);
        queues.put(address, message).expect("room");
    }

    fn take(queue: &Arc<Queue>) -> Option<Lease> {
        queue.take().now_or_never()
    }

    fn byte(lease: &Lease) -> u8 {
        bytes_of(&lease.message().message.body).expect("data")[0]
    }

    #[test]
    fn each_message_of_a_queue_goes_to_one_receiver_in_order() {
        let queues = Queues::default();
        put(&queues, "q", 1);
        put(&queues, "q", 2);
        let (first, second) = (queues.receiver("q"), queues.receiver("q"));
        let (one, two) = (take(&first).expect("kept"), take(&second).expect("kept"));
        assert_eq!((byte(&one), byte(&two)), (1, 2));
        assert!(take(&first).is_none());
        one.settle();
        two.settle();
        assert!(take(&first).is_none());
        assert_eq!(first.state().bytes, 0);
    }

    #[test]
    fn unsettled_messages_are_redelivered_first_and_count_their_failures() {
        let queues = Queues::default();
        for message in 1..=3 {
            put(&queues, "q", message);
        }
        let queue = queues.receiver("q");
        let (mut one, two) = (take(&queue).expect("1"), take(&queue).expect("2"));
        one.attempt();
        drop(one);
        drop(two);
        let again: Vec<_> = std::iter::from_fn(|| take(&queue)).collect();
        let seen: Vec<_> = again
            .iter()
            .map(|lease| (byte(lease), lease.message().message.header.as_ref().map(|header| header.delivery_count)))
            .collect();
        assert_eq!(seen, [(1, Some(1)), (2, None), (3, None)]);
    }

    #[test]
    fn notify_goes_to_all_current_receivers_and_to_none_later() {
        let queues = Queues::default();
        put(&queues, NOTIFY_ADDRESS, 1);
        let (first, second) = (queues.receiver(NOTIFY_ADDRESS), queues.receiver(NOTIFY_ADDRESS));
        put(&queues, NOTIFY_ADDRESS, 2);
        drop(second);
        put(&queues, NOTIFY_ADDRESS, 3);
        let heard: Vec<u8> = std::iter::from_fn(|| take(&first))
            .map(|lease| {
                let heard = byte(&lease);
                lease.settle();
                heard
            })
            .collect();
        assert_eq!(heard, [2, 3]);
    }

    #[test]
    fn a_full_queue_takes_nothing_until_something_is_settled() {
        let queues = Queues::default();
        let queue = queues.receiver("q");
        put(&queues, "q", 1);
        queue.state().bytes = QUEUE_BYTES;
        let message = body(1);
        assert!(queues.put("q", message.clone()).is_err());
        take(&queue).expect("there").settle();
        assert!(queues.put("q", message).is_ok());
    }

    #[tokio::test]
    async fn a_waiting_receiver_gets_a_returned_message() {
        let queues = Queues::default();
        put(&queues, "q", 7);
        let queue = queues.receiver("q");
        let lease = take(&queue).expect("there");
        let waiting = tokio::spawn(async move { byte(&queue.take().await) });
        tokio::task::yield_now().await;
        drop(lease);
        assert_eq!(waiting.await.expect("no panic"), 7);
    }
}
