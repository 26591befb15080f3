//! Packets through a stage, and what is seen of them.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use wirelab_link::{Carries, Direction, DropCause, Ends, Flow, Impairment, Instant, Packet, PortId, Seed, Transport};

/// What is seen of one packet that was handed in.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    pub arrival_ns: u64,
    pub dropped: Option<DropCause>,
    /// Until it left, if it did.
    pub delay_ns: Option<u64>,
    /// In which place of all departures.
    pub place: usize,
    pub copies: u32,
    pub corrupted: bool,
}

impl Seen {
    /// There was a time at which it was inside.
    pub fn was_held(&self) -> bool {
        self.dropped.is_none() && self.delay_ns != Some(0)
    }
}

pub const fn seed(link: u64) -> Seed {
    Seed { link, direction: Direction::Uplink, index: 0 }
}

/// A packet to hand in.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub at: Duration,
    pub direction: Direction,
    pub size: u32,
    pub flow: u64,
}

impl Sent {
    /// Each flow is a client's port to one server.
    fn ends(&self) -> Ends {
        let at = |host, port| SocketAddr::from((Ipv4Addr::new(10, 77, 0, host), port));
        let (client, server) = (at(1, 1024 + self.flow as u16), at(2, 443));
        let (source, destination) =
            if self.direction == Direction::Uplink { (client, server) } else { (server, client) };
        Ends { source, destination, carries: Carries::Datagram }
    }
}

/// `packets` of `size` bytes, one every `gap`, and the outcome of each until an hour after the last.
pub fn send(stage: &mut dyn Impairment, packets: u64, size: u32, gap: Duration) -> Vec<Seen> {
    let at = |nth: u64| gap * u32::try_from(nth).expect("a short train");
    let sent = |nth| Sent { at: at(nth), direction: Direction::Uplink, size, flow: nth % 4 };
    watch(stage, &(0..packets).map(sent).collect::<Vec<_>>(), at(packets) + Duration::from_secs(3600))
}

/// These packets, in the order of their times, and the outcome of each until `end`.
pub fn watch(stage: &mut dyn Impairment, train: &[Sent], end: Duration) -> Vec<Seen> {
    let mut seen = vec![Seen::default(); train.len()];
    let mut departed = 0;
    stage.start(Instant::default());
    for (sequence, sent) in (0..).zip(train) {
        let arrival = Instant::default() + sent.at;
        poll_until(stage, arrival, &mut seen, &mut departed);
        seen[sequence as usize].arrival_ns = arrival.as_nanos();
        let flow = Flow { id: sent.flow, transport: Transport::Udp };
        let port = PortId(sent.direction.index() as u16);
        let ends = Some(sent.ends());
        stage.handle_packet(
            Packet { ends: ends.map(Box::new), ..Packet::new(sequence, port, sent.size, arrival, flow) },
            arrival,
        );
        collect(stage, arrival, &mut seen, &mut departed);
    }
    poll_until(stage, Instant::default() + end, &mut seen, &mut departed);
    seen
}

fn poll_until(stage: &mut dyn Impairment, end: Instant, seen: &mut [Seen], departed: &mut usize) {
    while let Some(due) = stage.poll_timeout().filter(|due| *due <= end) {
        collect(stage, due, seen, departed);
    }
    collect(stage, end, seen, departed);
}

fn collect(stage: &mut dyn Impairment, now: Instant, seen: &mut [Seen], departed: &mut usize) {
    while let Some((instant, packet)) = stage.poll_packet(now) {
        let one = &mut seen[packet.sequence as usize];
        if packet.copy {
            one.copies += 1;
        } else {
            one.delay_ns = Some(instant.as_nanos() - one.arrival_ns);
            one.corrupted = packet.corrupted_bit.is_some();
            one.place = *departed;
            *departed += 1;
        }
    }
    while let Some(dropped) = stage.poll_dropped() {
        seen[dropped.packet.sequence as usize].dropped = Some(dropped.cause);
    }
}

/// The mean of runs with independent seeds, and its standard error.
#[derive(Clone, Copy, Debug)]
pub struct Mean {
    pub mean: f64,
    pub error: f64,
}

impl Mean {
    pub fn of(runs: &[f64]) -> Self {
        let many = runs.len() as f64;
        let mean = runs.iter().sum::<f64>() / many;
        let variance = runs.iter().map(|run| (run - mean).powi(2)).sum::<f64>() / (many - 1.0);
        Self { mean, error: (variance / many).sqrt() }
    }

    /// True if a value is within five standard errors, or, if nothing is random, within `rounding`.
    pub fn agrees(&self, value: f64, rounding: f64) -> bool {
        (self.mean - value).abs() <= 5.0 * self.error + rounding
    }
}
