//! The client of every workload over CoAP. Retransmission and blocks are the engine's.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use tokio::net::UdpSocket;
use wirelab_schema::EndpointParameters;

use super::association::{Association, Events, error_of, record};
use super::dtls::Sessions;
use super::resources::{Requests, fetch, subscription};
use super::side::Side;
use crate::Clock;
use crate::base::attempt::{Attempt, ExchangeError};
use crate::base::payload::{Draw, generator_of};
use crate::codec::coap::{
    Channel, Client as Engine, ClientEvent, ExchangeId, Framing, MessageLayer, Parameters, status,
};
use crate::transport::lingering::Lingering;
use crate::transport::socket::Socket;
use crate::transport::stream::Dialer;
use crate::transport::udp::{bind, unspecified};
use crate::workload::{Client, Messages, Subscriber};

/// Opens associations with the server.
pub struct Connector {
    transport: Transport,
    asking: Asking,
    clock: Arc<dyn Clock>,
    /// Draws each association's generator.
    random: Mutex<ChaCha8Rng>,
    /// Sockets of DTLS sessions that the server has still to close.
    lingering: Lingering,
}

/// How clients ask.
#[derive(Clone, Copy)]
pub struct Asking {
    /// Largest block.
    pub szx: u8,
    /// Requests are confirmable.
    pub confirmable: bool,
    /// The silence after which an association is pinged; 0 for never.
    pub ping_interval_ns: u64,
}

impl Asking {
    fn engine(self, channel: Channel) -> Engine {
        let engine = Engine::new(channel, self.szx, self.confirmable);
        if self.ping_interval_ns > 0 { engine.pinging(self.ping_interval_ns) } else { engine }
    }
}

/// What carries them.
pub enum Transport {
    /// UDP, or DTLS over it.
    Datagrams {
        /// The server.
        server: SocketAddr,
        /// Transmission parameters.
        parameters: Arc<Parameters>,
        /// Of DTLS.
        sessions: Option<Sessions>,
    },
    /// TCP, or TLS over it.
    Stream {
        /// To the server.
        dialer: Dialer,
        /// What is announced.
        max_message_bytes: usize,
    },
}

/// An open association.
#[derive(Clone)]
pub struct Connection {
    association: Association,
    local_port: Option<u16>,
    /// What carries it, over TCP.
    socket: Option<Socket>,
}

impl Connector {
    /// Of client number `number` of the endpoint.
    pub fn new(
        parameters: &EndpointParameters,
        number: u32,
        clock: Arc<dyn Clock>,
        transport: Transport,
        asking: Asking,
    ) -> Self {
        let random = Mutex::new(generator_of(parameters.seed, Draw::Coap, number));
        Connector { transport, asking, clock, random, lingering: Lingering::default() }
    }

    /// A new association, its phases stamped.
    async fn connect(&self, attempt: &mut Attempt) -> Result<Connection, ExchangeError> {
        let random = ChaCha8Rng::seed_from_u64(self.random.lock().expect("no holder panics").next_u64());
        let clock = self.clock.clone();
        match &self.transport {
            Transport::Datagrams { server, parameters, sessions } => {
                let socket = UdpSocket::from_std(bind(unspecified(*server))?)?;
                socket.connect(server).await?;
                let local_port = socket.local_addr().ok().map(|address| address.port());
                attempt.exchange.local_port = local_port;
                let channel = Channel::Datagrams(MessageLayer::new(parameters.clone(), random));
                let engine = self.asking.engine(channel);
                let session = sessions.as_ref().map(|sessions| sessions.begin(clock.now_ns(), false));
                let secure = session.is_some();
                let side = Side { engine, session };
                let association = Association::over_datagrams(side, socket, clock, self.lingering.clone());
                if secure {
                    let of_handshake = association.clone();
                    attempt.at_end(move |exchange| {
                        exchange.client_retransmissions = of_handshake.handshake_retransmissions();
                    });
                    association.connected().await?;
                    attempt.exchange.handshake_ns = attempt.now();
                    attempt.exchange.resumed = Some(false);
                }
                Ok(Connection { association, local_port, socket: None })
            }
            Transport::Stream { dialer, max_message_bytes } => {
                let (socket, stream) = dialer.dial(attempt).await?;
                let channel = Channel::Stream(Framing::new(*max_message_bytes, random));
                let side = Side { engine: self.asking.engine(channel), session: None };
                let association = Association::over_stream(side, stream, clock);
                Ok(Connection { association, local_port: attempt.exchange.local_port, socket: Some(socket) })
            }
        }
    }
}

/// A client that asks.
pub struct CoapClient {
    /// Opens its associations.
    pub connector: Connector,
    /// What it asks.
    pub requests: Requests,
}

