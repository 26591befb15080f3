//! What every kind of impairment and shared stage has to keep, by the lists of kinds: a stage that fails is called by its name.
//!
//! Its facts are compared with what it does to packets. A tolerance is five standard errors of what is seen, from runs with independent seeds.

mod checks;
#[path = "../common/mod.rs"]
mod common;
mod shared_checks;
mod trains;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use checks::{SEEDS, disagreements};
use common::{Caller, Send, drive};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wirelab_link::facts::{Facts, Kept, LinkFacts, QueueFacts, SharedFacts};
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
fn every_example_conserves_packets_and_tolerates_late_calls() {
    for example in examples() {
        let prompt = drive(&mut *build(&example, SEED), &train(), &Caller::Prompt);
        for late in [100, 3000, 1_000_000].map(Duration::from_micros) {
            let outcomes = drive(&mut *build(&example, SEED), &train(), &Caller::Late(vec![late]));
            assert!(outcomes == prompt, "{}: a caller that is {late:?} late changes packets' outcomes", example.kind());
        }
        let absent = drive(&mut *build(&example, SEED), &train(), &Caller::Absent);
        assert!(absent == prompt, "{}: a caller that never polls changes packets' outcomes", example.kind());
    }
}

#[test]
fn every_shared_example_conserves_packets_and_tolerates_late_calls() {
    for stage in shared_examples() {
        let place = Place::new(stage.kind());
        let built = || stage.build(SEED, &place).unwrap_or_else(|error| panic!("{error}"));
        let prompt = drive(&mut *built(), &train(), &Caller::Prompt);
        for late in [100, 3000, 1_000_000].map(Duration::from_micros) {
            let outcomes = drive(&mut *built(), &train(), &Caller::Late(vec![late]));
            assert!(outcomes == prompt, "{}: a caller that is {late:?} late changes packets' outcomes", stage.kind());
        }
    }
}

