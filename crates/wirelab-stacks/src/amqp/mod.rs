//! AMQP 1.0: descriptor, settings, and both roles put together. The library fe2o3-amqp encodes and decodes.

mod client;
mod closing;
mod connection;
mod credit;
mod frames;
mod message;
mod names;
mod options;
mod pubsub;
mod queue;
mod server;
mod stamps;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use wirelab_schema::{ConnectionPolicy, Role, Topics};

use self::client::AmqpClient;
use self::connection::Opener;
use self::options::Options;
use self::pubsub::AmqpSubscriber;
use self::queue::Queues;
use self::server::Server;
use crate::base::description;
use crate::base::settings::Settings;
use crate::transport::socket::TcpOptions;
use crate::transport::stream::{Dialer, Security, serve};
use crate::transport::tls;
use crate::workload::{PAGE, PUBSUB, Reading, STREAM, TELEMETRY, Work, drive, listen};
use crate::{Context, Descriptor, Stack, StackError};
pub use names::accepted_frames;

/// AMQP 1.0 in the clear.
pub const AMQP: Amqp = Amqp { secure: false };
/// AMQP 1.0 over TLS.
pub const AMQPS: Amqp = Amqp { secure: true };

/// Where the server's application takes readings.
const DELIVER_ADDRESS: &str = "deliver";
/// Where changes are published and heard.
const NOTIFY_ADDRESS: &str = "notify";
/// How the names of our links begin, by which the built-in queue knows that it can check every byte.
const LINK_NAME: &str = "wirelab";

/// AMQP 1.0 (ISO/IEC 19464), with or without TLS.
pub struct Amqp {
    secure: bool,
}

impl Stack for Amqp {
    fn descriptor(&self) -> Descriptor {
        let mut settings = options::settings();
        if self.secure {
            settings.push(tls::version_setting());
            settings.extend(tls::common_settings());
        }
        let about = "AMQP 1.0 (ISO/IEC 19464, OASIS amqp-core), one session and one link on a connection. `telemetry`: a transfer to the address `deliver`, \
                     whose application accepts it. `pubsub` and `stream`: a publisher's transfers to the address `notify`, and from there to the receiver \
                     of each subscriber. A message is one data section without header or properties. The header, `open`, \
                     `begin` and `attach` are each answered before the next is sent, as the library does: three round trips to the built-in queue, which \
                     sends its `open` with its header, before the first transfer, four to a broker that does not, and two more with SASL. A connection is \
                     closed by `close` and the end of the stream, without waiting for the peer's `close`. Exchanges that overlap on a persistent connection share its link, and their transfers have `batchable` set. The built-in queue keeps \
                     what is sent to any other address for the receivers there, which compete for it.";
        Descriptor {
            name: if self.secure { "amqps" } else { "amqp" }.to_owned(),
            title: if self.secure { "AMQP 1.0 over TLS over TCP" } else { "AMQP 1.0 over TCP" }.to_owned(),
            about: match self.secure {
                true => {
                    format!("{about} TLS comes first, without AMQP's own TLS header. {} {}", tls::TICKETS, tls::RECORDS)
                }
                false => about.to_owned(),
            },
            libraries: description::libraries(if self.secure {
                &["fe2o3-amqp", "rustls", "ring"]
            } else {
                &["fe2o3-amqp"]
            }),
            transport: "tcp".to_owned(),
            default_port: if self.secure { 5671 } else { 5672 },
            secure: self.secure,
            echo: false,
            http_version: None,
            success: None,
            topics: Some(Topics { called: "address".to_owned(), without: String::new() }),
            timing: options::timing(self.secure),
            roles: vec![Role::Client, Role::Server, Role::Publisher],
            workloads: [TELEMETRY, PUBSUB, STREAM].map(str::to_owned).into(),
            waits: vec![],
            settings,
        }
    }

    fn run(&self, role: Role, context: Context) -> BoxFuture<'static, Result<(), StackError>> {
        let (descriptor, secure) = (self.descriptor(), self.secure);
        Box::pin(async move {
            let settings = Settings::resolve(&descriptor, &context.parameters.settings)?;
            // AMQP has no ALPN protocol name.
            let security = secure.then_some(Security { alpn: "", settings: &settings });
            let tcp = TcpOptions::of(&settings);
            let options = Options::new(&settings);
            let opener = |context: &Context, container: String| {
                let parameters = &context.parameters;
                Ok(Opener {
                    dialer: Dialer::new(parameters, tcp, security)?,
                    options: options.clone(),
                    server_name: parameters.server.name.clone(),
                    container,
                    clock: context.clock.clone(),
                })
            };
            match (role, Work::of(&context.parameters.workload)) {
                (Role::Server, work) => {
                    let server = Arc::new(Server {
                        options: options.clone(),
                        queues: Queues::default(),
                        reading: match work {
                            Work::Exchanges(_) => Some(Reading::of(&context.parameters)),
                            Work::Changes(_) | Work::Page(_) => None,
                        },
                        clock: context.clock.clone(),
                        received: context.received.clone(),
                    });
                    serve(context, tcp, security, move |stream| server.clone().serve(stream)).await
                }
                (Role::Client, Work::Exchanges(work)) => {
                    let reading = Reading::of(&context.parameters);
                    let kept = matches!(work.connection, ConnectionPolicy::Persistent { .. });
                    let pipelined = kept && work.concurrency > 1;
                    let client = |context: &Context, number| {
                        Ok(AmqpClient::new(opener(context, format!("wirelab-client-{number}"))?, &reading, pipelined))
                    };
                    drive(context, client).await
                }
                (Role::Client, Work::Changes(_)) => {
                    let subscriber = |context: &Context, number| {
                        let opener = opener(context, format!("wirelab-subscriber-{number}"))?;
                        Ok(AmqpSubscriber { opener, number })
                    };
                    listen(context, subscriber).await
                }
                (Role::Client, Work::Page(_)) => Err(StackError::no_workload(&descriptor, PAGE)),
                (Role::Publisher, _) => {
                    let opener = opener(&context, "wirelab-publisher".to_owned())?;
                    pubsub::publish(context, opener).await
                }
                (role @ Role::Proxy, _) => Err(StackError::no_role(&descriptor, role)),
            }
        })
    }
}

#[cfg(test)]
mod tests;
