use std::fmt::Display;
use std::num::NonZeroU64;
use std::time::Duration;

use wirelab_net::link::Probability;
use wirelab_net::link::impairment::{Correlation, SHORTEST_SOJOURN};
use wirelab_net::link::queue::Limit;

use super::LinkError;

/// What no link layer adds to a packet: as much as IP may carry. A trace of delivery opportunities takes a step for each 1500 bytes.
const LARGEST_OVERHEAD: u32 = u16::MAX as u32;

/// A place in a link's description, for example `uplink[1].p`.
pub struct Place(String);

impl Place {
    pub fn new(name: &str) -> Self {
        Self(name.to_owned())
    }

    /// The value of a key here.
    pub fn key(&self, name: &str) -> Self {
        Self(format!("{}.{name}", self.0))
    }

    /// A member of the list that is here, from 0.
    pub fn index(&self, index: usize) -> Self {
        Self(format!("{}[{index}]", self.0))
    }

    /// What is wrong here.
    pub fn error(&self, what: impl Into<String>) -> LinkError {
        LinkError { at: self.0.clone(), what: what.into() }
    }
}

pub fn probability(value: f64, at: &Place) -> Result<Probability, LinkError> {
    Probability::new(value).map_err(|what| at.error(what))
}

/// The `correlation` of the impairment at a place.
pub fn correlation(value: f64, at: &Place) -> Result<Correlation, LinkError> {
    Correlation::new(value).map_err(|what| at.key("correlation").error(what))
}

pub fn rate(rate_bps: u64, at: &Place) -> Result<NonZeroU64, LinkError> {
    NonZeroU64::new(rate_bps).ok_or_else(|| at.key("rate_bps").error("a rate of 0 bit/s sends nothing"))
}

pub fn sojourn(nanoseconds: u64, at: &Place) -> Result<Duration, LinkError> {
    let mean = Duration::from_nanos(nanoseconds);
    if mean < SHORTEST_SOJOURN {
        return Err(at.error(format!("a mean sojourn of {mean:?} is shorter than {SHORTEST_SOJOURN:?}")));
    }
    Ok(mean)
}

/// What may wait in a drop-tail queue.
pub fn limit(bytes: Option<u64>, packets: Option<u32>, at: &Place) -> Result<Limit, LinkError> {
    let limit = Limit { bytes, packets };
    if limit == Limit::NONE {
        return Err(at.error("a drop-tail queue has a bound: bytes, packets or both"));
    }
    Ok(limit)
}

/// What is added to each packet's bytes at a place.
pub fn overhead(overhead_bytes: u32, at: &Place) -> Result<u32, LinkError> {
    most(overhead_bytes, LARGEST_OVERHEAD, "the largest length of a packet", &at.key("overhead_bytes"))?;
    Ok(overhead_bytes)
}

/// Refuse a value above `most`, which is `what`.
pub fn most(value: u32, most: u32, what: &str, at: &Place) -> Result<(), LinkError> {
    if value > most { Err(at.error(format!("{value} is more than {most}, {what}"))) } else { Ok(()) }
}

/// Refuse values of which one is smaller than that before it.
pub fn ascending<T: PartialOrd + Display>(values: &[T], at: &Place) -> Result<(), LinkError> {
    match (1..).zip(values.windows(2)).find(|(_, pair)| pair[1] < pair[0]) {
        Some((index, pair)) => Err(at.index(index).error(format!("{} comes after {}", pair[1], pair[0]))),
        None => Ok(()),
    }
}
