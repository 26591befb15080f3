//! Descriptions of links, and a driver of impairments in virtual time.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU64;
use std::time::Duration;

use serde_json::{Value, json};
use wirelab_link::impairment::{
    CorruptSpec, DelaySpec, DuplicateSpec, GilbertElliottSpec, GilbertElliottTimeSpec, ImpairmentSpec, JitterSpec,
    LossSpec, OutageSpec, ReorderSpec, SchedulePoint, Turns,
};
use wirelab_link::queue::{Limit, Queue, QueueSpec};
use wirelab_link::spec::Place;
use wirelab_link::{
    Carries, Chain, Direction, DropCause, Ends, Flow, Impairment, Instant, Link, Packet, PortId, Seed, TcpFlags,
    Transport,
};

/// A year: what leaves at all does so before.
const HORIZON: Instant = Instant::from_nanos(31_536_000_000_000_000);

/// The outcome of a packet: when it left, or when and why it was dropped.
pub type Outcome = (Instant, Option<DropCause>);

/// The outcome of every packet by its sequence and whether it is a copy.
pub type Outcomes = BTreeMap<(u64, bool), Outcome>;

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

/// A stage by its description.
#[derive(Clone, Debug)]
pub struct Stage(pub ImpairmentSpec);

/// A transmitter by its description, without its queue.
#[derive(Clone, Debug)]
pub struct Sender(Value);

impl Sender {
    pub fn rate(rate_bps: u64) -> Self {
        Self(json!({"kind": "rate", "rate_bps": rate_bps}))
    }

    pub fn token_bucket(rate_bps: u64, burst_bytes: u64) -> Self {
        Self(json!({"kind": "token-bucket", "rate_bps": rate_bps, "burst_bytes": burst_bytes}))
    }

    pub fn delivery_trace(milliseconds: Vec<u32>) -> Self {
        Self(json!({"kind": "delivery-trace", "opportunities_ms": milliseconds}))
    }

    pub fn schedule(points: Vec<SchedulePoint>, repeat: Option<Duration>) -> Self {
        Self(json!({"kind": "schedule", "points": points, "repeat_ns": repeat.map(ns)}))
    }

    pub fn duty_cycle(rate_bps: u64, share: f64) -> Self {
        Self(json!({"kind": "duty-cycle", "rate_bps": rate_bps, "share": share}))
    }

    /// The transmitter of any stage that has one.
    pub fn of(stage: &ImpairmentSpec) -> Option<Self> {
        let mut value = serde_json::to_value(stage).unwrap();
        value.as_object_mut().unwrap().remove("queue").map(|_| Self(value))
    }

    pub fn stage(&self, queue: Queue, overhead_bytes: u32) -> Stage {
        let mut value = self.0.clone();
        value["queue"] = serde_json::to_value(queue_spec(queue)).unwrap();
        value["overhead_bytes"] = overhead_bytes.into();
        Stage(serde_json::from_value(value).unwrap())
    }

    pub fn build(&self, queue: Queue, overhead: u32, seed: Seed) -> Box<dyn Impairment> {
        self.stage(queue, overhead).build(seed)
    }
}

fn queue_spec(queue: Queue) -> QueueSpec {
    match queue {
        Queue::DropTail(Limit::NONE) => QueueSpec::DropTail { bytes: None, packets: Some(u32::MAX) },
        Queue::DropTail(Limit { bytes, packets }) => QueueSpec::DropTail { bytes, packets },
        Queue::Codel { target, interval, bytes } => {
            QueueSpec::Codel { target_ns: ns(target), interval_ns: ns(interval), bytes }
        }
        Queue::FqCodel { target, interval, flows, quantum_bytes, packets } => QueueSpec::FqCodel {
            target_ns: ns(target),
            interval_ns: ns(interval),
            flows: flows.get(),
            quantum_bytes: quantum_bytes.get(),
            packets,
        },
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
    fn of(spec: impl Into<ImpairmentSpec>) -> Self {
        Self(spec.into())
    }

    pub fn constant(delay: Duration) -> Self {
        Self::of(DelaySpec { delay_ns: ns(delay), jitter: None, correlation: 0.0, overtaking: false })
    }

    pub fn jittered(mean: Duration, jitter: JitterSpec) -> Self {
        Self::of(DelaySpec { delay_ns: ns(mean), jitter: Some(jitter), correlation: 0.0, overtaking: false })
    }

    /// Delay with jitter and its correlation, packets overtaking one another.
    pub fn overtaking(mean: Duration, jitter: JitterSpec, correlation: f64) -> Self {
        Self::of(DelaySpec { delay_ns: ns(mean), jitter: Some(jitter), correlation, overtaking: true })
    }

    pub fn independent(probability: f64) -> Self {
        Self::correlated(probability, 0.0)
    }

    pub fn correlated(probability: f64, correlation: f64) -> Self {
        Self::of(LossSpec { probability, correlation })
    }

    pub fn reorder(probability: f64, by: Duration, correlation: f64) -> Self {
        Self::of(ReorderSpec { probability, by_ns: ns(by), correlation })
    }

    pub fn duplicate(probability: f64, correlation: f64) -> Self {
        Self::of(DuplicateSpec { probability, correlation })
    }

    pub fn corrupt(probability: f64, correlation: f64) -> Self {
        Self::of(CorruptSpec { probability, correlation })
    }

    pub fn gilbert_elliott([p, r, bad_loss, good_loss]: [f64; 4]) -> Self {
        Self::of(GilbertElliottSpec { p, r, bad_loss, good_loss })
    }

    pub fn gilbert_elliott_time(good: Duration, bad: Duration, bad_loss: f64, good_loss: f64) -> Self {
        Self::of(GilbertElliottTimeSpec { good_ns: ns(good), bad_ns: ns(bad), bad_loss, good_loss })
    }

    pub fn rate(rate: u64, queue: u64, overhead: u32) -> Self {
        Sender::rate(rate).stage(drop_tail(queue), overhead)
    }

    /// A transmitter, what waits before it, and bytes added to each packet.
    pub fn queued(sender: Sender, queue: Queue, overhead: u32) -> Self {
        sender.stage(queue, overhead)
    }

    /// Start, duration, interval and the bytes held.
    pub fn outage(start: Duration, duration: Duration, every: Option<Duration>, hold_bytes: Option<u64>) -> Self {
        Self::of(OutageSpec { start_ns: ns(start), duration_ns: ns(duration), every_ns: every.map(ns), hold_bytes })
    }

    /// True if packets of one port may leave in another order than that in which they came.
    pub fn overtakes(&self) -> bool {
        let facts = self.0.facts();
        facts.overtakes || facts.queue.is_some_and(|queue| queue.fair)
    }

    /// True if it makes packets.
    pub fn copies(&self) -> bool {
        self.0.facts().duplicated.is_some()
    }

    pub fn build(&self, seed: Seed) -> Box<dyn Impairment> {
        self.0.build(seed, &Place::new("stage")).unwrap_or_else(|error| panic!("{error}: {self:?}"))
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
                link.with(Box::new(Turns::new(NonZeroU64::new(rate).unwrap(), Limit::bytes(queue), 0)))
            }
            None => link,
        }
    }
}

