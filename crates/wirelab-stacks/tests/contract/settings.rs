//! What endpoints announce of the settings of HTTP/2 and QUIC, and keep to, as each sees it on its own connections.

use std::fs;

use serde_json::json;
use wirelab_schema::{RequestResponse, SettingSeen, SettingsSeen};
use wirelab_stacks::{StackError, settings_in_force};

use crate::assert_completed;
use crate::lab::{Lab, Settings, kept, workload};

const STACKS: [&str; 2] = ["h2c", "h2"];

/// What the client and the server saw of exchanges of 100 kB each way on one connection, three at a time.
async fn seen(lab: &Lab, stack: &str, settings: Settings<'_>) -> [SettingsSeen; 2] {
    let work = kept(1, RequestResponse { concurrency: 3, ..workload(100_000, 100_000, 6) });
    let read = || {
        let text = fs::read_to_string(lab.folder().join(settings_in_force::FILE))
            .expect("an endpoint that has ended wrote it");
        serde_json::from_str(&text).expect("plain data")
    };
    let server = lab.serve(stack, work.clone(), settings).await;
    let rows = lab.run_client(stack, server.port, work, settings).await.expect("the client does its work");
    let of_client = read();
    server.stop().await;
    assert_completed(&rows, 6, &format!("{stack} {settings:?}"));
    [of_client, read()]
}

/// That both ends announced a setting, one of them if the other does not have it, and that nobody used more of it; what each made of it.
async fn announced(stack: &str, name: &str, value: u64) -> [Option<SettingSeen>; 2] {
    let lab = Lab::new();
    let [at_client, at_server] = seen(&lab, stack, &[(name, json!(value))]).await;
    assert_eq!((at_client.connections, at_server.connections), (1, 1));
    let ends = [at_client.client.get(name).copied(), at_server.server.get(name).copied()];
    assert!(ends.iter().any(Option::is_some), "{name}");
    for end in ends.iter().flatten() {
        assert_eq!(end.announced, Some([value, value]), "{stack} {name}");
        assert!(end.used.is_none_or(|used| used <= value), "{stack} {name} {end:?}");
    }
    // The other end saw the same said; what gives back and what raises the connection's window it cannot always tell apart.
    for (name, seen) in at_server.client.iter().filter(|(name, _)| *name != "connection-window") {
        assert_eq!(seen.announced, at_client.client[name].announced, "{name}");
    }
    ends
}

#[tokio::test]
async fn a_streams_window_is_announced_by_both_ends_and_filled_but_never_exceeded() {
    for stack in STACKS {
        for window in [256, 4095, 65_535, 80_000] {
            for end in announced(stack, "initial-window-size", window).await {
                let used = end.and_then(|end| end.used).expect("both ends got bodies");
                assert!(used > window / 4, "{stack} {window}: {used}");
            }
        }
    }
}

#[tokio::test]
async fn a_connection_window_is_raised_or_stays_at_its_default_with_small_stream_windows() {
    for window in [65_535, 65_536, 300_000] {
        for end in announced("h2", "connection-window", window).await {
            assert_eq!(end.and_then(|end| end.effective), None, "{window}");
        }
    }
    let lab = Lab::new();
    let given = [("connection-window", json!(65_535)), ("initial-window-size", json!(4095))];
    let [at_client, at_server] = seen(&lab, "h2", &given).await;
    for end in [at_client.client, at_server.server] {
        let SettingSeen { announced, effective, .. } = end["connection-window"];
        assert_eq!((announced, effective), (Some([65_535, 65_535]), None));
    }
}

#[tokio::test]
async fn larger_frames_are_sent_where_they_are_taken() {
    for end in announced("h2", "max-frame-size", 32_768).await {
        assert!(end.and_then(|end| end.used).expect("bodies") > 16_384);
    }
    for end in announced("h2", "max-frame-size", 16_384).await {
        assert_eq!(end.and_then(|end| end.used), Some(16_384));
    }
}

