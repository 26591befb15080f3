//! Serves CoAP clients over one UDP socket. What requests mean is the application's.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use tokio::net::UdpSocket;
use tokio::sync::mpsc;

use super::super::dtls::{Session, Sessions};
use super::super::renewal::Renewal;
use super::super::side::Side;
use super::{Change, Host, Service};
use crate::base::payload::{Draw, generator};
use crate::codec::coap::{Channel, MessageLayer, Parameters, Server};
use crate::transport::udp::bind;
use crate::{Context, StackError};

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

pub(super) async fn serve_socket(
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
        made: 0,
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
                let mut touched = vec![hosts.notify(change)];
                // What is published at once goes out at once.
                while let Ok(change) = changed.try_recv() {
                    touched.push(hosts.notify(change));
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
    /// How many hosts there have been.
    made: u64,
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
    /// With sessions.
    renewal: Option<Renewal>,
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
        if peer.renewal.as_mut().is_none_or(|renewal| renewal.receive(now_ns, bytes)) {
            peer.host.side.receive(now_ns, bytes);
        }
        if let Some(session) = peer.renewal.as_mut().and_then(Renewal::take_connected) {
            let host = self.begin(client, Some(session));
            self.hosts.get_mut(&client).expect("it is there").host = host;
        }
    }

    fn accept(&mut self, now_ns: u64, client: SocketAddr) {
        let session = self.sessions.as_ref().map(|sessions| sessions.begin(now_ns, true));
        let host = self.begin(client, session);
        let renewal = self.sessions.clone().map(Renewal::new);
        let forget_ns = now_ns.saturating_add(self.lifetime_ns);
        self.timers.insert((forget_ns, client));
        self.hosts.insert(client, Peer { host, renewal, timer_ns: forget_ns, forget_ns });
    }

    fn begin(&mut self, client: SocketAddr, session: Option<Session>) -> Host {
        let random = ChaCha8Rng::seed_from_u64(self.random.next_u64());
        let channel = Channel::Datagrams(MessageLayer::new(self.parameters.clone(), random));
        self.made += 1;
        let side = Side { engine: Server::new(channel, self.service.options), session };
        Host::new(side, (client, self.made), self.changes.clone())
    }

    fn notify(&mut self, (id, news): Change) -> SocketAddr {
        // Its numbers mean something else to the host that has taken its place.
        if let Some(peer) = self.hosts.get_mut(&id.0).filter(|peer| peer.host.id == id) {
            peer.host.notify(self.service.clock.now_ns(), news, self.service.confirmable);
        }
        id.0
    }

    fn handle_timeouts(&mut self) -> Vec<SocketAddr> {
        let now_ns = self.service.clock.now_ns();
        let due: Vec<SocketAddr> =
            self.timers.iter().take_while(|(due_ns, _)| *due_ns <= now_ns).map(|(_, client)| *client).collect();
        for client in &due {
            if let Some(peer) = self.hosts.get_mut(client) {
                peer.host.side.handle_timeout(now_ns);
                if let Some(renewal) = &mut peer.renewal {
                    renewal.handle_timeout(now_ns);
                }
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
        let renewed = std::iter::from_fn(|| peer.renewal.as_mut().and_then(Renewal::poll_transmit));
        let datagrams: Vec<_> = std::iter::from_fn(|| peer.host.side.poll_transmit(now_ns)).chain(renewed).collect();
        let renewal_ns = peer.renewal.as_ref().and_then(Renewal::poll_timeout);
        self.timers.remove(&(peer.timer_ns, client));
        if peer.forget_ns <= now_ns {
            let session = peer.host.side.session.as_ref();
            let in_session = session.is_some_and(|session| session.is_connected() && session.ended().is_none());
            if !in_session && renewal_ns.is_none() && peer.host.side.engine.is_idle(now_ns) {
                self.hosts.remove(&client);
                return datagrams;
            }
            peer.forget_ns = now_ns.saturating_add(self.lifetime_ns.max(1_000_000_000));
        }
        let timers = peer.host.side.poll_timeout().into_iter().chain(renewal_ns);
        peer.timer_ns = timers.fold(peer.forget_ns, u64::min);
        self.timers.insert((peer.timer_ns, client));
        datagrams
    }
}
