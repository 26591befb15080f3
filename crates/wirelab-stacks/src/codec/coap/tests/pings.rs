//! Tests: pings after a silence, over datagrams and streams.

use super::super::*;
use super::pair::*;

fn pinging(mut pair: Pair) -> Pair {
    pair.client = pair.client.pinging(SECOND);
    pair.start(get("/bytes/1"));
    pair
}

#[test]
fn an_association_is_pinged_after_each_silence() {
    let mut pair = pinging(Pair::new(&parameters()));
    pair.run_until(2_500 * MS);
    let pings: Vec<&String> = pair.log.iter().skip(2).collect();
    assert_eq!(pings, ["1020 > CON", "1030 < RST", "2040 > CON", "2050 < RST"]);
    assert!(pair.client.takes_requests());
}

#[test]
fn a_ping_is_retransmitted_and_its_end_ends_the_association() {
    let mut pair = pinging(Pair::new(&Parameters { max_retransmit: 1, ..parameters() }));
    pair.run_until(500 * MS);
    pair.up = Box::new(|_, _| Fate::Lost);
    pair.run_until(7_000 * MS);
    assert_eq!(pair.log[2..], ["1020 > CON x", "3020 > CON x"]);
    assert!(pair.client.takes_requests());
    pair.run();
    assert_eq!(pair.client.closed(), Some("the server did not answer a ping"));
    assert_eq!(pair.client.poll_timeout(), None);
}

#[test]
fn a_request_takes_the_turn_of_a_ping_without_an_answer() {
    let mut pair = pinging(Pair::new(&parameters()));
    pair.run_until(500 * MS);
    pair.up = Box::new(|_, text| if text == "CON" { Fate::Lost } else { Fate::Arrives });
    pair.run_until(1_500 * MS);
    pair.start(get("/bytes/1"));
    pair.run_until(1_900 * MS);
    assert_eq!(pair.log[2..], ["1020 > CON x", "1500 > CON GET /BYTES/1", "1510 < ACK 2.05 +1"]);
}

#[test]
fn nothing_is_pinged_while_a_request_is_under_way() {
    for mut pair in [Pair::new(&parameters()), Pair::over_stream(1152)] {
        pair.thinking_ns = 5 * SECOND;
        let mut pair = pinging(pair);
        pair.run_until(4 * SECOND);
        assert!(pair.log.len() < 4 && pair.client.takes_requests(), "{:?}", pair.log);
    }
}

#[test]
fn over_a_stream_a_ping_has_as_long_as_a_silence() {
    let mut pair = pinging(Pair::over_stream(1152));
    pair.run_until(1_500 * MS);
    assert!(pair.client.takes_requests(), "{:?}", pair.log);
    pair.up = Box::new(|_, _| Fate::Lost);
    pair.run_until(2_900 * MS);
    assert!(pair.client.takes_requests(), "{:?}", pair.log);
    pair.run_until(3_100 * MS);
    assert_eq!(pair.client.closed(), Some("the server did not answer a ping"), "{:?}", pair.log);
}
