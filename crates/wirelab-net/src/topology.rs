//! The namespaces of a campaign: one for the link process, and for each lane one for the client and one for the server.
//!
//! ```text
//! client --(c0 = c0-link)-- link process --(s0-link = s0)-- server
//! ```
//!
//! Every lane has the same addresses, for its namespaces keep it apart: [`IPV4`] and, where the kernel has it, [`IPV6`]. Neighbours are static,
//! and no address is asked for, assigned or announced by itself, so that nothing but the endpoints' own packets enters a link.

mod direct;
mod netlink;
mod offload;
mod single;
mod sysctl;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::AsFd;

use crate::namespace::NetNamespace;
use crate::{Error, socket::PacketSocket};

pub use direct::DirectVeth;
pub use single::{SingleLink, depth};

/// Addresses of both hosts of a lane, of one family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// The client's.
    pub client: IpAddr,
    /// The server's.
    pub server: IpAddr,
}

/// The IPv4 addresses of every lane.
pub const IPV4: Addresses =
    Addresses { client: IpAddr::V4(Ipv4Addr::new(10, 77, 0, 1)), server: IpAddr::V4(Ipv4Addr::new(10, 77, 0, 2)) };
/// The IPv6 addresses of every lane, unique local ones (RFC 4193).
pub const IPV6: Addresses = Addresses {
    client: IpAddr::V6(Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 1)),
    server: IpAddr::V6(Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 2)),
};

const CLIENT_MAC: [u8; 6] = [0x02, 0, 0, 0x77, 0, 0x01];
const SERVER_MAC: [u8; 6] = [0x02, 0, 0, 0x77, 0, 0x02];

/// The namespaces of a campaign. They vanish when this is dropped and no process is in them.
#[derive(Debug)]
pub struct Topology {
    link: NetNamespace,
    lanes: Vec<LaneNamespaces>,
    settings: BTreeMap<String, String>,
    ipv6: Result<(), Error>,
}

/// The namespaces of one lane.
#[derive(Debug)]
pub struct LaneNamespaces {
    /// Where the client runs.
    pub client: NetNamespace,
    /// Where the server runs.
    pub server: NetNamespace,
    index: usize,
}

/// One side of a lane.
struct Side<'a> {
    namespace: &'a NetNamespace,
    interface: String,
    mac: [u8; 6],
    peer_mac: [u8; 6],
}

/// An address of a side, and the other side's.
#[derive(Clone, Copy)]
struct Pair {
    own: IpAddr,
    peer: IpAddr,
}

impl Topology {
    /// Make it all.
    pub fn create(lanes: usize, mtu: u32, offloads: bool) -> Result<Self, Error> {
        let link = NetNamespace::create()?;
        link.run(|| {
            sysctl::without_ipv6();
            Ok(())
        })?;
        let mut settings = BTreeMap::new();
        let mut ipv6 = Ok(());
        let lanes = (0..lanes).map(|index| {
            let lane = LaneNamespaces::create(index)?;
            for side in [lane.client_side(), lane.server_side()] {
                settings.extend(side.create(&link, mtu, offloads)?);
            }
            lane.set_addresses(IPV4, None)?;
            // A kernel without IPv6 is no reason to do without the lane.
            if ipv6.is_ok() {
                ipv6 = lane.set_addresses(IPV6, None);
            }
            Ok(lane)
        });
        let lanes = lanes.collect::<Result<_, Error>>()?;
        settings.insert("interface.mtu".into(), mtu.to_string());
        settings.insert("route.initcwnd".into(), "kernel default (10 segments)".into());
        settings.insert("ipv6".into(), ipv6.as_ref().map_or_else(|error| format!("none: {error}"), |()| "on".into()));
        Ok(Self { link, lanes, settings, ipv6 })
    }

    /// Where the link process runs.
    pub fn link(&self) -> &NetNamespace {
        &self.link
    }

    /// By index.
    pub fn lanes(&self) -> &[LaneNamespaces] {
        &self.lanes
    }

    /// Why the lanes have no [`IPV6`] addresses, if they have none: a kernel without IPv6, or an MTU below its least.
    pub fn ipv6(&self) -> Result<(), &Error> {
        self.ipv6.as_ref().copied()
    }

    /// Kernel settings of the lanes, read back.
    pub fn settings(&self) -> &BTreeMap<String, String> {
        &self.settings
    }
}

