//! Pages, loaded over every version of HTTP.

mod faults;

use std::collections::BTreeSet;
use std::fs;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use ring::digest::{SHA256, digest};
use rustls::crypto::ring as ring_provider;
use rustls::{HandshakeKind, ServerConfig};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use wirelab_schema::{
    Exchange, FoundBy, Outcome, PageExtension, PageFiles, PageIdentity, PageLoads, PageManifest, ResourceTiming,
    SettingValues,
};
use wirelab_stacks::workload::PAGE;
use wirelab_stacks::{Descriptor, Payload};

use crate::lab::Lab;
use crate::{descriptors, does};

/// Path, size, kind, parent, `at_bytes` and whether it blocks.
type Described = (&'static str, usize, &'static str, Option<u32>, u64, bool);

/// The stylesheet is named by the document's first segment, most
/// images by later ones, and a font and one image by the stylesheet.
const RESOURCES: [Described; 12] = [
    ("/index.html", 30_000, "document", None, 0, true),
    ("/style/a.css?v=1", 12_000, "stylesheet", Some(0), 300, true),
    ("/a.js", 9_000, "script", Some(0), 400, true),
    ("/late.js", 100, "script", Some(0), 20_000, false),
    ("/1.jpg", 70_000, "image", Some(0), 5_000, false),
    ("/2.jpg", 1, "image", Some(0), 5_001, false),
    ("/3.jpg", 0, "image", Some(0), 5_002, false),
    ("/4.jpg", 40_000, "image", Some(0), 15_000, false),
    ("/5%20%C3%A4.jpg", 25_000, "image", Some(0), 16_000, false),
    ("/6.jpg", 33_000, "image", Some(0), 30_000, false),
    ("/style/f.woff2", 18_000, "font", Some(1), 12_000, false),
    ("/style/7.jpg", 50_000, "image", Some(1), 12_000, false),
];

/// A lab with that page's folder, and the workload that loads it.
fn page_lab(loads: u32, timeout_ns: u64) -> (Lab, PageLoads) {
    lab_of(&RESOURCES, loads, timeout_ns)
}

fn lab_of(described: &[Described], loads: u32, timeout_ns: u64) -> (Lab, PageLoads) {
    let mut lab = Lab::new();
    let folder = lab.folder().join("site");
    fs::create_dir_all(folder.join("style")).expect("a folder");
    let mut resources = Vec::new();
    for (index, (path, body_bytes, kind, parent, at_bytes, blocking)) in (1..).zip(described.iter().copied()) {
        let body = Payload::new(index).bytes(body_bytes);
        let name = path.split('?').next().expect("a path").replace("%20", " ").replace("%C3%A4", "ä");
        fs::write(folder.join(&name[1..]), &body).expect("written");
        let sha256: String = digest(&SHA256, &body).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        resources.push(json!({
            "path": path, "body_bytes": body_bytes, "sha256": sha256, "media_type": "application/octet-stream",
            "kind": kind, "parent": parent, "at_bytes": at_bytes, "blocking": blocking,
        }));
    }
    let manifest = json!({"schema_version": 1, "resources": resources, "left_out": []});
    let path = lab.folder().join("page.json");
    fs::write(&path, manifest.to_string()).expect("written");
    let manifest: PageManifest = serde_json::from_value(manifest).expect("a manifest");
    lab.page = Some(PageFiles { manifest: path, folder });
    let page = PageIdentity {
        name: "twelve".to_owned(),
        sha256: "0".repeat(64),
        resources: manifest.resources.len() as u32,
        body_bytes: manifest.resources.iter().map(|resource| resource.body_bytes).sum(),
    };
    (lab, PageLoads { loads, timeout_ns, request_delay_ns: 0, page })
}

fn total() -> u64 {
    RESOURCES.iter().map(|(_, body_bytes, ..)| *body_bytes as u64).sum()
}

const LONG: u64 = 30_000_000_000;

async fn load(
    lab: &Lab,
    stack: &str,
    port: u16,
    work: &PageLoads,
    hints: &str,
) -> (Vec<Exchange>, Vec<ResourceTiming>) {
    let settings = [("hints", Value::from(hints))];
    let (context, _stopper, rows) = lab.client_context(stack, port, work.clone(), &settings);
    wirelab_stacks::run(context).await.expect("the client does its work");
    (rows.taken(), rows.resources())
}

/// By the built-in server too.
async fn load_all(lab: &Lab, stack: &str, work: &PageLoads, hints: &str) -> (Vec<Exchange>, Vec<ResourceTiming>) {
    let server = lab.serve(stack, work.clone(), &[("hints", Value::from(hints))]).await;
    let loaded = load(lab, stack, server.port, work, hints).await;
    server.stop().await;
    loaded
}

