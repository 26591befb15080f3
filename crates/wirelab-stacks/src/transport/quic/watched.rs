//! A TLS session of quinn that shows a connection's settings and frames to its watch: packets before they are sealed and after they are opened.
//! It changes none of them, and does not read early data.

use std::any::Any;
use std::sync::{Arc, Mutex};

use bytes::BytesMut;
use quinn::ConnectError;
use quinn::crypto::{
    ClientConfig, CryptoError, ExportKeyingMaterialError, HeaderKey, KeyPair, Keys, PacketKey, ServerConfig, Session,
    UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectionId, Side, TransportError};

use crate::wire::settings_in_force::{Connections, QuicConnection};

type Watch = Arc<Mutex<QuicConnection>>;

/// A configuration of one role whose sessions are watched.
pub struct WatchedConfig<C> {
    config: Arc<C>,
    connections: Connections,
}

impl<C> WatchedConfig<C> {
    /// Shows each session that `config` begins to a new watch of `seen`.
    pub fn new(config: Arc<C>, connections: Connections) -> Self {
        WatchedConfig { config, connections }
    }

    fn session(&self, session: Box<dyn Session>, own: Side, parameters: &TransportParameters) -> Box<dyn Session> {
        let watch = self.connections.watch(QuicConnection::default());
        announce(&watch, own, parameters);
        Box::new(WatchedSession { session, own, watch, has_handshake_keys: false })
    }
}

impl<C: ClientConfig + 'static> ClientConfig for WatchedConfig<C> {
    fn start_session(
        self: Arc<Self>,
        version: u32,
        server_name: &str,
        parameters: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        let session = self.config.clone().start_session(version, server_name, parameters)?;
        Ok(self.session(session, Side::Client, parameters))
    }
}

impl<C: ServerConfig + 'static> ServerConfig for WatchedConfig<C> {
    fn initial_keys(&self, version: u32, id: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        self.config.initial_keys(version, id)
    }

    fn retry_tag(&self, version: u32, id: &ConnectionId, packet: &[u8]) -> [u8; 16] {
        self.config.retry_tag(version, id, packet)
    }

    fn start_session(self: Arc<Self>, version: u32, parameters: &TransportParameters) -> Box<dyn Session> {
        let session = self.config.clone().start_session(version, parameters);
        self.session(session, Side::Server, parameters)
    }
}

struct WatchedSession {
    session: Box<dyn Session>,
    own: Side,
    watch: Watch,
    /// The next keys are those of application data.
    has_handshake_keys: bool,
}

impl WatchedSession {
    fn watched(&self, keys: KeyPair<Box<dyn PacketKey>>) -> KeyPair<Box<dyn PacketKey>> {
        let watched = |key| Box::new(WatchedKey { key, own: self.own, watch: self.watch.clone() });
        KeyPair { local: watched(keys.local), remote: watched(keys.remote) }
    }
}

impl Session for WatchedSession {
    fn read_handshake(&mut self, messages: &[u8]) -> Result<bool, TransportError> {
        let was_handshaking = self.session.is_handshaking();
        let has_data = self.session.read_handshake(messages)?;
        // A client that resumes knows the server's former ones first.
        if was_handshaking && let Ok(Some(parameters)) = self.session.transport_parameters() {
            announce(&self.watch, !self.own, &parameters);
        }
        Ok(has_data)
    }

    fn write_handshake(&mut self, messages: &mut Vec<u8>) -> Option<Keys> {
        let keys = self.session.write_handshake(messages)?;
        if !self.has_handshake_keys {
            self.has_handshake_keys = true;
            return Some(keys);
        }
        Some(Keys { header: keys.header, packet: self.watched(keys.packet) })
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        let keys = self.session.next_1rtt_keys()?;
        Some(self.watched(keys))
    }

    fn initial_keys(&self, id: &ConnectionId, side: Side) -> Keys {
        self.session.initial_keys(id, side)
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        self.session.handshake_data()
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        self.session.peer_identity()
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        self.session.early_crypto()
    }

    fn early_data_accepted(&self) -> Option<bool> {
        self.session.early_data_accepted()
    }

    fn is_handshaking(&self) -> bool {
        self.session.is_handshaking()
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        self.session.transport_parameters()
    }

    fn is_valid_retry(&self, id: &ConnectionId, header: &[u8], payload: &[u8]) -> bool {
        self.session.is_valid_retry(id, header, payload)
    }

    fn export_keying_material(
        &self,
        output: &mut [u8],
        label: &[u8],
        context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        self.session.export_keying_material(output, label, context)
    }
}

struct WatchedKey {
    key: Box<dyn PacketKey>,
    own: Side,
    watch: Watch,
}

impl WatchedKey {
    fn passed(&self, side: Side, frames: &[u8]) {
        self.watch.lock().expect("no holder panics").passed(side as usize, frames);
    }
}

impl PacketKey for WatchedKey {
    fn encrypt(&self, packet: u64, bytes: &mut [u8], header_bytes: usize) {
        self.passed(self.own, &bytes[header_bytes..bytes.len() - self.tag_len()]);
        self.key.encrypt(packet, bytes, header_bytes);
    }

    fn decrypt(&self, packet: u64, header: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        self.key.decrypt(packet, header, payload)?;
        self.passed(!self.own, payload);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        self.key.tag_len()
    }

    fn confidentiality_limit(&self) -> u64 {
        self.key.confidentiality_limit()
    }

    fn integrity_limit(&self) -> u64 {
        self.key.integrity_limit()
    }
}

fn announce(watch: &Watch, side: Side, parameters: &TransportParameters) {
    let mut bytes = Vec::new();
    parameters.write(&mut bytes);
    watch.lock().expect("no holder panics").announced(side as usize, &bytes);
}
