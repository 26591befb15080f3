mod server;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use quinn::congestion::{BbrConfig, ControllerFactory, CubicConfig, NewRenoConfig};
use quinn::crypto::rustls::QuicClientConfig;
use quinn::{
    AckFrequencyConfig, ClientConfig, Connection, Endpoint, EndpointConfig, TokioRuntime, TransportConfig, VarInt,
    ZeroRttAccepted,
};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::{DigitallySignedStruct, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use wirelab_schema::{EndpointParameters, Role, SettingDescription, WorkloadSpec};

use crate::attempt::{Attempt, ExchangeError};
use crate::page::{CONCURRENT_STREAMS, CONNECTION_WINDOW_BYTES, STREAM_WINDOW_BYTES};
use crate::qlog::Traces;
use crate::raw_udp::{bind, unspecified};
use crate::settings::{self, Settings};
use crate::tickets::{Ticket, Tickets};
use crate::{StackError, tls};
pub use server::serve;

/// Ten segments of 1448 bytes, what Linux TCP sends at first over Ethernet with timestamps (RFC 6928).
const KERNEL_INITIAL_WINDOW_BYTES: u64 = 14_480;

/// Settings of every stack over QUIC.
pub fn quic_settings() -> [SettingDescription; 4] {
    [
        settings::choice(
            "quic-congestion-control",
            &["cubic", "newreno", "bbr"],
            "Congestion control of both ends (RFC 9438, RFC 9002, BBR).",
        ),
        settings::choice(
            "quic-initial-window",
            &["kernel", "library"],
            "Initial congestion window (RFC 9002, section 7.2) of both ends: `kernel` is the 14,480 bytes that Linux TCP starts with, `library` \
             what quinn starts with (12,000 bytes; BBR's own with `bbr`).",
        ),
        settings::boolean(
            "quic-mtu-discovery",
            false,
            "Path MTU discovery (RFC 8899). On, datagrams grow from 1200 bytes to at most 1452 after padded probes, which are extra packets on \
             every new connection; TCP is told its segment size by the interface and needs none.",
        ),
        settings::integer(
            "quic-idle-timeout",
            (1_000, 3_600_000),
            "ms",
            30_000,
            "max_idle_timeout (RFC 9000, section 10.1): a connection that is silent for as long is closed without a word. TCP has none.",
        ),
    ]
}

const LARGEST_WINDOW: i64 = (1 << 62) - 1;

/// Settings of flow control and acknowledgements, of a stack with many streams.
pub fn stream_settings() -> Vec<SettingDescription> {
    let number = settings::integer_if_given;
    vec![
        number(
            "stream-window",
            (1, LARGEST_WINDOW),
            "bytes",
            "initial_max_stream_data of both ends (RFC 9000, section 18.2), for streams of every kind: how much of a body may be under way on a stream. \
             `default`: the library's 1,250,000 bytes; of a client in `page` Chromium's 6 MiB.",
        ),
        number(
            "connection-window",
            (1, LARGEST_WINDOW),
            "bytes",
            "initial_max_data of both ends (RFC 9000, section 18.2): how much may be under way on the connection. `default`: the library's 2^62 - 1; of a \
             client in `page` Chromium's 15 MiB.",
        ),
        number(
            "max-concurrent-streams",
            (1, 1 << 60),
            "",
            "initial_max_streams_bidi of the server (RFC 9000, section 18.2): how many requests may be under way on a connection. `default`: the \
             library's 100, in `page` 128, as nginx has it for HTTP/2.",
        ),
        number(
            "send-window",
            (1, LARGEST_WINDOW),
            "bytes",
            "What an end keeps unacknowledged at most, whatever the other end grants. Nothing on the wire says it. `default`: the library's 10,000,000 bytes.",
        ),
        number(
            "ack-delay",
            (1, 16_383),
            "ms",
            "Requested max_ack_delay of both ends, in the ACK_FREQUENCY frame of draft-ietf-quic-ack-frequency: how long the other end may wait before it \
             acknowledges. `default`: no such frame for it; both wait for 25 ms at most (RFC 9000, section 18.2).",
        ),
        number(
            "ack-frequency",
            (0, (1 << 30) - 1),
            "packets",
            "Ack-eliciting threshold of the same frame: how many packets may come before one is acknowledged at once. `default`: no such frame for it; \
             every second packet is (RFC 9000, section 13.2.2), which is 1 here.",
        ),
    ]
}

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
    /// To the server that the parameters name.
    pub fn new(
        parameters: &EndpointParameters,
        settings: Arc<Settings>,
        alpn: &'static str,
    ) -> Result<Self, StackError> {
        let name = tls::server_name(parameters)?.to_str().into_owned();
        let trusted = tls::verifier(parameters)?;
        let of_identity = settings.clone();
        let of_all = parameters.clone();
        let new_identity = Box::new(move || Identity::new(&of_all, &of_identity, trusted.clone(), alpn));
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
    let seen = Arc::new(Mutex::new(None));
    let (clock, told) = (attempt.clock(), seen.clone());
    tokio::spawn(async move {
        let accepted = accepted.await;
        *told.lock().expect("no holder panics") = Some((clock.now_ns(), accepted));
    });
    attempt.at_end(move |exchange| {
        let seen = *seen.lock().expect("no holder panics");
        exchange.handshake_ns = seen.map(|(done_ns, _)| done_ns);
        exchange.early_data = seen.map(|(_, accepted)| accepted);
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
    ) -> Result<Self, StackError> {
        let verifier = Arc::new(NotingVerifier { trusted, verified: AtomicBool::new(false) });
        let mut crypto = tls::client_config(parameters, settings, verifier.clone(), tls::TLS13, alpn)?;
        let sends_early = settings.is_on(tls::EARLY_DATA) && settings.boolean("resumption");
        let tickets = sends_early.then(Tickets::new);
        if let Some(tickets) = &tickets {
            crypto.resumption = tickets.resumption();
        }
        let crypto = QuicClientConfig::try_from(crypto).map_err(|error| StackError::failed("TLS for QUIC", error))?;
        let mut config = ClientConfig::new(Arc::new(crypto));
        config.transport_config(Arc::new(client_transport(settings, &parameters.workload)));
        if !settings.boolean("resumption") {
            // An address validation token (RFC 9000, section 8.1.3) is another memory of an earlier connection.
            config.token_store(Arc::new(quinn::NoneTokenStore));
        }
        Ok(Identity { config, verifier, tickets })
    }
}

/// With what a browser grants, in `page`: the library's window of a stream would limit the rate of long bodies beyond a round trip of 100 ms.
fn client_transport(settings: &Settings, workload: &WorkloadSpec) -> TransportConfig {
    let mut transport = TransportConfig::default();
    if let WorkloadSpec::Page(_) = workload {
        transport.stream_receive_window(STREAM_WINDOW_BYTES.into()).receive_window(CONNECTION_WINDOW_BYTES.into());
    }
    configured(transport, settings)
}

/// With as many requests at once as over HTTP/2, in `page`.
fn server_transport(settings: &Settings, workload: &WorkloadSpec) -> TransportConfig {
    let mut transport = TransportConfig::default();
    if let WorkloadSpec::Page(_) = workload {
        transport.max_concurrent_bidi_streams(CONCURRENT_STREAMS.into());
    }
    if let Some(streams) = settings.given("max-concurrent-streams") {
        transport.max_concurrent_bidi_streams(variable(streams));
    }
    configured(transport, settings)
}

/// As the settings say that both ends have.
fn configured(mut transport: TransportConfig, settings: &Settings) -> TransportConfig {
    if let Some(bytes) = settings.given("stream-window") {
        transport.stream_receive_window(variable(bytes));
    }
    if let Some(bytes) = settings.given("connection-window") {
        transport.receive_window(variable(bytes));
    }
    if let Some(bytes) = settings.given("send-window") {
        transport.send_window(bytes);
    }
    let (delay, packets) = (settings.given("ack-delay"), settings.given("ack-frequency"));
    if delay.is_some() || packets.is_some() {
        let mut acknowledging = AckFrequencyConfig::default();
        acknowledging.max_ack_delay(delay.map(Duration::from_millis));
        acknowledging.ack_eliciting_threshold(variable(packets.unwrap_or(1)));
        transport.ack_frequency_config(Some(acknowledging));
    }
    let idle = Duration::from_millis(settings.integer("quic-idle-timeout") as u64);
    transport
        .max_idle_timeout(Some(idle.try_into().expect("bounded by the setting's range")))
        .congestion_controller_factory(congestion_control(settings))
        // A segment longer than the MTU would cross the emulated link as one packet.
        .enable_segmentation_offload(false);
    if !settings.boolean("quic-mtu-discovery") {
        transport.mtu_discovery_config(None);
    }
    transport
}

fn variable(value: u64) -> VarInt {
    VarInt::from_u64(value).expect("within the setting's range")
}

fn congestion_control(settings: &Settings) -> Arc<dyn ControllerFactory + Send + Sync> {
    let initial_window = (settings.choice("quic-initial-window") == "kernel").then_some(KERNEL_INITIAL_WINDOW_BYTES);
    macro_rules! configured {
        ($config:ty) => {{
            let mut config = <$config>::default();
            if let Some(bytes) = initial_window {
                config.initial_window(bytes);
            }
            Arc::new(config)
        }};
    }
    match settings.choice("quic-congestion-control") {
        "newreno" => configured!(NewRenoConfig),
        "bbr" => configured!(BbrConfig),
        _ => configured!(CubicConfig),
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use wirelab_schema::{PageIdentity, PageLoads};

    use super::*;

    #[test]
    fn a_client_of_pages_grants_a_browsers_windows() {
        let descriptor = crate::find("h3").expect("registered").descriptor();
        let settings = Settings::resolve(&descriptor, &BTreeMap::new()).expect("defaults");
        let page = PageIdentity { name: String::new(), sha256: String::new(), resources: 1, body_bytes: 1 };
        let workload = PageLoads { loads: 1, timeout_ns: 1, page }.into();
        let granted = format!("{:?}", client_transport(&settings, &workload));
        assert!(granted.contains(" receive_window: 15728640,"), "{granted}");
        assert!(granted.contains(" stream_receive_window: 6291456,"), "{granted}");
        let taken = format!("{:?}", server_transport(&settings, &workload));
        assert!(taken.contains("max_concurrent_bidi_streams: 128,"), "{taken}");
    }

    #[test]
    fn what_is_given_wins_over_what_a_page_has() {
        let descriptor = crate::find("h3").expect("registered").descriptor();
        let given = [("stream-window", 4096), ("connection-window", 8192), ("max-concurrent-streams", 3)];
        let given = given.map(|(name, value)| (name.to_owned(), value.into()));
        let settings = Settings::resolve(&descriptor, &BTreeMap::from(given)).expect("in range");
        let page = PageIdentity { name: String::new(), sha256: String::new(), resources: 1, body_bytes: 1 };
        let workload = PageLoads { loads: 1, timeout_ns: 1, page }.into();
        let granted = format!("{:?}", client_transport(&settings, &workload));
        assert!(granted.contains(" receive_window: 8192,"), "{granted}");
        assert!(granted.contains(" stream_receive_window: 4096,"), "{granted}");
        let taken = format!("{:?}", server_transport(&settings, &workload));
        assert!(taken.contains("max_concurrent_bidi_streams: 3,"), "{taken}");
    }
}
