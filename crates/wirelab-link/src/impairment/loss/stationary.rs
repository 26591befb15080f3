//! The long-run distribution of a Markov chain.

use crate::ParameterError;

/// The share of time that a Markov chain begun in state 0 spends in each state in the long run, from its transition probabilities by row.
///
/// For a chain whose states all reach one another that is the stationary distribution; else it is the stationary distributions of the closed
/// classes that state 0 leads to, each weighed by the probability of ending there. Only sums, products and quotients of probabilities (Grassmann,
/// Taksar and Heyman, Operations Research 33 (1985) 1107), so that small ones keep their digits. Refuses some that are so small that their products
/// vanish.
pub(crate) fn stationary(transitions: &[Vec<f64>]) -> Result<Vec<f64>, ParameterError> {
    let states = transitions.len();
    let reaches = reachability(transitions);
    let returns = |state: usize| (0..states).all(|other| !reaches[state][other] || reaches[other][state]);
    let (recurrent, transient): (Vec<usize>, Vec<usize>) =
        (0..states).filter(|state| reaches[0][*state]).partition(|state| returns(*state));
    let is_first = |state: usize| (0..state).all(|other| !(reaches[state][other] && reaches[other][state]));
    let classes: Vec<Vec<usize>> = recurrent
        .iter()
        .filter(|state| is_first(**state))
        .map(|state| recurrent.iter().copied().filter(|other| reaches[*state][*other]).collect())
        .collect();
    let mut shares = vec![0.0; states];
    for (class, weight) in classes.iter().zip(endings(transitions, &transient, &classes)) {
        let within = class.iter().map(|from| class.iter().map(|to| transitions[*from][*to]).collect()).collect();
        for (state, share) in class.iter().zip(irreducible(within)) {
            shares[*state] = weight * share;
        }
    }
    if shares.iter().all(|share| share.is_finite()) { Ok(shares) } else { Err(ParameterError::new(VANISHING)) }
}

const VANISHING: &str = "some probabilities are so small that their product vanishes";

/// Which states lead to which, in any number of steps, none included.
fn reachability(transitions: &[Vec<f64>]) -> Vec<Vec<bool>> {
    let states = transitions.len();
    let mut reaches: Vec<Vec<bool>> =
        transitions.iter().map(|row| row.iter().map(|step| *step > 0.0).collect()).collect();
    (0..states).for_each(|state| reaches[state][state] = true);
    for via in 0..states {
        let onward = reaches[via].clone();
        for row in reaches.iter_mut().filter(|row| row[via]) {
            row.iter_mut().zip(&onward).for_each(|(reached, further)| *reached |= further);
        }
    }
    reaches
}

/// The probability of ending in each of `classes`: how often a chain enters it that begins anew in state 0 when it has.
fn endings(transitions: &[Vec<f64>], transient: &[usize], classes: &[Vec<usize>]) -> Vec<f64> {
    let leaving = transient.iter().map(|from| {
        let row = &transitions[*from];
        let into = classes.iter().map(|class| class.iter().map(|to| row[*to]).sum());
        transient.iter().map(|to| row[*to]).chain(into).collect::<Vec<f64>>()
    });
    let mut restart = vec![0.0; transient.len() + classes.len()];
    restart[0] = 1.0;
    let restarts = std::iter::repeat_n(restart, classes.len());
    let visits = irreducible(leaving.chain(restarts).collect());
    let entries = &visits[transient.len()..];
    let total: f64 = entries.iter().sum();
    entries.iter().map(|entry| entry / total).collect()
}

/// The stationary distribution of a chain whose states all reach one another.
fn irreducible(mut transitions: Vec<Vec<f64>>) -> Vec<f64> {
    for last in (1..transitions.len()).rev() {
        let (before, rest) = transitions.split_at_mut(last);
        let leaving = &rest[0][..last];
        let total: f64 = leaving.iter().sum();
        for row in before {
            row[last] /= total;
            let entering = row[last];
            row.iter_mut().zip(leaving).for_each(|(step, onward)| *step += entering * onward);
        }
    }
    let mut shares = vec![1.0];
    for state in 1..transitions.len() {
        shares.push(shares.iter().zip(&transitions).map(|(share, row)| share * row[state]).sum());
    }
    let total: f64 = shares.iter().sum();
    shares.into_iter().map(|share| share / total).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_shares<const N: usize>(transitions: [[f64; N]; N], expected: [f64; N]) {
        let shares = stationary(&transitions.map(|row| row.to_vec())).unwrap();
        let matches = |(share, expected): (&f64, f64)| (share - expected).abs() <= 1e-14 * expected;
        assert!(shares.iter().zip(expected).all(matches), "{shares:?} instead of {expected:?}");
    }

    #[test]
    fn two_states_share_time_by_the_rates_of_leaving_the_other() {
        assert_shares([[0.99, 0.01], [0.1, 0.9]], [10.0 / 11.0, 1.0 / 11.0]);
        assert_shares([[1.0 - 1e-12, 1e-12], [3e-12, 1.0 - 3e-12]], [0.75, 0.25]);
    }

    #[test]
    fn a_balanced_chain_stays_balanced() {
        let transitions = [[0.2, 0.5, 0.3, 0.0], [0.1, 0.0, 0.4, 0.5], [0.0, 0.9, 0.0, 0.1], [0.3, 0.3, 0.3, 0.1]];
        let shares = stationary(&transitions.map(|row| row.to_vec())).unwrap();
        for state in 0..4 {
            let next: f64 = shares.iter().zip(transitions).map(|(share, row)| share * row[state]).sum();
            assert!((next - shares[state]).abs() < 1e-15);
        }
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-15);
    }

    #[test]
    fn a_periodic_chain_spends_equal_time_in_each_state_of_its_cycle() {
        assert_shares([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]], [1.0 / 3.0; 3]);
    }

    #[test]
    fn a_state_that_is_never_left_takes_all_and_one_that_is_never_entered_nothing() {
        assert_shares([[0.9, 0.1], [0.0, 1.0]], [0.0, 1.0]);
        assert_shares([[1.0, 0.0], [0.5, 0.5]], [1.0, 0.0]);
        assert_shares([[1.0]], [1.0]);
    }

    #[test]
    fn a_chain_with_several_ends_weighs_them_by_how_often_it_ends_there() {
        // From state 0: to the absorbing 1 with 1/4, through 2 half the time, which leads to the pair 3 and 4 or back.
        assert_shares(
            [
                [0.25, 0.25, 0.5, 0.0, 0.0],
                [0.0, 1.0, 0.0, 0.0, 0.0],
                [0.5, 0.0, 0.0, 0.5, 0.0],
                [0.0, 0.0, 0.0, 0.5, 0.5],
                [0.0, 0.0, 0.0, 1.0, 0.0],
            ],
            [0.0, 0.5, 0.0, 1.0 / 3.0, 1.0 / 6.0],
        );
    }

    #[test]
    fn probabilities_whose_products_vanish_have_no_shares() {
        let transitions = [[0.5, 0.5, 0.0], [0.0, 1.0, 1e-200], [1e-200, 1.0, 0.0]];
        assert_eq!(stationary(&transitions.map(|row| row.to_vec())), Err(ParameterError::new(VANISHING)));
    }
}
