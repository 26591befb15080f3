//! The attributes of rtnetlink messages: `struct tc_netem_qopt`, `struct tc_tbf_qopt` and what follows them (Linux, include/uapi/linux/pkt_sched.h).
//! Numbers are in the machine's byte order.

use netlink_packet_route::tc::TcAttribute;
use rtnetlink::packet_core::DefaultNla;

use super::{Chance, Netem, NetemJitter, NetemLoss, NetemRate, Qdisc, Tbf};

const TCA_OPTIONS: u16 = 2;
const TCA_STAB_BASE: u16 = 1;

const TCA_NETEM_CORR: u16 = 1;
const TCA_NETEM_DELAY_DIST: u16 = 2;
const TCA_NETEM_REORDER: u16 = 3;
const TCA_NETEM_CORRUPT: u16 = 4;
const TCA_NETEM_LOSS: u16 = 5;
const TCA_NETEM_RATE: u16 = 6;
const TCA_NETEM_RATE64: u16 = 8;
const TCA_NETEM_LATENCY64: u16 = 10;
const TCA_NETEM_JITTER64: u16 = 11;
const TCA_NETEM_PRNG_SEED: u16 = 14;
const NETEM_LOSS_GI: u16 = 1;
const NETEM_LOSS_GE: u16 = 2;
const NLA_F_NESTED: u16 = 1 << 15;

const TCA_TBF_PARMS: u16 = 1;
const TCA_TBF_RATE64: u16 = 4;
const TCA_TBF_BURST: u16 = 6;
const TC_LINKLAYER_ETHERNET: u8 = 1;
/// As tc sends it; without a rate table the kernel does not look at it.
const CELL_LOG: u8 = 3;

/// The packet scheduler's tick, nanoseconds.
const TICK_NS: u64 = 64;

impl Qdisc {
    /// Kind and options of a message that makes it.
    pub(in super::super) fn attributes(&self) -> Vec<TcAttribute> {
        let options = match self {
            Self::Netem(netem) => netem_options(netem),
            Self::Tbf(tbf) => tbf_options(tbf),
        };
        let kind = TcAttribute::Kind(self.kind().to_owned());
        vec![kind, TcAttribute::Other(DefaultNla::new(TCA_OPTIONS, options))]
    }
}

/// For the outermost of some qdiscs, where they count other bytes than those of frames.
pub(in super::super) fn size_table(overhead_bytes: i32) -> Option<TcAttribute> {
    (overhead_bytes != 0).then(|| TcAttribute::Stab(size_specification(overhead_bytes)))
}

fn netem_options(netem: &Netem) -> Vec<u8> {
    let Netem { limit, duplicate, loss, corrupt, delay_ns, jitter, at_once, rate, seed } = netem;
    let independent = match loss {
        Some(NetemLoss::Independent(chance)) => *chance,
        _ => Chance::default(),
    };
    let jitter_ns = jitter.as_ref().map_or(0, |jitter| i64::from(jitter.unit_ns));
    let reorders = at_once.probability > 0.0;
    let mut bytes = Vec::new();
    // latency, limit, loss, gap, duplicate, jitter
    let gap = u32::from(reorders);
    words(
        &mut bytes,
        &[
            ticks(*delay_ns),
            *limit,
            share(independent.probability),
            gap,
            share(duplicate.probability),
            ticks(jitter_ns),
        ],
    );
    // delay, loss, duplicate
    if independent.correlation > 0.0 || duplicate.correlation > 0.0 {
        put_words(&mut bytes, TCA_NETEM_CORR, &[0, share(independent.correlation), share(duplicate.correlation)]);
    }
    if reorders {
        put_chance(&mut bytes, TCA_NETEM_REORDER, at_once);
    }
    if corrupt.probability > 0.0 {
        put_chance(&mut bytes, TCA_NETEM_CORRUPT, corrupt);
    }
    if let Some(model) = loss.as_ref().and_then(loss_model) {
        put(&mut bytes, TCA_NETEM_LOSS | NLA_F_NESTED, &model);
    }
    if let Some(rate) = rate {
        put_rate(&mut bytes, *rate);
    }
    if let Some(NetemJitter { table, .. }) = jitter {
        let entries: Vec<u8> = table.iter().flat_map(|entry| entry.to_ne_bytes()).collect();
        put(&mut bytes, TCA_NETEM_DELAY_DIST, &entries);
    }
    // In nanoseconds where ticks are too coarse or too few; kernels before 4.15 keep to the ticks.
    put(&mut bytes, TCA_NETEM_LATENCY64, &delay_ns.to_ne_bytes());
    put(&mut bytes, TCA_NETEM_JITTER64, &jitter_ns.to_ne_bytes());
    put(&mut bytes, TCA_NETEM_PRNG_SEED, &seed.to_ne_bytes());
    bytes
}

