//! Bursty loss by a Gilbert-Elliott model with a state that moves with time.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::model::{LossModel, average_words, lossy};
use crate::facts::{Facts, InTime, LossFacts};
use crate::impairment::spec::{Slot, Spec};
use crate::instant::nanoseconds;
use crate::netem::{NetemRefusal, NetemStage};
use crate::random::{Generator, Purpose};
use crate::spec::values::named;
use crate::spec::{Choices, Place, SpecError, words};
use crate::{Impairment, Instant, Probability, Seed};

const ABOUT: &str = "Bursty loss by a Gilbert-Elliott model in continuous time: the hidden state stays good and bad for \
    exponentially distributed times with the given means, whether or not packets come, so that a burst passes while a sparse sender is silent. A \
    packet is lost with bad-loss or good-loss by the state at its instant. It starts in its stationary distribution; mean loss over time is \
    (bad x bad-loss + good x good-loss) / (bad + good). Time-indexed: the state's path depends only on the seed and on the time since the link's \
    first packet, so stacks compared on the same seed meet the same bursts. Gilbert, BSTJ 39 (1960) 1253, and Elliott, BSTJ 42 (1963) 1977, \
    with the two-state Markov process in place of the chain.";

/// Gilbert-Elliott loss with a state that evolves in time: a burst passes while a sparse sender is silent. Starts stationary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliottTimeSpec {
    /// Mean sojourn in the good state (exponential).
    pub good_ns: u64,
    /// Mean sojourn in the bad state (exponential).
    pub bad_ns: u64,
    /// Loss probability in the bad state.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub bad_loss: f64,
    /// Loss probability in the good state.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub good_loss: f64,
}

impl GilbertElliottTimeSpec {
    /// What decides which packets are lost.
    pub fn model(&self, seed: Seed, at: &Place) -> Result<impl LossModel + use<>, SpecError> {
        let sojourn = |nanoseconds, at: Place| match Duration::from_nanos(nanoseconds) {
            mean if mean >= SHORTEST_SOJOURN => Ok(mean),
            mean => Err(at.error(format!("a mean sojourn of {mean:?} is shorter than {SHORTEST_SOJOURN:?}"))),
        };
        let [good, bad] = [sojourn(self.good_ns, at.key("good_ns"))?, sojourn(self.bad_ns, at.key("bad_ns"))?];
        let [bad_loss, good_loss] = named([("bad_loss", self.bad_loss), ("good_loss", self.good_loss)], at)?;
        Ok(GilbertElliottTime::new(good, bad, bad_loss, good_loss, seed))
    }
}

impl Spec for GilbertElliottTimeSpec {
    const ABOUT: &'static str = ABOUT;
    const SLOT: Slot = Slot::Loss;

    fn build(&self, seed: Seed, at: &Place) -> Result<Box<dyn Impairment>, SpecError> {
        Ok(lossy(self.model(seed, at)?))
    }

    fn facts(&self) -> Facts {
        let Self { good_ns, bad_ns, bad_loss, good_loss } = *self;
        let [good, bad] = [good_ns as f64, bad_ns as f64];
        let time_bad = bad / (good + bad);
        let share = time_bad * bad_loss + (1.0 - time_bad) * good_loss;
        let variance = time_bad * (1.0 - time_bad) * (bad_loss - good_loss).powi(2);
        let loss = LossFacts {
            in_time: Some(InTime { decay_per_ns: 1.0 / good + 1.0 / bad, variance }),
            ..LossFacts::of_share(share)
        };
        let average = average_words([bad, bad_loss], [good, good_loss]);
        let burst = format!("{} for {}", words::share(bad_loss), words::time(bad_ns));
        Facts {
            words: format!("{average} lost, in bursts that lose {burst}, {} apart, on average", words::time(good_ns)),
            loss: Some(loss),
            delay: None,
            rate: None,
            queue: None,
            over_time: None,
            away: None,
            duplicated: None,
            corrupted: None,
            held_back: None,
            keeps: vec![],
            per_packet: true,
            overtakes: false,
            of_one_packet: false,
            varies: None,
        }
    }

