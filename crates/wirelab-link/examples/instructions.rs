//! Sends packets through one impairment in virtual time: `instructions NAME PACKETS`, for whoever counts the instructions that it takes. Without
//! arguments it prints the names. `bench/instructions` counts under valgrind.

#[path = "../tests/common/mod.rs"]
mod common;
#[path = "../tests/common/shared.rs"]
mod shared;

use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

use common::{Sender, Stage, drop_tail};
use shared::{ieee80211g, ieee802154};
use wirelab_link::impairment::{Ieee802154, Jitter, Medium, Nat, Radio, SchedulePoint, Sleep, Wifi};
use wirelab_link::queue::{Limit, Queue};
use wirelab_link::{
    Chain, Direction, Flow, IMPAIRMENTS, Impairment, Instant, Link, Packet, PortId, Probability, SHARED, Seed,
    Transport,
};

const IP_BYTES: u32 = 100;
const FRAME_BYTES: usize = 114;
/// From one packet to the next, in turn: some find the one before them still there, most do not.
const GAPS: [Duration; 7] = [ms(2), ms(18), ms(5), ms(15), ms(10), ms(1), ms(19)];
const FLOWS: u64 = 16;

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// A link by its name: that of its impairment, and what is special about it.
struct Case {
    name: &'static str,
    build: Box<dyn Fn() -> Link>,
}

fn main() {
    let cases = cases();
    for (name, _) in IMPAIRMENTS.iter().chain(SHARED) {
        assert!(cases.iter().any(|case| case.name == *name), "{name} is in the registry and not here");
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [] => cases.iter().for_each(|case| println!("{}", case.name)),
        [name, packets] => {
            let case = cases.iter().find(|case| case.name == name).expect("a name as printed without arguments");
            let mut link = (case.build)();
            send(&mut link, packets.parse().expect("a number of packets"));
            println!("{:?}", link.counters());
        }
        _ => panic!("NAME PACKETS, or nothing"),
    }
}

/// In both directions in turn, polled when something is due, as the live link is.
fn send(link: &mut Link, packets: u64) {
    let mut now = Instant::default();
    let mut spare = Vec::new();
    for sequence in 0..packets {
        now = now + GAPS[(sequence % GAPS.len() as u64) as usize];
        while let Some(due) = link.poll_timeout().filter(|due| *due <= now) {
            collect(link, due, &mut spare);
        }
        let mut data: Vec<u8> = spare.pop().unwrap_or_default();
        data.resize(FRAME_BYTES, 0);
        let (port, flow) =
            (PortId((sequence % 2) as u16), Flow { id: sequence / 2 % FLOWS, transport: Transport::Udp });
        link.handle_packet(Packet { data, ..Packet::new(sequence, port, IP_BYTES, now, flow) }, now);
        collect(link, now, &mut spare);
    }
}

fn collect(link: &mut Link, now: Instant, spare: &mut Vec<Vec<u8>>) {
    while let Some((_, packet)) = link.poll_packet(now) {
        spare.push(packet.data);
    }
    while let Some(dropped) = link.poll_dropped() {
        spare.push(dropped.packet.data);
    }
}

