//! Tests: keep-alives, wills and expiry.

use super::*;

fn with_will(delay_s: u32, connect: Connect) -> Connect {
    let message = Message::new("will", "gone");
    let will = Will { message, qos: Qos::AtLeastOnce, retain: false, delay_s, expiry_s: None };
    Connect { will: Some(will), ..connect }
}

fn watcher(lab: &mut Lab) -> Peer {
    let mut watcher = lab.connect(Version::V5, "watcher");
    lab.subscribe(&mut watcher, "#", Qos::AtMostOnce);
    watcher
}

#[test]
fn a_silent_client_is_disconnected_after_one_and_a_half_keep_alives() {
    for version in BOTH {
        let mut lab = Lab::new();
        let keep_alive = Connect { keep_alive_s: 10, ..connect(version, "c") };
        let (mut client, _) = lab.connect_as(keep_alive);
        lab.pass(14 * SECOND_NS);
        lab.say(&client, Packet::Pingreq);
        assert_eq!(lab.heard_one(&mut client), Packet::Pingresp);
        lab.pass(14 * SECOND_NS);
        assert!(lab.is_open(&client));
        lab.pass(SECOND_NS);
        assert!(!lab.is_open(&client));
        let timed_out = Packet::Disconnect(Disconnect { reason: Reason::KEEP_ALIVE, session_expiry_s: None });
        assert_eq!(lab.heard(&mut client), if version == Version::V5 { vec![timed_out] } else { vec![] });
    }
}

#[test]
fn without_keep_alive_a_client_may_be_silent_for_ever_but_not_before_connect() {
    let mut lab = Lab::new();
    let client = lab.connect(Version::V5, "c");
    let mute = lab.open(Version::V5);
    lab.pass(9 * SECOND_NS);
    assert!(lab.is_open(&mute));
    lab.pass(1_000_000 * SECOND_NS);
    assert!(lab.is_open(&client));
    assert!(!lab.is_open(&mute));
}

#[test]
fn a_will_is_published_after_a_broken_connection_and_not_after_disconnect() {
    for version in BOTH {
        let mut lab = Lab::new();
        let mut watcher = watcher(&mut lab);
        let (client, _) = lab.connect_as(with_will(0, connect(version, "c")));
        lab.say(&client, disconnect());
        lab.drop_peer(client);
        assert_eq!(lab.messages(&mut watcher), []);
        let (client, _) = lab.connect_as(with_will(0, connect(version, "c")));
        lab.drop_peer(client);
        assert_eq!(lab.messages(&mut watcher), [pair("will", "gone")]);
        let keep_alive = Connect { keep_alive_s: 2, ..connect(version, "c") };
        let (client, _) = lab.connect_as(with_will(0, keep_alive));
        lab.pass(3 * SECOND_NS);
        lab.drop_peer(client);
        assert_eq!(lab.messages(&mut watcher), [pair("will", "gone")]);
    }
}

#[test]
fn a_delayed_will_waits_for_the_client_and_for_no_longer_than_its_session() {
    let mut lab = Lab::new();
    let mut watcher = watcher(&mut lab);
    let delayed = |delay_s| with_will(delay_s, Connect { session_expiry_s: 100, ..lasting(Version::V5, "c") });
    let (client, _) = lab.connect_as(delayed(10));
    lab.drop_peer(client);
    lab.pass(9 * SECOND_NS);
    assert_eq!(lab.messages(&mut watcher), []);
    let (client, _) = lab.connect_as(delayed(10));
    lab.pass(50 * SECOND_NS);
    assert_eq!(lab.messages(&mut watcher), [], "it came back in time");
    lab.drop_peer(client);
    lab.pass(10 * SECOND_NS);
    assert_eq!(lab.messages(&mut watcher), [pair("will", "gone")]);
    let (client, present) = lab.connect_as(delayed(1_000));
    assert!(present);
    lab.drop_peer(client);
    lab.pass(99 * SECOND_NS);
    assert_eq!(lab.messages(&mut watcher), []);
    lab.pass(SECOND_NS);
    assert_eq!(lab.messages(&mut watcher), [pair("will", "gone")], "with the end of the session");
}

#[test]
fn a_session_lasts_for_its_session_expiry_interval() {
    let mut lab = Lab::new();
    for (away_s, expected) in [(3_599, true), (3_600, false), (3_601, false)] {
        let (client, _) = lab.connect_as(lasting(Version::V5, "c"));
        lab.drop_peer(client);
        lab.pass(away_s * SECOND_NS);
        let (client, present) = lab.connect_as(lasting(Version::V5, "c"));
        assert_eq!(present, expected, "{away_s}");
        lab.drop_peer(client);
        lab.pass(4_000 * SECOND_NS);
    }
    let (client, _) = lab.connect_as(Connect { session_expiry_s: u32::MAX, ..lasting(Version::V5, "ever") });
    lab.drop_peer(client);
    let (client, _) = lab.connect_as(lasting(Version::V311, "old"));
    lab.drop_peer(client);
    lab.pass(1_000_000_000 * SECOND_NS);
    assert!(lab.connect_as(lasting(Version::V5, "ever")).1);
    assert!(lab.connect_as(lasting(Version::V311, "old")).1);
}

#[test]
fn a_waiting_message_is_dropped_at_its_expiry_or_sent_with_the_time_left() {
    let mut lab = Lab::new();
    let publisher = lab.connect(Version::V5, "p");
    let (mut subscriber, _) = lab.connect_as(lasting(Version::V5, "s"));
    lab.subscribe(&mut subscriber, "t", Qos::AtLeastOnce);
    lab.drop_peer(subscriber);
    for (id, expiry_s) in [(1, Some(10)), (2, Some(30)), (3, None)] {
        lab.say(&publisher, Packet::Publish(Publish { expiry_s, ..publish("t", "x", Qos::AtLeastOnce, id) }));
    }
    lab.pass(10 * SECOND_NS);
    let mut subscriber = lab.open(Version::V5);
    lab.say(&subscriber, Packet::Connect(Box::new(lasting(Version::V5, "s"))));
    let said = lab.heard(&mut subscriber);
    let left = |id, expiry_s| Packet::Publish(Publish { expiry_s, ..publish("t", "x", Qos::AtLeastOnce, id) });
    assert_eq!(said[1..], [left(1, Some(20)), left(2, None)]);
}
