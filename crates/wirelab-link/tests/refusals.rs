//! What no link can do is refused with its place and its value; and the lists of kinds are those of the schema.

#[path = "common/specs.rs"]
mod specs;

use std::collections::BTreeSet;

use specs::*;
use wirelab_link::impairment::{
    CorruptSpec, DeliveryTraceSpec, DuplicateSpec, DutyCycleSpec, FourStateSpec, GilbertElliottSpec,
    GilbertElliottTimeSpec, ImpairmentSpec, JitterSpec, LossPatternSpec, LossSpec, MarkovSpec, MediumSpec, OutageSpec,
    RadioSpec, ReorderSpec, SchedulePoint, ScheduleSpec, SerialiserSpec, TokenBucketSpec,
};
use wirelab_link::queue::QueueSpec;
use wirelab_link::spec::{AddressFamily, LinkSpec};
use wirelab_link::{IMPAIRMENTS, SHARED};

fn refused(spec: &LinkSpec) -> String {
    spec.build(1).expect_err("no link can do this").to_string()
}

/// The error that a stage is refused with, without its place in the chain.
fn error(stage: ImpairmentSpec) -> String {
    let message = refused(&LinkSpec { downlink: vec![loss(0.5), stage], ..LinkSpec::default() });
    let at = message.strip_prefix("downlink[1]").unwrap_or_else(|| panic!("{message}"));
    at.trim_start_matches(['.', ':', ' ']).to_owned()
}

#[test]
fn every_impairment_of_the_schema_is_registered_and_no_other() {
    let schema = serde_json::to_value(schemars::schema_for!(ImpairmentSpec)).unwrap();
    let variants = schema["oneOf"].as_array().unwrap();
    let kinds: BTreeSet<_> =
        variants.iter().map(|variant| variant["properties"]["kind"]["const"].as_str().unwrap()).collect();
    let registered: BTreeSet<_> = IMPAIRMENTS.iter().map(|kind| kind.name).collect();
    assert_eq!(kinds, registered);
    assert_eq!(IMPAIRMENTS.len(), registered.len());
    assert!(IMPAIRMENTS.iter().all(|kind| kind.about.len() > 80));
}

#[test]
fn every_shared_stage_of_the_schema_is_registered_and_no_other() {
    let medium = serde_json::to_value(schemars::schema_for!(MediumSpec)).unwrap();
    let link = serde_json::to_value(schemars::schema_for!(LinkSpec)).unwrap();
    let media = medium["oneOf"].as_array().unwrap().iter();
    let kinds = media.map(|variant| variant["properties"]["kind"]["const"].as_str().unwrap());
    let stages = link["properties"].as_object().unwrap().keys().map(String::as_str);
    let others = stages.filter(|stage| !["uplink", "downlink", "medium", "mtu", "family", "backend"].contains(stage));
    let expected: BTreeSet<_> = kinds.chain(others).collect();
    let registered: BTreeSet<_> = SHARED.iter().map(|kind| kind.name).collect();
    assert_eq!(registered, expected);
    assert_eq!(SHARED.len(), registered.len());
    assert!(SHARED.iter().all(|kind| kind.about.len() > 80));
}

