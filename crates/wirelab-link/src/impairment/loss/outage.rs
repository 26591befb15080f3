//! Times without a link: outages and handovers.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::facts::{Away, Facts, Kept};
use crate::impairment::settled::{Effect, Settled};
use crate::impairment::spec::{Slot, Spec};
use crate::impairment::stage_exit::StageExit;
use crate::instant::nanoseconds;
use crate::netem::{NetemRefusal, NetemStage};
use crate::spec::{Choices, Place, SpecError, words};
use crate::{DropCause, Impairment, Instant, Packet, ParameterError, Seed};

const ABOUT: &str = "Times without a link, counted from the link's first packet: one, or one every so often. A packet that arrives meanwhile is \
    dropped. With hold-bytes it is kept instead, as a handover that forwards what it buffered (3GPP TS 36.300, section 10.1.2: data \
    forwarding), and all of them leave at the end, together and in order; what does not fit is dropped. At the instant at which an outage ends, the link \
    is back. A packet already sent is not affected: it arrives.";

/// Times without a link, counted from the link's first packet: an outage, or with `hold_bytes` a handover.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutageSpec {
    /// When the first begins.
    pub start_ns: u64,
    /// How long each lasts.
    pub duration_ns: u64,
    /// From the beginning of one to that of the next; absent means that there is one only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_ns: Option<u64>,
    /// IP bytes that are kept meanwhile and leave at its end; absent means that all are dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold_bytes: Option<u64>,
}

impl Spec for OutageSpec {
    const ABOUT: &'static str = ABOUT;
    const SLOT: Slot = Slot::Outage;

    fn build(&self, _seed: Seed, at: &Place) -> Result<Box<dyn Impairment>, SpecError> {
        let [start, duration] = [self.start_ns, self.duration_ns].map(Duration::from_nanos);
        let every = self.every_ns.map(Duration::from_nanos);
        let outage = Outage::new(start, duration, every, self.hold_bytes);
        Ok(Box::new(outage.map_err(|what| at.error(what))?))
    }

    fn facts(&self) -> Facts {
        let again =
            self.every_ns.map(|every_ns| format!(", again every {}", words::time(every_ns))).unwrap_or_default();
        let treatment = match self.hold_bytes {
            None => "dropped".to_owned(),
            Some(bytes) => format!("kept, up to {}", words::size(bytes)),
        };
        let [start, duration] = [self.start_ns, self.duration_ns].map(words::time);
        let holds = self.hold_bytes.is_some();
        Facts {
            words: format!("no link for {duration} from {start} on{again}, packets {treatment}"),
            loss: None,
            delay: None,
            rate: None,
            queue: None,
            over_time: None,
            away: Some(Away { duration_ns: self.duration_ns, every_ns: self.every_ns, holds }),
            duplicated: None,
            corrupted: None,
            held_back: None,
            keeps: if holds { vec![Kept::Held, Kept::QueueFull] } else { vec![Kept::Outage] },
            per_packet: false,
            overtakes: false,
            of_one_packet: false,
            varies: holds.then(|| "an outage holds packets back".to_owned()),
        }
    }

    fn netem(&self, at: &Place) -> Result<NetemStage, NetemRefusal> {
        Err(NetemRefusal::absent("outage", at, "outage"))
    }

    fn examples() -> Vec<Self> {
        let second = Some(1_000_000_000);
        [(second, None), (second, Some(5000)), (None, None)]
            .map(|(every_ns, hold_bytes)| Self {
                start_ns: 500_000_000,
                duration_ns: 100_000_000,
                every_ns,
                hold_bytes,
            })
            .into()
    }

    fn arbitrary(choices: &mut Choices<'_>) -> Self {
        let [start_ns, duration_ns] = [(); 2].map(|()| choices.micros(0..20_000));
        let every_ns = choices.maybe(|choices| duration_ns + choices.micros(1..20_000));
        Self { start_ns, duration_ns, every_ns, hold_bytes: choices.maybe(|choices| choices.number(0..5000)) }
    }
}

/// No link from time to time.
#[derive(Debug)]
struct Outage {
    start_ns: u64,
    duration_ns: u64,
    every_ns: Option<u64>,
    hold_bytes: Option<u64>,
    origin_ns: u64,
    /// The end of the outage that packets are held in, and how many bytes they are.
    held: (Instant, u64),
}

impl Outage {
    /// Outages of `duration`, the first `start` after the link's first packet, then one `every` so often; up to `hold_bytes` of IP are held until
    /// their end. Else what is wrong.
    fn new(
        start: Duration,
        duration: Duration,
        every: Option<Duration>,
        hold_bytes: Option<u64>,
    ) -> Result<Settled<Self>, ParameterError> {
        if let Some(every) = every.filter(|every| *every <= duration) {
            return Err(ParameterError::new(format!("outages of {duration:?} every {every:?} never end")));
        }
        Ok(Settled::new(Self {
            start_ns: nanoseconds(start),
            duration_ns: nanoseconds(duration),
            every_ns: every.map(nanoseconds),
            hold_bytes,
            origin_ns: 0,
            held: (Instant::default(), 0),
        }))
    }

    /// The end of the outage at `now`, if there is one.
    fn end(&self, now: Instant) -> Option<Instant> {
        let since_first = now.as_nanos().checked_sub(self.origin_ns)?.checked_sub(self.start_ns)?;
        let since = self.every_ns.map_or(since_first, |every| since_first % every);
        let remaining = self.duration_ns.checked_sub(since).filter(|remaining| *remaining > 0)?;
        Some(now + Duration::from_nanos(remaining))
    }

    /// Is there room for `bytes` more until `end`? Then they are counted.
    fn hold(&mut self, bytes: u64, end: Instant, limit: u64) -> bool {
        let held = if self.held.0 == end { self.held.1 } else { 0 };
        let fits = held.checked_add(bytes).is_some_and(|total| total <= limit);
        if fits {
            self.held = (end, held + bytes);
        }
        fits
    }
}

impl Effect for Outage {
    fn start(&mut self, origin: Instant) {
        self.origin_ns = origin.as_nanos();
    }

    fn apply(&mut self, packet: Packet, now: Instant, out: &mut StageExit) {
        match (self.end(now), self.hold_bytes) {
            (None, _) => out.depart(packet, now),
            (Some(_), None) => out.drop(packet, now, DropCause::Outage),
            (Some(end), Some(limit)) if self.hold(u64::from(packet.size), end, limit) => out.depart(packet, end),
            (Some(_), Some(_)) => out.drop(packet, now, DropCause::QueueFull),
        }
    }
}