#[tokio::test]
async fn an_encoders_table_is_what_the_other_end_allows_and_4096_bytes_at_most() {
    for (bytes, in_force) in [(0, 0), (64, 64), (512, 512), (4096, 4096), (65_536, 4096)] {
        // The client's encoder has made all its field blocks before it sees the server's SETTINGS, or not: the server's is what is sure.
        let [client, _] = announced("h2", "header-table-size", bytes).await;
        assert_eq!(client.and_then(|end| end.effective), Some([in_force, in_force]), "{bytes}");
    }
}

#[tokio::test]
async fn no_more_streams_are_under_way_than_the_server_takes() {
    for streams in [1, 2, 100] {
        let [client, server] = announced("h2", "max-concurrent-streams", streams).await;
        assert_eq!(client, None);
        assert!(server.is_some());
    }
}

#[tokio::test]
async fn settings_without_visible_effect_are_announced() {
    announced("h2", "max-header-list-size", 8000).await;
    for push in [0, 1] {
        let [client, server] = announced("h2c", "enable-push", push).await;
        assert_eq!((client.and_then(|end| end.used), server), (Some(0), None));
    }
}

#[tokio::test]
async fn a_profile_is_all_of_its_settings_but_those_that_are_given() {
    let lab = Lab::new();
    let [at_client, at_server] =
        seen(&lab, "h2", &[("profile", json!("h2ot-2")), ("initial-window-size", json!(1000))]).await;
    let announced = |end: &std::collections::BTreeMap<String, SettingSeen>, name: &str| end[name].announced;
    assert_eq!(announced(&at_client.client, "header-table-size"), Some([512, 512]));
    assert_eq!(announced(&at_client.client, "enable-push"), Some([0, 0]));
    assert_eq!(announced(&at_client.client, "initial-window-size"), Some([1000, 1000]));
    assert_eq!(announced(&at_server.server, "max-header-list-size"), Some([4096, 4096]));
    assert_eq!(announced(&at_server.server, "max-concurrent-streams"), Some([2, 2]));
}

#[tokio::test]
async fn a_client_that_refuses_pushes_and_is_to_get_some_is_a_usage_error() {
    let lab = Lab::new();
    let given = [("enable-push", json!(0)), ("notification", json!("push"))];
    let error = lab.run_client("h2", 1, workload(1, 1, 1), &given).await.expect_err("refused");
    assert!(matches!(error, StackError::Usage(_)), "{error}");
}

#[tokio::test]
async fn values_that_the_rfc_forbids_are_usage_errors() {
    let lab = Lab::new();
    for (name, value) in [("max-frame-size", 16_383), ("initial-window-size", 1 << 31), ("connection-window", 65_534)] {
        let error = lab.run_client("h2", 1, workload(1, 1, 1), &[(name, json!(value))]).await.expect_err("refused");
        assert!(matches!(error, StackError::Usage(_)), "{error}");
    }
}

#[tokio::test]
async fn both_ends_record_quics_windows_and_limits_and_every_byte_arrives() {
    let lab = Lab::new();
    let small = [
        ("stream-window", json!(2000)),
        ("connection-window", json!(8000)),
        ("max-concurrent-streams", json!(2)),
        ("send-window", json!(5000)),
        ("ack-delay", json!(10)),
        ("ack-frequency", json!(4)),
    ];
    for end in seen(&lab, "h3", &small).await {
        assert_eq!(end.connections, 1);
        for (name, value) in [("stream-window", 2000), ("connection-window", 8000)] {
            for setting in [end.client[name], end.server[name]] {
                let used = setting.used.expect("bodies both ways");
                assert_eq!(setting.announced, Some([value, value]), "{name}");
                assert!(used <= value && used > value / 4, "{name}: {used}");
            }
        }
        for (name, value) in [("ack-delay", 10), ("ack-frequency", 4)] {
            assert_eq!(end.client[name].announced, Some([value, value]), "{name}");
        }
        let streams = end.server["max-concurrent-streams"];
        assert_eq!((streams.announced, streams.used), (Some([2, 2]), Some(2)));
        assert_eq!(end.client["quic-idle-timeout"].announced, Some([30_000, 30_000]));
    }
}
