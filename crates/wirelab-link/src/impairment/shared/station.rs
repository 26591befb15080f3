//! Stations that contend for the air.

use std::collections::BTreeMap;

use crate::queue::{DropTail, Limit};
use crate::{Packet, PortId};

/// The stations that contend for the air, by their ports: see [`PortId::station`].
#[derive(Debug)]
pub(super) struct Stations<A> {
    queue: Limit,
    stations: BTreeMap<PortId, Station<A>>,
}

/// One side of a contention: it serves one packet at a time, and others wait behind that.
#[derive(Debug)]
pub(super) struct Station<A> {
    /// The packet being served, until it has left or was dropped.
    pub(super) packet: Option<Packet>,
    /// How far its access to the air has come.
    pub(super) access: A,
    /// A packet is being served: also while its exchange of frames continues without it.
    is_serving: bool,
    waiting: DropTail<Packet>,
}

impl<A: Default> Stations<A> {
    /// No station yet, each behind such a `queue`.
    pub(super) const fn new(queue: Limit) -> Self {
        Self { queue, stations: BTreeMap::new() }
    }

    /// Take in a packet that counts as `bytes`. Returns its station if that serves it from now on, or gives it back if there is no room for it.
    pub(super) fn accept(&mut self, packet: Packet, bytes: u64) -> Result<Option<&mut Station<A>>, Packet> {
        let queue = self.queue;
        let station = self.stations.entry(packet.port.station()).or_insert_with(|| Station::new(queue));
        if station.is_serving {
            return station.waiting.push(bytes, packet).map(|()| None);
        }
        station.packet = Some(packet);
        station.is_serving = true;
        Ok(Some(station))
    }

    /// The station of this port, where a packet has been accepted.
    pub(super) fn at(&mut self, port: PortId) -> &mut Station<A> {
        self.stations.get_mut(&port).expect("a packet was accepted there")
    }

    /// All, in the order of their ports.
    pub(super) fn iter(&self) -> impl Iterator<Item = (PortId, &Station<A>)> {
        self.stations.iter().map(|(port, station)| (*port, station))
    }

    /// All, in the order of their ports.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (PortId, &mut Station<A>)> {
        self.stations.iter_mut().map(|(port, station)| (*port, station))
    }

    /// Take out a packet.
    pub(super) fn poll_held(&mut self) -> Option<Packet> {
        self.stations.values_mut().find_map(|station| station.packet.take().or_else(|| station.waiting.pop()))
    }

    /// Packets inside.
    pub(super) fn held(&self) -> usize {
        self.stations.values().map(Station::held).sum()
    }
}

impl<A: Default> Station<A> {
    fn new(queue: Limit) -> Self {
        Self { packet: None, access: A::default(), is_serving: false, waiting: DropTail::new(queue) }
    }

    /// Serve the next packet that waits, the last one having left or been dropped. False if none does.
    pub(super) fn serve_next(&mut self) -> bool {
        self.packet = self.waiting.pop();
        self.is_serving = self.packet.is_some();
        self.is_serving
    }

    /// Packets inside.
    pub(super) fn held(&self) -> usize {
        self.waiting.len() + usize::from(self.packet.is_some())
    }
}
