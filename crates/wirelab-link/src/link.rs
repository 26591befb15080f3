//! An emulated path: both directions and what they share.

use std::fmt;
use std::ops::Range;

use crate::impairment::stage_exit::StageExit;
use crate::impairment::{Position, Shared};
use crate::{Chain, Counters, Direction, Dropped, Impairment, Instant, Packet};

/// An emulated path: a chain for each direction, and the stages that both share. Itself an impairment; a packet's port tells its direction.
///
/// From the client, packets pass the radio, the uplink chain, the medium, the NAT; from the server the NAT, the downlink chain, the medium, the
/// radio. Whatever is due anywhere happens in the order of its instants, for what one direction does to a shared stage the other one sees.
///
/// The radio is at the client, but passes packets in no time. So that it does not sleep in the middle of one, the link tells it when the client sends or
/// receives: while there are packets in the medium, or on their way to it from the client; without a medium, while there are in the uplink chain
/// up to the end of its first rate, and for as long before the arrival of a downlink packet as the last rate was sending that.
///
/// [`handle_packet`](Impairment::handle_packet) sets `Packet::arrival` to the instant it goes by: the one given, unless that is earlier than
/// the direction's last arrival or, where a stage [settles when polled](Impairment::settles_when_polled), than the last poll, or the last arrival
/// in the other direction too if they share any stage; then it is moved up to that. A log of arrivals in order of `sequence` is therefore all
/// that a replay needs.
pub struct Link {
    chains: [Chain; 2],
    /// What both directions share, in the order in which it is asked: the ends before the middle.
    shared: Vec<Box<dyn Shared>>,
    /// For each direction, the way of its packets.
    paths: [Vec<Hop>; 2],
    /// For each direction, whether a poll settles what becomes of its packets.
    settles: [bool; 2],
    /// For each direction, the earliest instant at which a packet may still arrive.
    floors: [Instant; 2],
    started: bool,
    /// Packets that leave their chains at one instant, empty between calls.
    meeting: Vec<(Instant, Packet)>,
    exit: StageExit,
}

/// A stage on a packet's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hop {
    /// The direction's own chain.
    Chain,
    /// A stage that both directions share, by its index.
    Shared(usize),
}

impl Link {
    /// A link of its two chains, which share nothing.
    pub fn new(uplink: Chain, downlink: Chain) -> Self {
        let settles = [uplink.settles_when_polled(), downlink.settles_when_polled()];
        Self {
            chains: [uplink, downlink],
            shared: Vec::new(),
            paths: [vec![Hop::Chain], vec![Hop::Chain]],
            settles,
            floors: Default::default(),
            started: false,
            meeting: Vec::new(),
            exit: StageExit::default(),
        }
    }

    /// Both directions share `stage`. Of several at one position the first is the nearest to the client.
    #[must_use]
    pub fn with(mut self, stage: Box<dyn Shared>) -> Self {
        self.settles = self.settles.map(|settles| settles || stage.settles_when_polled());
        let asked = |position| match position {
            Position::Near => 0,
            Position::Far => 1,
            Position::Middle => 2,
        };
        let place = self.shared.partition_point(|other| asked(other.position()) <= asked(stage.position()));
        self.shared.insert(place, stage);
        self.paths = Direction::ALL.map(|direction| self.path(direction));
        self
    }

    fn path(&self, direction: Direction) -> Vec<Hop> {
        let at = |position| (0..self.shared.len()).filter(move |index| self.shared[*index].position() == position);
        let near = at(Position::Near).map(Hop::Shared);
        let middle = at(Position::Middle).map(Hop::Shared);
        let far = at(Position::Far).map(Hop::Shared);
        match direction {
            Direction::Uplink => near.chain([Hop::Chain]).chain(middle).chain(far).collect(),
            Direction::Downlink => far.rev().chain([Hop::Chain]).chain(middle).chain(near.rev()).collect(),
        }
    }

    /// How many shared stages are at the ends; the others are in the middle.
    fn ends(&self) -> usize {
        self.shared.partition_point(|stage| stage.position() != Position::Middle)
    }

    fn stages(&self) -> impl Iterator<Item = &dyn Impairment> {
        let chains = self.chains.iter().map(|chain| chain as &dyn Impairment);
        chains.chain(self.shared.iter().map(|stage| &**stage as &dyn Impairment))
    }