fn ns(duration: Duration) -> u64 {
    duration.as_nanos() as u64
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

/// The ends of a flow's packet from this port; each segment of TCP opens a connection.
pub fn ends(port: PortId, flow: Flow) -> Ends {
    let at = |host, port| SocketAddr::from((Ipv4Addr::new(10, 77, 0, host), port));
    let (client, server) = (at(1, 5000 + flow.id as u16), at(2, 443));
    let (source, destination) = if port.direction() == Direction::Uplink { (client, server) } else { (server, client) };
    let syn = TcpFlags { syn: true, ..TcpFlags::default() };
    let carries = if flow.transport == Transport::Tcp { Carries::Segment(syn) } else { Carries::Datagram };
    Ends { source, destination, carries }
}

/// Send `train` through `impairment` as `caller` does, and return every packet's outcome. Conservation is checked after every call.
pub fn drive(impairment: &mut dyn Impairment, train: &[Send], caller: &Caller) -> Outcomes {
    let mut run = Run { impairment, outcomes: Outcomes::new(), handed_in: 0, taken_out: 0, clock: Instant::default() };
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
    run.outcomes
}

/// Send `train` through `impairment` and end it `lasts` after the last arrival, whatever is inside then.
pub fn break_off(impairment: &mut dyn Impairment, train: &[Send], lasts: Duration) {
    let mut run = Run { impairment, outcomes: Outcomes::new(), handed_in: 0, taken_out: 0, clock: Instant::default() };
    for packet in packets(train) {
        run.poll_when_due(packet.arrival);
        run.hand_in(packet);
    }
    run.poll(run.clock + lasts);
    run.take_out();
    let originals = run.outcomes.keys().filter(|(_, copy)| !copy).map(|(sequence, _)| *sequence);
    assert!(originals.eq(0..train.len() as u64));
}

fn packets(train: &[Send]) -> Vec<Packet> {
    let mut arrival = Instant::default();
    let packet = |(sequence, send): (u64, &Send)| {
        arrival = arrival + send.gap;
        let (port, flow) = (PortId(send.port), flow(send.size));
        Packet { ends: Some(Box::new(ends(port, flow))), ..Packet::new(sequence, port, send.size, arrival, flow) }
    };
    (0..).zip(train).map(packet).collect()
}

struct Run<'a> {
    impairment: &'a mut dyn Impairment,
    outcomes: Outcomes,
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
            assert_eq!(self.outcomes.insert((packet.sequence, packet.copy), (departure, None)), None);
            self.check_conservation();
        }
        self.check_conservation();
        while let Some(dropped) = self.impairment.poll_dropped() {
            assert!(dropped.at >= dropped.packet.arrival && dropped.at <= now);
            let packet = &dropped.packet;
            assert_eq!(self.outcomes.insert((packet.sequence, packet.copy), (dropped.at, Some(dropped.cause))), None);
        }
        let counters = self.impairment.counters();
        assert_eq!(counters.delivered + counters.dropped, self.outcomes.len() as u64);
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
            let outcome = (Instant::from_nanos(u64::MAX), None);
            assert_eq!(self.outcomes.insert((packet.sequence, packet.copy), outcome), None);
            self.taken_out += 1;
            self.check_conservation();
        }
        assert_eq!(self.impairment.counters().held, 0);
    }

    fn check_conservation(&self) {
        let counters = self.impairment.counters();
        assert_eq!(counters.received, self.handed_in);
        let leaving = counters.delivered + counters.dropped + counters.held + self.taken_out;
        assert_eq!(counters.received + counters.originated + counters.duplicated, leaving, "{counters:?}");
    }
}