fn loss_model(loss: &NetemLoss) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    match *loss {
        NetemLoss::Independent(_) => return None,
        NetemLoss::GilbertElliott { p, r, bad_pass, good_loss } => {
            put_words(&mut bytes, NETEM_LOSS_GE, &[p, r, bad_pass, good_loss].map(share));
        }
        NetemLoss::FourState { p13, p31, p32, p23, p14 } => {
            let [p13, p31, p32, p14, p23] = [p13, p31, p32, p14, p23].map(share);
            // netem adds what leaves a state in 32 bits.
            let [p13, p31] = [p13.min(u32::MAX - p14), p31.min(u32::MAX - p32)];
            put_words(&mut bytes, NETEM_LOSS_GI, &[p13, p31, p32, p14, p23]);
        }
    }
    Some(bytes)
}

fn put_rate(bytes: &mut Vec<u8>, rate: NetemRate) {
    let small = u32::try_from(rate.bytes_per_second);
    if small.is_err() {
        put(bytes, TCA_NETEM_RATE64, &rate.bytes_per_second.to_ne_bytes());
    }
    // rate, packet_overhead, cell_size, cell_overhead
    put_words(bytes, TCA_NETEM_RATE, &[small.unwrap_or(u32::MAX), rate.overhead_bytes as u32, 0, 0]);
}

fn tbf_options(tbf: &Tbf) -> Vec<u8> {
    let Tbf { bytes_per_second, burst_bytes, limit_bytes, overhead_bytes: _ } = *tbf;
    let small = u32::try_from(bytes_per_second);
    // struct tc_ratespec: cell_log, linklayer, overhead, cell_align, mpu, rate
    let mut parameters = vec![CELL_LOG, TC_LINKLAYER_ETHERNET];
    parameters.extend(0u16.to_ne_bytes());
    parameters.extend((-1i16).to_ne_bytes());
    parameters.extend(0u16.to_ne_bytes());
    let bucket_ns = u128::from(burst_bytes) * 1_000_000_000 / u128::from(bytes_per_second.max(1));
    let bucket = u32::try_from(bucket_ns / u128::from(TICK_NS)).unwrap_or(u32::MAX);
    // the rate, no peak rate, limit, buffer, mtu
    words(&mut parameters, &[small.unwrap_or(u32::MAX), 0, 0, 0, limit_bytes, bucket, 0]);
    let mut bytes = Vec::new();
    put(&mut bytes, TCA_TBF_PARMS, &parameters);
    if small.is_err() {
        put(&mut bytes, TCA_TBF_RATE64, &bytes_per_second.to_ne_bytes());
    }
    put_words(&mut bytes, TCA_TBF_BURST, &[burst_bytes]);
    bytes
}

/// `struct tc_sizespec` without a table: only the overhead counts.
fn size_specification(overhead_bytes: i32) -> Vec<u8> {
    let (mut base, mut bytes) = (Vec::new(), Vec::new());
    // cell_log, size_log, cell_align; overhead; linklayer, mpu, mtu, tsize
    words(&mut base, &[0, overhead_bytes as u32, 0, 0, 0, 0]);
    put(&mut bytes, TCA_STAB_BASE, &base);
    bytes
}

/// A probability as netem takes it: 2^32 - 1 is certain.
fn share(probability: f64) -> u32 {
    (probability * f64::from(u32::MAX)).round_ties_even() as u32
}

fn ticks(nanoseconds: i64) -> u32 {
    u32::try_from(nanoseconds.max(0) as u64 / TICK_NS).unwrap_or(u32::MAX)
}

fn put_chance(bytes: &mut Vec<u8>, kind: u16, chance: &Chance) {
    put_words(bytes, kind, &[share(chance.probability), share(chance.correlation)]);
}

fn put_words(bytes: &mut Vec<u8>, kind: u16, values: &[u32]) {
    let mut payload = Vec::new();
    words(&mut payload, values);
    put(bytes, kind, &payload);
}

/// An attribute: length, kind, payload, padded to four bytes.
fn put(bytes: &mut Vec<u8>, kind: u16, payload: &[u8]) {
    bytes.extend((payload.len() as u16 + 4).to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(payload);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
}

fn words(bytes: &mut Vec<u8>, values: &[u32]) {
    bytes.extend(values.iter().flat_map(|value| value.to_ne_bytes()));
}

#[cfg(test)]
#[cfg(target_endian = "little")]
mod tests;
