//! The client of `telemetry` over AMQP. The queue that it sends to is the server's.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fe2o3_amqp::types::messaging::{Data, Outcome};
use fe2o3_amqp::{Sendable, Sender};
use tokio::sync::Mutex;

use super::connection::{Opened, Opener};
use super::message::{bytes_before, of_bytes};
use super::options::{Delivery, Options};
use super::stamps::AmqpStamps;
use super::{DELIVER_ADDRESS, LINK_NAME};
use crate::base::attempt::{Attempt, ExchangeError};
use crate::workload::{Client, Reading};

/// Hands readings over to `deliver` or to the user's own address, one in each exchange.
pub struct AmqpClient {
    opener: Opener,
    reading: Arc<Sendable<Data>>,
    body_bytes: usize,
    /// The user's own address; `None` for the one of the built-in queue.
    address: Option<String>,
    /// Several deliveries may be under way on a link.
    pipelined: bool,
}

impl AmqpClient {
    /// One whose readings are all alike.
    pub fn new(opener: Opener, reading: &Reading, pipelined: bool) -> Self {
        let (message, body_bytes) = (Arc::new(of_bytes(&reading.body)), reading.body.len());
        AmqpClient { opener, reading: message, body_bytes, address: reading.topic.clone(), pipelined }
    }
}

impl Client for AmqpClient {
    type Connection = Arc<Connection>;

    async fn connect(&self, attempt: &mut Attempt) -> Result<Arc<Connection>, ExchangeError> {
        let stamps = AmqpStamps::new(bytes_before(self.body_bytes), self.body_bytes);
        let mut opened = self.opener.open(stamps, attempt).await?;
        let options = &self.opener.options;
        let sender = match &self.address {
            Some(address) => attach(&mut opened, options, DELIVER_ADDRESS, address.clone()).await?,
            None => attach_sender(&mut opened, options, DELIVER_ADDRESS).await?,
        };
        Ok(Arc::new(Connection { opened, sender: Mutex::new(sender), broken: AtomicBool::new(false) }))
    }

    async fn exchange(&self, connection: &mut Arc<Connection>, attempt: &mut Attempt) -> Result<(), ExchangeError> {
        if attempt.exchange.connection_reused {
            connection.opened.observe(attempt);
        }
        connection.send(&self.reading, self.opener.options.delivery, self.pipelined, attempt).await
    }

    fn share(&self, connection: &Arc<Connection>) -> Option<Arc<Connection>> {
        self.pipelined.then(|| connection.clone())
    }

    fn is_usable(&self, connection: &Arc<Connection>) -> bool {
        !connection.broken.load(Ordering::Relaxed) && connection.opened.is_usable()
    }

    async fn close(&self, connection: Arc<Connection>) {
        if let Some(Connection { opened, sender, .. }) = Arc::into_inner(connection) {
            opened.close(sender).await;
        }
    }
}

/// Attaches a sender to an address of ours, and waits until the peer has too.
pub async fn attach_sender(opened: &mut Opened, options: &Options, address: &str) -> Result<Sender, ExchangeError> {
    attach(opened, options, address, options.address(address)).await
}

async fn attach(opened: &mut Opened, options: &Options, name: &str, address: String) -> Result<Sender, ExchangeError> {
    let link = Sender::builder().name(format!("{LINK_NAME}-{name}")).target(address);
    Ok(options.settling(link).attach(&mut opened.session).await?)
}

/// A connection with its sender.
pub struct Connection {
    pub opened: Opened,
    pub sender: Mutex<Sender>,
    /// A delivery was given up while it was being sent, which leaves the link in the middle of it.
    pub broken: AtomicBool,
}

impl Connection {
    /// Returns when the receiver has accepted the message; when sent settled, once its last byte is with the transport.
    pub async fn send(
        &self,
        message: &Sendable<Data>,
        delivery: Delivery,
        pipelined: bool,
        attempt: &mut Attempt,
    ) -> Result<(), ExchangeError> {
        let mut sender = self.sender.lock().await;
        if self.broken.load(Ordering::Relaxed) {
            return Err(ExchangeError::new("the delivery before was given up in its middle"));
        }
        let ticket = self.promise(attempt);
        let sending = Sending { broken: &self.broken };
        if delivery == Delivery::AtMostOnce {
            self.opened.send_settled(&mut sender, message, ticket).await?;
            sending.done();
            return Ok(());
        }
        if !pipelined {
            let outcome = sender.send_ref(message).await?;
            sending.done();
            return judge(outcome);
        }
        let sent = sender.send_batchable_ref(message).await?;
        sending.done();
        drop(sender);
        judge(sent.await?)
    }

    /// Has the exchange record what the wire shows of the delivery that is sent next.
    fn promise(&self, attempt: &mut Attempt) -> u32 {
        let ticket = self.opened.stamps.lock().expect("no holder panics").promise();
        let stamps = self.opened.stamps.clone();
        attempt.at_end(move |exchange| stamps.lock().expect("no holder panics").take(ticket, exchange));
        ticket
    }
}

/// A delivery that is being sent: given up before it is done, it breaks its link.
struct Sending<'a> {
    broken: &'a AtomicBool,
}

impl Sending<'_> {
    fn done(self) {
        std::mem::forget(self);
    }
}

impl Drop for Sending<'_> {
    fn drop(&mut self) {
        self.broken.store(true, Ordering::Relaxed);
    }
}

/// Only an accepted message is delivered.
pub fn judge(outcome: Outcome) -> Result<(), ExchangeError> {
    match outcome {
        Outcome::Accepted(_) => Ok(()),
        Outcome::Rejected(rejected) => {
            let words = rejected.error.and_then(|error| error.description).map(|words| format!(": {words}"));
            Err(ExchangeError::new(format!("rejected{}", words.unwrap_or_default())))
        }
        Outcome::Released(_) => Err(ExchangeError::new("released: nobody took it")),
        Outcome::Modified(_) => Err(ExchangeError::new("modified: it was not taken")),
    }
}
