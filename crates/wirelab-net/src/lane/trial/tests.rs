//! A trial on frames of all kinds, in virtual time.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::num::NonZeroU64;

use proptest::prelude::*;
use wirelab_link::impairment::{GilbertElliottTime, Lossy, Medium, Schedule, SchedulePoint, Wifi};
use wirelab_link::queue::Queue;
use wirelab_link::{Chain, Counters, Direction, Link, Probability, Seed};

use super::*;
use crate::packet_log::LogReader;

const HEADER_BYTES: u8 = 40;

/// Does everything that a link can do to a packet, by its `sequence`.
#[derive(Default)]
struct Mischief {
    departures: VecDeque<(Instant, Packet)>,
    drops: VecDeque<Dropped>,
    stuck: VecDeque<Packet>,
}

impl Impairment for Mischief {
    fn handle_packet(&mut self, mut packet: Packet, now: Instant) {
        let bit = packet.sequence as u32 * 37 % (8 * packet.size);
        packet.corrupted_bit = packet.sequence.is_multiple_of(3).then_some(bit);
        match packet.sequence % 7 {
            0 => self.drops.push_back(Dropped { packet, at: now, cause: DropCause::Nat }),
            1 => self.stuck.push_back(packet),
            2 => self.departures.push_back((Instant::from_nanos(u64::MAX), packet)),
            3 => {
                self.departures.push_front((now, Packet { copy: true, ..packet.clone() }));
                self.departures.push_front((now, packet));
            }
            _ => self.departures.push_front((now, packet)),
        }
    }

    fn poll_packet(&mut self, now: Instant) -> Option<(Instant, Packet)> {
        self.poll_timeout().filter(|due| *due <= now).and_then(|_| self.departures.pop_front())
    }

    fn poll_dropped(&mut self) -> Option<Dropped> {
        self.drops.pop_front()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.departures.front().map(|(instant, _)| *instant)
    }

    fn poll_held(&mut self) -> Option<Packet> {
        self.stuck.pop_front().or_else(|| self.departures.pop_front().map(|(_, packet)| packet))
    }

    fn counters(&self) -> Counters {
        Counters::default()
    }
}

/// What became of frames that came one by one: the accounts, the log's records, and what was sent on which port.
type Outcome = (LaneReport, Vec<(Record, Vec<u8>)>, Vec<(usize, Vec<u8>)>);

fn run(frames: &[(usize, Vec<u8>)], lead: usize, kernel_takes: bool) -> Outcome {
    let log = LogWriter::new(Vec::new(), b"{}").unwrap();
    let mut trial =
        Trial::new(Box::new(Mischief::default()), Some(log), HEADER_BYTES, lead, None, Instant::from_nanos(0));
    let (sent, mut spare) = (RefCell::new(Vec::new()), Vec::new());
    let offer = |port, frame: &[u8]| {
        sent.borrow_mut().push((port, frame.to_vec()));
        kernel_takes
    };
    for (nanoseconds, (port, bytes)) in (1..).zip(frames) {
        let now = Instant::from_nanos(nanoseconds);
        trial.receive(*port, &frame(bytes, lead), now, &mut spare);
        trial.send(now, offer, &mut spare);
    }
    let (report, log) = trial.end(Instant::from_nanos(1_000_000));
    let log = log.unwrap().finish().unwrap();
    let records = LogReader::new(&log[..]).unwrap().map(Result::unwrap).collect();
    (report, records, sent.into_inner())
}

fn frame(bytes: &[u8], lead: usize) -> Frame<'_> {
    Frame { stamp_ns: 0, bytes, lead, oversized: false }
}

/// An Ethernet frame to one host, of IPv4 by its type, behind `lead` bytes.
fn ethernet(lead: usize, payload: &[u8]) -> Vec<u8> {
    [&vec![0xaa; lead][..], &[2, 0, 0, 0x77, 0, 1, 2, 0, 0, 0x77, 0, 2, 8, 0], payload].concat()
}

#[test]
fn what_the_kernel_does_not_take_is_counted_twice() {
    let frames: Vec<_> = (0..7).map(|_| (0, ethernet(0, &[0x45; 60]))).collect();
    let (report, records, sent) = run(&frames, 0, false);
    assert_eq!((sent.len(), report.kernel_drops), (5, 5));
    let uplink = &report.directions[0];
    assert_eq!((uplink.received, uplink.duplicated, uplink.delivered, uplink.held), (7, 1, 0, 2));
    assert_eq!(uplink.dropped, [0, 5, 0, 0, 0, 1]);
    assert_eq!(records.iter().filter(|(record, _)| record.fate == Fate::QueueFull).count(), 5);
}

#[test]
fn what_waits_for_ever_is_held() {
    let frames: Vec<_> = (0..3).map(|_| (1, ethernet(0, &[0x60; 60]))).collect();
    let (report, records, _) = run(&frames, 0, true);
    assert_eq!(report.directions[1].held, 2);
    let held: Vec<_> = records.iter().filter(|(record, _)| record.fate == Fate::Held).collect();
    let told = |(record, bytes): &&(Record, Vec<u8>)| (record.sequence, record.departure.as_nanos(), bytes.len());
    assert_eq!(held.iter().map(told).collect::<Vec<_>>(), [(1, 1_000_000, 40), (2, 1_000_000, 40)]);
}

