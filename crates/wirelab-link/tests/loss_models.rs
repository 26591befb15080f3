//! Loss models against their theory, over enough packets to tell: the models are stepped directly.

#[path = "common/theory.rs"]
mod theory;

use theory::{Case, PAPER, Seen, cases, correlated, gilbert_elliott, independent, seed};

const PACKETS: u32 = 10_000_000;
const SEEDS: u64 = 10;

fn watch(case: &Case, link: u64) -> Seen {
    let mut seen = Seen::default();
    seen.watch(&mut *(case.build)(seed(link)), PACKETS);
    seen
}

#[test]
fn the_papers_model_loses_6_4545_percent() {
    let case = gilbert_elliott(PAPER);
    let mean = case.theory.mean_loss();
    assert!((mean * 100.0 - 6.4545).abs() < 0.0001);
    // A burst makes its packets alike: ten million tell the mean with a standard error of 0.027 points, a hundred million with 0.0085.
    let mut all = Seen::default();
    for link in 0..SEEDS {
        let one = watch(&case, link);
        let deviation = one.deviation(&*case.theory);
        assert!(deviation.abs() < 4.0, "seed {link}: loss {} is {deviation} standard errors off", one.loss());
        all.lost += one.lost;
        all.packets += one.packets;
    }
    let points = (all.loss() - mean) * 100.0;
    assert!(points.abs() < 0.02, "loss over {} packets is {points} points off", all.packets);
}

#[test]
fn every_model_has_its_mean_loss_and_its_runs_of_losses() {
    for case in cases().into_iter().chain([independent(0.001), independent(0.5)]) {
        let seen = watch(&case, 1);
        let deviation = seen.deviation(&*case.theory);
        assert!(deviation.abs() < 4.0, "{}: loss {} is {deviation} standard errors off", case.name, seen.loss());
        let runs = seen.chi_square(&*case.theory);
        let (statistic, degrees) = (runs.statistic, runs.degrees);
        assert!(degrees > 0, "{}: all runs are alike", case.name);
        assert!(statistic < runs.bound(), "{}: chi-square {statistic} with {degrees} degrees of freedom", case.name);
    }
}

#[test]
fn the_test_of_runs_refuses_a_model_that_is_slightly_different() {
    let [p, r, bad_loss, good_loss] = PAPER;
    let configured = [
        (gilbert_elliott([p, r, bad_loss + 0.01, good_loss]), gilbert_elliott(PAPER)),
        (correlated(0.3, 0.52), correlated(0.3, 0.5)),
        (independent(0.3), correlated(0.3, 0.05)),
    ];
    for (other, configured) in configured {
        let runs = watch(&other, 1).chi_square(&*configured.theory);
        let (statistic, degrees) = (runs.statistic, runs.degrees);
        assert!(statistic > runs.bound(), "{}: chi-square {statistic} with {degrees} degrees of freedom", other.name);
    }
}

#[test]
fn correlated_loss_is_less_than_configured_below_one_half_and_more_above() {
    // Configured percent, percent of correlation, percent lost, as the model's paragraph for people has it; from another implementation (in Python).
    let figures = [
        (30.0, 25.0, 23.333),
        (30.0, 50.0, 12.943),
        (10.0, 25.0, 1.75),
        (10.0, 50.0, 0.108),
        (1.0, 25.0, 0.0002),
        (50.0, 50.0, 50.0),
        (90.0, 25.0, 98.25),
    ];
    for (configured, correlation, lost) in figures {
        let case = correlated(configured / 100.0, correlation / 100.0);
        let mean = case.theory.mean_loss() * 100.0;
        assert!((mean - lost).abs() < 0.001, "{configured} % with {correlation} % is {mean} %");
    }
}
