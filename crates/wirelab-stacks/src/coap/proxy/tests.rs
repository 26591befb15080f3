//! The proxy before origins that play their part by a script.

use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::future::{BoxFuture, join_all};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use wirelab_schema::{ArrivalSpec, ConnectionPolicy, DownloadBytes, Exchange, Outcome, RequestResponse, ServerAddress};

use super::*;
use crate::codec::coap::{Method, status};
use crate::workload::virtual_time::{Rows, context};

/// Time that goes on when it is told to.
#[derive(Default)]
struct Hands(AtomicU64);

impl Hands {
    fn forward(&self, seconds: u64) {
        self.0.fetch_add(seconds * 1_000_000_000, Ordering::Relaxed);
    }
}

impl Clock for Hands {
    fn now_ns(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn sleep_until(&self, _instant_ns: u64) -> BoxFuture<'static, ()> {
        unreachable!("nobody sleeps")
    }
}

struct Scene {
    gateway: Gateway,
    clock: Arc<Hands>,
    rows: Rows,
    heard: Arc<Mutex<Vec<String>>>,
    _origin: Task,
}

/// A proxy, and an origin that plays one script for each connection: an answer for each request, and then the connection's end.
async fn scene(scripts: &'static [&'static [&'static str]], caches: bool, timeout: Duration) -> Scene {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("its number").port();
    let heard = Arc::new(Mutex::default());
    let log = heard.clone();
    let origin = Task::spawn(async move {
        let mut connections = Vec::new();
        for script in scripts {
            let (stream, _) = listener.accept().await.expect("a connection");
            connections.push(Task::spawn(play(stream, script, log.clone())));
        }
        // Nobody is there any more who would accept another one.
        drop(listener);
        std::future::pending().await
    });
    let work = RequestResponse {
        upload_bytes: 0,
        download_bytes: DownloadBytes::Alike(0),
        exchanges: 1,
        clients: 1,
        arrival: ArrivalSpec::Closed,
        concurrency: 1,
        timeout_ns: timeout.as_nanos() as u64,
        connection: ConnectionPolicy::New,
        device: None,
        retry: None,
        request: None,
    };
    let rows = Rows::default();
    let mut parameters = context(work.into(), rows.clone()).0.parameters;
    parameters.upstream = Some(ServerAddress { port, ..parameters.server.clone() });
    let clock = Arc::new(Hands::default());
    let gateway = Gateway::new(&parameters, clock.clone(), Box::new(rows.clone()), caches).expect("a gateway");
    Scene { gateway, clock, rows, heard, _origin: origin }
}

async fn play(mut stream: TcpStream, script: &'static [&'static str], log: Arc<Mutex<Vec<String>>>) {
    for answer in script {
        let Some(request) = request(&mut stream).await else { return };
        lock(&log).push(request);
        // Whoever asked may have gone.
        let _ = stream.write_all(answer.as_bytes()).await;
    }
}

/// A whole one, as it came; none once the client has ended the connection.
async fn request(stream: &mut TcpStream) -> Option<String> {
    let mut text = String::new();
    let whole = |text: &str| {
        let (head, body) = text.split_once("\r\n\r\n")?;
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        (body.len() >= length.unwrap_or(0)).then_some(())
    };
    while whole(&text).is_none() {
        let mut buffer = [0; 1024];
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return None,
            Ok(length) => text.push_str(std::str::from_utf8(&buffer[..length]).expect("text")),
        }
    }
    Some(text)
}

fn asked(method: Method, target: &str) -> IncomingRequest {
    let payload = if method == Method::Get { "" } else { "reading" };
    IncomingRequest {
        method,
        target: target.to_owned(),
        content_format: None,
        accept: None,
        payload: payload.into(),
        observe: false,
    }
}

const LONG: Duration = Duration::from_secs(30);

impl Scene {
    /// Status, Max-Age and body of an answer.
    async fn ask(&self, method: Method, target: &str) -> (u16, Option<u32>, String) {
        let response = self.gateway.clone().answer(asked(method, target)).await;
        let body = String::from_utf8_lossy(&response.payload).into_owned();
        (status(response.code), response.max_age, body)
    }

