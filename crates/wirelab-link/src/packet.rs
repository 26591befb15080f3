use crate::Instant;

/// Where a packet entered a link: an index into the link process's port table. It tells the host and, with it, the direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortId(pub u16);

/// A packet on its way through a link. The chain looks at `size` and `port` only; `data` is carried untouched (empty in a replay).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Order of arrival at the link, from 0; leads from a fate to its packet.
    pub sequence: u64,
    /// Where it entered.
    pub port: PortId,
    /// IP bytes, without the Ethernet header.
    pub size: u32,
    /// When it entered the link (not the present stage).
    pub arrival: Instant,
    /// The frame, with its Ethernet header.
    pub data: Vec<u8>,
}

/// Why an impairment dropped a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DropCause {
    /// Random loss.
    Loss,
    /// A bounded queue was full.
    QueueFull,
}

/// A packet that an impairment dropped, with the instant at which it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// The packet.
    pub packet: Packet,
    /// When.
    pub at: Instant,
    /// Why.
    pub cause: DropCause,
}
