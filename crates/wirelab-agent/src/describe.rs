//! `describe`: every registered protocol, setting and impairment as JSON.

use std::process::ExitCode;

use wirelab_net::link::impairment::Kind;
use wirelab_net::link::{IMPAIRMENTS, SHARED};
use wirelab_schema::{Description, ImpairmentDescription, SCHEMA_VERSION};
use wirelab_stacks::STACKS;

#[derive(clap::Args)]
pub struct Arguments {}

pub fn run(_arguments: Arguments) -> ExitCode {
    println!("{}", serde_json::to_string_pretty(&description()).expect("plain data"));
    ExitCode::SUCCESS
}

/// Everything registered, in the registries' order.
pub fn description() -> Description {
    Description {
        schema_version: SCHEMA_VERSION,
        protocols: STACKS.iter().map(|stack| stack.descriptor()).collect(),
        impairments: paragraphs(IMPAIRMENTS),
        shared: paragraphs(SHARED),
    }
}

fn paragraphs<S>(kinds: &[Kind<S>]) -> Vec<ImpairmentDescription> {
    let paragraph = |kind: &Kind<S>| ImpairmentDescription {
        kind: kind.name.to_owned(),
        about: kind.about.to_owned(),
        slot: kind.slot,
    };
    kinds.iter().map(paragraph).collect()
}

#[cfg(test)]
mod tests {
    use wirelab_net::topology::LOWEST_CLIENT_PORT;

    use super::*;

    #[test]
    fn every_servers_port_is_below_those_of_clients() {
        for protocol in description().protocols {
            assert!(protocol.default_port < LOWEST_CLIENT_PORT, "{}", protocol.name);
        }
    }
}
