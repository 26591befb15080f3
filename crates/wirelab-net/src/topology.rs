//! The namespaces of a campaign: one for the link process, and for each slot one for every host.
//!
//! ```text
//! client --(link0 = l0-0-0)-- link process --(l0-0-1 = link0)-- server
//! ```
//!
//! Every slot has the same hosts, links and addresses (a [`Shape`]), for its namespaces keep it apart. Neighbours are static, and no address is
//! asked for, assigned or announced by itself, so that nothing but the endpoints' own packets enters a link.

mod direct;
mod netlink;
mod offload;
mod qdisc;
mod shape;
mod shaping;
mod single;
mod sysctl;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::AsFd;
use std::sync::Arc;

use wirelab_link::PortId;

use crate::namespace::NetNamespace;
use crate::{Error, socket::PacketSocket};

pub use direct::DirectVeth;
pub use qdisc::{Chance, Netem, NetemJitter, NetemLoss, NetemRate, Qdisc, QdiscCounts, Tbf};
pub use shape::{LinkShape, Shape, Sides, ipv4, ipv6};
pub use shaping::{Shaped, try_netem};
pub use single::{SingleLink, depth};
pub use sysctl::LOWEST_CLIENT_PORT;

/// Addresses of both ends of a link, of one family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// The client's.
    pub client: IpAddr,
    /// The server's.
    pub server: IpAddr,
}

/// The IPv4 addresses of the first hosts of the first link's sides, in every slot.
pub const IPV4: Addresses =
    Addresses { client: IpAddr::V4(Ipv4Addr::new(10, 77, 0, 1)), server: IpAddr::V4(Ipv4Addr::new(10, 77, 0, 2)) };
/// Their IPv6 addresses, unique local ones (RFC 4193).
pub const IPV6: Addresses = Addresses {
    client: IpAddr::V6(Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 1)),
    server: IpAddr::V6(Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 2)),
};

const CLIENT_MAC: [u8; 6] = [0x02, 0, 0, 0x77, 0, 0x01];
const SERVER_MAC: [u8; 6] = [0x02, 0, 0, 0x77, 0, 0x02];

/// Makes addresses of one family: [`ipv4`] or [`ipv6`].
pub type Numbers = fn(link: usize, port: PortId) -> IpAddr;

/// A link's sockets, in the order of its ports' places.
pub struct Ports {
    /// How many are on each side.
    pub sides: Sides,
    /// One for each host.
    pub sockets: Vec<PacketSocket>,
}

/// The namespaces of a campaign. They vanish when this is dropped and no process is in them.
#[derive(Debug)]
pub struct Topology {
    link: NetNamespace,
    slots: Vec<SlotNamespaces>,
    shape: Arc<Shape>,
    mtu: u32,
    ipv6: Result<(), Error>,
}

/// The namespaces of one slot.
#[derive(Debug)]
pub struct SlotNamespaces {
    /// In the order of [`Shape::hosts`].
    hosts: Vec<NetNamespace>,
    shape: Arc<Shape>,
    index: usize,
}

/// A host on a link.
struct Side<'a> {
    namespace: &'a NetNamespace,
    /// Its interface.
    interface: String,
    /// The link's end of the veth.
    outer: String,
    mac: [u8; 6],
}

/// A host on the other side.
#[derive(Clone, Copy)]
struct Peer {
    address: IpAddr,
    mac: [u8; 6],
}

impl Topology {
    /// Make it all.
    pub fn create(shape: Shape, slots: usize, mtu: u32, offloads: bool) -> Result<Self, Error> {
        let link = NetNamespace::create()?;
        link.run(|| {
            sysctl::without_ipv6();
            Ok(())
        })?;
        let shape = Arc::new(shape);
        let mut ipv6 = Ok(());
        let slots = (0..slots).map(|index| {
            let slot = SlotNamespaces::create(index, shape.clone())?;
            for number in 0..shape.links().len() {
                for (_, side) in slot.sides(number) {
                    side.create(&link, mtu, offloads)?;
                }
                slot.set_addresses(number, shape::ipv4, None)?;
                // A slot without IPv6 is still usable.
                if ipv6.is_ok() {
                    ipv6 = slot.set_addresses(number, shape::ipv6, None);
                }
            }
            Ok(slot)
        });
        let slots = slots.collect::<Result<_, Error>>()?;
        Ok(Self { link, slots, shape, mtu, ipv6 })
    }

    /// Where the link process runs.
    pub fn link(&self) -> &NetNamespace {
        &self.link
    }

    /// By index.
    pub fn slots(&self) -> &[SlotNamespaces] {
        &self.slots
    }

    /// Hosts and links of every slot.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Why the slots have no IPv6 addresses: a kernel without IPv6, or an MTU below its minimum.
    pub fn ipv6(&self) -> Result<(), &Error> {
        self.ipv6.as_ref().copied()
    }

    /// Kernel settings of the slots, read back.
    pub fn settings(&self) -> Result<BTreeMap<String, String>, Error> {
        let ipv6 = self.ipv6.as_ref().map_or_else(|error| format!("none: {error}"), |()| "on".into());
        let mut settings = BTreeMap::from([
            ("interface.mtu".into(), self.mtu.to_string()),
            ("route.initcwnd".into(), "kernel default (10 segments)".into()),
            ("ipv6".into(), ipv6),
        ]);
        for slot in &self.slots {
            for (_, side) in (0..self.shape.links().len()).flat_map(|number| slot.sides(number)) {
                settings.extend(side.settings()?);
            }
        }
        Ok(settings)
    }
}

