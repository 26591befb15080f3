//! Tests: malformed and forbidden packets.

use super::*;

/// CONNECT of a client `c`, up to its end, in the version's bytes.
fn connect_bytes(version: Version) -> Vec<u8> {
    Packet::Connect(Box::new(connect(version, "c"))).encode(version).expect("a packet")
}

#[test]
fn a_malformed_packet_ends_its_connection_with_the_right_reason_and_no_other() {
    // What is sent after CONNECT, and what the broker calls it.
    let cases: &[(&str, &[u8], Reason)] = &[
        ("reserved packet type", &[0x00, 0x00], Reason::MALFORMED),
        ("length of five bytes", &[0x30, 0xff, 0xff, 0xff, 0xff, 0x01], Reason::MALFORMED),
        ("PUBREL without its flags", &[0x60, 0x02, 0x00, 0x01], Reason::MALFORMED),
        ("SUBSCRIBE without its flags", b"\x80\x08\0\x01\0\0\x02ab\x00", Reason::MALFORMED),
        ("PINGREQ with a body", &[0xc0, 0x01, 0x00], Reason::MALFORMED),
        ("QoS 3", b"\x36\x06\0\x01t\0\x01\0", Reason::MALFORMED),
        ("DUP with QoS 0", b"\x38\x04\0\x01t\0", Reason::MALFORMED),
        ("packet identifier 0", b"\x32\x06\0\x01t\0\0\0", Reason::MALFORMED),
        ("topic longer than the packet", b"\x30\x03\0\x09t", Reason::MALFORMED),
        ("topic that is not UTF-8", b"\x30\x04\0\x01\xff\0", Reason::MALFORMED),
        ("topic with U+0000", b"\x30\x04\0\x01\0\0", Reason::MALFORMED),
        ("topic with a wildcard", b"\x30\x06\0\x03a/#\0", Reason::TOPIC_NAME),
        ("second CONNECT", b"\x10\x0e\0\x04MQTT\x05\x02\0\0\0\0\x01c", Reason::PROTOCOL_ERROR),
        ("CONNACK from a client", &[0x20, 0x03, 0x00, 0x00, 0x00], Reason::PROTOCOL_ERROR),
        ("SUBSCRIBE to nothing", &[0x82, 0x03, 0x00, 0x01, 0x00], Reason::PROTOCOL_ERROR),
        ("topic alias that was not allowed", b"\x30\x07\0\x01t\x03\x23\0\x01", Reason::TOPIC_ALIAS),
        ("AUTH out of the blue", &[0xf0, 0x00], Reason::PROTOCOL_ERROR),
        ("PUBCOMP of a message that is not released", &[0x70, 0x02, 0x00, 0x01], Reason::PROTOCOL_ERROR),
    ];
    for (what, bytes, reason) in cases {
        let mut lab = Lab::new();
        let mut other = lab.connect(Version::V5, "other");
        let mut client = lab.connect(Version::V5, "c");
        lab.subscribe(&mut client, "own", Qos::ExactlyOnce);
        lab.say(&other, Packet::Publish(publish("own", "x", Qos::ExactlyOnce, 1)));
        lab.heard(&mut client);
        lab.heard(&mut other);
        lab.say_bytes(&client, bytes);
        let expected = Packet::Disconnect(Disconnect { reason: *reason, session_expiry_s: None });
        assert_eq!(lab.heard(&mut client), [expected], "{what}");
        assert!(!lab.is_open(&client), "{what}");
        lab.say(&other, Packet::Pingreq);
        assert_eq!(lab.heard_one(&mut other), Packet::Pingresp, "{what}");
    }
}

#[test]
fn version_3_1_1_has_no_reason_code_for_a_malformed_packet() {
    let mut lab = Lab::new();
    for bytes in [&b"\x36\x05\0\x01t\0\x01"[..], &[0xf0, 0x00], b"\x82\x06\0\x01\0\x01t\x04", &[0x00, 0x00]] {
        let mut client = lab.connect(Version::V311, "c");
        lab.say_bytes(&client, bytes);
        assert_eq!(lab.heard(&mut client), [], "{bytes:?}");
        assert!(!lab.is_open(&client), "{bytes:?}");
    }
}

