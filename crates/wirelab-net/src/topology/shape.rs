//! Hosts and links of a trial's network, as a plan without effects.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use wirelab_link::{Direction, PortId};

/// The hosts of a slot and the links between them, the same in every slot.
///
/// Link L has the addresses 10.77.L.H and fd77:0:0:L::H, host H - 1 being the number of the host's port there: even on the near side, odd on the
/// far one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    hosts: Vec<String>,
    links: Vec<LinkShape>,
}

/// Who is on a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkShape {
    /// Its name.
    pub name: String,
    /// Hosts where the uplink begins.
    pub near: Vec<String>,
    /// Hosts where it ends.
    pub far: Vec<String>,
}

/// How many hosts there are on each side of a link, and thereby its ports, which are counted from 0: those of the near side first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sides {
    /// On the near side.
    pub near: usize,
    /// On the far side.
    pub far: usize,
}

/// Maximum number of links in a slot: one byte identifies them.
const MAX_LINKS: usize = 1 << 8;
/// Hosts on one side of a link, at most: both sides share one byte, and 0 and 255 are not hosts.
const MAX_HOSTS: usize = 127;
/// A locally administered address, completed by the link and the host. The group bit is not set.
const MAC: [u8; 4] = [0x02, 0, 0, 0x77];

impl Default for Shape {
    /// A client and a server, and a link between them.
    fn default() -> Self {
        let [client, server] = ["client", "server"].map(str::to_owned);
        let link = LinkShape { name: "main".into(), near: vec![client.clone()], far: vec![server.clone()] };
        Self { hosts: vec![client, server], links: vec![link] }
    }
}

impl Shape {
    /// Of these links; the error says why no slot can have them.
    pub fn new(links: Vec<LinkShape>) -> Result<Self, String> {
        let (mut names, mut hosts) = (BTreeSet::new(), Vec::new());
        if links.is_empty() || links.len() > MAX_LINKS {
            return Err(format!("{} links; there can be 1 to {MAX_LINKS}", links.len()));
        }
        for link in &links {
            if !names.insert(&link.name) {
                return Err(format!("two links have the name {}", link.name));
            }
            for (side, members) in [("near", &link.near), ("far", &link.far)] {
                if members.is_empty() || members.len() > MAX_HOSTS {
                    return Err(format!(
                        "{}.{side}: {} hosts; there can be 1 to {MAX_HOSTS}",
                        link.name,
                        members.len()
                    ));
                }
            }
            let mut here = BTreeSet::new();
            for host in link.near.iter().chain(&link.far) {
                if !here.insert(host) {
                    return Err(format!("{}: {host} is there twice", link.name));
                }
                if !hosts.contains(host) {
                    hosts.push(host.clone());
                }
            }
        }
        Ok(Self { hosts, links })
    }

    /// Names of the hosts.
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// The links, by number.
    pub fn links(&self) -> &[LinkShape] {
        &self.links
    }
}

impl LinkShape {
    /// How many hosts are on each side.
    pub fn sides(&self) -> Sides {
        Sides { near: self.near.len(), far: self.far.len() }
    }

    /// The hosts with the numbers of their ports, those of the near side first.
    pub fn ports(&self) -> impl Iterator<Item = (PortId, &str)> {
        let sides = self.sides();
        self.near.iter().chain(&self.far).enumerate().map(move |(index, host)| (sides.port(index), host.as_str()))
    }

    /// The port of a host that is on the link.
    pub fn port_of(&self, host: &str) -> Option<PortId> {
        self.ports().find(|(_, name)| *name == host).map(|(port, _)| port)
    }
}

impl Sides {
    /// One host on each.
    pub const PAIR: Self = Self { near: 1, far: 1 };

    /// Whether there is one host on each side.
    pub fn is_pair(self) -> bool {
        self == Self::PAIR
    }

    /// How many ports there are.
    pub const fn ports(self) -> usize {
        self.near + self.far
    }

    /// Number of the port at this place.
    pub const fn port(self, index: usize) -> PortId {
        if index < self.near { PortId(2 * index as u16) } else { PortId(2 * (index - self.near) as u16 + 1) }
    }

    /// Place of the port with this number.
    pub const fn index(self, port: PortId) -> usize {
        let place = (port.0 / 2) as usize;
        match port.direction() {
            Direction::Uplink => place,
            Direction::Downlink => self.near + place,
        }
    }

