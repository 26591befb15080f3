//! Echo over UDP: the reference for protocols that run over UDP. It is not an application protocol.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use tokio::net::UdpSocket;
use wirelab_schema::Role;

use crate::base::attempt::{Attempt, ExchangeError};
use crate::base::description;
use crate::base::settings::Settings;
use crate::transport::udp::{bind, unspecified};
use crate::workload::{Client, REQUEST_RESPONSE, TELEMETRY, Work, drive};
use crate::{Context, Descriptor, Payload, Stack, StackError};

/// Bytes of UDP payload: fits every path that QUIC runs over (RFC 9000, section 14).
const DATAGRAM_BYTES: usize = 1200;
/// Message and position within it, four bytes each, so that a late echo of an exchange that was given up is not taken for another's.
const HEADER_BYTES: usize = 8;
const CHUNK_BYTES: usize = DATAGRAM_BYTES - HEADER_BYTES;
/// Datagrams whose echo is awaited at once, as many as TCP's initial window holds (RFC 6928): nothing else holds a long message back.
const WINDOW: usize = 10;

/// Echo over UDP: the floor under every stack that runs over UDP.
pub struct RawUdp;

impl Stack for RawUdp {
    fn descriptor(&self) -> Descriptor {
        Descriptor {
            name: "raw-udp".to_owned(),
            title: "Echo over UDP".to_owned(),
            about: "No application protocol: the server sends back every datagram (RFC 862), so a response is as long as its request whatever \
                    `download_bytes` says. A message goes out in datagrams of at most 1200 bytes, 8 of them its header, at most ten at a time. \
                    Nothing is retransmitted: an exchange that loses a datagram is timed out. The reference for every protocol over UDP."
                .to_owned(),
            libraries: description::libraries(&["tokio"]),
            transport: "udp".to_owned(),
            default_port: 7007,
            secure: false,
            echo: true,
            http_version: None,
            success: None,
            topics: None,
            timing: description::over_udp(),
            roles: vec![Role::Client, Role::Server],
            workloads: [REQUEST_RESPONSE, TELEMETRY].map(str::to_owned).into(),
            waits: vec![],
            settings: vec![],
        }
    }

    fn run(&self, role: Role, context: Context) -> BoxFuture<'static, Result<(), StackError>> {
        let descriptor = self.descriptor();
        Box::pin(async move {
            Settings::resolve(&descriptor, &context.parameters.settings)?;
            match role {
                Role::Server => echo(context).await,
                Role::Client => {
                    let upload_bytes = Work::exchanges(&context.parameters.workload).upload_bytes;
                    let message = Payload::new(context.parameters.seed).bytes(upload_bytes as usize);
                    let client = |context: &Context, _| {
                        let server = &context.parameters.server;
                        Ok(RawUdpClient { server: (server.address, server.port).into(), message: message.clone() })
                    };
                    drive(context, client).await
                }
                role => Err(StackError::no_role(&descriptor, role)),
            }
        })
    }
}

struct RawUdpClient {
    server: SocketAddr,
    message: Bytes,
}

impl Client for RawUdpClient {
    type Connection = Arc<UdpSocket>;

    /// Makes a socket; nothing is sent.
    async fn connect(&self, _attempt: &mut Attempt) -> Result<Arc<UdpSocket>, ExchangeError> {
        let socket = UdpSocket::from_std(bind(unspecified(self.server))?)?;
        socket.connect(self.server).await?;
        Ok(Arc::new(socket))
    }

