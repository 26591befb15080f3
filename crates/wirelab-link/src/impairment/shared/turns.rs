//! A serialiser that stations use in turn.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::ops::Bound::{Excluded, Unbounded};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Position, Shared, medium_words};
use crate::facts::{Airtime, Kept, Service, SharedFacts};
use crate::impairment::rate::queued::overhead_words;
use crate::impairment::rate::serialiser::Serialiser;
use crate::impairment::spec::SharedSpec;
use crate::impairment::stage_exit::StageExit;
use crate::queue::{DropTail, Limit, Waiting};
use crate::spec::values::{limit, overhead, rate};
use crate::spec::{Choices, Place, SpecError, words};
use crate::{Counters, DropCause, Dropped, Impairment, Instant, Packet, PortId, Seed};

const ABOUT: &str = "A half-duplex serialiser that both directions share, each station (every host of the near side, one for all \
    of the far side) behind a drop-tail queue of its own: a packet takes (IP bytes + overhead-bytes) x 8 / rate to send, and after it the next station \
    has its turn (round robin, packet by packet), if a packet waits there. It models neither contention nor errors: this is the minimum effect of a \
    half-duplex radio, or of a gateway's one bottleneck, on its two directions.";

/// A serialiser that stations use in turn, without contention or errors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SerialiserSpec {
    /// Rate at which packets are serialised, counting IP bytes plus `overhead_bytes` for each packet.
    pub rate_bps: u64,
    /// Bytes that may wait at each station, behind the packet being sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_bytes: Option<u64>,
    /// Packets that may wait there. At least one of the two bounds is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_packets: Option<u32>,
    /// Bytes added to each packet's IP length.
    #[serde(default)]
    pub overhead_bytes: u32,
}

impl SharedSpec for SerialiserSpec {
    const ABOUT: &'static str = ABOUT;
    const POSITION: Position = Position::Middle;

    fn build(&self, _seed: Seed, at: &Place) -> Result<Box<dyn Shared>, SpecError> {
        let queue = limit(self.queue_bytes, self.queue_packets, at)?;
        Ok(Box::new(Turns::new(rate(self.rate_bps, at)?, queue, overhead(self.overhead_bytes, at)?)))
    }

    fn facts(&self) -> SharedFacts {
        let per_byte_ns = 8e9 / self.rate_bps as f64;
        let overhead_ns = f64::from(self.overhead_bytes) * per_byte_ns;
        let kept = || vec![Kept::Held, Kept::QueueFull];
        let counted = overhead_words(self.overhead_bytes);
        let air = format!("one packet at a time at {}{counted}", words::rate(self.rate_bps));
        SharedFacts {
            words: medium_words(&air, self.queue_bytes, self.queue_packets),
            rate_bps: Some(self.rate_bps),
            service: vec![Service {
                from_bytes: 0,
                to_bytes: u32::MAX,
                idle_ns: overhead_ns,
                idle_ns_per_byte: per_byte_ns,
                busy_ns: overhead_ns,
                busy_ns_per_byte: per_byte_ns,
            }],
            airtime: Some(Airtime { per_frame_ns: overhead_ns, per_byte_ns, compressed_bytes: 0, frame_bytes: None }),
            frame_loss: 0.0,
            random: false,
            keeps: [kept(), kept()],
            ..SharedFacts::medium(self.queue_bytes, self.queue_packets)
        }
    }

    fn added_bytes(&self, _size: u32) -> Option<i64> {
        Some(self.overhead_bytes.into())
    }

    fn examples() -> Vec<Self> {
        vec![Self { rate_bps: 100_000, queue_bytes: Some(100_000), queue_packets: None, overhead_bytes: 0 }]
    }

    fn arbitrary(choices: &mut Choices<'_>) -> Self {
        let queue_bytes = Some(choices.number(0..10_000));
        Self { rate_bps: choices.rate_bps(), queue_bytes, queue_packets: None, overhead_bytes: choices.small(0..20) }
    }
}

/// A half-duplex serialiser that all stations share: one packet at a time, each station behind its own drop-tail queue, served in turn.
///
/// When a packet has been sent, the turn goes round robin to the next station (by port, after the last one served) whose queue holds a packet
/// that arrived before that instant; so a station's backlog delays another one's packet by one packet only, as it does where they contend for
/// the air. A packet that finds the medium free is sent immediately. Each station's `queue` is behind the packet being sent.
#[derive(Debug)]
pub struct Turns {
    serialiser: Serialiser,
    overhead_bytes: u32,
    queue: Limit,
    queues: BTreeMap<PortId, DropTail<Waiting>>,
    /// The packet being sent, and when it will have been.
    sending: Option<(Instant, Packet)>,
    exit: StageExit,
}

impl Turns {
    /// Each station is behind such a `queue`; each packet counts with `overhead_bytes` on top of its IP bytes.
    pub fn new(rate_bps: NonZeroU64, queue: Limit, overhead_bytes: u32) -> Self {
        Self {
            serialiser: Serialiser::new(rate_bps),
            overhead_bytes,
            queue,
            queues: BTreeMap::new(),
            sending: None,
            exit: StageExit::default(),
        }
    }

    fn advance(&mut self, now: Instant) {
        while let Some((sent, packet)) = self.sending.take_if(|(sent, _)| *sent <= now) {
            if let Some(next) = self.next_after(packet.port.station()) {
                self.send(next);
            }
            self.exit.depart(packet, sent);
        }
    }

    fn next_after(&mut self, last: PortId) -> Option<Waiting> {
        let later = self.queues.range((Excluded(last), Unbounded));
        let port =
            later.chain(self.queues.range(..=last)).find(|(_, queue)| !queue.is_empty()).map(|(port, _)| *port)?;
        self.queues.get_mut(&port)?.pop()
    }

    fn send(&mut self, Waiting { packet, bytes, arrival }: Waiting) {
        let sent = self.serialiser.send(bytes, arrival);
        self.sending = Some((sent, packet));
    }
}

impl Impairment for Turns {
    fn handle_packet(&mut self, packet: Packet, now: Instant) {
        self.advance(now);
        self.exit.receive();
        let bytes = u64::from(packet.size) + u64::from(self.overhead_bytes);
        let waiting = Waiting { packet, bytes, arrival: now };
        if self.sending.is_none() {
            self.send(waiting);
            return;
        }
        let queue = self.queues.entry(waiting.packet.port.station()).or_insert(DropTail::new(self.queue));
        if let Err(refused) = queue.push(bytes, waiting) {
            self.exit.drop(refused.packet, now, DropCause::QueueFull);
        }
    }

    fn poll_packet(&mut self, now: Instant) -> Option<(Instant, Packet)> {
        self.advance(now);
        self.exit.poll_packet(now)
    }

    fn poll_dropped(&mut self) -> Option<Dropped> {
        self.exit.poll_dropped()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.exit.poll_timeout().or(self.sending.as_ref().map(|(sent, _)| *sent))
    }

    fn settles_when_polled(&self) -> bool {
        true
    }

    fn poll_held(&mut self) -> Option<Packet> {
        let sending = self.sending.take().map(|(_, packet)| packet);
        let held = self.exit.poll_held().or(sending);
        held.or_else(|| self.queues.values_mut().find_map(DropTail::pop).map(|waiting| waiting.packet))
    }

    fn counters(&self) -> Counters {
        let queued: usize = self.queues.values().map(DropTail::len).sum();
        self.exit.counters(queued + usize::from(self.sending.is_some()))
    }
}

impl Shared for Turns {
    fn position(&self) -> Position {
        SerialiserSpec::POSITION
    }
}
