//! An AMQP connection over TCP or TLS: opening, credit, closing. It knows no workload.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use fe2o3_amqp::connection::{Connection, ConnectionHandle};
use fe2o3_amqp::session::{Session, SessionHandle};
use fe2o3_amqp::types::messaging::Data;
use fe2o3_amqp::{Sendable, Sender};

use super::closing::Closer;
use super::options::Options;
use super::stamps::AmqpStamps;
use crate::Clock;
use crate::base::attempt::{Attempt, ExchangeError};
use crate::transport::socket::Socket;
use crate::transport::stream::{Dialer, Stream};
use crate::wire::tap::Tap;

/// How long the socket of a connection that was closed waits for what the peer still says.
const ANSWER_WAIT: Duration = Duration::from_secs(2);
/// How long what is still to be said may take.
const CLOSE_WAIT: Duration = Duration::from_millis(100);

/// Opens connections with a session, alike for every role that opens any.
pub struct Opener {
    pub dialer: Dialer,
    pub options: Options,
    /// Name of the server, for `open` and SASL.
    pub server_name: String,
    /// Names the connections' container; each has its own number in addition.
    pub container: String,
    pub clock: Arc<dyn Clock>,
}

impl Opener {
    /// Connects, opens and begins, each of which waits for the peer.
    pub async fn open(&self, stamps: AmqpStamps, attempt: &mut Attempt) -> Result<Opened, ExchangeError> {
        let (socket, stream) = self.dialer.dial(attempt).await?;
        let port = attempt.exchange.local_port.unwrap_or(0);
        let container = format!("{}-{port}", self.container);
        let clock = self.clock.clone();
        open(stream, Some(socket), stamps, clock, &self.options, &self.server_name, container).await
    }
}

/// Opens and begins over a stream; `socket` is what carries it, if that is a socket.
pub async fn open(
    stream: impl Stream + 'static,
    socket: Option<Socket>,
    stamps: AmqpStamps,
    clock: Arc<dyn Clock>,
    options: &Options,
    server_name: &str,
    container: String,
) -> Result<Opened, ExchangeError> {
    let stamps = Arc::new(Mutex::new(stamps));
    let (closer, stream) = Closer::new(Tap::new(stream, stamps.clone(), clock));
    let mut builder = Connection::builder()
        .container_id(container)
        .hostname(server_name)
        .sasl_hostname(server_name)
        .max_frame_size(options.max_frame_bytes)
        .channel_max(0);
    if let Some(time_out) = options.idle_time_out_ms {
        builder = builder.idle_time_out(time_out);
    }
    if let Some(profile) = options.sasl_profile() {
        builder = builder.sasl_profile(profile);
    }
    let mut connection = builder.open_with_stream(stream).await?;
    let session = Session::builder()
        .incoming_window(options.incoming_window)
        .outgoing_window(options.outgoing_window)
        .begin(&mut connection)
        .await?;
    Ok(Opened { closer, socket, connection, session, stamps })
}

/// An open connection with its session. Dropped, it is cut off without any good-bye.
pub struct Opened {
    // First, so that what the library says in dropping the others is not sent.
    closer: Closer,
    socket: Option<Socket>,
    connection: ConnectionHandle<()>,
    pub session: SessionHandle<()>,
    pub stamps: Arc<Mutex<AmqpStamps>>,
}

impl Opened {
    /// False if the peer or the network has ended it.
    pub fn is_usable(&self) -> bool {
        !self.connection.is_closed() && !self.session.is_ended()
    }

    /// Has the exchange record what happens to the transport meanwhile.
    pub fn observe(&self, attempt: &mut Attempt) {
        if let Some(socket) = &self.socket {
            socket.observe(attempt);
        }
    }

    /// Sends a message settled, and returns once the last byte of it, whose ticket this is, is with the transport.
    pub async fn send_settled(
        &self,
        sender: &mut Sender,
        message: &Sendable<Data>,
        ticket: u32,
    ) -> Result<(), ExchangeError> {
        sender.send_ref(message).await?;
        tokio::select! {
            () = until(&self.stamps, |stamps| stamps.is_written(ticket)) => Ok(()),
            error = sender.on_detach() => Err(error.into()),
        }
    }

    /// Says what is still to be said of deliveries, then `close`, which ends session and links too (part 2, section 2.4.3), and ends the stream.
    /// Returns when that is with the transport.
    pub async fn close(self, link: impl Send + 'static) {
        let said = async {
            until(&self.stamps, AmqpStamps::is_even).await;
            self.closer.close();
            until(&self.stamps, AmqpStamps::is_closed).await;
        };
        let _ = tokio::time::timeout(CLOSE_WAIT, said).await;
        let Opened { closer, socket, connection, session, .. } = self;
        drop((closer, link, session, connection));
        if let Some(socket) = socket {
            // Closed at once, it would answer the peer's `close` with a reset.
            tokio::spawn(tokio::time::timeout(ANSWER_WAIT, socket.drain()));
        }
    }
}

/// Waits until what has been written is enough.
async fn until(stamps: &Mutex<AmqpStamps>, enough: impl Fn(&AmqpStamps) -> bool) {
    let progress = stamps.lock().expect("no holder panics").progress();
    loop {
        let more = progress.notified();
        if enough(&stamps.lock().expect("no holder panics")) {
            return;
        }
        more.await;
    }
}
