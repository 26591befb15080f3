use crate::Instant;

/// Where a packet entered a link. It tells the host and, with it, the direction: even on the client's side, odd on the server's. A lane's link
/// sees 0 and 1 only, whatever the link process's port table calls them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortId(pub u16);

impl PortId {
    /// The direction of packets that enter here.
    pub const fn direction(self) -> Direction {
        if self.0.is_multiple_of(2) { Direction::Uplink } else { Direction::Downlink }
    }
}

/// Which way a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// From client to server.
    Uplink,
    /// From server to client.
    Downlink,
}

impl Direction {
    /// Both, in the order in which reports list them.
    pub const ALL: [Self; 2] = [Self::Uplink, Self::Downlink];

    /// Position in [`Direction::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// A packet on its way through a link. The chain looks at `size` and `port` only; `data` is carried untouched (empty in a replay).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Order of arrival at the link, from 0; leads from a fate to its packet.
    pub sequence: u64,
    /// Where it entered.
    pub port: PortId,
    /// IP bytes, without the Ethernet header.
    pub size: u32,
    /// When it entered the link (not the present stage). [`Link`](crate::Link) sets it.
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
