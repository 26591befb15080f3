//! Settings of AMQP with their units and defaults, and the SASL mechanisms of the built-in queue. It opens nothing.

use fe2o3_amqp::acceptor::sasl_acceptor::SaslServerFrame;
use fe2o3_amqp::acceptor::{SaslAcceptor, SaslAnonymousMechanism, SaslPlainMechanism};
use fe2o3_amqp::link::builder;
use fe2o3_amqp::sasl_profile::SaslProfile;
use fe2o3_amqp::types::definitions::{ReceiverSettleMode, SenderSettleMode};
use fe2o3_amqp::types::primitives::{Array, Symbol};
use fe2o3_amqp::types::sasl::{SaslCode, SaslInit, SaslOutcome, SaslResponse};
use serde_json::json;
use wirelab_schema::{RoundTripPart, RoundTrips, SettingDescription, Timer, TimerKind, Timing};

use crate::base::description;
use crate::base::settings::{self, Settings};
use crate::transport::socket;
use crate::workload::after_timeout_setting;

/// What the built-in queue lets in by SASL PLAIN, and what the client says: RabbitMQ's own default.
pub const USER: &str = "guest";
/// See [`USER`].
pub const PASSWORD: &str = "guest";

/// The header, `open`, `begin` and `attach` take three round trips with the built-in queue, SASL two more; what is sent settled is not answered.
pub fn timing(secure: bool) -> Timing {
    let session = if secure { [540, 1060] } else { [515, 535] };
    let mut found = description::with_session(description::over_tcp(secure), session);
    found.round_trips = RoundTrips { session: 3, ..found.round_trips };
    found
        .changes
        .extend(["anonymous", "plain"].map(|sasl| description::change("sasl", json!(sasl), RoundTripPart::Session, 5)));
    found.changes.push(description::change("delivery", json!("at-most-once"), RoundTripPart::Request, 0));
    let asks = description::timer("idle-time-out", TimerKind::Asks);
    // The peer's empty frames.
    let probes = Timer { times: 2, kind: TimerKind::Probes, ..asks.clone() };
    found.timers.extend([asks, probes]);
    found
}

/// The settings of both stacks, but for those of TLS.
pub fn settings() -> Vec<SettingDescription> {
    let window = |name, of| {
        settings::integer(
            name,
            (1, i64::from(i32::MAX)),
            "transfers",
            5_000,
            &format!(
                "Session {name} (part 2, section 2.5.6): how many transfer frames an end can {of} at the moment, as both ends say in `begin` and `flow`."
            ),
        )
    };
    let mut found = socket::tcp_settings().to_vec();
    found.extend([
        after_timeout_setting(),
        settings::choice(
            "delivery",
            &["at-least-once", "at-most-once"],
            "`at-least-once`: the sender sends unsettled (snd-settle-mode `unsettled`), the receiver accepts and settles in one disposition \
             (rcv-settle-mode `first`). `at-most-once`: the sender sends settled (snd-settle-mode `settled`) and nothing answers, so an exchange of \
             `telemetry` ends when its last byte is with the transport (part 2, sections 2.8.2 and 2.8.3). There is no `exactly-once`: for that the \
             receiver settles after the sender (rcv-settle-mode `second`), and the library's sender never does.",
        ),
        settings::choice(
            "sasl",
            &["none", "anonymous", "plain"],
            "Security layer before AMQP (part 5, section 5.3): none, so that the AMQP header comes first; mechanism ANONYMOUS (RFC 4505); mechanism \
             PLAIN (RFC 4616) with user and password `guest`. It takes two more round trips. With `plain` the built-in queue refuses whatever is less; \
             else it takes all three.",
        ),
        settings::choice(
            "address-prefix",
            &["none", "/queue/", "/topic/", "queue://", "topic://"],
            "Comes before the addresses `deliver` and `notify`, as the broker wants it: RabbitMQ `/queue/` and `/topic/`, ActiveMQ `queue://` and \
             `topic://`.",
        ),
        settings::integer(
            "max-frame-size",
            (512, 1 << 20),
            "bytes",
            65_536,
            "The largest frame that each end takes, as both say in `open` (part 2, section 2.7.1); a longer message is split into several transfers.",
        ),
        settings::integer(
            "link-credit",
            (1, 10_000),
            "messages",
            200,
            "Credit that a subscriber's receiver grants, and restores when half of it is used (part 2, section 2.6.7). The built-in queue grants 200 to \
             each sender and restores it in the same way.",
        ),
        settings::integer(
            "idle-time-out",
            (0, settings::LONGEST_MS),
            "ms",
            0,
            "A client that has heard nothing for so long gives the connection up; it tells the peer half of it, which sends empty frames that often \
             (part 2, section 2.4.5). 0: never. The built-in queue has none of its own.",
        ),
        window("incoming-window", "take"),
        window("outgoing-window", "send"),
    ]);
    found
}

