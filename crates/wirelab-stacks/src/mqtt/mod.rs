//! MQTT 3.1.1 and 5 over TCP, TLS and QUIC: descriptors and roles. The engines are in `codec::mqtt`.

mod hub;
mod link;
mod pubsub;
mod sessions;
mod telemetry;
mod transport;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use wirelab_schema::{
    NeededSetting, Role, RoundTripPart, RoundTrips, SettingDescription, Timer, TimerKind, Timing, Topics,
    WaitDescription, WaitKind, WorkloadSpec,
};

use crate::base::description;
use crate::base::settings::{self, Settings};
use crate::codec::mqtt::broker::MAXIMUM_PACKET_SIZE;
use crate::codec::mqtt::{Qos, Version};
use crate::transport::socket;
use crate::transport::{quic, tls};
use crate::workload::{PAGE, PUBSUB, STREAM, TELEMETRY, Work, after_timeout_setting, drive, listen};
use crate::{Context, Descriptor, Stack, StackError};
use pubsub::PubSubSubscriber;
use telemetry::TelemetryClient;
use transport::Over;

/// MQTT in the clear.
pub const MQTT: Mqtt = Mqtt { over: Over::Tcp };
/// MQTT over TLS.
pub const MQTTS: Mqtt = Mqtt { over: Over::Tls };
/// MQTT over QUIC, which no standard describes.
pub const MQTT_QUIC: Mqtt = Mqtt { over: Over::Quic };

/// Topic of readings.
const DELIVER_TOPIC: &str = "wirelab/deliver";
/// Topic of changes.
const NOTIFY_TOPIC: &str = "wirelab/notify";
/// What `about` says of QUIC.
const OVER_QUIC: &str = "No standard describes MQTT over QUIC: here all of a connection goes over the first bidirectional stream, which the client \
     opens, as some brokers have it; one lost packet holds up every message behind it, as over TCP.";
/// What a PUBLISH of ours has in addition to its payload, at most: header, length, topic, identifier, properties.
const PUBLISH_OVERHEAD_BYTES: u64 = 32;

/// MQTT 3.1.1 and 5.
pub struct Mqtt {
    over: Over,
}

impl Mqtt {
    /// CONNECT takes a round trip, and over TLS it waits behind session tickets; QoS 2 takes two, and nothing answers QoS 0.
    fn timing(&self) -> Timing {
        let (below, session) = match self.over {
            Over::Quic => (description::over_quic(), [92, 61]),
            Over::Tcp => (description::over_tcp(false), [139, 108]),
            Over::Tls => (description::over_tcp(true), [160, 565]),
        };
        let mut found = description::with_session(below, session);
        found.round_trips = RoundTrips { session: 1, ..found.round_trips };
        found.changes.extend(
            [(0, 0), (2, 2)].map(|(qos, trips)| description::change("qos", json!(qos), RoundTripPart::Request, trips)),
        );
        let session = description::timer("session-expiry", TimerKind::Forgets);
        found.timers.extend([
            description::timer("keep-alive", TimerKind::Asks),
            Timer { unless: Some("clean-start".to_owned()), ..session },
        ]);
        found
    }
}

impl Stack for Mqtt {
    fn descriptor(&self) -> Descriptor {
        let mut settings = own_settings();
        settings.push(after_timeout_setting());
        if self.over != Over::Quic {
            settings.extend(socket::tcp_settings());
        }
        if self.over == Over::Tls {
            settings.push(tls::version_setting());
        }
        if self.over != Over::Tcp {
            settings.extend(tls::common_settings());
        }
        if self.over == Over::Quic {
            settings.extend(quic::quic_settings());
        }
        let about = "MQTT 3.1.1 and 5 (OASIS) with a broker for a server. `telemetry`: PUBLISH on `wirelab/deliver`, which ends with PUBACK (QoS 1) or \
             PUBCOMP (QoS 2). The built-in broker sends PUBACK or PUBREC when the application in its own process has checked the reading, so that \
             they mean the same as another protocol's answer; a third-party broker's acknowledgements mean that the broker has it. With QoS 0 \
             nobody answers: the exchange ends when the packet is with the transport. `pubsub` and `stream`: subscriptions to `wirelab/notify`, to \
             which the publisher on the broker's host publishes. A connection that resumes a session with that subscription does not subscribe again. CONNECT and CONNACK belong to a new connection: they lie between the connection \
             (or its TLS handshake) and `request_start_ns`. One connection carries any number of messages at once.";
        let (name, title, default_port) = match self.over {
            Over::Tcp => ("mqtt", "MQTT over TCP", 1883),
            Over::Tls => ("mqtts", "MQTT over TLS over TCP", 8883),
            Over::Quic => ("mqtt+quic", "MQTT over one QUIC stream over UDP (no standard)", 14567),
        };
        Descriptor {
            name: name.to_owned(),
            title: title.to_owned(),
            about: match self.over {
                Over::Tcp => about.to_owned(),
                Over::Tls => format!("{about} {} {}", tls::TICKETS, tls::RECORDS),
                Over::Quic => format!("{about} {OVER_QUIC} {}", tls::TICKETS),
            },
            libraries: description::libraries(match self.over {
                Over::Tcp => &["mqtt-protocol-core"],
                Over::Tls => &["mqtt-protocol-core", "rustls", "ring"],
                Over::Quic => &["mqtt-protocol-core", "quinn", "rustls", "ring"],
            }),
            transport: if self.over == Over::Quic { "udp" } else { "tcp" }.to_owned(),
            default_port,
            secure: self.over != Over::Tcp,
            echo: false,
            http_version: None,
            success: None,
            topics: Some(Topics { called: "topic".to_owned(), without: "+#".to_owned() }),
            timing: self.timing(),
            roles: vec![Role::Client, Role::Server, Role::Publisher],
            workloads: [TELEMETRY, PUBSUB, STREAM].map(str::to_owned).into(),
            waits: vec![check_in()],
            settings,
        }
    }

