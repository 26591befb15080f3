//! HTTP/2 (RFC 9113), over TLS and in the clear: descriptors and roles. Frames are written by the crate h2.

mod bodies;
mod page;
mod push;
mod tuning;

use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex};

use ::http::{Request, Response};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use h2::client::SendRequest;
use h2::server::SendResponse;
use h2::{Reason, RecvStream, StreamId};
use tokio::io::BufWriter;
use tokio::task::JoinSet;
use wirelab_schema::{Role, Timing, WaitKind};

use crate::base::attempt::{Attempt, ExchangeError};
use crate::base::description;
use crate::base::settings::Settings;
use crate::http::{self, Answers, Get, MESSAGES, Origin, Requests};
use crate::page::hints::{self, EARLY_HINTS, PUSH};
use crate::page::{CONCURRENT_STREAMS, Fetch, Site, load_pages};
use crate::transport::socket::{self, Socket, TcpOptions};
use crate::transport::stream::{Dialer, Security, Stream, serve};
use crate::transport::task::Task;
use crate::transport::tls;
use crate::wire::h2_stamps::H2Stamps;
use crate::wire::settings_in_force::{Connections, Http2Watch};
use crate::wire::tap::Tap;
use crate::workload::{Client, Work, after_timeout_setting, drive, listen};
use crate::{Clock, Context, Descriptor, Stack, StackError};
use bodies::Bodies;
use push::PushSubscriber;
use tuning::Tuning;

/// HTTP/2 (RFC 9113) over TLS.
pub const H2: Http2 = Http2 { secure: true };
/// HTTP/2 in the clear, with prior knowledge.
pub const H2C: Http2 = Http2 { secure: false };

/// Frames written together leave together, as one TLS record of the largest size at most. Without, the connection preface alone fills a segment.
const WRITE_BUFFER_BYTES: usize = 16 * 1024;

/// HTTP/2, with or without TLS.
pub struct Http2 {
    secure: bool,
}

impl Stack for Http2 {
    fn descriptor(&self) -> Descriptor {
        let mut settings = socket::tcp_settings().to_vec();
        settings.extend([
            after_timeout_setting(),
            http::notification_setting(true),
            http::date_setting(),
            hints::setting(&[EARLY_HINTS, PUSH]),
        ]);
        settings.extend(tuning::settings());
        if self.secure {
            settings.push(tls::version_setting());
            settings.extend(tls::common_settings());
        }
        let about = "HTTP/2 (RFC 9113). Exchanges share a persistent connection as concurrent streams. The client does not wait for the server's \
                     SETTINGS. Flow-control windows are the RFC's initial 65,535 bytes for stream and connection, in `page` Chromium's 6 MiB and \
                     15 MiB, unless they are given; what was announced is read off each connection. The server pushes only if `notification` or `hints` says so, and sends a page's bodies by their priority (RFC \
                     9218). The first response byte is the first HEADERS frame of the stream.";
        Descriptor {
            name: if self.secure { "h2" } else { "h2c" }.to_owned(),
            title: if self.secure { "HTTP/2 over TLS over TCP" } else { "HTTP/2 over TCP" }.to_owned(),
            about: match self.secure {
                true => format!("{about} {MESSAGES} {} {}", tls::TICKETS, tls::RECORDS),
                false => format!("{about} Starts with prior knowledge (section 3.3). {MESSAGES}"),
            },
            libraries: description::libraries(if self.secure { &["h2", "rustls", "ring"] } else { &["h2"] }),
            transport: "tcp".to_owned(),
            default_port: if self.secure { 8443 } else { 8080 },
            secure: self.secure,
            echo: false,
            http_version: Some("2".to_owned()),
            success: Some(http::SUCCESS),
            topics: None,
            timing: Timing { flow_control: Some(tuning::flow_control()), ..description::over_tcp(self.secure) },
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
            let security = secure.then_some(Security { alpn: "h2", settings: &settings });
            let tcp = TcpOptions::of(&settings);
            let work = Work::of(&context.parameters.workload);
            let loads_pages = matches!(work, Work::Page(_));
            let push = match work {
                Work::Page(_) => settings.choice("hints") == PUSH,
                Work::Changes(_) | Work::Exchanges(_) => settings.choice("notification") == "push",
            };
            let tuning = Tuning::of(&settings);
            if push && !tuning.takes_pushes(push) {
                return Err(StackError::Usage("`enable-push` is 0, and a setting asks for pushes".to_owned()));
            }
            let connections = Connections::new(&context.parameters.output);
            let ended = match role {
                Role::Server => {
                    let answers = Answers::new(&context, &settings)?;
                    let side = ServerSide {
                        answers,
                        push,
                        clock: context.clock.clone(),
                        tuning,
                        connections: connections.clone(),
                    };
                    serve(context, tcp, security, move |stream| answer(stream, side.clone())).await
                }
                Role::Client => {
                    let origin = Origin::new(&context.parameters, Some(if secure { "https" } else { "http" }));
                    let connector = |context: &Context| {
                        let dialer = Dialer::new(&context.parameters, tcp, security)?;
                        let (clock, connections) = (context.clock.clone(), connections.clone());
                        Ok::<_, StackError>(Connector { dialer, clock, push, loads_pages, tuning, connections })
                    };
                    ask(context, &settings, origin, push, connector).await
                }
                role => Err(StackError::no_role(&descriptor, role)),
            };
            connections.write()?;
            ended
        })
    }
}

