//! Builds a link from its description. What no link can do is refused with its place and value.

mod losses;
mod netem;
mod rates;
mod shared;
mod values;

use std::time::Duration;

use wirelab_net::link::impairment::{Corrupt, Delay, Duplicate, Jitter, Quantiles, Rate, Reorder};
use wirelab_net::link::{Chain, Direction, Impairment, Link, Seed};
use wirelab_schema::{ImpairmentSpec, JitterSpec, LinkBackend, LinkSpec, QueueSpec};

pub use netem::qdiscs;
use values::{Place, ascending, correlation, overhead, probability, rate};

/// MTU of a link that has none of its own.
const MTU: u32 = 1500;

/// An impairment as described.
type Stage = Result<Box<dyn Impairment>, LinkError>;

/// What a link's description says that no link can do.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("{at}: {what}")]
pub struct LinkError {
    /// Where, for example `uplink[1].p`.
    at: String,
    /// What is wrong, with the value.
    what: String,
}

/// The link that `spec` describes, its generators seeded by `seed`: each impairment's by its direction and its place in the chain, the medium's
/// by a place beyond every chain. Of a link that netem runs, the part before netem: it passes every packet on at once.
pub fn build(spec: &LinkSpec, seed: u64) -> Result<Link, LinkError> {
    let mtu = spec.mtu.unwrap_or(MTU);
    let chain =
        |name, direction, stages| chain(Place::new(name), stages, mtu, |index| Seed { link: seed, direction, index });
    let uplink = chain("uplink", Direction::Uplink, &spec.uplink)?;
    let downlink = chain("downlink", Direction::Downlink, &spec.downlink)?;
    let mut link = Link::new(uplink, downlink);
    if let Some(medium) = &spec.medium {
        let seed = Seed { link: seed, direction: Direction::Uplink, index: u16::MAX };
        link = link.with_medium(shared::medium(medium, seed, &Place::new("medium"))?);
    }
    if let Some(radio) = &spec.radio {
        link = link.with_radio(shared::radio(radio, &Place::new("radio"))?);
    }
    if let Some(nat) = &spec.nat {
        link = link.with_nat(shared::nat(nat));
    }
    if is_netem(spec) {
        qdiscs(spec, seed)?;
        return Ok(Link::new(Chain::new(vec![]), Chain::new(vec![])));
    }
    Ok(link)
}

/// True if the kernel's netem runs the link.
pub fn is_netem(spec: &LinkSpec) -> bool {
    spec.backend == Some(LinkBackend::Netem)
}

/// True if what becomes of a packet depends on its flow.
pub fn tells_flows_apart(spec: &LinkSpec) -> bool {
    let fair = |stage: &ImpairmentSpec| match stage {
        ImpairmentSpec::Rate { queue, .. }
        | ImpairmentSpec::TokenBucket { queue, .. }
        | ImpairmentSpec::DeliveryTrace { queue, .. }
        | ImpairmentSpec::Schedule { queue, .. }
        | ImpairmentSpec::DutyCycle { queue, .. } => matches!(queue, QueueSpec::FqCodel { .. }),
        _ => false,
    };
    spec.nat.is_some() || spec.uplink.iter().chain(&spec.downlink).any(fair)
}

fn chain(at: Place, stages: &[ImpairmentSpec], mtu: u32, seed: impl Fn(u16) -> Seed) -> Result<Chain, LinkError> {
    if stages.len() >= usize::from(u16::MAX) {
        return Err(at.error(format!("{} impairments are more than a chain may have", stages.len())));
    }
    let stages = (0..).zip(stages).map(|(index, stage)| impairment(stage, mtu, seed(index), &at.index(index.into())));
    Ok(Chain::new(stages.collect::<Result<_, _>>()?))
}

