//! What the kernel's netem and tbf can do of a link, and why not the rest. It makes no qdisc: `wirelab-agent` puts them together.
//!
//! netem has one order: it duplicates or drops, corrupts, delays, reorders, and serialises last. A constant delay gives the same result at any
//! place.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::impairment::Jitter;
use crate::spec::{ImpairmentSpec, LinkSpec, Place, SpecError};

/// Entries of a jitter's table, as many as iproute2's have.
const TABLE_ENTRIES: u16 = 4096;
const KEEP: &str = r#"leave it to backend = "wirelab", or take it out"#;
const ORDER: &str = r#"order = ["duplicate", "loss", "corrupt", "delay", "reorder", "rate"]"#;

/// What netem or tbf does for one stage of a link.
#[derive(Clone, Debug, PartialEq)]
pub enum NetemStage {
    /// netem's `duplicate`.
    Duplicate(Chance),
    /// netem's `loss`.
    Drop(NetemLoss),
    /// netem's `corrupt`.
    Corrupt(Chance),
    /// netem's `delay`.
    Delay {
        /// Constant part, nanoseconds.
        delay_ns: i64,
        /// Random part; `None` for a constant delay.
        spread: Option<NetemSpread>,
    },
    /// netem's `reorder`: a delay for all packets but some.
    Reorder {
        /// How long packets are held back, nanoseconds.
        delay_ns: i64,
        /// Packets that are not.
        at_once: Chance,
    },
    /// netem's `rate`, with so many packets that may wait behind the one being sent.
    Rate {
        /// Whole bytes per second.
        bytes_per_second: u64,
        /// Added to each packet's IP bytes.
        overhead_bytes: i32,
        /// Packets that may wait.
        packets: u32,
    },
    /// tbf.
    TokenBucket {
        /// Rate of tokens, whole bytes per second.
        bytes_per_second: u64,
        /// Size of the bucket.
        burst_bytes: u32,
        /// Bytes that may wait.
        limit_bytes: u32,
        /// Added to each packet's IP bytes.
        overhead_bytes: i32,
    },
}

/// The random part of netem's delay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetemSpread {
    /// The offsets; `None` if all are 0.
    pub table: Option<NetemJitter>,
    /// Packets leave by their own delay, also before earlier ones.
    pub overtaking: bool,
}

/// A probability per packet, and netem's correlation of successive draws.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Chance {
    /// From 0 to 1.
    pub probability: f64,
    /// From 0 to 1.
    pub correlation: f64,
}

/// netem's loss models.
#[derive(Clone, Debug, PartialEq)]
pub enum NetemLoss {
    /// `loss random`.
    Independent(Chance),
    /// `loss gemodel`. Begins in the good state; the state before the packet's transition decides.
    GilbertElliott {
        /// From good to bad.
        p: f64,
        /// From bad to good.
        r: f64,
        /// netem's h: a packet passes in the bad state.
        bad_pass: f64,
        /// netem's 1-k: a packet is lost in the good state.
        good_loss: f64,
    },
    /// `loss state`. Begins in state 1.
    FourState {
        /// From received to lost within a burst.
        p13: f64,
        /// From lost within a burst to received.
        p31: f64,
        /// From lost within a burst to received within a burst.
        p32: f64,
        /// From received within a burst to lost within a burst.
        p23: f64,
        /// From received to lost alone.
        p14: f64,
    },
}

/// Spread of netem's delay: a random entry of the table, of which [`TABLE_SCALE`](Self::TABLE_SCALE) is one `unit_ns`, added to the delay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetemJitter {
    /// netem's jitter.
    pub unit_ns: i32,
    /// At least one entry and at most [`MAX_ENTRIES`](Self::MAX_ENTRIES), each as likely.
    pub table: Vec<i16>,
}

impl NetemJitter {
    /// NETEM_DIST_SCALE.
    pub const TABLE_SCALE: i32 = 8192;
    /// NETEM_DIST_MAX.
    pub const MAX_ENTRIES: usize = 16_384;
}

