//! HTTP/1.1 (RFC 9112), in the clear and over TLS: descriptors and roles. Messages are written and parsed by hyper.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ::http::header::EXPECT;
use ::http::response::Parts;
use ::http::{HeaderValue, Request, Response};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::client::conn::http1 as client;
use hyper::server::conn::http1 as server;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::sync::Notify;
use wirelab_schema::{Exchange, Role, SettingDescription, Timing};

use crate::base::attempt::{Attempt, ExchangeError};
use crate::base::description;
use crate::base::settings::{self, Settings};
use crate::http::{self, Answers, Body, Get, MESSAGES, Origin, Requests};
use crate::page::{self, Fetch, Part, Rules, hints, load_pages};
use crate::transport::socket::{self, Socket, TcpOptions};
use crate::transport::stream::{Dialer, Security, Stream, serve};
use crate::transport::task::Task;
use crate::transport::tls;
use crate::wire::h1_stamps::H1Stamps;
use crate::wire::tap::Tap;
use crate::workload::{Client, Work, drive};
use crate::{Clock, Context, Descriptor, Stack, StackError};

/// HTTP/1.1 (RFC 9112) in the clear.
pub const HTTP1: Http1 = Http1 { secure: false };
/// HTTP/1.1 over TLS.
pub const HTTPS1: Http1 = Http1 { secure: true };

/// How long a client waits for `100 Continue` before it sends the body anyway, as curl does (RFC 9110, section 10.1.1 leaves it open).
const CONTINUE_WAIT: Duration = Duration::from_secs(1);
/// Fields of a response that a client of pages takes: a document may have a `Link` for each resource, more than the library's 100.
const PAGE_FIELDS: usize = 2048;

/// HTTP/1.1, with or without TLS.
pub struct Http1 {
    secure: bool,
}

impl Stack for Http1 {
    fn descriptor(&self) -> Descriptor {
        let mut settings = socket::tcp_settings().to_vec();
        settings.extend([
            expect_setting(),
            http::notification_setting(false),
            http::date_setting(),
            hints::setting(&[]),
        ]);
        if self.secure {
            settings.push(tls::version_setting());
            settings.extend(tls::common_settings());
        }
        let about = "HTTP/1.1 (RFC 9112), one exchange at a time on a connection; a new connection carries one and is closed by the client.";
        Descriptor {
            name: if self.secure { "https1" } else { "http1" }.to_owned(),
            title: if self.secure { "HTTP/1.1 over TLS over TCP" } else { "HTTP/1.1 over TCP" }.to_owned(),
            about: match self.secure {
                true => format!("{about} {MESSAGES} {} {}", tls::TICKETS, tls::RECORDS),
                false => format!("{about} {MESSAGES}"),
            },
            libraries: description::libraries(if self.secure { &["hyper", "rustls", "ring"] } else { &["hyper"] }),
            transport: "tcp".to_owned(),
            default_port: if self.secure { 8443 } else { 8080 },
            secure: self.secure,
            echo: false,
            http_version: Some("1.1".to_owned()),
            success: Some(http::SUCCESS),
            topics: None,
            timing: Timing { sequential: true, ..description::over_tcp(self.secure) },
            roles: vec![Role::Client, Role::Server],
            workloads: http::kinds(),
            waits: http::waits(),
            settings,
        }
    }

