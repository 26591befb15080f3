//! Pages that are not as their manifest says, and servers that do not behave.

use bytes::Bytes;
use h2::Reason;
use http::Response;
use tokio::net::TcpStream;
use wirelab_stacks::StackError;

use super::*;

#[tokio::test]
async fn a_file_that_is_not_there_is_named() {
    for descriptor in descriptors(does(PAGE)) {
        let stack = &descriptor.name;
        let (lab, work) = page_lab(1, LONG);
        fs::remove_file(lab.folder().join("site/4.jpg")).expect("removed");
        let (exchanges, rows) = load_all(&lab, stack, &work, "none").await;
        assert_eq!(exchanges[0].outcome, Outcome::Failed, "{stack}");
        assert_eq!(exchanges[0].error.as_deref(), Some("not loaded: /4.jpg (status 404)"), "{stack}");
        let failed: Vec<_> = rows.iter().filter(|row| row.outcome != Outcome::Completed).collect();
        assert_eq!((rows.len(), failed.len(), failed[0].status), (RESOURCES.len(), 1, Some(404)), "{stack}");
    }
}

#[tokio::test]
async fn a_file_that_was_changed_is_named() {
    let (lab, work) = page_lab(1, LONG);
    fs::write(lab.folder().join("site/4.jpg"), vec![7; 40_000]).expect("written");
    let (exchanges, _) = load_all(&lab, "h2c", &work, "none").await;
    let error = exchanges[0].error.as_deref().expect("an error");
    assert!(error.starts_with("not loaded: /4.jpg (body's SHA-256 is"), "{error}");
}

#[tokio::test]
async fn a_manifest_that_is_not_the_workloads_page_is_a_usage_error() {
    let (lab, mut work) = page_lab(1, LONG);
    work.page.resources += 1;
    for descriptor in descriptors(does(PAGE)) {
        let stack = &descriptor.name;
        let (context, _stopper, _) = lab.client_context(stack, 1, work.clone(), &[]);
        let error = wirelab_stacks::run(context).await.expect_err("refused");
        assert!(matches!(error, StackError::Usage(_)), "{error}");
        let error = error.to_string();
        assert!(error.contains("has 12 resources of 287101 bytes; the workload's page has 13"), "{error}");
    }
}

#[tokio::test]
async fn a_response_that_never_ends_is_named_when_time_is_up() {
    let (lab, work) = page_lab(2, 400_000_000);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("bound");
    let port = listener.local_addr().expect("bound").port();
    let folder = lab.folder().join("site");
    let server = tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.expect("accepted");
            tokio::spawn(half_answer(stream, folder.clone()));
        }
    });
    let (exchanges, rows) = load(&lab, "http1", port, &work, "none").await;
    server.abort();
    for exchange in &exchanges {
        assert_eq!(exchange.outcome, Outcome::TimedOut);
        assert_eq!(exchange.error.as_deref(), Some("open: /1.jpg"));
        assert!(exchange.end_ns - exchange.start_ns >= work.timeout_ns);
    }
    let open: Vec<_> = rows.iter().filter(|row| row.outcome == Outcome::TimedOut).collect();
    assert_eq!((exchanges.len(), open.len(), open[0].path.as_str()), (2, 2, "/1.jpg"));
    assert_eq!((open[0].status, open[0].body_received_bytes), (Some(200), 35_000));
    assert!(open[0].request_start_ns.is_some() && open[0].first_response_byte_ns.is_some());
}

