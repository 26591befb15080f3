//! TLS over TCP: settings, certificates, and phases of the handshake. QUIC's handshake is in `quic`.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::ServerCertVerifier;
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::ring;
use rustls::server::{ServerSessionMemoryCache, WebPkiClientVerifier};
use rustls::{ClientConfig, KeyLogFile, RootCertStore, ServerConfig, SupportedProtocolVersion};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use wirelab_schema::{Certificates, EndpointParameters, SettingDescription};

use crate::StackError;
use crate::base::settings::{self, Settings};

/// Setting `tls`, of stacks that run over TLS over TCP.
pub fn version_setting() -> SettingDescription {
    settings::choice(
        "tls",
        &["1.3", "1.2"],
        "TLS version, the only one offered (RFC 8446, RFC 5246). TLS 1.2 takes one more round trip; its key exchange is ECDHE.",
    )
}

/// Settings of every stack with TLS or QUIC.
pub fn common_settings() -> [SettingDescription; 3] {
    [
        settings::boolean(
            "resumption",
            false,
            "A new connection resumes the session of an earlier one with its newest ticket (PSK with (EC)DHE in TLS 1.3, RFC 8446 section 2.2; \
             session ticket in TLS 1.2, RFC 5077). A client's first connection is always a full handshake. In `page` it is always on, within one load.",
        ),
        settings::choice(
            "certificate-key",
            &["ecdsa-p256", "ecdsa-p384", "ed25519", "rsa-2048", "rsa-3072", "rsa-4096"],
            "Key of the server's certificate and of the authority that signed it. It decides the certificate's size and the cost of the handshake.",
        ),
        settings::boolean(
            CLIENT_CERTIFICATE,
            false,
            "The server asks for a certificate of the client and refuses one without (mutual TLS, RFC 8446 section 4.3.2). Its key is as the \
             server's.",
        ),
    ]
}

const CLIENT_CERTIFICATE: &str = "client-certificate";
/// Setting of stacks that can send early data.
pub const EARLY_DATA: &str = "early-data";
/// Sessions that a server keeps for clients that send early data.
const SESSIONS: usize = 65_536;

/// Setting `early-data`, of stacks that can send it.
pub fn early_data_setting() -> SettingDescription {
    settings::boolean(
        EARLY_DATA,
        false,
        "A connection that resumes a session sends its request along with the handshake (0-RTT, RFC 8446 section 2.3), before the server has \
         said anything; the server answers at once. Nothing protects such a request against replay. The server keeps the sessions, since it \
         takes early data once only, and one that it does not take fails the exchange.",
    )
}

/// What `about` says of TLS for every secure stack over TCP.
pub const RECORDS: &str = "Over TLS the first byte of a response can be read only when its whole record is there, which holds up to 16 KiB and \
     so may take more than the initial window.";

/// What `about` says of TLS for every secure stack.
pub const TICKETS: &str =
    "The server sends two session tickets in TLS 1.3, as OpenSSL does, whether or not the client resumes.";

/// A client's configuration for this setting of `tls` (1.3 for a stack without it) and `resumption`. Secrets go to the file that the variable
/// `SSLKEYLOGFILE` names, if there is one, as a server's do.
pub fn client_config(
    parameters: &EndpointParameters,
    settings: &Settings,
    verifier: Arc<dyn ServerCertVerifier>,
    versions: &[&'static SupportedProtocolVersion],
    alpn: &str,
) -> Result<ClientConfig, StackError> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(versions)
        .map_err(|error| StackError::failed("TLS versions", error))?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let mut config = if settings.boolean(CLIENT_CERTIFICATE) {
        let files = certificates(parameters)?.client.as_ref();
        let files = files.ok_or_else(|| StackError::Usage("`certificates` have no `client`".to_owned()))?;
        let (chain, key) = read_pair(&files.chain, &files.key)?;
        config.with_client_auth_cert(chain, key).map_err(|error| StackError::failed(files.chain.display(), error))?
    } else {
        config.with_no_client_auth()
    };
    config.alpn_protocols = protocols(alpn);
    config.key_log = Arc::new(KeyLogFile::new());
    config.enable_early_data = settings.is_on(EARLY_DATA);
    if !settings.boolean("resumption") {
        config.resumption = Resumption::disabled();
    }
    Ok(config)
}