    fn netem(&self, at: &Place) -> Result<NetemStage, NetemRefusal> {
        Err(NetemRefusal::absent("gilbert-elliott-time", at, "gilbert-elliott-time"))
    }

    fn examples() -> Vec<Self> {
        vec![Self { good_ns: 90_000_000, bad_ns: 10_000_000, bad_loss: 0.7, good_loss: 0.001 }]
    }

    fn arbitrary(choices: &mut Choices<'_>) -> Self {
        let [good_ns, bad_ns] = [(); 2].map(|()| choices.micros(10..20_000));
        let [bad_loss, good_loss] = [(); 2].map(|()| choices.fraction());
        Self { good_ns, bad_ns, bad_loss, good_loss }
    }
}

/// The shortest mean sojourn a model takes: of a state that lasts for less than a packet does, losses are as good as independent.
const SHORTEST_SOJOURN: Duration = Duration::from_micros(10);

/// Mean number of renewals in a block of the path.
const RENEWALS: f64 = 16.0;

/// Gilbert-Elliott loss that moves with time: the state's path, and from another generator one draw for each packet.
///
/// The process that leaves the good state at the rate g and the bad one at the rate b is one that is renewed at the rate g + b: at each renewal
/// its state is drawn anew, bad with g / (g + b), whatever it was. Renewals before an instant and those after it are independent, so the path is
/// drawn in blocks of time, each from a separate stream: a packet costs the draws of its block, however long the link was idle.
#[derive(Debug)]
struct GilbertElliottTime {
    /// Share of time in the bad state.
    bad_share: f64,
    bad_loss: Probability,
    good_loss: Probability,
    /// Mean time between renewals, nanoseconds.
    gap_ns: f64,
    block_ns: u64,
    origin: Instant,
    /// What the first stream says of the path's beginning.
    begins_bad: bool,
    /// The block that was drawn last, how far, and what its state is there.
    block: u64,
    renewal_ns: f64,
    is_bad: bool,
    path: Generator,
    packets: Generator,
}

impl GilbertElliottTime {
    /// A model whose state stays good for `good` and bad for `bad` on average, each at least [`SHORTEST_SOJOURN`].
    fn new(good: Duration, bad: Duration, bad_loss: Probability, good_loss: Probability, seed: Seed) -> Self {
        let [good_ns, bad_ns] = [good, bad].map(|mean| mean.as_nanos() as f64);
        let bad_share = bad_ns / (good_ns + bad_ns);
        let gap_ns = good_ns * bad_share;
        let mut path = Generator::new(seed, Purpose::Path);
        let begins_bad = path.unit() < bad_share;
        let mut model = Self {
            bad_share,
            bad_loss,
            good_loss,
            gap_ns,
            block_ns: (RENEWALS * gap_ns) as u64,
            origin: Instant::default(),
            begins_bad,
            block: 0,
            renewal_ns: 0.0,
            is_bad: begins_bad,
            path,
            packets: Generator::new(seed, Purpose::Packet),
        };
        model.enter(0);
        model
    }

    /// Go to the beginning of a block; what the state is there is not known.
    fn enter(&mut self, block: u64) {
        self.path.enter_stream(block + 1);
        self.block = block;
        self.renewal_ns = self.path.exponential(self.gap_ns);
    }

    /// Go on to `within_ns` of the block. True if the state was renewed on the way.
    fn go_on(&mut self, within_ns: u64) -> bool {
        let is_renewed = self.renewal_ns <= within_ns as f64;
        while self.renewal_ns <= within_ns as f64 {
            self.is_bad = self.path.unit() < self.bad_share;
            self.renewal_ns += self.path.exponential(self.gap_ns);
        }
        is_renewed
    }

    /// Go to another block and on to `within_ns` of it. Where it was not renewed yet, its state is the last one of a block before it.
    fn jump(&mut self, block: u64, within_ns: u64) {
        self.enter(block);
        if self.go_on(within_ns) {
            return;
        }
        self.is_bad = self.begins_bad;
        for earlier in (0..block).rev() {
            self.enter(earlier);
            if self.go_on(self.block_ns) {
                break;
            }
        }
        self.enter(block);
    }
}

impl LossModel for GilbertElliottTime {
    fn start(&mut self, origin: Instant) {
        self.origin = origin;
    }