    /// Place of the port at which a frame leaves that came from `from` and is for the hardware address `mac`: the host on the other side with
    /// this address, or the only host there.
    pub fn destination(self, from: PortId, mac: &[u8]) -> Option<usize> {
        let (first, others) = match from.direction() {
            Direction::Uplink => (self.near, self.far),
            Direction::Downlink => (0, self.near),
        };
        if others == 1 {
            return Some(first);
        }
        let [a, b, c, d, _, host] = *mac.first_chunk::<6>()?;
        let port = PortId(u16::from(host.checked_sub(1)?));
        let place = usize::from(port.0 / 2);
        let is_there = [a, b, c, d] == MAC && port.direction() != from.direction() && place < others;
        is_there.then_some(first + place)
    }
}

/// The IPv4 address of the host at this port of this link.
pub fn ipv4(link: usize, port: PortId) -> IpAddr {
    Ipv4Addr::new(10, 77, link as u8, port.0 as u8 + 1).into()
}

/// The IPv6 address of the host at this port of this link: unique local (RFC 4193).
pub fn ipv6(link: usize, port: PortId) -> IpAddr {
    Ipv6Addr::new(0xfd77, 0, 0, link as u16, 0, 0, 0, port.0 + 1).into()
}

/// The hardware address of its interface there.
pub(super) fn mac(link: usize, port: PortId) -> [u8; 6] {
    let [a, b, c, d] = MAC;
    [a, b, c, d, link as u8, port.0 as u8 + 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(name: &str, near: &[&str], far: &[&str]) -> LinkShape {
        let hosts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        LinkShape { name: name.into(), near: hosts(near), far: hosts(far) }
    }

    #[test]
    fn hosts_are_those_of_all_links_each_once() {
        let links = vec![link("air", &["client", "other"], &["proxy"]), link("wire", &["proxy"], &["server"])];
        let shape = Shape::new(links).unwrap();
        assert_eq!(shape.hosts(), ["client", "other", "proxy", "server"]);
        assert_eq!(Shape::new(Shape::default().links).unwrap(), Shape::default());
    }

    #[test]
    fn a_shape_that_a_slot_cannot_have_is_refused_with_the_reason() {
        let error = |links| Shape::new(links).unwrap_err();
        assert_eq!(error(vec![]), "0 links; there can be 1 to 256");
        let twice = link("air", &["client"], &["server"]);
        assert_eq!(error(vec![twice.clone(), twice]), "two links have the name air");
        assert_eq!(error(vec![link("air", &[], &["server"])]), "air.near: 0 hosts; there can be 1 to 127");
        assert_eq!(error(vec![link("air", &["client"], &["client"])]), "air: client is there twice");
    }

    #[test]
    fn ports_have_places_and_addresses_of_their_own() {
        let sides = Sides { near: 2, far: 3 };
        let ports: Vec<_> = (0..sides.ports()).map(|index| sides.port(index)).collect();
        assert_eq!(ports, [0, 2, 1, 3, 5].map(PortId));
        assert!((0..sides.ports()).all(|index| sides.index(sides.port(index)) == index));
        assert_eq!(ipv4(1, PortId(5)).to_string(), "10.77.1.6");
        assert_eq!(ipv6(1, PortId(5)).to_string(), "fd77:0:0:1::6");
        let largest = Sides { near: MAX_HOSTS, far: MAX_HOSTS };
        assert_eq!(ipv4(255, largest.port(largest.ports() - 1)).to_string(), "10.77.255.254");
    }

    #[test]
    fn a_frame_leaves_to_the_host_of_the_other_side_whose_address_it_has() {
        let sides = Sides { near: 2, far: 3 };
        for from in 0..sides.ports() {
            for to in 0..sides.ports() {
                let (from, to) = (sides.port(from), sides.port(to));
                let found = sides.destination(from, &mac(7, to));
                assert_eq!(found, (from.direction() != to.direction()).then(|| sides.index(to)));
            }
        }
        let stranger = [0x02, 0, 0, 0x77, 0, 4];
        assert_eq!(Sides { near: 2, far: 1 }.destination(PortId(1), &stranger), None);
        assert_eq!(sides.destination(PortId(0), &[0x02, 0, 0, 0x77, 0, 0]), None);
        assert_eq!(sides.destination(PortId(0), &[0x02, 0]), None);
    }

    #[test]
    fn a_host_alone_on_its_side_gets_every_frame() {
        assert_eq!(Sides::PAIR.destination(PortId(0), &[0; 6]), Some(1));
        assert_eq!(Sides::PAIR.destination(PortId(1), &[9; 6]), Some(0));
        assert_eq!(Sides { near: 3, far: 1 }.destination(PortId(4), &[9; 6]), Some(3));
    }
}