impl Client for CoapClient {
    type Connection = Connection;

    async fn connect(&self, attempt: &mut Attempt) -> Result<Connection, ExchangeError> {
        self.connector.connect(attempt).await
    }

    async fn exchange(&self, connection: &mut Connection, attempt: &mut Attempt) -> Result<(), ExchangeError> {
        attempt.exchange.local_port = connection.local_port;
        if let Some(socket) = connection.socket.as_ref().filter(|_| attempt.exchange.connection_reused) {
            socket.observe(attempt);
        }
        let (id, mut events) = connection.association.start(self.requests.request(&attempt.exchange));
        let (association, counts) = (connection.association.clone(), connection.socket.is_none());
        attempt.at_end(move |exchange| {
            if let Some(progress) = association.finish(id) {
                record(&progress, counts, exchange);
            }
        });
        match events.recv().await {
            Some(ClientEvent::Response(_, response)) => self.requests.judge(&response, &mut attempt.exchange),
            Some(ClientEvent::Ended(_, ended)) => Err(error_of(ended)),
            other => Err(ExchangeError::new(format!("no response: {other:?}"))),
        }
    }

    fn share(&self, connection: &Connection) -> Option<Connection> {
        Some(connection.clone())
    }

    fn is_usable(&self, connection: &Connection) -> bool {
        connection.association.is_usable()
    }

    async fn close(&self, connection: Connection) {
        connection.association.close().await;
    }

    async fn end(&self) {
        self.connector.lingering.closed().await;
    }
}

/// A client that observes.
pub struct Observing {
    /// Opens its associations.
    pub connector: Connector,
    /// What it waits for.
    pub messages: Messages,
}

/// An association, on which the server may have registered an observation.
pub struct Subscription {
    connection: Connection,
    observation: Option<(ExchangeId, Events)>,
    /// The state at registration, unless nothing was published yet.
    first: Option<Bytes>,
}

impl Subscriber for Observing {
    type Subscription = Subscription;

    async fn subscribe(&self, attempt: &mut Attempt) -> Result<Subscription, ExchangeError> {
        let connection = self.connector.connect(attempt).await?;
        attempt.exchange.local_port = connection.local_port;
        let (id, mut events) = connection.association.start(subscription());
        match events.recv().await {
            Some(ClientEvent::Observing(_, response)) => {
                let first = Some(response.payload).filter(|payload| !payload.is_empty());
                Ok(Subscription { connection, observation: Some((id, events)), first })
            }
            Some(ClientEvent::Ended(_, ended)) => Err(error_of(ended)),
            Some(ClientEvent::Response(_, response)) => {
                Err(ExchangeError::new(format!("the server does not let this be observed: {}", response.code)))
            }
            other => Err(ExchangeError::new(format!("no response: {other:?}"))),
        }
    }

    async fn next(&self, subscription: &mut Subscription) -> Result<Bytes, ExchangeError> {
        if let Some(first) = subscription.first.take() {
            return Ok(first);
        }
        let Some((_, events)) = &mut subscription.observation else {
            return Err(ExchangeError::new("nothing is observed"));
        };
        match events.recv().await {
            Some(ClientEvent::Notification(_, response)) => Ok(response.payload),
            Some(ClientEvent::Ended(_, ended)) => Err(error_of(ended)),
            other => Err(ExchangeError::new(format!("no notification: {other:?}"))),
        }
    }

    async fn open(&self, attempt: &mut Attempt) -> Result<Subscription, ExchangeError> {
        let connection = self.connector.connect(attempt).await?;
        attempt.exchange.local_port = connection.local_port;
        Ok(Subscription { connection, observation: None, first: None })
    }

    async fn fetch(&self, subscription: &mut Subscription, after: u32) -> Result<Vec<Bytes>, ExchangeError> {
        let association = &subscription.connection.association;
        let (id, mut events) = association.start(fetch(after));
        let event = events.recv().await;
        association.finish(id);
        match event {
            Some(ClientEvent::Response(_, response)) => match status(response.code) {
                200..300 => self.messages.split(response.payload),
                status => Err(ExchangeError::new(format!("status {}.{:02}", status / 100, status % 100))),
            },
            Some(ClientEvent::Ended(_, ended)) => Err(error_of(ended)),
            other => Err(ExchangeError::new(format!("no response: {other:?}"))),
        }
    }

    async fn close(&self, subscription: Subscription) {
        if let Some((id, _)) = subscription.observation {
            subscription.connection.association.finish(id);
        }
        subscription.connection.association.close().await;
        self.connector.lingering.closed().await;
    }
}
