//! What both directions of a link share in addition to the air: the client's sleep and address translation; and the path of packets through all stages.

mod common;
#[path = "common/dialogue.rs"]
mod dialogue;
#[path = "common/shared.rs"]
mod shared;

use std::time::Duration;

use common::{Caller, Plan, Sender, Stage, drive};
use dialogue::{leave, millis as ms, outcomes, train};
use shared::{Air, Shared, ieee80211g};
use wirelab_link::impairment::{NatSpec, Radio, SharedSpec, Sleep};
use wirelab_link::queue::Queue;
use wirelab_link::{DropCause, Flow, Impairment, Instant, Link, Packet, PortId, Transport};

const PSM: Option<Duration> = None;

/// Sleeps after 100 ms and listens every 40 ms; after 1 s it does not listen any more.
fn sleeps() -> Vec<Sleep> {
    vec![
        Sleep { after: ms(100), cycle: Some(ms(40)), wake: ms(5) },
        Sleep { after: ms(1000), cycle: PSM, wake: ms(50) },
    ]
}

#[test]
fn the_first_uplink_packet_waits_for_the_radio_and_those_behind_it_leave_with_it() {
    let departures = leave(&mut Radio::new(sleeps(), 200).unwrap(), &[(0, 0, 100), (20_000, 0, 100), (60_000, 0, 100)]);
    assert_eq!(departures, [50_000_000, 50_000_000, 60_000_000]);
}

#[test]
fn a_downlink_packet_waits_until_the_client_listens_and_is_awake() {
    // Awake from 50 ms, asleep from 150 ms; listens at 190 ms.
    let departures =
        leave(&mut Radio::new(sleeps(), 100).unwrap(), &[(0, 0, 100), (149_000, 1, 100), (290_000, 1, 100)]);
    // The second passes at 149 ms, so that sleep begins at 249 ms and the client listens at 289 and 329 ms.
    assert_eq!(departures, [50_000_000, 149_000_000, 334_000_000]);
}

#[test]
fn all_packets_wait_for_the_same_instant_while_the_radio_wakes() {
    // Sleep begins at 150 ms: it listens at 190 ms; the uplink packet wakes it before.
    let packets = [(0, 0, 100), (160_000, 1, 100), (170_000, 0, 100), (172_000, 1, 100)];
    let departures = leave(&mut Radio::new(sleeps(), 200).unwrap(), &packets);
    assert_eq!(departures[1..], [175_000_000; 3]);
}

#[test]
fn each_side_keeps_its_buffer_and_drops_the_rest() {
    for (side, other) in [(0, 1), (1, 0)] {
        let packets = [(0, side, 100), (0, 0, 1), (0, side, 100), (0, side, 49), (0, side, 2), (0, other, 200)];
        let outcomes = outcomes(&mut Radio::new(sleeps(), 250).unwrap(), &packets);
        let (passed, dropped) = ((50_000_000, None), (0, Some(DropCause::QueueFull)));
        assert_eq!(outcomes, [passed, passed, passed, passed, dropped, passed], "side {side}");
    }
}

#[test]
fn what_waited_for_the_radio_leaves_its_room_to_others() {
    let departures =
        leave(&mut Radio::new(sleeps(), 100).unwrap(), &[(0, 0, 100), (200_000, 0, 100), (400_000, 0, 100)]);
    assert_eq!(departures, [50_000_000, 205_000_000, 405_000_000]);
}

#[test]
fn a_client_in_its_deepest_sleep_gets_nothing_until_it_sends() {
    let mut radio = Radio::new(sleeps(), 1000).unwrap();
    radio.handle_packet(packet(0, 1, UDP), Instant::from_nanos(7));
    assert_eq!((radio.poll_timeout(), radio.poll_packet(Instant::from_nanos(u64::MAX / 2))), (None, None));
    assert_eq!(radio.counters().held, 1);
    assert_eq!(radio.poll_held().map(|packet| packet.sequence), Some(0));
    assert_eq!(radio.poll_held(), None);
}

const UDP: Flow = Flow { id: 1, transport: Transport::Udp };

fn packet(sequence: u64, port: u16, flow: Flow) -> Packet {
    let port = PortId(port);
    Packet {
        ends: Some(Box::new(common::ends(port, flow))),
        ..Packet::new(sequence, port, 100, Instant::default(), flow)
    }
}

fn nat_of_1_s() -> NatSpec {
    NatSpec { udp_timeout_ns: 1_000_000_000, ..NatSpec::examples().remove(0) }
}

