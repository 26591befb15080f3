use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UdpSocket;
use tokio::sync::mpsc;

use super::dtls::Sessions;
use super::resources::{Application, Said, state};
use super::side::Side;
use crate::codec::coap::{
    Channel, Framing, MessageLayer, ObservationId, Options, Parameters, RequestId, Response, Server, ServerEvent,
};
use crate::payload::{Draw, generator};
use crate::raw_udp::bind;
use crate::stream::{Stream, push};
use crate::task::Task;
use crate::{Clock, Context, StackError};

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

/// What comes later for a client.
type Change = (SocketAddr, News);

enum News {
    /// A state for one observer.
    State(ObservationId, Bytes),
    /// What a request was to wait for.
    Response(RequestId, Response),
}

/// One client as its server sees it.
struct Host {
    side: Side<Server>,
    client: SocketAddr,
    /// Each observer's wait for the next state.
    observers: HashMap<ObservationId, Task>,
    /// Each request that somebody else answers.
    fetches: HashMap<RequestId, Task>,
    changes: mpsc::UnboundedSender<Change>,
}

impl Host {
    /// Answers what was asked.
    fn answer(&mut self, service: &Service, now_ns: u64) {
        while let Some(event) = self.side.engine.poll_event() {
            match event {
                ServerEvent::Unobserved(id) => drop(self.observers.remove(&id)),
                ServerEvent::Asked(id, asked) => match service.application.answer(&asked) {
                    Said::Response(response) => self.side.engine.respond(now_ns, id, response),
                    Said::Later(response) => {
                        let (changes, client) = (self.changes.clone(), self.client);
                        let fetch = async move {
                            // Nobody is there any more to be told.
                            let _ = changes.send((client, News::Response(id, response.await)));
                        };
                        self.fetches.insert(id, Task::spawn(fetch));
                    }
                    Said::Observed(response, mut waiting) => {
                        let Some(observation) = self.side.engine.observe(now_ns, id, response) else { continue };
                        let (changes, client) = (self.changes.clone(), self.client);
                        let forward = async move {
                            while let Some(message) = waiting.next().await {
                                if changes.send((client, News::State(observation, message))).is_err() {
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
}

impl Host {
    /// Tells the client what has come for it.
    fn tell(&mut self, now_ns: u64, news: News, confirmable: bool) {
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

/// Serves clients over one UDP socket, each with a session if there are sessions, until stopped.
pub async fn serve_datagrams(
    context: Context,
    service: Service,
    parameters: Arc<Parameters>,
    sessions: Option<Sessions>,
) -> Result<(), StackError> {
    let Context { parameters: endpoint, ready, mut stop, .. } = context;
    let address = SocketAddr::from((endpoint.server.address, endpoint.server.port));
    let listening = |error| StackError::failed(format!("listening on {address}"), error);
    let socket = bind(address).and_then(UdpSocket::from_std).map_err(listening)?;
    ready(BTreeMap::from([("main".to_owned(), socket.local_addr().map_err(listening)?.port())]));
    let random = generator(endpoint.seed, Draw::Coap);
    tokio::select! {
        () = stop.stopped() => {}
        () = serve_socket(socket, service, parameters, sessions, random) => {}
    }
    Ok(())
}

async fn serve_socket(
    socket: UdpSocket,
    service: Service,
    parameters: Arc<Parameters>,
    sessions: Option<Sessions>,
    random: ChaCha8Rng,
) {
    let (changes, mut changed) = mpsc::unbounded_channel();
    let mut hosts = Hosts {
        lifetime_ns: parameters.exchange_lifetime().as_nanos() as u64,
        random,
        hosts: HashMap::new(),
        timers: BTreeSet::new(),
        parameters,
        service,
        sessions,
        changes,
    };
    let mut buffer = vec![0; 65_536];
    loop {
        let wait = hosts.wait();
        let touched = tokio::select! {
            received = socket.recv_from(&mut buffer) => match received {
                Ok((length, client)) => {
                    hosts.receive(client, &buffer[..length]);
                    vec![client]
                }
                // It tells that an earlier answer found nobody; like a lost datagram it is the client's to report.
                Err(_) => continue,
            },
            Some(change) = changed.recv() => {
                let mut touched = vec![hosts.tell(change)];
                // What is published at once goes out at once.
                while let Ok(change) = changed.try_recv() {
                    touched.push(hosts.tell(change));
                }
                touched
            }
            () = tokio::time::sleep(wait) => hosts.handle_timeouts(),
        };
        for client in touched {
            for datagram in hosts.finish(client) {
                let _ = socket.send_to(&datagram, client).await;
            }
        }
    }
}

/// The clients of one socket.
struct Hosts {
    hosts: HashMap<SocketAddr, Peer>,
    /// When each is to be looked at.
    timers: BTreeSet<(u64, SocketAddr)>,
    service: Service,
    parameters: Arc<Parameters>,
    lifetime_ns: u64,
    sessions: Option<Sessions>,
    random: ChaCha8Rng,
    changes: mpsc::UnboundedSender<Change>,
}

struct Peer {
    host: Host,
    timer_ns: u64,
    /// When it may be forgotten if nothing of it needs to be known any more.
    forget_ns: u64,
}

impl Hosts {
    fn wait(&self) -> Duration {
        let now_ns = self.service.clock.now_ns();
        let due_ns = self.timers.first().map_or(now_ns + 3_600_000_000_000, |(due_ns, _)| *due_ns);
        Duration::from_nanos(due_ns.saturating_sub(now_ns))
    }

    fn receive(&mut self, client: SocketAddr, bytes: &[u8]) {
        let now_ns = self.service.clock.now_ns();
        if !self.hosts.contains_key(&client) {
            self.accept(now_ns, client);
        }
        let peer = self.hosts.get_mut(&client).expect("it is there by now");
        peer.host.side.receive(now_ns, bytes);
    }

    fn accept(&mut self, now_ns: u64, client: SocketAddr) {
        let random = ChaCha8Rng::seed_from_u64(self.random.next_u64());
        let channel = Channel::Datagrams(MessageLayer::new(self.parameters.clone(), random));
        let side = Side {
            engine: Server::new(channel, self.service.options),
            session: self.sessions.as_ref().map(|sessions| sessions.begin(now_ns, true)),
        };
        let host =
            Host { side, client, observers: HashMap::new(), fetches: HashMap::new(), changes: self.changes.clone() };
        let forget_ns = now_ns.saturating_add(self.lifetime_ns);
        self.timers.insert((forget_ns, client));
        self.hosts.insert(client, Peer { host, timer_ns: forget_ns, forget_ns });
    }

    fn tell(&mut self, (client, news): Change) -> SocketAddr {
        if let Some(peer) = self.hosts.get_mut(&client) {
            peer.host.tell(self.service.clock.now_ns(), news, self.service.confirmable);
        }
        client
    }

    fn handle_timeouts(&mut self) -> Vec<SocketAddr> {
        let now_ns = self.service.clock.now_ns();
        let due: Vec<SocketAddr> =
            self.timers.iter().take_while(|(due_ns, _)| *due_ns <= now_ns).map(|(_, client)| *client).collect();
        for client in &due {
            if let Some(peer) = self.hosts.get_mut(client) {
                peer.host.side.handle_timeout(now_ns);
            }
        }
        due
    }

    /// Answers what was asked, and says what is to be sent. Forgets a client of which nothing needs to be known: the next datagram of it is then
    /// the first.
    fn finish(&mut self, client: SocketAddr) -> Vec<Vec<u8>> {
        let now_ns = self.service.clock.now_ns();
        let Some(peer) = self.hosts.get_mut(&client) else { return Vec::new() };
        peer.host.answer(&self.service, now_ns);
        let datagrams: Vec<_> = std::iter::from_fn(|| peer.host.side.poll_transmit(now_ns)).collect();
        self.timers.remove(&(peer.timer_ns, client));
        if peer.forget_ns <= now_ns {
            let session = peer.host.side.session.as_ref();
            let in_session = session.is_some_and(|session| session.is_connected() && session.ended().is_none());
            if !in_session && peer.host.side.engine.is_idle(now_ns) {
                self.hosts.remove(&client);
                return datagrams;
            }
            peer.forget_ns = now_ns.saturating_add(self.lifetime_ns.max(1_000_000_000));
        }
        peer.timer_ns = peer.host.side.poll_timeout().unwrap_or(u64::MAX).min(peer.forget_ns);
        self.timers.insert((peer.timer_ns, client));
        datagrams
    }
}

/// Serves one client over a stream until it ends.
pub async fn serve_stream(stream: Box<dyn Stream>, service: Service, max_message_bytes: usize) {
    let (changes, mut changed) = mpsc::unbounded_channel();
    // Its random numbers are not used: a server's tokens are its clients'.
    let framing = Framing::new(max_message_bytes, ChaCha8Rng::seed_from_u64(0));
    let side = Side { engine: Server::new(Channel::Stream(framing), service.options), session: None };
    let client = SocketAddr::from(([0, 0, 0, 0], 0));
    let mut host = Host { side, client, observers: HashMap::new(), fetches: HashMap::new(), changes };
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
            Some((_, news)) = changed.recv() => host.tell(service.clock.now_ns(), news, false),
            () = tokio::time::sleep(wait) => host.side.handle_timeout(service.clock.now_ns()),
        }
    }
}

#[cfg(test)]
mod tests;
