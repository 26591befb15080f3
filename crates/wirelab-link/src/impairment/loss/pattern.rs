//! Loss by a given pattern.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::model::{LossModel, lossy};
use crate::facts::{Facts, LossFacts, Pattern};
use crate::impairment::spec::{Slot, Spec};
use crate::netem::{NetemRefusal, NetemStage};
use crate::spec::{Choices, Place, SpecError};
use crate::{Impairment, Instant, Seed};

const ABOUT: &str = "Loss by a given pattern, one character for each packet: `0` passes, `1` is lost. With repeat it begins again at \
    its end, as for a loss of every hundredth packet; else all later packets pass, as for a recorded trace or a test that loses one packet by \
    its number. Nothing is random. Packet-indexed: the nth packet of two stacks is not the same message.";

/// Loss by a given pattern, one character for each packet: `0` passes, `1` is lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LossPatternSpec {
    /// At least one character.
    pub pattern: String,
    /// Begin again at its end; else all packets after it pass.
    pub repeat: bool,
}

impl LossPatternSpec {
    /// What decides which packets are lost.
    pub fn model(&self, _seed: Seed, at: &Place) -> Result<impl LossModel + use<>, SpecError> {
        let at = at.key("pattern");
        let other = self.pattern.chars().enumerate().find(|(_, character)| !matches!(character, '0' | '1'));
        if let Some((index, other)) = other {
            return Err(at.index(index).error(format!("`{other}` is neither 0 nor 1")));
        }
        if self.pattern.is_empty() {
            return Err(at.error("it is empty"));
        }
        let lost = self.pattern.chars().map(|character| character == '1').collect();
        Ok(LossPattern { lost, repeat: self.repeat, next: 0 })
    }
}

impl Spec for LossPatternSpec {
    const ABOUT: &'static str = ABOUT;
    const SLOT: Slot = Slot::Loss;

    fn build(&self, seed: Seed, at: &Place) -> Result<Box<dyn Impairment>, SpecError> {
        Ok(lossy(self.model(seed, at)?))
    }

    fn facts(&self) -> Facts {
        let (repeat, period) = (self.repeat, self.pattern.len());
        let lost: Vec<u64> =
            (0..).zip(self.pattern.bytes()).filter(|(_, byte)| *byte == b'1').map(|(at, _)| at).collect();
        let many = lost.len();
        let met = many as f64 / period as f64;
        let loss = LossFacts {
            pattern: Some(Pattern { period: period as u64, lost, repeat }),
            first: met,
            again: met,
            ..LossFacts::independent(if repeat { met } else { 0.0 })
        };
        let again = if repeat { ", again and again" } else { "" };
        Facts {
            words: format!("{many} of {period} packets lost by a pattern{again}"),
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
        Err(NetemRefusal::absent("loss-pattern", at, "loss-pattern"))
    }

    fn examples() -> Vec<Self> {
        [true, false].map(|repeat| Self { pattern: "0001000".to_owned(), repeat }).into()
    }

    fn arbitrary(choices: &mut Choices<'_>) -> Self {
        let pattern = choices.list(0..20, |choices| if choices.flag() { '1' } else { '0' });
        Self { pattern: pattern.into_iter().chain(['1']).collect(), repeat: choices.flag() }
    }
}

/// Loss by a pattern: no draw.
#[derive(Debug)]
struct LossPattern {
    lost: Vec<bool>,
    repeat: bool,
    next: usize,
}

impl LossModel for LossPattern {
    fn loses(&mut self, _now: Instant) -> bool {
        if self.repeat {
            self.next %= self.lost.len();
        }
        let lost = self.lost.get(self.next).copied().unwrap_or(false);
        self.next += 1;
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcomes(pattern: &str, repeat: bool) -> Vec<bool> {
        let lost = pattern.chars().map(|character| character == '1').collect();
        let mut model = LossPattern { lost, repeat, next: 0 };
        (0..7).map(|_| model.loses(Instant::default())).collect()
    }

    #[test]
    fn a_pattern_is_followed_packet_by_packet_and_then_all_pass() {
        assert_eq!(outcomes("011", false), [false, true, true, false, false, false, false]);
        assert_eq!(outcomes("1", false), [true, false, false, false, false, false, false]);
    }

    #[test]
    fn a_repeated_pattern_begins_again() {
        assert_eq!(outcomes("011", true), [false, true, true, false, true, true, false]);
        assert_eq!(outcomes("1", true), [true; 7]);
    }

    #[test]
    fn a_pattern_of_anything_but_0_and_1_is_refused() {
        let seed = Seed { link: 1, direction: crate::Direction::Uplink, index: 0 };
        let build = |pattern: &str| {
            LossPatternSpec { pattern: pattern.to_owned(), repeat: true }.build(seed, &Place::new("here"))
        };
        assert!(["", "2", "0 1", "01\n", "é"].iter().all(|pattern| build(pattern).is_err()));
        assert!(build("01").is_ok());
    }
}
