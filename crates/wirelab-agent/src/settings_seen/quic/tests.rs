use proptest::prelude::*;

use super::*;

/// A variable-length integer of two bytes.
fn two(value: u16) -> [u8; 2] {
    (0x4000 | value).to_be_bytes()
}

fn hello(kind: u8, before: &[u8], parameters: &[u8]) -> Vec<u8> {
    let extension = [&EXTENSION.to_be_bytes()[..], &(parameters.len() as u16).to_be_bytes(), parameters].concat();
    let other = [0, 0x10, 0, 2, 9, 9];
    let extensions = [&other[..], &extension].concat();
    let body = [before, &(extensions.len() as u16).to_be_bytes(), &extensions].concat();
    [&[kind, 0, 0, body.len() as u8][..], &body].concat()
}

#[test]
fn parameters_are_read_from_either_sides_first_message_once_it_is_whole() {
    let parameters_sent = [&[0x04, 2][..], &two(8192), &[0x08, 1, 7], &[0x0c, 0], &[0x00, 3, 1, 2, 3]].concat();
    let before = [&[3, 3][..], &[0; 32], &[1, 9], &[0, 2, 0x13, 1], &[1, 0]].concat();
    let expected = BTreeMap::from([(0x04, 8192), (0x08, 7)]);
    for message in [hello(CLIENT_HELLO, &before, &parameters_sent), hello(ENCRYPTED_EXTENSIONS, &[], &parameters_sent)]
    {
        assert_eq!(parameters(&message), Some(expected.clone()));
        for cut in 0..message.len() {
            assert_eq!(parameters(&message[..cut]), None, "{cut}");
        }
    }
}

fn watch(secrets: &Secrets) -> Watch<'_> {
    let granted = BTreeMap::from([(0x04, 1000), (0x05, 300), (0x06, 300), (0x07, 300), (0x08, 2)]);
    let side = || Side { parameters: Some(granted.clone()), ended: true, opened: true, ..Side::default() };
    Watch {
        packets: Connection::new(secrets),
        secrets,
        client_chose: None,
        handshake: [None, None],
        sides: [side(), side()],
    }
}

/// A packet with a short header.
const BEHIND: &[u8] = &[0x40, 1, 2, 3];

/// A datagram with an Initial packet that is none of TLS, and what is behind it.
fn initial(behind: &[u8]) -> Vec<u8> {
    [&[0xc0, 0, 0, 0, 1, 2, 7, 7, 0, 0, 5][..], &[1; 5], behind].concat()
}

/// A STREAM frame with offset and length.
fn stream(id: u8, offset: u16, length: u16) -> Vec<u8> {
    [&[0x0e, id][..], &two(offset), &two(length), &vec![0; length.into()]].concat()
}

#[test]
fn what_is_used_of_a_limit_is_what_lies_beyond_its_last_rise() {
    let secrets = Secrets::default();
    let mut watch = watch(&secrets);
    watch.frames(1, &stream(0, 0, 250));
    // MAX_STREAM_DATA and MAX_DATA, 200 more each.
    watch.frames(0, &[&[0x11, 0][..], &two(500), &[0x10], &two(1200)].concat());
    watch.frames(1, &stream(0, 250, 150));
    watch.frames(1, &stream(3, 0, 40));
    let seen = watch.seen();
    let window = seen.client["stream-window"];
    assert_eq!((window.announced, window.used), (Some([300, 300]), Some(250)));
    assert_eq!(seen.client["connection-window"].used, Some(250));
    assert_eq!(seen.server["stream-window"].used, None);
}

#[test]
fn more_than_was_granted_is_seen() {
    let secrets = Secrets::default();
    let mut watch = watch(&secrets);
    watch.frames(0, &[stream(0, 0, 301), stream(8, 0, 1)].concat());
    let seen = watch.seen();
    assert_eq!(seen.server["stream-window"].used, Some(301));
    assert_eq!(seen.server["max-concurrent-streams"].used, Some(3));
    watch.frames(1, &[&[0x12][..], &[3]].concat());
    watch.frames(0, &stream(8, 1, 1));
    assert_eq!(watch.seen().server["max-concurrent-streams"].used, Some(3));
}

#[test]
fn what_acknowledgements_are_asked_for_is_told_in_the_settings_units() {
    let secrets = Secrets::default();
    let mut watch = watch(&secrets);
    assert_eq!(watch.seen().client["ack-delay"].announced, None);
    // Sequence number, threshold, 20,000 microseconds, reordering threshold.
    watch.frames(0, &[&[0x40, 0xaf, 0, 9, 0x80, 0, 0x4e, 0x20, 1][..]].concat());
    let seen = watch.seen();
    assert_eq!(seen.client["ack-delay"].announced, Some([20, 20]));
    assert_eq!(seen.client["ack-frequency"].announced, Some([9, 9]));
}

#[test]
fn a_connection_that_no_secret_opens_is_sealed() {
    let secrets = Secrets::default();
    let seen = seen(&[(0, &initial(&[])), (1, &initial(&[])), (0, BEHIND), (1, BEHIND)], &secrets);
    assert_eq!((seen.connections, seen.sealed, seen.unfinished), (0, 1, 0));
}

#[test]
fn a_connection_is_not_sealed_but_unfinished_until_both_ends_have_sent_something_behind_their_handshakes() {
    let secrets = Secrets::default();
    let (alone, padded, before) = (initial(&[]), initial(&[0; 9]), initial(BEHIND));
    for datagrams in [
        &[(0, &alone[..])][..],
        &[(0, &padded), (1, &padded)],
        // A server may send before the client's handshake has ended (RFC 9001, section 5.7).
        &[(0, &alone), (1, &before), (1, BEHIND)],
    ] {
        let seen = seen(datagrams, &secrets);
        assert_eq!((seen.connections, seen.sealed, seen.unfinished), (0, 0, 1), "{datagrams:?}");
    }
    let finished = seen(&[(0, &alone), (1, &before), (0, BEHIND)], &secrets);
    assert_eq!((finished.sealed, finished.unfinished), (1, 0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_frames_and_datagrams_are_read(
        frames in prop::collection::vec((0..2usize, prop::collection::vec(any::<u8>(), 0..60)), 0..20),
        begin in prop_oneof![Just(vec![0xc0, 0, 0, 0, 1, 2, 7, 7, 0, 0, 40]), Just(vec![0xe0, 0, 0, 0, 1, 0, 0, 40]), Just(vec![0x40])],
    ) {
        let secrets = Secrets::default();
        let mut watch = watch(&secrets);
        for (side, bytes) in &frames {
            watch.frames(*side, bytes);
            watch.datagram(*side, &[&begin[..], bytes].concat());
            parameters(bytes);
        }
        prop_assert_eq!(watch.seen().connections, 1);
    }
}