/// Why netem cannot run a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetemRefusal {
    /// Where in the `LinkSpec`, for example `uplink[1].queue`.
    pub at: String,
    /// The key of an experiment file's link that says it, for example `queue`.
    pub key: String,
    /// What netem cannot do.
    pub what: String,
    /// What to write instead.
    pub hint: String,
}

impl NetemRefusal {
    /// For a place that no experiment file has a better hint for than to leave the link to Wirelab's emulator.
    pub fn new(at: &Place, key: &str, what: impl Into<String>) -> Self {
        let SpecError { at, what } = at.error(what);
        Self { at, key: key.to_owned(), what, hint: KEEP.to_owned() }
    }

    /// For a stage that netem does not have; `key` is its key in an experiment file's link.
    pub fn absent(kind: &str, at: &Place, key: &str) -> Self {
        Self::new(at, key, format!("netem has no {kind}"))
    }

    /// Of a description that no link can do.
    pub fn of(error: SpecError, key: &str) -> Self {
        Self { at: error.at, key: key.to_owned(), what: error.what, hint: String::new() }
    }

    /// With this hint.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: hint.into(), ..self }
    }
}

impl fmt::Display for NetemRefusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.at, self.what)
    }
}

impl std::error::Error for NetemRefusal {}

impl From<NetemRefusal> for SpecError {
    fn from(refusal: NetemRefusal) -> Self {
        Self { at: refusal.at, what: refusal.what }
    }
}

/// The stages of a link as netem has them, by direction; else the first that it cannot do.
pub fn stages(link: &LinkSpec) -> Result<[Vec<NetemStage>; 2], NetemRefusal> {
    if let Some((key, _)) = link.shared().first() {
        let hint = format!(r#"{key} = "none", or backend = "wirelab""#);
        return Err(NetemRefusal::absent(key, &Place::new(key), key).hint(hint));
    }
    Ok([way(&link.uplink, &Place::new("uplink"))?, way(&link.downlink, &Place::new("downlink"))?])
}

fn way(specs: &[ImpairmentSpec], at: &Place) -> Result<Vec<NetemStage>, NetemRefusal> {
    let mut stages = Vec::new();
    for (index, spec) in specs.iter().enumerate() {
        stages.push(spec.netem(&at.index(index))?);
    }
    in_netems_order(&stages, at)?;
    if let Some(index) = stages.iter().position(|stage| step(stage) == Some(Step::Duplicate)) {
        let copies = matches!(stages[index], NetemStage::Duplicate(chance) if chance.probability > 0.0);
        if copies && takes_several(&stages) {
            let what = "netem duplicates only where it does all else itself (since Linux 6.16), and this takes several";
            return Err(NetemRefusal::new(&at.index(index), "duplicate", what));
        }
    }
    Ok(stages)
}

/// What netem does to a packet, one after another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Duplicate,
    Drop,
    Corrupt,
    Delay,
    Reorder,
    Serialise,
}

impl Step {
    const fn verb(self) -> &'static str {
        match self {
            Self::Duplicate => "duplicates",
            Self::Drop => "drops",
            Self::Corrupt => "corrupts",
            Self::Delay => "delays",
            Self::Reorder => "reorders",
            Self::Serialise => "serialises",
        }
    }
}

/// Which step a stage is; `None` for a constant delay.
const fn step(stage: &NetemStage) -> Option<Step> {
    match stage {
        NetemStage::Duplicate(_) => Some(Step::Duplicate),
        NetemStage::Drop(_) => Some(Step::Drop),
        NetemStage::Corrupt(_) => Some(Step::Corrupt),
        NetemStage::Delay { spread: None, .. } => None,
        NetemStage::Delay { .. } => Some(Step::Delay),
        NetemStage::Reorder { .. } => Some(Step::Reorder),
        NetemStage::Rate { .. } | NetemStage::TokenBucket { .. } => Some(Step::Serialise),
    }
}