    fn loses(&mut self, now: Instant) -> bool {
        let elapsed_ns = nanoseconds(now.saturating_since(self.origin));
        let (block, within_ns) = (elapsed_ns / self.block_ns, elapsed_ns % self.block_ns);
        if block == self.block {
            self.go_on(within_ns);
        } else {
            self.jump(block, within_ns);
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
    fn example(link: u64) -> GilbertElliottTime {
        staying(Duration::from_millis(300), Duration::from_millis(100), link)
    }

    fn staying(good: Duration, bad: Duration, link: u64) -> GilbertElliottTime {
        let [never, always] = [0.0, 1.0].map(|value| Probability::new(value).unwrap());
        GilbertElliottTime::new(good, bad, always, never, Seed { link, direction: Direction::Uplink, index: 0 })
    }

    #[test]
    fn the_path_depends_on_the_time_and_not_on_how_many_packets_came() {
        let (mut sparse, mut dense) = (example(7), example(7));
        for second in 1..200 {
            let now = Instant::from_nanos(second * SECOND);
            for packet in (1..1000).rev() {
                dense.loses(now - Duration::from_millis(packet));
            }
            assert_eq!(sparse.loses(now), dense.loses(now));
        }
    }

    #[test]
    fn a_path_of_the_shortest_sojourns_continues_after_any_silence() {
        let mut bad = 0;
        for link in 0..2000 {
            let mut model = staying(SHORTEST_SOJOURN, SHORTEST_SOJOURN, link);
            let mut dense = staying(SHORTEST_SOJOURN, SHORTEST_SOJOURN, link);
            let day = Instant::from_nanos(86_400 * SECOND);
            assert_eq!((1..1000).rev().map(|ns| dense.loses(day - Duration::from_nanos(ns))).count(), 999);
            assert_eq!(model.loses(day), dense.loses(day));
            bad += u32::from(model.loses(Instant::from_nanos(u64::MAX)));
        }
        // Half of 2000 ± 5 standard errors.
        assert!((888..=1112).contains(&bad), "{bad} of 2000 are bad");
    }

    #[test]
    fn the_longest_sojourns_never_end() {
        let mut model = staying(Duration::MAX, Duration::MAX, 1);
        let is_bad = model.loses(Instant::default());
        assert_eq!(model.loses(Instant::from_nanos(u64::MAX)), is_bad);
    }

    #[test]
    fn the_state_after_a_time_depends_on_the_state_before_as_the_two_state_process_has_it() {
        // Blocks of 1.2 s: the two instants are in one or in two of them.
        for (first_ms, later_ms) in [(0, 75), (1150, 1225), (1150, 1300), (6000, 6030), (5990, 6010)] {
            let states = |link| {
                let mut model = example(link);
                [first_ms, later_ms].map(|ms| model.loses(Instant::from_nanos(ms * 1_000_000)))
            };
            let began_bad: Vec<_> = (0..40_000).map(states).filter(|[first, _]| *first).collect();
            let stayed = began_bad.iter().filter(|[_, later]| *later).count() as f64 / began_bad.len() as f64;
            let expected = 0.25 + 0.75 * (-((later_ms - first_ms) as f64) / 75.0).exp();
            // 5 standard errors of about 10,000 that began bad.
            assert!((stayed - expected).abs() < 0.025, "{stayed} after {first_ms} to {later_ms} ms, not {expected}");
        }
    }

    #[test]
    fn the_path_counts_from_the_origin() {
        let (mut early, mut late) = (example(3), example(3));
        let origin = Duration::from_secs(1_000_000);
        late.start(Instant::default() + origin);
        for step in 0..10_000 {
            let now = Instant::from_nanos(step * SECOND / 50);
            assert_eq!(early.loses(now), late.loses(now + origin));
        }
    }

    #[test]
    fn it_starts_in_its_stationary_distribution() {
        let bad = (0..20_000).filter(|seed| example(*seed).is_bad).count();
        // 0.25 ± 5 standard errors.
        assert!((4694..=5306).contains(&bad), "{bad} of 20000 start bad");
    }

    #[test]
    fn sojourns_have_the_configured_means() {
        let mut model = example(1);
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
