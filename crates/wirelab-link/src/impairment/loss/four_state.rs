//! Loss by netem's Markov chain of four states.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::markov::Choice;
use super::model::{LossModel, lossy};
use super::stationary::stationary;
use crate::facts::{Facts, LossChain, LossFacts};
use crate::impairment::spec::{Slot, Spec};
use crate::netem::{NetemLoss, NetemRefusal, NetemStage};
use crate::random::{Generator, Purpose};
use crate::spec::values::named;
use crate::spec::{Choices, Place, SpecError};
use crate::{Impairment, Instant, ParameterError, Probability, Seed};

const ABOUT: &str = "Bursty loss by netem's Markov chain of four states, `loss state p13 p31 p32 p23 p14` (sch_netem.c, loss_4state; \
    Salsano, Ludovici, Ordine and Giannuzzi, the general and intuitive loss model, 2012): 1 received, 2 received within a burst, 3 lost within a \
    burst, 4 lost alone, always followed by 1. With each packet the chain moves, and unlike in `gilbert-elliott` the state after the move \
    decides: the packet is lost in 3 and 4. It starts in its stationary distribution (the one reached from 1), where netem starts in 1. Mean loss \
    is (p14 + b) / (1 + p14 + b + b x p32 / p23) with b = p13 / p31. Packet-indexed: two stacks that send different numbers of packets see \
    different losses from the same seed.";

/// netem's `loss state`: a Markov chain of four states (1 received, 2 received within a burst, 3 lost within a burst, 4 lost alone) that
/// moves with each packet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FourStateSpec {
    /// From received to lost within a burst.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub p13: f64,
    /// From lost within a burst to received.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub p31: f64,
    /// From lost within a burst to received within a burst.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub p32: f64,
    /// From received within a burst to lost within a burst.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub p23: f64,
    /// From received to lost alone.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub p14: f64,
}

impl FourStateSpec {
    /// What decides which packets are lost.
    pub fn model(&self, seed: Seed, at: &Place) -> Result<impl LossModel + use<>, SpecError> {
        let Self { p13, p31, p32, p23, p14 } = *self;
        let values = [("p13", p13), ("p31", p31), ("p32", p32), ("p23", p23), ("p14", p14)];
        let [p13, p31, p32, p23, p14] = named(values, at)?;
        FourState::new(p13, p31, p32, p23, p14, seed).map_err(|what| at.error(what))
    }
}

impl Spec for FourStateSpec {
    const ABOUT: &'static str = ABOUT;
    const SLOT: Slot = Slot::Loss;

    fn build(&self, seed: Seed, at: &Place) -> Result<Box<dyn Impairment>, SpecError> {
        Ok(lossy(self.model(seed, at)?))
    }

