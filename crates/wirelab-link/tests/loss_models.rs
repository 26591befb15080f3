//! Loss models against their theory, over enough packets to tell: the models are stepped directly.

use wirelab_link::impairment::{GilbertElliott, Independent, LossModel};
use wirelab_link::{Direction, Instant, Probability, Seed};

const PACKETS: u32 = 10_000_000;
const SEEDS: u64 = 10;

/// The model of milosevic2021: p 1 %, r 10 %, 1-h 70 %, 1-k 0.1 %.
const PAPER: Theory = Theory { p: 0.01, r: 0.1, bad_loss: 0.7, good_loss: 0.001 };

/// A two-state hidden Markov chain, the state before the transition deciding a packet's fate; good first in every pair.
#[derive(Clone, Copy)]
struct Theory {
    p: f64,
    r: f64,
    bad_loss: f64,
    good_loss: f64,
}

/// What was seen over a train of packets.
#[derive(Default)]
struct Seen {
    packets: u64,
    lost: u64,
    /// `runs[n]` runs of exactly n losses; those that a train's end cuts off are left out.
    runs: Vec<u64>,
}

impl Theory {
    fn stationary(self) -> [f64; 2] {
        if self.p + self.r == 0.0 { [1.0, 0.0] } else { [self.r / (self.p + self.r), self.p / (self.p + self.r)] }
    }

    fn step(self, [good, bad]: [f64; 2]) -> [f64; 2] {
        [good * (1.0 - self.p) + bad * self.r, good * self.p + bad * (1.0 - self.r)]
    }

    fn lost(self, [good, bad]: [f64; 2]) -> [f64; 2] {
        [good * self.good_loss, bad * self.bad_loss]
    }

    fn kept(self, [good, bad]: [f64; 2]) -> [f64; 2] {
        [good * (1.0 - self.good_loss), bad * (1.0 - self.bad_loss)]
    }

    fn mean_loss(self) -> f64 {
        self.lost(self.stationary()).iter().sum()
    }

    /// Variance of the mean loss over n packets, times n: Bernoulli's, and twice the covariances, which shrink by 1 - p - r with each packet.
    fn variance(self) -> f64 {
        let mean = self.mean_loss();
        let [good, bad] = self.stationary();
        let covariance = good * bad * (self.bad_loss - self.good_loss).powi(2);
        let memory = 1.0 - self.p - self.r;
        mean * (1.0 - mean) + 2.0 * covariance * memory / (1.0 - memory)
    }

    /// Probability that a packet begins a run of exactly n losses, for n = 1, 2, …: kept, n lost, kept.
    fn runs(self) -> impl Iterator<Item = f64> {
        let before = self.step(self.kept(self.stationary()));
        let states =
            std::iter::successors(Some(self.step(self.lost(before))), move |state| Some(self.step(self.lost(*state))));
        states.map(move |state| self.kept(state).iter().sum())
    }
}

impl Seen {
    fn watch(&mut self, model: &mut impl LossModel, packets: u32) {
        let mut run = 0;
        for _ in 0..packets {
            if model.loses(Instant::default()) {
                run += 1;
            } else if run > 0 {
                self.end_run(run);
                run = 0;
            }
        }
        self.lost += run as u64;
        self.packets += u64::from(packets);
    }

    fn end_run(&mut self, run: usize) {
        if self.runs.len() <= run {
            self.runs.resize(run + 1, 0);
        }
        self.runs[run] += 1;
        self.lost += run as u64;
    }

    fn loss(&self) -> f64 {
        self.lost as f64 / self.packets as f64
    }