/// The values of `hints` that a stack has.
fn hints_of(stack: &Descriptor) -> Vec<String> {
    let setting = stack.settings.iter().find(|setting| setting.name == "hints").expect("the setting");
    match &setting.values {
        SettingValues::Choice { choices } => choices.clone(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn every_body_arrives_whole_and_once_over_every_version_with_every_hint() {
    for stack in descriptors(does(PAGE)) {
        for hints in hints_of(&stack) {
            let what = format!("{} {hints}", stack.name);
            let (lab, work) = page_lab(2, LONG);
            let (exchanges, rows) = load_all(&lab, &stack.name, &work, &hints).await;
            assert_eq!(exchanges.len(), 2, "{what}");
            for (exchange, index) in exchanges.iter().zip(0..) {
                assert_eq!((exchange.outcome, exchange.index), (Outcome::Completed, index), "{what}: {exchange:?}");
                assert_eq!((exchange.body_received_bytes, exchange.status), (total(), Some(200)), "{what}");
                let rows: Vec<_> = rows.iter().filter(|row| row.exchange == index).collect();
                check_rows(&what, exchange, &rows, &hints);
                check_connections(&what, &stack, exchange, &rows);
            }
        }
    }
}

fn check_rows(what: &str, exchange: &Exchange, rows: &[&ResourceTiming], hints: &str) {
    let resources: BTreeSet<_> = rows.iter().filter_map(|row| row.resource).collect();
    assert_eq!((resources.len(), rows.len()), (RESOURCES.len(), RESOURCES.len()), "{what}");
    for row in rows {
        let (path, body_bytes, ..) = RESOURCES[row.resource.expect("a resource") as usize];
        assert_eq!((row.path.as_str(), row.body_received_bytes), (path, body_bytes as u64), "{what}");
        assert_eq!((row.outcome, row.status, &row.error), (Outcome::Completed, Some(200), &None), "{what} {path}");
        let first = row.first_response_byte_ns.expect("a first byte");
        assert!(exchange.start_ns <= row.discovered_ns && row.discovered_ns <= first, "{what}: {row:?}");
        assert!(first <= row.end_ns && row.end_ns <= exchange.end_ns, "{what}: {row:?}");
        assert_eq!(row.pushed, row.request_start_ns.is_none(), "{what}: {row:?}");
        let found_by = match (row.resource, hints) {
            (Some(0), _) => FoundBy::Navigation,
            (_, "none") => FoundBy::Body,
            (_, "push") => FoundBy::Push,
            _ => FoundBy::Hint,
        };
        assert_eq!(row.found_by, found_by, "{what}: {path}");
    }
    let pushed = (hints == "push").then(|| total() - RESOURCES[0].1 as u64);
    let columns = of_page(exchange);
    assert_eq!((columns.pushed_bytes, columns.wasted_pushed_bytes), (pushed, pushed.map(|_| 0)), "{what}");
    let interim = exchange.first_response_byte_ns < exchange.first_final_byte_ns;
    assert!(hints == "early-hints" || !interim, "{what}: {exchange:?}");
    assert_eq!(rows[0].first_response_byte_ns, exchange.first_response_byte_ns, "{what}");
}

fn check_connections(what: &str, stack: &Descriptor, exchange: &Exchange, rows: &[&ResourceTiming]) {
    let connections = of_page(exchange).connections.expect("counted");
    let one_request_each = stack.timing.sequential;
    assert!(if one_request_each { (2..=6).contains(&connections) } else { connections == 1 }, "{what}: {connections}");
    for row in rows {
        assert!(row.connection.is_some_and(|number| number < connections), "{what}: {row:?}");
        assert_eq!(row.connection_reused, row.connect_start_ns.is_none(), "{what}: {row:?}");
        assert_eq!(row.tcp_connect_ns.is_some(), !row.connection_reused && stack.transport == "tcp", "{what}: {row:?}");
        assert_eq!(row.handshake_ns.is_some(), !row.connection_reused && stack.secure, "{what}: {row:?}");
        assert_eq!(row.urgency.is_some(), !one_request_each && !row.pushed, "{what}: {row:?}");
        assert_eq!(row.incremental.is_some(), row.urgency.is_some(), "{what}: {row:?}");
    }
    assert!(exchange.local_port.is_some() && exchange.client_retransmissions.is_some(), "{what}");
    assert_ne!(exchange.resumed, Some(true), "{what}: each load begins without a session");
}

#[tokio::test]
async fn hundreds_of_hints_are_taken() {
    let mut resources: Vec<Described> = vec![("/index.html", 2_000, "document", None, 0, true)];
    for number in 0..300 {
        resources.push((format!("/{number}.jpg").leak(), 10, "image", Some(0), 1_000, false));
    }
    for stack in descriptors(does(PAGE)) {
        for hints in hints_of(&stack) {
            let stack = &stack.name;
            let (lab, work) = lab_of(&resources, 1, LONG);
            let (exchanges, rows) = load_all(&lab, stack, &work, &hints).await;
            assert_eq!(exchanges[0].outcome, Outcome::Completed, "{stack} {hints}: {:?}", exchanges[0].error);
            assert_eq!(rows.len(), resources.len(), "{stack} {hints}");
        }
    }
}

#[tokio::test]
async fn each_request_waits_for_its_delay_and_a_push_does_not() {
    let delay_ns = 20_000_000;
    for stack in descriptors(does(PAGE)) {
        for hints in hints_of(&stack) {
            let what = format!("{} {hints}", stack.name);
            let (lab, work) = page_lab(1, LONG);
            let work = PageLoads { request_delay_ns: delay_ns, ..work };
            let (exchanges, rows) = load_all(&lab, &stack.name, &work, &hints).await;
            assert_eq!(exchanges[0].outcome, Outcome::Completed, "{what}: {:?}", exchanges[0].error);
            for row in &rows {
                let waited_ns = row.request_start_ns.map(|sent_ns| sent_ns - row.discovered_ns);
                assert!(waited_ns.is_none_or(|waited_ns| waited_ns >= delay_ns), "{what}: {row:?}");
            }
            let requested = rows.iter().filter(|row| row.request_start_ns.is_some()).count();
            assert_eq!(requested, if hints == "push" { 1 } else { RESOURCES.len() }, "{what}");
        }
    }
}

#[tokio::test]
async fn urgent_resources_arrive_before_earlier_requests() {
    let resources = [
        ("/index.html", 1_000, "document", None, 0, true),
        ("/first.jpg", 400_000, "image", Some(0), 10, false),
        ("/second.css", 700_000, "stylesheet", Some(0), 20, true),
    ];
    for descriptor in descriptors(|stack| does(PAGE)(stack) && !stack.timing.sequential) {
        let stack = &descriptor.name;
        let (lab, work) = lab_of(&resources, 1, LONG);
        let (_, rows) = load_all(&lab, stack, &work, "none").await;
        let [_, image, stylesheet] = &rows[..] else { panic!("{stack}: {rows:?}") };
        assert!(image.request_start_ns <= stylesheet.request_start_ns, "{stack}: {rows:?}");
        // By turns the image, which is smaller, would be there first.
        assert!(stylesheet.end_ns < image.end_ns, "{stack}: {rows:?}");
    }
}

#[tokio::test]
async fn later_connections_of_a_load_resume_the_session_of_its_first() {
    let (lab, work) = page_lab(2, 400_000_000);
    let pem = |name: &str| lab.folder().join(name);
    let chain = CertificateDer::pem_file_iter(pem("chain.pem")).expect("a file").collect::<Result<_, _>>();
    let key = PrivateKeyDer::from_pem_file(pem("key.pem")).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(ring_provider::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("a version")
        .with_no_client_auth()
        .with_single_cert(chain.expect("certificates"), key)
        .expect("a pair");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("bound");
    let port = listener.local_addr().expect("bound").port();
    let folder = lab.folder().join("site");
    let handshakes = Arc::new(Mutex::new(Vec::new()));
    let seen = handshakes.clone();
    let server = tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.expect("accepted");
            let (acceptor, folder, seen) = (acceptor.clone(), folder.clone(), seen.clone());
            tokio::spawn(async move {
                let stream = acceptor.accept(stream).await.expect("a handshake");
                let kind = stream.get_ref().1.handshake_kind().expect("done");
                seen.lock().expect("unpoisoned").push(kind == HandshakeKind::Resumed);
                half_answer(stream, folder).await;
            });
        }
    });
    let (exchanges, _) = load(&lab, "https1", port, &work, "none").await;
    server.abort();
    let resumed = handshakes.lock().expect("unpoisoned").clone();
    let opened: u32 = exchanges.iter().filter_map(|exchange| of_page(exchange).connections).sum();
    assert!(resumed.len() > 2 && resumed.len() <= opened as usize, "{resumed:?}");
    let second = of_page(&exchanges[0]).connections.expect("counted") as usize;
    assert_eq!((resumed[0], resumed[1]), (false, true), "{resumed:?}");
    assert_eq!((resumed.get(second), exchanges[1].resumed), (Some(&false), Some(false)), "a load begins without one");
}

/// Answers one request after another over HTTP/1.1, of `/1.jpg` half.
async fn half_answer(mut stream: impl AsyncRead + AsyncWrite + Unpin, folder: PathBuf) {
    let mut head = Vec::new();
    while let Ok(byte) = stream.read_u8().await {
        head.push(byte);
        if !head.ends_with(b"\r\n\r\n") {
            continue;
        }
        let text = String::from_utf8(std::mem::take(&mut head)).expect("text");
        let path = text.split(' ').nth(1).expect("a path").split('?').next().expect("a path");
        let name = path.replace("%20", " ").replace("%C3%A4", "ä");
        let body = fs::read(folder.join(&name[1..])).expect("a file");
        let sent = if path == "/1.jpg" { body.len() / 2 } else { body.len() };
        let response = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
        stream.write_all(response.as_bytes()).await.expect("written");
        stream.write_all(&body[..sent]).await.expect("written");
        stream.flush().await.expect("written");
    }
}

fn of_page(exchange: &Exchange) -> &PageExtension {
    exchange.page().expect("a row of `page`")
}