fn cases() -> Vec<Case> {
    let (target, interval) = (ms(5), ms(100));
    let codel = Queue::Codel { target, interval, bytes: 100_000 };
    let (flows, quantum_bytes) = (NonZeroU32::new(1024).unwrap(), NonZeroU32::new(1514).unwrap());
    let fq_codel = Queue::FqCodel { target, interval, flows, quantum_bytes, packets: 1000 };
    let queue = drop_tail(100_000);
    let queued = |sender, queue| vec![Stage::Queued(sender, queue, 0)];
    let paper = Stage::GilbertElliott([0.01, 0.1, 0.7, 0.001]);
    let point = |at, delay, rate, loss| SchedulePoint { at, delay, rate_bps: Some(rate), loss: probability(loss) };
    let schedule = vec![point(ms(0), ms(10), 200_000, 0.01), point(ms(500), ms(20), 100_000, 0.02)];
    let markov = vec![vec![0.98, 0.015, 0.005], vec![0.05, 0.9, 0.05], vec![0.1, 0.2, 0.7]];
    let chains = [
        ("nothing", vec![]),
        ("rate, loss and delay", vec![Stage::Rate(100_000, 100_000, 0), paper.clone(), Stage::Constant(ms(10))]),
        ("delay", vec![Stage::Constant(ms(10))]),
        ("delay with normal jitter", vec![Stage::Jittered(ms(10), Jitter::Normal { sigma: ms(2) })]),
        ("loss", vec![Stage::Independent(0.1)]),
        ("loss with correlation", vec![Stage::Correlated(0.1, 0.25)]),
        ("gilbert-elliott", vec![paper]),
        ("gilbert-elliott-time", vec![Stage::GilbertElliottTime(ms(1000), ms(100), 0.7, 0.001)]),
        ("four-state", vec![Stage::FourState([0.02, 0.3, 0.2, 0.4, 0.03])]),
        ("markov", vec![Stage::Markov(markov, vec![0.001, 0.1, 0.8])]),
        ("loss-pattern", vec![Stage::LossPattern("1111111110".into(), true)]),
        ("reorder", vec![Stage::Reorder(0.1, ms(10), 0.0)]),
        ("duplicate", vec![Stage::Duplicate(0.1, 0.0)]),
        ("corrupt", vec![Stage::Corrupt(0.1, 0.0)]),
        ("rate", queued(Sender::Rate(100_000), queue)),
        ("rate with CoDel", queued(Sender::Rate(100_000), codel)),
        ("rate with FQ-CoDel", queued(Sender::Rate(100_000), fq_codel)),
        ("token-bucket", queued(Sender::TokenBucket(100_000, 3000), queue)),
        ("delivery-trace", queued(Sender::DeliveryTrace((1..=100).map(|number| 3 * number).collect()), queue)),
        ("schedule", queued(Sender::Schedule(schedule, Some(ms(1000))), queue)),
        ("outage", vec![Stage::Outage(ms(500), ms(100), Some(ms(1000)), None)]),
        ("duty-cycle", queued(Sender::DutyCycle(1_000_000, 0.1), queue)),
    ];
    let chains = chains.into_iter().map(|(name, stages)| Case { name, build: Box::new(move || link(&stages)) });
    let shared: [(&str, Sharing); 5] = [
        ("serialiser", |link| {
            link.with_medium(Medium::serialiser(NonZeroU64::new(100_000).unwrap(), Limit::bytes(100_000), 0))
        }),
        ("wifi", |link| link.with_medium(wifi())),
        ("ieee802154", |link| link.with_medium(mesh())),
        ("radio", |link| {
            let sleep = Sleep { after: ms(15), cycle: Some(ms(40)), wake: ms(5) };
            link.with_radio(Radio::new(vec![sleep], 100_000).unwrap())
        }),
        ("nat", |link| link.with_nat(Nat::new(ms(120_000), ms(7_440_000)))),
    ];
    let shared = shared.into_iter().map(|(name, with)| Case { name, build: Box::new(move || with(link(&[]))) });
    chains.chain(shared).collect()
}

/// Puts a stage that both directions share on a link.
type Sharing = fn(Link) -> Link;

const MEDIUM_SEED: Seed = Seed { link: 1, direction: Direction::Uplink, index: u16::MAX };

/// With these stages in each direction.
fn link(stages: &[Stage]) -> Link {
    let chain = |direction| {
        let seed = |index| Seed { link: 1, direction, index };
        Chain::new((0..).zip(stages).map(|(index, stage)| stage.build(seed(index))).collect())
    };
    Link::new(chain(Direction::Uplink), chain(Direction::Downlink))
}

fn wifi() -> Medium {
    let wifi = Wifi { frame_error: probability(0.1), queue: Limit::bytes(100_000), ..ieee80211g() };
    Medium::wifi(wifi, MEDIUM_SEED).unwrap()
}

fn mesh() -> Medium {
    let mesh = Ieee802154 { frame_error: probability(0.1), queue: Limit::bytes(100_000), ..ieee802154() };
    Medium::ieee802154(mesh, MEDIUM_SEED).unwrap()
}

fn probability(value: f64) -> Probability {
    Probability::new(value).unwrap()
}
