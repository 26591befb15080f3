//! What every kind of impairment and shared stage has to keep, by the lists of kinds: a stage that fails is called by its name.
//!
//! Its facts are compared with what it does to packets. A tolerance is five standard errors of what is seen, from runs with independent seeds.

mod checks;
#[path = "../common/mod.rs"]
mod common;
mod shared_checks;
mod trains;

use std::time::Duration;

use checks::{SEEDS, disagreements};
use common::{Caller, Send, drive};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wirelab_link::facts::{Facts, Kept, LinkFacts, LossFacts, QueueFacts, SharedFacts};
use wirelab_link::impairment::{ImpairmentSpec, Kind, SharedStage};
use wirelab_link::spec::{LinkSpec, Place};
use wirelab_link::{Direction, IMPAIRMENTS, Impairment, SHARED, Seed};

/// So many that a fact of a shared stage which is a tenth off is found.
const MANY_SEEDS: u64 = 150;
/// Enough to see an effect at all.
const FEW_SEEDS: u64 = 10;
const SEED: Seed = Seed { link: 1, direction: Direction::Uplink, index: 0 };

fn build(spec: &ImpairmentSpec, seed: Seed) -> Box<dyn Impairment> {
    spec.build(seed, &Place::new(spec.kind())).unwrap_or_else(|error| panic!("{error}"))
}

/// What is wrong with these facts, one line each, with the name of the kind.
fn judge(spec: &ImpairmentSpec, facts: &Facts, seeds: u64) -> Vec<String> {
    let found = disagreements(facts, &|seed| build(spec, seed), seeds);
    found.into_iter().map(|what| format!("{}: {what}: {spec:?}", spec.kind())).collect()
}

fn examples() -> impl Iterator<Item = ImpairmentSpec> {
    IMPAIRMENTS.iter().flat_map(|kind| (kind.examples)())
}

/// Packets both ways: bursts, a trickle, and silences.
fn train() -> Vec<Send> {
    let gaps = [0, 0, 0, 50, 300, 900, 1000, 1100, 20_000, 7, 0, 200_000].into_iter().cycle().take(240);
    (0..)
        .zip(gaps)
        .map(|(nth, gap)| Send { gap: Duration::from_micros(gap), port: nth % 2, size: 40 + u32::from(nth) })
        .collect()
}

fn survives_json<S: Clone + PartialEq + std::fmt::Debug + Serialize + DeserializeOwned>(kinds: &[Kind<S>]) {
    for kind in kinds {
        let examples = (kind.examples)();
        assert!(!examples.is_empty(), "{} has no example", kind.name);
        assert!(kind.about.len() > 80, "{} has no paragraph for people", kind.name);
        for example in examples {
            let json = serde_json::to_value(&example).unwrap();
            assert_eq!(json["kind"], kind.name);
            assert_eq!(serde_json::from_value::<S>(json.clone()).unwrap(), example, "{}", kind.name);
            let mut unknown = json;
            unknown["unheard-of"] = 1.into();
            assert!(serde_json::from_value::<S>(unknown).is_err(), "{} takes any key", kind.name);
        }
    }
}

#[test]
fn every_description_survives_json_and_takes_no_unknown_key() {
    survives_json(IMPAIRMENTS);
    survives_json::<SharedStage>(SHARED);
}

#[test]
fn every_example_conserves_packets_and_forgives_lateness() {
    for example in examples() {
        let prompt = drive(&mut *build(&example, SEED), &train(), &Caller::Prompt);
        for late in [100, 3000, 1_000_000].map(Duration::from_micros) {
            let fates = drive(&mut *build(&example, SEED), &train(), &Caller::Late(vec![late]));
            assert!(fates == prompt, "{}: a caller that is {late:?} late changes packets' fates", example.kind());
        }
        let absent = drive(&mut *build(&example, SEED), &train(), &Caller::Absent);
        assert!(absent == prompt, "{}: a caller that never polls changes packets' fates", example.kind());
    }
}

#[test]
fn every_shared_example_conserves_packets_and_forgives_lateness() {
    for stage in shared_examples() {
        let place = Place::new(stage.kind());
        let built = || stage.build(SEED, &place).unwrap_or_else(|error| panic!("{error}"));
        let prompt = drive(&mut *built(), &train(), &Caller::Prompt);
        for late in [100, 3000, 1_000_000].map(Duration::from_micros) {
            let fates = drive(&mut *built(), &train(), &Caller::Late(vec![late]));
            assert!(fates == prompt, "{}: a caller that is {late:?} late changes packets' fates", stage.kind());
        }
    }
}

