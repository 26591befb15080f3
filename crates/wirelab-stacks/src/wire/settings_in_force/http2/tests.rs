//! Tests: SETTINGS and windows read from HTTP/2 connections.

use proptest::prelude::*;

use super::*;
use crate::wire::h2_frames::{PREFACE, frame};

const CLIENT: usize = 0;
const SERVER: usize = 1;
const WINDOW: u16 = 4;
const ENDS: u8 = END_STREAM | 0x4;

fn settings(values: &[(u16, u32)]) -> Vec<u8> {
    let payload: Vec<u8> =
        values.iter().flat_map(|(id, value)| [&id.to_be_bytes()[..], &value.to_be_bytes()].concat()).collect();
    frame(SETTINGS, 0, 0, &payload)
}

fn granted(stream: u32, bytes: u32) -> Vec<u8> {
    frame(WINDOW_UPDATE, 0, stream, &bytes.to_be_bytes())
}

fn ack() -> Vec<u8> {
    frame(SETTINGS, ACK, 0, &[])
}

/// A connection whose client and server have announced this and acknowledged the other's.
fn opened(client: &[(u16, u32)], server: &[(u16, u32)]) -> Http2Connection {
    let mut connection = Http2Connection::new();
    connection.passed(CLIENT, &[PREFACE, &settings(client)].concat());
    connection.passed(SERVER, &[settings(server), ack()].concat());
    connection.passed(CLIENT, &ack());
    connection
}

fn data(connection: &mut Http2Connection, side: usize, stream: u32, bytes: usize) {
    connection.passed(side, &frame(DATA, 0, stream, &vec![0; bytes]));
}

#[test]
fn settings_without_announcement_have_the_rfcs_defaults() {
    let seen = opened(&[(WINDOW, 255)], &[]).in_force();
    assert_eq!(seen.client["initial-window-size"].announced, Some([255, 255]));
    assert_eq!(seen.client["enable-push"].announced, Some([1, 1]));
    assert_eq!(seen.server["initial-window-size"].announced, Some([65_535, 65_535]));
    assert_eq!(seen.server["max-frame-size"].announced, Some([16_384, 16_384]));
    assert_eq!(seen.server["max-concurrent-streams"].announced, None);
    assert!(!seen.server.contains_key("enable-push"));
}

#[test]
fn a_flight_lies_between_two_updates_of_a_stream_for_any_chunking() {
    for cut in [1, 7, usize::MAX] {
        let mut connection = opened(&[(WINDOW, 255)], &[]);
        let sent = [frame(DATA, 0, 1, &[0; 200]), frame(DATA, 0, 1, &[0; 55])].concat();
        sent.chunks(cut).for_each(|part| connection.passed(SERVER, part));
        connection.passed(CLIENT, &granted(1, 255));
        data(&mut connection, SERVER, 1, 100);
        let seen = connection.in_force().client["initial-window-size"];
        assert_eq!((seen.announced, seen.used), (Some([255, 255]), Some(255)), "{cut}");
        assert_eq!(connection.in_force().client["max-frame-size"].used, Some(200));
    }
}

#[test]
fn data_sent_before_the_settings_arrived_does_not_break_the_count() {
    let mut connection = Http2Connection::new();
    connection.passed(CLIENT, &[PREFACE, &settings(&[]), &frame(HEADERS, 4, 1, &[0x82])].concat());
    data(&mut connection, CLIENT, 1, 10_000);
    connection.passed(SERVER, &settings(&[(WINDOW, 100), (3, 1)]));
    assert_eq!(connection.in_force().server["initial-window-size"].used, None);
    assert_eq!(connection.in_force().server["max-concurrent-streams"].used, None);
    connection.passed(CLIENT, &ack());
    data(&mut connection, CLIENT, 3, 101);
    assert_eq!(connection.in_force().server["initial-window-size"].used, Some(101));
}

#[test]
fn the_connections_window_is_what_no_update_gives_back() {
    let mut connection = Http2Connection::new();
    connection.passed(CLIENT, &[PREFACE, &settings(&[]), &granted(0, 1000)].concat());
    connection.passed(SERVER, &[settings(&[]), ack()].concat());
    connection.passed(CLIENT, &ack());
    data(&mut connection, SERVER, 1, 60_000);
    connection.passed(CLIENT, &granted(0, 40_000));
    data(&mut connection, SERVER, 1, 20_000);
    let seen = connection.in_force().client["connection-window"];
    let expected = SettingSeen { announced: Some([66_535, 66_535]), effective: None, used: Some(60_000) };
    assert_eq!(seen, expected);
}

#[test]
fn a_connection_window_whose_updates_are_under_a_third_is_smaller() {
    for (given_back, effective) in [(40_000, None), (4000, Some([9535, 9535]))] {
        let mut connection = opened(&[], &[]);
        data(&mut connection, SERVER, 1, 60_000);
        connection.passed(CLIENT, &granted(0, given_back));
        data(&mut connection, SERVER, 1, 6000);
        assert_eq!(connection.in_force().client["connection-window"].effective, effective, "{given_back}");
    }
}

