//! Descriptions of links, and a driver of impairments in virtual time.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::time::Duration;

use wirelab_link::impairment::{
    Correlation, Corrupt, Delay, DeliveryTrace, Duplicate, DutyCycle, FourState, GilbertElliott, GilbertElliottTime,
    Independent, Jitter, LossPattern, Lossy, Markov, Medium, Outage, Queued, Rate, Reorder, Schedule, SchedulePoint,
    TokenBucket,
};
use wirelab_link::queue::{Limit, Queue};
use wirelab_link::{
    Chain, Direction, DropCause, Flow, Impairment, Instant, Link, Packet, PortId, Probability, Seed, Transport,
};

/// A year: what leaves at all does so before.
const HORIZON: Instant = Instant::from_nanos(31_536_000_000_000_000);

/// What became of a packet: when it left, or when and why it was dropped.
pub type Fate = (Instant, Option<DropCause>);

/// The fate of every packet by its sequence and whether it is a copy.
pub type Fates = BTreeMap<(u64, bool), Fate>;

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
    /// Delay with jitter and its correlation, packets overtaking one another.
    Overtaking(Duration, Jitter, f64),
    /// Probability and correlation.
    Correlated(f64, f64),
    /// p13, p31, p32, p23, p14.
    FourState([f64; 5]),
    /// Transitions by row, loss by state.
    Markov(Vec<Vec<f64>>, Vec<f64>),
    LossPattern(String, bool),
    /// Probability, time and correlation.
    Reorder(f64, Duration, f64),
    /// Probability and correlation.
    Duplicate(f64, f64),
    /// Probability and correlation.
    Corrupt(f64, f64),
    GilbertElliott([f64; 4]),
    GilbertElliottTime(Duration, Duration, f64, f64),
    Rate(u64, u64, u32),
    /// A transmitter, what waits before it, and bytes added to each packet.
    Queued(Sender, Queue, u32),
    /// Start, duration, interval and the bytes held.
    Outage(Duration, Duration, Option<Duration>, Option<u64>),
}

/// A transmitter with its parameters; the schedule's delay and loss come with it.
#[derive(Clone, Debug)]
pub enum Sender {
    Rate(u64),
    /// Rate and burst.
    TokenBucket(u64, u64),
    /// Milliseconds.
    DeliveryTrace(Vec<u32>),
    Schedule(Vec<SchedulePoint>, Option<Duration>),
    /// Rate and share.
    DutyCycle(u64, f64),
}

impl Sender {
    pub fn build(&self, queue: Queue, overhead: u32, seed: Seed) -> Box<dyn Impairment> {
        let bps = |rate| NonZeroU64::new(rate).unwrap();
        match self {
            Self::Rate(rate) => Box::new(Queued::new(Rate::new(bps(*rate)), queue, overhead)),
            Self::TokenBucket(rate, burst) => {
                Box::new(Queued::new(TokenBucket::new(bps(*rate), *burst), queue, overhead))
            }
            Self::DeliveryTrace(opportunities) => {
                Box::new(Queued::new(DeliveryTrace::new(opportunities).unwrap(), queue, overhead))
            }
            Self::Schedule(points, repeat) => {
                Box::new(Schedule::new(points.clone(), *repeat).unwrap().into_chain(queue, overhead, seed))
            }
            Self::DutyCycle(rate, share) => {
                Box::new(Queued::new(DutyCycle::new(bps(*rate), *share).unwrap(), queue, overhead))
            }
        }
    }
}

/// A link: its stages by direction, and rate and queue of its medium.
#[derive(Clone, Debug)]
pub struct Plan {
    pub stages: [Vec<Stage>; 2],
    pub medium: Option<(u64, u64)>,
    pub seed: u64,
}

impl Stage {
    /// True if packets of one port may leave in another order than that in which they came.
    pub fn overtakes(&self) -> bool {
        matches!(self, Self::Overtaking(..) | Self::Reorder(..) | Self::Queued(_, Queue::FqCodel { .. }, _))
    }

