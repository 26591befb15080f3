//! Queueing disciplines of the kernel that emulate: netem and the token bucket filter, as rtnetlink takes them.

mod bytes;

pub(super) use bytes::size_table;
pub use wirelab_link::netem::{Chance, NetemJitter, NetemLoss};

/// A queueing discipline. Where several are given, packets pass them in that order, each within the one before.
#[derive(Clone, Debug, PartialEq)]
pub enum Qdisc {
    /// `sch_netem`. Boxed, for it is much the larger.
    Netem(Box<Netem>),
    /// `sch_tbf`.
    Tbf(Tbf),
}

/// netem. Whatever order its options are given in, a packet is first duplicated or dropped, then corrupted, then refused if `limit` packets are
/// inside, then delayed (some not at all: `at_once`), and serialised last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Netem {
    /// Packets that may be inside, those that are only delayed included.
    pub limit: u32,
    /// A copy passes netem once more, without being duplicated again.
    pub duplicate: Chance,
    /// Which packets are dropped on purpose.
    pub loss: Option<NetemLoss>,
    /// One random bit of the frame is inverted, the link layer's header included.
    pub corrupt: Chance,
    /// Constant part of the delay, nanoseconds.
    pub delay_ns: i64,
    /// Random part of the delay. Without a rate, packets leave by their own delay.
    pub jitter: Option<NetemJitter>,
    /// Packets that are not delayed, and so overtake those that are.
    pub at_once: Chance,
    /// Without `jitter`'s overtaking: each packet leaves after its predecessor.
    pub rate: Option<NetemRate>,
    /// Of netem's generator, since Linux 6.6; earlier ones draw as they like.
    pub seed: u64,
}

/// netem's serialisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetemRate {
    /// Counting the bytes of the frame and the overhead.
    pub bytes_per_second: u64,
    /// Added to the bytes of each frame; -14 takes the Ethernet header away.
    pub overhead_bytes: i32,
}

/// A token bucket behind a drop-tail queue. Starts full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tbf {
    /// Rate of tokens.
    pub bytes_per_second: u64,
    /// Size of the bucket.
    pub burst_bytes: u32,
    /// What may wait.
    pub limit_bytes: u32,
    /// Added to the bytes of each frame, for rate, bucket and limit. Only the outermost qdisc may do so (Linux: "STAB not supported on a non root"),
    /// so that what stands around this one counts the same bytes.
    pub overhead_bytes: i32,
}

impl Qdisc {
    /// The kernel's name for it.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Netem(_) => "netem",
            Self::Tbf(_) => "tbf",
        }
    }
}

/// What a line of qdiscs adds to the bytes of a frame when it counts it.
pub(super) fn counted_overhead(qdiscs: &[Qdisc]) -> i32 {
    let overheads = qdiscs.iter().map(|qdisc| match qdisc {
        Qdisc::Netem(_) => 0,
        Qdisc::Tbf(tbf) => tbf.overhead_bytes,
    });
    overheads.sum()
}

/// What a qdisc has counted since it was made (`TCA_STATS2`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QdiscCounts {
    /// Packets that have left.
    pub packets: u64,
    /// Their bytes, as the qdisc counts them.
    pub bytes: u64,
    /// Packets that were dropped here or refused by the qdisc within.
    pub dropped: u64,
    /// Packets that are inside.
    pub waiting: u64,
}
