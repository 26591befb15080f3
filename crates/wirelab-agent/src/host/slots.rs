//! The networks of parallel trials, one for each job, and their link process.

use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::Mutex;

use wirelab_net::cpu_quota::CpuQuotas;
use wirelab_net::namespace::NetNamespace;
use wirelab_net::topology::{self, Addresses, IPV4, IPV6, Numbers, SlotNamespaces, Topology, min_mtu, try_netem};
use wirelab_schema::{AddressFamily, Clock, LinkSpec, OpenSlots};

use super::link_client::LinkClient;
use super::run_trial::SAMPLING;
use super::{Refusal, Running, lock, rehearse};
use crate::link::At;
use crate::{own_program, slot_shape};

/// The slots of a campaign with their link process.
pub struct Slots {
    topology: Topology,
    link: LinkClient,
    own_proc: Option<bool>,
    clock: Clock,
    /// Whether CPU time can be limited; `None` if it was not requested.
    cpu_quotas: Option<Result<CpuQuotas, wirelab_net::Error>>,
    occupied: Mutex<HashSet<u32>>,
    /// MTU with which the slots were made.
    mtu: u32,
    /// By place: slot, then link.
    setups: Mutex<Vec<Setup>>,
}

/// Settings of the interfaces on a slot's link; each trial may need others.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Setup {
    mtu: u32,
    family: AddressFamily,
    congestion_control: String,
}

/// The error if a link needs netem and the kernel lacks it.
pub const NO_NETEM: &str = "this kernel lacks netem or the token bucket filter";
/// What to do about it.
pub const NETEM_CURE: &str = "`sudo modprobe -a sch_netem sch_tbf`, which some distributions have in a package of extra modules; or leave the link to Wirelab's own emulator";

/// How addresses of a family are made.
pub fn numbers(family: AddressFamily) -> Numbers {
    match family {
        AddressFamily::Ipv4 => topology::ipv4,
        AddressFamily::Ipv6 => topology::ipv6,
    }
}

/// The addresses of a client and a server that are the only hosts on a link.
pub fn addresses(family: AddressFamily) -> Addresses {
    match family {
        AddressFamily::Ipv4 => IPV4,
        AddressFamily::Ipv6 => IPV6,
    }
}

impl Slots {
    /// Make the slots. Call it from a thread that lives as long as the host.
    pub fn open(open: &OpenSlots, running: &Running) -> Result<Self, Refusal> {
        if open.slots == 0 || open.slots > u32::from(u16::MAX) {
            return Err(Refusal::new(format!("`lanes`: {} is not from 1 to {}", open.slots, u16::MAX)));
        }
        if open.netem {
            require_netem()?;
        }
        let shape = slot_shape::shape(&open.links).map_err(Refusal::new)?;
        let links = shape.links().len();
        let topology = Topology::create(shape, open.slots as usize, open.mtu, open.offloads)?;
        let link = LinkClient::start(&topology, open, running)?;
        let own_proc = (!open.facts_known).then(rehearse).transpose()?;
        let cpu_quotas = open.cpu_quota.then(cpu_quotas);
        let setup = Setup { mtu: open.mtu, family: AddressFamily::default(), congestion_control: String::new() };
        let setups = Mutex::new(vec![setup; open.slots as usize * links]);
        let clock = open.clock;
        Ok(Self { topology, link, own_proc, clock, cpu_quotas, occupied: Mutex::default(), mtu: open.mtu, setups })
    }

    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    pub fn link(&self) -> &LinkClient {
        &self.link
    }

    /// Whether trials get a `/proc` of their own; `None` if nobody asked.
    pub fn own_proc(&self) -> Option<bool> {
        self.own_proc
    }

    /// The clock under which the trials run.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Share of a CPU that a trial's samples of memory may use; none where computing takes no time.
    pub fn sampling_share(&self) -> Option<f64> {
        (self.clock == Clock::Live).then(|| SAMPLING / f64::from(self.number()))
    }

    /// Whether CPU time can be limited; `None` if it was not requested.
    pub fn cpu_quotas(&self) -> Option<Result<&CpuQuotas, &wirelab_net::Error>> {
        self.cpu_quotas.as_ref().map(Result::as_ref)
    }

    /// How many there are.
    pub fn number(&self) -> u32 {
        self.topology.slots().len() as u32
    }