    pub fn build(&self, seed: Seed) -> Box<dyn Impairment> {
        let probability = |value| Probability::new(value).unwrap();
        let correlation = |value| Correlation::new(value).unwrap();
        match *self {
            Self::Constant(delay) => Box::new(Delay::constant(delay)),
            Self::Jittered(mean, ref jitter) => {
                Box::new(Delay::with_jitter(mean, jitter.clone(), Correlation::default(), seed))
            }
            Self::Overtaking(mean, ref jitter, rho) => {
                Box::new(Delay::with_jitter(mean, jitter.clone(), correlation(rho), seed).overtaking())
            }
            Self::Independent(loss) => Box::new(Lossy::new(Independent::new(probability(loss), seed))),
            Self::Correlated(loss, rho) => {
                Box::new(Lossy::new(Independent::correlated(probability(loss), correlation(rho), seed)))
            }
            Self::FourState(parameters) => {
                let [p13, p31, p32, p23, p14] = parameters.map(probability);
                Box::new(Lossy::new(FourState::new(p13, p31, p32, p23, p14, seed).unwrap()))
            }
            Self::Markov(ref transitions, ref loss) => {
                let fractions = |values: &Vec<f64>| values.iter().copied().map(probability).collect::<Vec<_>>();
                let rows: Vec<_> = transitions.iter().map(fractions).collect();
                Box::new(Lossy::new(Markov::new(&rows, fractions(loss), seed).unwrap()))
            }
            Self::LossPattern(ref pattern, repeat) => Box::new(Lossy::new(LossPattern::new(pattern, repeat).unwrap())),
            Self::Reorder(share, by, rho) => Box::new(Reorder::new(probability(share), by, correlation(rho), seed)),
            Self::Duplicate(share, rho) => Box::new(Duplicate::new(probability(share), correlation(rho), seed)),
            Self::Corrupt(share, rho) => Box::new(Corrupt::new(probability(share), correlation(rho), seed)),
            Self::GilbertElliott(parameters) => {
                let [p, r, bad, good] = parameters.map(probability);
                Box::new(Lossy::new(GilbertElliott::new(p, r, bad, good, seed)))
            }
            Self::GilbertElliottTime(good, bad, bad_loss, good_loss) => {
                let (bad_loss, good_loss) = (probability(bad_loss), probability(good_loss));
                Box::new(Lossy::new(GilbertElliottTime::new(good, bad, bad_loss, good_loss, seed).unwrap()))
            }
            Self::Rate(rate, queue, overhead) => Sender::Rate(rate).build(drop_tail(queue), overhead, seed),
            Self::Queued(ref sender, queue, overhead) => sender.build(queue, overhead, seed),
            Self::Outage(start, duration, every, hold) => Box::new(Outage::new(start, duration, every, hold).unwrap()),
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
        let link = Link::new(self.chain(Direction::Uplink), self.chain(Direction::Downlink));
        match self.medium {
            Some((rate, queue)) => {
                link.with_medium(Medium::serialiser(NonZeroU64::new(rate).unwrap(), Limit::bytes(queue), 0))
            }
            None => link,
        }
    }
}

/// A drop-tail queue for `bytes`.
pub fn drop_tail(bytes: u64) -> Queue {
    Queue::DropTail(Limit::bytes(bytes))
}

/// The flow of a packet in a train: a third of the sizes each, and each over another transport.
pub fn flow(size: u32) -> Flow {
    let transport = [Transport::Other, Transport::Tcp, Transport::Udp][size as usize % 3];
    Flow { id: u64::from(size % 3), transport }
}

/// Send `train` through `impairment` as `caller` does, and return every packet's fate. Conservation is checked after every call.
pub fn drive(impairment: &mut dyn Impairment, train: &[Send], caller: &Caller) -> Fates {
    let mut run = Run { impairment, fates: Fates::new(), handed_in: 0, taken_out: 0, clock: Instant::default() };
    let arrivals = packets(train);
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
    run.poll_when_due(HORIZON);
    run.take_out();
    run.fates
}

/// Send `train` through `impairment` and end it `lasts` after the last arrival, whatever is inside then.
pub fn break_off(impairment: &mut dyn Impairment, train: &[Send], lasts: Duration) {
    let mut run = Run { impairment, fates: Fates::new(), handed_in: 0, taken_out: 0, clock: Instant::default() };
    for packet in packets(train) {
        run.poll_when_due(packet.arrival);
        run.hand_in(packet);
    }
    run.poll(run.clock + lasts);
    run.take_out();
    let originals = run.fates.keys().filter(|(_, copy)| !copy).map(|(sequence, _)| *sequence);
    assert!(originals.eq(0..train.len() as u64));
}

fn packets(train: &[Send]) -> Vec<Packet> {
    let mut arrival = Instant::default();
    let packet = |(sequence, send): (u64, &Send)| {
        arrival = arrival + send.gap;
        Packet::new(sequence, PortId(send.port), send.size, arrival, flow(send.size))
    };
    (0..).zip(train).map(packet).collect()
}

struct Run<'a> {
    impairment: &'a mut dyn Impairment,
    fates: Fates,
    handed_in: u64,
    taken_out: u64,
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
            assert_eq!(self.fates.insert((packet.sequence, packet.copy), (departure, None)), None);
            self.check_conservation();
        }
        self.check_conservation();
        while let Some(dropped) = self.impairment.poll_dropped() {
            assert!(dropped.at >= dropped.packet.arrival && dropped.at <= now);
            let packet = &dropped.packet;
            assert_eq!(self.fates.insert((packet.sequence, packet.copy), (dropped.at, Some(dropped.cause))), None);
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

    /// End it; what is inside waits for ever.
    fn take_out(&mut self) {
        while let Some(packet) = self.impairment.poll_held() {
            let fate = (Instant::from_nanos(u64::MAX), None);
            assert_eq!(self.fates.insert((packet.sequence, packet.copy), fate), None);
            self.taken_out += 1;
            self.check_conservation();
        }
        assert_eq!(self.impairment.counters().held, 0);
    }

    fn check_conservation(&self) {
        let counters = self.impairment.counters();
        assert_eq!(counters.received, self.handed_in);
        let leaving = counters.delivered + counters.dropped + counters.held + self.taken_out;
        assert_eq!(counters.received + counters.duplicated, leaving, "{counters:?}");
    }
}
