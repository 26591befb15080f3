//! CoAP over UDP, DTLS, TCP and TLS: descriptors and roles. The engine is in `codec::coap`.

mod association;
mod client;
mod dtls;
mod host;
mod proxy;
mod renewal;
mod resources;
mod settings;
mod side;

use std::net::SocketAddr;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use wirelab_schema::{Role, SuccessStatus, WaitKind};

use crate::base::clock::epoch;
use crate::base::description;
use crate::base::settings::Settings;
use crate::codec::coap::{Options, Parameters};
use crate::recorder::NoRecorder;
use crate::transport::socket::{TcpOptions, tcp_settings};
use crate::transport::stream::{Dialer, Security, serve};
use crate::transport::tls;
use crate::workload::{
    Messages, PUBSUB, REQUEST_RESPONSE, STREAM, TELEMETRY, Work, after_timeout_setting, drive, listen,
};
use crate::{Context, Descriptor, Stack, StackError};
use client::{Asking, CoapClient, Connector, Observing, Transport};
use dtls::Sessions;
use host::{Service, serve_datagrams, serve_stream};
use proxy::{Gateway, PROXY, cache_setting};
use resources::{Application, MESSAGES, Requests};

/// CoAP over UDP.
pub const COAP: Coap = Coap { stream: false, secure: false };
/// CoAP over DTLS.
pub const COAPS: Coap = Coap { stream: false, secure: true };
/// CoAP over TCP.
pub const COAP_TCP: Coap = Coap { stream: true, secure: false };
/// CoAP over TLS.
pub const COAPS_TCP: Coap = Coap { stream: true, secure: true };

/// ALPN protocol name (RFC 8323, section 8.2).
const ALPN: &str = "coap";

/// CoAP (RFC 7252), over datagrams or a stream, secure or in the clear.
pub struct Coap {
    stream: bool,
    secure: bool,
}

impl Stack for Coap {
    fn descriptor(&self) -> Descriptor {
        let (name, title, libraries): (_, _, &[&str]) = match (self.stream, self.secure) {
            (false, false) => ("coap", "CoAP over UDP", &["coap-lite"]),
            (false, true) => ("coaps", "CoAP over DTLS over UDP", &["coap-lite", "dimpl"]),
            (true, false) => ("coap+tcp", "CoAP over TCP", &["coap-lite"]),
            (true, true) => ("coaps+tcp", "CoAP over TLS over TCP", &["coap-lite", "rustls", "ring"]),
        };
        let about = match self.stream {
            false => {
                "CoAP (RFC 7252) with block-wise transfer (RFC 7959) and Observe (RFC 7641) by an engine of our own on coap-lite's codec. A \
                 connection is a UDP socket with what both ends remember of one another; a kept one is shared by exchanges, NSTART of them at a \
                 time. The first response byte may be that of an empty acknowledgement or of 2.31 Continue, the first final byte is that of the \
                 response. An exchange that the protocol gives up is `timed-out`, and `error` says so; `client_retransmissions` counts \
                 retransmitted messages. An ICMP port-unreachable message fails it."
            }
            true => {
                "CoAP over TCP (RFC 8323): no message layer, so no message IDs, acknowledgements or retransmissions of CoAP's own. Block-wise \
                 transfer (RFC 7959) carries what is longer than the peer's Max-Message-Size, Observe (RFC 7641) changes. A request of at most \
                 1024 bytes leaves with the client's CSM, a longer one waits for the server's."
            }
        };
        let mut settings = match self.stream {
            false => settings::datagram_settings(),
            true => [settings::stream_settings(), tcp_settings().to_vec()].concat(),
        };
        settings.extend([settings::ping_setting(), after_timeout_setting(), cache_setting()]);
        let security = match (self.stream, self.secure) {
            (false, true) => {
                settings.extend(dtls::settings());
                dtls::SECURITY.to_owned()
            }
            (true, true) => {
                settings.push(tls::version_setting());
                settings.extend(tls::common_settings());
                format!("{} {}", tls::TICKETS, tls::RECORDS)
            }
            _ => String::new(),
        };
        Descriptor {
            name: name.to_owned(),
            title: title.to_owned(),
            about: format!("{about} {MESSAGES} {PROXY} {security}").trim_end().to_owned(),
            libraries: description::libraries(libraries),
            transport: if self.stream { "tcp" } else { "udp" }.to_owned(),
            default_port: if self.secure { 5684 } else { 5683 },
            secure: self.secure,
            echo: false,
            http_version: None,
            success: Some(SuccessStatus { fetched: 205, stored: 204 }),
            topics: None,
            timing: settings::timing(self.stream, self.secure),
            roles: vec![Role::Client, Role::Server, Role::Proxy],
            workloads: [REQUEST_RESPONSE, TELEMETRY, PUBSUB, STREAM].map(str::to_owned).into(),
            // Who registers anew learns the newest state alone (RFC 7641, section 1.3), so nothing waits for a subscriber that is away.
            waits: vec![description::wait(WaitKind::Poll)],
            settings,
        }
    }

