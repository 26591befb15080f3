//! Tests: publishing at each quality of service.

use super::*;

#[test]
fn a_subscriber_gets_each_message_with_the_lower_of_both_qualities_of_service() {
    for version in BOTH {
        for published in EVERY_QOS {
            for subscribed in EVERY_QOS {
                let mut lab = Lab::new();
                let (mut publisher, mut subscriber) = (lab.connect(version, "p"), lab.connect(version, "s"));
                assert_eq!(lab.subscribe(&mut subscriber, "a/+", subscribed), [Reason(subscribed as u8)]);
                let id = u16::from(published != Qos::AtMostOnce) * 5;
                lab.say(&publisher, Packet::Publish(publish("a/b", "x", published, id)));
                let answer = lab.heard(&mut publisher);
                let expected = match published {
                    Qos::AtMostOnce => vec![],
                    Qos::AtLeastOnce => vec![ack(AckKind::Puback, 5)],
                    Qos::ExactlyOnce => vec![ack(AckKind::Pubrec, 5)],
                };
                assert_eq!(answer, expected);
                let qos = published.min(subscribed);
                let id = u16::from(qos != Qos::AtMostOnce);
                assert_eq!(lab.heard_one(&mut subscriber), Packet::Publish(publish("a/b", "x", qos, id)));
            }
        }
    }
}

#[test]
fn a_retransmitted_qos_2_message_is_forwarded_once() {
    for version in BOTH {
        let mut lab = Lab::new();
        let (mut publisher, mut subscriber) = (lab.connect(version, "p"), lab.connect(version, "s"));
        lab.subscribe(&mut subscriber, "#", Qos::AtMostOnce);
        let message = publish("t", "x", Qos::ExactlyOnce, 9);
        lab.say(&publisher, Packet::Publish(message.clone()));
        lab.say(&publisher, Packet::Publish(Publish { dup: true, ..message.clone() }));
        assert_eq!(lab.heard(&mut publisher), [ack(AckKind::Pubrec, 9), ack(AckKind::Pubrec, 9)]);
        lab.say(&publisher, ack(AckKind::Pubrel, 9));
        assert_eq!(lab.heard(&mut publisher), [ack(AckKind::Pubcomp, 9)]);
        assert_eq!(lab.messages(&mut subscriber), [pair("t", "x")]);
        // After PUBREL the identifier means a new message.
        lab.say(&publisher, Packet::Publish(message));
        assert_eq!(lab.messages(&mut subscriber), [pair("t", "x")]);
    }
}

#[test]
fn a_release_of_nothing_is_completed_with_the_reason_that_version_5_has() {
    for (version, reason) in [(Version::V311, Reason::SUCCESS), (Version::V5, Reason::UNKNOWN_ID)] {
        let mut lab = Lab::new();
        let mut publisher = lab.connect(version, "p");
        lab.say(&publisher, ack(AckKind::Pubrel, 9));
        let expected = Packet::Ack(Ack { kind: AckKind::Pubcomp, id: 9, reason });
        assert_eq!(lab.heard_one(&mut publisher), expected);
    }
}

