//! Values that change at given instants, and their means over time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::impairment::SchedulePoint;

/// What holds from each instant on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OverTime {
    /// In order of their instants, the first at 0.
    pub points: Vec<SchedulePoint>,
    /// They begin again after this; `None`: the last point holds for ever.
    pub repeat_ns: Option<u64>,
}

impl OverTime {
    /// The mean of a value over a repetition; without repetition, what holds at the end.
    pub(crate) fn lasting(&self, value: impl Fn(&SchedulePoint) -> f64) -> f64 {
        match (self.repeat_ns, self.points.last()) {
            (Some(repeat_ns), _) => self.mean(repeat_ns, value),
            (None, last) => last.map_or(0.0, value),
        }
    }

    /// The mean of a value over its time; a last point without an end counts as long as all before it.
    pub(crate) fn over_all(&self, value: impl Fn(&SchedulePoint) -> f64) -> f64 {
        let last_ns = self.points.last().map_or(0, |point| point.at_ns);
        let end_ns = self.repeat_ns.unwrap_or(if last_ns == 0 { 1 } else { last_ns.saturating_mul(2) });
        self.mean(end_ns, value)
    }

    /// True if a rate holds whenever it counts: throughout a repetition, or at the end.
    pub(crate) fn is_limited(&self) -> bool {
        let counts = if self.repeat_ns.is_some() { 0 } else { self.points.len().saturating_sub(1) };
        self.points[counts..].iter().all(|point| point.rate_bps.is_some())
    }

    fn mean(&self, end_ns: u64, value: impl Fn(&SchedulePoint) -> f64) -> f64 {
        let ends = self.points.iter().skip(1).map(|point| point.at_ns).chain([end_ns]);
        let spans = self.points.iter().zip(ends).map(|(point, end)| end.saturating_sub(point.at_ns) as f64);
        let total: f64 = self.points.iter().zip(spans).map(|(point, span)| span * value(point)).sum();
        if end_ns == 0 { 0.0 } else { total / end_ns as f64 }
    }
}