    fn run(&self, role: Role, context: Context) -> BoxFuture<'static, Result<(), StackError>> {
        let (descriptor, secure) = (self.descriptor(), self.secure);
        Box::pin(async move {
            let settings = Settings::resolve(&descriptor, &context.parameters.settings)?;
            let security = secure.then_some(Security { alpn: "http/1.1", settings: &settings });
            let tcp = TcpOptions::of(&settings);
            match role {
                Role::Server => {
                    let answers = Answers::new(&context, &settings)?;
                    serve(context, tcp, security, move |stream| answer(stream, answers.clone())).await
                }
                Role::Client => {
                    let origin = Origin::new(&context.parameters, None);
                    let work = Work::of(&context.parameters.workload);
                    let loads_pages = matches!(work, Work::Page(_));
                    let connector = |context: &Context| {
                        let dialer = Dialer::new(&context.parameters, tcp, security)?;
                        Ok::<_, StackError>(Connector { dialer, clock: context.clock.clone(), loads_pages })
                    };
                    match work {
                        Work::Changes(_) => {
                            return http::wait_for_changes(context, &settings, origin, connector).await;
                        }
                        Work::Page(_) => return load_pages(context, origin, connector).await,
                        Work::Exchanges(_) => {}
                    }
                    let requests = Requests::new(&context.parameters, origin);
                    let client = |context: &Context, _| {
                        let expect_continue = settings.boolean("expect-continue");
                        Ok(Http1Client { connector: connector(context)?, requests: requests.clone(), expect_continue })
                    };
                    drive(context, client).await
                }
                role => Err(StackError::no_role(&descriptor, role)),
            }
        })
    }
}

fn expect_setting() -> SettingDescription {
    settings::boolean(
        "expect-continue",
        false,
        "The client sends `Expect: 100-continue` with an upload and holds the body back until the server asks for it, or for 1 s (RFC 9110, \
         section 10.1.1).",
    )
}

type UploadBody = UnsyncBoxBody<Bytes, Infallible>;

struct Connector {
    dialer: Dialer,
    clock: Arc<dyn Clock>,
    loads_pages: bool,
}

struct Connection {
    sender: client::SendRequest<UploadBody>,
    stamps: Arc<Mutex<H1Stamps>>,
    socket: Socket,
    task: Task,
}

impl Get for Connector {
    type Connection = Connection;
    type Body = Incoming;

    async fn connect(&self, attempt: &mut Attempt) -> Result<Connection, ExchangeError> {
        let (socket, stream) = self.dialer.dial(attempt).await?;
        let stamps = Arc::new(Mutex::new(H1Stamps::default()));
        let tap = Tap::new(stream, stamps.clone(), self.clock.clone());
        let mut builder = client::Builder::new();
        if self.loads_pages {
            builder.max_headers(PAGE_FIELDS);
        }
        let (sender, connection) = builder.handshake(TokioIo::new(tap)).await?;
        // How the connection ends is seen by the exchange that it carries.
        let task = Task::spawn(async { drop(connection.await) });
        Ok(Connection { sender, stamps, socket, task })
    }

    async fn get(
        &self,
        connection: &mut Connection,
        request: Request<()>,
    ) -> Result<Response<Incoming>, ExchangeError> {
        connection.sender.ready().await?;
        let request = request.map(|()| Full::new(Bytes::new()).boxed_unsync());
        Ok(connection.sender.send_request(request).await?)
    }

    async fn data(&self, body: &mut Incoming) -> Result<Option<Bytes>, ExchangeError> {
        while let Some(frame) = body.frame().await {
            if let Ok(bytes) = frame?.into_data() {
                return Ok(Some(bytes));
            }
        }
        Ok(None)
    }

    async fn close(&self, connection: Connection) {
        drop(connection.sender);
        connection.task.finish().await;
    }
}

impl Fetch for Connector {
    type Answer = Answer;
    type Promise = Infallible;

    const RULES: Rules = page::HTTP1;

    fn share(&self, _connection: &Connection) -> Option<Connection> {
        None
    }

    fn is_usable(&self, connection: &Connection) -> bool {
        !connection.sender.is_closed()
    }

    async fn send(
        &self,
        connection: &mut Connection,
        request: Request<()>,
        attempt: &mut Attempt,
    ) -> Result<Answer, ExchangeError> {
        connection.begin(attempt);
        let (head, body) = self.get(connection, request).await?.into_parts();
        Ok(Answer { head: Some(head), body })
    }

