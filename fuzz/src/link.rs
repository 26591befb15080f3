//! A link's description with values of any kind, and packets through the link if it can be built: no packet is lost sight of, and a replay says the
//! same.

use std::time::Duration;

use arbitrary::{Result, Unstructured};
use wirelab_agent::inputs;
use wirelab_net::link::Instant;

use crate::{drive, mutate};

/// The bytes choose a link's stages, their values, and packets.
pub fn check(bytes: &[u8]) {
    // What is too short for its choices has chosen zeros: it never fails.
    let _ = try_check(&mut Unstructured::new(bytes));
}

/// A few of every length.
pub fn seeds() -> Vec<Vec<u8>> {
    (1..=32).map(|seed| mutate::bytes(&[seed; 600], u64::from(seed))).collect()
}

fn try_check(input: &mut Unstructured<'_>) -> Result<()> {
    let seed = input.arbitrary()?;
    let json = mutate::link(input)?.to_string();
    let build = || inputs::link(json.as_bytes(), seed).map(|(link, _)| link);
    let Ok(mut link) = build() else { return Ok(()) };
    let lasts = Duration::from_nanos(if input.arbitrary()? { 60_000_000_000 } else { input.arbitrary()? });
    let train = drive::train(input)?;
    let end = train.last().map_or(Instant::default(), |(packet, _)| packet.arrival + lasts);
    let outcomes = drive::drive(&mut link, &train, end);
    drive::check_replay(&outcomes, &mut build().expect("it was built before"), &train, end);
    Ok(())
}
