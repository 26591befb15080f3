//! One link between this network and a command in a namespace behind it.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::thread;
use std::time::Duration;

use super::{Addresses, CLIENT_MAC, Peer, Ports, SERVER_MAC, Side, Sides, netlink, sysctl};
use crate::namespace::NetNamespace;
use crate::socket::PacketSocket;
use crate::{Context, Error};

/// Links inside one another, at most.
const MAX_DEPTH: u8 = 32;
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
    ipv6: Result<(), Error>,
}

/// Makes the address of a host at some depth; host 0 stands for the network of that depth.
type Plan = fn(depth: u8, host: u8) -> IpAddr;

/// The addresses of one family.
struct Numbers {
    address: Plan,
    /// Prefix lengths of one depth's network, and of all.
    one: u8,
    all: u8,
}

/// 10.77.DEPTH.1 near, 10.77.DEPTH.2 far.
const IPV4: Numbers = Numbers { address: |depth, host| Ipv4Addr::new(10, 77, depth, host).into(), one: 24, all: 16 };
/// fd77:0:0:DEPTH::1 near, fd77:0:0:DEPTH::2 far.
const IPV6: Numbers = Numbers {
    address: |depth, host| Ipv6Addr::new(0xfd77, 0, 0, depth.into(), 0, 0, 0, host.into()).into(),
    one: 64,
    all: 48,
};

/// How many links the current network namespace is behind.
pub fn depth() -> u8 {
    let is_here = |depth: &u8| nix::net::if_::if_nametoindex(near_interface(*depth).as_str()).is_ok();
    (0..MAX_DEPTH).rev().find(is_here).map_or(0, |depth| depth + 1)
}

impl SingleLink {
    /// Make it at this [`depth`], with the far end in `outer`, the near namespace of the link around it, or in an empty one that answers pings.
    pub fn create(depth: u8, outer: Option<NetNamespace>, mtu: u32) -> Result<Self, Error> {
        if depth >= MAX_DEPTH {
            let too_deep = io::Error::other(format!("at most {MAX_DEPTH} links can be nested"));
            return Err(too_deep).context("beginning a link");
        }
        let link = NetNamespace::create()?;
        link.run(|| {
            sysctl::without_ipv6();
            Ok(())
        })?;
        let nested = outer.is_some();
        let far = outer.map_or_else(NetNamespace::create, Ok)?;
        let mut single = Self { link, near: NetNamespace::create()?, far, depth, mtu, ipv6: Ok(()) };
        single.near_side().create(&single.link, mtu, false)?;
        // If that fails, no other link can begin here, which is then an error.
        let _ = single.near.run(sysctl::forward);
        if nested {
            single.far.run(sysctl::forward)?;
        }
        single.create_far_side()?;
        single.set_addresses(&IPV4, nested)?;
        single.ipv6 = single.set_addresses(&IPV6, nested);
        for side in [single.near_side(), single.far_side()] {
            side.namespace.run(|| netlink::wait_until_running(&side.interface))?;
        }
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

    /// IPv4 addresses of the near end, the client's, and of the far one.
    pub fn ipv4(&self) -> Addresses {
        IPV4.at(self.depth)
    }

    /// IPv6 addresses, or why there are none: an MTU below 1280, or a kernel without IPv6.
    pub fn ipv6(&self) -> Result<Addresses, &Error> {
        self.ipv6.as_ref().map(|()| IPV6.at(self.depth))
    }

    /// Open the link's two sockets, the near end's first.
    pub fn open_ports(&self) -> Result<Ports, Error> {
        let open = |side: Side<'_>| PacketSocket::open(&side.outer, self.mtu, false);
        let sockets = self.link.run(|| Ok(vec![open(self.near_side())?, open(self.far_side())?]))?;
        Ok(Ports { sides: Sides::PAIR, sockets })
    }

    /// Run `work` in the namespace of the link's interfaces. It gets those through which the link sends: uplink, downlink.
    pub fn in_the_middle<T>(&self, work: impl FnOnce([String; 2]) -> Result<T, Error>) -> Result<T, Error> {
        let outgoing = [self.far_side().outer, self.near_side().outer];
        self.link.run(|| work(outgoing))
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

    /// Addresses of one family, the routes between them, and those to the links around this one and inside it.
    fn set_addresses(&self, numbers: &Numbers, nested: bool) -> Result<(), Error> {
        let (near, far) = (self.near_side(), self.far_side());
        let Addresses { client, server } = numbers.at(self.depth);
        near.set_addresses(client, &[Peer { address: server, mac: SERVER_MAC }], None)?;
        far.set_addresses(server, &[Peer { address: client, mac: CLIENT_MAC }], None)?;
        let every_depth = ((numbers.address)(0, 0), numbers.all);
        self.far.run(|| netlink::route_through(&far.interface, every_depth, client))?;
        let around = if nested { 0..self.depth } else { 0..0 };
        self.near.run(|| {
            around.into_iter().try_for_each(|depth| {
                let network = ((numbers.address)(depth, 0), numbers.one);
                netlink::route_through(&near.interface, network, server)
            })
        })
    }

    fn near_side(&self) -> Side<'_> {
        side(&self.near, near_interface(self.depth), CLIENT_MAC)
    }

    fn far_side(&self) -> Side<'_> {
        side(&self.far, format!("far{}", self.depth), SERVER_MAC)
    }
}

impl Numbers {
    fn at(&self, depth: u8) -> Addresses {
        Addresses { client: (self.address)(depth, 1), server: (self.address)(depth, 2) }
    }
}

fn side(namespace: &NetNamespace, interface: String, mac: [u8; 6]) -> Side<'_> {
    let outer = format!("{interface}-link");
    Side { namespace, interface, outer, mac }
}

fn near_interface(depth: u8) -> String {
    format!("wirelab{depth}")
}
