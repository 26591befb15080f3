use std::sync::{Arc, Mutex};
use std::time::Duration;

use fe2o3_amqp::connection::{Connection, ConnectionHandle};
use fe2o3_amqp::session::{Session, SessionHandle};
use fe2o3_amqp::types::messaging::Data;
use fe2o3_amqp::{Sendable, Sender};

use super::options::{Delivery, Options};
use super::stamps::AmqpStamps;
use crate::Clock;
use crate::attempt::{Attempt, ExchangeError};
use crate::socket::Socket;
use crate::stream::{Dialer, Stream};
use crate::tap::Tap;

/// How long a close that was sent may wait for its answer.
const ANSWER_WAIT: Duration = Duration::from_secs(2);
/// How long sending a close may take.
const CLOSE_WAIT: Duration = Duration::from_millis(100);

/// Opens connections with a session, alike for every role that opens any.
pub struct Opener {
    pub dialer: Dialer,
    pub options: Options,
    /// Name of the server, for `open` and SASL.
    pub server_name: String,
    /// Names the connections' container; each has a number of its own besides.
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
    let cut = Cut(socket);
    let stamps = Arc::new(Mutex::new(stamps));
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
    let mut connection = builder.open_with_stream(Tap::new(stream, stamps.clone(), clock)).await?;
    let session = Session::builder()
        .incoming_window(options.incoming_window)
        .outgoing_window(options.outgoing_window)
        .begin(&mut connection)
        .await?;
    Ok(Opened { cut, connection, session, stamps })
}

/// An open connection with its session. Dropped, it is cut off without any good-bye.
pub struct Opened {
    // First, so that what the library says in dropping the others is not sent.
    cut: Cut,
    connection: ConnectionHandle<()>,
    pub session: SessionHandle<()>,
    pub stamps: Arc<Mutex<AmqpStamps>>,
}

impl Opened {
    /// Whether the peer of the link that was attached last settles as wanted: what it does not say it does not do.
    pub fn check_settling(&self, options: &Options) -> Result<(), ExchangeError> {
        let second = self.stamps.lock().expect("no holder panics").peer_settles_second();
        match options.delivery == Delivery::ExactlyOnce && !second {
            true => Err(ExchangeError::Unsupported("the peer does not do rcv-settle-mode `second`".to_owned())),
            false => Ok(()),
        }
    }

    /// False if the peer or the network has ended it.
    pub fn is_usable(&self) -> bool {
        !self.connection.is_closed() && !self.session.is_ended()
    }

    /// Has the exchange record what happens to the transport meanwhile.
    pub fn observe(&self, attempt: &mut Attempt) {
        if let Some(socket) = &self.cut.0 {
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

    /// Says `close`, which ends session and links too (part 2, section 2.4.3). Returns when that is with the transport; the answer is waited for in
    /// the background.
    pub async fn close(self, link: impl Send + 'static) {
        let Opened { cut, mut connection, session, stamps } = self;
        tokio::spawn(async move {
            // A peer that does not answer has the connection cut off.
            let _ = tokio::time::timeout(ANSWER_WAIT, connection.close()).await;
            drop((cut, link, session));
        });
        let _ = tokio::time::timeout(CLOSE_WAIT, until(&stamps, AmqpStamps::is_closed)).await;
    }
}

/// Waits until what has been written is enough.
async fn until(stamps: &Mutex<AmqpStamps>, enough: impl Fn(&AmqpStamps) -> bool) {
    let written = stamps.lock().expect("no holder panics").written();
    loop {
        let more = written.notified();
        if enough(&stamps.lock().expect("no holder panics")) {
            return;
        }
        more.await;
    }
}

/// Ends the transport when dropped. The library's tasks own the stream and would keep it, waiting for a peer that may be gone.
struct Cut(Option<Socket>);

impl Drop for Cut {
    fn drop(&mut self) {
        if let Some(socket) = &self.0 {
            socket.cut();
        }
    }
}
