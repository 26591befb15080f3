use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::Mutex;

use wirelab_net::topology::{LaneNamespaces, SERVER, Topology, least_mtu};
use wirelab_schema::OpenLanes;

use super::link_client::LinkClient;
use super::{Refusal, Running, lock, rehearse};

/// The lanes of a campaign with their link process.
pub struct Lanes {
    topology: Topology,
    link: LinkClient,
    own_proc: bool,
    occupied: Mutex<HashSet<u32>>,
    pinned: Mutex<Vec<String>>,
    /// MTU with which the lanes were made, and that of each now.
    mtu: u32,
    mtus: Mutex<Vec<u32>>,
}

impl Lanes {
    /// Make them. Call it from a thread that lives as long as the host.
    pub fn open(open: &OpenLanes, running: &Running) -> Result<Self, Refusal> {
        if open.lanes == 0 || open.lanes > u32::from(u16::MAX) {
            return Err(Refusal::new(format!("{} lanes; there must be at least one", open.lanes)));
        }
        let topology = Topology::create(open.lanes as usize, open.mtu, open.offloads)?;
        let link = LinkClient::start(&topology, open, running)?;
        let own_proc = rehearse()?;
        let pinned = Mutex::new(vec![String::new(); open.lanes as usize]);
        let mtus = Mutex::new(vec![open.mtu; open.lanes as usize]);
        Ok(Self { topology, link, own_proc, occupied: Mutex::default(), pinned, mtu: open.mtu, mtus })
    }

    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    pub fn link(&self) -> &LinkClient {
        &self.link
    }

    /// True if trials get a `/proc` of their own.
    pub fn own_proc(&self) -> bool {
        self.own_proc
    }

    /// The namespaces of a lane that exists.
    pub fn lane(&self, index: u32) -> &LaneNamespaces {
        &self.topology.lanes()[index as usize]
    }

    /// Take a lane for a trial.
    pub fn occupy(&self, index: u32) -> Result<(), Refusal> {
        let lanes = self.topology.lanes().len();
        if index as usize >= lanes {
            return Err(Refusal::new(format!("there is no lane {index}: {lanes} are open, from 0")));
        }
        if !lock(&self.occupied).insert(index) {
            return Err(Refusal::new(format!("lane {index} is not free")));
        }
        Ok(())
    }

    /// Give it back.
    pub fn vacate(&self, index: u32) {
        lock(&self.occupied).remove(&index);
    }

    /// Pin the congestion control of a lane's routes, if it is another one than before.
    pub fn pin_congestion_control(&self, index: u32, name: &str) -> Result<(), Refusal> {
        if lock(&self.pinned)[index as usize] == name {
            return Ok(());
        }
        self.lane(index).pin_congestion_control(name).map_err(|error| Refusal {
            message: error.to_string(),
            hint: Some(format!("a kernel module may be missing: `sudo modprobe tcp_{name}`")),
        })?;
        lock(&self.pinned)[index as usize] = name.to_owned();
        Ok(())
    }

    /// Give a lane's interfaces the MTU that a link asks for, or else that of all lanes, if they have another one.
    pub fn set_mtu(&self, index: u32, wanted: Option<u32>) -> Result<(), Refusal> {
        let mtu = wanted.unwrap_or(self.mtu);
        if let Some(error) = wanted.and_then(|mtu| mtu_error(mtu, self.mtu, SERVER)) {
            return Err(Refusal::new(error));
        }
        if lock(&self.mtus)[index as usize] != mtu {
            self.lane(index).set_mtu(mtu)?;
            lock(&self.mtus)[index as usize] = mtu;
        }
        Ok(())
    }

    /// End the link process.
    pub fn close(&self) {
        self.link.close();
    }
}

/// Why a lane with this address, made for an MTU of `most`, cannot have this one.
fn mtu_error(mtu: u32, most: u32, address: IpAddr) -> Option<String> {
    let least = least_mtu(address);
    let family = if address.is_ipv4() { "IPv4 (RFC 791 section 3.2)" } else { "IPv6 (RFC 8200 section 5)" };
    if mtu < least {
        return Some(format!("mtu: {mtu} is less than {least}, the least of {family}"));
    }
    (mtu > most).then(|| format!("mtu: {mtu} is more than {most}, for which the lanes were made"))
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use super::*;

    #[test]
    fn an_mtu_that_no_lane_can_have_is_refused_with_the_reason() {
        let (v4, v6) = (Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into());
        let error = |mtu, address| mtu_error(mtu, 1500, address).unwrap_or_default();
        assert_eq!([error(68, v4), error(1500, v4), error(1280, v6)], [const { String::new() }; 3]);
        assert_eq!(error(67, v4), "mtu: 67 is less than 68, the least of IPv4 (RFC 791 section 3.2)");
        assert_eq!(error(1279, v6), "mtu: 1279 is less than 1280, the least of IPv6 (RFC 8200 section 5)");
        assert_eq!(error(1501, v6), "mtu: 1501 is more than 1500, for which the lanes were made");
    }
}
