//! A link's description as text: any JSON is a link that carries packets, or is refused.

use std::time::Duration;

use wirelab_agent::inputs;
use wirelab_net::link::{Flow, Instant};

use crate::{drive, mutate};

/// Packets both ways, a millisecond apart.
const PACKETS: u64 = 40;

/// The bytes are the text.
pub fn check(bytes: &[u8]) {
    let Ok((mut link, _)) = inputs::link(bytes, 1) else { return };
    let packet = |sequence: u64| {
        let arrival = Instant::from_nanos(1_000_000 * (sequence / 2));
        let flow = Flow { id: sequence % 3, ..Flow::default() };
        (
            drive::packet(sequence, (sequence % 2) as u16, 40 + 70 * (sequence % 20) as u32, arrival, flow),
            sequence.is_multiple_of(5),
        )
    };
    let train: Vec<_> = (0..PACKETS).map(packet).collect();
    drive::drive(&mut link, &train, Instant::default() + Duration::from_secs(3600));
}

/// Links that together have everything a link can have.
pub fn seeds() -> Vec<Vec<u8>> {
    mutate::links().iter().map(|link| link.to_string().into_bytes()).collect()
}
