//! What descriptors say alike: libraries with their versions, and handshakes in round trips. It measures nothing.

use serde_json::{Value, json};
use wirelab_schema::{RoundTripChange, RoundTripPart, RoundTrips, Timing};

const LOCK: &str = include_str!("../../../../Cargo.lock");

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
    Timing { round_trips: round_trips(1, u32::from(secure)), changes, ..Timing::default() }
}

/// One round trip for QUIC's handshake, which is TLS's (RFC 9001, section 4).
pub fn over_quic() -> Timing {
    Timing { round_trips: round_trips(0, 1), ..Timing::default() }
}

/// No handshake.
pub fn over_udp() -> Timing {
    Timing { round_trips: round_trips(0, 0), ..Timing::default() }
}

/// Round trips of one part with another value of a setting.
pub fn change(setting: &str, value: Value, part: RoundTripPart, round_trips: u32) -> RoundTripChange {
    RoundTripChange { setting: setting.to_owned(), value, part, round_trips }
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
