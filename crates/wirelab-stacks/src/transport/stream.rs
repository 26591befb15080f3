//! Bytes in order, over TCP or over TLS. It knows no message.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustls_pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::task::JoinSet;
use tokio_rustls::{TlsAcceptor, TlsConnector};
use wirelab_schema::EndpointParameters;

use crate::base::attempt::{Attempt, ExchangeError};
use crate::base::settings::Settings;
use crate::transport::socket::{self, Socket, TcpOptions};
use crate::transport::tls;
use crate::{Context, StackError};

/// Bytes in order, over TCP or over TLS over TCP.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Writes some of `output`, or if nothing is left flushes what TLS holds back; how many bytes it wrote.
pub async fn push(writer: &mut (impl AsyncWrite + Unpin), output: &[u8]) -> io::Result<usize> {
    match output {
        [] => writer.flush().await.map(|()| 0),
        output => writer.write(output).await,
    }
}

/// The TLS of a stack over TCP, as its settings say; `None` for one in the clear.
#[derive(Clone, Copy)]
pub struct Security<'a> {
    /// ALPN protocol name (RFC 7301); empty for a protocol without one.
    pub alpn: &'static str,
    /// Settings of TLS.
    pub settings: &'a Settings,
}

/// Opens streams to the server, stamping connect and handshake.
pub struct Dialer {
    server: SocketAddr,
    tcp: TcpOptions,
    tls: Option<(TlsConnector, ServerName<'static>)>,
}

impl Dialer {
    /// To the server that the parameters name.
    pub fn new(
        parameters: &EndpointParameters,
        tcp: TcpOptions,
        security: Option<Security>,
    ) -> Result<Self, StackError> {
        let tls = match security {
            None => None,
            Some(Security { alpn, settings }) => {
                let config = tls::client_config(
                    parameters,
                    settings,
                    tls::verifier(parameters)?,
                    tls::versions(settings),
                    alpn,
                )?;
                Some((TlsConnector::from(Arc::new(config)), tls::server_name(parameters)?))
            }
        };
        Ok(Dialer { server: (parameters.server.address, parameters.server.port).into(), tcp, tls })
    }

    /// A new connection. The socket is a handle to what carries the stream.
    pub async fn dial(&self, attempt: &mut Attempt) -> Result<(Socket, Box<dyn Stream>), ExchangeError> {
        let socket = Socket::connect(self.server, self.tcp, attempt).await?;
        let Some((connector, name)) = &self.tls else { return Ok((socket.clone(), Box::new(socket))) };
        let stream = connector.connect(name.clone(), socket.clone()).await?;
        attempt.exchange.handshake_ns = attempt.now();
        let (_, session) = stream.get_ref();
        attempt.exchange.resumed = session.handshake_kind().map(|kind| kind == rustls::HandshakeKind::Resumed);
        Ok((socket, Box::new(stream)))
    }
}

/// Accepts streams until the context's stop signal, each handled in its own task; then drops them all.
pub async fn serve<F, H>(
    context: Context,
    tcp: TcpOptions,
    security: Option<Security<'_>>,
    handle: F,
) -> Result<(), StackError>
where
    F: Fn(Box<dyn Stream>) -> H + Clone + Send + 'static,
    H: Future<Output = ()> + Send + 'static,
{
    let Context { parameters, ready, mut stop, .. } = context;
    let acceptor = match security {
        None => None,
        Some(Security { alpn, settings }) => {
            Some(TlsAcceptor::from(Arc::new(tls::server_config(&parameters, settings, tls::versions(settings), alpn)?)))
        }
    };
    let address = SocketAddr::from((parameters.server.address, parameters.server.port));
    let listening = |error| StackError::failed(format!("listening on {address}"), error);
    let listener = socket::listen(address).map_err(listening)?;
    ready(BTreeMap::from([("main".to_owned(), listener.local_addr().map_err(listening)?.port())]));
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            () = stop.stopped() => return Ok(()),
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        let Ok(socket) = accepted.and_then(|(stream, _)| Socket::accepted(stream, tcp)) else {
            // Out of file descriptors, most likely: connections that end will free some.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        let (acceptor, handle) = (acceptor.clone(), handle.clone());
        connections.spawn(async move {
            match acceptor {
                None => handle(Box::new(socket)).await,
                Some(acceptor) => {
                    if let Ok(stream) = acceptor.accept(socket).await {
                        handle(Box::new(stream)).await;
                    }
                }
            }
        });
    }
}
