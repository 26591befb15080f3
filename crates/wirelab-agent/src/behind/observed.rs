use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use wirelab_net::clock;
use wirelab_net::link::{Counters, Direction, Dropped, Impairment, Instant, Packet};

use super::signals::Signals;

/// So long must nothing be on its way.
const QUIET: Duration = Duration::from_millis(50);

/// A link that tells what it does while it does it.
pub struct Observed {
    link: Box<dyn Impairment>,
    told: Arc<Told>,
}

/// What a link has told so far, by direction.
#[derive(Debug, Default)]
pub struct Told {
    delay_ns: [AtomicU64; 2],
    departed: [AtomicU64; 2],
    inside: [AtomicI64; 2],
}

impl Observed {
    pub fn new(link: Box<dyn Impairment>, told: Arc<Told>) -> Self {
        Self { link, told }
    }

    fn count(&self, packet: &Packet, change: i64) {
        // Copies come from nowhere.
        if !packet.copy {
            self.told.inside[packet.port.direction().index()].fetch_add(change, Ordering::Relaxed);
        }
    }
}

impl Told {
    /// Mean delay of the packets that have left. Ask before the link ends, for then it lets go of what is still inside.
    pub fn mean_delays(&self) -> [Option<Duration>; 2] {
        [0, 1].map(|index: usize| {
            let [sum, packets] = [&self.delay_ns, &self.departed].map(|of| of[index].load(Ordering::Relaxed));
            sum.checked_div(packets).map(Duration::from_nanos)
        })
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
        let (delay, index) = (departure.saturating_since(packet.arrival), packet.port.direction().index());
        self.told.delay_ns[index].fetch_add(delay.as_nanos() as u64, Ordering::Relaxed);
        self.told.departed[index].fetch_add(1, Ordering::Relaxed);
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