    fn run(&self, role: Role, context: Context) -> BoxFuture<'static, Result<(), StackError>> {
        let (descriptor, stack) = (self.descriptor(), Coap { ..*self });
        Box::pin(async move {
            let settings = Settings::resolve(&descriptor, &context.parameters.settings)?;
            match role {
                Role::Server => {
                    let application =
                        Application::new(&context.parameters, context.clock.clone(), context.received.clone());
                    stack.serve(context, settings, application).await
                }
                Role::Proxy => stack.relay(context, settings).await,
                Role::Client => {
                    let requests = matches!(Work::of(&context.parameters.workload), Work::Exchanges(_))
                        .then(|| Requests::new(&context.parameters))
                        .transpose()?;
                    match requests {
                        Some(requests) => {
                            let make = |context: &Context, number| {
                                let connector = stack.connector(context, &settings, number)?;
                                Ok(CoapClient { connector, requests: requests.clone() })
                            };
                            drive(context, make).await
                        }
                        None => {
                            let make = |context: &Context, number| {
                                let messages = Messages::new(&context.parameters);
                                Ok(Observing { connector: stack.connector(context, &settings, number)?, messages })
                            };
                            listen(context, make).await
                        }
                    }
                }
                role => Err(StackError::no_role(&descriptor, role)),
            }
        })
    }
}

impl Coap {
    fn connector(&self, context: &Context, settings: &Settings, number: u32) -> Result<Connector, StackError> {
        let parameters = &context.parameters;
        let transport = if self.stream {
            let security = self.secure.then_some(Security { alpn: ALPN, settings });
            let dialer = Dialer::new(parameters, TcpOptions::of(settings), security)?;
            Transport::Stream { dialer, max_message_bytes: settings.integer("max-message-size") as usize }
        } else {
            let sessions = self.secure.then(|| Sessions::new(settings, false, epoch(&*context.clock))).transpose()?;
            let server = SocketAddr::from((parameters.server.address, parameters.server.port));
            Transport::Datagrams { server, parameters: settings::parameters(settings), sessions }
        };
        let asking = Asking {
            szx: settings::szx(settings),
            confirmable: !self.stream && settings.boolean("confirmable"),
            ping_interval_ns: settings.integer("ping-interval") as u64 * 1_000_000,
        };
        Ok(Connector::new(parameters, number, context.clock.clone(), transport, asking))
    }

    async fn relay(&self, context: Context, settings: Settings) -> Result<(), StackError> {
        let Context { parameters, clock, recorder, stop, ready, received } = context;
        let gateway = Gateway::new(&parameters, clock.clone(), recorder, settings.boolean("cache"))?;
        let application = Application::proxying(&parameters, clock.clone(), gateway.clone());
        let context = Context { parameters, clock, recorder: Box::new(NoRecorder), stop, ready, received };
        self.serve(context, settings, application).await?;
        gateway.finish()
    }

    async fn serve(&self, context: Context, settings: Settings, application: Application) -> Result<(), StackError> {
        let clock = context.clock.clone();
        if self.stream {
            let options = settings::options(&settings, &Parameters::default(), false);
            let service = Service { application, options, confirmable: false, clock };
            let max_message_bytes = settings.integer("max-message-size") as usize;
            let security = self.secure.then_some(Security { alpn: ALPN, settings: &settings });
            let handle = move |stream| serve_stream(stream, service.clone(), max_message_bytes);
            return serve(context, TcpOptions::of(&settings), security, handle).await;
        }
        let parameters: Arc<Parameters> = settings::parameters(&settings);
        let options: Options = settings::options(&settings, &parameters, settings.boolean("separate-response"));
        let service = Service { application, options, confirmable: settings.boolean("confirmable"), clock };
        let sessions = self.secure.then(|| Sessions::new(&settings, true, epoch(&*context.clock))).transpose()?;
        serve_datagrams(context, service, parameters, sessions).await
    }
}
