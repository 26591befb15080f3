//! QUIC connections of servers. Streams and what they carry are the protocols'.

use std::collections::BTreeMap;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use quinn::crypto::rustls::QuicServerConfig;
use quinn::{
    Connecting, Connection, ConnectionError, Endpoint, EndpointConfig, Incoming, ServerConfig, TokioRuntime, VarInt,
};
use tokio::task::JoinSet;
use wirelab_schema::{EndpointParameters, Role, WorkloadSpec};

use super::parameters::server_transport;
use super::watched::WatchedConfig;
use crate::base::description::RETRY;
use crate::base::settings::Settings;
use crate::transport::quic::qlog::Traces;
use crate::transport::tls;
use crate::transport::udp::bind;
use crate::wire::settings_in_force::Connections;
use crate::{Context, StackError};

/// Accepts connections until the context's stop signal, each handled in its own task; then drops them all and closes them with `code`. `seen` watches
/// them, if there is one.
///
/// With the setting for early data a connection is handled before its handshake is done, so that what came with the first flight is answered at once.
pub async fn serve<F, H>(
    context: Context,
    settings: Settings,
    alpn: &str,
    code: u32,
    connections: Option<Connections>,
    handle: F,
) -> Result<(), StackError>
where
    F: Fn(Connection) -> H + Clone + Send + 'static,
    H: Future<Output = ()> + Send + 'static,
{
    let Context { parameters, ready, mut stop, .. } = context;
    let early_data = settings.is_on(tls::EARLY_DATA);
    let retries = settings.boolean(RETRY);
    let listener = listen(&parameters, settings, alpn, connections)?;
    let endpoint = &listener.endpoint;
    let port = endpoint.local_addr().map_err(|error| StackError::failed("listening", error))?.port();
    ready(BTreeMap::from([("main".to_owned(), port)]));
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            () = stop.stopped() => break,
            Some(_) = connections.join_next() => {}
            Some(incoming) = endpoint.accept() => {
                if retries && !incoming.remote_address_validated() {
                    let _ = incoming.retry();
                    continue;
                }
                // A handshake that fails is the client's to report.
                let Ok(connecting) = listener.accept(incoming) else { continue };
                let handle = handle.clone();
                connections.spawn(async move {
                    if let Ok(connection) = connection(connecting, early_data).await {
                        handle(connection).await;
                    }
                });
            }
        }
    }
    drop(connections);
    endpoint.close(VarInt::from_u32(code), b"");
    // Lets CONNECTION_CLOSE go out; clients that have gone do not hold the server up.
    let _ = tokio::time::timeout(Duration::from_millis(50), endpoint.wait_idle()).await;
    Ok(())
}

/// A QUIC server's endpoint, with what each of its connections is given.
struct Listener {
    endpoint: Endpoint,
    config: ServerConfig,
    settings: Settings,
    workload: WorkloadSpec,
    traces: Traces,
}

impl Listener {
    /// Begin the handshake of a connection.
    fn accept(&self, incoming: Incoming) -> Result<Connecting, ConnectionError> {
        if !self.traces.are_wanted() {
            return incoming.accept();
        }
        let mut transport = server_transport(&self.settings, &self.workload);
        // A connection without its trace is better than none.
        let _ = self.traces.begin(&mut transport, incoming.remote_address().port());
        let mut config = self.config.clone();
        config.transport_config(Arc::new(transport));
        incoming.accept_with(Arc::new(config))
    }
}

/// The connection of a handshake that a server began: at once if it takes early data, else when it is done.
async fn connection(connecting: Connecting, early_data: bool) -> Result<Connection, ConnectionError> {
    if !early_data {
        return connecting.await;
    }
    match connecting.into_0rtt() {
        Ok((connection, _)) => Ok(connection),
        Err(connecting) => connecting.await,
    }
}

/// A QUIC server on the address that the parameters name.
fn listen(
    parameters: &EndpointParameters,
    settings: Settings,
    alpn: &str,
    connections: Option<Connections>,
) -> Result<Listener, StackError> {
    let address = SocketAddr::from((parameters.server.address, parameters.server.port));
    let crypto = QuicServerConfig::try_from(tls::server_config(parameters, &settings, tls::TLS13, alpn)?)
        .map_err(|error| StackError::failed("TLS for QUIC", error))?;
    let crypto = Arc::new(crypto);
    let mut config = match connections {
        Some(connections) => ServerConfig::with_crypto(Arc::new(WatchedConfig::new(crypto, connections))),
        None => ServerConfig::with_crypto(crypto),
    };
    config.transport_config(Arc::new(server_transport(&settings, &parameters.workload)));
    let endpoint =
        |socket| Endpoint::new(EndpointConfig::default(), Some(config.clone()), socket, Arc::new(TokioRuntime));
    let endpoint = bind(address)
        .and_then(endpoint)
        .map_err(|error| StackError::failed(format!("listening on {address}"), error))?;
    Ok(Listener { endpoint, config, settings, workload: parameters.workload.clone(), traces: Traces::of(Role::Server) })
}
