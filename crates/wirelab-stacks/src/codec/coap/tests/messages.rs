//! Tests: the message layer under loss, duplication and time.

use std::time::Duration;

use super::super::message::{decode, empty, encode};
use super::super::*;
use super::pair::*;

/// Instants in milliseconds at which the client sent something, over a path that loses all of it.
fn instants(parameters: &Parameters) -> (Vec<u64>, u64, Ended) {
    let mut pair = Pair::new(parameters);
    pair.up = Box::new(|_, _| Fate::Lost);
    pair.start(get("/bytes/3"));
    pair.run();
    let sent = pair.log.iter().map(|line| line.split(' ').next().expect("an instant").parse().expect("a number"));
    let sent = sent.collect();
    let (at_ns, ended) = pair.ended();
    (sent, at_ns / MS, ended)
}

#[test]
fn a_confirmable_request_is_answered_on_its_acknowledgement() {
    let mut pair = Pair::new(&parameters());
    pair.start(get("/bytes/3"));
    pair.run();
    assert_eq!(pair.log, ["0 > CON GET /BYTES/3", "10 < ACK 2.05 +3"]);
    assert_eq!(pair.response().payload, body(3));
}

#[test]
fn retransmissions_double_their_wait_and_the_last_one_is_waited_for_before_giving_up() {
    let (sent, gave_up, ended) = instants(&parameters());
    assert_eq!(sent, [0, 2_000, 6_000, 14_000, 30_000]);
    assert_eq!((gave_up, ended), (62_000, Ended::GaveUp { transmissions: 5 }));
}

#[test]
fn the_first_timeout_is_drawn_up_to_the_random_factor_and_doubles_from_there() {
    let mut waits = std::collections::BTreeSet::new();
    for seed in 0..50 {
        let parameters = Parameters::default();
        let mut layer = layer(&parameters, seed);
        let mut request = coap_lite::Packet::new();
        request.set_token(vec![1]);
        layer.send(0, request, true);
        let mut instants = Vec::new();
        while let Some(at_ns) = layer.poll_timeout() {
            layer.handle_timeout(at_ns);
            instants.push(at_ns);
        }
        let first = instants[0];
        assert!((2 * SECOND..=3 * SECOND).contains(&first), "{first}");
        assert_eq!(instants, [1, 3, 7, 15, 31].map(|times| times * first));
        assert!(instants[4] <= parameters.max_transmit_wait().as_nanos() as u64);
        waits.insert(first);
    }
    assert!(waits.len() > 40 && waits.first() < Some(&(2_200 * MS)) && waits.last() > Some(&(2_800 * MS)), "{waits:?}");
}

#[test]
fn other_backoffs_wait_the_same_or_longer_by_the_same_or_by_another_factor() {
    let with = |backoff| instants(&Parameters { backoff, ..parameters() });
    assert_eq!(with(Backoff::Fixed).0, [0, 2_000, 4_000, 6_000, 8_000]);
    assert_eq!(with(Backoff::Fixed).1, 10_000);
    assert_eq!(with(Backoff::Linear).0, [0, 2_000, 6_000, 12_000, 20_000]);
    assert_eq!(with(Backoff::Exponential { factor_percent: 150 }).0, [0, 2_000, 5_000, 9_500, 16_250]);
    let quick = Parameters { ack_timeout: Duration::from_millis(100), max_retransmit: 1, ..parameters() };
    let (sent, gave_up, ended) = instants(&quick);
    assert_eq!((sent, gave_up, ended), (vec![0, 100], 300, Ended::GaveUp { transmissions: 2 }));
}

#[test]
fn a_duplicate_of_a_lost_acknowledgement_is_answered_from_memory() {
    let mut pair = Pair::new(&parameters());
    pair.down = Box::new(|number, _| if number == 0 { Fate::Lost } else { Fate::Arrives });
    let id = pair.start(post(5));
    pair.run();
    assert_eq!(
        pair.log,
        ["0 > CON POST /UPLOAD +5", "10 < ACK 2.04 x", "2000 > CON POST /UPLOAD +5", "2010 < ACK 2.04"]
    );
    assert_eq!(pair.asked.len(), 1, "the application is asked once");
    assert_eq!(pair.response().code, 0x44.into());
    let progress = pair.client.finish(pair.now_ns, id).expect("it is there");
    assert_eq!((progress.retransmissions, progress.body_sent_bytes), (1, 5));
    assert_eq!(progress.first_final_ns, Some(2_020 * MS));
}

