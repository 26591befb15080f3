//! TLS session tickets that clients resume. Servers' tickets are rustls's.

use std::sync::Arc;
use std::time::Duration;

use rustls::NamedGroup;
use rustls::client::{
    ClientSessionMemoryCache, ClientSessionStore, Resumption, Tls12ClientSessionValue, Tls13ClientSessionValue,
};
use rustls_pki_types::ServerName;
use tokio::sync::watch;

/// Servers that a client remembers the sessions of; there is one.
const SERVERS: usize = 1;
/// How long a connection that is done stays open for a ticket that does not come.
const PATIENCE: Duration = Duration::from_secs(1);

/// A client's sessions, which tell when a ticket has come. A server that answers early data sends tickets after the answer, so that a client that
/// closes at once has none for its next connection.
#[derive(Debug)]
pub struct Tickets {
    sessions: ClientSessionMemoryCache,
    arrived: watch::Sender<()>,
}

/// Waits for a ticket of one connection.
#[derive(Clone)]
pub struct Ticket(watch::Receiver<()>);

impl Tickets {
    /// None yet.
    pub fn new() -> Arc<Self> {
        Arc::new(Tickets { sessions: ClientSessionMemoryCache::new(SERVERS), arrived: watch::Sender::new(()) })
    }

    /// For a client's configuration.
    pub fn resumption(self: &Arc<Self>) -> Resumption {
        Resumption::store(self.clone())
    }

    /// The next that comes.
    pub fn next(&self) -> Ticket {
        Ticket(self.arrived.subscribe())
    }
}

impl Ticket {
    /// Completes when it has come, or does not.
    pub async fn arrived(mut self) {
        let _ = tokio::time::timeout(PATIENCE, self.0.changed()).await;
    }
}

impl ClientSessionStore for Tickets {
    fn set_kx_hint(&self, server_name: ServerName<'static>, group: NamedGroup) {
        self.sessions.set_kx_hint(server_name, group);
    }

    fn kx_hint(&self, server_name: &ServerName<'_>) -> Option<NamedGroup> {
        self.sessions.kx_hint(server_name)
    }

    fn set_tls12_session(&self, server_name: ServerName<'static>, value: Tls12ClientSessionValue) {
        self.sessions.set_tls12_session(server_name, value);
    }

    fn tls12_session(&self, server_name: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.sessions.tls12_session(server_name)
    }

    fn remove_tls12_session(&self, server_name: &ServerName<'static>) {
        self.sessions.remove_tls12_session(server_name);
    }

    fn insert_tls13_ticket(&self, server_name: ServerName<'static>, value: Tls13ClientSessionValue) {
        self.sessions.insert_tls13_ticket(server_name, value);
        self.arrived.send_replace(());
    }

    fn take_tls13_ticket(&self, server_name: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        self.sessions.take_tls13_ticket(server_name)
    }
}