impl LaneNamespaces {
    fn create(index: usize) -> Result<Self, Error> {
        Ok(Self { client: NetNamespace::create()?, server: NetNamespace::create()?, index })
    }

    /// Give both hosts these addresses and the routes between them, with TCP's congestion control pinned if one is given: in a form that no
    /// socket option overrides by accident (`ip route … congctl lock NAME`). What they have already stays.
    pub fn set_addresses(&self, addresses: Addresses, congestion_control: Option<&str>) -> Result<(), Error> {
        let Addresses { client, server } = addresses;
        self.client_side().set_addresses(Pair { own: client, peer: server }, congestion_control)?;
        self.server_side().set_addresses(Pair { own: server, peer: client }, congestion_control)
    }

    /// Set the MTU of the endpoints' interfaces, IP bytes, from [`least_mtu`] to that with which the lanes were made. Below the least of IPv6
    /// the kernel takes the IPv6 addresses away, and [`set_addresses`](Self::set_addresses) gives them back.
    pub fn set_mtu(&self, mtu: u32) -> Result<(), Error> {
        let sides = [self.client_side(), self.server_side()];
        sides.iter().try_for_each(|side| side.namespace.run(|| netlink::mtu(&side.interface, mtu)))
    }

    /// Packets that the endpoints' interfaces dropped before the link process could see them, since they were made.
    pub fn dropped(&self) -> Result<u64, Error> {
        let sides = [self.client_side(), self.server_side()];
        sides.iter().map(|side| side.namespace.run(|| netlink::dropped(&side.interface))).sum()
    }

    fn client_side(&self) -> Side<'_> {
        let interface = format!("c{}", self.index);
        Side { namespace: &self.client, interface, mac: CLIENT_MAC, peer_mac: SERVER_MAC }
    }

    fn server_side(&self) -> Side<'_> {
        let interface = format!("s{}", self.index);
        Side { namespace: &self.server, interface, mac: SERVER_MAC, peer_mac: CLIENT_MAC }
    }
}

/// The least MTU of an interface with this address: 68 for IPv4 (RFC 791 section 3.2), 1280 for IPv6 (RFC 8200 section 5).
pub const fn least_mtu(address: IpAddr) -> u32 {
    if address.is_ipv4() { 68 } else { 1280 }
}

/// Open the link's two sockets of a lane, client's side first. For the link process, inside its namespace.
pub fn open_ports(lane: usize, mtu: u32, offloads: bool) -> Result<[PacketSocket; 2], Error> {
    let client = PacketSocket::open(&format!("c{lane}-link"), mtu, offloads)?;
    Ok([client, PacketSocket::open(&format!("s{lane}-link"), mtu, offloads)?])
}

impl Side<'_> {
    /// The link's end of the veth.
    fn outer(&self) -> String {
        format!("{}-link", self.interface)
    }

    /// Make the veth, both ends, and everything the endpoint's end needs but addresses. Returns settings read back.
    fn create(&self, link: &NetNamespace, mtu: u32, offloads: bool) -> Result<BTreeMap<String, String>, Error> {
        self.namespace.run(|| {
            sysctl::quiet_ipv6();
            Ok(())
        })?;
        let outer = self.outer();
        link.run(|| {
            netlink::create_veth(&outer, &self.interface, self.namespace.as_fd(), self.mac, mtu)?;
            offload::set(&outer, offloads)?;
            netlink::up(&outer)
        })?;
        self.bring_up(offloads)
    }

    /// Everything that an interface of an endpoint needs but addresses. Returns settings read back.
    fn bring_up(&self, offloads: bool) -> Result<BTreeMap<String, String>, Error> {
        self.namespace.run(|| {
            netlink::up("lo")?;
            let mut settings = sysctl::set_and_read(&self.interface);
            offload::set(&self.interface, offloads)?;
            settings.extend(offload::read(&self.interface)?);
            netlink::up(&self.interface)?;
            Ok(settings)
        })
    }

    /// See [`LaneNamespaces::set_addresses`].
    fn set_addresses(&self, Pair { own, peer }: Pair, congestion_control: Option<&str>) -> Result<(), Error> {
        self.namespace.run(|| {
            netlink::address(&self.interface, own)?;
            netlink::neighbour(&self.interface, peer, self.peer_mac)?;
            netlink::route(&self.interface, own, peer, congestion_control)
        })
    }
}
