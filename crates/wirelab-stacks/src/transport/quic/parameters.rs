//! Settings of QUIC, and the transport that they make. It opens no connection.

use std::sync::Arc;
use std::time::Duration;

use quinn::congestion::{BbrConfig, ControllerFactory, CubicConfig, NewRenoConfig};
use quinn::{AckFrequencyConfig, TransportConfig, VarInt};
use wirelab_schema::{FlowControl, SettingDescription, WorkloadSpec};

use crate::base::description::{QUIC_CONGESTION_CONTROL, QUIC_MTU_DISCOVERY, RETRY};
use crate::base::settings::{self, Settings};
use crate::page::{CONCURRENT_STREAMS, CONNECTION_WINDOW_BYTES, STREAM_WINDOW_BYTES};

/// Ten segments of 1448 bytes, what Linux TCP sends at first over Ethernet with timestamps (RFC 6928).
const KERNEL_INITIAL_WINDOW_BYTES: u64 = 14_480;

/// Settings of every stack over QUIC.
pub fn quic_settings() -> [SettingDescription; 6] {
    [
        settings::choice(
            QUIC_CONGESTION_CONTROL,
            &["cubic", "newreno", "bbr"],
            "Congestion control of both ends (RFC 9438, RFC 9002, BBR).",
        ),
        settings::choice(
            "quic-initial-window",
            &["kernel", "library"],
            "Initial congestion window (RFC 9002, section 7.2) of both ends: `kernel` is the 14,480 bytes that Linux TCP starts with, `library` \
             what quinn starts with (12,000 bytes; BBR's own with `bbr`).",
        ),
        settings::boolean(
            QUIC_MTU_DISCOVERY,
            true,
            "Path MTU discovery (RFC 8899). On, datagrams grow from 1200 bytes to at most 1452 after padded probes, which are extra packets on \
             every new connection; TCP learns its segment size from the interface and needs no probes. Off, QUIC sends smaller packets than TCP: \
             loss counts packets, so one connection then has about a fifth less throughput where loss limits it.",
        ),
        settings::boolean(
            RETRY,
            false,
            "The server answers a client whose address is not validated with a Retry packet (RFC 9000, section 8.1.2), which is one more round trip. \
             The built-in server gives no token for later (NEW_TOKEN), so that a client that resumes is asked as well.",
        ),
        settings::integer(
            "quic-idle-timeout",
            (1_000, settings::LONGEST_MS),
            "ms",
            30_000,
            "max_idle_timeout (RFC 9000, section 10.1): a connection that is silent for as long is closed without a word. TCP has none.",
        ),
        settings::integer(
            "quic-keep-alive",
            (0, settings::LONGEST_MS),
            "ms",
            0,
            "Keep-alives of the client (RFC 9000, section 10.1.2): after so long without traffic it sends a PING frame. 0 turns them off.",
        ),
    ]
}

/// Smaller ones than below stall the library, and more streams are kept ahead than memory has room for.
const LARGEST_WINDOW: i64 = (1 << 62) - 1;

/// What of them limits how much is on its way; the library's windows are wide.
pub fn flow_control() -> FlowControl {
    FlowControl {
        default_window_bytes: None,
        stream_settings: vec!["stream-window".to_owned()],
        connection_settings: ["connection-window", "send-window"].map(str::to_owned).into(),
        streams_setting: "max-concurrent-streams".to_owned(),
    }
}

/// Settings of flow control and acknowledgements, of a stack with many streams.
pub fn stream_settings() -> Vec<SettingDescription> {
    let number = settings::integer_if_given;
    vec![
        number(
            "stream-window",
            (256, LARGEST_WINDOW),
            "bytes",
            "initial_max_stream_data of both ends (RFC 9000, section 18.2), for streams of every kind: how much of a body may be under way on a stream. \
             `default`: the library's 1,250,000 bytes; of a client in `page` Chromium's 6 MiB.",
        ),
        number(
            "connection-window",
            (1024, LARGEST_WINDOW),
            "bytes",
            "initial_max_data of both ends (RFC 9000, section 18.2): how much may be under way on the connection. `default`: the library's 2^62 - 1; of a \
             client in `page` Chromium's 15 MiB.",
        ),
        number(
            "max-concurrent-streams",
            (1, 1024),
            "",
            "initial_max_streams_bidi of the server (RFC 9000, section 18.2): how many requests may be under way on a connection. The library makes \
             room for all of them when a connection begins. `default`: the library's 100, in `page` 128, as nginx has it for HTTP/2.",
        ),
        number(
            "send-window",
            (1024, LARGEST_WINDOW),
            "bytes",
            "What an end keeps unacknowledged at most, whatever the other end grants. Nothing on the wire says it. `default`: the library's 10,000,000 bytes.",
        ),
        number(
            "ack-delay",
            (1, 16_383),
            "ms",
            "Requested max_ack_delay of both ends, in the ACK_FREQUENCY frame of draft-ietf-quic-ack-frequency: how long the other end may wait before it \
             acknowledges. The library asks for no more than the round trip that it has measured or 25 ms, whichever is longer. `default`: no such \
             frame for it; both wait for 25 ms at most (RFC 9000, section 18.2).",
        ),
        number(
            "ack-frequency",
            (0, (1 << 30) - 1),
            "packets",
            "Ack-eliciting threshold of the same frame: how many packets may come before one is acknowledged at once. `default`: no such frame for it; \
             every second packet is (RFC 9000, section 13.2.2), which is 1 here.",
        ),
    ]
}

