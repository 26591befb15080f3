use wirelab_net::link::impairment::{
    FourState, GilbertElliott, GilbertElliottTime, Independent, LossModel, LossPattern, Lossy, Markov,
};
use wirelab_net::link::{Impairment, ParameterError, Probability, Seed};

use super::values::{Place, correlation, probability, sojourn};
use super::{LinkError, Stage};

pub fn independent(share: f64, of_draws: f64, seed: Seed, at: &Place) -> Stage {
    let share = probability(share, &at.key("probability"))?;
    Ok(lossy(Independent::correlated(share, correlation(of_draws, at)?, seed)))
}

/// With p, r, bad_loss and good_loss.
pub fn gilbert_elliott(parameters: [f64; 4], seed: Seed, at: &Place) -> Stage {
    let [p, r, bad_loss, good_loss] = named(["p", "r", "bad_loss", "good_loss"], parameters, at)?;
    Ok(lossy(GilbertElliott::new(p, r, bad_loss, good_loss, seed)))
}

/// With good_ns and bad_ns, bad_loss and good_loss.
pub fn gilbert_elliott_time([good_ns, bad_ns]: [u64; 2], losses: [f64; 2], seed: Seed, at: &Place) -> Stage {
    let [good, bad] = [sojourn(good_ns, &at.key("good_ns"))?, sojourn(bad_ns, &at.key("bad_ns"))?];
    let [bad_loss, good_loss] = named(["bad_loss", "good_loss"], losses, at)?;
    model(GilbertElliottTime::new(good, bad, bad_loss, good_loss, seed), at)
}

/// With p13, p31, p32, p23 and p14.
pub fn four_state(moves: [f64; 5], seed: Seed, at: &Place) -> Stage {
    let [p13, p31, p32, p23, p14] = named(["p13", "p31", "p32", "p23", "p14"], moves, at)?;
    model(FourState::new(p13, p31, p32, p23, p14, seed), at)
}

pub fn markov(transitions: &[Vec<f64>], loss: &[f64], seed: Seed, at: &Place) -> Stage {
    let states = transitions.len();
    let at_rows = at.key("transitions");
    if states == 0 {
        return Err(at_rows.error("there is no state"));
    }
    if states > Markov::MOST_STATES {
        return Err(at_rows.error(format!("{states} states are more than {}, the most", Markov::MOST_STATES)));
    }
    let mut rows = Vec::new();
    for (index, row) in transitions.iter().enumerate() {
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
    if loss.len() != states {
        return Err(at_loss.error(format!("{} probabilities for {states} states", loss.len())));
    }
    model(Markov::new(&rows, probabilities(loss, &at_loss)?, seed), at)
}

pub fn loss_pattern(pattern: &str, repeat: bool, at: &Place) -> Stage {
    if let Some((index, other)) = pattern.chars().enumerate().find(|(_, character)| !matches!(character, '0' | '1')) {
        return Err(at.index(index).error(format!("`{other}` is neither 0 nor 1")));
    }
    model(LossPattern::new(pattern, repeat), at)
}

fn model(model: Result<impl LossModel + 'static, ParameterError>, at: &Place) -> Stage {
    model.map(lossy).map_err(|what| at.error(what))
}

fn lossy(model: impl LossModel + 'static) -> Box<dyn Impairment> {
    Box::new(Lossy::new(model))
}

fn named<const N: usize>(names: [&str; N], values: [f64; N], at: &Place) -> Result<[Probability; N], LinkError> {
    let mut probabilities = [Probability::new(0.0).expect("it is one"); N];
    for ((name, value), to) in names.into_iter().zip(values).zip(&mut probabilities) {
        *to = probability(value, &at.key(name))?;
    }
    Ok(probabilities)
}

fn probabilities(values: &[f64], at: &Place) -> Result<Vec<Probability>, LinkError> {
    values.iter().enumerate().map(|(index, value)| probability(*value, &at.index(index))).collect()
}
