//! What carries MQTT: TCP, TLS or QUIC. It knows no packet.

use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use wirelab_schema::EndpointParameters;

use crate::base::attempt::{Attempt, ExchangeError};
use crate::base::settings::Settings;
use crate::transport::quic::{self, QuicDialer};
use crate::transport::socket::{Socket, TcpOptions};
use crate::transport::stream::{self, Dialer, Security, Stream};
use crate::{Context, StackError};

/// ALPN protocol name, as registered with IANA.
const ALPN: &str = "mqtt";
/// How long a QUIC client has for the last words to it.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// What carries MQTT.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// TCP.
    Tcp,
    /// TLS over TCP.
    Tls,
    /// The first bidirectional stream of a QUIC connection, which its client opens.
    Quic,
}

/// Opens streams to the broker.
pub enum Connector {
    /// Over TCP, with or without TLS.
    Tcp(Dialer),
    /// Over QUIC.
    Quic(Box<QuicDialer>),
}

/// A handle to what carries a stream.
pub enum Carrier {
    /// A TCP connection.
    Tcp(Socket),
    /// A QUIC connection and its local port.
    Quic(quinn::Connection, Option<u16>),
}

impl Connector {
    /// To the broker that the parameters name.
    pub fn new(over: Over, parameters: &EndpointParameters, settings: &Arc<Settings>) -> Result<Self, StackError> {
        let security = (over == Over::Tls).then_some(Security { alpn: ALPN, settings });
        Ok(match over {
            Over::Quic => Connector::Quic(Box::new(QuicDialer::new(parameters, settings.clone(), ALPN, None)?)),
            _ => Connector::Tcp(Dialer::new(parameters, TcpOptions::of(settings), security)?),
        })
    }

    /// A new connection.
    pub async fn dial(&self, attempt: &mut Attempt) -> Result<(Carrier, Box<dyn Stream>), ExchangeError> {
        match self {
            Connector::Tcp(dialer) => {
                let (socket, stream) = dialer.dial(attempt).await?;
                Ok((Carrier::Tcp(socket), stream))
            }
            Connector::Quic(dialer) => {
                // Without the setting for early data there are no tickets to keep.
                let (connection, _) = dialer.dial(attempt).await?;
                let (writer, reader) = connection.open_bi().await?;
                let stream = Box::new(tokio::io::join(reader, writer));
                Ok((Carrier::Quic(connection, attempt.exchange.local_port), stream))
            }
        }
    }
}

impl Carrier {
    /// Has the exchange record its port and what the transport counts from now to the exchange's end.
    pub fn observe(&self, attempt: &mut Attempt) {
        match self {
            Carrier::Tcp(socket) => socket.observe(attempt),
            Carrier::Quic(connection, local_port) => quic::observe(connection, *local_port, attempt),
        }
    }

    /// Its address on this side, if that is known.
    pub fn local_address(&self) -> io::Result<IpAddr> {
        match self {
            Carrier::Tcp(socket) => socket.local_address(),
            Carrier::Quic(connection, _) => Ok(connection.local_ip().unwrap_or(Ipv6Addr::UNSPECIFIED.into())),
        }
    }

    /// So many pieces of the stream it has sent; always 0 over TCP, where the kernel sends.
    pub fn sent(&self) -> u64 {
        match self {
            Carrier::Tcp(_) => 0,
            Carrier::Quic(connection, _) => connection.stats().frame_tx.stream,
        }
    }

    /// Ends it, once it has sent more than `before` but without waiting for the peer. Over TCP the end of the stream has done that.
    pub async fn close(&self, before: u64) {
        let Carrier::Quic(connection, _) = self else { return };
        for _ in 0..100 {
            if self.sent() > before || connection.close_reason().is_some() {
                break;
            }
            tokio::task::yield_now().await;
        }
        quic::close(connection, 0).await;
    }
}

/// Accepts streams until the context's stop signal, each handled in its own task; then drops them all.
pub async fn serve<F, H>(over: Over, context: Context, settings: Settings, handle: F) -> Result<(), StackError>
where
    F: Fn(Box<dyn Stream>) -> H + Clone + Send + 'static,
    H: Future<Output = ()> + Send + 'static,
{
    if over != Over::Quic {
        let security = (over == Over::Tls).then_some(Security { alpn: ALPN, settings: &settings });
        return stream::serve(context, TcpOptions::of(&settings), security, handle).await;
    }
    let serve = move |connection: quinn::Connection| {
        let handle = handle.clone();
        async move {
            let Ok((writer, reader)) = connection.accept_bi().await else { return };
            handle(Box::new(tokio::io::join(reader, writer))).await;
            // What was said last is lost with the connection.
            let _ = tokio::time::timeout(LAST_WORDS, connection.closed()).await;
        }
    };
    quic::serve(context, settings, ALPN, 0, None, serve).await
}