    /// Pearson's statistic of the lengths of runs against `theory`, given how many runs there were, and its degrees of freedom. Lengths of
    /// fewer than 5 expected runs are taken together.
    fn chi_square(&self, theory: Theory) -> (f64, u32) {
        let total: u64 = self.runs.iter().sum();
        let any: f64 = theory.runs().take(10_000).sum();
        let (mut statistic, mut bins) = (0.0, 0);
        let (mut observed_left, mut expected_left) = (total as f64, total as f64);
        for (length, probability) in (1..).zip(theory.runs()) {
            let expected = total as f64 * probability / any;
            if expected_left - expected < 5.0 {
                break;
            }
            let observed = self.runs.get(length).copied().unwrap_or(0) as f64;
            statistic += (observed - expected).powi(2) / expected;
            observed_left -= observed;
            expected_left -= expected;
            bins += 1;
        }
        (statistic + (observed_left - expected_left).powi(2) / expected_left, bins)
    }
}

/// The 99.9 % quantile of the chi-square distribution, by Wilson and Hilferty (1931).
fn chi_square_bound(degrees: u32) -> f64 {
    let spread = 2.0 / (9.0 * f64::from(degrees));
    f64::from(degrees) * (1.0 - spread + 3.0902 * spread.sqrt()).powi(3)
}

fn seed(link: u64) -> Seed {
    Seed { link, direction: Direction::Uplink, index: 0 }
}

fn probability(value: f64) -> Probability {
    Probability::new(value).unwrap()
}

fn gilbert_elliott(theory: Theory, link: u64) -> GilbertElliott {
    let [p, r, bad_loss, good_loss] = [theory.p, theory.r, theory.bad_loss, theory.good_loss].map(probability);
    GilbertElliott::new(p, r, bad_loss, good_loss, seed(link))
}

#[test]
fn the_papers_model_loses_6_4545_percent() {
    assert!((PAPER.mean_loss() * 100.0 - 6.4545).abs() < 0.0001);
    // A burst makes its packets alike: ten million tell the mean with a standard error of 0.027 points, a hundred million with 0.0085.
    let standard_error = (PAPER.variance() / f64::from(PACKETS)).sqrt();
    let mut all = Seen::default();
    for link in 0..SEEDS {
        let mut one = Seen::default();
        one.watch(&mut gilbert_elliott(PAPER, link), PACKETS);
        let deviation = (one.loss() - PAPER.mean_loss()) / standard_error;
        assert!(deviation.abs() < 4.0, "seed {link}: loss {} is {deviation} standard errors off", one.loss());
        all.lost += one.lost;
        all.packets += one.packets;
    }
    let points = (all.loss() - PAPER.mean_loss()) * 100.0;
    assert!(points.abs() < 0.02, "loss over {} packets is {points} points off", all.packets);
}

#[test]
fn the_papers_model_has_runs_of_losses_as_its_chain_says() {
    let mut seen = Seen::default();
    seen.watch(&mut gilbert_elliott(PAPER, 1), PACKETS);
    let (statistic, degrees) = seen.chi_square(PAPER);
    assert!(degrees > 15, "{degrees} degrees of freedom");
    assert!(statistic < chi_square_bound(degrees), "chi-square {statistic} with {degrees} degrees of freedom");
}

#[test]
fn independent_loss_has_its_mean_and_geometric_runs() {
    for loss in [0.001, 0.1, 0.5] {
        let theory = Theory { p: 0.0, r: 0.0, bad_loss: 0.0, good_loss: loss };
        let mut seen = Seen::default();
        seen.watch(&mut Independent::new(probability(loss), seed(1)), PACKETS);
        let standard_error = (loss * (1.0 - loss) / f64::from(PACKETS)).sqrt();
        assert!((seen.loss() - loss).abs() < 4.0 * standard_error, "loss {} instead of {loss}", seen.loss());
        let (statistic, degrees) = seen.chi_square(theory);
        assert!(statistic < chi_square_bound(degrees), "chi-square {statistic} with {degrees} degrees of freedom");
    }
}

#[test]
fn the_test_of_runs_refuses_a_model_that_is_slightly_different() {
    let off = Theory { bad_loss: 0.71, ..PAPER };
    let mut seen = Seen::default();
    seen.watch(&mut gilbert_elliott(off, 1), PACKETS);
    let (statistic, degrees) = seen.chi_square(PAPER);
    assert!(statistic > chi_square_bound(degrees), "chi-square {statistic} with {degrees} degrees of freedom");
}
