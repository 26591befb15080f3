//! A packet as impairments see it: port, size, flow, ends and stamps. Its headers are not read.

use std::net::SocketAddr;
use std::time::Duration;

use crate::Instant;

/// Where a packet entered a link. It tells the host and, with it, the direction: even on the near side (the client's), odd on the far one (the
/// server's), counted from 0 and 1 on each link by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortId(pub u16);

impl PortId {
    /// The direction of packets that enter here.
    pub const fn direction(self) -> Direction {
        if self.0.is_multiple_of(2) { Direction::Uplink } else { Direction::Downlink }
    }

    /// Who sends a packet that entered here on a medium: on the near side every host by itself, for the whole far side the access point.
    pub(crate) const fn station(self) -> Self {
        match self.direction() {
            Direction::Uplink => self,
            Direction::Downlink => Self(1),
        }
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

/// The transport flow that a packet belongs to, as the caller states it: this crate reads no headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flow {
    /// A hash of addresses, protocol and ports, the same for both directions and on every machine.
    pub id: u64,
    /// What it runs over.
    pub transport: Transport,
}

/// The protocol above IP, as far as a link cares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Transport {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
    /// Anything else, or unknown.
    #[default]
    Other,
}

/// Where a packet comes from and goes to, as the caller states it: this crate reads no headers. Port 0 is that of what has none.
///
/// Of an ICMP error they are the ends of the packet that it tells of, turned around: as if that packet were answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ends {
    /// Its sender.
    pub source: SocketAddr,
    /// Its receiver.
    pub destination: SocketAddr,
    /// What it is between them.
    pub carries: Carries,
}

/// What a packet is to an address translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Carries {
    /// A datagram, or what belongs to no connection.
    Datagram,
    /// A segment of TCP.
    Segment(TcpFlags),
    /// What uses a mapping and makes none: an ICMP error, and a later fragment of a segment.
    Related,
}

/// Flags of a segment of TCP that open, close or break its connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TcpFlags {
    /// It opens the connection.
    pub syn: bool,
    /// It is the sender's last.
    pub fin: bool,
    /// It resets the connection.
    pub rst: bool,
}

/// A packet on its way through a link. Impairments look at `size`, `port`, `flow` and `ends` only; `data` is carried untouched (it may be empty in a
/// replay): the caller inverts `corrupted_bit` in it, and gives it its `translated` end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Order of arrival at the link, from 0; leads from an outcome to its packet.
    pub sequence: u64,
    /// Where it entered.
    pub port: PortId,
    /// IP bytes, without the Ethernet header.
    pub size: u32,
    /// When it entered the link (not the present stage). [`Link`](crate::Link) sets it.
    pub arrival: Instant,
    /// Its flow.
    pub flow: Flow,
    /// Its ends as it came; none if the caller cannot tell them. In a box, as few links translate: every stage moves packets.
    pub ends: Option<Box<Ends>>,
    /// What an address translation put in place of one of them: of the source of an uplink packet, of the destination of a downlink one.
    pub translated: Option<Box<SocketAddr>>,
    /// The link made it: a reset, which has the `sequence` and the frame of the segment that it answers.
    pub originated: bool,
    /// A copy that the link made; it has the `sequence` of its original.
    pub copy: bool,
    /// The bit that was inverted, counted from the first of the IP header.
    pub corrupted_bit: Option<u32>,
    /// How long the last rate that it passed was sending it; 0 before any.
    pub airtime: Duration,
    /// The frame, with its Ethernet header.
    pub data: Vec<u8>,
}

impl Packet {
    /// One as it comes to a link, which has done nothing to it yet. Without bytes, as in a replay; set `data` for others.
    pub fn new(sequence: u64, port: PortId, size: u32, arrival: Instant, flow: Flow) -> Self {
        Self {
            sequence,
            port,
            size,
            arrival,
            flow,
            ends: None,
            translated: None,
            originated: false,
            copy: false,
            corrupted_bit: None,
            airtime: Duration::ZERO,
            data: Vec::new(),
        }
    }
}

/// Why an impairment dropped a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DropCause {
    /// Loss that was asked for.
    Loss,
    /// A bounded queue was full.
    QueueFull,
    /// Active queue management kept the standing queue short.
    Aqm,
    /// There was no link.
    Outage,
    /// The link layer gave up after its last retry, or found no free air.
    Retries,
    /// No address mapping was left.
    Nat,
}

impl DropCause {
    /// All, in the order in which reports list them.
    pub const ALL: [Self; 6] = [Self::Loss, Self::QueueFull, Self::Aqm, Self::Outage, Self::Retries, Self::Nat];

    /// Position in [`DropCause::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }
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
