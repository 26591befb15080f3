//! Claims of honest and of other clients against made packets.

use proptest::prelude::*;

use super::traces::{Draw, SERVER_PORT, Trace, trace};
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
fn an_answer_over_a_link_that_delays_by_less_than_stamps_are_exact_to_is_one() {
    // Seed 4937662070294501603 of the traces: the stamp of the answer is 48 us before that of the message.
    let Trace { claims, log } = trace(4_937_662_070_294_501_603, true);
    assert_eq!(unconfirmed(&claims, &deliveries(&log, SERVER_PORT)), []);
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

#[test]
fn an_exchange_that_runs_alone_cannot_be_shorter_than_its_packets_even_without_its_port() {
    // The end of an exchange before it, from a port that is known, is none of its packets.
    let packets =
        || vec![up(2, 0, 30), down(2, 1, 5), up(2, 6, 0), up(1, 7, 0), down(1, 17, 0), up(1, 27, 30), down(1, 37, 5)];
    let shifted = |end_ms| Claim { stamps: Stamps::Shifted(at(49)), ..claim(0, None, 5, end_ms, [30, 5]) };
    assert_eq!(found(&[shifted(45)], packets()), []);
    let [claimed, packets_took] = [2, 40].map(Duration::from_millis);
    assert_eq!(found(&[shifted(7)], packets()), [(0, Lack::Duration { claimed, packets: packets_took })]);
    // Packets of an exchange at the same time may be the ones that took longer.
    // So may those of another connection that opened meanwhile.
    let two = [packets(), vec![up(3, 6, 0)]].concat();
    assert_eq!(found(&[shifted(7)], two), []);
    let another = Claim { answered: false, ..claim(1, None, 40, 60, [0, 0]) };
    assert_eq!(found(&[shifted(7), another], packets()), []);
}

/// Seeds of traces; nightly draws more of them with `PROPTEST_CASES`.
fn cases(at_least: u32) -> ProptestConfig {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    ProptestConfig { cases: config.cases.max(at_least), ..config }
}

/// A trace of nothing but messages with what its link delivered, and one of its claims.
fn dishonest(seed: u64) -> (Trace, Vec<Delivery>, usize) {
    let trace = trace(seed, true);
    let delivered = deliveries(&trace.log, SERVER_PORT);
    let which = Draw(seed ^ 1).below(trace.claims.len() as u64) as usize;
    (trace, delivered, which)
}

proptest! {
    #![proptest_config(cases(20_000))]

    #[test]
    fn no_honest_exchange_is_accused(seed in any::<u64>(), exact in prop::bool::weighted(0.2)) {
        let Trace { claims, log } = trace(seed, exact);
        prop_assert_eq!(unconfirmed(&claims, &deliveries(&log, SERVER_PORT)), []);
    }
}

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn a_claim_of_more_bytes_than_came_is_found(seed in any::<u64>(), side in 0..2usize) {
        let (Trace { mut claims, .. }, delivered, which) = dishonest(seed);
        let claim = &mut claims[which];
        let carried = delivered.iter().filter(|each| each.client_port == claim.local_port && each.direction.index() == side);
        claim.bytes[side] = 1 + carried.map(|each| u64::from(each.new_bytes)).sum::<u64>();
        let index = claim.index;
        let found = unconfirmed(&claims, &delivered);
        let is_found = found.iter().any(|(claim, lack)| claim.index == index && matches!(lack, Lack::Bytes { .. }));
        prop_assert!(is_found, "{found:?}");
    }

    #[test]
    fn a_claim_that_ended_before_its_bytes_came_is_found(seed in any::<u64>()) {
        let (Trace { mut claims, .. }, delivered, which) = dishonest(seed);
        let claim = &mut claims[which];
        let first = delivered.iter().filter(|each| each.client_port == claim.local_port && each.direction == Direction::Downlink && each.new_bytes > 0);
        let first = first.map(|each| each.departure).min().expect("an answer");
        (claim.end, claim.stamps) = (first - TOLERANCE - Duration::from_nanos(1), Stamps::Within(Duration::ZERO));
        let index = claim.index;
        prop_assert!(unconfirmed(&claims, &delivered).iter().any(|(claim, _)| claim.index == index));
    }

    #[test]
    fn a_claim_without_packets_is_found_and_nobody_else_is_accused(seed in any::<u64>()) {
        let Trace { mut claims, log } = trace(seed, false);
        let invented = Claim { index: claims.len() as u32, local_port: Some(1), ..claims[0].clone() };
        claims.push(invented);
        let (index, delivered) = (claims.len() as u32 - 1, deliveries(&log, SERVER_PORT));
        let found: Vec<_> = unconfirmed(&claims, &delivered).into_iter().map(|(claim, _)| claim.index).collect();
        prop_assert_eq!(found, [index]);
    }

    #[test]
    fn traffic_to_another_port_confirms_no_claim_without_a_port(seed in any::<u64>()) {
        let Trace { claims, log } = trace(seed, true);
        let claims: Vec<_> = claims.into_iter().map(|claim| Claim { local_port: None, ..claim }).collect();
        prop_assert!(unconfirmed(&claims, &deliveries(&log, SERVER_PORT)).is_empty());
        prop_assert_eq!(unconfirmed(&claims, &deliveries(&log, SERVER_PORT + 1)).len(), claims.len());
    }

    #[test]
    fn an_exchange_that_is_claimed_twice_is_found(seed in any::<u64>()) {
        let (Trace { mut claims, .. }, delivered, which) = dishonest(seed);
        let same_port = claims.iter().filter(|each| each.local_port == claims[which].local_port).cloned();
        let again: Vec<_> = same_port.zip(100..).map(|(claim, index)| Claim { index, ..claim }).collect();
        claims.extend(again);
        prop_assert!(!unconfirmed(&claims, &delivered).is_empty());
    }
}
