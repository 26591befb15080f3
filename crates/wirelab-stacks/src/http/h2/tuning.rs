//! SETTINGS of HTTP/2 (RFC 9113, section 6.5.2) and its connection window, as far as they are given.
//! What is not given is left to the library.

use wirelab_schema::{FlowControl, SettingDescription};

use crate::base::settings::{self, Settings};

/// Of a stream and of a connection (RFC 9113, section 6.9.2).
const INITIAL_WINDOW: u64 = 65_535;
const LARGEST_WINDOW: i64 = (1 << 31) - 1;
/// What the library buffers of a stream, and so the largest frame that it makes, unless it is told otherwise.
const SEND_BUFFER_BYTES: usize = 400 * 1024;
/// Streams that the library's client begins before it has seen how many it may.
const FIRST_STREAMS: usize = 100;

/// What draft-montenegro-httpbis-h2ot-profile-00 (section 2) says was found useful: a table of 512 bytes, no pushes, two or three streams, the largest
/// frame left alone; a window and a header list of "a few kilo-octets", which are 4096 bytes here.
const H2OT: [(&str, u32); 4] =
    [("header-table-size", 512), ("enable-push", 0), ("initial-window-size", 4096), ("max-header-list-size", 4096)];

/// Setting `profile`.
fn profile() -> SettingDescription {
    let about = "Several of the settings below at once, each unless it is given itself. `h2ot-2` and `h2ot-3`: the profile for constrained devices of \
                 draft-montenegro-httpbis-h2ot-profile-00 (section 2), with 2 and 3 requests at once: SETTINGS_HEADER_TABLE_SIZE 512, \
                 SETTINGS_ENABLE_PUSH 0, SETTINGS_MAX_FRAME_SIZE as it is; its \"few kilo-octets\" of SETTINGS_INITIAL_WINDOW_SIZE and \
                 SETTINGS_MAX_HEADER_LIST_SIZE are 4096 bytes here.";
    let mut profile = settings::choice("profile", &["none", "h2ot-2", "h2ot-3"], about);
    for streams in [2, 3] {
        let values = H2OT.into_iter().chain([("max-concurrent-streams", streams)]);
        let values = values.map(|(name, value)| (name.to_owned(), value.into())).collect();
        profile.stands_for.insert(format!("h2ot-{streams}"), values);
    }
    profile
}

/// What of them limits how much is on its way.
pub fn flow_control() -> FlowControl {
    FlowControl {
        default_window_bytes: Some(INITIAL_WINDOW),
        stream_settings: vec!["initial-window-size".to_owned()],
        connection_settings: vec!["connection-window".to_owned()],
        streams_setting: "max-concurrent-streams".to_owned(),
    }
}

/// Descriptions of them.
pub fn settings() -> Vec<SettingDescription> {
    let number = settings::integer_if_given;
    vec![
        profile(),
        number(
            "initial-window-size",
            (1, LARGEST_WINDOW),
            "bytes",
            "SETTINGS_INITIAL_WINDOW_SIZE of both ends: how much of a body may be under way on a stream. `default`: the RFC's 65,535 bytes, which \
             nobody says; of a client in `page` Chromium's 6 MiB.",
        ),
        number(
            "connection-window",
            (65_535, LARGEST_WINDOW),
            "bytes",
            "Flow-control window of the connection, of both ends. No SETTINGS changes it: it is 65,535 bytes (section 6.9.2) and a WINDOW_UPDATE on \
             stream 0 raises it; the library sends that once it is half a window. `default`: 65,535 bytes; of a client in `page` Chromium's 15 MiB.",
        ),
        number(
            "max-frame-size",
            (16_384, 16_777_215),
            "bytes",
            "SETTINGS_MAX_FRAME_SIZE of both ends: the largest payload of a frame. What a window does not let through is not in one frame either; a \
             page's bodies go in frames of at most 16,384 bytes. `default`: the RFC's 16,384 bytes.",
        ),
        number(
            "header-table-size",
            (0, u32::MAX.into()),
            "bytes",
            "SETTINGS_HEADER_TABLE_SIZE of both ends: the largest dynamic table of the other end's HPACK encoder, which may take less: the library's \
             takes at most 4096. `default`: the RFC's 4096 bytes.",
        ),
        number(
            "max-header-list-size",
            (1024, u32::MAX.into()),
            "bytes",
            "SETTINGS_MAX_HEADER_LIST_SIZE of both ends: the largest head that is taken, counted as in section 10.5.1. Nothing shows \
             on the wire but that it is said; less than 1024 bytes would refuse the messages. `default`: none is said.",
        ),
        number(
            "max-concurrent-streams",
            (1, u32::MAX.into()),
            "",
            "SETTINGS_MAX_CONCURRENT_STREAMS of the server: how many requests may be under way on a connection. The client knows it in advance, so that it \
             begins no more before the server's SETTINGS come. `default`: no limit, in `page` 128, as nginx has it.",
        ),
        number(
            "enable-push",
            (0, 1),
            "",
            "SETTINGS_ENABLE_PUSH of the client: 1 if it takes pushes. `default`: 1 where `notification` or `hints` is push, else 0.",
        ),
    ]
}

/// What both ends announce: their builders have the same methods.
macro_rules! announce {
    ($tuning:expr, $builder:expr) => {
        if let Some(bytes) = $tuning.window {
            $builder.initial_window_size(bytes);
        }
        if let Some(bytes) = $tuning.connection_window {
            $builder.initial_connection_window_size(bytes);
        }
        if let Some(bytes) = $tuning.frame {
            $builder.max_frame_size(bytes).max_send_buffer_size(SEND_BUFFER_BYTES.max(bytes as usize));
        }
        if let Some(bytes) = $tuning.table {
            $builder.header_table_size(bytes);
        }
        if let Some(bytes) = $tuning.header_list {
            $builder.max_header_list_size(bytes);
        }
    };
}

/// Those that are given.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tuning {
    window: Option<u32>,
    connection_window: Option<u32>,
    frame: Option<u32>,
    table: Option<u32>,
    header_list: Option<u32>,
    streams: Option<u32>,
    push: Option<bool>,
}

impl Tuning {
    /// Of settings that were checked against their descriptions.
    pub fn of(settings: &Settings) -> Self {
        let given = |name| settings.given(name).map(|value| u32::try_from(value).expect("within the setting's range"));
        Tuning {
            window: given("initial-window-size"),
            connection_window: given("connection-window"),
            frame: given("max-frame-size"),
            table: given("header-table-size"),
            header_list: given("max-header-list-size"),
            streams: given("max-concurrent-streams"),
            push: given("enable-push").map(|value| value == 1),
        }
    }

    /// Whether the client takes pushes, which it has a use for if `push`.
    pub fn takes_pushes(&self, push: bool) -> bool {
        self.push.unwrap_or(push)
    }

    /// Has a client announce them, instead of what the builder was told before.
    pub fn client(&self, builder: &mut h2::client::Builder) {
        announce!(self, builder);
        if let Some(streams) = self.streams {
            builder.initial_max_send_streams(FIRST_STREAMS.min(streams as usize));
        }
        if let Some(push) = self.push {
            builder.enable_push(push);
        }
    }

    /// Has a server announce them, instead of what the builder was told before.
    pub fn server(&self, builder: &mut h2::server::Builder) {
        announce!(self, builder);
        if let Some(streams) = self.streams {
            builder.max_concurrent_streams(streams);
        }
    }
}