const SEED: Seed = Seed { link: 1, direction: Direction::Uplink, index: 0 };

fn probability(value: f64) -> Probability {
    Probability::new(value).unwrap()
}

/// Ten frames of 1000 IP bytes, each way in turn, in a trial over `link` that lasts a second.
fn a_second_over(link: Link) -> LaneReport {
    let mut trial = Trial::<Vec<u8>>::new(Box::new(link), None, 0, 0, None, Instant::default());
    let (bytes, mut spare) = (ethernet(0, &[0x45; 1000]), Vec::new());
    for port in [0, 1].repeat(5) {
        trial.receive(port, &frame(&bytes, 0), Instant::default(), &mut spare);
    }
    let end = Instant::from_nanos(1_000_000_000);
    trial.send(end, |_, _| true, &mut spare);
    trial.end(end).0
}

#[test]
fn a_trial_ends_at_once_though_its_link_never_sends_again() {
    let at_ms = |ms, rate_bps| SchedulePoint {
        at: Duration::from_millis(ms),
        delay: Duration::ZERO,
        rate_bps,
        loss: probability(0.0),
    };
    for queue in [
        Queue::DropTail { bytes: None, packets: None },
        Queue::Codel { target: Duration::from_secs(9), interval: Duration::from_secs(9), bytes: u64::MAX },
    ] {
        let chain = || {
            let ends = Schedule::new(vec![at_ms(0, Some(4_000_000)), at_ms(5, Some(0))], None).unwrap();
            let sojourn = Duration::from_micros(10);
            let losses = GilbertElliottTime::new(sojourn, sojourn, probability(0.0), probability(0.0), SEED);
            Chain::new(vec![Box::new(ends.into_chain(queue, 0, SEED)), Box::new(Lossy::new(losses))])
        };
        let report = a_second_over(Link::new(chain(), chain()));
        for counts in &report.directions {
            assert_eq!((counts.received, counts.delivered, counts.held), (5, 2, 3), "{queue:?}");
        }
    }
}

#[test]
fn a_trial_ends_at_once_though_its_air_carries_nothing() {
    let wifi = Wifi {
        rate_bps: NonZeroU64::new(54_000_000).unwrap(),
        overhead_bytes: 36,
        preamble: Duration::from_micros(20),
        ack: Duration::from_micros(28),
        slot: Duration::from_micros(9),
        sifs: Duration::from_micros(10),
        difs: Duration::from_micros(28),
        cw_min: 15,
        cw_max: 1023,
        retries: u32::MAX,
        frame_error: probability(1.0),
        queue_bytes: 3 * 1036,
    };
    let report = a_second_over(Link::new(Chain::default(), Chain::default()).with_medium(Medium::wifi(wifi, SEED)));
    for counts in &report.directions {
        // One contends and three wait; there is no room for the fifth.
        assert_eq!((counts.received, counts.held, counts.dropped[DropCause::QueueFull.index()]), (5, 4, 1));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn frames_of_any_bytes_and_size_are_carried_as_told_or_not_at_all(
        lead in prop_oneof![Just(0usize), Just(10)],
        frames in prop::collection::vec((0..2usize, any::<bool>(), prop_oneof![prop::collection::vec(any::<u8>(), 0..80), prop::collection::vec(any::<u8>(), 1000..1600)]), 0..40),
    ) {
        let frames: Vec<_> =
            frames.into_iter().map(|(port, ip, bytes)| (port, if ip { ethernet(lead, &bytes) } else { bytes })).collect();
        let carried: Vec<_> = frames.iter().filter(|(_, bytes)| frame(bytes, lead).is_unicast_ip()).collect();
        let (report, records, sent) = run(&frames, lead, true);

        let [up, down] = &report.directions;
        prop_assert_eq!(up.received + down.received, carried.len() as u64);
        for counts in [up, down] {
            let settled = counts.delivered + counts.dropped.iter().sum::<u64>() + counts.held;
            prop_assert_eq!(counts.received + counts.duplicated, settled);
        }
        prop_assert_eq!(records.len() as u64, up.received + up.duplicated + down.received + down.duplicated);
        let delivered = records.iter().filter(|(record, _)| record.fate == Fate::Delivered);
        prop_assert_eq!(delivered.clone().count(), sent.len());
        for ((record, _), (port, bytes)) in delivered.zip(&sent) {
            let (entered, mut expected) = carried[record.sequence as usize].clone();
            if let Some(bit) = record.corrupted_bit {
                expected[lead + ETHERNET_BYTES + bit as usize / 8] ^= 0x80 >> (bit % 8);
            }
            prop_assert_eq!((1 - entered, &expected), (*port, bytes));
        }
        for (record, logged) in &records {
            let packet = &carried[record.sequence as usize].1[lead + ETHERNET_BYTES..];
            prop_assert_eq!(&logged[..], &packet[..packet.len().min(HEADER_BYTES.into())]);
        }
    }
}
