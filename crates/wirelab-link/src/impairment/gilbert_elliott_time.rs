use std::time::Duration;

use super::loss::LossModel;
use crate::random::{Generator, Purpose};
use crate::{Instant, Probability, Seed};

pub(super) const ABOUT: &str = "Bursty loss by a Gilbert-Elliott model in continuous time: the hidden state stays good and bad for \
    exponentially distributed times with the given means, whether or not packets come, so that a burst passes while a sparse sender is silent. A \
    packet is lost with bad-loss or good-loss by the state at its instant. It starts in its stationary distribution; mean loss over time is \
    (bad x bad-loss + good x good-loss) / (bad + good). Time-indexed: the state's path depends only on the seed and on the time since the link's \
    first packet, so stacks compared on the same seed meet the same bursts. Gilbert, BSTJ 39 (1960) 1253, and Elliott, BSTJ 42 (1963) 1977, \
    with the two-state Markov process in place of the chain.";

/// The shortest mean sojourn a model takes: every sojourn is drawn, so an idle second costs at most a hundred thousand draws.
pub const SHORTEST_SOJOURN: Duration = Duration::from_micros(10);

/// Gilbert-Elliott loss that moves with time: one draw for each sojourn, and from another generator one for each packet.
#[derive(Debug)]
pub struct GilbertElliottTime {
    good: Duration,
    bad: Duration,
    bad_loss: Probability,
    good_loss: Probability,
    is_bad: bool,
    until: Instant,
    path: Generator,
    packets: Generator,
}

impl GilbertElliottTime {
    /// A model whose state stays good for `good` and bad for `bad` on average.
    ///
    /// # Panics
    ///
    /// If a mean is below [`SHORTEST_SOJOURN`].
    pub fn new(good: Duration, bad: Duration, bad_loss: Probability, good_loss: Probability, seed: Seed) -> Self {
        assert!(good.min(bad) >= SHORTEST_SOJOURN, "mean sojourns {good:?} and {bad:?}");
        let mut path = Generator::new(seed, Purpose::Path);
        let is_bad = path.unit() * (good.as_secs_f64() + bad.as_secs_f64()) < bad.as_secs_f64();
        // Exponential sojourns have no memory: what remains of the first is distributed as a whole one.
        let until = Instant::default() + path.exponential(if is_bad { bad } else { good });
        let packets = Generator::new(seed, Purpose::Packet);
        Self { good, bad, bad_loss, good_loss, is_bad, until, path, packets }
    }
}

impl LossModel for GilbertElliottTime {
    fn start(&mut self, origin: Instant) {
        self.until = origin + self.until.saturating_since(Instant::default());
    }

    fn loses(&mut self, now: Instant) -> bool {
        while self.until <= now {
            self.is_bad = !self.is_bad;
            self.until = self.until + self.path.exponential(if self.is_bad { self.bad } else { self.good });
        }
        self.packets.chance(if self.is_bad { self.bad_loss } else { self.good_loss })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Direction;

    const SECOND: u64 = 1_000_000_000;

    /// Loss tells the state: every packet in the bad state is lost, none in the good one.
    fn telling(link: u64) -> GilbertElliottTime {
        let [never, always] = [0.0, 1.0].map(|value| Probability::new(value).unwrap());
        let seed = Seed { link, direction: Direction::Uplink, index: 0 };
        GilbertElliottTime::new(Duration::from_millis(300), Duration::from_millis(100), always, never, seed)
    }

    #[test]
    fn the_path_depends_on_the_time_and_not_on_how_many_packets_came() {
        let (mut sparse, mut dense) = (telling(7), telling(7));
        for second in 1..200 {
            let now = Instant::from_nanos(second * SECOND);
            for packet in (1..1000).rev() {
                dense.loses(now - Duration::from_millis(packet));
            }
            assert_eq!(sparse.loses(now), dense.loses(now));
        }
    }

    #[test]
    fn the_path_counts_from_the_origin() {
        let (mut early, mut late) = (telling(3), telling(3));
        let origin = Duration::from_secs(1_000_000);
        late.start(Instant::default() + origin);
        for step in 0..10_000 {
            let now = Instant::from_nanos(step * SECOND / 50);
            assert_eq!(early.loses(now), late.loses(now + origin));
        }
    }

    #[test]
    fn it_starts_in_its_stationary_distribution() {
        let bad = (0..20_000).filter(|seed| telling(*seed).is_bad).count();
        // 0.25 ± 5 standard errors.
        assert!((4694..=5306).contains(&bad), "{bad} of 20000 start bad");
    }

    #[test]
    fn sojourns_have_the_configured_means() {
        let mut model = telling(1);
        let (mut bad_ms, mut bursts, mut was_bad) = (0u32, 0u32, false);
        let total_ms = 4_000_000;
        for millisecond in 0..total_ms {
            let is_bad = model.loses(Instant::from_nanos(millisecond * 1_000_000));
            bad_ms += u32::from(is_bad);
            bursts += u32::from(is_bad && !was_bad);
            was_bad = is_bad;
        }
        // About 10,000 bursts: 5 standard errors of their mean length are 5 %, of the share of time about 4 %.
        let share = f64::from(bad_ms) / total_ms as f64;
        let length = f64::from(bad_ms) / f64::from(bursts);
        assert!((0.24..0.26).contains(&share), "share of bad time {share}");
        assert!((95.0..106.0).contains(&length), "mean burst {length} ms");
    }
}
