//! What descriptors say alike: libraries with their versions, and handshakes in round trips. It measures nothing.

use serde_json::{Value, json};
use wirelab_schema::{
    CongestionControl, Length, PacketDiscovery, RoundTripChange, RoundTripPart, RoundTrips, Timer, TimerKind, Timing,
    WaitDescription, WaitKind,
};

const LOCK: &str = include_str!("../../../../Cargo.lock");

/// Setting of QUIC: the congestion control of both ends.
pub const QUIC_CONGESTION_CONTROL: &str = "quic-congestion-control";
/// Setting of QUIC: path MTU discovery of both ends.
pub const QUIC_MTU_DISCOVERY: &str = "quic-mtu-discovery";
/// Setting of QUIC's servers: they validate addresses before they begin a handshake.
pub const RETRY: &str = "retry";

const IDLE_TIMEOUT: &str = "quic-idle-timeout";

/// Of a full segment over Ethernet, with timestamps.
const TCP_SEGMENT_BYTES: u32 = 1448;
/// Of a packet with a short header (RFC 9000, section 17.3.1): connection ID of 8 bytes, number of 2, AEAD tag; and a STREAM frame's header.
const QUIC_OVERHEAD_BYTES: u32 = 1 + 8 + 2 + 16 + 8;

/// How long a server of ours can open a session ticket at least: rustls makes a new key every 6 h and drops the one before the last.
const TICKET_NS: u64 = 6 * 3_600 * 1_000_000_000;

/// IP bytes before the first request, up and down: of TCP's handshake, of TLS 1.3's over it, and of QUIC's.
/// Counted in packet logs of uploads over new connections (`docs/design/duration.md`); a name that ALPN carries adds some bytes.
const TCP_OPENING: [u32; 2] = [112, 60];
const TLS_OPENING: [u32; 2] = [590, 860];
const QUIC_OPENING: [u32; 2] = [2456, 1394];
/// Linux's `tcp_retries2` of 15: the shortest time after which it gives up a segment without an acknowledgement.
const TCP_LIMIT_NS: u64 = 924_600_000_000;
/// RFC 6298, section 2.1.
const SYN_TIMER_NS: u64 = 1_000_000_000;
/// RFC 9002, section 6.2.2: three initial round trips of 333 ms.
const INITIAL_TIMER_NS: u64 = 999_000_000;
/// RFC 9000, section 14.1.
const INITIAL_DATAGRAM_BYTES: u32 = 1200;

/// The named libraries with the versions that this build locks, for example `hyper 1.12.0`.
pub fn libraries(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| format!("{name} {}", locked(name).unwrap_or("?"))).collect()
}

fn locked(name: &str) -> Option<&'static str> {
    let (_, package) = LOCK.split_once(&format!("name = \"{name}\"\nversion = \""))?;
    package.split('"').next()
}

/// TCP's handshake (RFC 9293, section 3.5), then TLS 1.3's (RFC 8446, section 2) or 1.2's (RFC 5246, section 7.3), if it is secure.
pub fn over_tcp(secure: bool) -> Timing {
    let changes = if secure { vec![change("tls", json!("1.2"), RoundTripPart::Security, 2)] } else { vec![] };
    let constants = [
        ("cubic", "C = 0.4, beta = 717/1024 (Linux; RFC 9438 has 0.7)"),
        ("reno", "beta = 1/2 (RFC 5681)"),
        ("bbr", "paced by measured bandwidth, no reaction to single losses (Linux)"),
    ];
    let congestion = CongestionControl {
        setting: None,
        packet_bytes: TCP_SEGMENT_BYTES,
        discovery: None,
        constants: constants.map(|(name, words)| (name.to_owned(), words.to_owned())).into(),
    };
    let round_trips = round_trips(1, u32::from(secure));
    let probes = timer("tcp-keep-alive", TimerKind::Probes);
    let timers = std::iter::once(probes).chain(secure.then(tickets)).collect();
    Timing {
        round_trips,
        changes,
        congestion: Some(congestion),
        timers,
        opening_bytes: Some(if secure { TLS_OPENING } else { TCP_OPENING }),
        opening_limit: Some(fixed("TCP", TCP_LIMIT_NS)),
        opening_timer: Some(fixed("TCP's SYN", SYN_TIMER_NS)),
        ..Timing::default()
    }
}