/// Plays the client.
async fn ask(
    context: Context,
    settings: &Settings,
    origin: Origin,
    push: bool,
    connector: impl Fn(&Context) -> Result<Connector, StackError>,
) -> Result<(), StackError> {
    match Work::of(&context.parameters.workload) {
        Work::Page(_) => load_pages(context, origin, connector).await,
        Work::Changes(work) if push && work.wait.way() != Some(WaitKind::Poll) => {
            let subscriber = |context: &Context, _| {
                let (connector, origin) = (connector(context)?, origin.clone());
                Ok(PushSubscriber { connector, origin, received: AtomicU32::new(0) })
            };
            listen(context, subscriber).await
        }
        Work::Changes(_) => http::wait_for_changes(context, settings, origin, connector).await,
        Work::Exchanges(_) => {
            let requests = Requests::new(&context.parameters, origin);
            let client =
                |context: &Context, _| Ok(Http2Client { connector: connector(context)?, requests: requests.clone() });
            drive(context, client).await
        }
    }
}

struct Connector {
    dialer: Dialer,
    clock: Arc<dyn Clock>,
    /// The server may push.
    push: bool,
    loads_pages: bool,
    tuning: Tuning,
    connections: Connections,
}

#[derive(Clone)]
struct Connection {
    sender: SendRequest<Bytes>,
    stamps: Arc<Mutex<H2Stamps>>,
    socket: Socket,
    task: Arc<Task>,
}

impl Get for Connector {
    type Connection = Connection;
    type Body = RecvStream;

    async fn connect(&self, attempt: &mut Attempt) -> Result<Connection, ExchangeError> {
        let (socket, stream) = self.dialer.dial(attempt).await?;
        let stamps = Arc::new(Mutex::new(H2Stamps::new()));
        let watched = Tap::new(stream, self.connections.watch(Http2Watch::of_client()), self.clock.clone());
        let tap = Tap::new(watched, stamps.clone(), self.clock.clone());
        let buffered = BufWriter::with_capacity(WRITE_BUFFER_BYTES, tap);
        let mut builder = h2::client::Builder::new();
        builder.enable_push(self.push);
        if self.loads_pages {
            page::grant(&mut builder);
        }
        self.tuning.client(&mut builder);
        let (sender, connection) = builder.handshake(buffered).await?;
        // How the connection ends is seen by the exchanges that it carries.
        let task = Arc::new(Task::spawn(async { drop(connection.await) }));
        Ok(Connection { sender, stamps, socket, task })
    }

    async fn get(
        &self,
        connection: &mut Connection,
        request: Request<()>,
    ) -> Result<Response<RecvStream>, ExchangeError> {
        let mut sender = connection.sender.clone().ready().await?;
        Ok(sender.send_request(request, true)?.0.await?)
    }

    async fn data(&self, body: &mut RecvStream) -> Result<Option<Bytes>, ExchangeError> {
        Ok(next_data(body).await?)
    }

    /// The task sends GOAWAY and closes once the last sender is gone.
    async fn close(&self, connection: Connection) {
        let Connection { sender, task, .. } = connection;
        drop(sender);
        if let Some(task) = Arc::into_inner(task) {
            task.finish().await;
        }
    }
}

impl Connection {
    /// Has the exchange record the stamps of its stream.
    fn stamp(&self, stream: StreamId, attempt: &mut Attempt) {
        let stamps = self.stamps.clone();
        attempt.at_end(move |exchange| stamps.lock().expect("no holder panics").take(stream.as_u32(), exchange));
    }
}

struct Http2Client {
    connector: Connector,
    requests: Requests,
}

impl Client for Http2Client {
    type Connection = Connection;

    async fn connect(&self, attempt: &mut Attempt) -> Result<Connection, ExchangeError> {
        self.connector.connect(attempt).await
    }

