//! Loss by a Markov chain of any number of states.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::model::{LossModel, lossy};
use super::stationary::stationary;
use crate::facts::{Facts, LossChain, LossFacts};
use crate::impairment::spec::{Slot, Spec};
use crate::netem::{NetemRefusal, NetemStage};
use crate::random::{Generator, Purpose};
use crate::spec::values::probabilities;
use crate::spec::{Choices, Place, SpecError};
use crate::{Impairment, Instant, ParameterError, Probability, Seed};

const ABOUT: &str = "Loss by a Markov chain of any number of states: with each packet it moves by its row of transition probabilities, \
    and the packet is lost with the loss probability of the state before that move, as in `gilbert-elliott`, which is the case of two states. It \
    starts in its stationary distribution; where states do not all lead to one another, in the long-run distribution reached from the first \
    state. Mean loss is the sum over states of stationary probability x loss. A hidden Markov model of loss as in Salamatian and Vaton, \
    SIGMETRICS 2001. Packet-indexed: two stacks that send different numbers of packets see different losses from the same seed.";

/// Loss by a Markov chain of any number of states that moves with each packet; the state before the packet's transition decides whether it
/// is lost. Starts in the stationary distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MarkovSpec {
    /// Row by row, the probability of moving from one state to another; each row sums to 1.
    #[schemars(inner(inner(range(min = 0.0, max = 1.0))))]
    pub transitions: Vec<Vec<f64>>,
    /// Loss probability in each state.
    #[schemars(inner(range(min = 0.0, max = 1.0)))]
    pub loss: Vec<f64>,
}

impl MarkovSpec {
    /// What decides which packets are lost.
    pub fn model(&self, seed: Seed, at: &Place) -> Result<impl LossModel + use<>, SpecError> {
        let states = self.transitions.len();
        let at_rows = at.key("transitions");
        if states == 0 {
            return Err(at_rows.error("at least one state is needed"));
        }
        if states > Markov::MAX_STATES {
            return Err(at_rows.error(format!("{states} states are more than the maximum of {}", Markov::MAX_STATES)));
        }
        let mut rows = Vec::new();
        for (index, row) in self.transitions.iter().enumerate() {
            let at_row = at_rows.index(index);
            if row.len() != states {
                return Err(at_row.error(format!("{} probabilities for {states} states", row.len())));
            }
            rows.push(probabilities(row, &at_row)?);
            let sum = row.iter().sum::<f64>();
            if (sum - 1.0).abs() > Probability::ROUNDING {
                return Err(at_row.error(format!("the row sums to {sum}")));
            }
        }
        let at_loss = at.key("loss");
        if self.loss.len() != states {
            return Err(at_loss.error(format!("{} probabilities for {states} states", self.loss.len())));
        }
        let model = Markov::new(&rows, probabilities(&self.loss, &at_loss)?, seed);
        model.map_err(|what| at.error(what))
    }
}

impl Spec for MarkovSpec {
    const ABOUT: &'static str = ABOUT;
    const SLOT: Slot = Slot::Loss;

    fn build(&self, seed: Seed, at: &Place) -> Result<Box<dyn Impairment>, SpecError> {
        Ok(lossy(self.model(seed, at)?))
    }

    fn facts(&self) -> Facts {
        let loss = LossFacts::of_chain(LossChain::new(self.transitions.clone(), self.loss.clone()));
        Facts {
            words: format!("loss by a chain of {} states", self.loss.len()),
            loss: Some(loss),
            delay: None,
            rate: None,
            queue: None,
            over_time: None,
            away: None,
            duplicated: None,
            corrupted: None,
            held_back: None,
            keeps: vec![],
            per_packet: true,
            overtakes: false,
            of_one_packet: false,
            varies: None,
        }
    }

    fn netem(&self, at: &Place) -> Result<NetemStage, NetemRefusal> {
        Err(NetemRefusal::absent("markov", at, "markov"))
    }

    fn examples() -> Vec<Self> {
        let transitions = vec![vec![0.98, 0.015, 0.005], vec![0.05, 0.9, 0.05], vec![0.1, 0.2, 0.7]];
        vec![Self { transitions, loss: vec![0.001, 0.1, 0.8] }]
    }

    fn arbitrary(choices: &mut Choices<'_>) -> Self {
        // Sparse chains too, in which some states are never entered and some never left.
        let states = choices.number(1..5) as usize;
        let weight = |choices: &mut Choices<'_>| if choices.flag() { 0.001 + 0.999 * choices.unit() } else { 0.0 };
        let row = |choices: &mut Choices<'_>| {
            let mut weights: Vec<f64> = (0..states).map(|_| weight(choices)).collect();
            weights[choices.number(0..states as u64) as usize] += 0.1;
            let total: f64 = weights.iter().sum();
            weights.into_iter().map(|weight| weight / total).collect()
        };
        let transitions = (0..states).map(|_| row(choices)).collect();
        Self { transitions, loss: (0..states).map(|_| choices.fraction()).collect() }
    }
}

/// Loss by a chain that moves with each packet: two draws for each, the transition before the loss.
#[derive(Debug)]
struct Markov {
    transitions: Vec<Choice>,
    loss: Vec<Probability>,
    state: usize,
    generator: Generator,
}

impl Markov {
    /// Maximum number of states. The initial distribution of a chain of n states takes n^3 steps to find.
    const MAX_STATES: usize = 64;

