//! Tests: CoAP over streams.

use super::super::*;
use super::pair::*;

#[test]
fn a_short_request_leaves_with_the_csm_and_a_long_one_waits_for_the_servers() {
    let mut pair = Pair::over_stream(1 << 20);
    let short = pair.start(post(1_000));
    let long = pair.start(post(50_000));
    pair.run();
    assert_eq!(pair.client.progress(short).and_then(|progress| progress.request_start_ns), Some(0));
    assert_eq!(pair.client.progress(long).and_then(|progress| progress.request_start_ns), Some(LATENCY_NS));
    assert_eq!(pair.asked.iter().map(|asked| asked.payload.clone()).collect::<Vec<_>>(), [body(1_000), body(50_000)]);
}

#[test]
fn a_message_beyond_the_peers_limit_goes_in_blocks() {
    let mut pair = Pair::over_stream(1_152);
    pair.start(post(5_000));
    pair.start(get("/bytes/5000"));
    pair.run();
    assert!(pair.asked.iter().any(|asked| asked.payload == body(5_000)));
    assert_eq!(pair.learned.len(), 2);
    let bodies = pair.learned.iter().map(|(_, event)| match event {
        ClientEvent::Response(_, response) => response.payload.len(),
        other => panic!("{other:?}"),
    });
    assert_eq!(bodies.sum::<usize>(), 5_000);
}

#[test]
fn every_change_is_notified_in_order_over_a_stream() {
    let mut pair = Pair::over_stream(1 << 20);
    pair.start(Request { observe: true, ..get("/changes") });
    pair.run();
    for number in 1..=5 {
        pair.change(body(number), true);
    }
    pair.run();
    let lengths = pair.learned.drain(1..).map(|(_, event)| match event {
        ClientEvent::Notification(_, response) => response.payload.len(),
        other => panic!("{other:?}"),
    });
    assert_eq!(lengths.collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
}

#[test]
fn a_stream_that_breaks_ends_what_is_under_way() {
    let mut pair = Pair::over_stream(1 << 20);
    pair.start(get("/bytes/3"));
    pair.client.receive(0, &[0x0f, 0xff]).expect("a stream's errors are events");
    let Some(ClientEvent::Ended(_, Ended::Closed(words))) = pair.client.poll_event() else { panic!("it ended") };
    assert!(words.contains("token"), "{words}");
}

#[test]
fn a_peer_that_releases_a_stream_gets_pending_responses_and_no_new_requests() {
    const RELEASE: &[u8] = &[0x00, 0xe4];
    let mut pair = Pair::over_stream(1 << 20);
    pair.thinking_ns = SECOND;
    let before = pair.start(get("/bytes/3"));
    pair.run_until(SECOND / 2);
    pair.server.receive(pair.now_ns, RELEASE).expect("a signal");
    pair.client.receive(pair.now_ns, RELEASE).expect("a signal");
    assert!(!pair.client.takes_requests());
    assert_eq!((pair.server.is_closed(), pair.client.closed()), (false, None));
    let after = pair.start(get("/bytes/4"));
    pair.run();
    let learned: Vec<_> = pair.learned.drain(..).map(|(_, event)| event).collect();
    let [ClientEvent::Ended(refused, Ended::Closed(words)), ClientEvent::Response(answered, response)] = &learned[..]
    else {
        panic!("{learned:?}")
    };
    assert_eq!((*refused, *answered, &response.payload), (after, before, &body(3)));
    assert!(pair.server.is_closed());
    assert_eq!(pair.client.closed(), Some(&words[..]));
}
