//! Tests: what a CoAP server does with clients and requests.

use std::collections::BTreeMap;
use std::time::Instant;

use tokio::io::{BufStream, duplex};
use tokio::net::UdpSocket;
use tokio::time::timeout;
use wirelab_schema::{ArrivalSpec, ConnectionPolicy, EndpointParameters, Exchange, Telemetry};

use super::super::association::Association;
use super::super::dtls::Sessions;
use super::super::resources::Requests;
use super::datagrams::serve_socket;
use super::*;
use crate::base::settings::Settings;
use crate::codec::coap::{Client, ClientEvent, MessageLayer, Parameters};
use crate::recorder::NoRecorder;
use crate::transport::lingering::Lingering;
use crate::workload::virtual_time::context;
use crate::{Received, SystemClock};

const MAX_MESSAGE_BYTES: usize = 8 << 20;
const SZX: u8 = 6;

fn parameters(message_bytes: u64) -> EndpointParameters {
    let workload = Telemetry {
        message_bytes,
        exchanges: 1,
        clients: 1,
        arrival: ArrivalSpec::Closed,
        concurrency: 1,
        timeout_ns: 1_000_000_000,
        connection: ConnectionPolicy::New,
        device: None,
        retry: None,
        publish: None,
    };
    context(workload.into(), NoRecorder).0.parameters
}

fn service(parameters: &EndpointParameters) -> Service {
    let clock = Arc::new(SystemClock);
    let options = Options::new(&Parameters::default(), SZX, 1 << 20);
    Service {
        application: Application::new(parameters, clock.clone(), Received::default()),
        options,
        confirmable: true,
        clock,
    }
}

fn random() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(1)
}

/// Asks once, and judges the response.
async fn ask(association: &Association, parameters: &EndpointParameters) {
    let requests = Requests::new(parameters).expect("requests");
    let mut exchange = Exchange::default();
    let (_id, mut events) = association.start(requests.request(&exchange));
    let event = timeout(Duration::from_secs(60), events.recv()).await.expect("an answer");
    let Some(ClientEvent::Response(_, response)) = event else { panic!("{event:?}") };
    requests.judge(&response, &mut exchange).expect("the right one");
}

#[tokio::test]
async fn a_port_unreachable_error_leaves_the_server_listening() {
    let free = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port").local_addr().expect("its address");
    let socket = UdpSocket::bind("127.0.0.1:0").await.expect("a socket");
    let server = socket.local_addr().expect("its address");
    // Connected, so that the kernel tells of the error at all.
    socket.connect(free).await.expect("connected");
    socket.send(b"to nobody").await.expect("sent");
    let parameters = parameters(30);
    tokio::spawn(serve_socket(socket, service(&parameters), Arc::default(), None, random()));
    tokio::time::sleep(Duration::from_millis(100)).await;
    let socket = UdpSocket::bind(free).await.expect("still free");
    socket.connect(server).await.expect("connected");
    let engine = Client::new(Channel::Datagrams(MessageLayer::new(Arc::default(), random())), SZX, true);
    let association = Association::over_datagrams(
        Side { engine, session: None },
        socket,
        Arc::new(SystemClock),
        Lingering::default(),
    );
    ask(&association, &parameters).await;
}

#[tokio::test]
async fn both_ends_flush_what_a_stream_buffers() {
    let parameters = parameters(100_000);
    let (near, far) = duplex(1 << 16);
    tokio::spawn(serve_stream(Box::new(BufStream::new(far)), service(&parameters), MAX_MESSAGE_BYTES));
    let engine = Client::new(Channel::Stream(Framing::new(MAX_MESSAGE_BYTES, random())), SZX, false);
    let side = Side { engine, session: None };
    let association = Association::over_stream(side, Box::new(BufStream::new(near)), Arc::new(SystemClock));
    ask(&association, &parameters).await;
}

fn sessions(is_server: bool) -> Sessions {
    let descriptor = crate::find("coaps").expect("registered").descriptor();
    let settings = Settings::resolve(&descriptor, &BTreeMap::new()).expect("defaults");
    Sessions::new(&settings, is_server, (Instant::now(), SystemClock.now_ns())).expect("a configuration")
}

#[tokio::test]
async fn a_client_on_a_port_that_had_a_session_makes_a_new_handshake() {
    let socket = UdpSocket::bind("127.0.0.1:0").await.expect("a socket");
    let server = socket.local_addr().expect("its address");
    let parameters = parameters(30);
    tokio::spawn(serve_socket(socket, service(&parameters), Arc::default(), Some(sessions(true)), random()));
    let free = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port").local_addr().expect("its address");
    for says_good_bye in [false, true, false] {
        let engine = Client::new(Channel::Datagrams(MessageLayer::new(Arc::default(), random())), SZX, true);
        let session = Some(sessions(false).begin(SystemClock.now_ns(), false));
        let socket = loop {
            // The end of the one before is on its way.
            match UdpSocket::bind(free).await {
                Ok(socket) => break socket,
                Err(_) => tokio::task::yield_now().await,
            }
        };
        socket.connect(server).await.expect("connected");
        let association =
            Association::over_datagrams(Side { engine, session }, socket, Arc::new(SystemClock), Lingering::default());
        let connected = timeout(Duration::from_secs(60), association.connected()).await;
        connected.expect("it settles").expect("keys");
        ask(&association, &parameters).await;
        if says_good_bye {
            association.close().await;
        }
    }
}
