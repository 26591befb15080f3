//! Loss models: what theory says of them, and what is seen of them packet by packet.

use std::time::Duration;

use wirelab_link::impairment::{
    FourStateSpec, GilbertElliottSpec, GilbertElliottTimeSpec, LossModel, LossSpec, MarkovSpec,
};
use wirelab_link::spec::{Place, SpecError};
use wirelab_link::{Direction, Instant, Seed};

/// From one packet to the next, for models that move with time.
pub const GAP: Duration = Duration::from_millis(1);

/// A stationary hidden process that moves with each packet and decides its outcome. Its states are described by what mass each has.
pub trait Theory {
    fn stationary(&self) -> Vec<f64>;
    /// Where the mass is one packet later.
    fn step(&self, states: &[f64]) -> Vec<f64>;
    /// The part of the mass that loses its packet.
    fn lost(&self, states: &[f64]) -> Vec<f64>;
    fn mass(&self, states: &[f64]) -> f64;

    fn kept(&self, states: &[f64]) -> Vec<f64> {
        states.iter().zip(self.lost(states)).map(|(all, lost)| all - lost).collect()
    }

    fn mean_loss(&self) -> f64 {
        self.mass(&self.lost(&self.stationary()))
    }

    /// Variance of the mean loss over n packets, times n: Bernoulli's, and twice the covariances with later packets until they have gone.
    fn variance(&self) -> f64 {
        let mean = self.mean_loss();
        let mut lost = self.lost(&self.stationary());
        let covariances = std::iter::repeat_with(|| {
            let later = self.step(&lost);
            let covariance = self.mass(&self.lost(&later)) - mean * mean;
            lost = later;
            covariance
        });
        mean * (1.0 - mean) + 2.0 * covariances.take(5000).take_while(|covariance| covariance.abs() > 1e-8).sum::<f64>()
    }
}

/// A Markov chain with a probability of loss in each state.
pub struct Chain {
    pub transitions: Vec<Vec<f64>>,
    pub loss: Vec<f64>,
}

impl Chain {
    pub fn two_states([p, r, bad_loss, good_loss]: [f64; 4]) -> Self {
        Self { transitions: vec![vec![1.0 - p, p], vec![r, 1.0 - r]], loss: vec![good_loss, bad_loss] }
    }
}

impl Theory for Chain {
    fn stationary(&self) -> Vec<f64> {
        let mut states = vec![1.0 / self.loss.len() as f64; self.loss.len()];
        for _ in 0..10_000 {
            states = self.step(&states);
        }
        states
    }

    fn step(&self, states: &[f64]) -> Vec<f64> {
        let into = |to: usize| states.iter().zip(&self.transitions).map(|(mass, row)| mass * row[to]).sum();
        (0..states.len()).map(into).collect()
    }

    fn lost(&self, states: &[f64]) -> Vec<f64> {
        states.iter().zip(&self.loss).map(|(mass, loss)| mass * loss).collect()
    }

    fn mass(&self, states: &[f64]) -> f64 {
        states.iter().sum()
    }
}

/// netem's correlated draws, lost below `probability`. The mass is that below each point of a grid over [0, 1].
pub struct CorrelatedDraws {
    /// A multiple of a cell of the grid.
    pub probability: f64,
    pub correlation: f64,
}

impl CorrelatedDraws {
    const CELLS: usize = 4000;
}

/// `mass` below `x`, linear between the points of the grid.
fn below(mass: &[f64], x: f64) -> f64 {
    let position = x.clamp(0.0, 1.0) * CorrelatedDraws::CELLS as f64;
    let cell = (position as usize).min(CorrelatedDraws::CELLS - 1);
    mass[cell] + (mass[cell + 1] - mass[cell]) * (position - cell as f64)
}

impl Theory for CorrelatedDraws {
    fn stationary(&self) -> Vec<f64> {
        let mut states: Vec<f64> = (0..=Self::CELLS).map(|point| point as f64 / Self::CELLS as f64).collect();
        for _ in 0..200 {
            states = self.step(&states);
            let mass = self.mass(&states);
            states.iter_mut().for_each(|below| *below /= mass);
        }
        states
    }

