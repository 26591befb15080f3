//! What follows from a Markov chain of losses: its share, and how much its counts spread. Small linear algebra, and no impairment.

use super::LossChain;

/// Share of packets lost in the long run from the first state on, and the probability that the next is lost too.
pub(super) fn loss_of_chain(chain: &LossChain) -> (f64, f64) {
    let LossChain { transitions, loss, stationary: at } = chain;
    let share = dot(at, loss);
    if share == 0.0 {
        return (0.0, 0.0);
    }
    let next = transitions.iter().map(|row| dot(row, loss));
    let both: f64 = at.iter().zip(loss).zip(next).map(|((at, lost), next)| at * lost * next).sum();
    (share, both / share)
}

/// Variance of a long run's loss count over that of independent loss: 1 + 2 x the sum of autocorrelations, by the chain's fundamental matrix (Kemeny
/// and Snell, Finite Markov Chains, 4.3); at least 1. `None` if the chain ends in one of several sets of states.
pub(super) fn design_effect(chain: &LossChain, share: f64) -> Option<f64> {
    if !(share > 0.0 && share < 1.0) {
        return Some(1.0);
    }
    let LossChain { transitions, loss, stationary: at } = chain;
    // Only states with a share: others are left for good.
    let states: Vec<usize> = (0..at.len()).filter(|state| at[*state] > 0.0).collect();
    let row = |from: &usize| {
        let step = |to: &usize| f64::from(u8::from(from == to)) - transitions[*from][*to] + at[*to];
        states.iter().map(step).collect()
    };
    let losses: Vec<f64> = states.iter().map(|state| loss[*state]).collect();
    let reached = solve(states.iter().map(row).collect(), losses.clone())?;
    let terms = states.iter().zip(&losses).zip(&reached);
    let covariances: f64 = terms.map(|((state, lost), reached)| at[*state] * lost * (reached - lost)).sum();
    Some((1.0 + 2.0 * covariances / (share * (1.0 - share))).max(1.0))
}

/// The solution of linear equations by elimination with row pivoting; `None` if there is not exactly one.
fn solve(mut rows: Vec<Vec<f64>>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let size = rows.len();
    for column in 0..size {
        let pivot =
            (column..size).max_by(|one, other| rows[*one][column].abs().total_cmp(&rows[*other][column].abs()))?;
        if rows[pivot][column].abs() < 1e-13 {
            return None;
        }
        rows.swap(column, pivot);
        right.swap(column, pivot);
        let (done, rest) = rows.split_at_mut(column + 1);
        for (offset, row) in rest.iter_mut().enumerate() {
            let factor = row[column] / done[column][column];
            row.iter_mut().zip(&done[column]).skip(column).for_each(|(value, above)| *value -= factor * above);
            right[column + 1 + offset] -= factor * right[column];
        }
    }
    let mut solution = vec![0.0; size];
    for row in (0..size).rev() {
        let known = dot(&rows[row][row + 1..], &solution[row + 1..]);
        solution[row] = (right[row] - known) / rows[row][row];
    }
    Some(solution)
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations_are_solved_also_with_a_zero_on_the_diagonal() {
        let solution = solve(vec![vec![0.0, 2.0], vec![4.0, 1.0]], vec![6.0, 11.0]).unwrap();
        assert_eq!(solution, [2.0, 3.0]);
        assert_eq!(solve(vec![vec![1.0, 2.0], vec![2.0, 4.0]], vec![1.0, 2.0]), None);
    }

    #[test]
    fn two_states_that_alternate_seldom_spread_counts_by_their_correlation() {
        let chain = LossChain::new(vec![vec![0.9, 0.1], vec![0.3, 0.7]], vec![0.0, 1.0]);
        let (share, again) = loss_of_chain(&chain);
        assert!((share - 0.25).abs() < 1e-15 && (again - 0.7).abs() < 1e-15);
        // Autocorrelations are 0.6^k: 1 + 2 x 0.6 / 0.4.
        assert!((design_effect(&chain, share).unwrap() - 4.0).abs() < 1e-12);
    }

    #[test]
    fn a_chain_with_two_ends_has_no_one_spread() {
        let transitions = vec![vec![0.0, 0.5, 0.5], vec![0.0, 1.0, 0.0], vec![0.0, 0.0, 1.0]];
        let chain = LossChain::new(transitions, vec![0.0, 0.2, 0.6]);
        let (share, _) = loss_of_chain(&chain);
        assert!((share - 0.4).abs() < 1e-15);
        assert_eq!(design_effect(&chain, share), None);
    }
}
