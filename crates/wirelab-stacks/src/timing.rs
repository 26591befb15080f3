//! What the stacks' handshakes cost in round trips, for their descriptors. Measures nothing.

use serde_json::{Value, json};
use wirelab_schema::{RoundTripChange, RoundTripPart, RoundTrips, Timing};

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