#[test]
fn the_facts_of_every_example_agree_with_what_it_does() {
    let wrong: Vec<String> = examples().flat_map(|example| judge(&example, &example.facts(), SEEDS)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn shared_stages_of_a_link_have_seeds_of_their_own() {
    let keys: BTreeMap<String, u16> = shared_examples().map(|stage| (stage.facts().key, stage.seed_index())).collect();
    let indices: BTreeSet<u16> = keys.values().copied().collect();
    assert_eq!(indices.len(), keys.len(), "{keys:?}");
    assert!(indices.iter().all(|index| *index >= SharedStage::LOWEST_SEED_INDEX), "{keys:?}");
    // Draws of campaigns that exist: a new stage comes behind these.
    assert_eq!([keys["medium"], keys["radio"], keys["nat"]], [u16::MAX, u16::MAX - 1, u16::MAX - 2]);
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
    type Change = fn(&mut Facts) -> Option<()>;
    let changes: [(&str, Change); 16] = [
        ("loss share", |facts| {
            let loss = facts.loss.as_mut()?;
            off(loss.share.as_mut()?);
            [&mut loss.first, &mut loss.again].into_iter().for_each(off);
            Some(())
        }),
        ("loss over time", |facts| {
            let points = facts.over_time.as_mut()?.points.iter_mut();
            points.filter_map(|point| point.loss.as_mut()).map(off).last()
        }),
        ("again", |facts| {
            let loss = facts.loss.as_mut()?;
            loss.chain.as_ref()?;
            off(&mut loss.again);
            Some(())
        }),
        ("losses in a row", |facts| facts.loss.as_mut()?.in_time.as_mut().map(|state| off(&mut state.variance))),
        ("design effect", |facts| {
            // A variance is seen less exactly than a mean.
            let effect = facts.loss.as_mut().filter(|loss| loss.pattern.is_none())?.design_effect.as_mut()?;
            *effect *= 2.0;
            Some(())
        }),
        ("loss pattern", |facts| {
            facts.loss.as_mut()?.pattern.as_mut()?.lost[0] += 1;
            Some(())
        }),
        ("mean delay", |facts| {
            facts.varies.is_none().then_some(())?;
            facts.delay.as_mut().map(|delay| off(&mut delay.mean_ns))
        }),
        ("mean rate", |facts| facts.rate.as_mut()?.mean_bps.as_mut().map(off_by_whole)),
        ("steady rate", |facts| facts.rate.as_mut()?.steady_bps.as_mut().map(off_by_whole)),
        ("quantum", |facts| {
            let quantum = facts.rate.as_mut()?.quantum_bytes.as_mut()?;
            *quantum -= *quantum / 10;
            Some(())
        }),
        ("outage", |facts| facts.away.as_mut().map(|away| off_by_whole(&mut away.duration_ns))),
        ("outage", |facts| facts.away.as_mut()?.every_ns.as_mut().map(off_by_whole)),
        ("duplicated", |facts| facts.duplicated.as_mut().map(|chance| off(&mut chance.share))),
        ("corrupted", |facts| facts.corrupted.as_mut().map(|chance| off(&mut chance.share))),
        ("held back", |facts| facts.held_back.as_mut().map(|chance| off(&mut chance.share))),
        ("keeps", |facts| {
            facts.keeps.push(Kept::Nat);
            Some(())
        }),
    ];
    for (fact, change) in changes {
        let mut changed = 0;
        for example in examples() {
            let mut facts = example.facts();
            if change(&mut facts).is_none() {
                continue;
            }
            changed += 1;
            let found = judge(&example, &facts, SEEDS);
            let named = |what: &&String| what.starts_with(&format!("{}: {fact}", example.kind()));
            // Of no packets a tenth more is none.
            let nothing = facts == example.facts();
            assert!(nothing || found.iter().any(|what| named(&what)), "{fact}: {found:?}: {example:?}");
        }
        assert!(changed > 0, "no example has a {fact}");
    }
}

#[test]
fn a_shared_fact_that_is_a_tenth_off_is_found_by_the_name_of_the_stage() {
    type Change = fn(&mut SharedFacts) -> Option<()>;
    let changes: [(&str, Change); 14] = [
        ("idle service", |facts| {
            facts.service.first_mut().map(|piece| [&mut piece.idle_ns, &mut piece.idle_ns_per_byte].map(off)).map(drop)
        }),
        ("busy service", |facts| {
            facts.service.first_mut().map(|piece| [&mut piece.busy_ns, &mut piece.busy_ns_per_byte].map(off)).map(drop)
        }),
        ("airtime", |facts| {
            facts.airtime.as_mut().map(|air| [&mut air.per_frame_ns, &mut air.per_byte_ns].map(off)).map(drop)
        }),
        ("rate", |facts| facts.rate_bps.as_mut().map(off_by_whole)),
        ("frame loss", |facts| (facts.frame_loss > 0.1).then(|| off(&mut facts.frame_loss))),
        ("random", |facts| {
            facts.random = !facts.random;
            (!facts.service.is_empty()).then_some(())
        }),
        ("contends", |facts| {
            facts.contends = !facts.contends;
            (!facts.random).then_some(())
        }),
        ("Uplink queue", |facts| facts.queue.as_mut()?.uplink.as_mut()?.bytes.as_mut().map(off_by_whole)),
        ("Downlink queue", |facts| facts.queue.as_mut()?.downlink.as_mut()?.bytes.as_mut().map(off_by_whole)),
        ("sleep 0", |facts| facts.sleeps.first_mut().map(|sleep| off_by_whole(&mut sleep.after_ns))),
        ("cycle 0", |facts| facts.sleeps.first_mut()?.cycle_ns.as_mut().map(off_by_whole)),
        ("silence", |facts| facts.silence_ns.as_mut().map(off_by_whole)),
        ("opened by uplink", |facts| {
            facts.opened_by_uplink = !facts.opened_by_uplink;
            Some(())
        }),
        ("keeps", |facts| {
            facts.keeps[0].push(Kept::Outage);
            Some(())
        }),
    ];
    for (fact, change) in changes {
        let mut changed = 0;
        for stage in shared_examples() {
            let mut facts = stage.facts();
            if change(&mut facts).is_none() {
                continue;
            }
            changed += 1;
            let found = judge_shared(&stage, &facts, MANY_SEEDS);
            let named = |what: &&String| what.starts_with(&format!("{}: {fact}", stage.kind()));
            assert!(found.iter().any(|what| named(&what)), "{fact}: {found:?}: {stage:?}");
        }
        assert!(changed > 0, "no example has a {fact}");
    }
}

fn off(figure: &mut f64) {
    *figure *= 1.1;
}

fn off_by_whole(figure: &mut u64) {
    *figure += *figure / 10;
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