/// With what a browser grants, in `page`: the library's window of a stream would limit the rate of long bodies beyond a round trip of 100 ms.
pub fn client_transport(settings: &Settings, workload: &WorkloadSpec) -> TransportConfig {
    let mut transport = TransportConfig::default();
    if let WorkloadSpec::Page(_) = workload {
        transport.stream_receive_window(STREAM_WINDOW_BYTES.into()).receive_window(CONNECTION_WINDOW_BYTES.into());
    }
    let keep_alive = Duration::from_millis(settings.integer("quic-keep-alive") as u64);
    transport.keep_alive_interval(Some(keep_alive).filter(|interval| !interval.is_zero()));
    configured(transport, settings)
}

/// With as many requests at once as over HTTP/2, in `page`.
pub fn server_transport(settings: &Settings, workload: &WorkloadSpec) -> TransportConfig {
    let mut transport = TransportConfig::default();
    if let WorkloadSpec::Page(_) = workload {
        transport.max_concurrent_bidi_streams(CONCURRENT_STREAMS.into());
    }
    if let Some(streams) = settings.given("max-concurrent-streams") {
        transport.max_concurrent_bidi_streams(variable(streams));
    }
    configured(transport, settings)
}

/// As the settings say that both ends have.
fn configured(mut transport: TransportConfig, settings: &Settings) -> TransportConfig {
    if let Some(bytes) = settings.given("stream-window") {
        transport.stream_receive_window(variable(bytes));
    }
    if let Some(bytes) = settings.given("connection-window") {
        transport.receive_window(variable(bytes));
    }
    if let Some(bytes) = settings.given("send-window") {
        transport.send_window(bytes);
    }
    let (delay, packets) = (settings.given("ack-delay"), settings.given("ack-frequency"));
    if delay.is_some() || packets.is_some() {
        let mut acknowledging = AckFrequencyConfig::default();
        acknowledging.max_ack_delay(delay.map(Duration::from_millis));
        acknowledging.ack_eliciting_threshold(variable(packets.unwrap_or(1)));
        transport.ack_frequency_config(Some(acknowledging));
    }
    let idle = Duration::from_millis(settings.integer("quic-idle-timeout") as u64);
    transport
        .max_idle_timeout(Some(idle.try_into().expect("bounded by the setting's range")))
        .congestion_controller_factory(congestion_control(settings))
        // A segment longer than the MTU would cross the emulated link as one packet.
        .enable_segmentation_offload(false);
    if !settings.boolean(QUIC_MTU_DISCOVERY) {
        transport.mtu_discovery_config(None);
    }
    transport
}

fn variable(value: u64) -> VarInt {
    VarInt::from_u64(value).expect("within the setting's range")
}

fn congestion_control(settings: &Settings) -> Arc<dyn ControllerFactory + Send + Sync> {
    let initial_window = (settings.choice("quic-initial-window") == "kernel").then_some(KERNEL_INITIAL_WINDOW_BYTES);
    macro_rules! configured {
        ($config:ty) => {{
            let mut config = <$config>::default();
            if let Some(bytes) = initial_window {
                config.initial_window(bytes);
            }
            Arc::new(config)
        }};
    }
    match settings.choice(QUIC_CONGESTION_CONTROL) {
        "newreno" => configured!(NewRenoConfig),
        "bbr" => configured!(BbrConfig),
        _ => configured!(CubicConfig),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use wirelab_schema::{PageIdentity, PageLoads};

    use super::*;

    #[test]
    fn a_client_of_pages_grants_a_browsers_windows() {
        let descriptor = crate::find("h3").expect("registered").descriptor();
        let settings = Settings::resolve(&descriptor, &BTreeMap::new()).expect("defaults");
        let page = PageIdentity { name: String::new(), sha256: String::new(), resources: 1, body_bytes: 1 };
        let workload = PageLoads { loads: 1, timeout_ns: 1, request_delay_ns: 0, page }.into();
        let granted = format!("{:?}", client_transport(&settings, &workload));
        assert!(granted.contains(" receive_window: 15728640,"), "{granted}");
        assert!(granted.contains(" stream_receive_window: 6291456,"), "{granted}");
        let taken = format!("{:?}", server_transport(&settings, &workload));
        assert!(taken.contains("max_concurrent_bidi_streams: 128,"), "{taken}");
    }

    #[test]
    fn a_given_setting_wins_over_the_defaults_of_a_page() {
        let descriptor = crate::find("h3").expect("registered").descriptor();
        let given = [("stream-window", 4096), ("connection-window", 8192), ("max-concurrent-streams", 3)];
        let given = given.map(|(name, value)| (name.to_owned(), value.into()));
        let settings = Settings::resolve(&descriptor, &BTreeMap::from(given)).expect("in range");
        let page = PageIdentity { name: String::new(), sha256: String::new(), resources: 1, body_bytes: 1 };
        let workload = PageLoads { loads: 1, timeout_ns: 1, request_delay_ns: 0, page }.into();
        let granted = format!("{:?}", client_transport(&settings, &workload));
        assert!(granted.contains(" receive_window: 8192,"), "{granted}");
        assert!(granted.contains(" stream_receive_window: 4096,"), "{granted}");
        let taken = format!("{:?}", server_transport(&settings, &workload));
        assert!(taken.contains("max_concurrent_bidi_streams: 3,"), "{taken}");
    }
}
