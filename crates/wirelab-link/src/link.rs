use crate::impairment::outlet::Outlet;
use crate::impairment::{Medium, Nat, Radio};
use crate::{Chain, Counters, Direction, Dropped, Impairment, Instant, Packet};

/// An emulated path: a chain for each direction, and the stages that both share. Itself an impairment; a packet's port tells its direction.
///
/// From the client, packets pass the radio, the uplink chain, the medium, the NAT; from the server the NAT, the downlink chain, the medium, the
/// radio. Whatever is due anywhere happens in the order of its instants, for what one direction does to a shared stage the other one sees.
///
/// The radio is at the client, but passes packets in no time. So that it does not sleep in the middle of one, it is told when the client sends or
/// receives: while there are packets in the medium, or on their way to it from the client; without a medium, while there are in the uplink chain
/// up to the end of its first rate, and for as long before the arrival of a downlink packet as the last rate was sending that.
///
/// [`handle_packet`](Impairment::handle_packet) sets `Packet::arrival` to the instant it goes by: the one given, unless that is earlier than
/// the direction's last arrival or, where a stage [settles when polled](Impairment::settles_when_polled), than the last poll, or the last arrival
/// in the other direction too if they share any stage; then it is moved up to that. A log of arrivals in order of `sequence` is therefore all
/// that a replay needs.
#[derive(Debug)]
pub struct Link {
    chains: [Chain; 2],
    medium: Option<Medium>,
    radio: Option<Radio>,
    nat: Option<Nat>,
    /// For each direction, whether a poll settles what becomes of its packets.
    settles: [bool; 2],
    /// For each direction, the earliest instant at which a packet may still arrive.
    floors: [Instant; 2],
    started: bool,
    /// Packets that come to the medium at one instant, empty between calls.
    meeting: Vec<(Instant, Packet)>,
    outlet: Outlet,
}

impl Link {
    /// A link of its two chains, which share nothing.
    pub fn new(uplink: Chain, downlink: Chain) -> Self {
        let settles = [uplink.settles_when_polled(), downlink.settles_when_polled()];
        Self {
            chains: [uplink, downlink],
            medium: None,
            radio: None,
            nat: None,
            settles,
            floors: Default::default(),
            started: false,
            meeting: Vec::new(),
            outlet: Outlet::default(),
        }
    }

    /// Both directions share `medium`, behind their chains.
    #[must_use]
    pub fn with_medium(mut self, medium: Medium) -> Self {
        self.share(&medium);
        self.medium = Some(medium);
        self
    }

    /// The client's radio sleeps.
    #[must_use]
    pub fn with_radio(mut self, radio: Radio) -> Self {
        self.share(&radio);
        self.radio = Some(radio);
        self
    }

    /// The server is behind an address translation.
    #[must_use]
    pub fn with_nat(mut self, nat: Nat) -> Self {
        self.share(&nat);
        self.nat = Some(nat);
        self
    }

    fn share(&mut self, stage: &impl Impairment) {
        self.settles = self.settles.map(|settles| settles || stage.settles_when_polled());
    }

    fn shares(&self) -> bool {
        self.medium.is_some() || self.radio.is_some() || self.nat.is_some()
    }

    fn stages(&self) -> impl Iterator<Item = &dyn Impairment> {
        let [uplink, downlink] = &self.chains;
        let chains = [uplink as &dyn Impairment, downlink];
        let medium = self.medium.as_ref().map(|stage| stage as &dyn Impairment);
        let radio = self.radio.as_ref().map(|stage| stage as &dyn Impairment);
        let nat = self.nat.as_ref().map(|stage| stage as &dyn Impairment);
        chains.into_iter().chain(medium).chain(radio).chain(nat)
    }

    fn stages_mut(&mut self) -> impl Iterator<Item = &mut dyn Impairment> {
        let [uplink, downlink] = &mut self.chains;
        let chains = [uplink as &mut dyn Impairment, downlink];
        let medium = self.medium.as_mut().map(|stage| stage as &mut dyn Impairment);
        let radio = self.radio.as_mut().map(|stage| stage as &mut dyn Impairment);
        let nat = self.nat.as_mut().map(|stage| stage as &mut dyn Impairment);
        chains.into_iter().chain(medium).chain(radio).chain(nat)
    }

    fn next(&self) -> Option<Instant> {
        self.stages().filter_map(Impairment::poll_timeout).min()
    }

    fn advance(&mut self, now: Instant) {
        for (floor, settles) in self.floors.iter_mut().zip(self.settles) {
            if settles {
                *floor = now.max(*floor);
            }
        }
        // Only radio and NAT are passed in another order in each direction: without them, nothing comes back to a stage before them.
        if self.radio.is_none() && self.nat.is_none() {
            return self.step(now);
        }
        while let Some(due) = self.next().filter(|due| *due <= now) {
            self.step(due);
        }
    }