#[test]
fn a_duplicate_datagram_is_processed_once() {
    let mut pair = Pair::new(&parameters());
    pair.up = Box::new(|_, _| Fate::Twice);
    pair.down = Box::new(|_, _| Fate::Twice);
    pair.start(post(5));
    pair.run();
    assert_eq!(pair.log, ["0 > CON POST /UPLOAD +5", "10 < ACK 2.04", "10 < ACK 2.04"]);
    assert_eq!((pair.asked.len(), pair.learned.len()), (1, 1));
}

#[test]
fn a_slow_response_is_a_separate_response() {
    let mut pair = Pair::new(&parameters());
    pair.thinking_ns = 5 * SECOND;
    pair.start(get("/bytes/3"));
    pair.run();
    assert_eq!(pair.log, ["0 > CON GET /BYTES/3", "1010 < ACK", "5010 < CON 2.05 +3", "5020 > ACK"]);
    assert_eq!(pair.response().payload, body(3));
}

#[test]
fn a_separate_response_is_retransmitted_until_it_is_acknowledged() {
    let options = Options { separate: true, ..Options::new(&parameters(), 6, 1 << 20) };
    let mut pair = Pair::with(&parameters(), 6, true, options);
    pair.up = Box::new(|_, text| if text == "ACK" { Fate::Lost } else { Fate::Arrives });
    pair.start(get("/bytes/3"));
    pair.run_until(3 * SECOND);
    let expected =
        ["0 > CON GET /BYTES/3", "10 < ACK", "10 < CON 2.05 +3", "20 > ACK x", "2010 < CON 2.05 +3", "2020 > ACK x"];
    assert_eq!(pair.log, expected);
    assert_eq!(pair.learned.len(), 1, "the response is told once");
}

#[test]
fn a_separate_response_that_overtakes_its_acknowledgement_ends_the_retransmissions() {
    let options = Options { separate: true, ..Options::new(&parameters(), 6, 1 << 20) };
    let mut pair = Pair::with(&parameters(), 6, true, options);
    pair.down = Box::new(|_, text| if text == "ACK" { Fate::Lost } else { Fate::Arrives });
    pair.start(get("/bytes/3"));
    pair.run();
    assert_eq!(pair.log, ["0 > CON GET /BYTES/3", "10 < ACK x", "10 < CON 2.05 +3", "20 > ACK"]);
    assert_eq!(pair.response().payload, body(3));
}

#[test]
fn a_client_that_has_forgotten_its_request_rejects_the_response() {
    let mut pair = Pair::new(&parameters());
    pair.thinking_ns = 5 * SECOND;
    let id = pair.start(get("/bytes/3"));
    pair.run_until(2 * SECOND);
    pair.finish(id);
    pair.run();
    assert_eq!(pair.log.last().map(String::as_str), Some("5020 > RST"));
    assert!(pair.learned.is_empty());
}

#[test]
fn nstart_delays_a_second_request_until_the_first_is_acknowledged() {
    let mut pair = Pair::new(&parameters());
    pair.start(get("/bytes/1"));
    pair.start(get("/bytes/2"));
    pair.run();
    let expected = ["0 > CON GET /BYTES/1", "10 < ACK 2.05 +1", "20 > CON GET /BYTES/2", "30 < ACK 2.05 +2"];
    assert_eq!(pair.log, expected);
    let mut pair = Pair::new(&Parameters { nstart: 2, ..parameters() });
    pair.start(get("/bytes/1"));
    pair.start(get("/bytes/2"));
    pair.run();
    assert_eq!(pair.log[..2], ["0 > CON GET /BYTES/1", "0 > CON GET /BYTES/2"]);
}

