//! Tests: sessions that outlive a connection.

use super::*;

/// The rest of a QoS 2 flow from the broker, on the subscriber's side.
fn complete(lab: &mut Lab, subscriber: &mut Peer, id: u16) {
    lab.say(subscriber, ack(AckKind::Pubrec, id));
    assert_eq!(lab.heard_one(subscriber), ack(AckKind::Pubrel, id));
    lab.say(subscriber, ack(AckKind::Pubcomp, id));
}

#[test]
fn messages_for_a_subscriber_that_is_away_wait_in_its_session() {
    for version in BOTH {
        let mut lab = Lab::new();
        let publisher = lab.connect(version, "p");
        let (mut subscriber, present) = lab.connect_as(lasting(version, "s"));
        assert!(!present);
        lab.subscribe(&mut subscriber, "t", Qos::ExactlyOnce);
        lab.drop_peer(subscriber);
        for (id, qos) in (1..).zip(EVERY_QOS) {
            let id = if qos == Qos::AtMostOnce { 0 } else { id };
            lab.say(&publisher, Packet::Publish(publish("t", "x", qos, id)));
        }
        let mut again = lab.open(version);
        lab.say(&again, Packet::Connect(Box::new(lasting(version, "s"))));
        let said = lab.heard(&mut again);
        assert!(matches!(said[0], Packet::Connack(Connack { session_present: true, .. })), "{said:?}");
        let expected = [
            Packet::Publish(publish("t", "x", Qos::AtLeastOnce, 1)),
            Packet::Publish(publish("t", "x", Qos::ExactlyOnce, 2)),
        ];
        assert_eq!(said[1..], expected, "QoS 0 does not wait");
    }
}

#[test]
fn unacknowledged_messages_are_retransmitted_in_order_with_dup() {
    for version in BOTH {
        let mut lab = Lab::new();
        let publisher = lab.connect(version, "p");
        let (mut subscriber, _) = lab.connect_as(lasting(version, "s"));
        lab.subscribe(&mut subscriber, "t", Qos::ExactlyOnce);
        for id in 1..=4 {
            lab.say(&publisher, Packet::Publish(publish("t", "x", Qos::ExactlyOnce, id)));
        }
        assert_eq!(lab.heard(&mut subscriber).len(), 4);
        complete(&mut lab, &mut subscriber, 1);
        lab.say(&subscriber, ack(AckKind::Pubrec, 2));
        assert_eq!(lab.heard_one(&mut subscriber), ack(AckKind::Pubrel, 2));
        lab.drop_peer(subscriber);
        let (mut subscriber, mut said) = (lab.open(version), Vec::new());
        lab.say(&subscriber, Packet::Connect(Box::new(lasting(version, "s"))));
        said.extend(lab.heard(&mut subscriber));
        let again = |id| Packet::Publish(Publish { dup: true, ..publish("t", "x", Qos::ExactlyOnce, id) });
        assert_eq!(said[1..], [ack(AckKind::Pubrel, 2), again(3), again(4)]);
        lab.say(&subscriber, ack(AckKind::Pubcomp, 2));
        complete(&mut lab, &mut subscriber, 3);
        complete(&mut lab, &mut subscriber, 4);
        lab.drop_peer(subscriber);
        let (mut subscriber, _) = lab.connect_as(lasting(version, "s"));
        assert_eq!(lab.heard(&mut subscriber), [], "all is done");
    }
}

#[test]
fn a_qos_2_message_is_forwarded_once_across_a_reconnection_of_its_publisher() {
    for version in BOTH {
        let mut lab = Lab::new();
        let mut subscriber = lab.connect(version, "s");
        lab.subscribe(&mut subscriber, "t", Qos::AtMostOnce);
        let message = publish("t", "x", Qos::ExactlyOnce, 1);
        let (publisher, _) = lab.connect_as(lasting(version, "p"));
        lab.say(&publisher, Packet::Publish(message.clone()));
        lab.drop_peer(publisher);
        let (mut publisher, present) = lab.connect_as(lasting(version, "p"));
        assert!(present);
        lab.say(&publisher, Packet::Publish(Publish { dup: true, ..message }));
        assert_eq!(lab.heard_one(&mut publisher), ack(AckKind::Pubrec, 1));
        lab.say(&publisher, ack(AckKind::Pubrel, 1));
        assert_eq!(lab.heard_one(&mut publisher), ack(AckKind::Pubcomp, 1));
        assert_eq!(lab.messages(&mut subscriber), [pair("t", "x")]);
    }
}