    fn facts(&self) -> Facts {
        let Self { p13, p31, p32, p23, p14 } = *self;
        let transitions = vec![
            vec![1.0 - p13 - p14, 0.0, p13, p14],
            vec![0.0, 1.0 - p23, p23, 0.0],
            vec![p31, p32, 1.0 - p31 - p32, 0.0],
            vec![1.0, 0.0, 0.0, 0.0],
        ];
        let loss = LossFacts::of_chain(LossChain::new(transitions, vec![0.0, 0.0, 1.0, 1.0]));
        Facts {
            words: "loss by netem's four states".to_owned(),
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

    fn netem(&self, _at: &Place) -> Result<NetemStage, NetemRefusal> {
        let Self { p13, p31, p32, p23, p14 } = *self;
        Ok(NetemStage::Drop(NetemLoss::FourState { p13, p31, p32, p23, p14 }))
    }

    fn examples() -> Vec<Self> {
        vec![Self { p13: 0.02, p31: 0.3, p32: 0.2, p23: 0.4, p14: 0.03 }]
    }

    fn arbitrary(choices: &mut Choices<'_>) -> Self {
        // Of two ways out of a state the second gets at most what the first leaves.
        let [p13, p31, p32, p23, p14] = [(); 5].map(|()| choices.fraction());
        Self { p13, p31, p32: p32 * (1.0 - p31), p23, p14: p14 * (1.0 - p13) }
    }
}

/// netem's `loss state`: one draw for each packet.
#[derive(Debug)]
struct FourState {
    p13: f64,
    p31: f64,
    p32: f64,
    p23: f64,
    p14: f64,
    state: State,
    generator: Generator,
}

/// In the order of their numbers in netem's documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Received,
    ReceivedInBurst,
    LostInBurst,
    LostAlone,
}

impl FourState {
    /// A chain with these probabilities of moving from the first to the second state named. Refuses p13 + p14 or p31 + p32 above 1, and two
    /// that are so small that their product vanishes.
    fn new(
        p13: Probability,
        p31: Probability,
        p32: Probability,
        p23: Probability,
        p14: Probability,
        seed: Seed,
    ) -> Result<Self, ParameterError> {
        let [p13, p31, p32, p23, p14] = [p13, p31, p32, p23, p14].map(Probability::get);
        for (what, sum) in [("p13 + p14", p13 + p14), ("p31 + p32", p31 + p32)] {
            if sum > 1.0 + Probability::ROUNDING {
                return Err(ParameterError::new(format!("{what} is {sum}, and cannot be above 1")));
            }
        }
        // What is left to stay in a state follows from the others.
        let rows = [[0.0, 0.0, p13, p14], [0.0, 0.0, p23, 0.0], [p31, p32, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]];
        let shares = stationary(&rows.map(|row| row.to_vec()))?;
        let mut generator = Generator::new(seed, Purpose::Packet);
        let states = [State::Received, State::ReceivedInBurst, State::LostInBurst, State::LostAlone];
        let state = states[Choice::new(&shares).draw(&mut generator)];
        Ok(Self { p13, p31, p32, p23, p14, state, generator })
    }
}

impl LossModel for FourState {
    fn loses(&mut self, _now: Instant) -> bool {
        let draw = self.generator.unit();
        self.state = match self.state {
            State::Received if draw < self.p14 => State::LostAlone,
            State::Received if draw < self.p13 + self.p14 => State::LostInBurst,
            State::ReceivedInBurst if draw < self.p23 => State::LostInBurst,
            State::LostInBurst if draw < self.p32 => State::ReceivedInBurst,
            State::LostInBurst if draw < self.p31 + self.p32 => State::Received,
            State::LostAlone => State::Received,
            unmoved => unmoved,
        };
        matches!(self.state, State::LostInBurst | State::LostAlone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Direction;

    fn model([p13, p31, p32, p23, p14]: [f64; 5], link: u64) -> Result<FourState, ParameterError> {
        let fraction = |value| Probability::new(value).unwrap();
        let seed = Seed { link, direction: Direction::Uplink, index: 0 };
        FourState::new(fraction(p13), fraction(p31), fraction(p32), fraction(p23), fraction(p14), seed)
    }

    #[test]
    fn the_state_after_the_transition_decides() {
        for seed in 0..100 {
            let mut alternating = model([0.0, 0.0, 0.0, 0.0, 1.0], seed).unwrap();
            let was_lost = alternating.state == State::LostAlone;
            let lost = [(); 4].map(|()| alternating.loses(Instant::default()));
            assert_eq!(lost, [!was_lost, was_lost, !was_lost, was_lost]);
        }
    }

    #[test]
    fn a_loss_alone_is_followed_by_a_packet_received() {
        let mut model = model([0.1, 0.3, 0.2, 0.4, 0.2], 1).unwrap();
        let mut seen = 0;
        for _ in 0..10_000 {
            let alone = model.state == State::LostAlone;
            let lost = model.loses(Instant::default());
            assert!(!(alone && lost));
            seen += u32::from(alone);
        }
        assert!(seen > 500);
    }

    #[test]
    fn it_moves_between_its_states_with_the_configured_probabilities() {
        let configured = [0.1, 0.3, 0.2, 0.4, 0.2];
        let mut model = model(configured, 1).unwrap();
        let mut moves = [[0u32; 4]; 4];
        for _ in 0..400_000 {
            let from = model.state as usize;
            model.loses(Instant::default());
            moves[from][model.state as usize] += 1;
        }
        for ((from, to), probability) in [(1, 3), (3, 1), (3, 2), (2, 3), (1, 4)].into_iter().zip(configured) {
            let row = moves[from - 1];
            let visits = f64::from(row.iter().sum::<u32>());
            let share = f64::from(row[to - 1]) / visits;
            let standard_error = (probability * (1.0 - probability) / visits).sqrt();
            assert!((share - probability).abs() < 5.0 * standard_error, "p{from}{to} {probability} is {share}");
        }
        assert_eq!([moves[0][1], moves[1][0], moves[1][3], moves[2][3], moves[3][1], moves[3][2], moves[3][3]], [0; 7]);
    }

    #[test]
    fn it_starts_in_its_stationary_distribution() {
        let parameters = [0.1, 0.3, 0.2, 0.4, 0.2];
        let mut starts = [0u32; 4];
        (0..20_000).for_each(|seed| starts[model(parameters, seed).unwrap().state as usize] += 1);
        // Balance: states 2, 3 and 4 weigh p13 p32 / (p31 p23), p13 / p31 and p14 times state 1.
        let weights = [1.0, 1.0 / 6.0, 1.0 / 3.0, 0.2];
        for (count, weight) in starts.into_iter().zip(weights) {
            let share = weight / 1.7;
            let standard_error = (share * (1.0 - share) / 20_000f64).sqrt();
            assert!((f64::from(count) / 20_000.0 - share).abs() < 5.0 * standard_error, "{starts:?}");
        }
    }

    #[test]
    fn without_losses_it_stays_where_netem_starts() {
        for seed in 0..1000 {
            assert_eq!(model([0.0, 0.5, 0.5, 0.5, 0.0], seed).unwrap().state, State::Received);
        }
    }

    #[test]
    fn probabilities_of_leaving_a_state_that_sum_above_1_are_refused() {
        assert!(model([0.6, 0.3, 0.2, 0.4, 0.5], 1).is_err());
        assert!(model([0.1, 0.6, 0.5, 0.4, 0.2], 1).is_err());
        assert!(model([0.9, 0.7, 0.3, 1.0, 0.1], 1).is_ok());
    }

    #[test]
    fn probabilities_whose_products_vanish_are_refused() {
        assert!(model([0.5, 1e-200, 1.0, 1e-200, 0.0], 1).is_err());
    }
}
