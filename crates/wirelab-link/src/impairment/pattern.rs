use super::loss::LossModel;
use crate::{Instant, ParameterError};

pub(super) const ABOUT: &str = "Loss by a given pattern, one character for each packet: `0` passes, `1` is lost. With repeat it begins again at \
    its end, as for a loss of every hundredth packet; else all later packets pass, as for a recorded trace or a test that loses one packet by \
    its number. Nothing is random. Packet-indexed: the nth packet of two stacks is not the same message.";

/// Loss by a pattern: no draw.
#[derive(Debug)]
pub struct LossPattern {
    lost: Vec<bool>,
    repeat: bool,
    next: usize,
}

impl LossPattern {
    /// Refuses an empty pattern, and one with other characters than `0` (passes) and `1` (lost).
    pub fn new(pattern: &str, repeat: bool) -> Result<Self, ParameterError> {
        let fates = pattern.chars().map(|character| match character {
            '0' => Ok(false),
            '1' => Ok(true),
            other => Err(ParameterError::new(format!("`{other}` is neither 0 nor 1"))),
        });
        let lost: Vec<bool> = fates.collect::<Result<_, _>>()?;
        if lost.is_empty() {
            return Err(ParameterError::new("it is empty"));
        }
        Ok(Self { lost, repeat, next: 0 })
    }
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

    fn fates(pattern: &str, repeat: bool) -> Vec<bool> {
        let mut model = LossPattern::new(pattern, repeat).unwrap();
        (0..7).map(|_| model.loses(Instant::default())).collect()
    }

    #[test]
    fn a_pattern_is_followed_packet_by_packet_and_then_all_pass() {
        assert_eq!(fates("011", false), [false, true, true, false, false, false, false]);
        assert_eq!(fates("1", false), [true, false, false, false, false, false, false]);
    }

    #[test]
    fn a_repeated_pattern_begins_again() {
        assert_eq!(fates("011", true), [false, true, true, false, true, true, false]);
        assert_eq!(fates("1", true), [true; 7]);
    }

    #[test]
    fn a_pattern_of_anything_but_0_and_1_is_refused() {
        assert!(["", "2", "0 1", "01\n", "é"].iter().all(|pattern| LossPattern::new(pattern, true).is_err()));
    }
}