/// One round trip for QUIC's handshake, which is TLS's (RFC 9001, section 4), and one for Retry.
pub fn over_quic() -> Timing {
    let constants = [
        ("cubic", "C = 0.4, beta = 0.7 (quinn, with RFC 8312's W_est)"),
        ("newreno", "beta = 1/2 (quinn; RFC 9002)"),
        ("bbr", "paced by measured bandwidth, no reaction to single losses (quinn)"),
    ];
    let congestion = CongestionControl {
        setting: Some(QUIC_CONGESTION_CONTROL.to_owned()),
        packet_bytes: 1452 - QUIC_OVERHEAD_BYTES,
        discovery: Some(PacketDiscovery {
            setting: QUIC_MTU_DISCOVERY.to_owned(),
            packet_bytes: 1200 - QUIC_OVERHEAD_BYTES,
        }),
        constants: constants.map(|(name, words)| (name.to_owned(), words.to_owned())).into(),
    };
    let changes = vec![change(RETRY, json!(true), RoundTripPart::Security, 2)];
    let timers = vec![timer(IDLE_TIMEOUT, TimerKind::Closes), timer("quic-keep-alive", TimerKind::Probes), tickets()];
    Timing {
        round_trips: round_trips(0, 1),
        changes,
        congestion: Some(congestion),
        timers,
        opening_bytes: Some(QUIC_OPENING),
        opening_limit: Some(Length { name: IDLE_TIMEOUT.to_owned(), fixed_ns: None }),
        opening_timer: Some(fixed("QUIC's first packet", INITIAL_TIMER_NS)),
        least_datagram_bytes: Some(INITIAL_DATAGRAM_BYTES),
        ..Timing::default()
    }
}

/// No handshake.
pub fn over_udp() -> Timing {
    Timing { round_trips: round_trips(0, 0), ..Timing::default() }
}

/// Round trips of one part with another value of a setting.
pub fn change(setting: &str, value: Value, part: RoundTripPart, round_trips: u32) -> RoundTripChange {
    RoundTripChange { setting: setting.to_owned(), value, part, round_trips }
}

/// What a session adds to the bytes of a new connection, up and down, by the protocol's own messages and their acknowledgements.
pub fn with_session(found: Timing, [up, down]: [u32; 2]) -> Timing {
    let opening_bytes = found.opening_bytes.map(|[below_up, below_down]| [below_up + up, below_down + down]);
    Timing { opening_bytes, ..found }
}

/// A length that no setting has.
pub fn fixed(name: &str, ns: u64) -> Length {
    Length { name: name.to_owned(), fixed_ns: Some(ns) }
}

/// A timer whose length a setting has.
pub fn timer(setting: &str, kind: TimerKind) -> Timer {
    Timer { name: setting.to_owned(), fixed_ns: None, times: 1, unless: None, only_with: None, kind }
}

/// A way of waiting that needs no setting.
pub fn wait(by: WaitKind) -> WaitDescription {
    WaitDescription { by, needs: Vec::new() }
}

fn tickets() -> Timer {
    let only_with = Some("resumption".to_owned());
    Timer { fixed_ns: Some(TICKET_NS), only_with, ..timer("session tickets", TimerKind::Forgets) }
}

fn round_trips(transport: u32, security: u32) -> RoundTrips {
    RoundTrips { transport, security, session: 0, request: 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_of_the_lock_file() {
        let [hyper] = libraries(&["hyper"]).try_into().expect("one for each name");
        assert!(hyper.starts_with("hyper 1."), "{hyper}");
        assert_eq!(libraries(&["no-such-library"]), ["no-such-library ?"]);
    }
}