    fn stages_mut(&mut self) -> impl Iterator<Item = &mut dyn Impairment> {
        let chains = self.chains.iter_mut().map(|chain| chain as &mut dyn Impairment);
        chains.chain(self.shared.iter_mut().map(|stage| &mut **stage as &mut dyn Impairment))
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
        // Only stages at the ends are passed in another order in each direction: without them, nothing comes back to a stage before them.
        if self.ends() == 0 {
            return self.step(now);
        }
        while let Some(due) = self.next().filter(|due| *due <= now) {
            self.step(due);
        }
    }

    /// Take from every stage what leaves it by `due`, and hand it on.
    fn step(&mut self, due: Instant) {
        let ends = self.ends();
        self.leave_shared(0..ends, due);
        self.leave_chains(due);
        self.leave_shared(ends..self.shared.len(), due);
        self.tell_near_end(due);
    }

    fn leave_shared(&mut self, stages: Range<usize>, due: Instant) {
        for index in stages {
            while let Some((instant, packet)) = self.shared[index].poll_packet(due) {
                self.hand_on(packet, Hop::Shared(index), instant);
            }
        }
    }

    /// Packets that leave their chains at one instant continue in the order in which they came to the link, so that a caller that polls between two
    /// arrivals at one instant changes nothing.
    fn leave_chains(&mut self, due: Instant) {
        let mut meeting = std::mem::take(&mut self.meeting);
        for chain in &mut self.chains {
            meeting.extend(std::iter::from_fn(|| chain.poll_packet(due)));
        }
        meeting.sort_by_key(|(instant, packet)| (*instant, packet.sequence));
        for (instant, packet) in meeting.drain(..) {
            self.hand_on(packet, Hop::Chain, instant);
        }
        self.meeting = meeting;
    }

    fn tell_near_end(&mut self, now: Instant) {
        let ends = self.ends();
        let (at_ends, middle) = self.shared.split_at_mut(ends);
        let uplink = &self.chains[Direction::Uplink.index()];
        let mut packets = None;
        for stage in at_ends.iter_mut().filter(|stage| stage.position() == Position::Near) {
            let packets = *packets.get_or_insert_with(|| match middle {
                [] => uplink.sending().unwrap_or(0),
                _ => uplink.counters().held + middle.iter().map(|stage| stage.counters().held).sum::<u64>(),
            });
            stage.handle_transfer(packets > 0, now);
        }
    }

    /// Hand a packet that leaves a stage to the next one on its way, or let it depart.
    fn hand_on(&mut self, packet: Packet, from: Hop, now: Instant) {
        let path = &self.paths[packet.port.direction().index()];
        let next = path.iter().position(|hop| *hop == from).map_or(0, |place| place + 1);
        self.hand_to(packet, next, now);
    }

    fn hand_to(&mut self, packet: Packet, place: usize, now: Instant) {
        let direction = packet.port.direction();
        match self.paths[direction.index()].get(place) {
            None => self.exit.depart(packet, now),
            Some(Hop::Chain) => self.chains[direction.index()].handle_packet(packet, now),
            Some(Hop::Shared(index)) => {
                let receives = direction == Direction::Downlink && self.ends() == self.shared.len();
                let stage = &mut self.shared[*index];
                if receives && stage.position() == Position::Near {
                    stage.handle_reception(packet.airtime, now);
                }
                stage.handle_packet(packet, now);
            }
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
        if !self.shared.is_empty() {
            self.advance(packet.arrival);
        }
        self.exit.receive();
        let arrival = packet.arrival;
        self.hand_to(packet, 0, arrival);
    }

    fn poll_packet(&mut self, now: Instant) -> Option<(Instant, Packet)> {
        self.advance(now);
        self.exit.poll_packet(now)
    }

    fn poll_dropped(&mut self) -> Option<Dropped> {
        self.stages_mut().find_map(Impairment::poll_dropped)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.next().into_iter().chain(self.exit.poll_timeout()).min()
    }

    fn settles_when_polled(&self) -> bool {
        self.settles.contains(&true)
    }

    fn poll_held(&mut self) -> Option<Packet> {
        self.exit.poll_held().or_else(|| self.stages_mut().find_map(Impairment::poll_held))
    }

    fn counters(&self) -> Counters {
        let mut counters = self.exit.counters(0);
        for stage in self.stages().map(Impairment::counters) {
            counters.originated += stage.originated;
            counters.duplicated += stage.duplicated;
            counters.dropped += stage.dropped;
            counters.held += stage.held;
        }
        counters
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Link({} shared stages, {:?})", self.shared.len(), self.counters())
    }
}
