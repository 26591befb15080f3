//! Message bodies drawn from a seed, so that both ends know every byte. It checks nothing.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Message bodies: prefixes of one ChaCha8 key stream drawn from the endpoint's seed, so that both ends know every byte and nothing compresses.
#[derive(Clone)]
pub struct Payload {
    seed: u64,
    longest: Arc<Mutex<Bytes>>,
}

impl Payload {
    /// The payload of endpoints with this seed; the same for all endpoints of a trial.
    pub fn new(seed: u64) -> Self {
        Payload { seed, longest: Arc::default() }
    }

    /// The first `length` bytes. Made once and shared.
    pub fn bytes(&self, length: usize) -> Bytes {
        let mut longest = self.longest.lock().expect("no holder panics");
        if longest.len() < length {
            let mut bytes = vec![0; length];
            generator(self.seed, Draw::Payload).fill_bytes(&mut bytes);
            *longest = bytes.into();
        }
        longest.slice(..length)
    }
}

/// What an endpoint draws at random; each has its own stream, so that one more draw of one shifts none of another.
#[derive(Clone, Copy)]
pub enum Draw {
    /// Message bodies.
    Payload,
    /// Gaps of a Poisson arrival process.
    Arrivals,
    /// Message IDs, tokens and waits of CoAP.
    Coap,
    /// When a device begins, and the error of its oscillator.
    Device,
    /// Back-offs after failed attempts.
    Retry,
    /// When a subscriber that comes at intervals comes.
    Contacts,
}

/// The generator for one purpose.
pub fn generator(seed: u64, draw: Draw) -> ChaCha8Rng {
    generator_of(seed, draw, 0)
}

/// The generator for one purpose of one of several clients.
pub fn generator_of(seed: u64, draw: Draw, client: u32) -> ChaCha8Rng {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    generator.set_stream(u64::from(client) << 32 | draw as u64);
    generator
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_body_starts_with_the_shorter_one() {
        let payload = Payload::new(7);
        let short = payload.bytes(30);
        let long = payload.bytes(3500);
        assert_eq!(long[..30], short);
        assert_eq!(Payload::new(7).bytes(3500), long);
        assert_ne!(Payload::new(8).bytes(30), short);
    }
}
