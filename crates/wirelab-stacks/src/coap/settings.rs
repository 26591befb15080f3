//! Settings of CoAP, their units and defaults. It opens nothing.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use wirelab_schema::{Length, RoundTripPart, RoundTrips, SettingDescription, TimerKind, Timing};

use crate::base::description;
use crate::base::settings::{LONGEST_MS, Settings, boolean, choice, integer};
use crate::codec::coap::{Backoff, Options, Parameters};
use crate::workload::MAX_BODY_BYTES;

const PING: &str = "ping-interval";

/// Bytes of a block by its SZX, from the largest.
const BLOCK_SIZES: [&str; 7] = ["1024", "512", "256", "128", "64", "32", "16"];

/// The longest body of a message of 1152 bytes, which leaves before the server's CSM is here (RFC 8323, section 5.3.1).
const UNANNOUNCED_BYTES: u64 = 1024;

/// IP bytes of DTLS's handshake with a pre-shared key, up and down; counted as TLS's are.
const DTLS_OPENING: [u32; 2] = [445, 319];

/// DTLS 1.2 takes two round trips (RFC 6347, section 4.2), its cookie a third.
pub fn timing(stream: bool, secure: bool) -> Timing {
    if stream {
        let mut found = Timing { unannounced_bytes: Some(UNANNOUNCED_BYTES), ..description::over_tcp(secure) };
        found.timers.push(description::timer(PING, TimerKind::Asks));
        return found;
    }
    let plain = description::over_udp();
    Timing {
        round_trips: RoundTrips { security: if secure { 3 } else { 0 }, ..plain.round_trips },
        changes: secure
            .then(|| description::change("dtls-cookie", json!(false), RoundTripPart::Security, 2))
            .into_iter()
            .collect(),
        block_setting: Some("block-size".to_owned()),
        timer_setting: Some("ack-timeout".to_owned()),
        // Over datagrams its answer is waited for as long as any other: messages are timed out before.
        timers: vec![description::timer(PING, TimerKind::Probes)],
        opening_bytes: secure.then_some(DTLS_OPENING),
        // A handshake is given up by flight, after retransmissions whose number is a setting: no time of the whole is known.
        opening_timer: secure.then(|| Length { name: "dtls-retransmit-timeout".to_owned(), fixed_ns: None }),
        ..plain
    }
}

/// Settings of CoAP over datagrams: the transmission parameters of RFC 7252, section 4.8, and which of its ways are taken.
pub fn datagram_settings() -> Vec<SettingDescription> {
    vec![
        boolean(
            "confirmable",
            true,
            "Requests and notifications are confirmable: retransmitted until acknowledged (CON, RFC 7252 section 4.2). Off, they are sent once (NON, \
             section 4.3), and a request without an answer is given up after MAX_TRANSMIT_WAIT.",
        ),
        integer(
            "ack-timeout",
            (10, 3_600_000),
            "ms",
            2_000,
            "ACK_TIMEOUT (RFC 7252, section 4.8): the shortest wait before a confirmable message is retransmitted.",
        ),
        integer(
            "ack-random-factor",
            (100, 1_000),
            "%",
            150,
            "ACK_RANDOM_FACTOR (RFC 7252, section 4.8) in per cent, 1.5 by default: the first wait is drawn evenly between ACK_TIMEOUT and this \
             much of it, from the endpoint's seed.",
        ),
        integer(
            "max-retransmit",
            (0, 20),
            "",
            4,
            "MAX_RETRANSMIT (RFC 7252, section 4.8): maximum number of retransmissions of a confirmable message. After the last wait the exchange is \
             `timed-out`: with the defaults 62 to 93 s (MAX_TRANSMIT_WAIT) after the first transmission.",
        ),
        choice(
            "backoff",
            &["exponential", "linear", "fixed"],
            "How the wait grows: `exponential` multiplies it by `backoff-factor` each time (RFC 7252, section 4.2, with 200 %), `linear` adds the \
             first wait each time, `fixed` leaves it. The derived times follow.",
        ),
        integer(
            "backoff-factor",
            (100, 1_000),
            "%",
            200,
            "With `exponential`: each wait in per cent of the one before. RFC 7252 doubles it.",
        ),
        integer(
            "nstart",
            (1, 1_000),
            "",
            1,
            "NSTART (RFC 7252, section 4.7): how many confirmable messages without an acknowledgement, or requests without an answer, an \
             association has at once. Others wait for their turn.",
        ),
        integer(
            "probing-rate",
            (1, 1_000_000_000),
            "bytes/s",
            1,
            "PROBING_RATE (RFC 7252, section 4.7): after a non-confirmable request that was given up without an answer, the next one on the same \
             association waits until its predecessor's bytes were worth their time at this rate.",
        ),
        integer(
            "default-leisure",
            (0, 3_600_000),
            "ms",
            5_000,
            "DEFAULT_LEISURE (RFC 7252, section 8.2): how long the answer to a multicast request may wait. No workload sends one, so it changes \
             nothing that is measured.",
        ),
        integer(
            "max-latency",
            (0, 3_600_000),
            "ms",
            100_000,
            "MAX_LATENCY (RFC 7252, section 4.8.2): how long a datagram may be under way. With the others it gives EXCHANGE_LIFETIME (247 s) and \
             NON_LIFETIME (145 s): so long duplicates are known and no message ID is used again, which allows 65,536 messages to a peer in that \
             time on one association; more wait.",
        ),
        boolean(
            "separate-response",
            false,
            "The server acknowledges a confirmable request at once and sends the response as a message of its own (RFC 7252, section 5.2.2), \
             instead of piggy-backing it.",
        ),
        block_size(),
        skips(),
    ]
}

