//! Claims of honest and of other clients against made packets.

use proptest::prelude::*;

use super::*;

const MS: u64 = 1_000_000;

fn at(ms: u64) -> Instant {
    Instant::from_nanos(1_000_000 * MS + ms * MS)
}

/// Delivered `after` ms behind its arrival.
fn packet(direction: Direction, port: u16, arrival_ms: u64, after: u64, new_bytes: u32) -> Delivery {
    let (arrival, departure) = (at(arrival_ms), at(arrival_ms + after));
    Delivery { direction, client_port: Some(port), arrival, departure, new_bytes }
}

fn up(port: u16, arrival_ms: u64, new_bytes: u32) -> Delivery {
    packet(Direction::Uplink, port, arrival_ms, 10, new_bytes)
}

fn down(port: u16, arrival_ms: u64, new_bytes: u32) -> Delivery {
    packet(Direction::Downlink, port, arrival_ms, 10, new_bytes)
}

fn claim(index: u32, port: impl Into<Option<u16>>, start_ms: u64, end_ms: u64, bytes: [u64; 2]) -> Claim {
    Claim {
        client: 0,
        index,
        start: at(start_ms),
        end: at(end_ms),
        stamps: Stamps::Within(Duration::ZERO),
        local_port: port.into(),
        bytes,
        answered: true,
    }
}

/// The indices and reasons of the claims that are not confirmed.
fn found(claims: &[Claim], mut deliveries: Vec<Delivery>) -> Vec<(u32, Lack)> {
    deliveries.sort_by_key(|delivery| delivery.departure);
    unconfirmed(claims, &deliveries).into_iter().map(|(claim, lack)| (claim.index, lack)).collect()
}

fn bytes(direction: Direction, needed: u64, delivered: u64) -> Lack {
    Lack::Bytes { direction, needed, delivered }
}

#[test]
fn a_message_and_its_answer_in_time_confirm_an_exchange() {
    let packets = vec![up(50_000, 0, 0), down(50_000, 10, 0), up(50_000, 20, 100), down(50_000, 30, 200)];
    assert_eq!(found(&[claim(0, 50_000, 0, 40, [100, 200])], packets.clone()), []);
    assert_eq!(found(&[claim(0, None, 0, 40, [100, 200])], packets), []);
}

#[test]
fn a_client_that_sent_nothing_has_no_exchange() {
    assert_eq!(found(&[claim(0, None, 0, 2, [30, 0])], vec![]), [(0, bytes(Direction::Uplink, 30, 0))]);
    assert_eq!(found(&[claim(0, None, 0, 2, [0, 0])], vec![]), [(0, Lack::Answer)]);
}

#[test]
fn too_few_bytes_or_bytes_too_late_do_not_confirm() {
    let packets = vec![up(1, 0, 29), down(1, 10, 5)];
    assert_eq!(found(&[claim(0, 1, 0, 20, [30, 0])], packets), [(0, bytes(Direction::Uplink, 30, 29))]);
    let late = vec![up(1, 0, 30), down(1, 10, 5), down(1, 11, 95)];
    assert_eq!(found(&[claim(0, 1, 0, 20, [30, 100])], late), [(0, bytes(Direction::Downlink, 100, 5))]);
}

#[test]
fn an_answer_that_left_before_the_message_was_there_is_none() {
    let early = vec![up(1, 0, 30), down(1, 9, 5)];
    assert_eq!(found(&[claim(0, 1, 0, 20, [30, 0])], early), [(0, Lack::Answer)]);
}

#[test]
fn bytes_of_one_exchange_do_not_confirm_another() {
    let packets = vec![up(1, 0, 30), down(1, 10, 5)];
    let twice = [claim(0, 1, 0, 20, [30, 5]), claim(1, 1, 0, 20, [30, 5])];
    assert_eq!(found(&twice, packets.clone()), [(1, bytes(Direction::Uplink, 30, 0))]);
    // An answer from a cache: no packets while it ran.
    let cached = [claim(0, 1, 0, 20, [30, 5]), claim(1, 1, 30, 31, [0, 5])];
    assert_eq!(found(&cached, packets), [(1, bytes(Direction::Downlink, 5, 0))]);
}

#[test]
fn a_wrong_claim_takes_no_bytes_from_those_behind_it() {
    let packets = vec![up(1, 0, 30), down(1, 10, 5), up(1, 30, 30), down(1, 40, 5)];
    let claims = [claim(0, 1, 0, 20, [30, 5]), claim(1, 1, 21, 25, [30, 5]), claim(2, 1, 30, 50, [30, 5])];
    assert_eq!(found(&claims, packets), [(1, bytes(Direction::Uplink, 30, 0))]);
}