    /// Take from every stage what leaves it by `due`, and hand it on.
    fn step(&mut self, due: Instant) {
        while let Some((instant, packet)) = poll(&mut self.radio, due) {
            match packet.port.direction() {
                Direction::Uplink => self.enter_chain(packet, instant),
                Direction::Downlink => self.outlet.depart(packet, instant),
            }
        }
        while let Some((instant, packet)) = poll(&mut self.nat, due) {
            match packet.port.direction() {
                Direction::Uplink => self.outlet.depart(packet, instant),
                Direction::Downlink => self.enter_chain(packet, instant),
            }
        }
        self.leave_chains(due);
        while let Some((instant, packet)) = poll(&mut self.medium, due) {
            self.leave_medium(packet, instant);
        }
        self.tell_radio(due);
    }

    fn tell_radio(&mut self, now: Instant) {
        let Some(radio) = &mut self.radio else { return };
        let uplink = &self.chains[Direction::Uplink.index()];
        let packets = match &self.medium {
            Some(medium) => uplink.counters().held + medium.counters().held,
            None => uplink.sending().unwrap_or(0),
        };
        radio.handle_transfer(packets > 0, now);
    }

    fn enter(&mut self, packet: Packet, now: Instant) {
        let not_shared = match packet.port.direction() {
            Direction::Uplink => hand(&mut self.radio, packet, now),
            Direction::Downlink => hand(&mut self.nat, packet, now),
        };
        if let Some(packet) = not_shared {
            self.enter_chain(packet, now);
        }
    }

    fn enter_chain(&mut self, packet: Packet, now: Instant) {
        self.chains[packet.port.direction().index()].handle_packet(packet, now);
    }

    /// Those that come to the medium at one instant do so in the order in which they came to the link, so that a caller who polls between two
    /// arrivals at one instant changes nothing.
    fn leave_chains(&mut self, due: Instant) {
        let mut meeting = std::mem::take(&mut self.meeting);
        for chain in &mut self.chains {
            meeting.extend(std::iter::from_fn(|| chain.poll_packet(due)));
        }
        meeting.sort_by_key(|(instant, packet)| (*instant, packet.sequence));
        for (instant, packet) in meeting.drain(..) {
            if let Some(packet) = hand(&mut self.medium, packet, instant) {
                self.leave_medium(packet, instant);
            }
        }
        self.meeting = meeting;
    }

    fn leave_medium(&mut self, packet: Packet, now: Instant) {
        if packet.port.direction() == Direction::Downlink
            && self.medium.is_none()
            && let Some(radio) = &mut self.radio
        {
            radio.handle_reception(packet.airtime, now);
        }
        let not_shared = match packet.port.direction() {
            Direction::Uplink => hand(&mut self.nat, packet, now),
            Direction::Downlink => hand(&mut self.radio, packet, now),
        };
        if let Some(packet) = not_shared {
            self.outlet.depart(packet, now);
        }
    }
}

impl Impairment for Link {
    fn start(&mut self, origin: Instant) {
        self.started = true;
        self.stages_mut().for_each(|stage| stage.start(origin));
    }

    fn handle_packet(&mut self, mut packet: Packet, now: Instant) {
        let side = packet.port.direction().index();
        packet.arrival = now.max(self.floors[side]);
        self.floors[side] = packet.arrival;
        if !self.started {
            self.start(packet.arrival);
        }
        // Where nothing is shared, what is due in the other direction waits for a poll: a late arrival there may still matter.
        if self.shares() {
            self.advance(packet.arrival);
        }
        self.outlet.receive();
        let arrival = packet.arrival;
        self.enter(packet, arrival);
    }

    fn poll_packet(&mut self, now: Instant) -> Option<(Instant, Packet)> {
        self.advance(now);
        self.outlet.poll_packet(now)
    }

    fn poll_dropped(&mut self) -> Option<Dropped> {
        self.stages_mut().find_map(Impairment::poll_dropped)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.next().into_iter().chain(self.outlet.poll_timeout()).min()
    }

    fn settles_when_polled(&self) -> bool {
        self.settles.contains(&true)
    }

    fn poll_held(&mut self) -> Option<Packet> {
        self.outlet.poll_held().or_else(|| self.stages_mut().find_map(Impairment::poll_held))
    }

    fn counters(&self) -> Counters {
        let mut counters = self.outlet.counters(0);
        for stage in self.stages().map(Impairment::counters) {
            counters.duplicated += stage.duplicated;
            counters.dropped += stage.dropped;
            counters.held += stage.held;
        }
        counters
    }
}

fn poll(stage: &mut Option<impl Impairment>, now: Instant) -> Option<(Instant, Packet)> {
    stage.as_mut()?.poll_packet(now)
}

/// Gives the packet back if there is no such stage.
fn hand(stage: &mut Option<impl Impairment>, packet: Packet, now: Instant) -> Option<Packet> {
    let Some(stage) = stage else { return Some(packet) };
    stage.handle_packet(packet, now);
    None
}
