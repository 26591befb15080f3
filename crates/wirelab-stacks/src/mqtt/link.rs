//! A client's connection to a broker. What packets mean is the engine's.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use bytes::{Buf, Bytes};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{Notify, mpsc, oneshot};
use wirelab_schema::Exchange;

use super::sessions::{Session, Sessions};
use super::transport::{Carrier, Connector};
use crate::Clock;
use crate::base::attempt::{Attempt, ExchangeError};
use crate::codec::mqtt::{Event, Message, Qos, Reason};
use crate::transport::stream::{Stream, push};
use crate::transport::task::Task;

/// A client's connection to a broker. Any number of exchanges share it.
pub struct Link {
    carrier: Carrier,
    shared: Arc<Shared>,
    task: Option<Task>,
}

/// What the connection's task and its users share.
struct Shared {
    state: Mutex<State>,
    wake: Notify,
    clock: Arc<dyn Clock>,
}

struct State {
    /// `None` once the link has been given up.
    session: Option<Session>,
    publications: HashMap<u64, Publication>,
    messages: mpsc::UnboundedSender<Bytes>,
    /// Waits for CONNACK or SUBACK.
    waiting: Option<oneshot::Sender<Result<(), ExchangeError>>>,
    /// The broker had the session of an earlier connection.
    resumed: bool,
    ended: Option<String>,
}

struct Publication {
    qos: Qos,
    stamps: Arc<Mutex<Stamps>>,
    done: oneshot::Sender<Result<Reason, ExchangeError>>,
}

/// When the parts of one publication passed.
#[derive(Default)]
pub struct Stamps {
    request_start_ns: Option<u64>,
    first_body_ns: Option<u64>,
    body_bytes: u64,
    first_response_ns: Option<u64>,
    first_final_ns: Option<u64>,
}

impl Stamps {
    fn copy_to(&self, exchange: &mut Exchange) {
        exchange.request_start_ns = self.request_start_ns;
        exchange.first_body_sent_ns = self.first_body_ns;
        exchange.body_sent_bytes = self.body_bytes;
        exchange.first_response_byte_ns = self.first_response_ns;
        exchange.first_final_byte_ns = self.first_final_ns;
    }
}

impl Link {
    /// Connects: as the connector does, then CONNECT and CONNACK. With it come the payloads of all messages that the server will send.
    pub async fn connect(
        connector: &Connector,
        sessions: &Arc<Sessions>,
        clock: &Arc<dyn Clock>,
        attempt: &mut Attempt,
    ) -> Result<(Self, mpsc::UnboundedReceiver<Bytes>), ExchangeError> {
        let (carrier, stream) = connector.dial(attempt).await?;
        let mut session = sessions.take(carrier.local_address()?);
        session.client().connect(clock.now_ns());
        let (messages, inbox) = mpsc::unbounded_channel();
        let (waiting, connected) = oneshot::channel();
        let state = State {
            session: Some(session),
            publications: HashMap::new(),
            messages,
            waiting: Some(waiting),
            resumed: false,
            ended: None,
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), wake: Notify::new(), clock: clock.clone() });
        let task = Some(Task::spawn(pump(stream, shared.clone())));
        let link = Link { carrier, shared, task };
        connected.await.map_err(|_| link.why())??;
        Ok((link, inbox))
    }

    /// Subscribes, and waits for the server's word.
    pub async fn subscribe(&self, filter: &str, qos: Qos) -> Result<(), ExchangeError> {
        let (waiting, subscribed) = oneshot::channel();
        self.shared.with_client(|state, now_ns| {
            state.waiting = Some(waiting);
            if let Some(session) = &mut state.session {
                session.client().subscribe(filter, qos, now_ns);
            }
        });
        subscribed.await.map_err(|_| self.why())?
    }

    /// Publishes, and waits until that is done: PUBACK or PUBCOMP, or with QoS 0 until it is with the transport. The row of the attempt gets the
    /// stamps, however the exchange ends.
    pub async fn publish(
        &self,
        message: Arc<Message>,
        qos: Qos,
        attempt: Option<&mut Attempt>,
    ) -> Result<Reason, ExchangeError> {
        let (done, ended) = oneshot::channel();
        let stamps = Arc::new(Mutex::new(Stamps::default()));
        if let Some(attempt) = attempt {
            let stamps = stamps.clone();
            attempt.at_end(move |exchange| stamps.lock().expect("no holder panics").copy_to(exchange));
        }
        self.shared.with_client(|state, now_ns| {
            if let Some(session) = state.session.as_mut().filter(|_| state.ended.is_none()) {
                let ticket = session.client().publish(message, qos, false, now_ns);
                state.publications.insert(ticket, Publication { qos, stamps, done });
            }
        });
        ended.await.map_err(|_| self.why())?
    }

    /// What carries it, for what that says of itself.
    pub fn carrier(&self) -> &Carrier {
        &self.carrier
    }

    /// Whether it resumes the session of an earlier connection.
    pub fn is_resumed(&self) -> bool {
        self.shared.lock().resumed
    }

    /// False if it is known to have ended.
    pub fn is_usable(&self) -> bool {
        self.shared.lock().ended.is_none()
    }

    /// Says DISCONNECT, and waits until that is with the kernel.
    pub async fn close(mut self) {
        let sent = self.carrier.sent();
        self.shared.with_client(|state, now_ns| {
            if let Some(session) = &mut state.session {
                session.client().disconnect(now_ns);
            }
        });
        // What is left to write is written by the task, which then ends.
        if let Some(task) = self.task.take() {
            task.finish().await;
        }
        self.carrier.close(sent).await;
    }

    /// Why it has ended.
    pub fn why(&self) -> ExchangeError {
        let state = self.shared.lock();
        ExchangeError::new(state.ended.clone().unwrap_or_else(|| "the broker closed the connection".to_owned()))
    }
}

