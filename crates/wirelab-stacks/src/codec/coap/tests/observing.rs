//! Tests: observations, over datagrams and streams.

use bytes::Bytes;

use super::super::*;
use super::pair::*;

fn observing(skips: bool) -> (Pair, ExchangeId) {
    let options = Options { skips, ..Options::new(&parameters(), 3, 1 << 20) };
    let mut pair = Pair::with(&parameters(), 3, true, options);
    let id = pair.start(Request { observe: true, ..get("/changes") });
    pair.run();
    assert!(matches!(pair.learned.pop_front(), Some((_, ClientEvent::Observing(..)))), "{:?}", pair.log);
    pair.log.clear();
    (pair, id)
}

fn states(pair: &mut Pair) -> Vec<String> {
    let text = |event| match event {
        ClientEvent::Notification(_, response) => String::from_utf8_lossy(&response.payload).into_owned(),
        other => format!("{other:?}"),
    };
    pair.learned.drain(..).map(|(_, event)| text(event)).collect()
}

fn state(number: u32) -> Bytes {
    number.to_string().into()
}

#[test]
fn a_registration_is_confirmed_and_changes_are_notified() {
    let mut pair = Pair::new(&parameters());
    pair.start(Request { observe: true, ..get("/changes") });
    pair.run();
    pair.change(state(1), true);
    pair.run();
    pair.change(state(2), false);
    pair.run();
    let expected = [
        "0 > CON GET /CHANGES o:0",
        "10 < ACK 2.05 o:0 +1",
        "20 < CON 2.05 o:1 +1",
        "30 > ACK",
        "40 < NON 2.05 o:2 +1",
    ];
    assert_eq!(pair.log, expected);
}

#[test]
fn a_late_older_notification_is_dropped() {
    let (mut pair, _) = observing(true);
    pair.down = Box::new(|_, text| if text.contains("o:2") { Fate::Late(30 * MS) } else { Fate::Arrives });
    for number in 1..=3 {
        pair.change(state(number), false);
        pair.run_until(pair.now_ns + 5 * MS);
    }
    pair.run();
    assert_eq!(states(&mut pair), ["1", "3"]);
}

#[test]
fn every_state_is_notified_in_order_unless_the_server_skips() {
    let (mut pair, _) = observing(false);
    for number in 1..=4 {
        pair.change(state(number), true);
        pair.run_until(pair.now_ns + MS);
    }
    pair.run();
    assert_eq!(states(&mut pair), ["1", "2", "3", "4"]);
    let (mut pair, _) = observing(true);
    for number in 1..=4 {
        pair.change(state(number), true);
        pair.run_until(pair.now_ns + MS);
    }
    pair.run();
    assert_eq!(
        states(&mut pair),
        ["1", "4"],
        "4 takes the place of 2 and 3, which waited for the acknowledgement of 1"
    );
}

#[test]
fn a_retransmission_carries_the_newest_state() {
    let (mut pair, _) = observing(true);
    let begin_ns = pair.now_ns;
    pair.down = Box::new(|_, text| if text.contains("o:1 ") { Fate::Lost } else { Fate::Arrives });
    pair.change(state(1), true);
    pair.run_until(begin_ns + SECOND);
    pair.change(state(2), true);
    pair.run_until(begin_ns + 10 * SECOND);
    let at = |ms: u64| begin_ns / MS + ms;
    let expected = [
        format!("{} < CON 2.05 o:1 +1 x", at(0)),
        format!("{} < CON 2.05 o:2 +1", at(2_000)),
        format!("{} > ACK", at(2_010)),
    ];
    assert_eq!(pair.log, expected);
    assert_eq!(states(&mut pair), ["2"]);
}

#[test]
fn a_client_that_finishes_deregisters_at_the_server() {
    let (mut pair, id) = observing(true);
    pair.finish(id);
    pair.run();
    assert!(pair.observers.is_empty(), "{:?}", pair.log);
}

