//! `certificates`: an authority and a server certificate that it signed, as PEM files.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use anyhow::{Context, bail};
use clap::ValueEnum;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384, PKCS_ED25519, PKCS_RSA_SHA256, SanType,
};
use rsa::RsaPrivateKey;
use rsa::pkcs8::EncodePrivateKey;

const DAY: Duration = Duration::from_secs(24 * 3600);

#[derive(clap::Args)]
pub struct Arguments {
    /// Folder for `authority.pem`, `chain.pem` and `key.pem`, none of which may exist.
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// Key of the authority and of the server.
    #[arg(long, value_enum, default_value = "ecdsa-p256")]
    key: KeyKind,
    /// Name of the server.
    #[arg(long, default_value = "server.test")]
    name: String,
    /// Address of the server, for its certificate, in addition to the name; may be repeated.
    #[arg(long, value_name = "ADDRESS")]
    address: Vec<IpAddr>,
}

/// Values of the setting `certificate-key`.
#[derive(Clone, Copy, ValueEnum)]
enum KeyKind {
    EcdsaP256,
    EcdsaP384,
    Ed25519,
    #[value(name = "rsa-2048")]
    Rsa2048,
    #[value(name = "rsa-3072")]
    Rsa3072,
    #[value(name = "rsa-4096")]
    Rsa4096,
}

pub fn run(arguments: Arguments) -> ExitCode {
    match write(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn write(arguments: &Arguments) -> anyhow::Result<()> {
    const NAMES: [&str; 5] = ["authority.pem", "chain.pem", "key.pem", "client-chain.pem", "client-key.pem"];
    let paths = NAMES.map(|name| arguments.out.join(name));
    if let Some(path) = paths.iter().find(|path| path.exists()) {
        bail!("{} exists already and is not overwritten; choose another folder", path.display());
    }
    let made = Made::new(arguments)?;
    fs::create_dir_all(&arguments.out).with_context(|| arguments.out.display().to_string())?;
    let [authority, chain, key, client_chain, client_key] = paths;
    write_file(&key, &made.server.key, 0o600)?;
    write_file(&client_key, &made.client.key, 0o600)?;
    write_file(&authority, &made.authority, 0o644)?;
    write_file(&client_chain, &made.client.chain, 0o644)?;
    write_file(&chain, &made.server.chain, 0o644)
}

/// PEM texts. The authority's own key is forgotten: nothing more can be signed.
struct Made {
    authority: String,
    server: Pair,
    client: Pair,
}

struct Pair {
    chain: String,
    key: String,
}

impl Made {
    fn new(arguments: &Arguments) -> anyhow::Result<Self> {
        let authority_key = arguments.key.generate()?;
        let mut authority = lasting(CertificateParams::default());
        authority.distinguished_name.push(DnType::CommonName, "Wirelab authority");
        authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let authority_certificate = authority.self_signed(&authority_key)?;

        let issuer = Issuer::new(authority, authority_key);

        let names = vec![arguments.name.clone()];
        let mut server = lasting(CertificateParams::new(names).with_context(|| format!("name `{}`", arguments.name))?);
        server.distinguished_name.push(DnType::CommonName, arguments.name.clone());
        server.subject_alt_names.extend(arguments.address.iter().copied().map(SanType::IpAddress));
        server.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];

        let mut client = lasting(CertificateParams::default());
        client.distinguished_name.push(DnType::CommonName, "Wirelab client");
        client.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        client.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];

        let signed = |certificate: CertificateParams| -> anyhow::Result<Pair> {
            let key = arguments.key.generate()?;
            Ok(Pair { chain: certificate.signed_by(&key, &issuer)?.pem(), key: key.serialize_pem() })
        };
        Ok(Made { authority: authority_certificate.pem(), server: signed(server)?, client: signed(client)? })
    }
}

impl KeyKind {
    fn generate(self) -> anyhow::Result<KeyPair> {
        Ok(match self {
            KeyKind::EcdsaP256 => KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?,
            KeyKind::EcdsaP384 => KeyPair::generate_for(&PKCS_ECDSA_P384_SHA384)?,
            KeyKind::Ed25519 => KeyPair::generate_for(&PKCS_ED25519)?,
            KeyKind::Rsa2048 => rsa_key(2048)?,
            KeyKind::Rsa3072 => rsa_key(3072)?,
            KeyKind::Rsa4096 => rsa_key(4096)?,
        })
    }
}

/// ring signs with RSA but makes no RSA keys.
fn rsa_key(bits: usize) -> anyhow::Result<KeyPair> {
    let key = RsaPrivateKey::new(&mut rsa::rand_core::OsRng, bits)?.to_pkcs8_der()?;
    Ok(KeyPair::from_pkcs8_der_and_sign_algo(&key.as_bytes().into(), &PKCS_RSA_SHA256)?)
}

/// Valid from yesterday, in case the clock is set back, for ten years.
fn lasting(mut certificate: CertificateParams) -> CertificateParams {
    let now = SystemTime::now();
    certificate.not_before = (now - DAY).into();
    certificate.not_after = (now + 3652 * DAY).into();
    certificate
}

fn write_file(path: &Path, text: &str, mode: u32) -> anyhow::Result<()> {
    let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn arguments(out: &Path, key: KeyKind) -> Arguments {
        Arguments { out: out.to_owned(), key, name: "server.test".to_owned(), address: vec![[10, 0, 0, 1].into()] }
    }

    #[test]
    fn the_key_is_the_owners_alone_and_nothing_is_overwritten() {
        let folder = tempfile::tempdir().expect("a folder");
        let arguments = arguments(folder.path(), KeyKind::EcdsaP256);
        write(&arguments).expect("written");
        let key = folder.path().join("key.pem");
        assert_eq!(fs::metadata(&key).expect("there").permissions().mode() & 0o777, 0o600);
        let before = fs::read(&key).expect("readable");
        assert!(write(&arguments).expect_err("refused").to_string().contains("authority.pem"));
        assert_eq!(fs::read(&key).expect("readable"), before);
    }

    #[test]
    fn every_kind_of_key_signs() {
        for kind in [KeyKind::EcdsaP256, KeyKind::EcdsaP384, KeyKind::Ed25519, KeyKind::Rsa2048] {
            let folder = tempfile::tempdir().expect("a folder");
            let made = Made::new(&arguments(folder.path(), kind)).expect("signed");
            for pair in [made.server, made.client] {
                assert!(pair.chain.starts_with("-----BEGIN CERTIFICATE-----"));
                assert!(pair.key.starts_with("-----BEGIN PRIVATE KEY-----"));
            }
        }
    }
}
