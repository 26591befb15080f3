//! Builds a link from its description.

use std::num::NonZeroU64;
use std::time::Duration;

use wirelab_net::link::impairment::{
    Delay, GilbertElliott, GilbertElliottTime, Independent, Jitter, Lossy, Medium, Rate, SHORTEST_SOJOURN,
};
use wirelab_net::link::{Chain, Direction, Impairment, Link, Probability, Seed};
use wirelab_schema::{ImpairmentSpec, JitterSpec, LinkSpec, MediumSpec};

/// What a link's description says that no link can do.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("{at}: {what}")]
pub struct LinkError {
    /// Where, for example `uplink[1].p`.
    at: String,
    /// What is wrong, with the value.
    what: String,
}

/// The link that `spec` describes, its generators seeded by `seed`, each impairment's by its direction and its place in the chain.
pub fn build(spec: &LinkSpec, seed: u64) -> Result<Link, LinkError> {
    let chain = |name, direction, stages| chain(name, stages, |index| Seed { link: seed, direction, index });
    let uplink = chain("uplink", Direction::Uplink, &spec.uplink)?;
    let downlink = chain("downlink", Direction::Downlink, &spec.downlink)?;
    let medium = spec.medium.as_ref().map(medium).transpose()?;
    Ok(Link::new(uplink, downlink, medium))
}

fn chain(name: &str, stages: &[ImpairmentSpec], seed: impl Fn(u16) -> Seed) -> Result<Chain, LinkError> {
    let stages = (0..).zip(stages).map(|(index, stage)| impairment(stage, seed(index), &format!("{name}[{index}]")));
    Ok(Chain::new(stages.collect::<Result<_, _>>()?))
}

fn impairment(spec: &ImpairmentSpec, seed: Seed, at: &str) -> Result<Box<dyn Impairment>, LinkError> {
    Ok(match spec {
        ImpairmentSpec::Delay { delay_ns, jitter: None } => Box::new(Delay::constant(Duration::from_nanos(*delay_ns))),
        ImpairmentSpec::Delay { delay_ns, jitter: Some(jitter) } => {
            Box::new(Delay::with_jitter(Duration::from_nanos(*delay_ns), spread(jitter), seed))
        }
        ImpairmentSpec::Loss { probability } => {
            Box::new(Lossy::new(Independent::new(fraction(*probability, at, "probability")?, seed)))
        }
        ImpairmentSpec::GilbertElliott { p, r, bad_loss, good_loss } => Box::new(Lossy::new(GilbertElliott::new(
            fraction(*p, at, "p")?,
            fraction(*r, at, "r")?,
            fraction(*bad_loss, at, "bad_loss")?,
            fraction(*good_loss, at, "good_loss")?,
            seed,
        ))),
        ImpairmentSpec::GilbertElliottTime { good_ns, bad_ns, bad_loss, good_loss } => {
            Box::new(Lossy::new(GilbertElliottTime::new(
                sojourn(*good_ns, at, "good_ns")?,
                sojourn(*bad_ns, at, "bad_ns")?,
                fraction(*bad_loss, at, "bad_loss")?,
                fraction(*good_loss, at, "good_loss")?,
                seed,
            )))
        }
        ImpairmentSpec::Rate { rate_bps, queue_bytes, overhead_bytes } => {
            Box::new(Rate::new(rate(*rate_bps, at)?, *queue_bytes, *overhead_bytes))
        }
    })
}

fn medium(spec: &MediumSpec) -> Result<Medium, LinkError> {
    Ok(Medium::new(rate(spec.rate_bps, "medium")?, spec.queue_bytes, spec.overhead_bytes))
}

fn spread(spec: &JitterSpec) -> Jitter {
    match spec {
        JitterSpec::Normal { sigma_ns } => Jitter::Normal { sigma: Duration::from_nanos(*sigma_ns) },
        JitterSpec::Uniform { half_width_ns } => Jitter::Uniform { half_width: Duration::from_nanos(*half_width_ns) },
    }
}

fn fraction(value: f64, at: &str, key: &str) -> Result<Probability, LinkError> {
    let error = || LinkError { at: format!("{at}.{key}"), what: format!("{value} is not a probability (0 to 1)") };
    Probability::new(value).ok_or_else(error)
}

