//! The built-in AMQP queue: connections, senders and receivers. It persists nothing.

use std::fmt::Debug;
use std::io::Cursor;
use std::sync::{Arc, Mutex};

use fe2o3_amqp::acceptor::{
    ConnectionAcceptor, LinkAcceptor, LinkEndpoint, ListenerConnectionHandle, ListenerSessionHandle, SessionAcceptor,
    SupportedReceiverSettleModes,
};
use fe2o3_amqp::link::delivery::{Delivery, DeliveryInfo};
use fe2o3_amqp::types::definitions::{AmqpError, Error};
use fe2o3_amqp::types::messaging::{DistributionMode, Outcome, Source};
use fe2o3_amqp::types::performatives::Attach;
use fe2o3_amqp::{Receiver, Sender};
use tokio::io::{AsyncReadExt, AsyncWriteExt, join, split};
use tokio::task::JoinSet;

use super::closing::Closer;
use super::credit::{Credit, Credits};
use super::message::{AnyBody, bytes_of};
use super::names::MarkedNames;
use super::options::{Mechanisms, Options, Sasl};
use super::queue::{Lease, Queue, Queues};
use super::{DELIVER_ADDRESS, LINK_NAME};
use crate::transport::stream::Stream;
use crate::wire::tap::Tap;
use crate::workload::{MAX_BODY_BYTES, Reading};
use crate::{Clock, Received};

const CONTAINER: &str = "wirelab-queue";
const AMQP_HEADER: [u8; 8] = *b"AMQP\x00\x01\x00\x00";
const SASL_HEADER: [u8; 8] = *b"AMQP\x03\x01\x00\x00";
/// Room for what a message of the largest body has in addition.
const MAX_MESSAGE_BYTES: u64 = MAX_BODY_BYTES + 65_536;

/// The built-in queue: at `deliver` the application takes readings, at every other address [`Queues`] keep messages for receivers.
pub struct Server {
    pub options: Options,
    pub queues: Queues,
    /// What a reading must be, and where it goes; `None` where the workload has none.
    pub reading: Option<Reading>,
    pub clock: Arc<dyn Clock>,
    pub received: Received,
}

impl Server {
    /// Serves one connection to its end. Whatever the peer does ends this connection at most.
    pub async fn serve(self: Arc<Self>, stream: impl Stream + 'static) {
        let credits = Arc::new(Mutex::new(Credits::default()));
        let tapped = Tap::new(stream, credits.clone(), self.clock.clone());
        let (_closer, stream) = Closer::new(MarkedNames::new(tapped));
        // One that does not open is the client's to report.
        let Ok(mut connection) = self.accept(stream).await else { return };
        let sessions = SessionAcceptor::builder()
            .incoming_window(self.options.incoming_window)
            .outgoing_window(self.options.outgoing_window)
            .build();
        let mut under_way = JoinSet::new();
        loop {
            tokio::select! {
                incoming = connection.next_incoming_session() => {
                    let Some(incoming) = incoming else { return };
                    let channel = incoming.channel;
                    if let Ok(session) = sessions.accept_incoming_session(incoming, &mut connection).await {
                        under_way.spawn(self.clone().serve_session(session, channel, credits.clone()));
                    }
                }
                Some(_) = under_way.join_next() => {}
            }
        }
    }

    /// With SASL or without, as the client begins (part 2, section 2.2; part 5, section 5.3.2).
    async fn accept(&self, mut stream: impl Stream + Debug + 'static) -> Result<ListenerConnectionHandle, ()> {
        let acceptor =
            ConnectionAcceptor::builder().container_id(CONTAINER).max_frame_size(self.options.max_frame_bytes);
        let plain_only = self.options.sasl == Sasl::Plain;
        let mut header = [0; 8];
        stream.read_exact(&mut header).await.map_err(drop)?;
        match header {
            SASL_HEADER => {
                let acceptor = acceptor.sasl_acceptor(Mechanisms::new(!plain_only)).build();
                acceptor.accept(prepend_header(header, stream)).await.map_err(drop)
            }
            AMQP_HEADER if !plain_only => acceptor.build().accept(prepend_header(header, stream)).await.map_err(drop),
            _ => {
                let spoken = if plain_only { SASL_HEADER } else { AMQP_HEADER };
                let _ = stream.write_all(&spoken).await;
                let _ = stream.shutdown().await;
                Err(())
            }
        }
    }

    async fn serve_session(
        self: Arc<Self>,
        mut session: ListenerSessionHandle,
        channel: u16,
        credits: Arc<Mutex<Credits>>,
    ) {
        // A sender of the library never settles after its receiver, so what asks for that is told that it gets the other.
        let acceptor = LinkAcceptor::builder()
            .max_message_size(MAX_MESSAGE_BYTES)
            .supported_receiver_settle_modes(SupportedReceiverSettleModes::First)
            .build();
        let mut links = JoinSet::new();
        loop {
            tokio::select! {
                attach = session.next_incoming_attach() => {
                    let Some(attach) = attach else { return };
                    let Attach { name, handle, .. } = &attach;
                    let (ours, handle) = (name.starts_with(LINK_NAME), handle.0);
                    // One that is refused says so to the peer; the session goes on.
                    match acceptor.accept_incoming_attach(attach, &mut session).await {
                        Ok(LinkEndpoint::Receiver(receiver)) => {
                            links.spawn(self.clone().serve_sender(receiver, ours));
                        }
                        Ok(LinkEndpoint::Sender(sender)) => {
                            let credit = credits.lock().expect("no holder panics").of(channel, handle);
                            links.spawn(self.clone().serve_receiver(sender, credit.unwrap_or_default()));
                        }
                        Err(_) => {}
                    }
                }
                Some(_) = links.join_next() => {}
            }
        }
    }

