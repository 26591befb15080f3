use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::thread;
use std::time::Duration;

use super::{CLIENT_MAC, SERVER_MAC, Side, netlink, sysctl};
use crate::namespace::NetNamespace;
use crate::socket::PacketSocket;
use crate::{Context, Error};

/// Links inside one another, at most.
const MOST: u8 = 32;
/// All addresses: 10.77.DEPTH.1 near, 10.77.DEPTH.2 far.
const EVERY_DEPTH: (Ipv4Addr, u8) = (Ipv4Addr::new(10, 77, 0, 0), 16);
/// The kernel removes a killed link's interfaces a little later than the link.
const PATIENCE: u32 = 300;
const PAUSE: Duration = Duration::from_millis(10);

/// A link by itself, between a near namespace and a far one. The far one may be that of another link's near end: links nest, and packets pass them
/// all, for each near end forwards and each far end routes back whatever is deeper.
///
/// Everything vanishes when this is dropped and no process is in its namespaces.
#[derive(Debug)]
pub struct SingleLink {
    link: NetNamespace,
    near: NetNamespace,
    far: NetNamespace,
    depth: u8,
    mtu: u32,
}

/// How many links the current network namespace is behind.
pub fn depth() -> u8 {
    let is_here = |depth: &u8| nix::net::if_::if_nametoindex(near_interface(*depth).as_str()).is_ok();
    (0..MOST).rev().find(is_here).map_or(0, |depth| depth + 1)
}

impl SingleLink {
    /// Make it at this [`depth`], with the far end in `outer`, the near namespace of the link around it, or in an empty one that answers pings.
    pub fn create(depth: u8, outer: Option<NetNamespace>, mtu: u32) -> Result<Self, Error> {
        if depth >= MOST {
            let most = io::Error::other(format!("{MOST} links inside one another are the most"));
            return Err(most).context("beginning a link");
        }
        let link = NetNamespace::create()?;
        link.run(|| {
            sysctl::silence_ipv6();
            Ok(())
        })?;
        let nested = outer.is_some();
        let far = outer.map_or_else(NetNamespace::create, Ok)?;
        let single = Self { link, near: NetNamespace::create()?, far, depth, mtu };
        single.near_side().create(&single.link, mtu, false)?;
        // Where it cannot, no other link can begin here, which is told then.
        let _ = single.near.run(sysctl::forward);
        if nested {
            single.far.run(sysctl::forward)?;
        }
        single.create_far_side()?;
        single.add_routes(nested)?;
        Ok(single)
    }

    /// Where the command runs.
    pub fn near(&self) -> &NetNamespace {
        &self.near
    }

    /// Where the server runs.
    pub fn far(&self) -> &NetNamespace {
        &self.far
    }

    /// Address of the near end.
    pub fn near_address(&self) -> IpAddr {
        address(self.depth, 1)
    }

    /// Address of the far end.
    pub fn far_address(&self) -> IpAddr {
        address(self.depth, 2)
    }

    /// Open the link's two sockets, the near end's first.
    pub fn open_ports(&self) -> Result<[PacketSocket; 2], Error> {
        let open = |side: Side<'_>| PacketSocket::open(&side.outer(), self.mtu, false);
        self.link.run(|| Ok([open(self.near_side())?, open(self.far_side())?]))
    }

    /// Packets that the ends' interfaces dropped before the link could see them.
    pub fn dropped(&self) -> Result<u64, Error> {
        let sides = [self.near_side(), self.far_side()];
        sides.iter().map(|side| side.namespace.run(|| netlink::dropped(&side.interface))).sum()
    }

    fn create_far_side(&self) -> Result<(), Error> {
        let mut attempts = PATIENCE;
        loop {
            match self.far_side().create(&self.link, self.mtu, false) {
                Err(error) if error.is(io::ErrorKind::AlreadyExists) && attempts > 0 => attempts -= 1,
                Err(error) if error.is(io::ErrorKind::AlreadyExists) => {
                    let other = io::Error::other("another link begins here already; end it first");
                    return Err(other).context("beginning a link");
                }
                result => return result.map(drop),
            }
            thread::sleep(PAUSE);
        }
    }

    fn add_routes(&self, nested: bool) -> Result<(), Error> {
        let (near, far) = (self.near_side(), self.far_side());
        self.far.run(|| netlink::route_through(&far.interface, EVERY_DEPTH, near.address))?;
        let around = if nested { 0..self.depth } else { 0..0 };
        self.near.run(|| {
            around.into_iter().try_for_each(|depth| {
                let network = (Ipv4Addr::new(10, 77, depth, 0), 24);
                netlink::route_through(&near.interface, network, far.address)
            })
        })
    }

    fn near_side(&self) -> Side<'_> {
        Side {
            namespace: &self.near,
            interface: near_interface(self.depth),
            address: self.near_address(),
            mac: CLIENT_MAC,
            peer: self.far_address(),
            peer_mac: SERVER_MAC,
        }
    }

    fn far_side(&self) -> Side<'_> {
        Side {
            namespace: &self.far,
            interface: format!("far{}", self.depth),
            address: self.far_address(),
            mac: SERVER_MAC,
            peer: self.near_address(),
            peer_mac: CLIENT_MAC,
        }
    }
}

fn near_interface(depth: u8) -> String {
    format!("wirelab{depth}")
}

fn address(depth: u8, host: u8) -> IpAddr {
    Ipv4Addr::new(10, 77, depth, host).into()
}
