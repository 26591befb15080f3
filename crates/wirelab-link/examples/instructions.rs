//! Sends packets through one impairment in virtual time: `instructions NAME PACKETS`, for counting its instructions. Without
//! arguments it prints the names. `bench/instructions` counts under valgrind.

#[path = "../tests/common/mod.rs"]
mod common;

use std::num::NonZeroU32;
use std::time::Duration;

use common::{Sender, Stage};
use wirelab_link::impairment::JitterSpec;
use wirelab_link::queue::Queue;
use wirelab_link::spec::Place;
use wirelab_link::{
    Chain, Direction, Flow, IMPAIRMENTS, Impairment, Instant, Link, Packet, PortId, SHARED, Seed, Transport,
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
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [] => cases.iter().for_each(|case| println!("{}", case.name)),
        [name, packets] => {
            let case = cases.iter().find(|case| case.name == name).expect("a name as printed without arguments");
            let mut link = (case.build)();
            // The live link tells the ends of packets for it alone.
            send(&mut link, packets.parse().expect("a number of packets"), case.name == "nat");
            println!("{:?}", link.counters());
        }
        _ => panic!("NAME PACKETS, or nothing"),
    }
}

/// In both directions in turn, polled when something is due, as the live link is.
fn send(link: &mut Link, packets: u64, with_ends: bool) {
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
        let ends = with_ends.then(|| Box::new(common::ends(port, flow)));
        link.handle_packet(Packet { data, ends, ..Packet::new(sequence, port, IP_BYTES, now, flow) }, now);
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

/// The first example of every kind, and what costs more than that.
fn cases() -> Vec<Case> {
    let codel = Queue::Codel { target: ms(5), interval: ms(100), bytes: 100_000 };
    let (flows, quantum_bytes) = (NonZeroU32::new(1024).unwrap(), NonZeroU32::new(1514).unwrap());
    let fq_codel = Queue::FqCodel { target: ms(5), interval: ms(100), flows, quantum_bytes, packets: 1000 };
    let queued = |queue| vec![Stage::queued(Sender::rate(100_000), queue, 0)];
    let paper = Stage::gilbert_elliott([0.01, 0.1, 0.7, 0.001]);
    let jitter = JitterSpec::Normal { sigma_ns: 2_000_000 };
    let special = [
        ("nothing", vec![]),
        ("rate, loss and delay", vec![Stage::rate(100_000, 100_000, 0), paper, Stage::constant(ms(10))]),
        ("delay with normal jitter", vec![Stage::jittered(ms(10), jitter)]),
        ("loss with correlation", vec![Stage::correlated(0.1, 0.25)]),
        ("rate with CoDel", queued(codel)),
        ("rate with FQ-CoDel", queued(fq_codel)),
    ];
    let special = special.into_iter().map(|(name, stages)| Case { name, build: Box::new(move || link(&stages)) });
    let kinds = IMPAIRMENTS.iter().map(|kind| {
        let stages = vec![Stage((kind.examples)().remove(0))];
        Case { name: kind.name, build: Box::new(move || link(&stages)) }
    });
    let shared = SHARED.iter().map(|kind| {
        let stage = (kind.examples)().remove(0);
        let build = move || link(&[]).with(stage.build(SHARED_SEED, &Place::new(stage.kind())).unwrap());
        Case { name: kind.name, build: Box::new(build) }
    });
    special.chain(kinds).chain(shared).collect()
}

const SHARED_SEED: Seed = Seed { link: 1, direction: Direction::Uplink, index: u16::MAX };

/// With these stages in each direction.
fn link(stages: &[Stage]) -> Link {
    let chain = |direction| {
        let seed = |index| Seed { link: 1, direction, index };
        Chain::new((0..).zip(stages).map(|(index, stage)| stage.build(seed(index))).collect())
    };
    Link::new(chain(Direction::Uplink), chain(Direction::Downlink))
}