    /// A draw is uniform on (1 - correlation) from correlation x the last: its density at y is the mass of the last draws that reach y.
    fn step(&self, states: &[f64]) -> Vec<f64> {
        let width = 1.0 - self.correlation;
        let density = |point: usize| {
            let y = point as f64 / Self::CELLS as f64;
            (below(states, y / self.correlation) - below(states, (y - width) / self.correlation)) / width
        };
        let (mut sum, mut last) = (0.0, density(0));
        let later = (1..=Self::CELLS).map(|point| {
            let next = density(point);
            sum += (last + next) / 2.0 / Self::CELLS as f64;
            last = next;
            sum
        });
        std::iter::once(0.0).chain(later).collect()
    }

    fn lost(&self, states: &[f64]) -> Vec<f64> {
        let limit = below(states, self.probability);
        states.iter().map(|below| below.min(limit)).collect()
    }

    fn mass(&self, states: &[f64]) -> f64 {
        states[Self::CELLS]
    }
}

/// What was seen over a train of packets.
#[derive(Default)]
pub struct Seen {
    pub packets: u64,
    pub lost: u64,
    /// `runs[n]` runs of exactly n losses; those that a train's end cuts off are left out.
    pub runs: Vec<u64>,
}

/// Pearson's statistic of the lengths of runs of losses.
pub struct ChiSquare {
    pub statistic: f64,
    pub degrees: u32,
}