fn in_netems_order(stages: &[NetemStage], at: &Place) -> Result<(), NetemRefusal> {
    let mut last: Option<Step> = None;
    let mut duplicates = false;
    for (index, stage) in stages.iter().enumerate() {
        let at = at.index(index);
        let Some(next) = step(stage) else { continue };
        match last {
            Some(last) if next < last => {
                let what = format!("netem {} before it {}", next.verb(), last.verb());
                return Err(NetemRefusal::new(&at, "order", what).hint(ORDER));
            }
            Some(last) if next == last => {
                return Err(NetemRefusal::new(&at, "order", format!("netem {} once", next.verb())));
            }
            _ => last = Some(next),
        }
        if next == Step::Drop && duplicates {
            let what = "netem takes the copy of a packet back instead of losing it, where it duplicates";
            return Err(NetemRefusal::new(&at, "duplicate", what));
        }
        duplicates |= next == Step::Duplicate;
    }
    let delays = stages.iter().filter(|stage| matches!(stage, NetemStage::Delay { .. })).count();
    if delays > 1 { Err(NetemRefusal::new(at, "delay", "netem delays once")) } else { Ok(()) }
}

/// True if one netem is not enough: what comes after a delay needs another, and a token bucket is a tbf.
fn takes_several(stages: &[NetemStage]) -> bool {
    let delays = stages.iter().any(|stage| match stage {
        NetemStage::Delay { delay_ns, spread } => {
            *delay_ns > 0 || spread.as_ref().is_some_and(|spread| spread.table.is_some())
        }
        _ => false,
    });
    let more = stages.iter().filter(|stage| match stage {
        NetemStage::Reorder { delay_ns, at_once } => *delay_ns > 0 && at_once.probability < 1.0,
        NetemStage::Rate { .. } => true,
        _ => false,
    });
    stages.iter().any(|stage| matches!(stage, NetemStage::TokenBucket { .. })) || usize::from(delays) + more.count() > 1
}

/// The jitter as a table of equally likely offsets; `None` if it spreads nothing.
pub(crate) fn table(jitter: &Jitter, at: &Place) -> Result<Option<NetemJitter>, NetemRefusal> {
    let middle = |entry| (f64::from(entry) + 0.5) / f64::from(TABLE_ENTRIES);
    let offsets: Vec<f64> = (0..TABLE_ENTRIES).map(|entry| jitter.quantile(middle(entry))).collect();
    let farthest = offsets.iter().fold(0.0, |farthest: f64, offset| farthest.max(offset.abs()));
    let scale = f64::from(NetemJitter::TABLE_SCALE);
    // The farthest becomes the largest entry that there is.
    let unit = (farthest * scale / f64::from(i16::MAX)).ceil();
    if unit == 0.0 {
        return Ok(None);
    }
    if unit > f64::from(i32::MAX) {
        let what = format!("{:.3} s from the mean is farther than netem can take (8.59 s)", farthest / 1e9);
        return Err(NetemRefusal::new(at, "jitter", what));
    }
    let table = offsets.iter().map(|offset| (offset / unit * scale).round() as i16).collect();
    Ok(Some(NetemJitter { unit_ns: unit as i32, table }))
}

pub(crate) fn nanoseconds(value: u64, at: &Place, key: &str) -> Result<i64, NetemRefusal> {
    let refused = |_| NetemRefusal::new(at, key, format!("{value} ns is longer than netem can take (63 bits)"));
    i64::try_from(value).map_err(refused)
}

/// The `rate_bps` of the stage at a place.
pub(crate) fn bytes_per_second(rate_bps: u64, at: &Place) -> Result<u64, NetemRefusal> {
    if rate_bps.is_multiple_of(8) {
        return Ok(rate_bps / 8);
    }
    let what = format!("netem counts whole bytes a second, and {rate_bps} bit/s are not");
    Err(NetemRefusal::new(&at.key("rate_bps"), "rate", what).hint(format!("such as {} bit/s", rate_bps / 8 * 8)))
}

/// The `overhead_bytes` of the stage at a place.
pub(crate) fn overhead(bytes: u32, at: &Place) -> Result<i32, NetemRefusal> {
    let hint = format!("at most {} B (31 bits)", i32::MAX);
    let refused =
        |_| NetemRefusal::new(&at.key("overhead_bytes"), "overhead", format!("{bytes} is too much")).hint(hint);
    i32::try_from(bytes).map_err(refused)
}