#[test]
fn an_update_beyond_the_received_bytes_raises_the_window() {
    let mut connection = opened(&[], &[]);
    data(&mut connection, SERVER, 1, 40_000);
    connection.passed(CLIENT, &granted(0, 40_001));
    assert_eq!(connection.in_force().client["connection-window"].announced, Some([65_536, 65_536]));
    // One that opens the connection raises it by the whole, though DATA was sent before it came.
    let mut connection = Http2Connection::new();
    connection.passed(CLIENT, &[PREFACE, &settings(&[])].concat());
    data(&mut connection, CLIENT, 1, 1000);
    connection.passed(SERVER, &[settings(&[]), granted(0, 5000)].concat());
    assert_eq!(connection.in_force().server["connection-window"].announced, Some([70_535, 70_535]));
}

#[test]
fn small_streams_do_not_make_the_connections_window_small() {
    let mut connection = opened(&[(WINDOW, 4095)], &[]);
    for _ in 0..40 {
        data(&mut connection, SERVER, 1, 4095);
        connection.passed(CLIENT, &granted(1, 4095));
        if connection.sides[CLIENT].connection.received.is_multiple_of(32_760) {
            connection.passed(CLIENT, &granted(0, 32_760));
        }
    }
    let seen = connection.in_force().client["connection-window"];
    assert_eq!((seen.announced, seen.effective), (Some([65_535, 65_535]), None));
}

#[test]
fn streams_are_under_way_until_both_sides_have_ended_them() {
    let mut connection = opened(&[], &[(3, 2)]);
    let begin = |stream| frame(HEADERS, ENDS, stream, &[0x82]);
    connection.passed(CLIENT, &[begin(1), begin(3)].concat());
    connection.passed(SERVER, &frame(HEADERS, ENDS, 1, &[0x88]));
    connection.passed(CLIENT, &begin(5));
    connection.passed(SERVER, &frame(RST_STREAM, 0, 3, &[0; 4]));
    connection.passed(CLIENT, &begin(7));
    let seen = connection.in_force().server["max-concurrent-streams"];
    assert_eq!((seen.announced, seen.used), (Some([2, 2]), Some(2)));
}

#[test]
fn a_push_counts_for_the_client_alone() {
    let mut connection = opened(&[(2, 1)], &[]);
    assert_eq!(connection.in_force().client["enable-push"].used, Some(0));
    connection.passed(SERVER, &frame(PUSH_PROMISE, 4, 1, &[0, 0, 0, 2, 0x82]));
    connection.passed(SERVER, &frame(HEADERS, ENDS, 2, &[0x88]));
    let seen = connection.in_force();
    assert_eq!((seen.client["enable-push"].used, seen.server["max-concurrent-streams"].used), (Some(1), None));
    assert!(!seen.client.contains_key("max-concurrent-streams"));
}

#[test]
fn a_table_has_the_size_of_the_encoder_and_the_rfcs_default_before() {
    let mut connection = opened(&[(1, 65_536)], &[(1, 100)]);
    connection.passed(SERVER, &frame(HEADERS, 4, 1, &[0x88]));
    // Two updates, 0 and 100; padding and a priority before them.
    connection
        .passed(CLIENT, &frame(HEADERS, 4 | PADDED | PRIORITY, 3, &[1, 0, 0, 0, 0, 0, 0x20, 0x3f, 0x45, 0x82, 0]));
    let seen = connection.in_force();
    let [client, server] = [&seen.client, &seen.server].map(|side| side["header-table-size"]);
    assert_eq!((client.announced, client.effective), (Some([65_536, 65_536]), Some([4096, 4096])));
    assert_eq!((server.announced, server.effective), (Some([100, 100]), Some([100, 100])));
}

#[test]
fn sizes_of_tables_are_integers_of_hpack() {
    assert_eq!(table_updates(&[0x3f, 0xe1, 0x1f, 0x82]), Some(4096));
    assert_eq!(table_updates(&[0x20]), Some(0));
    assert_eq!(table_updates(&[0x82]), None);
    assert_eq!(table_updates(&[0x3f, 0x80]), None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_frames_are_read(
        sent in prop::collection::vec((0..2usize, 0..10u8, any::<u8>(), 0..5u32, prop::collection::vec(any::<u8>(), 0..40)), 0..30),
        torn in prop::collection::vec(any::<u8>(), 0..20),
    ) {
        let mut connection = opened(&[], &[]);
        for (side, kind, flags, stream, payload) in sent {
            connection.passed(side, &frame(kind, flags, stream, &payload));
        }
        connection.passed(CLIENT, &torn);
        prop_assert_eq!(connection.in_force().connections, 1);
    }
}
