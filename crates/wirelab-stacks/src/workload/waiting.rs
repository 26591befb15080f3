//! When a subscriber comes that does not stay connected. It does not wait.

use wirelab_schema::Wait;

use super::schedule::uniform;
use crate::base::payload::{Draw, generator_of};

/// The instants at which a subscriber comes after its first contact: one in each interval, at a phase of its own. A device's instants have nothing
/// to do with those of the messages that it waits for.
pub struct Contacts {
    first_ns: u64,
    every_ns: u64,
}

impl Contacts {
    /// Those of the subscriber with this number, whose first contact was at `origin_ns`. Within an interval it comes for the second time.
    pub fn new(every_ns: u64, seed: u64, number: u32, origin_ns: u64) -> Self {
        let phase = uniform(&mut generator_of(seed, Draw::Contacts, number));
        Contacts { first_ns: origin_ns.saturating_add((phase * every_ns as f64) as u64), every_ns }
    }

    /// The next one after now. What a long contact has missed is skipped.
    pub fn next_ns(&self, now_ns: u64) -> u64 {
        match now_ns.checked_sub(self.first_ns) {
            None => self.first_ns,
            Some(past_ns) => {
                let place = past_ns / self.every_ns + 1;
                self.first_ns.saturating_add(place.saturating_mul(self.every_ns))
            }
        }
    }
}

/// Refuses values that make no sense.
pub fn check(wait: Wait) -> Result<(), String> {
    match wait {
        Wait::CheckIn { every_ns: 0, .. } | Wait::Poll { every_ns: 0 } => {
            Err("`every_ns` is 0, less than 1".to_owned())
        }
        Wait::CheckIn { stay_ns: 0, .. } => Err("`stay_ns` is 0, less than 1".to_owned()),
        Wait::CheckIn { every_ns, stay_ns } if stay_ns >= every_ns => {
            Err(format!("`stay_ns` is {stay_ns}, not less than `every_ns` ({every_ns})"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contacts_are_an_interval_apart_at_a_phase_of_each_subscriber() {
        let mut phases: Vec<u64> = (0..8)
            .map(|number| {
                let contacts = Contacts::new(1_000, 7, number, 50);
                let first_ns = contacts.next_ns(50);
                assert!((51..=1_050).contains(&first_ns) || first_ns == 50 + 1_000, "{first_ns}");
                assert_eq!(contacts.next_ns(first_ns - 1), first_ns);
                assert_eq!(contacts.next_ns(first_ns), first_ns + 1_000);
                assert_eq!(contacts.next_ns(first_ns + 3_500), first_ns + 4_000, "missed ones are skipped");
                first_ns
            })
            .collect();
        phases.sort_unstable();
        phases.dedup();
        assert!(phases.len() > 1, "{phases:?}");
    }

    #[test]
    fn a_contact_once_in_centuries_has_no_next() {
        let contacts = Contacts::new(u64::MAX, 7, 0, u64::MAX);
        assert_eq!(contacts.next_ns(u64::MAX), u64::MAX);
    }

    #[test]
    fn a_stay_is_shorter_than_the_interval() {
        assert!(check(Wait::CheckIn { every_ns: 2, stay_ns: 1 }).is_ok());
        assert!(check(Wait::CheckIn { every_ns: 2, stay_ns: 2 }).is_err());
        assert!(check(Wait::CheckIn { every_ns: 2, stay_ns: 0 }).is_err());
        assert!(check(Wait::Poll { every_ns: 0 }).is_err());
        assert!(check(Wait::Poll { every_ns: 1 }).is_ok());
        assert!(check(Wait::Connected).is_ok());
    }
}