/// A server's configuration. Tickets are self-contained (encrypted state), as those of common servers are, but with early data.
pub fn server_config(
    parameters: &EndpointParameters,
    settings: &Settings,
    versions: &[&'static SupportedProtocolVersion],
    alpn: &str,
) -> Result<ServerConfig, StackError> {
    let files = certificates(parameters)?;
    let (chain, key) = read_pair(&files.chain, &files.key)?;
    let clients = if settings.boolean(CLIENT_CERTIFICATE) {
        let provider = Arc::new(ring::default_provider());
        WebPkiClientVerifier::builder_with_provider(Arc::new(authority(files)?), provider)
            .build()
            .map_err(|error| StackError::failed(files.authority.display(), error))?
    } else {
        WebPkiClientVerifier::no_client_auth()
    };
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(versions)
        .map_err(|error| StackError::failed("TLS versions", error))?
        .with_client_cert_verifier(clients)
        .with_single_cert(chain, key)
        .map_err(|error| StackError::failed(files.chain.display(), error))?;
    if settings.is_on(EARLY_DATA) {
        // What QUIC asks for (RFC 9001, section 4.6.1).
        config.max_early_data_size = u32::MAX;
        config.session_storage = ServerSessionMemoryCache::new(SESSIONS);
    } else {
        config.ticketer = ring::Ticketer::new().map_err(|error| StackError::failed("TLS tickets", error))?;
    }
    config.alpn_protocols = protocols(alpn);
    config.key_log = Arc::new(KeyLogFile::new());
    Ok(config)
}

/// None for a protocol without an ALPN name, which is then not negotiated.
fn protocols(alpn: &str) -> Vec<Vec<u8>> {
    if alpn.is_empty() { Vec::new() } else { vec![alpn.into()] }
}

/// TLS 1.3, which QUIC needs.
pub const TLS13: &[&SupportedProtocolVersion] = &[&rustls::version::TLS13];
const TLS12: &[&SupportedProtocolVersion] = &[&rustls::version::TLS12];

/// The versions that the setting `tls` allows.
pub fn versions(settings: &Settings) -> &'static [&'static SupportedProtocolVersion] {
    if settings.choice("tls") == "1.2" { TLS12 } else { TLS13 }
}

/// Trusts the campaign's own certificate authority and nothing else.
pub fn verifier(parameters: &EndpointParameters) -> Result<Arc<dyn ServerCertVerifier>, StackError> {
    let files = certificates(parameters)?;
    let roots = Arc::new(authority(files)?);
    let verifier = WebPkiServerVerifier::builder_with_provider(roots, Arc::new(ring::default_provider()));
    Ok(verifier.build().map_err(|error| StackError::failed(files.authority.display(), error))?)
}

fn authority(files: &Certificates) -> Result<RootCertStore, StackError> {
    let failed = |error: &dyn std::fmt::Display| StackError::failed(files.authority.display(), error);
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(&files.authority).map_err(|error| failed(&error))? {
        roots.add(certificate.map_err(|error| failed(&error))?).map_err(|error| failed(&error))?;
    }
    Ok(roots)
}

fn read_pair(chain: &Path, key: &Path) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), StackError> {
    let certificates = CertificateDer::pem_file_iter(chain)
        .and_then(Iterator::collect)
        .map_err(|error| StackError::failed(chain.display(), error))?;
    let key = PrivateKeyDer::from_pem_file(key).map_err(|error| StackError::failed(key.display(), error))?;
    Ok((certificates, key))
}

/// The name that the server's certificate must have.
pub fn server_name(parameters: &EndpointParameters) -> Result<ServerName<'static>, StackError> {
    let name = &parameters.server.name;
    ServerName::try_from(name.clone()).map_err(|_| StackError::Usage(format!("`{name}` is not a server name")))
}

fn certificates(parameters: &EndpointParameters) -> Result<&Certificates, StackError> {
    parameters
        .certificates
        .as_ref()
        .ok_or_else(|| StackError::Usage(format!("protocol `{}` needs `certificates`", parameters.protocol)))
}