impl Drop for Link {
    /// Gives the session back at once, so that the next connection finds it.
    fn drop(&mut self) {
        let session = self.shared.lock().session.take();
        drop(session);
        self.shared.wake.notify_one();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder panics")
    }

    /// Has the client do something, tells who waits for what came of it, and has the task write.
    fn with_client(&self, act: impl FnOnce(&mut State, u64)) {
        let now_ns = self.clock.now_ns();
        let mut state = self.lock();
        act(&mut state, now_ns);
        state.notify(now_ns);
        drop(state);
        self.wake.notify_one();
    }

    /// Fills up what is to be written; whether the client has ended, and when it is to be called. `None` once the link was given up.
    fn next_output(&self, output: &mut Bytes) -> Option<(bool, Option<Duration>)> {
        let mut state = self.lock();
        let client = state.session.as_mut()?.client();
        if output.is_empty() {
            *output = client.take_output();
        }
        let now_ns = self.clock.now_ns();
        let timeout = client.poll_timeout().map(|at_ns| Duration::from_nanos(at_ns.saturating_sub(now_ns)));
        Some((client.has_ended(), timeout))
    }

    /// As [`with_client`](Self::with_client), from the task itself.
    fn observe(&self, act: impl FnOnce(&mut crate::codec::mqtt::Client, u64)) {
        let now_ns = self.clock.now_ns();
        let mut state = self.lock();
        if let Some(session) = &mut state.session {
            act(session.client(), now_ns);
        }
        state.notify(now_ns);
    }
}