#[test]
fn a_clean_start_forgets_everything() {
    for version in BOTH {
        let mut lab = Lab::new();
        let (mut client, _) = lab.connect_as(lasting(version, "c"));
        lab.subscribe(&mut client, "t", Qos::AtLeastOnce);
        lab.say(&client, disconnect());
        lab.drop_peer(client);
        let publisher = lab.connect(version, "p");
        lab.say(&publisher, Packet::Publish(publish("t", "x", Qos::AtLeastOnce, 1)));
        let (mut client, present) = lab.connect_as(connect(version, "c"));
        assert!(!present);
        lab.say(&publisher, Packet::Publish(publish("t", "y", Qos::AtLeastOnce, 2)));
        assert_eq!(lab.heard(&mut client), []);
        lab.drop_peer(client);
        let (_, present) = lab.connect_as(lasting(version, "c"));
        assert!(!present, "the session of a clean start ends with its connection");
    }
}

#[test]
fn the_receive_maximum_limits_messages_also_after_a_reconnection() {
    let mut lab = Lab::new();
    let publisher = lab.connect(Version::V311, "p");
    let two = || Connect { receive_maximum: 2, ..lasting(Version::V5, "s") };
    let (mut subscriber, _) = lab.connect_as(two());
    lab.subscribe(&mut subscriber, "t", Qos::ExactlyOnce);
    for id in 1..=5 {
        lab.say(&publisher, Packet::Publish(publish("t", "x", Qos::ExactlyOnce, id)));
    }
    assert_eq!(lab.heard(&mut subscriber).len(), 2);
    lab.say(&subscriber, ack(AckKind::Pubrec, 1));
    assert_eq!(lab.heard_one(&mut subscriber), ack(AckKind::Pubrel, 1));
    lab.drop_peer(subscriber);
    let mut subscriber = lab.open(Version::V5);
    lab.say(&subscriber, Packet::Connect(Box::new(two())));
    let said = lab.heard(&mut subscriber);
    let again = Packet::Publish(Publish { dup: true, ..publish("t", "x", Qos::ExactlyOnce, 2) });
    let third = Packet::Publish(publish("t", "x", Qos::ExactlyOnce, 3));
    assert_eq!(said[1..], [ack(AckKind::Pubrel, 1), again, third]);
    lab.say(&subscriber, ack(AckKind::Pubcomp, 1));
    assert_eq!(lab.heard(&mut subscriber), [], "two are still under way");
    complete(&mut lab, &mut subscriber, 2);
    assert_eq!(lab.messages(&mut subscriber).len(), 1);
}

#[test]
fn a_second_connection_of_a_client_takes_its_session_over() {
    for version in BOTH {
        let mut lab = Lab::new();
        let (mut first, _) = lab.connect_as(lasting(version, "c"));
        lab.subscribe(&mut first, "t", Qos::AtLeastOnce);
        let (mut second, present) = lab.connect_as(lasting(version, "c"));
        assert!(present);
        assert!(!lab.is_open(&first));
        let last_words = lab.heard(&mut first);
        let taken_over = Packet::Disconnect(Disconnect { reason: Reason::TAKEN_OVER, session_expiry_s: None });
        assert_eq!(last_words, if version == Version::V5 { vec![taken_over] } else { vec![] });
        lab.drop_peer(first);
        lab.say(&second, Packet::Publish(publish("t", "x", Qos::AtMostOnce, 0)));
        assert_eq!(lab.messages(&mut second), [pair("t", "x")]);
    }
}

#[test]
fn a_client_without_a_name_is_given_one_or_in_an_old_lasting_session_refused() {
    let mut lab = Lab::new();
    let mut client = lab.open(Version::V5);
    lab.say(&client, Packet::Connect(Box::new(connect(Version::V5, ""))));
    let Packet::Connack(connack) = lab.heard_one(&mut client) else { panic!("no CONNACK") };
    assert!(connack.assigned_client_id.is_some());
    let (_, present) = lab.connect_as(connect(Version::V311, ""));
    assert!(!present);
    let mut refused = lab.open(Version::V311);
    lab.say(&refused, Packet::Connect(Box::new(lasting(Version::V311, ""))));
    assert_eq!(lab.heard_one(&mut refused), Packet::Connack(Connack::refusal(Reason::CLIENT_ID)));
    assert!(!lab.is_open(&refused));
}

#[test]
fn disconnect_may_change_how_long_the_session_lasts_but_not_begin_one() {
    let mut lab = Lab::new();
    let end_now = Packet::Disconnect(Disconnect { reason: Reason::SUCCESS, session_expiry_s: Some(0) });
    let (client, _) = lab.connect_as(lasting(Version::V5, "c"));
    lab.say(&client, end_now);
    lab.drop_peer(client);
    let (client, present) = lab.connect_as(Connect { session_expiry_s: 0, ..lasting(Version::V5, "c") });
    assert!(!present);
    let mut client = client;
    let longer = Packet::Disconnect(Disconnect { reason: Reason::SUCCESS, session_expiry_s: Some(9) });
    lab.say(&client, longer);
    let expected = Packet::Disconnect(Disconnect { reason: Reason::PROTOCOL_ERROR, session_expiry_s: None });
    assert_eq!(lab.heard_one(&mut client), expected);
}
