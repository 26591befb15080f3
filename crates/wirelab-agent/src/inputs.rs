//! What the agent makes of bytes that others wrote, without files, processes and namespaces. Any bytes are read or refused; none make it panic.

use anyhow::Result;
use wirelab_capture::log_file::Log;
use wirelab_net::link::Link;
use wirelab_schema::{LinkSpec, ReplayReport};

use crate::link::LinkCommand;
use crate::{link_chain, replay as verb};

/// The link of a description, a `LinkSpec` in JSON, and whether it tells flows apart.
pub fn link(json: &[u8], seed: u64) -> Result<(Link, bool)> {
    let spec: LinkSpec = serde_json::from_slice(json)?;
    Ok((link_chain::build(&spec, seed)?, spec.tells_flows_apart()))
}

/// Whether this is an order to the link process, a line of its stdin.
pub fn is_order(line: &[u8]) -> Result<()> {
    serde_json::from_slice::<LinkCommand>(line)?;
    Ok(())
}

/// As `wirelab-agent replay` prints what comes of a log.
pub fn replay(log: &Log) -> Result<ReplayReport> {
    verb::of("log".to_owned(), log)
}