    /// Refuses no state and more than [`MAX_STATES`](Self::MAX_STATES), a state without a loss probability or a row of as many transitions, a row
    /// that does not sum to 1, and probabilities so small that their product vanishes.
    fn new(transitions: &[Vec<Probability>], loss: Vec<Probability>, seed: Seed) -> Result<Self, ParameterError> {
        let states = transitions.len();
        if !(1..=Self::MAX_STATES).contains(&states) {
            let what = format!("a chain of {states} states: there are 1 to {}", Self::MAX_STATES);
            return Err(ParameterError::new(what));
        }
        let rows: Vec<Vec<f64>> = transitions.iter().map(|row| row.iter().map(|step| step.get()).collect()).collect();
        if let Some(many) = rows.iter().map(Vec::len).chain([loss.len()]).find(|many| *many != states) {
            return Err(ParameterError::new(format!("{many} probabilities for {states} states")));
        }
        for sum in rows.iter().map(|row| row.iter().sum::<f64>()) {
            if (sum - 1.0).abs() > Probability::ROUNDING {
                return Err(ParameterError::new(format!("the row sums to {sum}")));
            }
        }
        let mut generator = Generator::new(seed, Purpose::Packet);
        let state = Choice::new(&stationary(&rows)?).draw(&mut generator);
        Ok(Self { transitions: rows.iter().map(|row| Choice::new(row)).collect(), loss, state, generator })
    }
}

impl LossModel for Markov {
    fn loses(&mut self, _now: Instant) -> bool {
        let loss = self.loss[self.state];
        self.state = self.transitions[self.state].draw(&mut self.generator);
        self.generator.chance(loss)
    }
}

/// A discrete distribution over states: for each that is possible, the sum of probabilities up to it.
#[derive(Debug)]
pub(super) struct Choice(Vec<(f64, usize)>);

impl Choice {
    /// By `weights`, which need not sum to 1.
    pub(super) fn new(weights: &[f64]) -> Self {
        let total: f64 = weights.iter().sum();
        let mut sum = 0.0;
        let bounds = weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0).map(|(state, weight)| {
            sum += weight / total;
            (sum, state)
        });
        Self(bounds.collect())
    }

    /// One draw.
    pub(super) fn draw(&self, generator: &mut Generator) -> usize {
        let unit = generator.unit();
        let index = self.0.partition_point(|(bound, _)| *bound <= unit);
        // The last bound may be a rounding below 1.
        self.0[index.min(self.0.len() - 1)].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Direction;

    fn model(transitions: &[&[f64]], loss: &[f64], link: u64) -> Result<Markov, ParameterError> {
        let fractions =
            |values: &[f64]| values.iter().map(|value| Probability::new(*value).unwrap()).collect::<Vec<_>>();
        let rows: Vec<_> = transitions.iter().map(|row| fractions(row)).collect();
        Markov::new(&rows, fractions(loss), Seed { link, direction: Direction::Uplink, index: 0 })
    }

    #[test]
    fn the_state_before_the_transition_decides() {
        for seed in 0..100 {
            let mut cycle =
                model(&[&[0.0, 1.0, 0.0], &[0.0, 0.0, 1.0], &[1.0, 0.0, 0.0]], &[0.0, 0.0, 1.0], seed).unwrap();
            let start = cycle.state;
            let lost: Vec<_> = (0..9).map(|_| cycle.loses(Instant::default())).collect();
            assert!(lost.into_iter().enumerate().all(|(packet, lost)| lost == ((start + packet) % 3 == 2)));
        }
    }

    #[test]
    fn it_starts_in_its_stationary_distribution() {
        let starts_bad = |seed: &u64| model(&[&[0.9, 0.1], &[0.3, 0.7]], &[0.0, 1.0], *seed).unwrap().state == 1;
        let bad = (0..20_000).filter(starts_bad).count();
        // 0.25 ± 5 standard errors.
        assert!((4694..=5306).contains(&bad), "{bad} of 20000 start in the second state");
    }

    #[test]
    fn a_state_of_probability_0_is_never_drawn() {
        let mut generator = Generator::new(Seed { link: 1, direction: Direction::Uplink, index: 0 }, Purpose::Packet);
        let choice = Choice::new(&[0.0, 0.3, 0.0, 0.7 - 1e-10, 0.0]);
        assert!((0..100_000).all(|_| [1, 3].contains(&choice.draw(&mut generator))));
    }

    #[test]
    fn a_chain_that_is_none_is_refused() {
        assert!(model(&[], &[], 1).is_err());
        assert!(model(&[&[1.0]], &[0.0, 1.0], 1).is_err());
        assert!(model(&[&[0.5, 0.5], &[1.0]], &[0.0, 1.0], 1).is_err());
        assert!(model(&[&[0.5, 0.4], &[0.0, 1.0]], &[0.0, 1.0], 1).is_err());
        assert!(model(&[&[0.5, 0.5, 0.0], &[0.0, 1.0, 1e-200], &[1e-200, 1.0, 0.0]], &[0.0; 3], 1).is_err());
        assert!(model(&[&[0.1, 0.2, 0.7], &[1.0, 0.0, 0.0], &[0.0, 0.0, 1.0]], &[0.0; 3], 1).is_ok());
    }

    #[test]
    fn a_chain_of_more_states_than_can_be_solved_quickly_is_refused_with_the_limit() {
        let chain = |states: usize| {
            let rows = vec![vec![1.0 / states as f64; states]; states];
            model(&rows.iter().map(|row| &row[..]).collect::<Vec<_>>(), &vec![0.5; states], 1)
        };
        assert!(chain(Markov::MAX_STATES).is_ok());
        let refused = chain(Markov::MAX_STATES + 1).unwrap_err();
        assert_eq!(refused.to_string(), "a chain of 65 states: there are 1 to 64");
    }
}