#[test]
fn messages_arrive_in_the_order_in_which_they_were_published() {
    for qos in EVERY_QOS {
        let mut lab = Lab::new();
        let (publisher, mut subscriber) = (lab.connect(Version::V5, "p"), lab.connect(Version::V311, "s"));
        lab.subscribe(&mut subscriber, "t", qos);
        for id in 1..=100 {
            lab.say(
                &publisher,
                Packet::Publish(publish(
                    &format!("t{}", if id == 50 { "x" } else { "" }),
                    "m",
                    qos,
                    if qos == Qos::AtMostOnce { 0 } else { id },
                )),
            );
        }
        let ids: Vec<u16> = lab
            .heard(&mut subscriber)
            .into_iter()
            .map(|packet| match packet {
                Packet::Publish(publish) => publish.id,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(ids.len(), 99);
        assert!(qos == Qos::AtMostOnce || ids.is_sorted());
    }
}

#[test]
fn the_application_has_a_reading_before_it_is_acknowledged_and_can_refuse_it() {
    let application = Remembering::default();
    let mut lab = Lab::with(Limits::default(), Box::new(application.clone()));
    let mut subscriber = lab.connect(Version::V5, "s");
    lab.subscribe(&mut subscriber, "app", Qos::ExactlyOnce);
    let mut publisher = lab.connect(Version::V5, "p");
    for (qos, kind) in [(Qos::AtLeastOnce, AckKind::Puback), (Qos::ExactlyOnce, AckKind::Pubrec)] {
        lab.say(&publisher, Packet::Publish(publish("app", "right", qos, 1)));
        assert_eq!(lab.heard_one(&mut publisher), ack(kind, 1));
        lab.say(&publisher, Packet::Publish(publish("app", "wrong", qos, 2)));
        let refused = Packet::Ack(Ack { kind, id: 2, reason: Reason::PAYLOAD_FORMAT });
        assert_eq!(lab.heard_one(&mut publisher), refused);
    }
    assert_eq!(lab.messages(&mut subscriber), [pair("app", "right"), pair("app", "right")]);
    // 3.1.1 can only acknowledge or end the connection.
    let mut old = lab.connect(Version::V311, "old");
    lab.say(&old, Packet::Publish(publish("app", "wrong", Qos::AtLeastOnce, 1)));
    assert_eq!(lab.heard(&mut old), []);
    assert!(!lab.is_open(&old));
    let taken = application.0.lock().expect("unpoisoned").clone();
    assert_eq!(taken, ["p: right", "p: wrong", "p: right", "p: wrong", "old: wrong"]);
}

#[test]
fn a_publisher_learns_that_there_was_no_subscriber() {
    let mut lab = Lab::new();
    let mut publisher = lab.connect(Version::V5, "p");
    lab.say(&publisher, Packet::Publish(publish("t", "x", Qos::AtLeastOnce, 1)));
    let reason = Reason::NO_MATCHING_SUBSCRIBERS;
    assert_eq!(lab.heard_one(&mut publisher), Packet::Ack(Ack { kind: AckKind::Puback, id: 1, reason }));
}

#[test]
fn filters_that_overlap_bring_one_copy_with_the_highest_quality_and_every_identifier() {
    let mut lab = Lab::new();
    let (publisher, mut subscriber) = (lab.connect(Version::V5, "p"), lab.connect(Version::V5, "s"));
    lab.subscribe_with(&mut subscriber, "a/#", SubscriptionOptions::new(Qos::AtMostOnce), Some(3));
    lab.subscribe_with(&mut subscriber, "a/+", SubscriptionOptions::new(Qos::AtLeastOnce), Some(4));
    lab.say(&publisher, Packet::Publish(publish("a/b", "x", Qos::ExactlyOnce, 1)));
    let Packet::Publish(got) = lab.heard_one(&mut subscriber) else { panic!("not a message") };
    let mut identifiers = got.subscriptions.clone();
    identifiers.sort_unstable();
    assert_eq!((got.qos, identifiers), (Qos::AtLeastOnce, vec![3, 4]));
}

#[test]
fn retained_messages_go_to_new_subscriptions_marked_as_retained() {
    for version in BOTH {
        let mut lab = Lab::new();
        let publisher = lab.connect(version, "p");
        let mut early = lab.connect(version, "early");
        lab.subscribe(&mut early, "#", Qos::AtMostOnce);
        lab.say(&publisher, retained("a/1", "old"));
        lab.say(&publisher, retained("a/1", "new"));
        lab.say(&publisher, retained("a/2", "gone"));
        lab.say(&publisher, retained("a/2", ""));
        let flags: Vec<bool> = lab
            .heard(&mut early)
            .into_iter()
            .map(|packet| matches!(packet, Packet::Publish(Publish { retain: true, .. })))
            .collect();
        assert_eq!(flags, [false; 4], "to whom subscribed before it is an ordinary message");
        let mut late = lab.connect(version, "late");
        let filters = vec![("a/+".to_owned(), SubscriptionOptions::new(Qos::AtMostOnce))];
        lab.say(&late, Packet::Subscribe(Subscribe { id: 7, filters, identifier: None }));
        let expected = [Packet::Suback(7, vec![Reason::SUCCESS]), retained("a/1", "new")];
        assert_eq!(lab.heard(&mut late), expected);
    }
}

#[test]
fn retain_handling_retain_as_published_and_no_local_are_honoured() {
    let mut lab = Lab::new();
    let mut client = lab.connect(Version::V5, "c");
    lab.say(&client, retained("t", "x"));
    let options = SubscriptionOptions::new(Qos::AtMostOnce);
    let never = SubscriptionOptions { retain_handling: RetainHandling::DoNotSendRetained, ..options };
    assert_eq!(lab.subscribe_with(&mut client, "t", never, None), [Reason::SUCCESS]);
    let if_new = SubscriptionOptions { retain_handling: RetainHandling::SendRetainedIfNotExists, ..options };
    assert_eq!(lab.subscribe_with(&mut client, "t", if_new, None), [Reason::SUCCESS]);
    let as_published = SubscriptionOptions { retain_as_published: true, ..never };
    lab.subscribe_with(&mut client, "t", as_published, None);
    lab.say(&client, retained("t", "y"));
    assert_eq!(lab.heard_one(&mut client), retained("t", "y"));
    let not_mine = SubscriptionOptions { no_local: true, ..never };
    lab.subscribe_with(&mut client, "t", not_mine, None);
    lab.say(&client, retained("t", "z"));
    assert_eq!(lab.heard(&mut client), []);
}

#[test]
fn an_unsubscribed_client_gets_nothing_more() {
    for version in BOTH {
        let mut lab = Lab::new();
        let (publisher, mut subscriber) = (lab.connect(version, "p"), lab.connect(version, "s"));
        lab.subscribe(&mut subscriber, "t", Qos::AtMostOnce);
        lab.say(&subscriber, Packet::Unsubscribe(3, vec!["t".to_owned(), "u".to_owned()]));
        let reasons = match version {
            Version::V311 => vec![],
            Version::V5 => vec![Reason::SUCCESS, Reason::NO_SUBSCRIPTION_EXISTED],
        };
        assert_eq!(lab.heard_one(&mut subscriber), Packet::Unsuback(3, reasons));
        lab.say(&publisher, Packet::Publish(publish("t", "x", Qos::AtMostOnce, 0)));
        assert_eq!(lab.heard(&mut subscriber), []);
    }
}

#[test]
fn filters_that_are_none_and_shared_ones_are_refused_one_by_one() {
    let filters = ["a/#/b", "ok", "$share/group/t"];
    let asked: Vec<_> =
        filters.iter().map(|filter| ((*filter).to_owned(), SubscriptionOptions::new(Qos::AtLeastOnce))).collect();
    for (version, expected) in [
        (Version::V311, [Reason(0x80), Reason(1), Reason(1)]),
        (Version::V5, [Reason::TOPIC_FILTER, Reason(1), Reason::NO_SHARED]),
    ] {
        let mut lab = Lab::new();
        let mut client = lab.connect(version, "c");
        lab.say(&client, Packet::Subscribe(Subscribe { id: 2, filters: asked.clone(), identifier: None }));
        assert_eq!(lab.heard_one(&mut client), Packet::Suback(2, expected.to_vec()), "{version:?}");
    }
}

#[test]
fn a_thousand_subscribers_are_each_sent_the_message() {
    let mut lab = Lab::new();
    let mut subscribers: Vec<Peer> =
        (0..1_000).map(|number| lab.connect(Version::V311, &format!("s{number}"))).collect();
    for subscriber in &mut subscribers {
        lab.subscribe(subscriber, "t", Qos::AtLeastOnce);
    }
    let publisher = lab.connect(Version::V5, "p");
    lab.say(&publisher, Packet::Publish(publish("t", "x", Qos::AtLeastOnce, 1)));
    for subscriber in &mut subscribers {
        assert_eq!(lab.messages(subscriber), [pair("t", "x")]);
    }
}

#[test]
fn a_message_too_large_for_a_subscriber_is_skipped_for_it() {
    let mut lab = Lab::new();
    let publisher = lab.connect(Version::V5, "p");
    let narrow = Connect { maximum_packet_size: Some(30), ..connect(Version::V5, "s") };
    let (mut subscriber, _) = lab.connect_as(narrow);
    lab.subscribe(&mut subscriber, "t", Qos::AtLeastOnce);
    let long = "a payload that alone has more than thirty bytes";
    for payload in [long, "short"] {
        lab.say(&publisher, Packet::Publish(publish("t", payload, Qos::AtLeastOnce, 1)));
    }
    assert_eq!(lab.messages(&mut subscriber), [pair("t", "short")]);
}

#[test]
fn a_subscriber_that_reads_nothing_loses_qos_0_and_keeps_the_rest_for_later() {
    let limits = Limits { backlog_bytes: 100, ..Limits::default() };
    let mut lab = Lab::with(limits, Box::new(broker::Nobody));
    let (publisher, mut subscriber) = (lab.connect(Version::V311, "p"), lab.connect(Version::V311, "s"));
    lab.subscribe(&mut subscriber, "#", Qos::AtLeastOnce);
    for id in 1..=50 {
        lab.say(&publisher, Packet::Publish(publish("0", "x", Qos::AtMostOnce, 0)));
        lab.say(&publisher, Packet::Publish(publish("1", "x", Qos::AtLeastOnce, id)));
    }
    let messages = lab.messages(&mut subscriber);
    assert_eq!(messages.iter().filter(|(topic, _)| topic == "1").count(), 50);
    assert!(messages.iter().filter(|(topic, _)| topic == "0").count() < 20, "{messages:?}");
}