#[test]
fn a_link_with_every_impairment_is_built() {
    let kinds: BTreeSet<_> = one_of_each()
        .iter()
        .map(|stage| serde_json::to_value(stage).unwrap()["kind"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kinds.len(), IMPAIRMENTS.len());
    let serialiser = MediumSpec::Serialiser(SerialiserSpec {
        rate_bps: 1,
        queue_bytes: Some(0),
        queue_packets: None,
        overhead_bytes: 0,
    });
    for medium in [serialiser, wifi(0.1), ieee802154(0.1)] {
        let spec = LinkSpec {
            uplink: one_of_each(),
            downlink: one_of_each(),
            medium: Some(medium),
            radio: Some(psm()),
            nat: Some(nat_of_10_ms()),
            mtu: Some(1280),
            family: Some(AddressFamily::Ipv6),
            backend: None,
        };
        spec.build(1).unwrap();
    }
}

#[test]
fn jitter_of_every_distribution_is_built() {
    for jitter in [
        JitterSpec::Normal { sigma_ns: 1000 },
        JitterSpec::Uniform { half_width_ns: 1000 },
        JitterSpec::Pareto { sigma_ns: 1000 },
        JitterSpec::ParetoNormal { sigma_ns: 1000 },
    ] {
        LinkSpec { uplink: vec![delay(MILLISECOND, Some(jitter))], ..LinkSpec::default() }.build(1).unwrap();
    }
}

#[test]
fn the_place_of_an_error_is_named() {
    let spec = LinkSpec { downlink: vec![loss(0.5), loss(1.5)], ..LinkSpec::default() };
    assert_eq!(refused(&spec), "downlink[1].probability: 1.5 is not a probability (0 to 1)");
}

#[test]
fn what_no_loss_model_can_do_is_refused_with_its_value() {
    assert_eq!(error(loss(f64::NAN)), "probability: NaN is not a probability (0 to 1)");
    let correlated = ImpairmentSpec::Loss(LossSpec { probability: 0.1, correlation: 25.0 });
    assert_eq!(error(correlated), "correlation: 25 is not a correlation (0 to 1)");
    let elliott = |p, r, bad_loss, good_loss| {
        error(ImpairmentSpec::GilbertElliott(GilbertElliottSpec { p, r, bad_loss, good_loss }))
    };
    assert_eq!(elliott(-0.1, 0.0, 0.0, 0.0), "p: -0.1 is not a probability (0 to 1)");
    assert_eq!(elliott(0.0, 0.0, 0.0, 70.0), "good_loss: 70 is not a probability (0 to 1)");
    let time = ImpairmentSpec::GilbertElliottTime(GilbertElliottTimeSpec {
        good_ns: MILLISECOND,
        bad_ns: 1,
        bad_loss: 0.1,
        good_loss: 0.1,
    });
    assert_eq!(error(time), "bad_ns: a mean sojourn of 1ns is shorter than 10µs");
    let states = |p13, p31, p32| error(ImpairmentSpec::FourState(FourStateSpec { p13, p31, p32, p23: 0.0, p14: 0.5 }));
    assert_eq!(states(0.75, 0.0, 0.0), "p13 + p14 is 1.25, and cannot be above 1");
    assert_eq!(states(0.0, 0.75, 0.5), "p31 + p32 is 1.25, and cannot be above 1");
    assert_eq!(states(0.0, 2.0, 0.5), "p31: 2 is not a probability (0 to 1)");
    let pattern = |pattern: &str| {
        error(ImpairmentSpec::LossPattern(LossPatternSpec { pattern: pattern.to_owned(), repeat: false }))
    };
    assert_eq!(pattern(""), "pattern: it is empty");
    assert_eq!(pattern("01 1"), "pattern[2]: ` ` is neither 0 nor 1");
}

#[test]
fn values_that_are_not_a_markov_chain_are_refused() {
    let markov = |transitions: &[&[f64]], loss: &[f64]| {
        let transitions = transitions.iter().map(|row| row.to_vec()).collect();
        error(ImpairmentSpec::Markov(MarkovSpec { transitions, loss: loss.to_vec() }))
    };
    assert_eq!(markov(&[], &[]), "transitions: at least one state is needed");
    assert_eq!(markov(&[&[1.0, 0.0], &[1.0]], &[0.0; 2]), "transitions[1]: 1 probabilities for 2 states");
    assert_eq!(markov(&[&[1.0, 0.0], &[0.5, 0.25]], &[0.0; 2]), "transitions[1]: the row sums to 0.75");
    assert_eq!(markov(&[&[2.0]], &[0.0]), "transitions[0][0]: 2 is not a probability (0 to 1)");
    assert_eq!(markov(&[&[1.0]], &[0.0; 2]), "loss: 2 probabilities for 1 states");
    let many = vec![&[1.0 / 65.0; 65][..]; 65];
    assert_eq!(markov(&many, &[0.0; 65]), "transitions: 65 states are more than the maximum of 64");
    assert_eq!(markov(&[&[1.0]], &[3.0]), "loss[0]: 3 is not a probability (0 to 1)");
}

#[test]
fn what_no_path_can_do_is_refused_with_its_value() {
    let table = |offsets_ns| error(delay(MILLISECOND, Some(JitterSpec::Table { offsets_ns })));
    assert_eq!(table(vec![0, 7, 3]), "jitter.offsets_ns[2]: 3 comes after 7");
    assert_eq!(table(vec![1]), "jitter.offsets_ns: a table has two offsets or more");
    let reorder = ImpairmentSpec::Reorder(ReorderSpec { probability: -1.0, by_ns: 1, correlation: 0.0 });
    assert_eq!(error(reorder), "probability: -1 is not a probability (0 to 1)");
    let duplicate = ImpairmentSpec::Duplicate(DuplicateSpec { probability: 0.1, correlation: -1.0 });
    assert_eq!(error(duplicate), "correlation: -1 is not a correlation (0 to 1)");
    let corrupt = ImpairmentSpec::Corrupt(CorruptSpec { probability: 9.0, correlation: 0.0 });
    assert_eq!(error(corrupt), "probability: 9 is not a probability (0 to 1)");
}

#[test]
fn what_no_rate_can_do_is_refused_with_its_value() {
    assert_eq!(error(rate_of(0, drop_tail(1), 0)), "rate_bps: a rate of 0 bit/s sends nothing");
    let too_long = "overhead_bytes: 65536 is more than 65535, the largest length of a packet";
    assert_eq!(error(rate_of(1, drop_tail(1), 65_536)), too_long);
    let points = vec![at_ms(0, None)];
    let schedule =
        ImpairmentSpec::Schedule(ScheduleSpec { points, repeat_ns: None, queue: drop_tail(1), overhead_bytes: 65_536 });
    assert_eq!(error(schedule), too_long);
    let bucket = ImpairmentSpec::TokenBucket(TokenBucketSpec {
        rate_bps: 1,
        burst_bytes: 1513,
        queue: drop_tail(1),
        overhead_bytes: 14,
    });
    assert_eq!(error(bucket.clone()), "burst_bytes: a bucket of 1513 bytes lets no packet of 1514 pass");
    let with_mtu = |mtu| LinkSpec { uplink: vec![bucket.clone()], mtu: Some(mtu), ..LinkSpec::default() };
    assert_eq!(refused(&with_mtu(1500)), "uplink[0].burst_bytes: a bucket of 1513 bytes lets no packet of 1514 pass");
    with_mtu(1499).build(1).unwrap();
    let trace = |opportunities_ms| {
        error(ImpairmentSpec::DeliveryTrace(DeliveryTraceSpec {
            opportunities_ms,
            queue: drop_tail(1),
            overhead_bytes: 0,
        }))
    };
    assert_eq!(trace(vec![0, 1, 2, 2, 7, 3]), "opportunities_ms[5]: 3 comes after 7");
    assert!(trace(vec![]).starts_with("opportunities_ms: "));
    assert!(trace(vec![0, 0]).starts_with("opportunities_ms: "));
    for share in [0.0, 1.1, f64::NAN] {
        let duty =
            ImpairmentSpec::DutyCycle(DutyCycleSpec { rate_bps: 1, share, queue: drop_tail(1), overhead_bytes: 0 });
        assert!(error(duty).starts_with(&format!("share: {share} ")), "{share}");
    }
    let outage =
        ImpairmentSpec::Outage(OutageSpec { start_ns: 0, duration_ns: 2, every_ns: Some(1), hold_bytes: None });
    assert_eq!(error(outage), "outages of 2ns every 1ns never end");
}

#[test]
fn a_schedule_that_makes_no_sense_is_refused_with_its_value() {
    let schedule = |points, repeat_ns| error(schedule_of(points, repeat_ns));
    assert_eq!(
        schedule(vec![at_ms(0, None), at_ms(5, None), at_ms(2, None)], None),
        "points[2].at_ns: 2000000 comes after 5000000"
    );
    assert_eq!(
        schedule(vec![at_ms(0, Some(0)), at_ms(1, Some(0))], None),
        "points: a rate of 0 bit/s throughout sends nothing"
    );
    let lossy = SchedulePoint { loss: Some(2.0), ..at_ms(1, None) };
    assert_eq!(schedule(vec![at_ms(0, None), lossy], None), "points[1].loss: 2 is not a probability (0 to 1)");
    assert_eq!(schedule(vec![], None), "a schedule has at least one point");
    assert_eq!(schedule(vec![at_ms(3, None)], None), "the first point is at 0, not at 3ms");
    assert!(schedule(vec![at_ms(0, None), at_ms(3, None)], Some(1)).contains("never reaches"));
}

#[test]
fn a_queue_that_cannot_work_is_refused_with_its_value() {
    let queue = |queue| error(rate_of(1, queue, 0));
    let boundless = QueueSpec::DropTail { bytes: None, packets: None };
    assert_eq!(queue(boundless), "queue: a drop-tail queue has a bound: bytes, packets or both");
    let hasty = QueueSpec::Codel { target_ns: 1, interval_ns: 0, bytes: 1 };
    assert_eq!(queue(hasty), "queue.interval_ns: an interval of 0 drops everything that waits");
    let fair = |interval_ns, flows, quantum_bytes| QueueSpec::FqCodel {
        target_ns: 1,
        interval_ns,
        flows,
        quantum_bytes,
        packets: 1,
    };
    assert_eq!(queue(fair(0, 1, 1)), "queue.interval_ns: an interval of 0 drops everything that waits");
    assert_eq!(queue(fair(1, 0, 1)), "queue.flows: flows cannot be hashed to 0 queues");
    assert_eq!(
        queue(fair(1, 65_537, 1)),
        "queue.flows: 65537 is more than 65536, the maximum number of queues in Linux"
    );
    assert_eq!(queue(fair(1, 1, 0)), "queue.quantum_bytes: a queue cannot send by turns of 0 bytes");
}

#[test]
fn shared_stages_that_cannot_work_are_refused_with_their_value() {
    let medium = |medium| refused(&LinkSpec { medium: Some(medium), ..LinkSpec::default() });
    let serialiser = MediumSpec::Serialiser(SerialiserSpec {
        rate_bps: 0,
        queue_bytes: Some(1),
        queue_packets: None,
        overhead_bytes: 0,
    });
    assert_eq!(medium(serialiser), "medium.rate_bps: a rate of 0 bit/s sends nothing");
    let serialiser = MediumSpec::Serialiser(SerialiserSpec {
        rate_bps: 1,
        queue_bytes: Some(1),
        queue_packets: None,
        overhead_bytes: 65_536,
    });
    assert_eq!(medium(serialiser), "medium.overhead_bytes: 65536 is more than 65535, the largest length of a packet");
    assert_eq!(medium(wifi(1.5)), "medium.frame_error: 1.5 is not a probability (0 to 1)");
    assert_eq!(medium(ieee802154(-1.0)), "medium.frame_error: -1 is not a probability (0 to 1)");
    let changed = |medium: MediumSpec, key: &str, value: u64| {
        let mut json = serde_json::to_value(medium).unwrap();
        json[key] = value.into();
        serde_json::from_value::<MediumSpec>(json).unwrap()
    };
    assert_eq!(medium(changed(wifi(0.0), "cw_min", 2000)), "medium.cw_min: 2000 is more than cw_max, 1023");
    assert!(medium(changed(wifi(0.0), "slot_ns", 0)).starts_with("medium.slot_ns: a slot of 0 "));
    assert_eq!(
        medium(changed(wifi(0.0), "cw_max", 65_536)),
        "medium.cw_max: 65536 is more than 65535, the largest window"
    );
    assert_eq!(
        medium(changed(wifi(0.0), "retries", 256)),
        "medium.retries: 256 is more than 255, the maximum of IEEE 802.11"
    );
    let times = [("preamble_ns", 999), ("ack_ns", 0), ("sifs_ns", 0), ("difs_ns", 0)];
    let hasty = times.into_iter().fold(wifi(0.0), |medium, (key, value)| changed(medium, key, value));
    assert_eq!(medium(hasty), "medium: preamble, SIFS, ACK and DIFS together take 999 ns, less than 1000");
    let zigbee = |key, value| medium(changed(ieee802154(0.0), key, value));
    assert_eq!(zigbee("retries", 8), "medium.retries: 8 is more than 7, the largest of IEEE 802.15.4");
    assert_eq!(zigbee("max_backoffs", 6), "medium.max_backoffs: 6 is more than 5, the largest of IEEE 802.15.4");
    assert_eq!(zigbee("min_be", 6), "medium.min_be: 6 is more than 5, max_be");
    assert_eq!(zigbee("max_be", 9), "medium.max_be: 9 is more than 8, the largest of IEEE 802.15.4");
    assert_eq!(
        zigbee("mac_bytes", 115),
        "medium.mac_bytes: 115 is more than 114, the maximum that leaves room for a fragment in a frame"
    );
    assert_eq!(
        zigbee("compressed_bytes", 49),
        "medium.compressed_bytes: 49 is more than 48, the headers of IPv6 and UDP"
    );

    let radio = |change: fn(&mut RadioSpec)| {
        let mut radio = psm();
        change(&mut radio);
        refused(&LinkSpec { radio: Some(radio), ..LinkSpec::default() })
    };
    let restless = radio(|radio| radio.sleeps[0].cycle_ns = Some(0));
    assert_eq!(restless, "radio.sleeps[0].cycle_ns: a client that listens every 0 ns does not sleep");
    let unordered = radio(|radio| radio.sleeps[1].after_ns = 1);
    assert_eq!(unordered, "radio.sleeps[1].after_ns: 1 comes after 2000000: sleeps go from light to deep");
}

#[test]
fn links_that_tell_flows_apart_are_known() {
    let tells_flows_apart = LinkSpec::tells_flows_apart;
    let up = |stage| LinkSpec { uplink: vec![stage], ..LinkSpec::default() };
    assert!(!tells_flows_apart(&up(rate_of(1, codel(1), 0))));
    assert!(tells_flows_apart(&up(rate_of(1, fq_codel(1), 0))));
    assert!(tells_flows_apart(&LinkSpec { nat: Some(nat_of_10_ms()), ..LinkSpec::default() }));
    assert!(!tells_flows_apart(&LinkSpec { radio: Some(psm()), medium: Some(wifi(0.0)), ..LinkSpec::default() }));
    assert!(tells_flows_apart(&LinkSpec { downlink: one_of_each(), ..LinkSpec::default() }));
}
