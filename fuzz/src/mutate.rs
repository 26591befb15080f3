//! Links and bytes made from what somebody wrote once.

use std::sync::LazyLock;

use arbitrary::{Result, Unstructured};
use serde_json::{Map, Value, json};
use wirelab_net::link::IMPAIRMENTS;

/// Stages of one chain, at most.
const MAX_STAGES: usize = 4;
/// Values that something ends at.
const EDGES: [u64; 12] =
    [0, 1, 2, 999, 1000, 65_535, 65_536, u32::MAX as u64, 1 << 32, i64::MAX as u64, u64::MAX - 1, u64::MAX];
const FRACTIONS: [f64; 9] = [0.0, 1.0, 0.5, 1e-9, 1e-300, 5e-324, 0.999_999_999, -1.0, 1.000_000_1];

/// Links that together have everything a link can have: some that were written by hand, and one with an example of every impairment.
pub fn links() -> Vec<Value> {
    let mut links: Vec<Value> = serde_json::from_str(include_str!("links.json")).expect("it is JSON");
    let examples: Vec<_> = IMPAIRMENTS.iter().flat_map(|kind| (kind.examples)().into_iter().take(1)).collect();
    links.push(json!({"uplink": examples, "downlink": []}));
    links
}

/// A link with stages of [`links`] in any order, with some values changed.
pub fn link(input: &mut Unstructured<'_>) -> Result<Value> {
    static LINKS: LazyLock<Vec<Value>> = LazyLock::new(links);
    let links = &*LINKS;
    let stages: Vec<&Value> = links.iter().flat_map(|link| ["uplink", "downlink"].map(|key| &link[key])).collect();
    let stages: Vec<&Value> = stages.into_iter().filter_map(Value::as_array).flatten().collect();
    let mut link = Map::new();
    for direction in ["uplink", "downlink"] {
        let count = input.int_in_range(0..=MAX_STAGES)?;
        let chain = (0..count).map(|_| Ok((*input.choose(&stages)?).clone())).collect::<Result<Vec<_>>>()?;
        link.insert(direction.to_owned(), Value::Array(chain));
    }
    for shared in ["medium", "radio", "nat", "family", "mtu"] {
        let values: Vec<&Value> = links.iter().filter_map(|link| link.get(shared)).collect();
        if input.ratio(1, 3)? {
            link.insert(shared.to_owned(), (*input.choose(&values)?).clone());
        }
    }
    if input.ratio(1, 3)? {
        link.insert("backend".to_owned(), json!("netem"));
    }
    let mut link = Value::Object(link);
    change(&mut link, input)?;
    Ok(link)
}

/// Change some of the numbers, flags and lists.
fn change(value: &mut Value, input: &mut Unstructured<'_>) -> Result<()> {
    match value {
        Value::Object(fields) => fields.values_mut().try_for_each(|field| change(field, input)),
        Value::Array(members) => {
            members.iter_mut().try_for_each(|member| change(member, input))?;
            if members.first().is_some_and(Value::is_number) && input.ratio(1, 8)? {
                members.extend(members.last().cloned());
            }
            Ok(())
        }
        Value::Number(number) if input.ratio(1, 6)? => {
            *value = if number.is_f64() { fraction(input)? } else { integer(input)? };
            Ok(())
        }
        Value::Bool(flag) => {
            *flag = input.arbitrary()?;
            Ok(())
        }
        _ => Ok(()),
    }
}

fn integer(input: &mut Unstructured<'_>) -> Result<Value> {
    Ok(match input.int_in_range(0..=3u8)? {
        0 => json!(input.choose(&EDGES)?),
        1 => json!(input.arbitrary::<u64>()?),
        2 => json!(input.arbitrary::<u16>()?),
        // A power of ten: a time or rate of any order of magnitude.
        _ => json!(10u64.pow(input.int_in_range(0..=19)?)),
    })
}

fn fraction(input: &mut Unstructured<'_>) -> Result<Value> {
    Ok(match input.int_in_range(0..=2u8)? {
        0 => json!(input.choose(&FRACTIONS)?),
        1 => json!(f64::from(input.arbitrary::<u16>()?) / 65_536.0),
        _ => json!(input.arbitrary::<f64>()?),
    })
}

/// Bytes with a few changed, left out or repeated, by a generator that begins at `seed`.
pub fn bytes(bytes: &[u8], seed: u64) -> Vec<u8> {
    let mut state = seed;
    // Steele, Lea and Flood, OOPSLA 2014: SplitMix.
    let mut next = |below: usize| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % below.max(1) as u64) as usize
    };
    let mut changed = bytes.to_vec();
    for _ in 0..=next(4) {
        let at = next(changed.len());
        let end = (at + 1 + next(16)).min(changed.len());
        match next(5) {
            0 => changed.truncate(at),
            1 => changed.extend_from_within(at.min(end)..end),
            2 => drop(changed.drain(at.min(end)..end)),
            3 => changed[at.min(end)..end].fill([0, 0xff, 0x80, b'9'][next(4)]),
            _ => changed[at.min(end)..end].iter_mut().for_each(|byte| *byte = next(256) as u8),
        }
    }
    changed
}