/// What the settings say.
#[derive(Clone)]
pub struct Options {
    pub delivery: Delivery,
    pub sasl: Sasl,
    pub address_prefix: String,
    pub max_frame_bytes: u32,
    pub link_credit: u32,
    pub idle_time_out_ms: Option<u32>,
    pub incoming_window: u32,
    pub outgoing_window: u32,
}

/// How deliveries are settled.
#[derive(Clone, Copy, PartialEq)]
pub enum Delivery {
    AtMostOnce,
    AtLeastOnce,
}

/// What comes before AMQP.
#[derive(Clone, Copy, PartialEq)]
pub enum Sasl {
    None,
    Anonymous,
    Plain,
}

impl Options {
    pub fn new(settings: &Settings) -> Self {
        let number = |name| settings.integer(name) as u32;
        Options {
            delivery: match settings.choice("delivery") {
                "at-most-once" => Delivery::AtMostOnce,
                _ => Delivery::AtLeastOnce,
            },
            sasl: match settings.choice("sasl") {
                "anonymous" => Sasl::Anonymous,
                "plain" => Sasl::Plain,
                _ => Sasl::None,
            },
            address_prefix: Some(settings.choice("address-prefix"))
                .filter(|prefix| *prefix != "none")
                .unwrap_or("")
                .into(),
            max_frame_bytes: number("max-frame-size"),
            link_credit: number("link-credit"),
            idle_time_out_ms: Some(number("idle-time-out")).filter(|time_out| *time_out > 0),
            incoming_window: number("incoming-window"),
            outgoing_window: number("outgoing-window"),
        }
    }

    /// As the broker knows it.
    pub fn address(&self, address: &str) -> String {
        format!("{}{address}", self.address_prefix)
    }

    /// What to say to a peer that asks who this is.
    pub fn sasl_profile(&self) -> Option<SaslProfile> {
        match self.sasl {
            Sasl::None => None,
            Sasl::Anonymous => Some(SaslProfile::Anonymous),
            Sasl::Plain => Some(SaslProfile::Plain { username: USER.to_owned(), password: PASSWORD.to_owned() }),
        }
    }

    /// Has a link settle its deliveries as wanted.
    pub fn settling<R, T, N, S, E>(&self, link: builder::Builder<R, T, N, S, E>) -> builder::Builder<R, T, N, S, E> {
        let sender = match self.delivery {
            Delivery::AtMostOnce => SenderSettleMode::Settled,
            Delivery::AtLeastOnce => SenderSettleMode::Unsettled,
        };
        link.sender_settle_mode(sender).receiver_settle_mode(ReceiverSettleMode::First)
    }
}

/// The mechanisms of the built-in queue: PLAIN for its one user, and ANONYMOUS unless that is too little.
#[derive(Clone, Debug)]
pub struct Mechanisms {
    plain: SaslPlainMechanism,
    anonymous: Option<SaslAnonymousMechanism>,
}

impl Mechanisms {
    /// With or without ANONYMOUS.
    pub fn new(anonymous: bool) -> Self {
        Mechanisms {
            plain: SaslPlainMechanism::new(USER, PASSWORD),
            anonymous: anonymous.then(SaslAnonymousMechanism::new),
        }
    }
}

impl SaslAcceptor for Mechanisms {
    fn mechanisms(&self) -> Array<Symbol> {
        let anonymous = self.anonymous.iter().flat_map(|mechanism| mechanism.mechanisms().0);
        self.plain.mechanisms().0.into_iter().chain(anonymous).collect::<Vec<_>>().into()
    }

    fn on_init(&mut self, init: SaslInit) -> SaslServerFrame {
        match (init.mechanism.as_str(), &mut self.anonymous) {
            ("PLAIN", _) => self.plain.on_init(init),
            ("ANONYMOUS", Some(anonymous)) => anonymous.on_init(init),
            _ => refused(),
        }
    }

    fn on_response(&mut self, _response: SaslResponse) -> SaslServerFrame {
        refused()
    }
}

fn refused() -> SaslServerFrame {
    SaslServerFrame::Outcome(SaslOutcome { code: SaslCode::Auth, additional_data: None })
}
