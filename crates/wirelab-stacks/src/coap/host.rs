//! Serves CoAP clients, whatever carries their messages. It opens no socket.

mod datagrams;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;

use super::resources::{Application, Said, state};
use super::side::Side;
use crate::Clock;
use crate::codec::coap::{Channel, Framing, ObservationId, Options, RequestId, Response, Server, ServerEvent};
use crate::transport::stream::{Stream, push};
use crate::transport::task::Task;
pub use datagrams::serve_datagrams;

/// How a server serves each of its clients.
#[derive(Clone)]
pub struct Service {
    /// What it says.
    pub application: Application,
    /// How its engines answer.
    pub options: Options,
    /// Whether its notifications are confirmable.
    pub confirmable: bool,
    /// The only source of time.
    pub clock: Arc<dyn Clock>,
}

/// A client's address and the number of its host, of which there may be several one after another.
type HostId = (SocketAddr, u64);

/// What comes later for a client.
type Change = (HostId, News);

enum News {
    /// A state for one observer.
    State(ObservationId, Bytes),
    /// What a request was to wait for.
    Response(RequestId, Response),
}

/// One client as its server sees it.
struct Host {
    side: Side<Server>,
    id: HostId,
    /// Each observer's wait for the next state.
    observers: HashMap<ObservationId, Task>,
    /// Each request that somebody else answers.
    fetches: HashMap<RequestId, Task>,
    changes: mpsc::UnboundedSender<Change>,
}

impl Host {
    fn new(side: Side<Server>, id: HostId, changes: mpsc::UnboundedSender<Change>) -> Self {
        Host { side, id, observers: HashMap::new(), fetches: HashMap::new(), changes }
    }

    /// Answers what was asked.
    fn answer(&mut self, service: &Service, now_ns: u64) {
        while let Some(event) = self.side.engine.poll_event() {
            match event {
                ServerEvent::Unobserved(id) => drop(self.observers.remove(&id)),
                ServerEvent::IncomingRequest(id, asked) => match service.application.answer(&asked) {
                    Said::Response(response) => self.side.engine.respond(now_ns, id, response),
                    Said::Later(response) => {
                        let (changes, host) = (self.changes.clone(), self.id);
                        let fetch = async move {
                            // Nobody is there any more to be told.
                            let _ = changes.send((host, News::Response(id, response.await)));
                        };
                        self.fetches.insert(id, Task::spawn(fetch));
                    }
                    Said::Observed(response, mut waiting) => {
                        let Some(observation) = self.side.engine.observe(now_ns, id, response) else { continue };
                        let (changes, host) = (self.changes.clone(), self.id);
                        let forward = async move {
                            while let Some(message) = waiting.next().await {
                                if changes.send((host, News::State(observation, message))).is_err() {
                                    return;
                                }
                            }
                            // Who has been told everything still waits: a client does not know that there is no more.
                            std::future::pending().await
                        };
                        self.observers.insert(observation, Task::spawn(forward));
                    }
                },
            }
        }
    }

    /// Tells the client what has come for it.
    fn notify(&mut self, now_ns: u64, news: News, confirmable: bool) {
        match news {
            News::State(observation, message) => {
                self.side.engine.notify(now_ns, observation, state(message), confirmable);
            }
            News::Response(id, response) => {
                self.fetches.remove(&id);
                self.side.engine.respond(now_ns, id, response);
            }
        }
    }
}

/// Serves one client over a stream until it ends.
pub async fn serve_stream(stream: Box<dyn Stream>, service: Service, max_message_bytes: usize) {
    let (changes, mut changed) = mpsc::unbounded_channel();
    // Its random numbers are not used: a server's tokens are its clients'.
    let framing = Framing::new(max_message_bytes, ChaCha8Rng::seed_from_u64(0));
    let side = Side { engine: Server::new(Channel::Stream(framing), service.options), session: None };
    let mut host = Host::new(side, (SocketAddr::from(([0, 0, 0, 0], 0)), 0), changes);
    let (mut reader, mut writer) = tokio::io::split(stream);
    let mut buffer = vec![0; 65_536];
    let mut to_write: Vec<u8> = Vec::new();
    // TLS may hold back what it has taken.
    let mut unflushed = false;
    loop {
        let now_ns = service.clock.now_ns();
        host.answer(&service, now_ns);
        while let Some(part) = host.side.poll_transmit(now_ns) {
            to_write.extend_from_slice(&part);
        }
        if host.side.engine.is_closed() && to_write.is_empty() && !unflushed {
            let _ = writer.shutdown().await;
            return;
        }
        let wait = host
            .side
            .poll_timeout()
            .map_or(Duration::from_secs(3_600), |due_ns| Duration::from_nanos(due_ns.saturating_sub(now_ns)));
        tokio::select! {
            written = push(&mut writer, &to_write), if unflushed || !to_write.is_empty() => match written {
                Ok(length) => {
                    unflushed = length > 0;
                    to_write.drain(..length);
                }
                Err(_) => return,
            },
            read = reader.read(&mut buffer) => match read {
                Ok(0) | Err(_) => return,
                Ok(length) => host.side.receive(service.clock.now_ns(), &buffer[..length]),
            },
            Some((_, news)) = changed.recv() => host.notify(service.clock.now_ns(), news, false),
            () = tokio::time::sleep(wait) => host.side.handle_timeout(service.clock.now_ns()),
        }
    }
}

#[cfg(test)]
mod tests;