impl State {
    /// Passes events on to those that they are for.
    fn notify(&mut self, now_ns: u64) {
        while let Some(event) = self.session.as_mut().and_then(|session| session.client().poll_event()) {
            match event {
                Event::Connected { session_present } => {
                    self.resumed = session_present;
                    self.answer(Ok(()));
                }
                Event::Subscribed(reasons) => {
                    let failure = reasons.into_iter().find(|reason| reason.is_failure());
                    let refused = |reason| ExchangeError::new(format!("the broker refused the subscription: {reason}"));
                    self.answer(failure.map_or(Ok(()), |reason| Err(refused(reason))));
                }
                Event::Sent { ticket, payload_bytes, whole } => self.sent(ticket, payload_bytes, whole, now_ns),
                Event::Received { ticket, began_ns } => {
                    if let Some(publication) = self.publications.get(&ticket) {
                        let mut stamps = publication.stamps.lock().expect("no holder panics");
                        stamps.first_response_ns.get_or_insert(began_ns);
                    }
                }
                Event::Acknowledged { ticket, reason, began_ns } => {
                    if let Some(Publication { stamps, done, .. }) = self.publications.remove(&ticket) {
                        let mut stamps = stamps.lock().expect("no holder panics");
                        stamps.first_response_ns.get_or_insert(began_ns);
                        stamps.first_final_ns.get_or_insert(began_ns);
                        // Given up meanwhile, perhaps.
                        let _ = done.send(Ok(reason));
                    }
                }
                Event::Lost { ticket } => {
                    if let Some(publication) = self.publications.remove(&ticket) {
                        let lost = ExchangeError::new("the broker has forgotten the session of the message");
                        let _ = publication.done.send(Err(lost));
                    }
                }
                // Nobody listens any more, perhaps.
                Event::Message { message, .. } => drop(self.messages.send(message.payload.clone())),
                Event::Ended(reason) => self.end(format!("the connection to the broker ended: {reason}")),
            }
        }
    }

    fn sent(&mut self, ticket: u64, payload_bytes: u64, whole: bool, now_ns: u64) {
        let Some(publication) = self.publications.get(&ticket) else { return };
        let mut stamps = publication.stamps.lock().expect("no holder panics");
        stamps.request_start_ns.get_or_insert(now_ns);
        if payload_bytes > 0 {
            stamps.first_body_ns.get_or_insert(now_ns);
            stamps.body_bytes = stamps.body_bytes.max(payload_bytes);
        }
        drop(stamps);
        if whole && publication.qos == Qos::AtMostOnce {
            let publication = self.publications.remove(&ticket).expect("just seen");
            let _ = publication.done.send(Ok(Reason::SUCCESS));
        }
    }

    fn answer(&mut self, answer: Result<(), ExchangeError>) {
        if let Some(waiting) = self.waiting.take() {
            let _ = waiting.send(answer);
        }
    }

    /// Whoever waits learns it by their dropped senders.
    fn end(&mut self, why: String) {
        self.ended.get_or_insert(why);
        self.publications.clear();
        self.waiting = None;
        self.messages = mpsc::unbounded_channel().0;
    }
}

/// Carries bytes between the client and its stream until either ends.
async fn pump(stream: Box<dyn Stream>, shared: Arc<Shared>) {
    let why = match carry(stream, &shared).await {
        Ok(()) => "the broker closed the connection".to_owned(),
        Err(error) => error.to_string(),
    };
    let mut state = shared.lock();
    if let Some(session) = &mut state.session {
        session.client().closed();
    }
    state.end(why);
}

async fn carry(stream: Box<dyn Stream>, shared: &Shared) -> std::io::Result<()> {
    let (mut reader, mut writer) = tokio::io::split(stream);
    let mut buffer = vec![0; 64 * 1024];
    let mut output = Bytes::new();
    let mut unflushed = false;
    loop {
        let Some((ended, timeout)) = shared.next_output(&mut output) else { return Ok(()) };
        if ended && output.is_empty() && !unflushed {
            return writer.shutdown().await;
        }
        tokio::select! {
            read = reader.read(&mut buffer) => {
                let length = read?;
                if length == 0 {
                    return Ok(());
                }
                shared.observe(|client, now_ns| client.receive(&buffer[..length], now_ns));
            }
            written = push(&mut writer, &output), if unflushed || !output.is_empty() => {
                let length = written?;
                unflushed = length > 0;
                output.advance(length);
                shared.observe(|client, _| client.written(length));
            }
            () = shared.wake.notified() => {}
            () = tokio::time::sleep(timeout.unwrap_or_default()), if timeout.is_some() => {
                shared.observe(|client, now_ns| client.handle_timeout(now_ns));
            }
        }
    }
}