    async fn exchange(&self, connection: &mut Connection, attempt: &mut Attempt) -> Result<(), ExchangeError> {
        if attempt.exchange.connection_reused {
            connection.socket.observe(attempt);
        }
        let mut sender = connection.sender.clone().ready().await?;
        let upload = self.requests.upload.clone();
        let (response, mut request_body) =
            sender.send_request(self.requests.head(&attempt.exchange)?, upload.is_empty())?;
        connection.stamp(response.stream_id(), attempt);
        if !upload.is_empty() {
            request_body.send_data(upload, true)?;
        }
        let response = response.await?;
        let mut check = self.requests.expect(&response, &mut attempt.exchange);
        let mut body = response.into_body();
        while let Some(bytes) = next_data(&mut body).await? {
            attempt.exchange.body_received_bytes += bytes.len() as u64;
            check.take(&bytes);
        }
        self.requests.judge(check, &attempt.exchange)
    }

    fn share(&self, connection: &Connection) -> Option<Connection> {
        Some(connection.clone())
    }

    fn is_usable(&self, connection: &Connection) -> bool {
        self.connector.is_usable(connection)
    }

    async fn close(&self, connection: Connection) {
        self.connector.close(connection).await;
    }
}

/// The next part of a body, given back to flow control at once.
async fn next_data(body: &mut RecvStream) -> Result<Option<Bytes>, h2::Error> {
    let Some(bytes) = body.data().await.transpose()? else { return Ok(None) };
    body.flow_control().release_capacity(bytes.len())?;
    Ok(Some(bytes))
}

/// What a server's connections have in common.
#[derive(Clone)]
struct ServerSide {
    answers: Answers,
    push: bool,
    clock: Arc<dyn Clock>,
    tuning: Tuning,
    connections: Connections,
}

async fn answer(stream: Box<dyn Stream>, side: ServerSide) {
    let ServerSide { answers, push, clock, tuning, connections } = side;
    let watched = Tap::new(stream, connections.watch(Http2Watch::of_server()), clock.clone());
    let mut builder = h2::server::Builder::new();
    let (stream, page): (Box<dyn Stream>, _) = match answers.site() {
        None => (Box::new(watched), None),
        Some(site) => {
            builder.max_concurrent_streams(CONCURRENT_STREAMS);
            let (bodies, written) = Bodies::new();
            (Box::new(Tap::new(watched, written, clock)), Some((site.clone(), Arc::new(bodies))))
        }
    };
    tuning.server(&mut builder);
    let buffered = BufWriter::with_capacity(WRITE_BUFFER_BYTES, stream);
    // A connection that breaks is the client's to report.
    let Ok(mut connection) = builder.handshake(buffered).await else { return };
    let mut streams = JoinSet::new();
    loop {
        tokio::select! {
            accepted = connection.accept() => match accepted {
                Some(Ok((request, respond))) => {
                    let pushes = if push { connection.max_concurrent_send_streams() } else { 0 };
                    streams.spawn(read_and_answer(request, respond, answers.clone(), pushes, page.clone()));
                }
                Some(Err(_)) | None => return,
            },
            Some(_) = streams.join_next() => {}
        }
    }
}

/// `pushes` is how many responses may be pushed with the answer.
async fn read_and_answer(
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
    answers: Answers,
    pushes: usize,
    page: Option<(Arc<Site>, Arc<Bodies>)>,
) {
    let waiting = if pushes > 0 { answers.wait(&request) } else { None };
    let answered = match (waiting, page) {
        (Some(waiting), _) => push::push(&request, &mut respond, waiting, answers.dates()).await,
        (None, Some((site, bodies))) => page::answer(&request, &mut respond, &site, pushes, &bodies),
        (None, None) => try_answer(request, &mut respond, &answers).await,
    };
    if answered.is_err() {
        respond.send_reset(Reason::INTERNAL_ERROR);
    }
}

async fn try_answer(
    request: Request<RecvStream>,
    respond: &mut SendResponse<Bytes>,
    answers: &Answers,
) -> Result<(), h2::Error> {
    let mut pending = answers.take(&request);
    let mut body = request.into_body();
    while let Some(bytes) = next_data(&mut body).await? {
        pending.take(&bytes);
    }
    let (head, mut body) = pending.answer().await.into_parts();
    let ended = body.length() == Some(0);
    let mut stream = respond.send_response(Response::from_parts(head, ()), ended)?;
    if ended {
        return Ok(());
    }
    let ends = body.length().is_some();
    while let Some(bytes) = body.next().await {
        stream.send_data(bytes, ends)?;
    }
    Ok(())
}
