//! The namespaces of a campaign: one for the link process, and for each lane one for the client and one for the server.
//!
//! ```text
//! client --(c0 = c0-link)-- link process --(s0-link = s0)-- server
//! ```
//!
//! Every lane has the same addresses, for its namespaces keep it apart: [`CLIENT`] and [`SERVER`]. Neighbours are static and IPv6 is off on the
//! veths, so that nothing but the endpoints' own packets enters a link.

mod netlink;
mod offload;
mod single;
mod sysctl;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::AsFd;

use crate::namespace::NetNamespace;
use crate::{Error, socket::PacketSocket};

pub use single::{SingleLink, depth};

/// Address of the client in every lane.
pub const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 77, 0, 1));
/// Address of the server in every lane.
pub const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 77, 0, 2));

const CLIENT_MAC: [u8; 6] = [0x02, 0, 0, 0x77, 0, 0x01];
const SERVER_MAC: [u8; 6] = [0x02, 0, 0, 0x77, 0, 0x02];

/// The namespaces of a campaign. They vanish when this is dropped and no process is in them.
#[derive(Debug)]
pub struct Topology {
    link: NetNamespace,
    lanes: Vec<LaneNamespaces>,
    settings: BTreeMap<String, String>,
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
    address: IpAddr,
    mac: [u8; 6],
    peer: IpAddr,
    peer_mac: [u8; 6],
}

impl Topology {
    /// Make it all.
    pub fn create(lanes: usize, mtu: u32, offloads: bool) -> Result<Self, Error> {
        let link = NetNamespace::create()?;
        link.run(|| {
            sysctl::silence_ipv6();
            Ok(())
        })?;
        let mut settings = BTreeMap::new();
        let lanes = (0..lanes).map(|index| {
            let lane = LaneNamespaces::create(index)?;
            for side in [lane.client_side(), lane.server_side()] {
                settings.extend(side.create(&link, mtu, offloads)?);
            }
            Ok(lane)
        });
        let lanes = lanes.collect::<Result<_, Error>>()?;
        settings.insert("interface.mtu".into(), mtu.to_string());
        settings.insert("route.initcwnd".into(), "kernel default (10 segments)".into());
        Ok(Self { link, lanes, settings })
    }

    /// Where the link process runs.
    pub fn link(&self) -> &NetNamespace {
        &self.link
    }

    /// By index.
    pub fn lanes(&self) -> &[LaneNamespaces] {
        &self.lanes
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

    /// Pin the TCP congestion control of both ways, in a form that no socket option overrides by accident (`ip route … congctl lock NAME`).
    pub fn pin_congestion_control(&self, name: &str) -> Result<(), Error> {
        [self.client_side(), self.server_side()].iter().try_for_each(|side| {
            side.namespace.run(|| netlink::route(&side.interface, side.address, side.peer, Some(name)))
        })
    }

    /// Set the MTU of the endpoints' interfaces, IP bytes, from [`least_mtu`] to that with which the lanes were made.
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
        let (address, mac, peer, peer_mac) = (CLIENT, CLIENT_MAC, SERVER, SERVER_MAC);
        Side { namespace: &self.client, interface, address, mac, peer, peer_mac }
    }

    fn server_side(&self) -> Side<'_> {
        let interface = format!("s{}", self.index);
        let (address, mac, peer, peer_mac) = (SERVER, SERVER_MAC, CLIENT, CLIENT_MAC);
        Side { namespace: &self.server, interface, address, mac, peer, peer_mac }
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

    /// Make the veth, both ends, and everything the endpoint's end needs. Returns settings read back.
    fn create(&self, link: &NetNamespace, mtu: u32, offloads: bool) -> Result<BTreeMap<String, String>, Error> {
        self.namespace.run(|| {
            sysctl::silence_ipv6();
            Ok(())
        })?;
        let outer = self.outer();
        link.run(|| {
            netlink::create_veth(&outer, &self.interface, self.namespace.as_fd(), self.mac, mtu)?;
            offload::set(&outer, offloads)?;
            netlink::up(&outer)
        })?;
        self.namespace.run(|| {
            netlink::up("lo")?;
            let mut settings = sysctl::set_and_read(&self.interface);
            offload::set(&self.interface, offloads)?;
            settings.extend(offload::read(&self.interface)?);
            netlink::address(&self.interface, self.address)?;
            netlink::up(&self.interface)?;
            netlink::neighbour(&self.interface, self.peer, self.peer_mac)?;
            netlink::route(&self.interface, self.address, self.peer, None)?;
            Ok(settings)
        })
    }
}
