//! Tests: transport parameters and limits read from QUIC connections.

use proptest::prelude::*;

use super::*;

/// A variable-length integer of two bytes.
fn two(value: u16) -> [u8; 2] {
    (0x4000 | value).to_be_bytes()
}

/// A connection whose two sides have announced the same limits and sent a PING.
fn opened() -> QuicConnection {
    let parameters = [&[0x04, 2][..], &two(1000), &[0x05, 2], &two(300), &[0x06, 2], &two(300), &[0x07, 2], &two(300)];
    let parameters = [&parameters.concat()[..], &[0x08, 1, 2]].concat();
    let mut connection = QuicConnection::default();
    for side in [0, 1] {
        connection.announced(side, &parameters);
        connection.passed(side, &[0x01]);
    }
    connection
}

/// A STREAM frame with offset and length.
fn stream(id: u8, offset: u16, length: u16) -> Vec<u8> {
    [&[0x0e, id][..], &two(offset), &two(length), &vec![0; length.into()]].concat()
}

#[test]
fn parameters_whose_value_is_an_integer_are_read() {
    let parameters = [&[0x04, 2][..], &two(8192), &[0x08, 1, 7], &[0x0c, 0], &[0x00, 3, 1, 2, 3]].concat();
    assert_eq!(read_parameters(&parameters), BTreeMap::from([(0x04, 8192), (0x08, 7)]));
    assert_eq!(read_parameters(&parameters[..6]), BTreeMap::from([(0x04, 8192)]));
}

#[test]
fn the_used_part_of_a_limit_lies_beyond_its_last_rise() {
    let mut connection = opened();
    connection.passed(1, &stream(0, 0, 250));
    // MAX_STREAM_DATA and MAX_DATA, 200 more each.
    connection.passed(0, &[&[0x11, 0][..], &two(500), &[0x10], &two(1200)].concat());
    connection.passed(1, &stream(0, 250, 150));
    connection.passed(1, &stream(3, 0, 40));
    let seen = connection.in_force();
    let window = seen.client["stream-window"];
    assert_eq!((window.announced, window.used), (Some([300, 300]), Some(250)));
    assert_eq!(seen.client["connection-window"].used, Some(250));
    assert_eq!(seen.server["stream-window"].used, None);
}

#[test]
fn use_beyond_the_granted_limit_is_recorded() {
    let mut connection = opened();
    connection.passed(0, &[stream(0, 0, 301), stream(8, 0, 1)].concat());
    let seen = connection.in_force();
    assert_eq!(seen.server["stream-window"].used, Some(301));
    assert_eq!(seen.server["max-concurrent-streams"].used, Some(3));
    connection.passed(1, &[0x12, 3]);
    connection.passed(0, &stream(8, 1, 1));
    assert_eq!(connection.in_force().server["max-concurrent-streams"].used, Some(3));
}

#[test]
fn requested_acknowledgements_are_in_the_settings_units() {
    let mut connection = opened();
    assert_eq!(connection.in_force().client["ack-delay"].announced, None);
    // Sequence number, threshold, 20,000 microseconds, reordering threshold.
    connection.passed(0, &[0x40, 0xaf, 0, 9, 0x80, 0, 0x4e, 0x20, 1]);
    let seen = connection.in_force();
    assert_eq!(seen.client["ack-delay"].announced, Some([20, 20]));
    assert_eq!(seen.client["ack-frequency"].announced, Some([9, 9]));
}

#[test]
fn a_frame_after_any_known_frame_is_read() {
    let before: [&[u8]; 15] = [
        &[0x00],
        &[0x01],
        &[0x02, 5, 0, 1, 2, 0, 0],
        &[0x03, 5, 0, 0, 2, 1, 1, 1],
        &[0x04, 0, 0, 9],
        &[0x05, 0, 0],
        &[0x06, 0, 2, 7, 7],
        &[0x07, 1, 7],
        &[0x0a, 4, 1, 7],
        &[0x13, 1],
        &[0x15, 0, 9],
        &[0x18, 1, 0, 1, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        &[0x19, 0],
        &[0x1a, 0, 0, 0, 0, 0, 0, 0, 0],
        &[0x1e],
    ];
    for frame in before {
        let mut connection = opened();
        connection.passed(0, &[frame, &[0x40, 0xaf, 0, 9, 0x80, 0, 0x4e, 0x20, 1]].concat());
        assert_eq!(connection.in_force().client["ack-frequency"].announced, Some([9, 9]), "{frame:?}");
    }
}

#[test]
fn a_connection_counts_once_both_sides_have_ended_their_handshakes() {
    let mut connection = QuicConnection::default();
    connection.announced(0, &[]);
    connection.passed(1, &[0x01]);
    connection.passed(0, &[0x01]);
    assert_eq!(connection.in_force().connections, 0);
    connection.announced(1, &[]);
    assert_eq!(connection.in_force().connections, 1);
    let mut connection = QuicConnection::default();
    connection.announced(0, &[]);
    connection.announced(1, &[]);
    // A server may send before the client's handshake has ended (RFC 9001, section 5.7).
    connection.passed(1, &[0x01]);
    assert_eq!(connection.in_force().connections, 0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_frames_and_parameters_are_read(
        packets in prop::collection::vec((0..2usize, prop::collection::vec(any::<u8>(), 0..60)), 0..20),
    ) {
        let mut connection = opened();
        for (side, bytes) in &packets {
            connection.announced(*side, bytes);
            connection.passed(*side, bytes);
        }
        prop_assert_eq!(connection.in_force().connections, 1);
    }
}
