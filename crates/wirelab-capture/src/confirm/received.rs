//! Claims against the instants at which the server's application had a whole message: its own record, where packets alone cannot tell.

use std::collections::BTreeSet;

use super::*;

/// The claims that no message of the server's record is left for, each with that reason, in order of their ends. Each message stands for one claim,
/// between its start and its end.
pub fn unreceived<'a>(claims: impl IntoIterator<Item = &'a Claim>, received: &[Instant]) -> Vec<(&'a Claim, Lack)> {
    let mut received = received.to_vec();
    received.sort_unstable();
    let mut claims: Vec<&Claim> = claims.into_iter().collect();
    claims.sort_by_key(|claim| claim.earliest());
    let (mut lacking, mut open, mut begun) = (Vec::new(), BTreeSet::new(), 0);
    for instant in received {
        while let Some(claim) = claims.get(begun).filter(|claim| claim.earliest() <= instant) {
            open.insert((claim.latest(), begun));
            begun += 1;
        }
        let in_time = open.split_off(&(instant, 0));
        lacking.extend(open.into_iter().map(|(_, place)| claims[place]));
        open = in_time;
        // What must end first has it: the others have more messages before them.
        open.pop_first();
    }
    lacking.extend(open.into_iter().map(|(_, place)| claims[place]));
    lacking.extend(&claims[begun..]);
    lacking.sort_by_key(|claim| (claim.end, claim.client, claim.index));
    lacking.into_iter().map(|claim| (claim, Lack::Received)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn claim(index: u32, start_ms: u64, end_ms: u64) -> Claim {
        Claim {
            client: 0,
            index,
            start: at(start_ms),
            end: at(end_ms),
            stamps: Stamps::Within(Duration::ZERO),
            local_port: None,
            bytes: [1, 1],
            answered: true,
        }
    }

    fn at(milliseconds: u64) -> Instant {
        Instant::from_nanos(milliseconds * 1_000_000)
    }

    fn lacking(claims: &[Claim], received_ms: &[u64]) -> Vec<u32> {
        let received: Vec<_> = received_ms.iter().copied().map(at).collect();
        unreceived(claims, &received).into_iter().map(|(claim, _)| claim.index).collect()
    }

    #[test]
    fn a_claim_needs_a_message_of_its_own_between_its_start_and_its_end() {
        let claims = [claim(0, 10, 20), claim(1, 20, 30), claim(2, 30, 40)];
        assert!(lacking(&claims, &[15, 25, 35]).is_empty());
        assert_eq!(lacking(&claims, &[15, 16, 35]), [1]);
        assert_eq!(lacking(&claims, &[5, 45]), [0, 1, 2]);
        assert_eq!(lacking(&claims, &[]), [0, 1, 2]);
    }

    #[test]
    fn of_claims_that_overlap_one_lacks_what_one_message_is_short_of() {
        let claims = [claim(0, 10, 50), claim(1, 10, 20), claim(2, 12, 22)];
        assert!(lacking(&claims, &[15, 16, 40]).is_empty());
        assert_eq!(lacking(&claims, &[15, 16]), [0]);
        assert_eq!(lacking(&claims, &[15, 40]), [2]);
    }

    proptest! {
        #[test]
        fn claims_with_a_message_each_are_never_lacking(
            exchanges in prop::collection::vec((0_u64..1_000, 0_u64..100, 0_u64..100), 0..50),
            repeated in prop::collection::vec(0_u64..1_200, 0..20),
        ) {
            let claims: Vec<_> =
                exchanges.iter().zip(0..).map(|((at, before, after), index)| claim(index, at.saturating_sub(*before), at + after)).collect();
            let mut received: Vec<_> = exchanges.iter().map(|(at, _, _)| *at).chain(repeated).collect();
            prop_assert_eq!(lacking(&claims, &received), Vec::<u32>::new());
            received.truncate(exchanges.len().saturating_sub(1));
            prop_assert!(exchanges.is_empty() || !lacking(&claims, &received).is_empty());
        }
    }
}