#[test]
fn a_request_that_is_cancelled_makes_room_for_the_next_and_is_sent_no_more() {
    let mut pair = Pair::new(&parameters());
    pair.up = Box::new(|number, _| if number == 0 { Fate::Lost } else { Fate::Arrives });
    let id = pair.start(get("/bytes/1"));
    pair.start(get("/bytes/2"));
    pair.run_until(500 * MS);
    pair.finish(id);
    pair.run();
    assert_eq!(pair.log, ["0 > CON GET /BYTES/1 x", "500 > CON GET /BYTES/2", "510 < ACK 2.05 +2"]);
}

#[test]
fn non_confirmable_requests_are_answered_in_kind_and_time_out_after_max_transmit_wait() {
    let options = Options::new(&parameters(), 6, 1 << 20);
    let mut pair = Pair::with(&parameters(), 6, false, options);
    pair.start(get("/bytes/3"));
    pair.run();
    assert_eq!(pair.log, ["0 > NON GET /BYTES/3", "10 < NON 2.05 +3"]);
    let mut pair = Pair::with(&parameters(), 6, false, options);
    pair.up = Box::new(|_, _| Fate::Lost);
    pair.start(get("/bytes/3"));
    pair.run();
    assert_eq!(pair.log, ["0 > NON GET /BYTES/3 x"]);
    assert_eq!(pair.ended(), (62 * SECOND, Ended::GaveUp { transmissions: 1 }));
}

#[test]
fn probing_rate_delays_requests_after_an_unanswered_non_confirmable_one() {
    let options = Options::new(&parameters(), 6, 1 << 20);
    let mut pair = Pair::with(&Parameters { probing_rate: 2, ..parameters() }, 6, false, options);
    pair.up = Box::new(|number, _| if number == 0 { Fate::Lost } else { Fate::Arrives });
    let id = pair.start(get("/bytes/3"));
    pair.run_until(SECOND);
    pair.finish(id);
    pair.start(get("/bytes/4"));
    pair.start(get("/bytes/5"));
    pair.run();
    // 4 of header, 4 of token, 6 and 2 of the path: 16 bytes at 2 bytes/s. Then the peer has answered, and nothing is held back.
    let sent: Vec<_> = pair.log.iter().filter(|line| line.contains('>')).map(String::as_str).collect();
    assert_eq!(sent, ["0 > NON GET /BYTES/3 x", "8000 > NON GET /BYTES/4", "8020 > NON GET /BYTES/5"]);
}

#[test]
fn a_reset_ends_a_request() {
    let mut client = Client::new(Channel::Datagrams(layer(&parameters(), 1)), 6, true);
    let id = client.start(0, get("/bytes/3"));
    let request = decode(&client.poll_transmit().expect("a request")).expect("a message");
    let reset = empty(coap_lite::MessageType::Reset, request.header.message_id);
    client.receive(5, &encode(&reset)).expect("understood");
    assert!(matches!(client.poll_event(), Some(ClientEvent::Ended(ended, Ended::Reset)) if ended == id));
    assert_eq!(client.poll_timeout(), None);
}

#[test]
fn malformed_datagrams_are_reset_or_ignored_and_the_endpoint_continues() {
    let mut pair = Pair::new(&parameters());
    let reset = |bytes: &[u8], pair: &mut Pair| {
        let received = pair.server.receive(0, bytes);
        (received, pair.server.poll_transmit())
    };
    assert_eq!(reset(&[1, 2, 3], &mut pair), (Err(Malformed::NotCoap), None));
    let broken = Malformed::Format { confirmable: true, message_id: 9 };
    assert_eq!(reset(&[0x40, 1, 0, 9, 0xf0], &mut pair), (Err(broken), Some(vec![0x70, 0, 0, 9])));
    let broken = Malformed::Format { confirmable: false, message_id: 9 };
    assert_eq!(reset(&[0x50, 1, 0, 9, 0xf0], &mut pair), (Err(broken), None));
    assert_eq!(reset(&[0x40, 0, 0, 9], &mut pair), (Ok(()), Some(vec![0x70, 0, 0, 9])), "a ping");
    assert_eq!(reset(&[0x60, 0, 0, 9], &mut pair), (Ok(()), None), "an acknowledgement of nothing");
    assert_eq!(reset(&[0x40, 0x45, 0, 10], &mut pair), (Ok(()), Some(vec![0x70, 0, 0, 10])), "a response to nothing");
    pair.start(get("/bytes/3"));
    pair.run();
    assert_eq!(pair.response().payload, body(3));
}

