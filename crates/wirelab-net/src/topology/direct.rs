//! A client and a server on one veth without a link: the reference for the cost of a link.

use std::os::fd::AsFd;

use super::{CLIENT_MAC, IPV4, Peer, SERVER_MAC, Side, netlink, sysctl};
use crate::Error;
use crate::namespace::NetNamespace;

const CLIENT: &str = "c0";
const SERVER: &str = "s0";

/// A client and a server with the addresses and settings of a slot, but no link between them: their interfaces are the two ends of one veth. What
/// the cost of a link is measured against it.
#[derive(Debug)]
pub struct DirectVeth {
    /// Where the client runs.
    pub client: NetNamespace,
    /// Where the server runs.
    pub server: NetNamespace,
}

impl DirectVeth {
    /// Make it, without offloads.
    pub fn create(mtu: u32, congestion_control: &str) -> Result<Self, Error> {
        let veth = Self { client: NetNamespace::create()?, server: NetNamespace::create()? };
        for side in veth.sides() {
            side.namespace.run(|| {
                sysctl::quiet_ipv6();
                Ok(())
            })?;
        }
        veth.server.run(|| {
            netlink::create_veth(SERVER, CLIENT, veth.client.as_fd(), CLIENT_MAC, mtu)?;
            netlink::hardware_address(SERVER, SERVER_MAC)
        })?;
        for side in veth.sides() {
            side.bring_up(false)?;
        }
        let [client, server] = veth.sides();
        let [of_client, of_server] =
            [(IPV4.client, CLIENT_MAC), (IPV4.server, SERVER_MAC)].map(|(address, mac)| Peer { address, mac });
        client.set_addresses(IPV4.client, &[of_server], Some(congestion_control))?;
        server.set_addresses(IPV4.server, &[of_client], Some(congestion_control))?;
        Ok(veth)
    }

    /// Packets that one of the interfaces could not hand to the other, since they were made.
    pub fn dropped(&self) -> Result<u64, Error> {
        self.sides().iter().map(|side| side.namespace.run(|| netlink::dropped(&side.interface))).sum()
    }

    fn sides(&self) -> [Side<'_>; 2] {
        let side = |namespace, interface: &str, outer: &str, mac| Side {
            namespace,
            interface: interface.into(),
            outer: outer.into(),
            mac,
        };
        [side(&self.client, CLIENT, SERVER, CLIENT_MAC), side(&self.server, SERVER, CLIENT, SERVER_MAC)]
    }
}