    /// First lines of what the origin has heard.
    fn heard(&self) -> Vec<String> {
        lock(&self.heard).iter().map(|request| request.lines().next().unwrap_or_default().to_owned()).collect()
    }

    fn row(&self) -> Exchange {
        self.rows.taken().pop().expect("a row")
    }
}

const A: &str = "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\na";
const B: &str = "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nb";

#[tokio::test]
async fn a_persistent_connection_that_the_origin_ends_loses_no_response() {
    // The first connection ends while it is idle, the second one with a request under way.
    let scene = scene(&[&[A], &[B, ""], &[A]], false, LONG).await;
    for body in ["a", "b", "a"] {
        assert_eq!(scene.ask(Method::Get, "/x").await, (205, None, body.to_owned()));
    }
    assert_eq!(scene.heard().len(), 4, "one of them twice");
    assert!(scene.rows.taken().iter().all(|row| row.outcome == Outcome::Completed && !row.connection_reused));
}

#[tokio::test]
async fn a_request_with_side_effects_is_not_sent_twice() {
    let scene = scene(&[&[A, ""], &[A]], false, LONG).await;
    assert_eq!(scene.ask(Method::Post, "/x").await.0, 204);
    assert_eq!(scene.ask(Method::Post, "/x").await.0, 502);
    assert_eq!(scene.heard().len(), 2);
    assert_eq!(scene.row().outcome, Outcome::Failed);
}

#[tokio::test]
async fn an_origin_that_cannot_be_understood_is_a_bad_gateway() {
    for answer in [
        "what?\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nshort",
        "HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 304 Not Modified\r\n\r\n",
        "HTTP/1.1 302 Found\r\nlocation: /y\r\ncontent-length: 0\r\n\r\n",
        "",
    ] {
        let script: &'static [&'static str] = Box::leak(Box::new([answer]));
        let scene = scene(Box::leak(Box::new([script])), true, LONG).await;
        assert_eq!(scene.ask(Method::Get, "/x").await.0, 502, "{answer:?}");
        assert_eq!(
            scene.ask(Method::Get, "/x").await.0,
            502,
            "nothing of it is kept, and nobody is there any more: {answer:?}"
        );
    }
}

#[tokio::test]
async fn a_silent_origin_gives_gateway_timeout_and_the_next_request_opens_a_connection() {
    let scene = scene(&[&["HTTP/1.1 200 OK\r\n", "never asked for"], &[A]], false, Duration::from_secs(1)).await;
    assert_eq!(scene.ask(Method::Get, "/x").await.0, 504);
    assert_eq!(scene.row().outcome, Outcome::TimedOut);
    assert_eq!(scene.ask(Method::Get, "/x").await, (205, None, "a".to_owned()));
}

#[tokio::test]
async fn a_method_without_a_mapping_does_not_reach_the_origin() {
    let scene = scene(&[&[A]], false, LONG).await;
    assert_eq!(scene.ask(Method::Other(5), "/x").await.0, 501);
    assert_eq!(scene.ask(Method::Other(4), "/x").await.0, 202);
    assert_eq!(scene.heard(), ["DELETE /x HTTP/1.1"]);
    assert_eq!(scene.rows.taken()[0].outcome, Outcome::Unsupported);
}

const FOR_10_S: &str = "HTTP/1.1 200 OK\r\ncache-control: max-age=10\r\ncontent-length: 1\r\n\r\na";

#[tokio::test]
async fn a_fresh_response_is_served_with_the_lifetime_left() {
    let scene = scene(&[&[FOR_10_S, B]], true, LONG).await;
    for (left, after) in [(Some(10), 4), (Some(6), 5), (Some(1), 1)] {
        assert_eq!(scene.ask(Method::Get, "/x").await, (205, left, "a".to_owned()));
        scene.clock.forward(after);
    }
    assert_eq!(scene.heard().len(), 1);
    assert_eq!(scene.row().request_start_ns, None);
    assert_eq!(scene.ask(Method::Get, "/x").await, (205, None, "b".to_owned()));
    scene.clock.forward(1);
    assert_eq!(scene.ask(Method::Get, "/x").await, (205, Some(59), "b".to_owned()));
}