impl SlotNamespaces {
    fn create(index: usize, shape: Arc<Shape>) -> Result<Self, Error> {
        let hosts = shape.hosts().iter().map(|_| NetNamespace::create()).collect::<Result<_, _>>()?;
        Ok(Self { hosts, shape, index })
    }

    /// The hosts by their names.
    pub fn hosts(&self) -> impl Iterator<Item = (&str, &NetNamespace)> {
        self.shape.hosts().iter().map(String::as_str).zip(&self.hosts)
    }

    /// Where a host's processes run.
    pub fn host(&self, name: &str) -> Option<&NetNamespace> {
        self.hosts().find(|(host, _)| *host == name).map(|(_, namespace)| namespace)
    }

    /// Give all hosts on a link addresses of one family and the routes to those on the other side, with TCP's congestion control pinned if one is
    /// given: in a form that no socket option overrides by accident (`ip route … congctl lock NAME`). What they have already stays.
    pub fn set_addresses(&self, link: usize, numbers: Numbers, congestion_control: Option<&str>) -> Result<(), Error> {
        self.sides(link).try_for_each(|(port, side)| {
            let others = self.shape.links()[link].ports().map(|(other, _)| other);
            let peers = others.filter(|other| other.direction() != port.direction());
            let peers: Vec<_> =
                peers.map(|peer| Peer { address: numbers(link, peer), mac: shape::mac(link, peer) }).collect();
            side.set_addresses(numbers(link, port), &peers, congestion_control)
        })
    }

    /// Set the MTU of all interfaces on a link, IP bytes, from [`min_mtu`] to that with which the slots were made. Below the minimum of IPv6
    /// the kernel takes the IPv6 addresses away, and [`set_addresses`](Self::set_addresses) gives them back.
    pub fn set_mtu(&self, link: usize, mtu: u32) -> Result<(), Error> {
        self.sides(link).try_for_each(|(_, side)| side.namespace.run(|| netlink::mtu(&side.interface, mtu)))
    }

    /// Packets that the interfaces on a link dropped before the link process could see them, since they were made.
    pub fn dropped(&self, link: usize) -> Result<u64, Error> {
        self.sides(link).map(|(_, side)| side.namespace.run(|| netlink::dropped(&side.interface))).sum()
    }

    /// The hosts on a link.
    fn sides(&self, link: usize) -> impl Iterator<Item = (PortId, Side<'_>)> {
        self.shape.links()[link].ports().map(move |(port, host)| {
            let namespace = self.host(host).expect("hosts are those of all links");
            let outer = outer(self.index, link, port);
            (port, Side { namespace, interface: format!("link{link}"), outer, mac: shape::mac(link, port) })
        })
    }
}

/// The minimum MTU of an interface with this address: 68 for IPv4 (RFC 791 section 3.2), 1280 for IPv6 (RFC 8200 section 5).
pub const fn min_mtu(address: IpAddr) -> u32 {
    if address.is_ipv4() { 68 } else { 1280 }
}

/// Open the sockets of a slot's link. For the link process, inside its namespace.
pub fn open_ports(slot: usize, link: usize, sides: Sides, mtu: u32, offloads: bool) -> Result<Ports, Error> {
    let open = |index| PacketSocket::open(&outer(slot, link, sides.port(index)), mtu, offloads);
    Ok(Ports { sides, sockets: (0..sides.ports()).map(open).collect::<Result<_, _>>()? })
}

/// The interfaces through which a link of two hosts sends: uplink, downlink.
pub fn outgoing(slot: usize, link: usize) -> [String; 2] {
    [PortId(1), PortId(0)].map(|port| outer(slot, link, port))
}

/// The link's end of a veth: at most 14 bytes, of the kernel's 15.
fn outer(slot: usize, link: usize, port: PortId) -> String {
    format!("l{slot}-{link}-{}", port.0)
}

impl Side<'_> {
    /// Make the veth, both ends, and everything the endpoint's end needs but addresses.
    fn create(&self, link: &NetNamespace, mtu: u32, offloads: bool) -> Result<(), Error> {
        self.namespace.run(|| {
            sysctl::quiet_ipv6();
            Ok(())
        })?;
        link.run(|| {
            netlink::create_veth(&self.outer, &self.interface, self.namespace.as_fd(), self.mac, mtu)?;
            offload::set(&self.outer, offloads)?;
            netlink::up(&self.outer)
        })?;
        self.bring_up(offloads)
    }

    /// Everything that an interface of an endpoint needs but addresses.
    fn bring_up(&self, offloads: bool) -> Result<(), Error> {
        self.namespace.run(|| {
            netlink::up("lo")?;
            sysctl::set();
            offload::set(&self.interface, offloads)?;
            netlink::up(&self.interface)
        })
    }

    fn settings(&self) -> Result<BTreeMap<String, String>, Error> {
        self.namespace.run(|| {
            let mut settings = sysctl::settings(&self.interface);
            settings.extend(offload::read(&self.interface)?);
            Ok(settings)
        })
    }

    /// See [`SlotNamespaces::set_addresses`].
    fn set_addresses(&self, own: IpAddr, peers: &[Peer], congestion_control: Option<&str>) -> Result<(), Error> {
        self.namespace.run(|| {
            netlink::address(&self.interface, own)?;
            peers.iter().try_for_each(|Peer { address, mac }| {
                netlink::neighbour(&self.interface, *address, *mac)?;
                netlink::route(&self.interface, own, *address, congestion_control)
            })
        })
    }
}
