//! Descriptions of links, as `wirelab-link` defines them, and the answer to the question what is known of one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use wirelab_link::facts::LinkFacts;
pub use wirelab_link::impairment::{
    CorruptSpec, DelaySpec, DeliveryTraceSpec, DuplicateSpec, DutyCycleSpec, FourStateSpec, GilbertElliottSpec,
    GilbertElliottTimeSpec, Ieee802154Spec, LossPatternSpec, LossSpec, MarkovSpec, OutageSpec, RateSpec, ReorderSpec,
    ScheduleSpec, SerialiserSpec, TokenBucketSpec, WifiSpec,
};
pub use wirelab_link::spec::{
    AddressFamily, ImpairmentSpec, JitterSpec, LinkBackend, LinkSpec, MediumSpec, NatSpec, QueueSpec, RadioSpec,
    SchedulePoint, SleepSpec,
};

/// What `wirelab-agent link-facts` answers to each [`LinkSpec`], one line each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum LinkAnswer {
    /// What is known of the link.
    Facts(Box<LinkFacts>),
    /// Why the link is refused.
    Refused(LinkRefusal),
}

/// Why the link is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkRefusal {
    /// Where in the description, for example `uplink[1].queue`; empty for all of it.
    pub at: String,
    /// `uplink` or `downlink`, if it is a stage of a direction's chain.
    pub direction: Option<String>,
    /// Which stage of the chain, from 0.
    pub stage: Option<usize>,
    /// The key of an experiment file's link that says it, for example `queue`; a stage that has no other key is said by its kind.
    pub key: String,
    /// What is wrong, with the value.
    pub what: String,
    /// What to write instead.
    pub hint: Option<String>,
}
