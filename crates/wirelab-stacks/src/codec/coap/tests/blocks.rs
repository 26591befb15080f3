//! Tests: block-wise transfer in both directions.

use super::super::*;
use super::pair::*;

fn options(szx: u8) -> Options {
    Options::new(&parameters(), szx, 1 << 20)
}

#[test]
fn an_upload_in_blocks_is_delivered_whole() {
    let mut pair = Pair::with(&parameters(), 3, true, options(6));
    let id = pair.start(post(300));
    pair.run();
    let expected = [
        "0 > CON POST /UPLOAD 1:0/1/128 +128",
        "10 < ACK 2.31 1:0/1/128",
        "20 > CON POST /UPLOAD 1:1/1/128 +128",
        "30 < ACK 2.31 1:1/1/128",
        "40 > CON POST /UPLOAD 1:2/0/128 2:0/0/128 +44",
        "50 < ACK 2.04 1:2/0/128",
    ];
    assert_eq!(pair.log, expected);
    assert_eq!(pair.asked.iter().map(|asked| asked.payload.clone()).collect::<Vec<_>>(), [body(300)]);
    let progress = pair.client.finish(pair.now_ns, id).expect("it is there");
    assert_eq!((progress.body_sent_bytes, progress.first_response_ns), (300, Some(20 * MS)));
    assert_eq!((progress.first_body_ns, progress.first_final_ns), (Some(0), Some(60 * MS)));
}

#[test]
fn a_server_that_wants_smaller_blocks_gets_them_from_the_second_on() {
    let mut pair = Pair::with(&parameters(), 3, true, options(1));
    pair.start(post(200));
    pair.run();
    let expected = [
        "0 > CON POST /UPLOAD 1:0/1/128 +128",
        "10 < ACK 2.31 1:0/1/32",
        "20 > CON POST /UPLOAD 1:4/1/32 +32",
        "30 < ACK 2.31 1:4/1/32",
        "40 > CON POST /UPLOAD 1:5/1/32 +32",
        "50 < ACK 2.31 1:5/1/32",
        "60 > CON POST /UPLOAD 1:6/0/32 2:0/0/128 +8",
        "70 < ACK 2.04 1:6/0/32",
    ];
    assert_eq!(pair.log, expected);
    assert_eq!(pair.asked[0].payload, body(200));
}

#[test]
fn a_response_has_blocks_of_the_smaller_size_of_both_ends() {
    for (client, server) in [(6, 3), (3, 6)] {
        let mut pair = Pair::with(&parameters(), client, true, options(server));
        pair.start(get("/bytes/300"));
        pair.run();
        assert_eq!(pair.response().payload, body(300));
        let answers: Vec<_> = pair.log.iter().filter(|line| line.contains('<')).map(String::as_str).collect();
        assert_eq!(
            answers,
            ["10 < ACK 2.05 2:0/1/128 +128", "30 < ACK 2.05 2:1/1/128 +128", "50 < ACK 2.05 2:2/0/128 +44"]
        );
    }
}

#[test]
fn a_body_that_fills_its_blocks_has_none_too_many() {
    for bytes in [0, 1, 1_023, 1_024, 1_025, 2_048, 2_049] {
        let mut pair = Pair::new(&parameters());
        pair.start(post(bytes));
        pair.run();
        pair.start(get(&format!("/bytes/{bytes}")));
        pair.run();
        assert_eq!(pair.asked[0].payload, body(bytes));
        pair.response();
        assert_eq!(pair.response().payload, body(bytes));
        let requests = pair.log.iter().filter(|line| line.contains('>')).count();
        assert_eq!(requests, 2 * bytes.div_ceil(1_024).max(1), "{bytes}");
    }
}