fn impairment(spec: &ImpairmentSpec, mtu: u32, seed: Seed, at: &Place) -> Stage {
    let random = |share: f64, of_draws: f64| -> Result<_, LinkError> {
        Ok((probability(share, &at.key("probability"))?, correlation(of_draws, at)?))
    };
    match spec {
        ImpairmentSpec::Delay { delay_ns, jitter, correlation: of_draws, overtaking } => {
            let (delay, of_draws) = (Duration::from_nanos(*delay_ns), correlation(*of_draws, at)?);
            let stage = match jitter {
                None => Delay::constant(delay),
                Some(jitter) => Delay::with_jitter(delay, spread(jitter, &at.key("jitter"))?, of_draws, seed),
            };
            Ok(Box::new(if *overtaking { stage.overtaking() } else { stage }))
        }
        ImpairmentSpec::Loss { probability, correlation } => losses::independent(*probability, *correlation, seed, at),
        ImpairmentSpec::FourState { p13, p31, p32, p23, p14 } => {
            losses::four_state([*p13, *p31, *p32, *p23, *p14], seed, at)
        }
        ImpairmentSpec::Markov { transitions, loss } => losses::markov(transitions, loss, seed, at),
        ImpairmentSpec::LossPattern { pattern, repeat } => losses::loss_pattern(pattern, *repeat, &at.key("pattern")),
        ImpairmentSpec::GilbertElliott { p, r, bad_loss, good_loss } => {
            losses::gilbert_elliott([*p, *r, *bad_loss, *good_loss], seed, at)
        }
        ImpairmentSpec::GilbertElliottTime { good_ns, bad_ns, bad_loss, good_loss } => {
            losses::gilbert_elliott_time([*good_ns, *bad_ns], [*bad_loss, *good_loss], seed, at)
        }
        ImpairmentSpec::Reorder { probability, by_ns, correlation } => {
            let (share, of_draws) = random(*probability, *correlation)?;
            Ok(Box::new(Reorder::new(share, Duration::from_nanos(*by_ns), of_draws, seed)))
        }
        ImpairmentSpec::Duplicate { probability, correlation } => {
            let (share, of_draws) = random(*probability, *correlation)?;
            Ok(Box::new(Duplicate::new(share, of_draws, seed)))
        }
        ImpairmentSpec::Corrupt { probability, correlation } => {
            let (share, of_draws) = random(*probability, *correlation)?;
            Ok(Box::new(Corrupt::new(share, of_draws, seed)))
        }
        ImpairmentSpec::Rate { rate_bps, queue, overhead_bytes } => {
            rates::queued(Rate::new(rate(*rate_bps, at)?), queue, *overhead_bytes, at)
        }
        ImpairmentSpec::TokenBucket { rate_bps, burst_bytes, queue, overhead_bytes } => {
            let largest = u64::from(mtu) + u64::from(*overhead_bytes);
            rates::queued(rates::token_bucket(*rate_bps, *burst_bytes, largest, at)?, queue, *overhead_bytes, at)
        }
        ImpairmentSpec::DeliveryTrace { opportunities_ms, queue, overhead_bytes } => {
            let trace = rates::delivery_trace(opportunities_ms, &at.key("opportunities_ms"))?;
            rates::queued(trace, queue, *overhead_bytes, at)
        }
        ImpairmentSpec::DutyCycle { rate_bps, share, queue, overhead_bytes } => {
            rates::queued(rates::duty_cycle(*rate_bps, *share, at)?, queue, *overhead_bytes, at)
        }
        ImpairmentSpec::Schedule { points, repeat_ns, queue, overhead_bytes } => {
            let schedule = rates::schedule(points, *repeat_ns, at)?;
            let queue = rates::queue(queue, &at.key("queue"))?;
            Ok(Box::new(schedule.into_chain(queue, overhead(*overhead_bytes, at)?, seed)))
        }
        ImpairmentSpec::Outage { start_ns, duration_ns, every_ns, hold_bytes } => {
            rates::outage(*start_ns, *duration_ns, *every_ns, *hold_bytes, at)
        }
    }
}

fn spread(spec: &JitterSpec, at: &Place) -> Result<Jitter, LinkError> {
    Ok(match spec {
        JitterSpec::Normal { sigma_ns } => Jitter::Normal { sigma: Duration::from_nanos(*sigma_ns) },
        JitterSpec::Uniform { half_width_ns } => Jitter::Uniform { half_width: Duration::from_nanos(*half_width_ns) },
        JitterSpec::Pareto { sigma_ns } => Jitter::Pareto { sigma: Duration::from_nanos(*sigma_ns) },
        JitterSpec::ParetoNormal { sigma_ns } => Jitter::ParetoNormal { sigma: Duration::from_nanos(*sigma_ns) },
        JitterSpec::Table { offsets_ns } => {
            let at = at.key("offsets_ns");
            ascending(offsets_ns, &at)?;
            Jitter::Table(Quantiles::new(offsets_ns.clone()).map_err(|what| at.error(what))?)
        }
    })
}

#[cfg(test)]
pub mod tests;