#[test]
fn a_critical_option_that_is_not_known_is_a_bad_option_or_rejected() {
    let mut pair = Pair::new(&parameters());
    // If-Match, 1 byte.
    pair.server.receive(0, &[0x40, 1, 0, 1, 0x11, 7]).expect("a message");
    let refusal = decode(&pair.server.poll_transmit().expect("an answer")).expect("a message");
    assert_eq!(show(&refusal), "ACK 4.02 +8");
    pair.server.receive(0, &[0x50, 1, 0, 2, 0x11, 7]).expect("a message");
    assert_eq!(pair.server.poll_transmit(), Some(vec![0x70, 0, 0, 2]));
    // Proxy-Uri, 1 byte.
    pair.server.receive(0, &[0x40, 1, 0, 3, 0xd1, 22, b'x']).expect("a message");
    let refusal = decode(&pair.server.poll_transmit().expect("an answer")).expect("a message");
    assert_eq!(show(&refusal), "ACK 5.05");
}

#[test]
fn a_response_with_a_critical_option_that_is_not_known_is_rejected_and_ends_its_request() {
    for confirmable in [true, false] {
        let mut client = Client::new(Channel::Datagrams(layer(&parameters(), 1)), 6, confirmable);
        client.start(0, get("/bytes/3"));
        let mut response = decode(&client.poll_transmit().expect("a request")).expect("a message");
        response.clear_all_options();
        response.header.code = 0x45.into();
        response.header.message_id = 7;
        response.add_option(coap_lite::CoapOption::from(9), vec![1]);
        client.receive(5, &encode(&response)).expect("understood");
        assert_eq!(client.poll_transmit(), Some(encode(&empty(coap_lite::MessageType::Reset, 7))));
        let Some(ClientEvent::Ended(_, Ended::Protocol(words))) = client.poll_event() else { panic!("it ended") };
        assert!(words.contains("option 9"), "{words}");
    }
}

#[test]
fn an_association_is_idle_when_nothing_is_remembered_of_it() {
    let mut pair = Pair::new(&parameters());
    pair.start(post(3));
    pair.run();
    let lifetime_ns = parameters().exchange_lifetime().as_nanos() as u64;
    assert!(!pair.server.is_idle(LATENCY_NS + lifetime_ns - 1));
    assert!(pair.server.is_idle(LATENCY_NS + lifetime_ns));
}

#[test]
fn a_request_to_a_group_is_answered_at_leisure_and_an_error_or_a_confirmable_one_not_at_all() {
    let mut instants = std::collections::BTreeSet::new();
    for seed in 0..20 {
        let channel = Channel::Datagrams(layer(&parameters(), seed));
        let mut server = Server::new(channel, Options::new(&parameters(), 6, 100));
        for (first, code) in [(0x40, 0x45), (0x50, 0x84), (0x50, 0x45)] {
            server.receive_multicast(0, &[first, 1, 0, code]).expect("a message");
            while let Some(ServerEvent::IncomingRequest(id, _)) = server.poll_event() {
                server.respond(0, id, Response { code: code.into(), ..content(body(3)) });
            }
        }
        // A critical option that is not known.
        server.receive_multicast(0, &[0x50, 1, 0, 9, 0x11, 7]).expect("a message");
        assert_eq!(server.poll_transmit(), None);
        let at_ns = server.poll_timeout().expect("an answer waits");
        assert!(at_ns < 5 * SECOND, "{at_ns}");
        server.handle_timeout(at_ns);
        assert_eq!(show(&decode(&server.poll_transmit().expect("an answer")).expect("a message")), "NON 2.05 +3");
        assert_eq!((server.poll_transmit(), server.poll_timeout()), (None, None));
        instants.insert(at_ns);
    }
    assert!(instants.len() > 15 && instants.last() > Some(&(3 * SECOND)), "{instants:?}");
}
