//! Tests: every fuzz target on its seeds and on changed ones.

use std::collections::BTreeSet;

use wirelab_net::link::{IMPAIRMENTS, SHARED};

use crate::{TARGETS, mutate};

/// How many changed seeds each target is given.
const RUNS: usize = 1000;

#[test]
fn every_target_stands_its_seeds_and_what_a_fixed_generator_makes_of_them() {
    for (name, check, seeds) in TARGETS {
        let seeds = seeds();
        assert!(!seeds.is_empty(), "{name}");
        seeds.iter().for_each(|seed| check(seed));
        for run in 0..RUNS {
            check(&mutate::bytes(&seeds[run % seeds.len()], run as u64));
        }
    }
}

#[test]
fn links_to_begin_with_have_everything_that_a_link_can_have() {
    let text = serde_json::to_string(&mutate::links()).unwrap();
    let kinds = IMPAIRMENTS.iter().map(|kind| kind.name).chain(SHARED.iter().map(|kind| kind.name));
    let names: BTreeSet<&str> = kinds.collect();
    let missing: Vec<_> = names.iter().filter(|name| !text.contains(&format!("\"{name}\""))).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert_eq!(mutate::links().len(), 5);
}

#[test]
fn seeds_are_what_they_are_meant_to_be() {
    for link in crate::link_text::seeds() {
        wirelab_agent::inputs::link(&link, 1).unwrap();
    }
    for log in crate::packet_log::seeds() {
        assert!(
            wirelab_capture::replay::replay("log".to_owned(), &wirelab_capture::log_file::parse(&log[..]).unwrap())
                .unwrap()
                .packets
                > 0
        );
    }
    for capture in crate::capture::seeds() {
        crate::capture::packets(&capture).unwrap();
    }
    for line in crate::request::seeds() {
        assert!(crate::request::is_read(&line), "{}", String::from_utf8_lossy(&line));
    }
    let orders = crate::request::seeds().iter().filter(|line| wirelab_agent::inputs::is_order(line).is_ok()).count();
    assert_eq!(orders, 1 + mutate::links().len());
}
