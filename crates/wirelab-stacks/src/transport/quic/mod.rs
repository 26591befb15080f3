//! QUIC connections of clients (RFC 9000), and their phases. Streams and what they carry are the protocols'.

mod parameters;
mod qlog;
mod server;
mod watched;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use quinn::crypto::rustls::QuicClientConfig;
use quinn::{ClientConfig, Connection, Endpoint, EndpointConfig, TokioRuntime, VarInt, ZeroRttAccepted};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::{DigitallySignedStruct, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use wirelab_schema::{EndpointParameters, Role, WorkloadSpec};

use crate::StackError;
use crate::base::attempt::{Attempt, ExchangeError};
use crate::base::settings::Settings;
use crate::transport::tickets::{Ticket, Tickets};
use crate::transport::tls;
use crate::transport::udp::{bind, unspecified};
use crate::wire::settings_in_force::Connections;
use parameters::client_transport;
pub use parameters::{flow_control, quic_settings, stream_settings};
use qlog::Traces;
pub use server::serve;
use watched::WatchedConfig;

/// Opens QUIC connections, each on a socket of its own so that a local port leads to one connection's packets.
pub struct QuicDialer {
    server: SocketAddr,
    name: String,
    settings: Arc<Settings>,
    workload: WorkloadSpec,
    traces: Traces,
    new_identity: Box<dyn Fn() -> Result<Identity, StackError> + Send + Sync>,
    idle: Mutex<Vec<Identity>>,
}

/// A client configuration with its own tickets, used by one handshake at a time so that what its verifier saw is that handshake's.
struct Identity {
    config: ClientConfig,
    verifier: Arc<NotingVerifier>,
    /// Of a client that sends early data.
    tickets: Option<Arc<Tickets>>,
}

/// An identity in use. It is given back when dropped, so that a handshake that is given up does not cost the tickets of those before it.
struct Borrowed<'a> {
    identity: Option<Identity>,
    idle: &'a Mutex<Vec<Identity>>,
}

impl QuicDialer {
    /// To the server that the parameters name; `connections` watches the connections, if there is one.
    pub fn new(
        parameters: &EndpointParameters,
        settings: Arc<Settings>,
        alpn: &'static str,
        connections: Option<Connections>,
    ) -> Result<Self, StackError> {
        let name = tls::server_name(parameters)?.to_str().into_owned();
        let trusted = tls::verifier(parameters)?;
        let of_identity = settings.clone();
        let of_all = parameters.clone();
        let new_identity =
            Box::new(move || Identity::new(&of_all, &of_identity, trusted.clone(), alpn, connections.clone()));
        let idle = Mutex::new(vec![new_identity()?]);
        let server = (parameters.server.address, parameters.server.port).into();
        let (workload, traces) = (parameters.workload.clone(), Traces::of(Role::Client));
        Ok(QuicDialer { server, name, settings, workload, traces, new_identity, idle })
    }

    /// A new connection, its handshake stamped and its counters read when the exchange ends; and the ticket to wait for before it is closed.
    pub async fn dial(&self, attempt: &mut Attempt) -> Result<(Connection, Option<Ticket>), ExchangeError> {
        let borrowed = self.take_identity()?;
        let Identity { config, verifier, tickets } = borrowed.identity();
        let ticket = tickets.as_ref().map(|tickets| tickets.next());
        verifier.verified.store(false, Ordering::Relaxed);
        let socket = bind(unspecified(self.server))?;
        let endpoint = Endpoint::new(EndpointConfig::default(), None, socket, Arc::new(TokioRuntime))?;
        attempt.exchange.local_port = endpoint.local_addr().ok().map(|address| address.port());
        let mut config = config.clone();
        if self.traces.are_wanted() {
            let mut transport = client_transport(&self.settings, &self.workload);
            self.traces.begin(&mut transport, attempt.exchange.local_port.unwrap_or_default())?;
            config.transport_config(Arc::new(transport));
        }
        let mut connecting = endpoint.connect_with(config, self.server, &self.name)?;
        if self.settings.is_on(tls::EARLY_DATA) {
            connecting = match connecting.into_0rtt() {
                Ok((connection, accepted)) => {
                    observe_early(accepted, attempt);
                    observe_counters(&connection, 0, attempt);
                    return Ok((connection, ticket));
                }
                Err(connecting) => connecting,
            };
        }
        let connection = connecting.await?;
        attempt.exchange.handshake_ns = attempt.now();
        attempt.exchange.resumed = Some(!verifier.verified.load(Ordering::Relaxed));
        // From nothing: what was lost in the handshake is the exchange's too, as it is over TCP.
        observe_counters(&connection, 0, attempt);
        Ok((connection, ticket))
    }