impl Seen {
    pub fn watch(&mut self, model: &mut dyn LossModel, packets: u32) {
        let mut run = 0;
        let mut now = Instant::default();
        for _ in 0..packets {
            now = now + GAP;
            if model.loses(now) {
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

    pub fn loss(&self) -> f64 {
        self.lost as f64 / self.packets as f64
    }

    /// How many standard errors the loss is above that of `theory`.
    pub fn deviation(&self, theory: &dyn Theory) -> f64 {
        (self.loss() - theory.mean_loss()) / (theory.variance() / self.packets as f64).sqrt()
    }

    /// The lengths of runs against `theory`, given how many runs there were. Lengths of fewer than 5 expected runs are taken together.
    pub fn chi_square(&self, theory: &dyn Theory) -> ChiSquare {
        let total = self.runs.iter().sum::<u64>() as f64;
        let mut lost = theory.lost(&theory.step(&theory.kept(&theory.stationary())));
        let begins = theory.mass(&lost);
        let (mut statistic, mut degrees) = (0.0, 0);
        let (mut observed_left, mut expected_left) = (total, total);
        for length in 1.. {
            let next = theory.step(&lost);
            let expected = total * theory.mass(&theory.kept(&next)) / begins;
            if expected_left - expected < 5.0 {
                break;
            }
            let observed = self.runs.get(length).copied().unwrap_or(0) as f64;
            statistic += (observed - expected).powi(2) / expected;
            observed_left -= observed;
            expected_left -= expected;
            degrees += 1;
            lost = theory.lost(&next);
        }
        statistic += (observed_left - expected_left).powi(2) / expected_left;
        ChiSquare { statistic, degrees }
    }
}

impl ChiSquare {
    /// The 99.9 % quantile of the chi-square distribution, by Wilson and Hilferty (1931).
    pub fn bound(&self) -> f64 {
        let spread = 2.0 / (9.0 * f64::from(self.degrees));
        f64::from(self.degrees) * (1.0 - spread + 3.0902 * spread.sqrt()).powi(3)
    }
}

/// A model with its theory.
pub struct Case {
    pub name: String,
    pub theory: Box<dyn Theory>,
    pub build: Build,
}

/// Makes a model.
pub type Build = Box<dyn Fn(Seed) -> Box<dyn LossModel>>;

/// The model of milosevic2021: p 1 %, r 10 %, 1-h 70 %, 1-k 0.1 %.
pub const PAPER: [f64; 4] = [0.01, 0.1, 0.7, 0.001];

/// Every random loss model.
pub fn cases() -> Vec<Case> {
    vec![
        independent(0.1),
        correlated(0.1, 0.25),
        correlated(0.3, 0.5),
        correlated(0.7, 0.25),
        gilbert_elliott(PAPER),
        gilbert_elliott_time(Duration::from_millis(100), Duration::from_millis(10), 0.7, 0.01),
        four_state([0.02, 0.3, 0.2, 0.4, 0.03]),
        markov(vec![vec![0.98, 0.015, 0.005], vec![0.05, 0.9, 0.05], vec![0.1, 0.2, 0.7]], vec![0.001, 0.1, 0.8]),
    ]
}

pub fn seed(link: u64) -> Seed {
    Seed { link, direction: Direction::Uplink, index: 0 }
}

pub fn independent(loss: f64) -> Case {
    Case {
        name: format!("loss {} %", 100.0 * loss),
        theory: Box::new(Chain { transitions: vec![vec![1.0]], loss: vec![loss] }),
        build: boxed(move |seed| LossSpec { probability: loss, correlation: 0.0 }.model(seed, &place())),
    }
}

pub fn correlated(loss: f64, correlation: f64) -> Case {
    Case {
        name: format!("loss {} %, correlation {} %", 100.0 * loss, 100.0 * correlation),
        theory: Box::new(CorrelatedDraws { probability: loss, correlation }),
        build: boxed(move |seed| LossSpec { probability: loss, correlation }.model(seed, &place())),
    }
}

pub fn gilbert_elliott(parameters: [f64; 4]) -> Case {
    let [p, r, bad_loss, good_loss] = parameters;
    Case {
        name: format!("gilbert-elliott {parameters:?}"),
        theory: Box::new(Chain::two_states(parameters)),
        build: boxed(move |seed| GilbertElliottSpec { p, r, bad_loss, good_loss }.model(seed, &place())),
    }
}

fn gilbert_elliott_time(good: Duration, bad: Duration, bad_loss: f64, good_loss: f64) -> Case {
    // From gap to gap the process in time is a chain: what has not decayed of the present state stays, the rest is stationary.
    let [good_rate, bad_rate] = [good, bad].map(|mean| 1.0 / mean.as_secs_f64());
    let decayed = 1.0 - (-(good_rate + bad_rate) * GAP.as_secs_f64()).exp();
    let [p, r] = [good_rate, bad_rate].map(|rate| rate / (good_rate + bad_rate) * decayed);
    let [good_ns, bad_ns] = [good, bad].map(|mean| mean.as_nanos() as u64);
    let spec = GilbertElliottTimeSpec { good_ns, bad_ns, bad_loss, good_loss };
    Case {
        name: "gilbert-elliott-time".to_owned(),
        theory: Box::new(Chain::two_states([p, r, bad_loss, good_loss])),
        build: boxed(move |seed| spec.model(seed, &place())),
    }
}

fn four_state([p13, p31, p32, p23, p14]: [f64; 5]) -> Case {
    let transitions = vec![
        vec![1.0 - p13 - p14, 0.0, p13, p14],
        vec![0.0, 1.0 - p23, p23, 0.0],
        vec![p31, p32, 1.0 - p31 - p32, 0.0],
        vec![1.0, 0.0, 0.0, 0.0],
    ];
    Case {
        name: "four-state".to_owned(),
        theory: Box::new(Chain { transitions, loss: vec![0.0, 0.0, 1.0, 1.0] }),
        build: boxed(move |seed| FourStateSpec { p13, p31, p32, p23, p14 }.model(seed, &place())),
    }
}

fn markov(transitions: Vec<Vec<f64>>, loss: Vec<f64>) -> Case {
    let spec = MarkovSpec { transitions: transitions.clone(), loss: loss.clone() };
    Case {
        name: "markov".to_owned(),
        theory: Box::new(Chain { transitions, loss }),
        build: boxed(move |seed| spec.model(seed, &place())),
    }
}

fn boxed<M: LossModel + 'static>(model: impl Fn(Seed) -> Result<M, SpecError> + 'static) -> Build {
    Box::new(move |seed| Box::new(model(seed).unwrap()))
}

fn place() -> Place {
    Place::new("model")
}
