//! What the agent makes of bytes that others wrote, without files, processes and namespaces. Any bytes are read or refused; none make it panic.

use anyhow::Result;
use wirelab_net::capture;
use wirelab_net::link::Link;
use wirelab_schema::{CapturedPacket, DissectedPacket, Flow, LinkSpec, RadioPacket, ReplayReport};

use crate::link::LinkCommand;
use crate::log_file::Log;
use crate::{dissect, link_chain, log_file, replay};

/// The link of a description, a `LinkSpec` in JSON, and whether it tells flows apart.
pub fn link(json: &[u8], seed: u64) -> Result<(Link, bool)> {
    let spec: LinkSpec = serde_json::from_slice(json)?;
    Ok((link_chain::build(&spec, seed)?, link_chain::tells_flows_apart(&spec)))
}

/// Whether this is an order to the link process, a line of its stdin.
pub fn is_order(line: &[u8]) -> Result<()> {
    serde_json::from_slice::<LinkCommand>(line)?;
    Ok(())
}

/// A packet log.
pub struct PacketLog(Log);

impl PacketLog {
    /// Read a whole log.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        log_file::parse(bytes).map(Self)
    }

    /// As `wirelab-agent dissect` prints its packets.
    pub fn packets(&self) -> impl Iterator<Item = DissectedPacket> {
        dissect::packets(&self.0)
    }

    /// As `wirelab-agent dissect --flows` prints its flows.
    pub fn flows(&self) -> Vec<Flow> {
        dissect::flows("log", &self.0)
    }

    /// As `wirelab-agent dissect --radio` prints what a host's radio saw.
    pub fn radio(&self, host: &str) -> Result<Vec<RadioPacket>> {
        dissect::radio::packets("log", &self.0, host)
    }

    /// As `wirelab-agent replay` prints what comes of it.
    pub fn replay(&self) -> Result<ReplayReport> {
        replay::replay("log".to_owned(), &self.0)
    }
}

/// As `wirelab-agent capture` prints the packets of a capture.
pub fn capture(bytes: &[u8]) -> Result<Vec<CapturedPacket>> {
    Ok(crate::capture::rows(&capture::read(std::io::Cursor::new(bytes))?.packets).collect())
}