#[tokio::test]
async fn unwanted_pushes_are_wasted_and_fail_nothing() {
    let (lab, work) = page_lab(1, LONG);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("bound");
    let port = listener.local_addr().expect("bound").port();
    let folder = lab.folder().join("site");
    let server = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.expect("accepted");
        let mut connection = h2::server::handshake(stream).await.expect("a preface");
        while let Some(accepted) = connection.accept().await {
            let (request, mut respond) = accepted.expect("a request");
            let mut pushed = Vec::new();
            if request.uri().path() == "/index.html" {
                for path in ["/unknown?x", "/index.html", "/2.jpg"] {
                    let uri = format!("http://server.test{path}");
                    let promise = http::Request::get(uri).body(()).expect("a request");
                    pushed.push((path, respond.push_request(promise).expect("promised")));
                }
            }
            let name = request.uri().path().replace("%20", " ").replace("%C3%A4", "ä");
            let body = fs::read(folder.join(&name[1..])).expect("a file");
            respond.send_response(Response::new(()), false).expect("sent").send_data(body.into(), true).expect("sent");
            for (path, mut stream) in pushed {
                let body = fs::read(folder.join(&path[1..])).map_or(Bytes::from_static(b"no page"), Bytes::from);
                let mut stream = stream.send_response(Response::new(()), false).expect("sent");
                stream.send_data(body, true).expect("sent");
            }
        }
    });
    let (exchanges, rows) = load(&lab, "h2c", port, &work, "push").await;
    server.abort();
    assert_eq!(exchanges[0].outcome, Outcome::Completed, "{:?}", exchanges[0].error);
    let wasted: Vec<_> = rows.iter().filter(|row| row.resource.is_none()).collect();
    let paths: Vec<&str> = wasted.iter().map(|row| row.path.as_str()).collect();
    assert_eq!(paths, ["/unknown?x", "/index.html"]);
    let bytes: u64 = wasted.iter().map(|row| row.body_received_bytes).sum();
    // The load does not wait for what it does not want.
    assert!(wasted.iter().all(|row| row.outcome != Outcome::TimedOut), "{wasted:?}");
    assert!(bytes <= 7 + 30_000, "{bytes}");
    assert_eq!(of_page(&exchanges[0]).wasted_pushed_bytes, Some(bytes));
    assert_eq!(of_page(&exchanges[0]).pushed_bytes, Some(bytes + 1));
    let small = rows.iter().find(|row| row.path == "/2.jpg").expect("a row");
    assert_eq!((small.pushed, small.found_by, small.request_start_ns), (true, FoundBy::Push, None));
}

/// A document that names a stylesheet, which names a font and an image.
const CHAIN: [Described; 4] = [
    ("/index.html", 100, "document", None, 0, true),
    ("/a.css", 100, "stylesheet", Some(0), 50, true),
    ("/f.woff2", 100, "font", Some(1), 100, false),
    ("/1.jpg", 100, "image", Some(1), 100, false),
];

/// What a server of HTTP/2 does with a request.
#[derive(Clone, Copy, PartialEq)]
enum Deed {
    Answer,
    /// And says no more of it.
    AnswerHalf,
    /// And takes no more requests on the connection.
    AnswerLast,
    /// Promises to push the stylesheet, and takes that back.
    TakeBackAndAnswer,
    HangUp,
}

/// The port of a server that does what `deed` says of the number of a connection and the path that is asked for on it.
async fn misbehaving(lab: &Lab, deed: fn(usize, &str) -> Deed) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("bound");
    let port = listener.local_addr().expect("bound").port();
    let folder = lab.folder().join("site");
    tokio::spawn(async move {
        for number in 0.. {
            let (stream, _) = listener.accept().await.expect("accepted");
            tokio::spawn(misbehave(stream, folder.clone(), number, deed));
        }
    });
    port
}

async fn misbehave(stream: TcpStream, folder: PathBuf, number: usize, deed: fn(usize, &str) -> Deed) {
    let mut connection = h2::server::handshake(stream).await.expect("a preface");
    let (mut open, mut promised) = (Vec::new(), Vec::new());
    while let Some(Ok((request, mut respond))) = connection.accept().await {
        let path = request.uri().path();
        let body = Bytes::from(fs::read(folder.join(&path[1..])).expect("a file"));
        let deed = deed(number, path);
        match deed {
            Deed::HangUp => return,
            Deed::AnswerLast => connection.graceful_shutdown(),
            Deed::TakeBackAndAnswer => {
                let promise = http::Request::get("http://server.test/a.css").body(()).expect("a request");
                let mut pushed = respond.push_request(promise).expect("promised");
                pushed.send_reset(Reason::REFUSED_STREAM);
                promised.push(pushed);
            }
            Deed::Answer | Deed::AnswerHalf => {}
        }
        let mut stream = respond.send_response(Response::new(()), false).expect("sent");
        if deed == Deed::AnswerHalf {
            stream.send_data(body.slice(..body.len() / 2), false).expect("sent");
            open.push(stream);
        } else {
            stream.send_data(body, true).expect("sent");
        }
    }
}

#[tokio::test]
async fn a_connection_that_takes_no_more_requests_is_followed_by_another() {
    let (lab, work) = lab_of(&CHAIN, 1, LONG);
    let deed = |number, path: &str| if (number, path) == (0, "/a.css") { Deed::AnswerLast } else { Deed::Answer };
    let port = misbehaving(&lab, deed).await;
    let (exchanges, rows) = load(&lab, "h2c", port, &work, "none").await;
    assert_eq!(exchanges[0].outcome, Outcome::Completed, "{:?}", exchanges[0].error);
    let connections: Vec<_> = rows.iter().map(|row| row.connection).collect();
    assert_eq!(connections, [Some(0), Some(0), Some(1), Some(1)]);
    assert_eq!(of_page(&exchanges[0]).connections, Some(2));
}

