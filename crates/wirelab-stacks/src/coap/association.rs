//! A client's association with a server, and the task that carries its bytes. What messages mean is the engine's.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UdpSocket;
use tokio::sync::{Notify, mpsc};
use wirelab_schema::Exchange;

use super::side::Side;
use crate::Clock;
use crate::base::attempt::ExchangeError;
use crate::codec::coap::{Client, ClientEvent, Ended, ExchangeId, Progress, Request};
use crate::transport::lingering::Lingering;
use crate::transport::stream::{Stream, push};
use crate::transport::task::Task;

/// Content type of a DTLS record (RFC 6347, section 4.1) with an alert.
const DTLS_ALERT: u8 = 21;
/// How long the socket of a session that was closed waits for the peer's close_notify.
const ANSWER_WAIT: Duration = Duration::from_secs(10);

/// A client's end of an association, with the task that carries its bytes.
#[derive(Clone)]
pub struct Association {
    shared: Arc<Shared>,
    task: Arc<Mutex<Option<Task>>>,
}

/// What an exchange hears.
pub type Events = mpsc::UnboundedReceiver<ClientEvent>;

struct Shared {
    state: Mutex<State>,
    /// There is something to send, or to end.
    wake: Notify,
    /// The session is connected, or over.
    settled: Notify,
    clock: Arc<dyn Clock>,
}

struct State {
    side: Side<Client>,
    hearers: HashMap<ExchangeId, mpsc::UnboundedSender<ClientEvent>>,
    closing: bool,
    /// Why it is over.
    over: Option<String>,
}

impl Association {
    /// Over a connected UDP socket, which is `lingering` if it waits for the peer after the association.
    pub fn over_datagrams(side: Side<Client>, socket: UdpSocket, clock: Arc<dyn Clock>, lingering: Lingering) -> Self {
        Self::begin(side, clock, |shared| Box::pin(carry_datagrams(shared, socket, lingering)))
    }

    /// Over a stream.
    pub fn over_stream(side: Side<Client>, stream: Box<dyn Stream>, clock: Arc<dyn Clock>) -> Self {
        Self::begin(side, clock, |shared| Box::pin(carry_stream(shared, stream)))
    }

    fn begin(
        side: Side<Client>,
        clock: Arc<dyn Clock>,
        carry: impl FnOnce(Arc<Shared>) -> futures_util::future::BoxFuture<'static, ()>,
    ) -> Self {
        let state = State { side, hearers: HashMap::new(), closing: false, over: None };
        let shared = Arc::new(Shared { state: Mutex::new(state), wake: Notify::new(), settled: Notify::new(), clock });
        let task = Task::spawn(carry(shared.clone()));
        Association { shared, task: Arc::new(Mutex::new(Some(task))) }
    }

    /// Waits for the session's keys.
    pub async fn connected(&self) -> Result<(), ExchangeError> {
        loop {
            let settled = self.shared.settled.notified();
            {
                let state = self.shared.lock();
                if state.side.session.as_ref().is_none_or(|session| session.is_connected()) {
                    return Ok(());
                }
                if let Some(words) = &state.over {
                    return Err(ExchangeError::new(words.clone()));
                }
            }
            settled.await;
        }
    }

    /// Asks. What comes is heard until [`finish`](Self::finish).
    pub fn start(&self, request: Request) -> (ExchangeId, Events) {
        let now_ns = self.shared.clock.now_ns();
        let (sender, events) = mpsc::unbounded_channel();
        let mut state = self.shared.lock();
        let id = state.side.engine.start(now_ns, request);
        if state.over.is_none() {
            state.hearers.insert(id, sender);
        }
        drop(state);
        self.shared.wake.notify_one();
        (id, events)
    }

    /// Ends an exchange and tells what happened in it.
    pub fn finish(&self, id: ExchangeId) -> Option<Progress> {
        let now_ns = self.shared.clock.now_ns();
        let mut state = self.shared.lock();
        state.hearers.remove(&id);
        let progress = state.side.engine.finish(now_ns, id);
        drop(state);
        self.shared.wake.notify_one();
        progress
    }

    /// How often a datagram of the session's handshake was sent once more; `None` without a session.
    pub fn handshake_retransmissions(&self) -> Option<u32> {
        self.shared.lock().side.session.as_ref().map(|session| session.retransmissions())
    }

    /// False once it is known to be over, or to be so soon.
    pub fn is_usable(&self) -> bool {
        let state = self.shared.lock();
        state.over.is_none() && state.side.engine.takes_requests()
    }

    /// Says good-bye.
    pub async fn close(self) {
        self.shared.lock().closing = true;
        self.shared.wake.notify_one();
        let task = self.task.lock().expect("no holder panics").take();
        if let Some(task) = task {
            task.finish().await;
        }
    }
}

/// What an ended exchange is in the driver's words.
pub fn error_of(ended: Ended) -> ExchangeError {
    match ended {
        Ended::GaveUp { transmissions: 1 } => ExchangeError::GaveUp("no answer to a message sent once".to_owned()),
        Ended::GaveUp { transmissions } => {
            ExchangeError::GaveUp(format!("no acknowledgement of a message sent {transmissions} times"))
        }
        Ended::Reset => ExchangeError::new("the server answered with a Reset"),
        Ended::Protocol(words) | Ended::Closed(words) => ExchangeError::new(words),
    }
}