#[test]
fn transfers_survive_the_loss_of_any_one_datagram() {
    for lost in 0..14 {
        let mut pair = Pair::with(&parameters(), 3, true, options(3));
        if lost % 2 == 0 {
            pair.up = Box::new(move |number, _| if number == lost / 2 { Fate::Lost } else { Fate::Arrives });
        } else {
            pair.down = Box::new(move |number, _| if number == lost / 2 { Fate::Lost } else { Fate::Arrives });
        }
        pair.start(post(400));
        pair.run();
        pair.start(get("/bytes/300"));
        pair.run();
        assert_eq!(pair.response().code, 0x44.into(), "{lost}");
        assert_eq!(pair.response().payload, body(300), "{lost}");
        assert_eq!(pair.asked.iter().filter(|asked| asked.method == Method::Post).count(), 1, "{lost}");
        assert_eq!(pair.asked[0].payload, body(400), "{lost}");
    }
}

#[test]
fn transfers_survive_duplicate_and_late_datagrams() {
    let mut pair = Pair::with(&Parameters { nstart: 4, ..parameters() }, 3, true, options(3));
    pair.up = Box::new(|number, _| if number % 2 == 0 { Fate::Twice } else { Fate::Late(3 * SECOND) });
    pair.down = Box::new(|number, _| if number % 3 == 0 { Fate::Late(50 * MS) } else { Fate::Twice });
    pair.start(post(400));
    pair.start(get("/bytes/300"));
    pair.run();
    assert_eq!(pair.learned.len(), 2);
    assert!(
        pair.learned.iter().all(|(_, event)| matches!(event, ClientEvent::Response(_, response)
        if response.payload == body(300) || response.code == 0x44.into())),
        "{:?}",
        pair.learned
    );
}

#[test]
fn two_uploads_to_one_path_follow_one_another() {
    let mut pair = Pair::with(&Parameters { nstart: 4, ..parameters() }, 3, true, options(3));
    pair.start(post(200));
    pair.start(post(300));
    pair.run();
    let bodies: Vec<_> = pair.asked.iter().map(|asked| asked.payload.len()).collect();
    assert_eq!((bodies, pair.asked[1].payload.clone()), (vec![200, 300], body(300)));
}

#[test]
fn a_cancelled_upload_lets_the_next_begin() {
    let mut pair = Pair::with(&parameters(), 3, true, options(3));
    pair.down = Box::new(|number, _| if number == 0 { Fate::Lost } else { Fate::Arrives });
    let first = pair.start(post(200));
    pair.start(post(300));
    pair.run_until(SECOND);
    pair.finish(first);
    pair.run();
    assert_eq!(pair.asked.iter().map(|asked| asked.payload.clone()).collect::<Vec<_>>(), [body(300)]);
}

#[test]
fn too_long_a_body_is_refused_with_the_longest_that_is_taken() {
    let mut pair = Pair::with(&parameters(), 3, true, Options::new(&parameters(), 6, 200));
    pair.start(post(300));
    pair.run();
    assert_eq!(pair.response().code, 0x8d.into());
    assert_eq!(pair.log.last().map(String::as_str), Some("30 < ACK 4.13 1:1/0/128"));
}

#[test]
fn a_block_whose_predecessor_is_missing_is_incomplete() {
    let mut pair = Pair::new(&parameters());
    // POST with Block1 1/0/16.
    pair.server.receive(0, &[0x40, 2, 0, 1, 0xd1, 14, 0x10, 0xff, 1]).expect("a message");
    let answer = super::super::message::decode(&pair.server.poll_transmit().expect("an answer")).expect("a message");
    assert!(show(&answer).starts_with("ACK 4.08 1:1/0/16"), "{}", show(&answer));
}

#[test]
fn a_block_size_that_is_reserved_is_a_bad_request() {
    let mut pair = Pair::new(&parameters());
    pair.server.receive(0, &[0x40, 2, 0, 1, 0xd1, 14, 0x07]).expect("a message");
    let answer = super::super::message::decode(&pair.server.poll_transmit().expect("an answer")).expect("a message");
    assert!(show(&answer).starts_with("ACK 4.00"), "{}", show(&answer));
}