fn link(shared: Shared, uplink: Duration, downlink: Duration) -> Link {
    let stages = [uplink, downlink].map(|delay| vec![Stage::constant(delay)]);
    shared.link(&Plan { stages, medium: None, seed: 1 })
}

#[test]
fn packets_pass_radio_chain_medium_and_translation_in_the_order_of_their_direction() {
    let air = Some(Air::Serialiser(800_000, 10_000));
    let shared = Shared { air, radio: Some((sleeps(), 10_000)), nat: Some(nat_of_1_s()) };
    // Up: 50 ms of waking, 10 ms of delay, 1 ms on the air. Down: 20 ms and 1 ms.
    let departures = leave(&mut link(shared, ms(10), ms(20)), &[(0, 0, 100), (62_000, 1, 100), (140_000, 1, 100)]);
    // The second keeps the client awake until 183 ms.
    assert_eq!(departures, [61_000_000, 83_000_000, 161_000_000]);
}

#[test]
fn a_mapping_begins_when_the_uplink_packet_has_come_to_the_far_end() {
    let shared = || Shared { nat: Some(nat_of_1_s()), ..Shared::default() };
    let packets = [(0, 0, 99), (9_999, 1, 99), (10_000, 1, 99)];
    let outcomes = outcomes(&mut link(shared(), ms(10), ms(0)), &packets);
    assert_eq!(outcomes, [(10_000_000, None), (9_999_000, Some(DropCause::Nat)), (10_000_000, None)]);
}

#[test]
fn a_downlink_packet_that_reaches_the_radio_keeps_it_awake_for_uplink_packets() {
    let sleep = Sleep { after: ms(10), cycle: PSM, wake: ms(1) };
    let shared = || Shared { radio: Some((vec![sleep], 1000)), ..Shared::default() };
    let packets = [(0, 0, 100), (5_000, 1, 100), (15_000, 0, 100)];
    for caller in [Caller::Prompt, Caller::Absent, Caller::Late(vec![ms(100)])] {
        let outcomes = drive(&mut link(shared(), ms(0), ms(5)), &train(&packets), &caller);
        let departures: Vec<_> = outcomes.values().map(|(instant, _)| instant.as_nanos() / 1_000_000).collect();
        assert_eq!(departures, [1, 10, 15]);
    }
    // Without it the radio is asleep at 11 ms.
    let outcomes = outcomes(&mut link(shared(), ms(0), ms(5)), &[packets[0], packets[2]]);
    assert_eq!(outcomes[1].0, 16_000_000);
}

#[test]
fn sleep_begins_with_the_links_first_packet() {
    let eternal = Sleep { after: ms(0), cycle: Some(ms(40)), wake: ms(0) };
    let shared = Shared { radio: Some((vec![eternal], 1000)), ..Shared::default() };
    assert_eq!(leave(&mut link(shared, ms(0), ms(0)), &[(7_000, 1, 100)]), [47_000_000]);
}

#[test]
fn a_link_with_any_shared_stage_moves_a_late_arrival_up_to_the_last_poll() {
    let radio = Shared { radio: Some((sleeps(), 100)), ..Shared::default() };
    let nat = Shared { nat: Some(nat_of_1_s()), ..Shared::default() };
    let wifi = Shared { air: Some(Air::Wifi(ieee80211g())), ..Shared::default() };
    for shared in [radio, nat, wifi] {
        let mut link = link(shared, ms(0), ms(0));
        let polled = Instant::from_nanos(100);
        assert_eq!(link.poll_packet(polled), None);
        link.handle_packet(packet(0, 0, UDP), Instant::from_nanos(90));
        let (_, packet) = link.poll_packet(Instant::from_nanos(1_000_000_000)).unwrap();
        assert_eq!(packet.arrival, polled);
    }
}

/// A link of these chains, whose radio sleeps after 200 ms and then listens every 2.048 s, in which it also starts.
fn dozing(uplink: Vec<Stage>, downlink: Vec<Stage>, air: Option<Air>) -> Link {
    let sleep = Sleep { after: ms(200), cycle: Some(ms(2048)), wake: ms(0) };
    let shared = Shared { air, radio: Some((vec![sleep], 16_000)), nat: None };
    shared.link(&Plan { stages: [uplink, downlink], medium: None, seed: 1 })
}

fn path(rate: u64, delay: u64) -> Vec<Stage> {
    vec![Stage::rate(rate, 16_000, 0), Stage::constant(ms(delay))]
}