fn sojourn(nanoseconds: u64, at: &str, key: &str) -> Result<Duration, LinkError> {
    let mean = Duration::from_nanos(nanoseconds);
    if mean < SHORTEST_SOJOURN {
        let what = format!("a mean sojourn of {mean:?} is shorter than {SHORTEST_SOJOURN:?}");
        return Err(LinkError { at: format!("{at}.{key}"), what });
    }
    Ok(mean)
}

fn rate(rate_bps: u64, at: &str) -> Result<NonZeroU64, LinkError> {
    let error = || LinkError { at: format!("{at}.rate_bps"), what: "a rate of 0 bit/s sends nothing".to_owned() };
    NonZeroU64::new(rate_bps).ok_or_else(error)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use wirelab_net::link::IMPAIRMENTS;

    use super::*;

    fn one_of_each() -> Vec<ImpairmentSpec> {
        vec![
            ImpairmentSpec::Delay { delay_ns: 1, jitter: Some(JitterSpec::Uniform { half_width_ns: 1 }) },
            ImpairmentSpec::Loss { probability: 0.1 },
            ImpairmentSpec::GilbertElliott { p: 0.01, r: 0.1, bad_loss: 0.7, good_loss: 0.001 },
            ImpairmentSpec::GilbertElliottTime { good_ns: 1_000_000, bad_ns: 1_000_000, bad_loss: 0.7, good_loss: 0.0 },
            ImpairmentSpec::Rate { rate_bps: 1_000_000, queue_bytes: 10_000, overhead_bytes: 14 },
        ]
    }

    fn error(stage: ImpairmentSpec) -> String {
        let spec =
            LinkSpec { uplink: vec![], downlink: vec![ImpairmentSpec::Loss { probability: 0.5 }, stage], medium: None };
        build(&spec, 1).expect_err("no link can do this").to_string()
    }

    #[test]
    fn every_impairment_of_the_schema_is_registered_and_no_other() {
        let schema = serde_json::to_value(schemars::schema_for!(ImpairmentSpec)).unwrap();
        let variants = schema["oneOf"].as_array().unwrap();
        let kinds: BTreeSet<_> =
            variants.iter().map(|variant| variant["properties"]["kind"]["const"].as_str().unwrap()).collect();
        let registered: BTreeSet<_> = IMPAIRMENTS.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds, registered);
        assert_eq!(IMPAIRMENTS.len(), registered.len());
        assert!(IMPAIRMENTS.iter().all(|(_, about)| about.len() > 80));
    }

    #[test]
    fn a_link_with_every_impairment_is_built() {
        let medium = Some(MediumSpec { rate_bps: 1, queue_bytes: 0, overhead_bytes: 0 });
        assert!(build(&LinkSpec { uplink: one_of_each(), downlink: one_of_each(), medium }, 1).is_ok());
    }

    #[test]
    fn what_no_link_can_do_is_refused_with_its_place_and_value() {
        assert_eq!(
            error(ImpairmentSpec::Loss { probability: 1.5 }),
            "downlink[1].probability: 1.5 is not a probability (0 to 1)"
        );
        assert_eq!(
            error(ImpairmentSpec::Loss { probability: f64::NAN }),
            "downlink[1].probability: NaN is not a probability (0 to 1)"
        );
        let elliott = |p, r, bad_loss, good_loss| error(ImpairmentSpec::GilbertElliott { p, r, bad_loss, good_loss });
        assert_eq!(elliott(-0.1, 0.0, 0.0, 0.0), "downlink[1].p: -0.1 is not a probability (0 to 1)");
        assert_eq!(elliott(0.0, 0.0, 0.0, 70.0), "downlink[1].good_loss: 70 is not a probability (0 to 1)");
        let rate = ImpairmentSpec::Rate { rate_bps: 0, queue_bytes: 1, overhead_bytes: 0 };
        assert_eq!(error(rate), "downlink[1].rate_bps: a rate of 0 bit/s sends nothing");
        let time = ImpairmentSpec::GilbertElliottTime { good_ns: 1_000_000, bad_ns: 1, bad_loss: 0.1, good_loss: 0.1 };
        assert_eq!(error(time), "downlink[1].bad_ns: a mean sojourn of 1ns is shorter than 10µs");
    }

    #[test]
    fn a_medium_without_a_rate_is_refused() {
        let medium = Some(MediumSpec { rate_bps: 0, queue_bytes: 1, overhead_bytes: 0 });
        let error = build(&LinkSpec { uplink: vec![], downlink: vec![], medium }, 1).unwrap_err();
        assert_eq!(error.to_string(), "medium.rate_bps: a rate of 0 bit/s sends nothing");
    }
}