/// Settings of CoAP over TCP.
pub fn stream_settings() -> Vec<SettingDescription> {
    vec![
        integer(
            "max-message-size",
            (1_152, 1 << 30),
            "bytes",
            8_388_864,
            "Max-Message-Size (RFC 8323, section 5.3.1) that both ends announce; the default is libcoap's. What is longer goes in blocks of 1024 \
             bytes (RFC 7959); no BERT (section 6).",
        ),
        block_size(),
        skips(),
    ]
}

/// Setting `ping-interval`, of CoAP over anything.
pub fn ping_setting() -> SettingDescription {
    integer(
        PING,
        (0, LONGEST_MS),
        "ms",
        0,
        "After so long without traffic on an association its client sends a ping: over datagrams an empty confirmable message, which a Reset answers \
         (RFC 7252, section 4.3), over a stream Ping, which Pong answers (RFC 8323, section 5.4). Without an answer, over a stream for as long again, \
         the association is over and the next exchange opens another. 0 turns it off.",
    )
}

/// The transmission parameters that the settings say; those of the RFC for a stack without them.
pub fn parameters(settings: &Settings) -> Arc<Parameters> {
    let ms = |name| Duration::from_millis(settings.integer(name) as u64);
    Arc::new(Parameters {
        ack_timeout: ms("ack-timeout"),
        ack_random_factor_percent: settings.integer("ack-random-factor") as u32,
        max_retransmit: settings.integer("max-retransmit") as u32,
        nstart: settings.integer("nstart") as usize,
        default_leisure: ms("default-leisure"),
        probing_rate: settings.integer("probing-rate") as u64,
        max_latency: ms("max-latency"),
        backoff: match settings.choice("backoff") {
            "fixed" => Backoff::Fixed,
            "linear" => Backoff::Linear,
            _ => Backoff::Exponential { factor_percent: settings.integer("backoff-factor") as u32 },
        },
    })
}

/// How a server answers.
pub fn options(settings: &Settings, parameters: &Parameters, separate: bool) -> Options {
    let options = Options::new(parameters, szx(settings), MAX_BODY_BYTES as usize);
    Options { separate, skips: settings.boolean("skip-states"), ..options }
}

/// SZX of the setting `block-size`.
pub fn szx(settings: &Settings) -> u8 {
    let position = BLOCK_SIZES.iter().position(|size| *size == settings.choice("block-size"));
    (BLOCK_SIZES.len() - 1 - position.expect("checked against the descriptor")) as u8
}

fn block_size() -> SettingDescription {
    choice(
        "block-size",
        &BLOCK_SIZES,
        "Largest block of both ends in bytes (SZX, RFC 7959 section 2.2): a longer body goes in blocks of this size, each a request with its answer.",
    )
}

fn skips() -> SettingDescription {
    boolean(
        "skip-states",
        false,
        "A server whose state changes before the last notification is acknowledged or fetched tells the newest state alone (RFC 7641, section \
         4.5): those between are skipped. Off, every state is sent in turn.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_those_of_rfc_7252() {
        let mut descriptor = crate::find("coap").expect("registered").descriptor();
        descriptor.settings = datagram_settings();
        let settings = Settings::resolve(&descriptor, &std::collections::BTreeMap::new()).expect("defaults");
        assert_eq!(*parameters(&settings), Parameters::default());
        assert_eq!(szx(&settings), 6);
    }
}
