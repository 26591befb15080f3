//! Prints, for every random loss model and three seeds, what 10 million packets say: loss with its deviation from theory in standard errors, and
//! the lengths of runs of losses as a chi-square statistic with its degrees of freedom and its 99.9 % quantile.

#[path = "../tests/common/theory.rs"]
mod theory;

use theory::{Seen, cases, correlated, independent, seed};

const PACKETS: u32 = 10_000_000;

fn main() {
    println!("{:40} seed    theory      loss  off by  chi-square  degrees   99.9 %", "model");
    let more = [independent(0.01), correlated(0.3, 0.25)];
    for case in cases().into_iter().chain(more) {
        let theory = &*case.theory;
        let mean = theory.mean_loss() * 100.0;
        for link in 1..=3 {
            let mut seen = Seen::default();
            seen.watch(&mut *(case.build)(seed(link)), PACKETS);
            let runs = seen.chi_square(theory);
            let (loss, deviation) = (seen.loss() * 100.0, seen.deviation(theory));
            let (statistic, degrees, bound) = (runs.statistic, runs.degrees, runs.bound());
            println!(
                "{:40} {link:4} {mean:7.4} % {loss:7.4} % {deviation:+7.2} {statistic:11.1} {degrees:8} {bound:8.1}",
                case.name
            );
        }
    }
}
