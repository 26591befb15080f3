//! Descriptions of links: JSON, and the link that one builds. What a stage's keys mean stands in the stage's own file.

mod choices;
mod place;
pub(crate) mod values;
pub(crate) mod words;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::choices::Choices;
pub use self::place::{Place, SpecError};
pub use crate::impairment::{ImpairmentSpec, JitterSpec, MediumSpec, NatSpec, RadioSpec, SchedulePoint, SleepSpec};
use crate::impairment::{MEDIUM, SharedStage};
pub use crate::queue::QueueSpec;
use crate::{Chain, Direction, Link, Seed};

/// MTU of a link without an `mtu`.
const MTU: u32 = 1500;

/// An emulated path between hosts of a slot: one chain of impairments per direction, which all hosts of a side share.
///
/// `uplink` carries packets from the near side (the client's) to the far one (the server's), `downlink` the other way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// Impairments that packets from client to server pass, in this order.
    pub uplink: Vec<ImpairmentSpec>,
    /// Impairments that packets from server to client pass, in this order.
    pub downlink: Vec<ImpairmentSpec>,
    /// A stage that both directions share (half-duplex air, a gateway's bottleneck); passed after the direction's own chain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub medium: Option<MediumSpec>,
    /// Sleep of the client's radio, which both directions share: uplink packets pass it before their chain, downlink packets after theirs. Only
    /// if the client is alone on its side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radio: Option<RadioSpec>,
    /// Address translation at the far end of the path: uplink packets pass it after everything else, downlink packets before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nat: Option<NatSpec>,
    /// MTU of the endpoints' interfaces, IP bytes: the kernel fragments (IPv4, RFC 791; IPv6, RFC 8200) and TCP announces its MSS as on any such
    /// interface. Absent means that of the campaign.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu: Option<u32>,
    /// Family of the addresses that the endpoints use. Absent means IPv4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<AddressFamily>,
    /// What runs it. Absent means Wirelab's own emulator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<LinkBackend>,
}

/// What delays, drops and holds back a link's packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LinkBackend {
    /// The link process. Its packet log says of each packet whether it was delivered or dropped, and when.
    #[default]
    Wirelab,
    /// The kernel's netem and tbf, after the link process, which passes on every packet immediately: its packet log says what entered netem, and a
    /// trial's report counts what netem did.
    Netem,
}

/// A version of IP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AddressFamily {
    /// RFC 791.
    #[default]
    Ipv4,
    /// RFC 8200. Needs an MTU of at least 1280.
    Ipv6,
}

impl LinkSpec {
    /// The link, its generators seeded by `seed`: each impairment's by its direction and its place in the chain, those of shared stages by places
    /// beyond every chain. Of a link that netem runs, this is what the description would be without netem.
    pub fn build(&self, seed: u64) -> Result<Link, SpecError> {
        let chain = |name, direction, stages| {
            self.chain(Place::new(name), stages, |index| Seed { link: seed, direction, index })
        };
        let uplink = chain("uplink", Direction::Uplink, &self.uplink)?;
        let downlink = chain("downlink", Direction::Downlink, &self.downlink)?;
        self.shared().into_iter().try_fold(Link::new(uplink, downlink), |link, (key, stage)| {
            let seed = Seed { link: seed, direction: Direction::Uplink, index: stage.seed_index() };
            Ok(link.with(stage.build(seed, &Place::new(key))?))
        })
    }

    /// The stages that both directions share, from the near end to the far end, each with its key.
    pub fn shared(&self) -> Vec<(&'static str, SharedStage)> {
        let radio = self.radio.clone().map(|spec| ("radio", spec.into()));
        let medium = self.medium.clone().map(|spec| (MEDIUM, spec.into()));
        let nat = self.nat.clone().map(|spec| ("nat", spec.into()));
        [radio, medium, nat].into_iter().flatten().collect()
    }

    /// True if the kernel's netem runs the link.
    pub fn is_netem(&self) -> bool {
        self.backend == Some(LinkBackend::Netem)
    }

    /// True if a packet's outcome depends on its flow.
    pub fn tells_flows_apart(&self) -> bool {
        let fair = |stage: &ImpairmentSpec| stage.queue().is_some_and(QueueSpec::tells_flows_apart);
        self.shared().iter().any(|(_, stage)| stage.facts().tells_flows_apart)
            || self.uplink.iter().chain(&self.downlink).any(fair)
    }

    fn chain(&self, at: Place, stages: &[ImpairmentSpec], seed: impl Fn(u16) -> Seed) -> Result<Chain, SpecError> {
        if stages.len() > usize::from(SharedStage::LOWEST_SEED_INDEX) {
            return Err(at.error(format!("{} impairments are more than a chain may have", stages.len())));
        }
        let mtu = self.mtu.unwrap_or(MTU);
        let build = |(index, stage): (u16, &ImpairmentSpec)| {
            let at = at.index(index.into());
            let built = stage.build(seed(index), &at)?;
            stage.check_mtu(mtu, &at).map(|()| built)
        };
        Ok(Chain::new((0..).zip(stages).map(build).collect::<Result<_, _>>()?))
    }
}
