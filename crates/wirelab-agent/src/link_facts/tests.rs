//! Tests: what the agent answers about a link, and which links it refuses.

use super::*;

fn refused(json: &str) -> LinkRefusal {
    match answer(json) {
        LinkAnswer::Refused(refusal) => refusal,
        LinkAnswer::Facts(facts) => panic!("{facts:?}"),
    }
}

#[test]
fn a_link_is_answered_with_what_is_known_of_it() {
    let json = r#"{"uplink": [{"kind": "loss", "probability": 0.25}], "downlink": []}"#;
    let LinkAnswer::Facts(facts) = answer(json) else { panic!("it can be built") };
    assert_eq!(facts.uplink.stages[0].loss.as_ref().and_then(|loss| loss.share), Some(0.25));
    assert_eq!(facts.words[0], ("uplink".to_owned(), "25 % lost".to_owned()));
}

#[test]
fn what_no_link_can_do_is_refused_with_its_place_and_its_key_in_an_experiment_file() {
    let stages = r#"{"kind": "delay", "delay_ns": 1}, {"kind": "gilbert-elliott-time", "good_ns": 100000, "bad_ns": 1,
        "bad_loss": 1, "good_loss": 0}"#;
    let refusal = refused(&format!(r#"{{"uplink": [], "downlink": [{stages}]}}"#));
    assert_eq!((refusal.direction.as_deref(), refusal.stage), (Some("downlink"), Some(1)));
    assert_eq!((refusal.at.as_str(), refusal.key.as_str()), ("downlink[1].bad_ns", "gilbert-elliott-time.bad"));
    assert_eq!(refusal.what, "a mean sojourn of 1ns is shorter than 10µs");
}

#[test]
fn what_netem_cannot_do_is_refused_with_a_key_and_a_hint() {
    let rate = r#"{"kind": "rate", "rate_bps": 9, "queue": {"discipline": "drop-tail", "packets": 5}}"#;
    let refusal = refused(&format!(r#"{{"uplink": [{rate}], "downlink": [], "backend": "netem"}}"#));
    assert_eq!((refusal.key.as_str(), refusal.hint.as_deref()), ("rate", Some("such as 8 bit/s")));
    let nat = r#"{"uplink": [], "downlink": [], "nat": {"mapping": "endpoint-independent", "filtering": "address-dependent", "udp_timeout_ns": 1, "tcp_transitory_timeout_ns": 1, "tcp_established_timeout_ns": 1, "inbound_refresh": true, "keep_port": false, "ports": [1024, 65535], "table_size": 9, "unmapped_segment": "drop"}, "backend": "netem"}"#;
    let refusal = refused(nat);
    assert_eq!((refusal.direction, refusal.stage, refusal.key.as_str()), (None, None, "nat"));
    assert_eq!(refusal.hint.as_deref(), Some(r#"nat = "none", or backend = "wirelab""#));
}

#[test]
fn text_that_is_not_a_link_is_refused_with_the_parsers_message() {
    assert!(refused("{").what.starts_with("EOF"));
    assert!(refused(r#"{"uplink": [], "downlink": [], "speed": 1}"#).what.contains("unknown field `speed`"));
    let unknown = r#"{"uplink": [{"kind": "loss", "probability": 0.1, "probably": 1}], "downlink": []}"#;
    assert!(refused(unknown).what.contains("unknown field `probably`"));
}

#[test]
fn each_line_of_a_file_has_a_line_of_answer_and_empty_lines_have_none() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "{\"uplink\": [], \"downlink\": []}\n\n[]\n").unwrap();
    let mut out = Vec::new();
    assert_eq!(answer_all(Some(file.path()), &mut out).unwrap(), 1);
    let lines: Vec<LinkAnswer> =
        String::from_utf8(out).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(matches!(lines[..], [LinkAnswer::Facts(_), LinkAnswer::Refused(_)]));
}
