//! What is known of a whole link: its directions, what they share, and the stages that packets pass in order.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Facts, Kept, SharedFacts};
use crate::Direction;
use crate::impairment::{MEDIUM, Position};
use crate::spec::{AddressFamily, ImpairmentSpec, LinkBackend, LinkSpec, words};

/// What is known of a link without sending a packet through it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkFacts {
    /// Where, and what happens there in people's words, from the client's radio to the far end.
    pub words: Vec<(String, String)>,
    /// From client to server.
    pub uplink: DirectionFacts,
    /// From server to client.
    pub downlink: DirectionFacts,
    /// What both directions share, from the near end to the far end.
    pub shared: Vec<SharedFacts>,
}

/// What is known of one direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DirectionFacts {
    /// Its own chain, stage by stage.
    pub stages: Vec<Facts>,
    /// All stages that a packet passes, in order, those shared by both directions included.
    pub path: Vec<Step>,
}

/// A stage on a packet's path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Where packets are counted that enter and do not leave, sorted.
    pub keeps: Vec<Kept>,
    /// True if it makes packets.
    pub copies: bool,
    /// True if it loses packets on purpose.
    pub loses: bool,
}

impl LinkFacts {
    /// What is known of a link that can be built.
    pub fn of(link: &LinkSpec) -> Self {
        let shared: Vec<(Position, SharedFacts)> =
            link.shared().into_iter().map(|(_, stage)| (stage.position(), stage.facts())).collect();
        let [uplink, downlink] = [(&link.uplink, Direction::Uplink), (&link.downlink, Direction::Downlink)]
            .map(|(chain, direction)| direction_facts(chain, direction, &shared));
        let words = link_words(link, [&uplink, &downlink], &shared);
        let shared: Vec<SharedFacts> = shared.into_iter().map(|(_, facts)| facts).collect();
        Self { words, uplink, downlink, shared }
    }
}

fn direction_facts(
    chain: &[ImpairmentSpec],
    direction: Direction,
    shared: &[(Position, SharedFacts)],
) -> DirectionFacts {
    let stages: Vec<Facts> = chain.iter().map(ImpairmentSpec::facts).collect();
    let at = |wanted| {
        let stages = shared.iter().filter(move |(position, _)| *position == wanted);
        stages.map(move |(_, facts)| Step {
            keeps: facts.keeps[direction.index()].clone(),
            copies: false,
            loses: false,
        })
    };
    let own = stages.iter().map(|stage| Step {
        keeps: stage.keeps.clone(),
        copies: stage.duplicated.is_some(),
        loses: stage.loss.is_some(),
    });
    let [first, last] = match direction {
        Direction::Uplink => [Position::Near, Position::Far],
        Direction::Downlink => [Position::Far, Position::Near],
    };
    let path = at(first).chain(own).chain(at(Position::Middle)).chain(at(last)).collect();
    DirectionFacts { stages, path }
}

fn link_words(
    link: &LinkSpec,
    ways: [&DirectionFacts; 2],
    shared: &[(Position, SharedFacts)],
) -> Vec<(String, String)> {
    let chain = |way: &DirectionFacts| match &way.stages[..] {
        [] => "nothing: packets pass without delay".to_owned(),
        stages => stages.iter().map(|stage| stage.words.as_str()).collect::<Vec<_>>().join(", then "),
    };
    let at = |wanted: fn(&Position) -> bool| {
        let stages = shared.iter().filter(move |(position, _)| wanted(position));
        stages.map(|(_, facts)| (if facts.key == MEDIUM { "shared" } else { facts.key.as_str() }, facts.words.clone()))
    };
    let [uplink, downlink] = ways;
    let mut found = Vec::new();
    found.extend(at(|position| *position == Position::Near));
    match link.uplink == link.downlink {
        true if uplink.stages.is_empty() => {}
        true => found.push(("each way", chain(uplink))),
        false => found.extend([("uplink", chain(uplink)), ("downlink", chain(downlink))]),
    }
    found.extend(at(|position| *position != Position::Near));
    found.extend(link.mtu.map(|mtu| ("mtu", format!("packets of at most {}", words::size(mtu.into())))));
    if link.family == Some(AddressFamily::Ipv6) {
        found.push(("family", "IPv6 addresses".to_owned()));
    }
    if found.is_empty() {
        found.push(("each way", chain(uplink)));
    }
    if link.backend == Some(LinkBackend::Netem) {
        found.push(("backend", "the kernel's netem".to_owned()));
    }
    found.into_iter().map(|(place, words)| (place.to_owned(), words)).collect()
}
