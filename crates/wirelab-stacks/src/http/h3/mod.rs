//! HTTP/3 (RFC 9114): descriptor and roles. QUIC itself is in `transport::quic`.

mod fields;
mod streams;

use std::convert::Infallible;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ::http::{Request, Response};
use bytes::{Buf, Bytes};
use futures_util::future::BoxFuture;
use h3::client::{RequestStream, SendRequest};
use h3::error::Code;
use h3::quic as h3_quic;
use h3::server::RequestResolver;
use h3_quinn::{BidiStream, OpenStreams};
use tokio::task::JoinSet;
use wirelab_schema::{Role, Timing};

use crate::base::attempt::{Attempt, ExchangeError};
use crate::base::description;
use crate::base::settings::Settings;
use crate::http::{self, Answers, Get, MESSAGES, Origin, Requests};
use crate::page::hints::{self, EARLY_HINTS};
use crate::page::{self, Fetch, Part, Priority, Rules, load_pages};
use crate::transport::quic::{self, QuicDialer};
use crate::transport::task::Task;
use crate::transport::tickets::Ticket;
use crate::transport::tls;
use crate::wire::settings_in_force::Connections;
use crate::workload::{Client, Work, after_timeout_setting, drive};
use crate::{Context, Descriptor, Stack, StackError};
use streams::Priorities;

const ALPN: &str = "h3";
/// H3_NO_ERROR (RFC 9114, section 8.1).
const NO_ERROR: u32 = 0x100;

/// HTTP/3 (RFC 9114) over QUIC (RFC 9000).
pub struct H3;

impl Stack for H3 {
    fn descriptor(&self) -> Descriptor {
        Descriptor {
            name: "h3".to_owned(),
            title: "HTTP/3 over QUIC over UDP".to_owned(),
            about: format!(
                "HTTP/3 (RFC 9114) over QUIC (RFC 9000), whose handshake is TLS 1.3 (RFC 9001). Exchanges share a persistent connection as concurrent \
                 streams; each connection has a UDP socket of its own. QPACK uses the static table only; no grease, no server push. The window \
                 of a stream is the library's 1,250,000 bytes, in `page` Chromium's 6 MiB, and 15 MiB for the connection, unless they are given; the server sends a \
                 page's bodies by their priority (RFC 9218). No segmentation offload. A phase of sending is the hand-over to QUIC, which sends when congestion control lets it. {MESSAGES} {}",
                tls::TICKETS
            ),
            libraries: description::libraries(&["h3", "quinn", "rustls", "ring"]),
            transport: "udp".to_owned(),
            default_port: 8443,
            secure: true,
            echo: false,
            http_version: Some("3".to_owned()),
            success: Some(http::SUCCESS),
            topics: None,
            timing: Timing { flow_control: Some(quic::flow_control()), ..description::over_quic() },
            roles: vec![Role::Client, Role::Server],
            workloads: http::kinds(),
            waits: http::waits(),
            settings: [http::notification_setting(false), http::date_setting(), hints::setting(&[EARLY_HINTS])]
                .into_iter()
                .chain([after_timeout_setting()])
                .chain(tls::common_settings())
                .chain([tls::early_data_setting()])
                .chain(quic::quic_settings())
                .chain(quic::stream_settings())
                .collect(),
        }
    }

    fn run(&self, role: Role, context: Context) -> BoxFuture<'static, Result<(), StackError>> {
        let descriptor = self.descriptor();
        Box::pin(async move {
            let settings = Settings::resolve(&descriptor, &context.parameters.settings)?;
            let connections = context.clock.measures().then(|| Connections::new(&context.parameters.output));
            let ended = match role {
                Role::Server => serve(context, settings, connections.clone()).await,
                Role::Client => ask(context, Arc::new(settings), connections.clone()).await,
                role => Err(StackError::no_role(&descriptor, role)),
            };
            connections.map_or(Ok(()), |connections| connections.write())?;
            ended
        })
    }
}

/// Plays the client.
async fn ask(context: Context, settings: Arc<Settings>, connections: Option<Connections>) -> Result<(), StackError> {
    let origin = Origin::new(&context.parameters, Some("https"));
    let connector = |context: &Context| {
        let dialer = QuicDialer::new(&context.parameters, settings.clone(), ALPN, connections.clone())?;
        Ok::<_, StackError>(Connector { dialer })
    };
    match Work::of(&context.parameters.workload) {
        Work::Changes(_) => http::wait_for_changes(context, &settings, origin, connector).await,
        Work::Page(_) => load_pages(context, origin, connector).await,
        Work::Exchanges(_) => {
            let requests = Requests::new(&context.parameters, origin);
            let client =
                |context: &Context, _| Ok(Http3Client { connector: connector(context)?, requests: requests.clone() });
            drive(context, client).await
        }
    }
}