    /// Takes what a peer's sender sends.
    async fn serve_sender(self: Arc<Self>, mut receiver: Receiver, ours: bool) {
        let target = receiver.target().as_ref().and_then(|target| target.address.clone());
        let Some(address) = target.map(|address| self.address(&address)) else {
            let _ = receiver.close_with_error(no_address()).await;
            return;
        };
        while let Ok(delivery) = receiver.recv::<AnyBody>().await {
            let (info, taken) = self.take(&address, delivery, ours);
            let told = match taken {
                Ok(()) => receiver.accept(info).await,
                Err(error) => receiver.reject(info, error).await,
            };
            if told.is_err() {
                return;
            }
        }
    }

    fn take(&self, address: &str, delivery: Delivery<AnyBody>, ours: bool) -> (DeliveryInfo, Result<(), Error>) {
        let (info, message) = delivery.into_parts();
        let taken = match address {
            _ if self.takes_readings(address) => {
                self.read(&message.body, ours).map_err(|words| (AmqpError::InvalidField, words))
            }
            _ if message.header.as_ref().and_then(|header| header.ttl).is_some_and(|ttl| ttl > 0) => {
                Err((AmqpError::NotImplemented, "messages of this queue do not expire".to_owned()))
            }
            _ => self.queues.put(address, message).map_err(|full| (AmqpError::ResourceLimitExceeded, full.to_string())),
        };
        (info, taken.map_err(|(condition, words)| Error::new(condition, words, None)))
    }

    /// Whether the application has this address: that of the workload's readings, or else the usual one.
    fn takes_readings(&self, address: &str) -> bool {
        let own = self.reading.as_ref().and_then(|reading| reading.topic.as_ref());
        own.map_or_else(|| address == DELIVER_ADDRESS, |own| self.address(own) == address)
    }

    /// The application: whether a reading is right, byte by byte if our own client sent it.
    fn read(&self, body: &AnyBody, ours: bool) -> Result<(), String> {
        let (Some(expected), read) = (&self.reading, bytes_of(body)) else { return Ok(()) };
        let read = read.ok_or("a reading without bytes")?;
        if read.len() != expected.body.len() {
            return Err(format!("a reading of {} bytes where {} were expected", read.len(), expected.body.len()));
        }
        if ours && *read != *expected.body {
            return Err("the reading differs from what was sent".to_owned());
        }
        self.received.note();
        Ok(())
    }

    /// Sends messages to a peer's receiver, each once there is credit for it.
    async fn serve_receiver(self: Arc<Self>, mut sender: Sender, credit: Arc<Credit>) {
        let source = sender.source().as_ref().and_then(|source| source.address.clone());
        let Some(address) = source.map(|address| self.address(&address)) else {
            let _ = sender.close_with_error(no_address()).await;
            return;
        };
        if let Some(words) = sender.source().as_ref().and_then(unsupported) {
            let _ = sender.close_with_error(Error::new(AmqpError::NotImplemented, words.to_owned(), None)).await;
            return;
        }
        let queue = self.queues.receiver(&address);
        let mut outcomes = JoinSet::new();
        loop {
            let mut lease = tokio::select! {
                lease = next_for(&queue, &credit) => lease,
                _ = sender.on_detach() => return,
                Some(_) = outcomes.join_next() => continue,
            };
            credit.spend();
            lease.attempt();
            let message = lease.message().clone();
            let Ok(outcome) = sender.send_batchable_ref(&message).await else { return };
            outcomes.spawn(async move {
                // What was released or modified, or whose link is gone, goes back.
                if let Ok(Outcome::Accepted(_) | Outcome::Rejected(_)) = outcome.await {
                    lease.settle();
                }
            });
        }
    }

    /// As the built-in queue knows it.
    fn address(&self, address: &str) -> String {
        address.strip_prefix(&self.options.address_prefix).unwrap_or(address).to_owned()
    }
}

/// The stream whose protocol header has been read, which is read again before what else it brings.
fn prepend_header(header: [u8; 8], stream: impl Stream + Debug + 'static) -> impl Stream + Debug + 'static {
    let (reader, writer) = split(stream);
    join(Cursor::new(header).chain(reader), writer)
}

async fn next_for(queue: &Arc<Queue>, credit: &Credit) -> Lease {
    credit.available().await;
    queue.take().await
}

/// What a receiver asks of its source that the queue does not have.
fn unsupported(source: &Source) -> Option<&'static str> {
    if source.distribution_mode == Some(DistributionMode::Copy) {
        return Some("this queue cannot be browsed");
    }
    source.filter.as_ref().is_some_and(|filter| !filter.is_empty()).then_some("this queue has no filters or selectors")
}

fn no_address() -> Error {
    Error::new(AmqpError::InvalidField, "a link needs an address".to_owned(), None)
}