    async fn exchange(&self, socket: &mut Arc<UdpSocket>, attempt: &mut Attempt) -> Result<(), ExchangeError> {
        attempt.exchange.local_port = socket.local_addr().ok().map(|address| address.port());
        let id = attempt.exchange.index;
        let chunks = self.message.len().div_ceil(CHUNK_BYTES).max(1);
        let mut echoed = vec![false; chunks];
        let (mut sent, mut received) = (0, 0);
        let mut buffer = [0; DATAGRAM_BYTES + 1];
        while received < chunks {
            while sent < chunks && sent - received < WINDOW {
                let chunk = self.chunk(sent);
                let datagram = [&id.to_be_bytes(), &(sent as u32).to_be_bytes(), chunk].concat();
                if sent == 0 {
                    attempt.exchange.request_start_ns = attempt.now();
                    attempt.exchange.first_body_sent_ns =
                        attempt.exchange.request_start_ns.filter(|_| !chunk.is_empty());
                }
                socket.send(&datagram).await?;
                attempt.exchange.body_sent_bytes += chunk.len() as u64;
                sent += 1;
            }
            let length = socket.recv(&mut buffer).await?;
            let Some((position, chunk)) = parse(&buffer[..length], id).filter(|(position, _)| *position < sent) else {
                continue;
            };
            if chunk != self.chunk(position) {
                return Err(ExchangeError::new("the echo differs from what was sent"));
            }
            if attempt.exchange.first_response_byte_ns.is_none() {
                attempt.exchange.first_response_byte_ns = attempt.now();
                attempt.exchange.first_final_byte_ns = attempt.exchange.first_response_byte_ns;
            }
            if !std::mem::replace(&mut echoed[position], true) {
                received += 1;
                attempt.exchange.body_received_bytes += chunk.len() as u64;
            }
        }
        Ok(())
    }

    fn is_usable(&self, _socket: &Arc<UdpSocket>) -> bool {
        true
    }

    async fn close(&self, _socket: Arc<UdpSocket>) {}
}

impl RawUdpClient {
    fn chunk(&self, position: usize) -> &[u8] {
        let start = position * CHUNK_BYTES;
        &self.message[start..self.message.len().min(start + CHUNK_BYTES)]
    }
}

/// Position and bytes of a chunk of message `id`; `None` for anything else.
fn parse(datagram: &[u8], id: u32) -> Option<(usize, &[u8])> {
    let (message, rest) = datagram.split_first_chunk()?;
    let (position, chunk) = rest.split_first_chunk()?;
    (u32::from_be_bytes(*message) == id).then_some((u32::from_be_bytes(*position) as usize, chunk))
}

async fn echo(context: Context) -> Result<(), StackError> {
    let Context { parameters, ready, mut stop, .. } = context;
    let address = SocketAddr::from((parameters.server.address, parameters.server.port));
    let listening = |error| StackError::failed(format!("listening on {address}"), error);
    let socket = bind(address).and_then(UdpSocket::from_std).map_err(listening)?;
    ready(BTreeMap::from([("main".to_owned(), socket.local_addr().map_err(listening)?.port())]));
    let mut buffer = vec![0; 65_536];
    loop {
        let received = tokio::select! {
            () = stop.stopped() => return Ok(()),
            received = socket.recv_from(&mut buffer) => received,
        };
        // An error tells that an earlier echo found nobody; like a lost datagram it is the client's to report.
        if let Ok((length, client)) = received {
            let _ = socket.send_to(&buffer[..length], client).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Watching;
    use super::*;

    #[tokio::test]
    async fn a_request_starts_before_its_first_datagram_is_sent() {
        let server = UdpSocket::bind("127.0.0.1:0").await.expect("a server");
        let address = server.local_addr().expect("an address");
        let client = RawUdpClient { server: address, message: Bytes::from_static(b"hello") };
        let server = server.into_std().expect("a socket");
        let clock = Arc::new(Watching(server.try_clone().expect("a handle").into()));
        let server = UdpSocket::from_std(server).expect("a socket again");
        let mut attempt = Attempt::start(clock, 0, None);
        let mut socket = client.connect(&mut attempt).await.expect("connected");
        let echo = async {
            let mut buffer = [0; 64];
            let (length, client) = server.recv_from(&mut buffer).await.expect("a datagram");
            server.send_to(&buffer[..length], client).await.expect("an echo");
        };
        let (exchanged, ()) = tokio::join!(client.exchange(&mut socket, &mut attempt), echo);
        exchanged.expect("the echo came");
        assert_eq!((attempt.exchange.request_start_ns, attempt.exchange.first_body_sent_ns), (Some(1), Some(1)));
    }

    #[test]
    fn an_echo_of_another_message_is_not_taken() {
        let datagram = [&7_u32.to_be_bytes()[..], &2_u32.to_be_bytes(), b"chunk"].concat();
        assert_eq!(parse(&datagram, 7), Some((2, &b"chunk"[..])));
        assert_eq!(parse(&datagram, 8), None);
        assert_eq!(parse(&datagram[..7], 7), None);
    }
}