#[tokio::test]
async fn requests_that_a_connection_broke_under_are_sent_once_more() {
    let (lab, work) = lab_of(&CHAIN, 1, LONG);
    let once = |number, path: &str| match (number, path) {
        (0, "/f.woff2" | "/1.jpg") => Deed::HangUp,
        _ => Deed::Answer,
    };
    let port = misbehaving(&lab, once).await;
    let (exchanges, _) = load(&lab, "h2c", port, &work, "none").await;
    assert_eq!(exchanges[0].outcome, Outcome::Completed, "{:?}", exchanges[0].error);
    let always = |_, path: &str| match path {
        "/f.woff2" | "/1.jpg" => Deed::HangUp,
        _ => Deed::Answer,
    };
    let port = misbehaving(&lab, always).await;
    let (exchanges, rows) = load(&lab, "h2c", port, &work, "none").await;
    assert_eq!((exchanges[0].outcome, of_page(&exchanges[0]).connections), (Outcome::Failed, Some(2)));
    let failed: Vec<_> = rows.iter().filter(|row| row.outcome == Outcome::Failed).map(|row| &row.path[..]).collect();
    assert_eq!(failed, ["/f.woff2", "/1.jpg"]);
}

#[tokio::test]
async fn a_cancelled_push_is_requested() {
    let (lab, work) = lab_of(&CHAIN, 1, LONG);
    let deed = |_, path: &str| if path == "/index.html" { Deed::TakeBackAndAnswer } else { Deed::Answer };
    let port = misbehaving(&lab, deed).await;
    let (exchanges, rows) = load(&lab, "h2c", port, &work, "push").await;
    assert_eq!(exchanges[0].outcome, Outcome::Completed, "{:?}", exchanges[0].error);
    assert_eq!((of_page(&exchanges[0]).pushed_bytes, of_page(&exchanges[0]).wasted_pushed_bytes), (Some(0), Some(0)));
    let of_stylesheet: Vec<_> = rows.iter().filter(|row| row.path == "/a.css").collect();
    let [pushed, asked] = &of_stylesheet[..] else { panic!("{rows:?}") };
    assert_eq!((pushed.pushed, pushed.resource, pushed.outcome), (true, None, Outcome::Failed));
    assert_eq!((asked.pushed, asked.resource, asked.outcome), (false, Some(1), Outcome::Completed));
    assert!(asked.request_start_ns.is_some());
}

#[tokio::test]
async fn a_client_that_disables_push_gets_the_whole_page() {
    let (lab, work) = lab_of(&CHAIN, 1, LONG);
    let server = lab.serve("h2c", work, &[("hints", "push".into())]).await;
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, server.port)).await.expect("connected");
    let mut builder = h2::client::Builder::new();
    let (mut sender, connection) = builder.enable_push(false).handshake::<_, Bytes>(stream).await.expect("a preface");
    tokio::spawn(connection);
    for (path, length, ..) in CHAIN {
        let request = http::Request::get(format!("http://server.test{path}")).body(()).expect("a request");
        let mut body = sender.send_request(request, true).expect("sent").0.await.expect("an answer").into_body();
        let mut received = 0;
        while let Some(part) = body.data().await {
            received += part.expect("some of it").len();
        }
        assert_eq!(received, length, "{path}");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_response_that_never_ends_over_a_shared_connection_is_named_when_time_is_up() {
    let (lab, work) = lab_of(&CHAIN, 2, 400_000_000);
    let deed = |_, path: &str| if path == "/1.jpg" { Deed::AnswerHalf } else { Deed::Answer };
    let port = misbehaving(&lab, deed).await;
    let (exchanges, rows) = load(&lab, "h2c", port, &work, "none").await;
    assert_eq!(exchanges.len(), 2);
    for exchange in &exchanges {
        assert_eq!((exchange.outcome, exchange.error.as_deref()), (Outcome::TimedOut, Some("open: /1.jpg")));
    }
    let open: Vec<_> = rows.iter().filter(|row| row.outcome == Outcome::TimedOut).collect();
    assert_eq!((open.len(), open[0].status, open[0].body_received_bytes), (2, Some(200), 50));
}