/// Fills in a row what happened in its exchange. Retransmissions of the handshake that it began with are there already.
pub fn record(progress: &Progress, counts_retransmissions: bool, exchange: &mut Exchange) {
    exchange.request_start_ns = progress.request_start_ns;
    exchange.first_body_sent_ns = progress.first_body_ns;
    exchange.first_response_byte_ns = progress.first_response_ns;
    exchange.first_final_byte_ns = progress.first_final_ns;
    exchange.body_sent_bytes = progress.body_sent_bytes;
    exchange.body_received_bytes = progress.body_received_bytes;
    if counts_retransmissions {
        let of_handshake = exchange.client_retransmissions.unwrap_or(0);
        exchange.client_retransmissions = Some(of_handshake + progress.retransmissions);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder panics")
    }

    /// Hands out what was learned.
    fn notify(&self, state: &mut State) {
        while let Some(event) = state.side.engine.poll_event() {
            if let Some(hearer) = state.hearers.get(&event.exchange()) {
                // Who does not listen any more is about to finish.
                let _ = hearer.send(event);
            }
        }
        let session = state.side.session.as_ref();
        let words = session.and_then(|session| session.ended()).or(state.side.engine.closed()).map(str::to_owned);
        match words.filter(|_| state.over.is_none()) {
            Some(words) => self.end(state, &words),
            None if session.is_some_and(|session| session.is_connected()) => self.settled.notify_waiters(),
            None => {}
        }
    }

    fn end(&self, state: &mut State, words: &str) {
        state.over = Some(words.to_owned());
        state.side.engine.close(self.clock.now_ns(), words);
        while let Some(event) = state.side.engine.poll_event() {
            if let Some(hearer) = state.hearers.get(&event.exchange()) {
                let _ = hearer.send(event);
            }
        }
        state.hearers.clear();
        self.settled.notify_waiters();
    }

    fn over(&self, words: &str) {
        let mut state = self.lock();
        if state.over.is_none() {
            self.end(&mut state, words);
        }
    }

    fn receive(&self, bytes: &[u8]) {
        let now_ns = self.clock.now_ns();
        let mut state = self.lock();
        state.side.receive(now_ns, bytes);
        self.notify(&mut state);
    }

    fn handle_timeout(&self) {
        let now_ns = self.clock.now_ns();
        let mut state = self.lock();
        state.side.handle_timeout(now_ns);
        self.notify(&mut state);
    }

    /// It closed a session that the peer still has to close (RFC 5246, section 7.2.1).
    fn awaits_close_notify(&self) -> bool {
        let state = self.lock();
        state.over.is_none() && state.side.session.is_some()
    }

    /// What is to be sent, when to come back, and whether to end after that.
    fn poll(&self) -> (Vec<Vec<u8>>, Option<Duration>, bool) {
        let now_ns = self.clock.now_ns();
        let mut state = self.lock();
        self.notify(&mut state);
        if state.closing
            && let Some(session) = &mut state.side.session
        {
            session.close(now_ns);
        }
        let datagrams = std::iter::from_fn(|| state.side.poll_transmit(now_ns)).collect();
        let wait = state.side.poll_timeout().map(|due_ns| Duration::from_nanos(due_ns.saturating_sub(now_ns)));
        (datagrams, wait, state.closing || state.over.is_some())
    }
}

async fn sleep(wait: Option<Duration>) {
    match wait {
        Some(wait) => tokio::time::sleep(wait).await,
        None => std::future::pending().await,
    }
}

/// Waits for the peer's close_notify. A socket that was closed before would answer it with ICMP.
async fn close_notify(socket: UdpSocket) {
    let mut first = [0];
    while socket.recv(&mut first).await.is_ok() && first[0] != DTLS_ALERT {}
}

async fn carry_datagrams(shared: Arc<Shared>, socket: UdpSocket, lingering: Lingering) {
    let mut buffer = vec![0; 65_536];
    loop {
        let (datagrams, wait, ends) = shared.poll();
        for datagram in datagrams {
            // What cannot be sent is as good as lost; an error of the path is told by the next receive.
            let _ = socket.send(&datagram).await;
        }
        if ends {
            if shared.awaits_close_notify() {
                lingering.keep(async move {
                    let _ = tokio::time::timeout(ANSWER_WAIT, close_notify(socket)).await;
                });
            }
            return;
        }
        tokio::select! {
            received = socket.recv(&mut buffer) => match received {
                Ok(length) => shared.receive(&buffer[..length]),
                // ICMP says that nobody listens there (RFC 7252, section 4.2, lets an endpoint give up).
                Err(error) => shared.over(&error.to_string()),
            },
            () = sleep(wait) => shared.handle_timeout(),
            () = shared.wake.notified() => {}
        }
    }
}

async fn carry_stream(shared: Arc<Shared>, stream: Box<dyn Stream>) {
    let (mut reader, mut writer) = tokio::io::split(stream);
    let mut buffer = vec![0; 65_536];
    let mut to_write: Vec<u8> = Vec::new();
    // TLS may hold back what it has taken.
    let mut unflushed = false;
    loop {
        let (parts, wait, ends) = shared.poll();
        parts.iter().for_each(|part| to_write.extend_from_slice(part));
        if ends && to_write.is_empty() && !unflushed {
            let _ = writer.shutdown().await;
            return;
        }
        // Reading goes on while the peer takes nothing, or two ends that write would wait for one another.
        tokio::select! {
            written = push(&mut writer, &to_write), if unflushed || !to_write.is_empty() => match written {
                Ok(length) => {
                    unflushed = length > 0;
                    to_write.drain(..length);
                }
                Err(error) => return shared.over(&error.to_string()),
            },
            read = reader.read(&mut buffer) => match read {
                Ok(0) => return shared.over("the server closed the connection"),
                Ok(length) => shared.receive(&buffer[..length]),
                Err(error) => return shared.over(&error.to_string()),
            },
            () = sleep(wait) => shared.handle_timeout(),
            () = shared.wake.notified() => {}
        }
    }
}
