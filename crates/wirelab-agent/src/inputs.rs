//! The agent's parsers of bytes from outside, without files, processes and namespaces. Any bytes are read or refused; none cause a panic.

use anyhow::Result;
use wirelab_net::link::Link;
use wirelab_schema::LinkSpec;

use crate::link::LinkOp;
use crate::link_chain;

/// The link of a description, a `LinkSpec` in JSON, and whether it tells flows apart.
pub fn link(json: &[u8], seed: u64) -> Result<(Link, bool)> {
    let spec: LinkSpec = serde_json::from_slice(json)?;
    Ok((link_chain::build(&spec, seed)?, spec.tells_flows_apart()))
}

/// Whether this is an order to the link process, a line of its stdin.
pub fn is_order(line: &[u8]) -> Result<()> {
    serde_json::from_slice::<LinkOp>(line)?;
    Ok(())
}
