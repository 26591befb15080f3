//! Sleep of the client's radio.

use std::collections::VecDeque;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::sleep::{RadioState, Sleep, SleepMachine};
use super::{Position, Shared};
use crate::facts::{Kept, QueueFacts, SharedFacts, SharedQueue};
use crate::impairment::spec::SharedSpec;
use crate::impairment::stage_exit::StageExit;
use crate::spec::{Choices, Place, SpecError, words};
use crate::{Counters, Direction, DropCause, Dropped, Impairment, Instant, Packet, ParameterError, Seed};

const ABOUT: &str = "Sleep of the client's radio, which both directions share: connected DRX, idle DRX and eDRX, PSM (3GPP TS 36.321, \
    clause 5.7; TS 36.304, clause 7; TS 24.301, clause 5.3.11), or Wi-Fi's power save (IEEE Std 802.11-2012, clause 10.2). It starts in its \
    deepest sleep, and sleeps when no packet has been sent or received for a time. An uplink packet wakes it; a downlink packet is kept by the network \
    until the client listens, every cycle of the present sleep, and wakes it then; without a cycle it waits for an uplink packet. While it wakes, \
    packets of both directions wait, of each as many bytes as the buffer holds; the rest is dropped. It does not sleep while it sends: in the shared \
    medium, or in the uplink up to the end of its first stage with a rate; nor while it receives: in the medium, or at the rate of the downlink's last such \
    stage. Idle listening, random access and messages of the control plane are part of the configured times, not modelled.";

/// One depth of sleep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SleepSpec {
    /// How long no packet has passed when it begins.
    pub after_ns: u64,
    /// How often the client listens, from the instant at which this sleep began; absent means never, so that downlink packets wait for an uplink
    /// packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle_ns: Option<u64>,
    /// How long waking takes, before an uplink packet may go or after a downlink packet was announced.
    pub wake_ns: u64,
}

/// How the client's radio goes to sleep while no packet is sent or received, and what waking takes. It starts in the deepest sleep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RadioSpec {
    /// From light to deep: C-DRX, DRX or eDRX, PSM; or Wi-Fi's power save.
    pub sleeps: Vec<SleepSpec>,
    /// IP bytes that the network keeps for a sleeping client, and as many that the client keeps while its radio wakes; beyond them packets are dropped.
    pub buffer_bytes: u64,
}

impl SharedSpec for RadioSpec {
    const ABOUT: &'static str = ABOUT;
    const POSITION: Position = Position::Near;

    fn build(&self, _seed: Seed, at: &Place) -> Result<Box<dyn Shared>, SpecError> {
        let at_sleeps = at.key("sleeps");
        for (index, pair) in (1..).zip(self.sleeps.windows(2)) {
            let [lighter, deeper] = [pair[0].after_ns, pair[1].after_ns];
            if deeper < lighter {
                let at = at_sleeps.index(index).key("after_ns");
                return Err(at.error(format!("{deeper} comes after {lighter}: sleeps go from light to deep")));
            }
        }
        if let Some(index) = self.sleeps.iter().position(|sleep| sleep.cycle_ns == Some(0)) {
            return Err(at_sleeps
                .index(index)
                .key("cycle_ns")
                .error("a client that listens every 0 ns does not sleep"));
        }
        let sleeps = self.sleeps.iter().map(|sleep| Sleep {
            after: Duration::from_nanos(sleep.after_ns),
            cycle: sleep.cycle_ns.map(Duration::from_nanos),
            wake: Duration::from_nanos(sleep.wake_ns),
        });
        Ok(Box::new(Radio::new(sleeps.collect(), self.buffer_bytes).map_err(|what| at.error(what))?))
    }

    fn facts(&self) -> SharedFacts {
        let depth = |sleep: &SleepSpec| {
            let listens = match sleep.cycle_ns {
                None => "hears nothing until it sends".to_owned(),
                Some(cycle_ns) => format!("listens every {}", words::time(cycle_ns)),
            };
            let wakes = match sleep.wake_ns {
                0 => "wakes without delay".to_owned(),
                wake_ns => format!("wakes in {}", words::time(wake_ns)),
            };
            format!("after {} it {listens} and {wakes}", words::time(sleep.after_ns))
        };
        let depths: Vec<String> = self.sleeps.iter().map(depth).collect();
        let buffer = words::size(self.buffer_bytes);
        let queue = Some(QueueFacts::drop_tail(Some(self.buffer_bytes), None));
        let kept = || vec![Kept::Held, Kept::QueueFull];
        SharedFacts {
            key: "radio".to_owned(),
            words: format!("sleeps when no packet passes: {}; the network keeps {buffer} for it", depths.join("; ")),
            rate_bps: None,
            service: vec![],
            airtime: None,
            frame_loss: 0.0,
            random: false,
            contends: false,
            queue: Some(SharedQueue { uplink: queue.clone(), downlink: queue }),
            sleeps: self.sleeps.clone(),
            opened_by_uplink: false,
            silence_ns: None,
            silence_words: None,
            tells_flows_apart: false,
            keeps: [kept(), kept()],
        }
    }

