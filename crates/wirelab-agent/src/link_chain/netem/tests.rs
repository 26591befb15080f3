//! Tests: which links become netem's command lines, and which are refused and why.

use wirelab_net::link::IMPAIRMENTS;
use wirelab_net::topology::{Chance, NetemJitter, NetemLoss};
use wirelab_schema::ImpairmentSpec;

use super::*;

const MS: i64 = 1_000_000;

/// The uplink of a link with these stages, as JSON.
fn link(stages: &str) -> LinkSpec {
    serde_json::from_str(&format!(r#"{{"uplink": [{stages}], "downlink": [], "backend": "netem"}}"#)).unwrap()
}

fn uplink(stages: &str) -> Vec<Qdisc> {
    let [uplink, downlink] = qdiscs(&link(stages), 1).unwrap();
    assert_eq!(downlink, []);
    uplink
}

/// The netems of an uplink that has nothing else, without their seeds.
fn netems(stages: &str) -> Vec<Netem> {
    let simplified = |qdisc| match qdisc {
        Qdisc::Netem(netem) => Netem { seed: 0, ..*netem },
        Qdisc::Tbf(tbf) => panic!("{tbf:?}"),
    };
    uplink(stages).into_iter().map(simplified).collect()
}

fn refused(stages: &str) -> String {
    qdiscs(&link(stages), 1).unwrap_err().to_string()
}

const LOSS: &str = r#"{"kind": "loss", "probability": 0.1, "correlation": 0.2}"#;
const DELAY: &str = r#"{"kind": "delay", "delay_ns": 10000000}"#;
const RATE: &str = r#"{"kind": "rate", "rate_bps": 1000000, "queue": {"discipline": "drop-tail", "packets": 10}, "overhead_bytes": 4}"#;
const REORDER: &str = r#"{"kind": "reorder", "probability": 0.25, "by_ns": 3000000, "correlation": 0.5}"#;
const BUCKET: &str = r#"{"kind": "token-bucket", "rate_bps": 8000000, "burst_bytes": 3000, "overhead_bytes": 14,
    "queue": {"discipline": "drop-tail", "bytes": 20000}}"#;

fn all(stages: &[&str]) -> String {
    stages.join(",")
}

#[test]
fn loss_and_a_constant_delay_are_one_netem_wherever_the_delay_stands() {
    let loss = Some(NetemLoss::Independent(Chance { probability: 0.1, correlation: 0.2 }));
    let one = vec![Netem { limit: NO_LIMIT, loss, delay_ns: 10 * MS, ..Netem::default() }];
    assert_eq!(netems(&all(&[LOSS, DELAY])), one);
    assert_eq!(netems(&all(&[DELAY, LOSS])), one);
}

#[test]
fn a_link_that_does_nothing_needs_no_qdisc() {
    assert_eq!(uplink(""), []);
    assert_eq!(uplink(r#"{"kind": "delay", "delay_ns": 0}"#), []);
}

#[test]
fn burst_losses_keep_their_parameters() {
    let gilbert = r#"{"kind": "gilbert-elliott", "p": 0.01, "r": 0.1, "bad_loss": 0.75, "good_loss": 0.001}"#;
    let model = NetemLoss::GilbertElliott { p: 0.01, r: 0.1, bad_pass: 0.25, good_loss: 0.001 };
    assert_eq!(netems(gilbert)[0].loss, Some(model));
    let four = r#"{"kind": "four-state", "p13": 0.1, "p31": 0.2, "p32": 0.3, "p23": 0.4, "p14": 0.05}"#;
    let model = NetemLoss::FourState { p13: 0.1, p31: 0.2, p32: 0.3, p23: 0.4, p14: 0.05 };
    assert_eq!(netems(four)[0].loss, Some(model));
}

#[test]
fn a_rate_alone_holds_as_many_as_wait_and_the_one_being_sent() {
    let rate = Some(NetemRate { bytes_per_second: 125_000, overhead_bytes: -10 });
    let loss = Some(NetemLoss::Independent(Chance { probability: 0.1, correlation: 0.2 }));
    assert_eq!(netems(RATE), [Netem { limit: 11, rate, ..Netem::default() }]);
    assert_eq!(netems(&all(&[LOSS, RATE])), [Netem { limit: 11, rate, loss, ..Netem::default() }]);
}

#[test]
fn a_rate_after_a_delay_has_a_separate_netem_so_that_its_limit_counts_waiting_packets() {
    let rate = Netem {
        limit: 11,
        rate: Some(NetemRate { bytes_per_second: 125_000, overhead_bytes: -10 }),
        ..Netem::default()
    };
    let delay = Netem { limit: NO_LIMIT, delay_ns: 10 * MS, ..Netem::default() };
    assert_eq!(netems(&all(&[DELAY, RATE])), [delay.clone(), rate.clone()]);
    assert_eq!(netems(&all(&[RATE, DELAY])), [delay, rate]);
}

#[test]
fn netems_reorder_probability_is_the_share_of_packets_that_are_not_delayed() {
    let at_once = Chance { probability: 0.75, correlation: 0.5 };
    let held = Netem { limit: NO_LIMIT, delay_ns: 3 * MS, at_once, ..Netem::default() };
    assert_eq!(netems(REORDER), std::slice::from_ref(&held));
    let delay = Netem { limit: NO_LIMIT, delay_ns: 10 * MS, ..Netem::default() };
    assert_eq!(netems(&all(&[DELAY, REORDER])), [delay.clone(), held.clone()]);
    assert_eq!(netems(&all(&[REORDER, DELAY])), [delay, held]);
}

#[test]
fn a_token_bucket_is_a_tbf_behind_the_rest() {
    let tbf =
        Qdisc::Tbf(Tbf { bytes_per_second: 1_000_000, burst_bytes: 3000, limit_bytes: 20_000, overhead_bytes: 0 });
    for stages in [&[BUCKET][..], &[LOSS, BUCKET], &[LOSS, BUCKET, DELAY]] {
        let both = uplink(&all(stages));
        assert_eq!((both.len(), &both[1]), (2, &tbf));
    }
}

#[test]
fn whatever_waits_for_tokens_was_delayed_so_that_the_links_socket_has_room_for_the_next() {
    let delay_ns = |stages: &[&str]| match &uplink(&all(stages))[0] {
        Qdisc::Netem(netem) => netem.delay_ns,
        Qdisc::Tbf(tbf) => panic!("{tbf:?}"),
    };
    assert_eq!([&[BUCKET][..], &[LOSS, BUCKET]].map(delay_ns), [1; 2]);
    assert_eq!(delay_ns(&[BUCKET, DELAY]), 10 * MS);
    assert_eq!(delay_ns(&[LOSS]), 0);
}

#[test]
fn jitter_becomes_a_table_and_a_rate_without_end_keeps_the_order() {
    let jitter = |more: &str| {
        let spread = r#"{"distribution": "uniform", "half_width_ns": 4000000}"#;
        netems(&format!(r#"{{"kind": "delay", "delay_ns": 10000000, "jitter": {spread} {more}}}"#)).remove(0)
    };
    let NetemJitter { unit_ns, table } = jitter("").jitter.unwrap();
    assert_eq!(table.len(), 4096);
    let offset = |entry: i16| f64::from(entry) * f64::from(unit_ns) / 8192.0;
    // Equally likely steps of 8 ms / 4096, to half of what an entry resolves.
    for (index, entry) in (0..).zip(&table) {
        let expected = -4e6 + 8e6 * (f64::from(index) + 0.5) / 4096.0;
        assert!((offset(*entry) - expected).abs() <= 0.5 * f64::from(unit_ns) / 8192.0 + 1e-6, "{index}");
    }
    assert_eq!(jitter("").rate, Some(IN_ORDER));
    assert_eq!(jitter(r#", "overtaking": true"#).rate, None);
}

#[test]
fn both_directions_and_every_netem_of_a_line_draw_numbers_of_their_own() {
    let stages: Vec<ImpairmentSpec> = serde_json::from_str(&format!("[{LOSS}, {DELAY}, {RATE}]")).unwrap();
    let link = LinkSpec { uplink: stages.clone(), downlink: stages, ..LinkSpec::default() };
    let seeds = |seed| {
        let lines = qdiscs(&link, seed).unwrap();
        lines.concat().iter().map(|qdisc| matches!(qdisc, Qdisc::Netem(netem) if netem.seed != 0)).collect::<Vec<_>>()
    };
    assert_eq!(seeds(1), [true; 4]);
    let [up, down] = qdiscs(&link, 1).unwrap();
    assert_ne!(up, down);
    assert_ne!(up, qdiscs(&link, 2).unwrap()[0]);
    assert_eq!(up, qdiscs(&link, 1).unwrap()[0]);
}

#[test]
fn what_netem_cannot_do_is_refused_as_the_control_plane_refuses_it() {
    #[derive(serde::Deserialize)]
    struct Case {
        link: LinkSpec,
        refused: Option<String>,
    }
    let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/netem.json"));
    for Case { link, refused } in serde_json::from_str::<Vec<Case>>(text).unwrap() {
        let said = qdiscs(&link, 1).err().map(|error| error.to_string());
        let normalised = |text: &str| text.split_once(" s from the mean").map_or(text.to_owned(), |_| "too far".into());
        assert_eq!(said.as_deref().map(normalised), refused.as_deref().map(normalised), "{link:?}");
    }
}

#[test]
fn an_effect_that_stands_twice_is_refused() {
    assert_eq!(refused(&all(&[LOSS, LOSS])), "uplink[1]: netem drops once");
    assert_eq!(refused(&all(&[DELAY, DELAY])), "uplink: netem delays once");
}

#[test]
fn every_impairment_is_mapped_or_refused_by_its_name() {
    let mut able = Vec::new();
    for stage in IMPAIRMENTS.iter().flat_map(|kind| (kind.examples)()) {
        let spec = LinkSpec { uplink: vec![stage.clone()], ..LinkSpec::default() };
        let kind = serde_json::to_value(&stage).unwrap()["kind"].as_str().unwrap().to_owned();
        match qdiscs(&spec, 1) {
            Ok(_) => able.push(kind),
            Err(error) if error.to_string() == format!("uplink[0]: netem has no {kind}") => {}
            Err(error) => assert!(error.to_string().starts_with("uplink[0]."), "{kind}: {error}"),
        }
    }
    assert!(able.contains(&"four-state".to_owned()), "{able:?}");
}