#[test]
fn a_notification_without_an_observer_is_reset_and_ends_the_observation() {
    for confirmable in [true, false] {
        let (mut pair, _) = observing(false);
        pair.client = Client::new(Channel::Datagrams(layer(&parameters(), 9)), 6, true);
        pair.change(state(1), confirmable);
        if confirmable {
            pair.change(state(2), confirmable);
        }
        pair.run();
        assert!(pair.log.len() == 2 && pair.log[1].ends_with("> RST"), "{:?}", pair.log);
        assert_eq!((pair.observers.len(), pair.unobserved), (0, 1));
    }
}

#[test]
fn an_observer_that_does_not_acknowledge_is_removed() {
    for (skips, states) in [(true, 1), (false, 100)] {
        let (mut pair, _) = observing(skips);
        let begin_ns = pair.now_ns;
        pair.down = Box::new(|_, _| Fate::Lost);
        for number in 1..=states {
            pair.change(state(number), true);
        }
        pair.run_until(begin_ns + 61 * SECOND);
        assert_eq!((pair.log.len(), pair.observers.len()), (5, 1));
        pair.run();
        assert_eq!((pair.log.len(), pair.observers.len()), (5, 0), "what waited behind the first is not sent");
    }
}

#[test]
fn acknowledgements_of_however_many_states_leave_the_last_one_to_be_waited_for() {
    let (mut pair, _) = observing(false);
    for number in 1..=100 {
        pair.change(state(number), true);
    }
    pair.run();
    assert_eq!((states(&mut pair).len(), pair.observers.len()), (100, 1));
    pair.down = Box::new(|_, _| Fate::Lost);
    pair.change(state(101), true);
    pair.run();
    assert_eq!(pair.observers.len(), 0);
}

#[test]
fn a_newer_state_that_took_an_acknowledged_ones_place_is_waited_for_too() {
    let (mut pair, _) = observing(true);
    pair.down = Box::new(|_, text| if text.contains("o:1 ") { Fate::Arrives } else { Fate::Lost });
    pair.change(state(1), true);
    pair.change(state(2), true);
    pair.run();
    assert_eq!((states(&mut pair), pair.observers.len()), (vec!["1".to_owned()], 0));
}

#[test]
fn a_long_state_is_fetched_in_blocks() {
    let (mut pair, _) = observing(true);
    pair.change(body(300), true);
    pair.run();
    let Some((_, ClientEvent::Notification(_, response))) = pair.learned.pop_front() else { panic!("{:?}", pair.log) };
    assert_eq!(response.payload, body(300));
    assert_eq!(pair.log.iter().filter(|line| line.contains("> CON GET /CHANGES 2:")).count(), 2, "{:?}", pair.log);
}

#[test]
fn the_next_state_waits_for_the_fetching_of_the_one_before() {
    for confirmable in [true, false] {
        let (mut pair, _) = observing(false);
        for bytes in [300, 400, 1] {
            pair.change(body(bytes), confirmable);
        }
        pair.run();
        let states: Vec<_> = states(&mut pair).iter().map(String::len).collect();
        assert_eq!(states.len(), 3, "{:?}", pair.log);
    }
}

#[test]
fn a_state_that_is_not_fetched_delays_the_next_for_a_limited_time() {
    let (mut pair, _) = observing(false);
    pair.down = Box::new(|_, text| if text.contains("o:1 ") { Fate::Lost } else { Fate::Arrives });
    pair.change(body(300), false);
    pair.change(state(7), false);
    pair.run();
    assert_eq!(states(&mut pair), ["7"]);
}

#[test]
fn where_states_are_skipped_a_newer_one_ends_the_fetching_of_an_older_one() {
    let (mut pair, _) = observing(true);
    pair.change(body(300), false);
    pair.run_until(pair.now_ns + 15 * MS);
    pair.change(state(7), false);
    pair.run();
    assert_eq!(states(&mut pair), ["7"]);
}

#[test]
fn a_server_that_does_not_observe_answers_as_to_any_request() {
    let mut pair = Pair::new(&parameters());
    pair.start(Request { observe: true, ..post(3) });
    pair.run();
    assert_eq!(pair.response().code, 0x44.into());
}