    fn added_bytes(&self, _size: u32) -> Option<i64> {
        None
    }

    fn examples() -> Vec<Self> {
        let sleep = |after_ns, cycle_ns, wake_ns| SleepSpec { after_ns, cycle_ns, wake_ns };
        let sleeps = vec![sleep(15_000_000, Some(40_000_000), 5_000_000), sleep(1_000_000_000, None, 50_000_000)];
        vec![Self { sleeps, buffer_bytes: 100_000 }]
    }

    fn arbitrary(choices: &mut Choices<'_>) -> Self {
        let mut after_ns = 0;
        let sleeps = choices.list(0..4, |choices| {
            after_ns += choices.micros(0..20_000);
            let cycle_ns = choices.maybe(|choices| choices.micros(1..20_000));
            SleepSpec { after_ns, cycle_ns, wake_ns: choices.micros(0..20_000) }
        });
        Self { sleeps, buffer_bytes: choices.number(0..10_000) }
    }
}

/// Sleep of the client's radio, which both directions share: packets pass without delay while it is awake.
///
/// An uplink packet wakes it; a downlink packet is kept by the network until the client listens, then announced, and wakes it too (see
/// [`SleepMachine`]). While it wakes, all packets wait for the same instant and then pass in the order in which they came. A client that does
/// not listen in its deepest sleep never gets a downlink packet that waits then, unless it sends one itself.
///
/// A packet passes in no time here. That the client sends or receives it for longer is what [`Link`](crate::Link) tells it.
#[derive(Debug)]
pub struct Radio {
    machine: SleepMachine,
    buffer_bytes: u64,
    /// For each direction, the bytes that wait.
    waiting_bytes: [u64; 2],
    waiting: VecDeque<Packet>,
    exit: StageExit,
}

impl Radio {
    /// A client's radio with these `sleeps`, from light to deep, for which the network keeps `buffer_bytes` IP bytes of downlink packets; the client
    /// keeps as many of uplink packets while it wakes. Refuses what [`SleepMachine::new`] refuses.
    pub fn new(sleeps: Vec<Sleep>, buffer_bytes: u64) -> Result<Self, ParameterError> {
        let (machine, exit) = (SleepMachine::new(sleeps)?, StageExit::default());
        Ok(Self { machine, buffer_bytes, waiting_bytes: [0; 2], waiting: VecDeque::new(), exit })
    }

    fn advance(&mut self, now: Instant) {
        while let Some(interval) = self.machine.poll_interval(now) {
            if interval.state == RadioState::Waking {
                self.release(interval.until);
            }
        }
    }

    fn release(&mut self, now: Instant) {
        self.waiting_bytes = [0; 2];
        for packet in self.waiting.drain(..) {
            self.exit.depart(packet, now);
        }
    }

    /// False where there is no room for a packet to wait.
    fn keep(&mut self, packet: &Packet) -> bool {
        let waiting = &mut self.waiting_bytes[packet.port.direction().index()];
        let bytes = waiting.saturating_add(packet.size.into());
        let fits = bytes <= self.buffer_bytes;
        if fits {
            *waiting = bytes;
        }
        fits
    }
}

impl Impairment for Radio {
    fn start(&mut self, origin: Instant) {
        self.machine.start(origin);
    }

    fn handle_packet(&mut self, packet: Packet, now: Instant) {
        self.advance(now);
        self.exit.receive();
        if self.machine.state() != RadioState::Awake && !self.keep(&packet) {
            return self.exit.drop(packet, now, DropCause::QueueFull);
        }
        let passes = match packet.port.direction() {
            Direction::Uplink => self.machine.handle_uplink(now),
            Direction::Downlink => self.machine.handle_downlink(now),
        };
        if passes {
            self.exit.depart(packet, now);
        } else {
            self.waiting.push_back(packet);
            self.advance(now);
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
        let wakes = if self.waiting.is_empty() { None } else { self.machine.poll_timeout() };
        wakes.into_iter().chain(self.exit.poll_timeout()).min()
    }

    fn poll_held(&mut self) -> Option<Packet> {
        self.exit.poll_held().or_else(|| self.waiting.pop_front())
    }

    fn settles_when_polled(&self) -> bool {
        true
    }

    fn counters(&self) -> Counters {
        self.exit.counters(self.waiting.len())
    }
}

impl Shared for Radio {
    fn position(&self) -> Position {
        RadioSpec::POSITION
    }

    fn handle_transfer(&mut self, transfers: bool, now: Instant) {
        self.advance(now);
        self.machine.handle_transfer(transfers, now);
    }

    fn handle_reception(&mut self, airtime: Duration, now: Instant) {
        self.advance(now);
        if self.machine.handle_reception(airtime, now) {
            self.release(now);
        }
    }
}