    fn run(&self, role: Role, context: Context) -> BoxFuture<'static, Result<(), StackError>> {
        let (descriptor, over) = (self.descriptor(), self.over);
        Box::pin(async move {
            let resolve = |context: &Context| Settings::resolve(&descriptor, &context.parameters.settings);
            let settings = Arc::new(resolve(&context)?);
            let work = Work::of(&context.parameters.workload);
            check_size(&context.parameters.workload, &settings)?;
            match (role, work) {
                (Role::Server, _) => {
                    let own = resolve(&context)?;
                    hub::run(over, context, own).await
                }
                (Role::Client, Work::Exchanges(_)) => {
                    let client = |context: &Context, number| TelemetryClient::new(over, context, number, &settings);
                    drive(context, client).await
                }
                (Role::Client, Work::Changes(_)) => {
                    let subscriber =
                        |context: &Context, number| PubSubSubscriber::new(over, context, number, &settings);
                    listen(context, subscriber).await
                }
                (Role::Client, Work::Page(_)) => Err(StackError::no_workload(&descriptor, PAGE)),
                (Role::Publisher, _) => pubsub::publish(over, context, &settings).await,
                (role @ Role::Proxy, _) => Err(StackError::no_role(&descriptor, role)),
            }
        })
    }
}

/// The settings of MQTT itself, by the names that the standard has.
fn own_settings() -> Vec<SettingDescription> {
    vec![
        settings::choice(
            "version",
            &["3.1.1", "5"],
            "Protocol version of clients and publishers. The built-in broker speaks both at once.",
        ),
        settings::integer(
            "qos",
            (0, 2),
            "",
            1,
            "Quality of service of messages and subscriptions (section 4.3): 0 at most once, 1 at least once, 2 exactly once.",
        ),
        settings::boolean(
            "clean-start",
            true,
            "Clean Start (MQTT 5, section 3.1.2.4), Clean Session in 3.1.1: each connection begins a new session. Off resumes the session of the \
             client's last connection: what was not acknowledged is retransmitted with DUP, and what came for a subscriber meanwhile is sent to it.",
        ),
        settings::integer(
            "session-expiry",
            (0, u32::MAX.into()),
            "s",
            3_600,
            "Session Expiry Interval (MQTT 5, section 3.1.2.11.2) with `clean-start` off: how long the broker keeps a session without a connection. \
             4294967295 is for ever, as always in 3.1.1.",
        ),
        settings::integer(
            "keep-alive",
            (0, u16::MAX.into()),
            "s",
            60,
            "Keep Alive (section 3.1.2.10): a client that said nothing for so long sends PINGREQ, the broker ends a connection that was silent for \
             one and a half of it. 0 turns it off.",
        ),
        settings::integer(
            "receive-maximum",
            (1, u16::MAX.into()),
            "",
            u16::MAX.into(),
            "Receive Maximum (MQTT 5, section 3.1.2.11.3) of both ends: messages of QoS 1 and 2 that may be unacknowledged at once. In 3.1.1, where \
             ends cannot tell it, ours keep to it.",
        ),
        settings::integer(
            "maximum-packet-size",
            (4_096, MAXIMUM_PACKET_SIZE.into()),
            "bytes",
            MAXIMUM_PACKET_SIZE.into(),
            "Maximum Packet Size (MQTT 5, section 3.1.2.11.4) of both ends. A longer packet ends the connection.",
        ),
    ]
}

/// The broker keeps messages of QoS 1 and 2 for a session, and loses it with the connection if that began it anew (section 4.1).
fn check_in() -> WaitDescription {
    let need = |setting: &str, values: Vec<Value>, what: &str| NeededSetting {
        setting: setting.to_owned(),
        values,
        what: what.to_owned(),
    };
    let needs = vec![
        need("clean-start", vec![json!(false)], "a session that is kept"),
        need("qos", vec![json!(1), json!(2)], "messages that are kept"),
    ];
    WaitDescription { needs, ..description::wait(WaitKind::CheckIn) }
}

fn version(settings: &Settings) -> Version {
    if settings.choice("version") == "5" { Version::V5 } else { Version::V311 }
}

fn qos(settings: &Settings) -> Qos {
    match settings.integer("qos") {
        0 => Qos::AtMostOnce,
        1 => Qos::AtLeastOnce,
        _ => Qos::ExactlyOnce,
    }
}

fn check_size(workload: &WorkloadSpec, settings: &Settings) -> Result<(), StackError> {
    let message_bytes = match Work::of(workload) {
        Work::Exchanges(work) => work.upload_bytes,
        Work::Changes(work) => work.message_bytes,
        Work::Page(_) => 0,
    };
    let topic_bytes = match workload {
        WorkloadSpec::Telemetry(work) => work.publish.as_ref().map_or(0, |own| own.topic.len() as u64),
        _ => 0,
    };
    let most = (settings.integer("maximum-packet-size") as u64).saturating_sub(PUBLISH_OVERHEAD_BYTES + topic_bytes);
    if message_bytes > most {
        return Err(StackError::Usage(format!(
            "`message_bytes` is {message_bytes}; with this `maximum-packet-size` a message has {most} bytes at most"
        )));
    }
    Ok(())
}