#[test]
fn a_message_that_is_only_received_needs_no_packet_of_its_receiver() {
    let received = [Claim { answered: false, ..claim(0, 1, 0, 10, [0, 100]) }];
    assert_eq!(found(&received, vec![down(1, 0, 100)]), []);
    assert_eq!(found(&received, vec![down(1, 1, 100)]), [(0, bytes(Direction::Downlink, 100, 0))]);
}

#[test]
fn instants_of_a_clock_that_began_late_may_be_earlier_but_not_shorter_than_the_packets() {
    let packets = || vec![up(1, 7, 0), down(1, 17, 0), up(1, 27, 30), down(1, 37, 5)];
    let shifted = |end_ms| Claim { stamps: Stamps::Shifted(at(49)), ..claim(0, 1, 0, end_ms, [30, 5]) };
    assert_eq!(found(&[shifted(40)], packets()), []);
    let [claimed, packets_took] = [2, 40].map(Duration::from_millis);
    assert_eq!(found(&[shifted(2)], packets()), [(0, Lack::Duration { claimed, packets: packets_took })]);
}

/// An honest exchange over a made link, and its packets: a handshake, retransmissions, acknowledgements, then the next one.
#[derive(Clone, Debug)]
struct Honest {
    pause: u64,
    uplink: Vec<u32>,
    downlink: Vec<u32>,
    delays: Vec<u64>,
    handshake: bool,
}

fn honest() -> impl Strategy<Value = Honest> {
    let sizes = || prop::collection::vec(1..1500u32, 1..6);
    (0..50u64, sizes(), sizes(), prop::collection::vec(0..300u64, 16), any::<bool>())
        .prop_map(|(pause, uplink, downlink, delays, handshake)| Honest { pause, uplink, downlink, delays, handshake })
}

/// Packets and claims of exchanges one after another; some on a connection of their own.
fn trace(exchanges: &[Honest], ports: bool) -> (Vec<Claim>, Vec<Delivery>) {
    let (mut claims, mut packets, mut now) = (Vec::new(), Vec::new(), 0);
    let mut port = 40_000;
    for (index, exchange) in exchanges.iter().enumerate() {
        let mut delays = exchange.delays.iter().copied().cycle();
        let mut delay = || delays.next().expect("a cycle does not end");
        now += exchange.pause;
        let start = now;
        if exchange.handshake {
            port += 1;
            for direction in [Direction::Uplink, Direction::Downlink] {
                let after = delay();
                packets.push(packet(direction, port, now, after, if after % 2 == 0 { 0 } else { 300 }));
                now += after;
            }
        }
        for (direction, sizes) in [(Direction::Uplink, &exchange.uplink), (Direction::Downlink, &exchange.downlink)] {
            let mut last = now;
            for size in sizes {
                let after = delay();
                packets.push(packet(direction, port, now, after, *size));
                last = last.max(now + after);
                // An acknowledgement.
                packets.push(packet(Direction::ALL[1 - direction.index()], port, now + after, 1, 0));
            }
            now = last;
        }
        let bytes = [&exchange.uplink, &exchange.downlink].map(|sizes| sizes.iter().map(|size| u64::from(*size)).sum());
        claims.push(claim(index as u32, ports.then_some(port), start, now, bytes));
    }
    (claims, packets)
}

/// A handshake's bytes may hide those of a small message that never came.
fn without_handshakes(exchanges: Vec<Honest>) -> Vec<Honest> {
    exchanges.into_iter().map(|exchange| Honest { handshake: false, ..exchange }).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_honest_exchange_is_accused(exchanges in prop::collection::vec(honest(), 1..8), ports in any::<bool>()) {
        let (claims, packets) = trace(&exchanges, ports);
        prop_assert_eq!(found(&claims, packets), []);
    }

    #[test]
    fn one_more_claim_than_exchanges_is_found(exchanges in prop::collection::vec(honest(), 1..8), ports in any::<bool>(), which in any::<prop::sample::Index>()) {
        let (mut claims, packets) = trace(&without_handshakes(exchanges), ports);
        let mut invented = claims[which.index(claims.len())].clone();
        invented.index = claims.len() as u32;
        claims.push(invented);
        prop_assert!(!found(&claims, packets).is_empty());
    }

    #[test]
    fn a_claim_of_one_byte_more_is_found_when_the_connection_carried_just_the_messages(exchanges in prop::collection::vec(honest(), 1..8), side in 0..2usize) {
        let (mut claims, packets) = trace(&without_handshakes(exchanges), true);
        claims.last_mut().expect("there is one").bytes[side] += 1;
        prop_assert_eq!(found(&claims, packets).len(), 1);
    }
}
