use std::collections::HashSet;
use std::sync::Mutex;

use wirelab_net::topology::{LaneNamespaces, Topology};
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
        Ok(Self { topology, link, own_proc, occupied: Mutex::default(), pinned })
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

    /// End the link process.
    pub fn close(&self) {
        self.link.close();
    }
}
