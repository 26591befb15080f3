//! What RFCs ask of our servers, asked by a client played by hand.

use std::sync::Arc;

use bytes::{Buf, Bytes};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::lab::{Lab, PATIENCE, workload};

/// What the server at `port` says to a request of HTTP/1.1 that asks for the end of its connection.
async fn ask(port: u16, request: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.expect("connected");
    stream.write_all(request.replace('\n', "\r\n").as_bytes()).await.expect("written");
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    tokio::time::timeout(PATIENCE, read).await.expect("the connection ends").expect("read");
    // A body is bytes: one character for each.
    answer.iter().copied().map(char::from).collect()
}

async fn answers(settings: &[(&str, Value)], requests: &[&str]) -> Vec<String> {
    let lab = Lab::new();
    let server = lab.serve("http1", workload(30, 2, 1), settings).await;
    let mut answers = Vec::new();
    for request in requests {
        answers.push(ask(server.port, request).await);
    }
    server.stop().await;
    answers
}

fn field<'a>(answer: &'a str, name: &str) -> Option<&'a str> {
    let fields = answer.split("\r\n").skip(1).take_while(|line| !line.is_empty());
    fields.filter_map(|line| line.split_once(": ")).find(|(key, _)| *key == name).map(|(_, value)| value)
}

#[tokio::test]
async fn an_http1_server_answers_400_unless_there_is_one_valid_host() {
    let requests = [
        "GET /bytes/5 HTTP/1.1\nconnection: close\n\n",
        "GET /bytes/5 HTTP/1.1\nhost: a\nhost: b\nconnection: close\n\n",
        "GET /bytes/5 HTTP/1.1\nhost: a/b\nconnection: close\n\n",
        "GET /bytes/5 HTTP/1.1\nhost: server.test:80\nconnection: close\n\n",
    ];
    let statuses: Vec<_> = answers(&[], &requests).await.iter().map(|answer| answer[9..12].to_owned()).collect();
    assert_eq!(statuses, ["400", "400", "400", "200"]);
}

#[tokio::test]
async fn an_http1_server_answers_head_without_the_body_and_other_methods_with_405() {
    let requests = [
        "HEAD /bytes/5 HTTP/1.1\nhost: a\nconnection: close\n\n",
        "DELETE /bytes/5 HTTP/1.1\nhost: a\nconnection: close\n\n",
        "GET /upload HTTP/1.1\nhost: a\nconnection: close\n\n",
        "DELETE /nowhere HTTP/1.1\nhost: a\nconnection: close\n\n",
    ];
    let answers = answers(&[], &requests).await;
    assert!(answers[0].starts_with("HTTP/1.1 200 ") && answers[0].ends_with("\r\n\r\n"), "{}", answers[0]);
    assert_eq!(field(&answers[0], "content-length"), Some("5"));
    for (answer, allowed) in [(&answers[1], "GET, HEAD"), (&answers[2], "POST")] {
        assert!(answer.starts_with("HTTP/1.1 405 "), "{answer}");
        assert_eq!(field(answer, "allow"), Some(allowed));
    }
    assert!(answers[3].starts_with("HTTP/1.1 404 "), "{}", answers[3]);
}

#[tokio::test]
async fn an_http1_server_dates_its_answers_unless_the_setting_is_off() {
    let request = ["GET /bytes/5 HTTP/1.1\nhost: a\nconnection: close\n\n"];
    let dated = answers(&[], &request).await.remove(0);
    let date = field(&dated, "date").unwrap_or_else(|| panic!("{dated}"));
    httpdate::parse_http_date(date).expect("an IMF-fixdate");
    let undated = answers(&[("date", false.into())], &request).await.remove(0);
    assert_eq!(field(&undated, "date"), None);
    assert_eq!(dated.chars().count() - undated.chars().count(), 37);
}

/// The status of an HTTP/3 server's answer, or the words of the error.
async fn ask_h3(lab: &Lab, port: u16, request: http::Request<()>, body: &'static [u8]) -> Result<(u16, usize), String> {
    let mut roots = rustls::RootCertStore::empty();
    let authority = std::fs::read(lab.folder().join("authority.pem")).expect("a certificate");
    let authority = rustls_pki_types::pem::PemObject::from_pem_slice(&authority).expect("a certificate");
    roots.add(authority).expect("valid");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider);
    let builder = builder.with_protocol_versions(&[&rustls::version::TLS13]).expect("known");
    let mut tls = builder.with_root_certificates(roots).with_no_client_auth();
    tls.alpn_protocols = vec![b"h3".to_vec()];
    let crypto = quinn::crypto::rustls::QuicClientConfig::try_from(tls).expect("TLS 1.3");
    let mut endpoint = quinn::Endpoint::client(([127, 0, 0, 1], 0).into()).expect("bound");
    endpoint.set_default_client_config(quinn::ClientConfig::new(Arc::new(crypto)));
    let connecting = endpoint.connect(([127, 0, 0, 1], port).into(), "server.test").expect("a name");
    let connection = h3_quinn::Connection::new(connecting.await.expect("connected"));
    let (mut driver, mut sender) = h3::client::new(connection).await.expect("begun");
    let driver = tokio::spawn(async move { std::future::poll_fn(|cx| driver.poll_close(cx)).await });
    let asked = async {
        let mut stream = sender.send_request(request).await?;
        if !body.is_empty() {
            stream.send_data(Bytes::from_static(body)).await?;
        }
        stream.finish().await?;
        let status = stream.recv_response().await?.status().as_u16();
        let mut length = 0;
        while let Some(data) = stream.recv_data().await? {
            length += data.remaining();
        }
        Ok::<_, h3::error::StreamError>((status, length))
    };
    let answer = tokio::time::timeout(PATIENCE, asked).await.expect("answered");
    driver.abort();
    answer.map_err(|error| format!("{error:?}"))
}

#[tokio::test]
async fn an_http3_server_resets_malformed_requests() {
    let lab = Lab::new();
    let server = lab.serve("h3", workload(30, 2, 1), &[]).await;
    let uri = |path: &str| format!("https://server.test:{}{path}", server.port);
    let get =
        |name: &str, value: &str| http::Request::get(uri("/bytes/5")).header(name, value).body(()).expect("a request");
    for (name, value) in [
        ("connection", "close"),
        ("transfer-encoding", "chunked"),
        ("te", "gzip"),
        ("content-length", "x"),
        ("content-length", "7"),
    ] {
        let answer = ask_h3(&lab, server.port, get(name, value), b"").await;
        assert!(answer.as_ref().is_err_and(|words| words.contains("H3_MESSAGE_ERROR")), "{name}: {answer:?}");
    }
    let head = http::Request::head(uri("/bytes/5")).body(()).expect("a request");
    assert_eq!(ask_h3(&lab, server.port, head, b"").await, Ok((200, 0)));
    let put = http::Request::put(uri("/upload")).body(()).expect("a request");
    assert_eq!(ask_h3(&lab, server.port, put, b"abc").await, Ok((405, 0)));
    assert_eq!(ask_h3(&lab, server.port, get("te", "trailers"), b"").await, Ok((200, 5)));
    server.stop().await;
}
