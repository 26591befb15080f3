//! Reason codes of MQTT 5 (section 2.4). Which of them applies is decided elsewhere.

use std::fmt;

use mqtt_protocol_core::mqtt::result_code::MqttError;

/// A reason code of MQTT 5 (section 2.4). Codes from 0x80 on are failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reason(pub u8);

impl Reason {
    /// Success, normal disconnection, granted QoS 0.
    pub const SUCCESS: Reason = Reason(0x00);
    /// Nobody took the message.
    pub const NO_MATCHING_SUBSCRIBERS: Reason = Reason(0x10);
    /// No such subscription existed.
    pub const NO_SUBSCRIPTION_EXISTED: Reason = Reason(0x11);
    /// Malformed packet.
    pub const MALFORMED: Reason = Reason(0x81);
    /// Protocol error.
    pub const PROTOCOL_ERROR: Reason = Reason(0x82);
    /// Unsupported protocol version.
    pub const UNSUPPORTED_VERSION: Reason = Reason(0x84);
    /// Client identifier not valid.
    pub const CLIENT_ID: Reason = Reason(0x85);
    /// Bad authentication method.
    pub const AUTHENTICATION_METHOD: Reason = Reason(0x8C);
    /// Keep alive timeout.
    pub const KEEP_ALIVE: Reason = Reason(0x8D);
    /// Session taken over.
    pub const TAKEN_OVER: Reason = Reason(0x8E);
    /// Topic filter invalid.
    pub const TOPIC_FILTER: Reason = Reason(0x8F);
    /// Topic name invalid.
    pub const TOPIC_NAME: Reason = Reason(0x90);
    /// Packet identifier not found.
    pub const UNKNOWN_ID: Reason = Reason(0x92);
    /// Receive maximum exceeded.
    pub const RECEIVE_MAXIMUM: Reason = Reason(0x93);
    /// Topic alias invalid.
    pub const TOPIC_ALIAS: Reason = Reason(0x94);
    /// Packet too large.
    pub const TOO_LARGE: Reason = Reason(0x95);
    /// Payload format invalid.
    pub const PAYLOAD_FORMAT: Reason = Reason(0x99);
    /// Shared subscriptions not supported.
    pub const NO_SHARED: Reason = Reason(0x9E);

    /// True for a failure.
    pub fn is_failure(self) -> bool {
        self.0 >= 0x80
    }
}

impl From<MqttError> for Reason {
    /// Errors that the library has for its own callers are malformed packets, if bytes from outside bring them about.
    fn from(error: MqttError) -> Self {
        u8::try_from(error as u16).map_or(Reason::MALFORMED, Reason)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match MqttError::try_from(self.0) {
            Ok(name) => write!(formatter, "{name} (reason code {:#04x})", self.0),
            Err(code) => write!(formatter, "reason code {code:#04x}"),
        }
    }
}