    async fn next(
        &self,
        answer: &mut Answer,
        _attempt: &mut Attempt,
    ) -> Result<Option<Part<Infallible>>, ExchangeError> {
        match answer.head.take() {
            Some(head) => Ok(Some(Part::Head(head.status, head.headers))),
            None => Ok(self.data(&mut answer.body).await?.map(Part::Data)),
        }
    }

    fn pushed(&self, promise: Infallible) -> Answer {
        match promise {}
    }
}

/// A response, and whether its head has been read.
struct Answer {
    head: Option<Parts>,
    body: Incoming,
}

impl Connection {
    /// Has the exchange record the stamps of the next request; the answer is notified at its first response.
    fn begin(&self, attempt: &mut Attempt) -> Arc<Notify> {
        let responded = self.stamps.lock().expect("no holder panics").begin();
        let stamps = self.stamps.clone();
        attempt.at_end(move |exchange| stamps.lock().expect("no holder panics").copy_to(exchange));
        responded
    }
}

struct Http1Client {
    connector: Connector,
    requests: Requests,
    expect_continue: bool,
}

impl Client for Http1Client {
    type Connection = Connection;

    async fn connect(&self, attempt: &mut Attempt) -> Result<Connection, ExchangeError> {
        self.connector.connect(attempt).await
    }

    async fn exchange(&self, connection: &mut Connection, attempt: &mut Attempt) -> Result<(), ExchangeError> {
        if attempt.exchange.connection_reused {
            connection.socket.observe(attempt);
        }
        let responded = connection.begin(attempt);
        connection.sender.ready().await?;
        let response = connection.sender.send_request(self.request(&attempt.exchange, responded)?).await?;
        let mut check = self.requests.expect(&response, &mut attempt.exchange);
        let mut body = response.into_body();
        while let Some(bytes) = self.connector.data(&mut body).await? {
            attempt.exchange.body_received_bytes += bytes.len() as u64;
            check.take(&bytes);
        }
        self.requests.judge(check, &attempt.exchange)
    }

    fn is_usable(&self, connection: &Connection) -> bool {
        self.connector.is_usable(connection)
    }

    async fn close(&self, connection: Connection) {
        self.connector.close(connection).await;
    }
}

impl Http1Client {
    fn request(&self, exchange: &Exchange, responded: Arc<Notify>) -> Result<Request<UploadBody>, ::http::Error> {
        let head = self.requests.head(exchange)?;
        let upload = self.requests.upload.clone();
        if upload.is_empty() || !self.expect_continue {
            return Ok(head.map(|()| Full::new(upload).boxed_unsync()));
        }
        let closing = futures_util::stream::once(async move {
            let _ = tokio::time::timeout(CONTINUE_WAIT, responded.notified()).await;
            Ok(Frame::data(upload))
        });
        let mut request = head.map(|()| StreamBody::new(closing).boxed_unsync());
        request.headers_mut().insert(EXPECT, HeaderValue::from_static("100-continue"));
        Ok(request)
    }
}

async fn answer(stream: Box<dyn Stream>, answers: Answers) {
    let service = service_fn(|request: Request<Incoming>| {
        let answers = answers.clone();
        async move { read_and_answer(request, answers).await }
    });
    // A connection that breaks is the client's to report.
    let _ = server::Builder::new().auto_date_header(false).serve_connection(TokioIo::new(stream), service).await;
}

async fn read_and_answer(
    request: Request<Incoming>,
    answers: Answers,
) -> Result<Response<UnsyncBoxBody<Bytes, Infallible>>, hyper::Error> {
    let mut pending = answers.take(&request);
    let mut body = request.into_body();
    while let Some(frame) = body.frame().await {
        if let Some(bytes) = frame?.data_ref() {
            pending.take(bytes);
        }
    }
    Ok(pending.answer().await.map(|body| match body {
        Body::Whole(bytes) => Full::new(bytes).boxed_unsync(),
        Body::Events(events) => {
            let frames = futures_util::stream::unfold(events, async |mut events| {
                Some((Ok(Frame::data(events.next().await)), events))
            });
            StreamBody::new(frames).boxed_unsync()
        }
    }))
}
