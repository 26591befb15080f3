use std::collections::VecDeque;

use crate::impairment::Medium;
use crate::{Chain, Counters, Dropped, Impairment, Instant, Packet};

/// An emulated path: a chain for each direction, and perhaps a [`Medium`] behind both. Itself an impairment; a packet's port tells its direction.
///
/// [`handle_packet`](Impairment::handle_packet) sets `Packet::arrival` to the instant it goes by: the one given, unless that is earlier than
/// the direction's last arrival or, where the directions share a medium, than the last arrival or poll of either, which settled who was sent
/// first; then it is moved up to that. A log of arrivals in order of `sequence` is therefore all that a replay needs.
#[derive(Debug)]
pub struct Link {
    chains: [Chain; 2],
    medium: Option<Medium>,
    /// For each direction, packets that have left its chain.
    left: [VecDeque<(Instant, Packet)>; 2],
    /// For each direction, the earliest instant at which a packet may still arrive.
    floors: [Instant; 2],
    started: bool,
    received: u64,
    delivered: u64,
}

impl Link {
    /// A link of its two chains and the stage that they share.
    pub fn new(uplink: Chain, downlink: Chain, medium: Option<Medium>) -> Self {
        Self {
            chains: [uplink, downlink],
            medium,
            left: Default::default(),
            floors: Default::default(),
            started: false,
            received: 0,
            delivered: 0,
        }
    }

    fn advance(&mut self, now: Instant) {
        for (chain, left) in self.chains.iter_mut().zip(&mut self.left) {
            left.extend(std::iter::from_fn(|| chain.poll_packet(now)));
        }
        if let Some(medium) = &mut self.medium {
            self.floors = self.floors.map(|floor| floor.max(now));
            while let Some((instant, packet)) = take_first(&mut self.left, now) {
                medium.handle_packet(packet, instant);
            }
        }
    }
}

impl Impairment for Link {
    fn start(&mut self, origin: Instant) {
        self.started = true;
        self.chains.iter_mut().for_each(|chain| chain.start(origin));
    }

    fn handle_packet(&mut self, mut packet: Packet, now: Instant) {
        let side = packet.port.direction().index();
        packet.arrival = now.max(self.floors[side]);
        self.floors[side] = packet.arrival;
        if !self.started {
            self.start(packet.arrival);
        }
        self.advance(packet.arrival);
        self.received += 1;
        let arrival = packet.arrival;
        self.chains[side].handle_packet(packet, arrival);
    }

    fn poll_packet(&mut self, now: Instant) -> Option<(Instant, Packet)> {
        self.advance(now);
        let departure = match &mut self.medium {
            Some(medium) => medium.poll_packet(now),
            None => take_first(&mut self.left, now),
        }?;
        self.delivered += 1;
        Some(departure)
    }

    fn poll_dropped(&mut self) -> Option<Dropped> {
        let medium = &mut self.medium;
        let chains = self.chains.iter_mut().find_map(Chain::poll_dropped);
        chains.or_else(|| medium.as_mut().and_then(Medium::poll_dropped))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let chains = self.chains.iter().filter_map(Chain::poll_timeout);
        let left = self.left.iter().filter_map(|left| left.front().map(|(instant, _)| *instant));
        chains.chain(left).chain(self.medium.as_ref().and_then(Medium::poll_timeout)).min()
    }

    fn counters(&self) -> Counters {
        let left = self.left.iter().map(VecDeque::len).sum::<usize>() as u64;
        let stages = self.chains.iter().map(Chain::counters).chain(self.medium.as_ref().map(Medium::counters));
        let (dropped, held) =
            stages.fold((0, left), |(dropped, held), stage| (dropped + stage.dropped, held + stage.held));
        Counters { received: self.received, delivered: self.delivered, dropped, held }
    }
}

/// Of the packets that have left the chains by `now`, the first; at the same instant the one that came to the link first, so that a caller who
/// polls between two arrivals at one instant changes nothing.
fn take_first(left: &mut [VecDeque<(Instant, Packet)>; 2], now: Instant) -> Option<(Instant, Packet)> {
    let key = |left: &VecDeque<(Instant, Packet)>| left.front().map(|(instant, packet)| (*instant, packet.sequence));
    let due = left.iter_mut().filter(|left| key(left).is_some_and(|(instant, _)| instant <= now));
    due.min_by_key(|left| key(left))?.pop_front()
}
