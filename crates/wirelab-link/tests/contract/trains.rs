//! Packets through a stage, and what is seen of them.

use std::time::Duration;

use wirelab_link::{Direction, DropCause, Flow, Impairment, Instant, Packet, PortId, Seed, Transport};

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

pub const fn seed(link: u64) -> Seed {
    Seed { link, direction: Direction::Uplink, index: 0 }
}

/// `packets` of `size` bytes, one every `gap`, and what became of each until an hour after the last.
pub fn send(stage: &mut dyn Impairment, packets: u64, size: u32, gap: Duration) -> Vec<Seen> {
    let mut seen = vec![Seen::default(); packets as usize];
    let mut departed = 0;
    stage.start(Instant::default());
    for sequence in 0..packets {
        let arrival = Instant::default() + gap * u32::try_from(sequence).expect("a short train");
        seen[sequence as usize].arrival_ns = arrival.as_nanos();
        let flow = Flow { id: sequence % 4, transport: Transport::Udp };
        stage.handle_packet(Packet::new(sequence, PortId(0), size, arrival, flow), arrival);
        collect(stage, arrival, &mut seen, &mut departed);
    }
    let end = Instant::default() + gap * u32::try_from(packets).expect("a short train") + Duration::from_secs(3600);
    while let Some(due) = stage.poll_timeout().filter(|due| *due <= end) {
        collect(stage, due, &mut seen, &mut departed);
    }
    collect(stage, end, &mut seen, &mut departed);
    seen
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