#[test]
fn the_facts_of_every_example_agree_with_what_it_does() {
    let wrong: Vec<String> = examples().flat_map(|example| judge(&example, &example.facts(), SEEDS)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn shared_examples() -> impl Iterator<Item = SharedStage> {
    SHARED.iter().flat_map(|kind| (kind.examples)())
}

/// What is wrong with the facts of a stage that both directions share, one line each, with the name of the kind.
fn judge_shared(stage: &SharedStage, facts: &SharedFacts, seeds: u64) -> Vec<String> {
    let build = |seed| stage.build(seed, &Place::new(stage.kind())).unwrap_or_else(|error| panic!("{error}"));
    let found = shared_checks::disagreements(facts, &build, seeds);
    found.into_iter().map(|what| format!("{}: {what}: {stage:?}", stage.kind())).collect()
}

#[test]
fn the_facts_of_every_shared_example_agree_with_what_it_does() {
    let wrong: Vec<String> =
        shared_examples().flat_map(|stage| judge_shared(&stage, &stage.facts(), MANY_SEEDS)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_link_that_loses_everything_agrees_with_its_facts() {
    let everything: ImpairmentSpec = serde_json::from_str(r#"{"kind": "loss", "probability": 1.0}"#).unwrap();
    assert_eq!(judge(&everything, &everything.facts(), FEW_SEEDS), Vec::<String>::new());
}

#[test]
fn the_queue_of_every_example_is_that_of_its_facts() {
    for example in examples() {
        assert_eq!(example.queue().map(QueueFacts::from), example.facts().queue, "{}", example.kind());
    }
}

#[test]
fn a_fact_that_is_a_tenth_off_is_found_by_the_name_of_the_impairment() {
    type Change = fn(&mut Facts);
    fn loss(facts: &mut Facts) -> &mut LossFacts {
        facts.loss.as_mut().expect("a loss")
    }
    fn share(facts: &mut Facts) {
        let loss = loss(facts);
        (loss.share, loss.first, loss.again) =
            (loss.share.map(|share| 1.1 * share), 1.1 * loss.first, 1.1 * loss.again);
    }
    fn mean_rate(facts: &mut Facts) {
        let rate = facts.rate.as_mut().expect("a rate");
        rate.mean_bps = rate.mean_bps.map(|mean| mean + mean / 10);
    }
    let changes: [(&str, &str, Change); 23] = [
        ("loss", "loss share", share),
        ("gilbert-elliott", "loss share", share),
        ("gilbert-elliott", "again", |facts| loss(facts).again *= 1.1),
        ("gilbert-elliott", "design effect", |facts| {
            let effect = &mut loss(facts).design_effect;
            *effect = effect.map(|effect| 2.0 * effect);
        }),
        ("gilbert-elliott-time", "loss share", share),
        ("gilbert-elliott-time", "losses in a row", |facts| loss(facts).in_time.as_mut().unwrap().variance *= 1.1),
        ("four-state", "loss share", share),
        ("markov", "loss share", share),
        ("loss-pattern", "loss share", share),
        ("loss-pattern", "loss pattern", |facts| loss(facts).pattern.as_mut().unwrap().lost[0] += 1),
        ("delay", "mean delay", |facts| facts.delay.as_mut().unwrap().mean_ns *= 1.1),
        ("rate", "mean rate", mean_rate),
        ("rate", "steady rate", |facts| {
            let steady = &mut facts.rate.as_mut().unwrap().steady_bps;
            *steady = steady.map(|steady| steady + steady / 10);
        }),
        ("token-bucket", "mean rate", mean_rate),
        ("duty-cycle", "mean rate", mean_rate),
        ("schedule", "mean rate", mean_rate),
        ("delivery-trace", "mean rate", mean_rate),
        ("delivery-trace", "quantum", |facts| facts.rate.as_mut().unwrap().quantum_bytes = Some(1350)),
        ("outage", "outage", |facts| {
            let duration = &mut facts.away.as_mut().unwrap().duration_ns;
            *duration += *duration / 10;
        }),
        ("outage", "keeps", |facts| facts.keeps.push(Kept::Retries)),
        ("duplicate", "duplicated", |facts| facts.duplicated.as_mut().unwrap().share *= 1.1),
        ("corrupt", "corrupted", |facts| facts.corrupted.as_mut().unwrap().share *= 1.1),
        ("reorder", "held back", |facts| facts.held_back.as_mut().unwrap().share *= 1.1),
    ];
    for kind in IMPAIRMENTS {
        assert!(changes.iter().any(|(name, ..)| *name == kind.name), "no fact of {} is changed", kind.name);
    }
    for (name, fact, change) in changes {
        let kind = IMPAIRMENTS.iter().find(|kind| kind.name == name).unwrap();
        for example in (kind.examples)() {
            let mut facts = example.facts();
            change(&mut facts);
            let found = judge(&example, &facts, SEEDS);
            let named = |what: &&String| what.starts_with(&format!("{name}: {fact}"));
            assert!(found.iter().any(|what| named(&what)), "{name}, {fact}: {found:?}: {example:?}");
        }
    }
}

#[test]
fn a_shared_fact_that_is_a_tenth_off_is_found_by_the_name_of_the_stage() {
    type Change = fn(&mut SharedFacts);
    let changes: [(&str, &str, Change); 14] = [
        ("serialiser", "idle service", |facts| facts.service[0].idle_ns_per_byte *= 1.1),
        ("serialiser", "rate", |facts| facts.rate_bps = Some(110_000)),
        ("wifi", "busy service", |facts| facts.service[0].busy_ns *= 1.1),
        ("wifi", "random", |facts| facts.random = false),
        ("wifi", "airtime", |facts| {
            let air = facts.airtime.as_mut().unwrap();
            (air.per_frame_ns, air.per_byte_ns) = (1.1 * air.per_frame_ns, 1.1 * air.per_byte_ns);
        }),
        ("wifi", "keeps", |facts| facts.keeps[0].retain(|kept| *kept != Kept::Held)),
        ("ieee802154", "idle service", |facts| facts.service[0].idle_ns *= 1.1),
        ("ieee802154", "airtime", |facts| facts.airtime.as_mut().unwrap().per_byte_ns *= 1.25),
        ("radio", "sleep 0", |facts| facts.sleeps[0].after_ns += facts.sleeps[0].after_ns / 10),
        ("radio", "cycle 0", |facts| facts.sleeps[0].cycle_ns = Some(44_000_000)),
        ("radio", "Downlink queue", |facts| {
            let queue = facts.queue.as_mut().unwrap().downlink.as_mut().unwrap();
            queue.bytes = queue.bytes.map(|bytes| bytes + bytes / 10);
        }),
        ("nat", "silence", |facts| facts.silence_ns = facts.silence_ns.map(|silence| silence + silence / 10)),
        ("nat", "opened by uplink", |facts| facts.opened_by_uplink = false),
        ("nat", "flows told apart", |facts| facts.tells_flows_apart = false),
    ];
    for kind in SHARED {
        assert!(changes.iter().any(|(name, ..)| *name == kind.name), "no fact of {} is changed", kind.name);
    }
    for (name, fact, change) in changes {
        let kind = SHARED.iter().find(|kind| kind.name == name).unwrap();
        let example = (kind.examples)().remove(0);
        let mut facts = example.facts();
        change(&mut facts);
        let found = judge_shared(&example, &facts, MANY_SEEDS);
        let named = |what: &&String| what.starts_with(&format!("{name}: {fact}"));
        assert!(found.iter().any(|what| named(&what)), "{name}, {fact}: {found:?}");
    }
    for lossy in shared_examples().filter(|stage| stage.facts().frame_loss > 0.1) {
        let facts = lossy.facts();
        let found = judge_shared(&lossy, &SharedFacts { frame_loss: 1.1 * facts.frame_loss, ..facts }, MANY_SEEDS);
        assert!(found.iter().any(|what| what.contains(": frame loss")), "{}: {found:?}", lossy.kind());
    }
}

#[test]
fn a_fact_that_is_missing_is_found() {
    for example in IMPAIRMENTS.iter().map(|kind| (kind.examples)().remove(0)) {
        let facts = example.facts();
        let without: [(bool, Facts); 6] = [
            (facts.loss.is_some(), Facts { loss: None, ..facts.clone() }),
            (facts.duplicated.is_some(), Facts { duplicated: None, ..facts.clone() }),
            (facts.corrupted.is_some(), Facts { corrupted: None, ..facts.clone() }),
            (facts.rate.is_some() && facts.varies.is_none(), Facts { rate: None, ..facts.clone() }),
            (facts.delay.is_some() && facts.varies.is_none(), Facts { delay: None, ..facts.clone() }),
            (!facts.keeps.is_empty(), Facts { keeps: vec![], ..facts.clone() }),
        ];
        for (nth, (stated, facts)) in without.into_iter().enumerate() {
            assert!(
                !stated || !judge(&example, &facts, FEW_SEEDS).is_empty(),
                "{}: fact {nth} is not missed",
                example.kind()
            );
        }
    }
}

#[test]
fn what_is_known_of_a_link_survives_json_and_lists_what_packets_pass() {
    let mut link = LinkSpec { uplink: examples().collect(), ..LinkSpec::default() };
    for stage in shared_examples() {
        match stage {
            SharedStage::Radio(radio) => link.radio = Some(radio),
            SharedStage::Nat(nat) => link.nat = Some(nat),
            medium => link.medium = serde_json::from_value(serde_json::to_value(medium).unwrap()).ok(),
        }
    }
    let facts = LinkFacts::of(&link);
    let keys: Vec<_> = facts.shared.iter().map(|stage| stage.key.as_str()).collect();
    assert_eq!(keys, ["radio", "medium", "nat"]);
    assert_eq!((facts.uplink.path.len(), facts.downlink.path.len()), (link.uplink.len() + 3, 3));
    let json = serde_json::to_string(&facts).unwrap();
    assert_eq!(serde_json::from_str::<LinkFacts>(&json).unwrap(), facts);
}