#[test]
fn a_connect_that_is_not_right_is_refused_in_its_own_version() {
    let cases: &[(&str, &[u8], Version, Option<Reason>)] = &[
        ("version 3.1", b"\x10\x0f\0\x06MQIsdp\x03\x02\0\0\0\x01c", Version::V311, Some(Reason::UNSUPPORTED_VERSION)),
        ("version 6", b"\x10\x0d\0\x04MQTT\x06\x02\0\0\0\x01c", Version::V311, Some(Reason::UNSUPPORTED_VERSION)),
        ("another protocol", b"\x10\x0d\0\x04HTTP\x05\x02\0\0\0\x01c", Version::V311, None),
        ("something before CONNECT", &[0xc0, 0x00], Version::V311, None),
        ("reserved flag", b"\x10\x0e\0\x04MQTT\x05\x03\0\0\0\0\x01c", Version::V5, Some(Reason::MALFORMED)),
        ("will QoS without a will", b"\x10\x0e\0\x04MQTT\x05\x0a\0\0\0\0\x01c", Version::V5, Some(Reason::MALFORMED)),
        (
            "authentication",
            b"\x10\x12\0\x04MQTT\x05\x02\0\0\x04\x15\0\x01x\0\x01c",
            Version::V5,
            Some(Reason::AUTHENTICATION_METHOD),
        ),
    ];
    for (what, bytes, version, reason) in cases {
        let mut lab = Lab::new();
        let mut client = lab.open(*version);
        lab.say_bytes(&client, bytes);
        let expected: Vec<Packet> = reason.iter().map(|reason| Packet::Connack(Connack::refusal(*reason))).collect();
        assert_eq!(lab.heard(&mut client), expected, "{what}");
        assert!(!lab.is_open(&client), "{what}");
    }
}

#[test]
fn packets_are_understood_however_they_are_cut() {
    for version in BOTH {
        let mut bytes = connect_bytes(version);
        let filters = vec![("t".to_owned(), SubscriptionOptions::new(Qos::AtMostOnce))];
        for packet in [
            Packet::Subscribe(Subscribe { id: 1, filters, identifier: None }),
            Packet::Publish(publish("t", "x", Qos::ExactlyOnce, 2)),
            ack(AckKind::Pubrel, 2),
            Packet::Pingreq,
        ] {
            bytes.extend(packet.encode(version).expect("a packet"));
        }
        let mut heard = Vec::new();
        for size in [1, 2, 3, 7, bytes.len()] {
            let mut lab = Lab::new();
            let mut client = lab.open(version);
            for part in bytes.chunks(size) {
                lab.say_bytes(&client, part);
            }
            heard.push(lab.heard(&mut client));
        }
        assert_eq!(heard[0].len(), 6, "{:?}", heard[0]);
        assert!(heard.iter().all(|packets| packets == &heard[0]));
    }
}

#[test]
fn more_than_the_receive_maximum_or_the_maximum_packet_size_ends_the_connection() {
    let limits = Limits { receive_maximum: 2, maximum_packet_size: 100, ..Limits::default() };
    let mut lab = Lab::with(limits, Box::new(broker::Nobody));
    let mut client = lab.open(Version::V5);
    lab.say(&client, Packet::Connect(Box::new(connect(Version::V5, "c"))));
    let Packet::Connack(connack) = lab.heard_one(&mut client) else { panic!("no CONNACK") };
    assert_eq!((connack.receive_maximum, connack.maximum_packet_size), (2, Some(100)));
    for id in 1..=3 {
        lab.say(&client, Packet::Publish(publish("t", "x", Qos::ExactlyOnce, id)));
    }
    let said = lab.heard(&mut client);
    let exceeded = Packet::Disconnect(Disconnect { reason: Reason::RECEIVE_MAXIMUM, session_expiry_s: None });
    assert_eq!(said.last(), Some(&exceeded));
    let mut client = lab.connect(Version::V5, "c");
    lab.say_bytes(&client, &[0x30, 0x63]);
    let too_large = Packet::Disconnect(Disconnect { reason: Reason::TOO_LARGE, session_expiry_s: None });
    assert_eq!(lab.heard_one(&mut client), too_large, "known from its header");
}