    fn take_identity(&self) -> Result<Borrowed<'_>, StackError> {
        let idle = self.idle.lock().expect("no holder panics").pop();
        let identity = Some(idle.map_or_else(&self.new_identity, Ok)?);
        Ok(Borrowed { identity, idle: &self.idle })
    }
}

impl Borrowed<'_> {
    fn identity(&self) -> &Identity {
        self.identity.as_ref().expect("it is there until dropped")
    }
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        self.idle.lock().expect("no holder panics").extend(self.identity.take());
    }
}

/// Has the exchange record the local port and what the connection counts from now to its end.
pub fn observe(connection: &Connection, local_port: Option<u16>, attempt: &mut Attempt) {
    if !attempt.measures() {
        return;
    }
    attempt.exchange.local_port = local_port;
    observe_counters(connection, connection.stats().path.lost_packets, attempt);
}

/// Has the exchange record when the handshake was done under its request, and whether the server took that.
fn observe_early(accepted: ZeroRttAccepted, attempt: &mut Attempt) {
    let confirmed = Arc::new(Mutex::new(None));
    let (clock, confirming) = (attempt.clock(), confirmed.clone());
    tokio::spawn(async move {
        let accepted = accepted.await;
        *confirming.lock().expect("no holder panics") = Some((clock.now_ns(), accepted));
    });
    attempt.at_end(move |exchange| {
        let confirmed = *confirmed.lock().expect("no holder panics");
        exchange.handshake_ns = confirmed.map(|(done_ns, _)| done_ns);
        exchange.early_data = confirmed.map(|(_, accepted)| accepted);
        exchange.resumed = exchange.early_data.filter(|accepted| *accepted);
    });
}

fn observe_counters(connection: &Connection, lost_before: u64, attempt: &mut Attempt) {
    let connection = connection.clone();
    attempt.at_end(move |exchange| {
        let path = connection.stats().path;
        exchange.client_retransmissions = Some((path.lost_packets - lost_before) as u32);
        exchange.smoothed_rtt_ns = Some(path.rtt.as_nanos() as u64);
    });
}

/// Closes with CONNECTION_CLOSE and lets the connection's task hand it to the kernel; does not wait for the peer.
pub async fn close(connection: &Connection, code: u32) {
    let sent = connection.stats().udp_tx.datagrams;
    connection.close(VarInt::from_u32(code), b"");
    for _ in 0..100 {
        if connection.stats().udp_tx.datagrams > sent {
            break;
        }
        tokio::task::yield_now().await;
    }
}

impl Identity {
    fn new(
        parameters: &EndpointParameters,
        settings: &Settings,
        trusted: Arc<dyn ServerCertVerifier>,
        alpn: &str,
        connections: Option<Connections>,
    ) -> Result<Self, StackError> {
        let verifier = Arc::new(NotingVerifier { trusted, verified: AtomicBool::new(false) });
        let mut crypto = tls::client_config(parameters, settings, verifier.clone(), tls::TLS13, alpn)?;
        let sends_early = settings.is_on(tls::EARLY_DATA) && settings.boolean("resumption");
        let tickets = sends_early.then(Tickets::new);
        if let Some(tickets) = &tickets {
            crypto.resumption = tickets.resumption();
        }
        let crypto = QuicClientConfig::try_from(crypto).map_err(|error| StackError::failed("TLS for QUIC", error))?;
        let crypto = Arc::new(crypto);
        let mut config = match connections {
            Some(connections) => ClientConfig::new(Arc::new(WatchedConfig::new(crypto, connections))),
            None => ClientConfig::new(crypto),
        };
        config.transport_config(Arc::new(client_transport(settings, &parameters.workload)));
        if !settings.boolean("resumption") {
            // An address validation token (RFC 9000, section 8.1.3) is another memory of an earlier connection.
            config.token_store(Arc::new(quinn::NoneTokenStore));
        }
        Ok(Identity { config, verifier, tickets })
    }
}

/// Notes that the server's certificate was verified, which happens in full handshakes alone: quinn does not tell a resumed one.
#[derive(Debug)]
struct NotingVerifier {
    trusted: Arc<dyn ServerCertVerifier>,
    verified: AtomicBool,
}

impl ServerCertVerifier for NotingVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        self.verified.store(true, Ordering::Relaxed);
        self.trusted.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.trusted.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.trusted.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.trusted.supported_verify_schemes()
    }
}
