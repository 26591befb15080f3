//! Single values of a description, checked. It knows no impairment.

use std::fmt::Display;
use std::num::NonZeroU64;

use super::{Place, SpecError};
use crate::Probability;
use crate::impairment::Correlation;
use crate::queue::Limit;

/// No link layer adds more to a packet: as much as IP may carry. A trace of delivery opportunities takes a step for each 1500 bytes.
const LARGEST_OVERHEAD: u32 = u16::MAX as u32;

pub(crate) fn probability(value: f64, at: &Place) -> Result<Probability, SpecError> {
    Probability::new(value).map_err(|what| at.error(what))
}

pub(crate) fn probabilities(values: &[f64], at: &Place) -> Result<Vec<Probability>, SpecError> {
    values.iter().enumerate().map(|(index, value)| probability(*value, &at.index(index))).collect()
}

/// Probabilities by the names of their keys.
pub(crate) fn named<const N: usize>(values: [(&str, f64); N], at: &Place) -> Result<[Probability; N], SpecError> {
    let mut probabilities = [Probability::NEVER; N];
    for ((name, value), to) in values.into_iter().zip(&mut probabilities) {
        *to = probability(value, &at.key(name))?;
    }
    Ok(probabilities)
}

/// The `correlation` of the impairment at a place.
pub(crate) fn correlation(value: f64, at: &Place) -> Result<Correlation, SpecError> {
    Correlation::new(value).map_err(|what| at.key("correlation").error(what))
}

/// The `probability` and the `correlation` of the impairment at a place.
pub(crate) fn chance(share: f64, of_draws: f64, at: &Place) -> Result<(Probability, Correlation), SpecError> {
    Ok((probability(share, &at.key("probability"))?, correlation(of_draws, at)?))
}

/// The `rate_bps` at a place.
pub(crate) fn rate(rate_bps: u64, at: &Place) -> Result<NonZeroU64, SpecError> {
    NonZeroU64::new(rate_bps).ok_or_else(|| at.key("rate_bps").error("a rate of 0 bit/s sends nothing"))
}

/// The bounds of a drop-tail queue.
pub(crate) fn limit(bytes: Option<u64>, packets: Option<u32>, at: &Place) -> Result<Limit, SpecError> {
    let limit = Limit { bytes, packets };
    if limit == Limit::NONE {
        return Err(at.error("a drop-tail queue has a bound: bytes, packets or both"));
    }
    Ok(limit)
}

/// The `overhead_bytes` at a place: added to each packet's bytes.
pub(crate) fn overhead(overhead_bytes: u32, at: &Place) -> Result<u32, SpecError> {
    at_most(overhead_bytes, LARGEST_OVERHEAD, "the largest length of a packet", &at.key("overhead_bytes"))?;
    Ok(overhead_bytes)
}

/// Refuse a value above `maximum`, which is `what`.
pub(crate) fn at_most(value: u32, maximum: u32, what: &str, at: &Place) -> Result<(), SpecError> {
    if value > maximum { Err(at.error(format!("{value} is more than {maximum}, {what}"))) } else { Ok(()) }
}

/// Refuse a value that is smaller than the one before it.
pub(crate) fn ascending<T: PartialOrd + Display>(values: &[T], at: &Place) -> Result<(), SpecError> {
    match (1..).zip(values.windows(2)).find(|(_, pair)| pair[1] < pair[0]) {
        Some((index, pair)) => Err(at.index(index).error(format!("{} comes after {}", pair[1], pair[0]))),
        None => Ok(()),
    }
}

/// For serde: a value that is left out.
pub(crate) fn is_zero(value: &f64) -> bool {
    *value == 0.0
}