#[test]
fn the_radio_does_not_sleep_while_it_sends() {
    // NB-IoT: 1000 bytes take 400 ms at 20 kbit/s and come to the server after 500 ms. Sleep begins 200 ms after the last bit, at 600 ms.
    let answer_at = |microsecond| {
        let mut link = dozing(path(20_000, 100), path(250_000, 50), None);
        leave(&mut link, &[(0, 0, 1000), (microsecond, 1, 100)])
    };
    // The answer takes 3.2 ms and 50 ms.
    assert_eq!(answer_at(500_000), [500_000_000, 553_200_000]);
    // Received from 599.9 ms on, and from 600.1 ms on: then the client listens 2048 ms after 600 ms.
    assert_eq!(answer_at(549_900)[1], 603_100_000);
    assert_eq!(answer_at(550_100)[1], 2_648_000_000);
}

#[test]
fn packets_that_wait_to_be_sent_keep_the_radio_awake_and_those_on_their_way_do_not() {
    // Two of 400 ms each: sleep begins at 1000 ms, though the second is under way up to 1800 ms.
    let mut link = dozing(path(20_000, 1000), vec![], None);
    let departures = leave(&mut link, &[(0, 0, 1000), (0, 0, 1000), (999_000, 1, 100), (1_199_000, 1, 100)]);
    assert_eq!(departures, [1_400_000_000, 1_800_000_000, 999_000_000, 3_247_000_000]);
}

#[test]
fn neither_drops_nor_copies_on_the_way_keep_the_radio_awake_for_longer() {
    // The queue has room for none: of a packet copied before the rate only one is sent.
    let (copied, rate) = (Stage::duplicate(1.0, 0.0), Stage::rate(20_000, 0, 0));
    for uplink in [vec![copied.clone(), rate.clone(), Stage::independent(1.0)], vec![rate, copied]] {
        let mut link = dozing(uplink, vec![], None);
        let outcomes = drive(&mut link, &train(&[(0, 0, 1000), (599_000, 1, 100), (799_000, 1, 100)]), &Caller::Prompt);
        let answers = [1, 2].map(|sequence| outcomes[&(sequence, false)].0.as_nanos() / 1_000_000);
        assert_eq!(answers, [599, 799 + 2048]);
    }
}

#[test]
fn the_radio_does_not_sleep_while_it_receives() {
    // 1000 bytes take 400 ms. The first is received from 100 to 500 ms, the second up to 900 ms; the last begins when sleep has begun, at 1100 ms.
    let packets = [(0, 0, 0), (0, 1, 1000), (0, 1, 1000), (1_001_000, 1, 1000)];
    let mut link = dozing(vec![], path(20_000, 100), None);
    assert_eq!(leave(&mut link, &packets), [0, 500_000_000, 900_000_000, 3_148_000_000]);
}

#[test]
fn the_radio_does_not_sleep_while_it_uses_the_medium() {
    for side in [0, 1] {
        let air = Some(Air::Serialiser(20_000, 16_000));
        let mut link = dozing(vec![], vec![], air);
        // It is awake from the first packet's 0 ms on. Then 400 ms on the air, and sleep at 600 ms; 40 ms for the last packet.
        let departures = leave(&mut link, &[(0, 0, 0), (0, side, 1000), (550_000, 1, 100), (900_000, 1, 100)]);
        assert_eq!(departures, [0, 400_000_000, 590_000_000, 590_000_000 + 200_000_000 + 2_048_000_000], "side {side}");
    }
}

#[test]
fn directions_that_share_nothing_do_not_move_each_others_late_arrivals() {
    let codel = Queue::Codel { target: ms(5), interval: ms(100), bytes: 10_000 };
    let stage = || vec![Stage::queued(Sender::rate(8_000_000), codel, 0)];
    let plan = Plan { stages: [stage(), stage()], medium: None, seed: 1 };
    let late = |shared: Shared| {
        let mut link = shared.link(&plan);
        link.handle_packet(packet(0, 0, UDP), Instant::from_nanos(100));
        link.handle_packet(packet(1, 1, UDP), Instant::from_nanos(90));
        link.handle_packet(packet(2, 0, UDP), Instant::from_nanos(95));
        let all = std::iter::from_fn(|| link.poll_packet(Instant::from_nanos(1_000_000)));
        let mut arrivals: Vec<_> = all.map(|(_, packet)| (packet.sequence, packet.arrival.as_nanos())).collect();
        arrivals.sort_unstable();
        arrivals
    };
    assert_eq!(late(Shared::default()), [(0, 100), (1, 90), (2, 100)]);
    let air = Some(Air::Serialiser(8_000_000_000, 10_000));
    assert_eq!(late(Shared { air, ..Shared::default() }), [(0, 100), (1, 100), (2, 100)]);
}