    /// The namespaces of a slot that exists.
    pub fn slot(&self, index: u32) -> &SlotNamespaces {
        &self.topology.slots()[index as usize]
    }

    /// Take a slot for a trial.
    pub fn occupy(&self, index: u32) -> Result<(), Refusal> {
        let slots = self.topology.slots().len();
        if index as usize >= slots {
            return Err(Refusal::new(format!("lane: {index} does not exist; there are {slots}, counted from 0")));
        }
        if !lock(&self.occupied).insert(index) {
            return Err(Refusal::new(format!("lane: {index} is in use by another trial")));
        }
        Ok(())
    }

    /// Free the slot again.
    pub fn vacate(&self, index: u32) {
        lock(&self.occupied).remove(&index);
    }

    /// Give the interfaces on a link the MTU that it asks for, or else that of all slots, and the addresses of its family; pin the congestion
    /// control of the routes between these.
    pub fn set_up(&self, at: At, link: &LinkSpec, congestion_control: &str) -> Result<(), Refusal> {
        let family = link.family.unwrap_or_default();
        let mtu = link.mtu.unwrap_or(self.mtu);
        if let Some(error) = mtu_error(mtu, self.mtu, addresses(family).server) {
            return Err(Refusal::new(error));
        }
        if let (AddressFamily::Ipv6, Err(error)) = (family, self.topology.ipv6()) {
            return Err(Refusal::new(format!("family: IPv6 addresses are not available: {error}")));
        }
        let place = at.slot * self.topology.shape().links().len() + at.link;
        let wanted = Setup { mtu, family, congestion_control: congestion_control.to_owned() };
        let current = lock(&self.setups)[place].clone();
        if current == wanted {
            return Ok(());
        }
        let slot = &self.topology.slots()[at.slot];
        if current.mtu != mtu {
            slot.set_mtu(at.link, mtu)?;
            lock(&self.setups)[place].mtu = mtu;
        }
        slot.set_addresses(at.link, numbers(family), Some(congestion_control)).map_err(|error| Refusal {
            message: error.to_string(),
            hint: Some(format!("a kernel module may be missing: `sudo modprobe tcp_{congestion_control}`")),
        })?;
        lock(&self.setups)[place] = wanted;
        Ok(())
    }

    /// End the link process.
    pub fn close(&self) {
        self.link.close();
    }
}

/// Groups of processes whose CPU time is limited.
pub fn cpu_quotas() -> Result<CpuQuotas, wirelab_net::Error> {
    CpuQuotas::open(|| {
        let mut idle = own_program();
        idle.arg("--version");
        idle
    })
}

fn require_netem() -> Result<(), Refusal> {
    let tried = NetNamespace::create()?.run(try_netem);
    tried.map_err(|error| Refusal { message: format!("backend: {NO_NETEM} ({error})"), hint: Some(NETEM_CURE.into()) })
}

/// Why a slot with this address, made for an MTU of `maximum`, cannot have this one.
fn mtu_error(mtu: u32, maximum: u32, address: IpAddr) -> Option<String> {
    let minimum = min_mtu(address);
    let family = if address.is_ipv4() { "IPv4 (RFC 791 section 3.2)" } else { "IPv6 (RFC 8200 section 5)" };
    if mtu < minimum {
        return Some(format!("mtu: {mtu} is below {minimum}, the minimum of {family}"));
    }
    (mtu > maximum).then(|| format!("mtu: {mtu} is above {maximum}, the MTU of the campaign"))
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use super::*;

    #[test]
    fn an_mtu_out_of_range_is_refused_with_the_reason() {
        let (v4, v6) = (Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into());
        let error = |mtu, address| mtu_error(mtu, 1500, address).unwrap_or_default();
        assert_eq!([error(68, v4), error(1500, v4), error(1280, v6)], [const { String::new() }; 3]);
        assert_eq!(error(67, v4), "mtu: 67 is below 68, the minimum of IPv4 (RFC 791 section 3.2)");
        assert_eq!(error(1279, v6), "mtu: 1279 is below 1280, the minimum of IPv6 (RFC 8200 section 5)");
        assert_eq!(error(1501, v6), "mtu: 1501 is above 1500, the MTU of the campaign");
    }
}