#[tokio::test]
async fn each_target_is_cached_separately_and_invalidated_by_an_unsafe_method() {
    let scene = scene(&[&[FOR_10_S, FOR_10_S, A, B]], true, LONG).await;
    for target in ["/x?1", "/x?2", "/x?1", "/x?2"] {
        assert_eq!(scene.ask(Method::Get, target).await.0, 205);
    }
    assert_eq!(scene.ask(Method::Post, "/x?1").await.0, 204);
    assert_eq!(scene.ask(Method::Get, "/x?2").await.2, "a");
    assert_eq!(scene.ask(Method::Get, "/x?1").await.2, "b");
    let expected = ["GET /x?1", "GET /x?2", "POST /x?1", "GET /x?1"].map(|line| format!("{line} HTTP/1.1"));
    assert_eq!(scene.heard(), expected);
}

#[tokio::test]
async fn a_stale_response_is_revalidated_by_its_entity_tag() {
    let scene = scene(
        &[&[
            "HTTP/1.1 200 OK\r\ncache-control: no-cache\r\netag: \"1\"\r\ncontent-length: 1\r\n\r\na",
            "HTTP/1.1 304 Not Modified\r\netag: \"1\"\r\ncache-control: max-age=5\r\n\r\n",
            B,
        ]],
        true,
        LONG,
    )
    .await;
    assert_eq!(scene.ask(Method::Get, "/x").await, (205, Some(0), "a".to_owned()));
    assert_eq!(scene.ask(Method::Get, "/x").await, (205, Some(5), "a".to_owned()));
    assert_eq!(scene.ask(Method::Get, "/x").await, (205, Some(5), "a".to_owned()));
    scene.clock.forward(5);
    assert_eq!(scene.ask(Method::Get, "/x").await, (205, None, "b".to_owned()));
    let tags = lock(&scene.heard).iter().map(|request| request.contains("if-none-match: \"1\"")).collect::<Vec<_>>();
    assert_eq!(tags, [false, true, true]);
}

#[tokio::test]
async fn a_revalidated_response_keeps_its_headers_and_sends_no_body() {
    let scene = scene(
        &[&[
            "HTTP/1.1 200 OK\r\ncache-control: max-age=10\r\nage: 4\r\netag: \"1\"\r\ncontent-length: 1\r\n\r\na",
            "HTTP/1.1 304 Not Modified\r\n\r\n",
            "HTTP/1.1 304 Not Modified\r\netag: \"2\"\r\n\r\n",
            B,
        ]],
        true,
        LONG,
    )
    .await;
    for (fresh_for, forward) in [(6, 6), (10, 9), (1, 1), (10, 10)] {
        assert_eq!(scene.ask(Method::Get, "/x").await, (205, Some(fresh_for), "a".to_owned()));
        scene.clock.forward(forward);
    }
    assert_eq!(scene.ask(Method::Get, "/x").await, (205, None, "b".to_owned()));
    let tag = |request: &String| request.split_once("if-none-match: ").map(|(_, rest)| rest[..3].to_owned());
    let tags: Vec<_> = lock(&scene.heard).iter().map(tag).collect();
    assert_eq!(tags, [None, Some("\"1\"".to_owned()), Some("\"1\"".to_owned()), Some("\"2\"".to_owned())]);
}

#[tokio::test]
async fn concurrent_clients_have_separate_connections() {
    let scene = scene(&[&[A, A], &[A, A], &[A, A]], false, LONG).await;
    for _ in 0..2 {
        let answers = join_all((0..3).map(|_| scene.ask(Method::Get, "/x"))).await;
        assert!(answers.iter().all(|(status, _, body)| (*status, &**body) == (205, "a")), "{answers:?}");
    }
    assert_eq!(scene.rows.taken().iter().filter(|row| row.connection_reused).count(), 3);
}
