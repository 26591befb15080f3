//! Counts what a link has inside and the delays that it computed. It changes no packet.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use wirelab_net::clock;
use wirelab_net::link::{Counters, Direction, Dropped, Impairment, Instant, Packet};

use super::signals::Signals;

/// For this long no packet may be inside the link.
const QUIET: Duration = Duration::from_millis(50);

/// A link that is counted while it runs.
pub struct Observed {
    link: Box<dyn Impairment>,
    counts: Arc<RunningCounts>,
}

/// Counts of a running link, by direction.
#[derive(Debug, Default)]
pub struct RunningCounts {
    delay_ns: [AtomicU64; 2],
    departed: [AtomicU64; 2],
    corrupted: [AtomicU64; 2],
    reordered: [AtomicU64; 2],
    /// One more than the latest packet, in the order in which they came, that has left.
    next: [AtomicU64; 2],
    inside: [AtomicI64; 2],
}

/// Delays and changes of one direction's packets that have left, copies included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Mean of the delays that the link computed for them; `None` if there were none.
    pub mean_delay: Option<Duration>,
    /// Those of which a bit was inverted.
    pub corrupted: u64,
    /// Those that left after one that came later (RFC 4737, section 3.3), without copies.
    pub reordered: u64,
}

impl Account {
    /// The account without its delay, for a link after which netem delays packets further.
    pub fn without_delay(self) -> Self {
        Self { mean_delay: None, ..self }
    }
}

impl Observed {
    pub fn new(link: Box<dyn Impairment>, counts: Arc<RunningCounts>) -> Self {
        Self { link, counts }
    }

    fn count(&self, packet: &Packet, change: i64) {
        // Copies come from nowhere.
        if !packet.copy {
            self.counts.inside[packet.port.direction().index()].fetch_add(change, Ordering::Relaxed);
        }
    }
}

impl RunningCounts {
    /// By direction. Call it before the link ends, since the link then discards what is still inside.
    pub fn account(&self) -> [Account; 2] {
        [0, 1].map(|index: usize| {
            let [sum, packets, corrupted, reordered] =
                [&self.delay_ns, &self.departed, &self.corrupted, &self.reordered]
                    .map(|of| of[index].load(Ordering::Relaxed));
            let mean_delay = sum.checked_div(packets).map(Duration::from_nanos);
            Account { mean_delay, corrupted, reordered }
        })
    }

    fn left(&self, packet: &Packet, departure: Instant) {
        let index = packet.port.direction().index();
        let delay = departure.saturating_since(packet.arrival);
        self.delay_ns[index].fetch_add(delay.as_nanos() as u64, Ordering::Relaxed);
        self.departed[index].fetch_add(1, Ordering::Relaxed);
        self.corrupted[index].fetch_add(packet.corrupted_bit.is_some().into(), Ordering::Relaxed);
        if !packet.copy {
            let next = self.next[index].fetch_max(packet.sequence + 1, Ordering::Relaxed);
            self.reordered[index].fetch_add((packet.sequence < next).into(), Ordering::Relaxed);
        }
    }

    /// Wait until nothing is on its way to the other end, here or `elsewhere`, for at most `limit` or until a signal comes.
    pub fn wait_until_delivered(&self, signals: &Signals, limit: Duration, elsewhere: impl Fn() -> bool) {
        let give_up = clock::now() + limit;
        let mut quiet_since = clock::now();
        while clock::now() < give_up && clock::now().saturating_since(quiet_since) < QUIET {
            if self.inside[Direction::Uplink.index()].load(Ordering::Relaxed) != 0 || elsewhere() {
                quiet_since = clock::now();
            }
            if signals.wait(Some(Duration::from_millis(5))).is_some_and(|received| received.ends()) {
                return;
            }
        }
    }
}

impl Impairment for Observed {
    fn start(&mut self, origin: Instant) {
        self.link.start(origin);
    }

    fn handle_packet(&mut self, packet: Packet, now: Instant) {
        self.count(&packet, 1);
        self.link.handle_packet(packet, now);
    }

    fn poll_packet(&mut self, now: Instant) -> Option<(Instant, Packet)> {
        let (departure, packet) = self.link.poll_packet(now)?;
        self.count(&packet, -1);
        self.counts.left(&packet, departure);
        Some((departure, packet))
    }

    fn poll_dropped(&mut self) -> Option<Dropped> {
        let dropped = self.link.poll_dropped()?;
        self.count(&dropped.packet, -1);
        Some(dropped)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.link.poll_timeout()
    }

    fn settles_when_polled(&self) -> bool {
        self.link.settles_when_polled()
    }

    fn poll_held(&mut self) -> Option<Packet> {
        self.link.poll_held()
    }

    fn counters(&self) -> Counters {
        self.link.counters()
    }
}

#[cfg(test)]
mod tests {
    use wirelab_net::link::{Flow, PortId};

    use super::*;

    #[test]
    fn what_left_late_or_corrupted_is_counted_by_direction() {
        let counts = RunningCounts::default();
        let packet = |sequence, port, copy, corrupted_bit| Packet {
            copy,
            corrupted_bit,
            ..Packet::new(sequence, PortId(port), 40, Instant::from_nanos(0), Flow::default())
        };
        // Downlink packets lie between: 3 is not late for them.
        for (sequence, port, copy, bit) in [
            (0, 0, false, None),
            (4, 0, false, Some(9)),
            (3, 1, false, None),
            (1, 0, false, None),
            (1, 0, true, Some(1)),
            (5, 0, false, None),
            (2, 0, false, None),
        ] {
            counts.left(&packet(sequence, port, copy, bit), Instant::from_nanos(12));
        }
        let mean_delay = Some(Duration::from_nanos(12));
        let [uplink, downlink] = counts.account();
        assert_eq!(uplink, Account { mean_delay, corrupted: 2, reordered: 2 });
        assert_eq!(downlink, Account { mean_delay, corrupted: 0, reordered: 0 });
        assert_eq!(RunningCounts::default().account(), [Account::default(); 2]);
    }
}
