//! Descriptions of links, and a driver of impairments in virtual time.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::time::Duration;

use wirelab_link::impairment::{Delay, GilbertElliott, GilbertElliottTime, Independent, Jitter, Lossy, Medium, Rate};
use wirelab_link::{Chain, Direction, DropCause, Impairment, Instant, Link, Packet, PortId, Probability, Seed};

/// What became of a packet: when it left, or when and why it was dropped.
pub type Fate = (Instant, Option<DropCause>);

/// A packet to send: how long after the previous one, where and how large.
#[derive(Clone, Debug)]
pub struct Send {
    pub gap: Duration,
    pub port: u16,
    pub size: u32,
}

/// When a caller polls.
#[derive(Clone, Debug)]
pub enum Caller {
    /// At every instant at which something is due, and at every arrival, before and after.
    Prompt,
    /// Only ever to hand in a packet; everything is collected at the end.
    Absent,
    /// Sleeps too long by these, in turn: then hands in what has arrived meanwhile, and polls.
    Late(Vec<Duration>),
}

/// One kind of impairment with its parameters.
#[derive(Clone, Debug)]
pub enum Stage {
    Constant(Duration),
    Jittered(Duration, Jitter),
    Independent(f64),
    GilbertElliott([f64; 4]),
    GilbertElliottTime(Duration, Duration, f64, f64),
    Rate(u64, u64, u32),
}

/// A link: its stages by direction, and rate and queue of its medium.
#[derive(Clone, Debug)]
pub struct Plan {
    pub stages: [Vec<Stage>; 2],
    pub medium: Option<(u64, u64)>,
    pub seed: u64,
}

impl Stage {
    pub fn build(&self, seed: Seed) -> Box<dyn Impairment> {
        let probability = |value| Probability::new(value).unwrap();
        match *self {
            Self::Constant(delay) => Box::new(Delay::constant(delay)),
            Self::Jittered(mean, jitter) => Box::new(Delay::with_jitter(mean, jitter, seed)),
            Self::Independent(loss) => Box::new(Lossy::new(Independent::new(probability(loss), seed))),
            Self::GilbertElliott(parameters) => {
                let [p, r, bad, good] = parameters.map(probability);
                Box::new(Lossy::new(GilbertElliott::new(p, r, bad, good, seed)))
            }
            Self::GilbertElliottTime(good, bad, bad_loss, good_loss) => {
                let (bad_loss, good_loss) = (probability(bad_loss), probability(good_loss));
                Box::new(Lossy::new(GilbertElliottTime::new(good, bad, bad_loss, good_loss, seed)))
            }
            Self::Rate(rate, queue, overhead) => Box::new(Rate::new(NonZeroU64::new(rate).unwrap(), queue, overhead)),
        }
    }
}

impl Plan {
    pub fn chain(&self, direction: Direction) -> Chain {
        let seed = |index| Seed { link: self.seed, direction, index };
        let stages = &self.stages[direction.index()];
        Chain::new((0..).zip(stages).map(|(index, stage)| stage.build(seed(index))).collect())
    }

    pub fn link(&self) -> Link {
        let medium = self.medium.map(|(rate, queue)| Medium::new(NonZeroU64::new(rate).unwrap(), queue, 0));
        Link::new(self.chain(Direction::Uplink), self.chain(Direction::Downlink), medium)
    }
}

/// Send `train` through `impairment` as `caller` does, and return every packet's fate by its sequence. Conservation is checked after every call.
pub fn drive(impairment: &mut dyn Impairment, train: &[Send], caller: &Caller) -> BTreeMap<u64, Fate> {
    let mut run = Run { impairment, fates: BTreeMap::new(), handed_in: 0, clock: Instant::default() };
    let mut arrivals = Vec::new();
    let mut arrival = Instant::default();
    for (sequence, send) in (0..).zip(train) {
        arrival = arrival + send.gap;
        arrivals.push(Packet { sequence, port: PortId(send.port), size: send.size, arrival, data: Vec::new() });
    }
    match caller {
        Caller::Prompt => {
            for packet in arrivals {
                run.poll_when_due(packet.arrival);
                run.poll(packet.arrival);
                let now = packet.arrival;
                run.hand_in(packet);
                run.poll(now);
            }
        }
        Caller::Absent => arrivals.into_iter().for_each(|packet| run.hand_in(packet)),
        Caller::Late(oversleeps) => {
            let mut oversleeps = oversleeps.iter().cycle();
            let mut arrivals = arrivals.into_iter().peekable();
            while let Some(next) = arrivals.peek() {
                let due = run.impairment.poll_timeout().map_or(next.arrival, |due| due.min(next.arrival));
                let now = due + *oversleeps.next().unwrap();
                while let Some(packet) = arrivals.next_if(|packet| packet.arrival <= now) {
                    run.hand_in(packet);
                }
                run.poll(now);
            }
        }
    }
    run.poll(run.clock);
    run.poll_when_due(Instant::from_nanos(u64::MAX));
    let counters = run.impairment.counters();
    assert_eq!((counters.received, counters.held), (train.len() as u64, 0));
    run.fates
}

struct Run<'a> {
    impairment: &'a mut dyn Impairment,
    fates: BTreeMap<u64, Fate>,
    handed_in: u64,
    clock: Instant,
}

impl Run<'_> {
    fn hand_in(&mut self, packet: Packet) {
        let arrival = packet.arrival;
        self.clock = self.clock.max(arrival);
        self.impairment.handle_packet(packet, arrival);
        self.handed_in += 1;
        self.check_conservation();
    }

    fn poll(&mut self, now: Instant) {
        self.clock = now;
        while let Some((departure, packet)) = self.impairment.poll_packet(now) {
            assert!(departure >= packet.arrival && departure <= now);
            assert_eq!(self.fates.insert(packet.sequence, (departure, None)), None);
            self.check_conservation();
        }
        self.check_conservation();
        while let Some(dropped) = self.impairment.poll_dropped() {
            assert!(dropped.at >= dropped.packet.arrival && dropped.at <= now);
            assert_eq!(self.fates.insert(dropped.packet.sequence, (dropped.at, Some(dropped.cause))), None);
        }
        let counters = self.impairment.counters();
        assert_eq!(counters.delivered + counters.dropped, self.fates.len() as u64);
        assert!(self.impairment.poll_timeout().is_none_or(|due| due > now));
    }

    fn poll_when_due(&mut self, until: Instant) {
        while let Some(due) = self.impairment.poll_timeout().filter(|due| *due <= until) {
            self.poll(due.max(self.clock));
        }
    }

    fn check_conservation(&self) {
        let counters = self.impairment.counters();
        assert_eq!(counters.received, self.handed_in);
        assert_eq!(counters.received, counters.delivered + counters.dropped + counters.held, "{counters:?}");
    }
}