#[derive(Clone)]
struct Connection {
    sender: SendRequest<OpenStreams, Upload>,
    quic: quinn::Connection,
    local_port: Option<u16>,
    /// To wait for before it is closed.
    ticket: Option<Ticket>,
    _task: Arc<Task>,
}

/// A request's body that counts what QUIC has taken of it, so that the count holds though the exchange is given up midway.
struct Upload {
    body: Bytes,
    sent: Arc<AtomicU64>,
}

impl Buf for Upload {
    fn remaining(&self) -> usize {
        self.body.remaining()
    }

    fn chunk(&self) -> &[u8] {
        self.body.chunk()
    }

    fn advance(&mut self, bytes: usize) {
        self.body.advance(bytes);
        self.sent.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

struct Connector {
    dialer: QuicDialer,
}

impl Get for Connector {
    type Connection = Connection;
    type Body = RequestStream<BidiStream<Upload>, Upload>;

    async fn connect(&self, attempt: &mut Attempt) -> Result<Connection, ExchangeError> {
        let (quic, ticket) = self.dialer.dial(attempt).await?;
        let mut builder = h3::client::builder();
        let (mut driver, sender) = builder.send_grease(false).build(h3_quinn::Connection::new(quic.clone())).await?;
        // How the connection ends is seen by the exchanges that it carries.
        let task = Task::spawn(async move { drop(poll_fn(|cx| driver.poll_close(cx)).await) });
        Ok(Connection { sender, quic, local_port: attempt.exchange.local_port, ticket, _task: Arc::new(task) })
    }

    async fn get(
        &self,
        connection: &mut Connection,
        request: Request<()>,
    ) -> Result<Response<Self::Body>, ExchangeError> {
        let mut stream = connection.sender.send_request(request).await?;
        stream.finish().await?;
        let response = stream.recv_response().await?;
        Ok(response.map(|()| stream))
    }

    async fn data(&self, body: &mut Self::Body) -> Result<Option<Bytes>, ExchangeError> {
        Ok(body.recv_data().await?.map(|mut data| data.copy_to_bytes(data.remaining())))
    }

    async fn close(&self, connection: Connection) {
        if let Some(ticket) = connection.ticket.filter(|_| connection.quic.close_reason().is_none()) {
            ticket.arrived().await;
        }
        quic::close(&connection.quic, NO_ERROR).await;
    }
}

/// The answer to a request of a page, and whether its final head has been read.
struct Answer {
    stream: RequestStream<BidiStream<Upload>, Upload>,
    in_body: bool,
}

impl Fetch for Connector {
    type Answer = Answer;
    type Promise = Infallible;

    const RULES: Rules = page::HTTP3;

    fn share(&self, connection: &Connection) -> Option<Connection> {
        Some(connection.clone())
    }

    fn is_usable(&self, connection: &Connection) -> bool {
        connection.quic.close_reason().is_none()
    }

    async fn send(
        &self,
        connection: &mut Connection,
        request: Request<()>,
        attempt: &mut Attempt,
    ) -> Result<Answer, ExchangeError> {
        let mut stream = connection.sender.send_request(request).await?;
        attempt.exchange.request_start_ns = attempt.now();
        stream.finish().await?;
        Ok(Answer { stream, in_body: false })
    }

    async fn next(
        &self,
        answer: &mut Answer,
        attempt: &mut Attempt,
    ) -> Result<Option<Part<Infallible>>, ExchangeError> {
        if answer.in_body {
            return Ok(self.data(&mut answer.stream).await?.map(Part::Data));
        }
        // Each HEADERS frame is a response until one is final (RFC 9114, section 4.1).
        let response = answer.stream.recv_response().await?;
        let now = attempt.now();
        attempt.exchange.first_response_byte_ns = attempt.exchange.first_response_byte_ns.or(now);
        let (head, ()) = response.into_parts();
        if head.status.is_informational() {
            return Ok(Some(Part::Interim(head.headers)));
        }
        attempt.exchange.first_final_byte_ns = now;
        answer.in_body = true;
        Ok(Some(Part::Head(head.status, head.headers)))
    }

    fn pushed(&self, promise: Infallible) -> Answer {
        match promise {}
    }
}

struct Http3Client {
    connector: Connector,
    requests: Requests,
}

impl Client for Http3Client {
    type Connection = Connection;

    async fn connect(&self, attempt: &mut Attempt) -> Result<Connection, ExchangeError> {
        self.connector.connect(attempt).await
    }

    async fn exchange(&self, connection: &mut Connection, attempt: &mut Attempt) -> Result<(), ExchangeError> {
        if attempt.exchange.connection_reused {
            quic::observe(&connection.quic, connection.local_port, attempt);
        }
        let mut stream = connection.sender.send_request(self.requests.head(&attempt.exchange)?).await?;
        attempt.exchange.request_start_ns = attempt.now();
        let upload = Upload { body: self.requests.upload.clone(), sent: Arc::default() };
        if upload.has_remaining() {
            attempt.exchange.first_body_sent_ns = attempt.now();
            let sent = upload.sent.clone();
            attempt.at_end(move |exchange| exchange.body_sent_bytes = sent.load(Ordering::Relaxed));
            stream.send_data(upload).await?;
        }
        stream.finish().await?;
        let response = stream.recv_response().await?;
        attempt.exchange.first_response_byte_ns = attempt.now();
        attempt.exchange.first_final_byte_ns = attempt.exchange.first_response_byte_ns;
        let mut check = self.requests.expect(&response, &mut attempt.exchange);
        while let Some(bytes) = self.connector.data(&mut stream).await? {
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

async fn serve(context: Context, settings: Settings, connections: Option<Connections>) -> Result<(), StackError> {
    let answers = Answers::new(&context, &settings)?;
    quic::serve(context, settings, ALPN, NO_ERROR, connections, move |connection| answer(connection, answers.clone()))
        .await
}

async fn answer(connection: quinn::Connection, answers: Answers) {
    let priorities = Priorities::default();
    match answers.site() {
        None => answer_on(h3_quinn::Connection::new(connection), answers, priorities).await,
        Some(_) => answer_on(streams::Connection::new(connection, priorities.clone()), answers, priorities).await,
    }
}

/// A connection that a server can hand to its tasks.
trait Accepted:
    h3_quic::Connection<Bytes, OpenStreams: Send, RecvStream: Send, SendStream: Send, BidiStream: Send + 'static>
    + Send
    + 'static
{
}

impl Accepted for h3_quinn::Connection {}
impl Accepted for streams::Connection {}

async fn answer_on<C: Accepted>(connection: C, answers: Answers, priorities: Priorities) {
    let mut builder = h3::server::builder();
    let building = builder.send_grease(false).build::<_, Bytes>(connection);
    let Ok(mut connection) = building.await else { return };
    let mut streams = JoinSet::new();
    loop {
        tokio::select! {
            accepted = connection.accept() => match accepted {
                Ok(Some(resolver)) => { streams.spawn(read_and_answer(resolver, answers.clone(), priorities.clone())); }
                Ok(None) | Err(_) => return,
            },
            Some(_) = streams.join_next() => {}
        }
    }
}

async fn read_and_answer<C: Accepted>(resolver: RequestResolver<C, Bytes>, answers: Answers, priorities: Priorities) {
    let Ok((request, mut stream)) = resolver.resolve_request().await else { return };
    let Ok(declared) = fields::content_length(request.headers()) else {
        stream.stop_sending(Code::H3_MESSAGE_ERROR);
        return stream.stop_stream(Code::H3_MESSAGE_ERROR);
    };
    let mut received = 0;
    let interim = answers.site().and_then(|site| site.interim(&request));
    if answers.site().is_some() {
        priorities.set(stream.send_id(), Priority::said(request.headers()));
    }
    let mut pending = answers.take(&request);
    let answered = async {
        if let Some(interim) = interim {
            stream.send_response(interim).await?;
        }
        while let Some(mut data) = stream.recv_data().await? {
            let bytes = data.copy_to_bytes(data.remaining());
            received += bytes.len() as u64;
            pending.take(&bytes);
        }
        // Content that is not as long as it was said to be (RFC 9114, section 4.1.2).
        if declared.is_some_and(|declared| declared != received) {
            stream.stop_stream(Code::H3_MESSAGE_ERROR);
            return Ok(());
        }
        let (head, mut body) = pending.answer().await.into_parts();
        stream.send_response(Response::from_parts(head, ())).await?;
        while let Some(bytes) = body.next().await {
            stream.send_data(bytes).await?;
        }
        stream.finish().await
    };
    if answered.await.is_err() {
        stream.stop_stream(Code::H3_INTERNAL_ERROR);
    }
}
