//! A trial on frames of all kinds, in virtual time.

mod files;
mod rests;
// The reader of captures that wirelab-capture's own tests have.
#[path = "../../../../wirelab-capture/src/pcapng/tests/reader.rs"]
mod pcapng_reader;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::num::NonZeroU64;
use std::rc::Rc;

use proptest::prelude::*;
use wirelab_link::impairment::{Dcf, GilbertElliottTimeSpec, SchedulePoint, ScheduleSpec, Wifi};
use wirelab_link::queue::Limit;
use wirelab_link::spec::{LinkSpec, QueueSpec};
use wirelab_link::{Chain, Counters, Direction, Link, Probability, Seed};

use super::*;
use crate::log_sink::{Backlog, MAX_CAPTURED};
use crate::slot::DropWords;
use crate::topology::Sides;
use pcapng_reader::{Found, read};
use wirelab_capture::packet_log::{LogReader, RECORD_BYTES};
use wirelab_capture::pcapng::{Way, Writer};

const HEADER_BYTES: u8 = 40;
/// Two hosts, without offloads.
const PAIR: Carried = Carried { sides: Sides::PAIR, lead: 0 };

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

/// The result of frames that arrive one by one.
struct Ran {
    report: SlotReport,
    /// The log's records.
    records: Vec<(Record, Vec<u8>)>,
    /// What was sent on which port.
    sent: Vec<(usize, Vec<u8>)>,
    /// What both ends' captures have.
    captures: [Vec<Captured>; 2],
}

/// A packet of a capture.
#[derive(Clone, Debug, PartialEq)]
struct Captured {
    at_ns: u64,
    way: Way,
    frame: Vec<u8>,
    comment: Option<String>,
}

fn run(frames: &[(usize, Vec<u8>)], lead: usize, offered: Offered) -> Ran {
    let log = LogWriter::new(Vec::new(), b"{}").unwrap();
    let words: DropWords = ["up", "down"].map(|way| DropCause::ALL.map(|cause| format!("{way} {cause:?}")));
    let captures = ["client", "server"].map(|name| Writer::new(Vec::new(), "wirelab", &[name]).ok());
    let taps = Some(Taps::new(Sides::PAIR, captures.into(), words, Backlog::default()));
    let (link, carried, start) = (Box::new(Mischief::default()), Carried { lead, ..PAIR }, Instant::from_nanos(0));
    let mut trial = Trial::new(link, carried, Some(log), HEADER_BYTES, taps, None, start);
    let (sent, mut spare) = (RefCell::new(Vec::new()), Vec::new());
    let offer = |port, frames: &[Departing]| {
        if let Offered::Taken(_) = offered {
            sent.borrow_mut().extend(frames.iter().map(|frame| (port, frame.as_ref().to_vec())));
            return Offered::Taken(frames.len());
        }
        offered
    };
    for (nanoseconds, (port, bytes)) in (1..).zip(frames) {
        let now = Instant::from_nanos(nanoseconds);
        trial.receive(*port, &frame(bytes, lead), now, &mut spare);
        trial.send(now, offer, &mut spare);
    }
    let (report, log, taps) = trial.end(Instant::from_nanos(1_000_000));
    let log = log.unwrap().finish().unwrap();
    let records = LogReader::new(&log[..]).unwrap().map(Result::unwrap).collect();
    let end = Instant::from_nanos(1_000_000);
    let captures: Vec<_> = taps.unwrap().finish(end).map(|capture| captured(&capture)).collect();
    Ran { report, records, sent: sent.into_inner(), captures: captures.try_into().unwrap() }
}

fn captured(capture: &[u8]) -> Vec<Captured> {
    let packets = read(capture).into_iter().filter_map(|found| match found {
        Found::Packet { at_ns, frame, options, .. } => Some((at_ns, frame, options)),
        _ => None,
    });
    let text = |(_, value): &(u16, Vec<u8>)| String::from_utf8(value.clone()).unwrap();
    let captured = packets.map(|(at_ns, frame, options)| Captured {
        at_ns,
        way: if options.contains(&(2, vec![1, 0, 0, 0])) { Way::In } else { Way::Out },
        frame,
        comment: options.iter().find(|(code, _)| *code == 1).map(text),
    });
    captured.collect()
}

fn frame(bytes: &[u8], lead: usize) -> Frame<'_> {
    Frame { stamp_ns: 0, bytes, lead, oversized: false }
}

/// An Ethernet frame to one host, of IPv4 by its type, after `lead` bytes.
fn ethernet(lead: usize, payload: &[u8]) -> Vec<u8> {
    [&vec![0xaa; lead][..], &[2, 0, 0, 0x77, 0, 1, 2, 0, 0, 0x77, 0, 2, 8, 0], payload].concat()
}

#[test]
fn what_the_kernel_does_not_take_is_counted_twice() {
    let frames: Vec<_> = (0..7).map(|_| (0, ethernet(0, &[0x45; 60]))).collect();
    let Ran { report, records, sent, .. } = run(&frames, 0, Offered::Lost);
    assert_eq!((sent.len(), report.kernel_drops), (0, 5));
    let uplink = &report.directions[0];
    assert_eq!((uplink.received, uplink.duplicated, uplink.delivered, uplink.held), (7, 1, 0, 2));
    assert_eq!(uplink.dropped, [0, 5, 0, 0, 0, 1]);
    assert_eq!(records.iter().filter(|(record, _)| record.outcome == Outcome::QueueFull).count(), 5);
}

#[test]
fn a_packet_refused_by_a_full_qdisc_does_not_count_as_a_kernel_drop() {
    let frames: Vec<_> = (0..7).map(|_| (0, ethernet(0, &[0x45; 60]))).collect();
    let Ran { report, .. } = run(&frames, 0, Offered::Refused);
    assert_eq!((report.directions[0].dropped, report.kernel_drops), ([0, 5, 0, 0, 0, 1], 0));
}

#[test]
fn a_frame_that_the_kernel_refuses_does_not_hold_up_those_behind_it() {
    let log = LogWriter::new(Vec::new(), b"{}").unwrap();
    let link = Box::new(Link::new(Chain::default(), Chain::default()));
    let start = Instant::default();
    let mut trial = Trial::new(link, PAIR, Some(log), HEADER_BYTES, None, None, start);
    let (mut sent, mut spare) = (Vec::new(), Vec::new());
    // Three batches, the last one not full.
    let numbers = 0..2 * BATCH as u8 + 5;
    for number in numbers.clone() {
        trial.receive(0, &frame(&ethernet(0, &[number; 60]), 0), start, &mut spare);
    }
    let is_refused = |frame: &Departing| frame.packet.sequence % 10 == 3;
    let offer = |port: usize, frames: &[Departing]| {
        let taken = frames.iter().take_while(|frame| !is_refused(frame)).count();
        sent.extend(frames[..taken].iter().map(|frame| (port, frame.as_ref()[ETHERNET_BYTES])));
        if taken == 0 { Offered::Lost } else { Offered::Taken(taken) }
    };
    trial.send(start, offer, &mut spare);
    let (report, log, _) = trial.end(start);
    let (refused, taken): (Vec<u8>, Vec<u8>) = numbers.partition(|number| number % 10 == 3);
    assert_eq!(sent, taken.iter().map(|number| (1, *number)).collect::<Vec<_>>());
    let uplink = &report.directions[0];
    assert_eq!((uplink.delivered, report.kernel_drops), (taken.len() as u64, refused.len() as u64));
    assert_eq!(uplink.lateness.counts.iter().sum::<u64>(), uplink.delivered);
    let log = log.unwrap().finish().unwrap();
    let records = LogReader::new(&log[..]).unwrap().map(Result::unwrap);
    let dropped =
        records.filter(|(record, _)| record.outcome == Outcome::QueueFull).map(|(record, _)| record.sequence as u8);
    assert_eq!(dropped.collect::<Vec<_>>(), refused);
}

#[test]
fn what_waits_for_ever_is_held() {
    let frames: Vec<_> = (0..3).map(|_| (1, ethernet(0, &[0x60; 60]))).collect();
    let Ran { report, records, .. } = run(&frames, 0, Offered::Taken(0));
    assert_eq!(report.directions[1].held, 2);
    let held: Vec<_> = records.iter().filter(|(record, _)| record.outcome == Outcome::Held).collect();
    let summary = |(record, bytes): &&(Record, Vec<u8>)| (record.sequence, record.departure.as_nanos(), bytes.len());
    assert_eq!(held.iter().map(summary).collect::<Vec<_>>(), [(1, 1_000_000, 40), (2, 1_000_000, 40)]);
}

const SEED: Seed = Seed { link: 1, direction: Direction::Uplink, index: 0 };

fn probability(value: f64) -> Probability {
    Probability::new(value).unwrap()
}

/// Ten frames of 1000 IP bytes, each way in turn, in a trial over `link` that lasts a second.
fn a_second_over(link: Link) -> SlotReport {
    let mut trial = Trial::<Vec<u8>>::new(Box::new(link), PAIR, None, 0, None, None, Instant::default());
    let (bytes, mut spare) = (ethernet(0, &[0x45; 1000]), Vec::new());
    for port in [0, 1].repeat(5) {
        trial.receive(port, &frame(&bytes, 0), Instant::default(), &mut spare);
    }
    let end = Instant::from_nanos(1_000_000_000);
    trial.send(end, |_, frames| Offered::Taken(frames.len()), &mut spare);
    trial.end(end).0
}

#[test]
fn a_trial_ends_immediately_though_its_link_never_sends_again() {
    let at_ms = |ms: u64, rate_bps| SchedulePoint {
        at_ns: ms * 1_000_000,
        delay_ns: None,
        rate_bps: Some(rate_bps),
        loss: None,
    };
    let nine_seconds = 9_000_000_000;
    for queue in [
        QueueSpec::DropTail { bytes: Some(u64::MAX), packets: None },
        QueueSpec::Codel { target_ns: nine_seconds, interval_ns: nine_seconds, bytes: u64::MAX },
    ] {
        let chain = || {
            let points = vec![at_ms(0, 4_000_000), at_ms(5, 0)];
            let ends = ScheduleSpec { points, repeat_ns: None, queue: queue.clone(), overhead_bytes: 0 };
            let losses = GilbertElliottTimeSpec { good_ns: 10_000, bad_ns: 10_000, bad_loss: 0.0, good_loss: 0.0 };
            vec![ends.into(), losses.into()]
        };
        let link = LinkSpec { uplink: chain(), downlink: chain(), ..LinkSpec::default() };
        let report = a_second_over(link.build(1).unwrap());
        for counts in &report.directions {
            assert_eq!((counts.received, counts.delivered, counts.held), (5, 2, 3), "{queue:?}");
        }
    }
}

#[test]
fn a_trial_ends_immediately_though_its_air_carries_nothing() {
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
        queue: Limit::bytes(3 * 1036),
    };
    let report =
        a_second_over(Link::new(Chain::default(), Chain::default()).with(Box::new(Dcf::new(wifi, SEED).unwrap())));
    for counts in &report.directions {
        // One contends and three wait; there is no room for the fifth.
        assert_eq!((counts.received, counts.held, counts.dropped[DropCause::QueueFull.index()]), (5, 4, 1));
    }
}

#[test]
fn packets_leave_at_the_host_of_the_other_side_that_they_are_for() {
    let sides = Sides { near: 2, far: 3 };
    let log = LogWriter::new(Vec::new(), b"{}").unwrap();
    let words: DropWords = [const { [const { String::new() }; DropCause::ALL.len()] }; 2];
    let capture = || Writer::new(Vec::new(), "wirelab", &["host"]).ok();
    let taps = Some(Taps::new(sides, (0..5).map(|_| capture()).collect(), words, Backlog::default()));
    let link = Box::new(Link::new(Chain::default(), Chain::default()));
    let mut trial =
        Trial::new(link, Carried { sides, ..PAIR }, Some(log), HEADER_BYTES, taps, None, Instant::default());
    let (mut sent, mut spare) = (Vec::new(), Vec::new());
    let hosts = [1, 3, 2, 4, 6];
    for (from, _) in hosts.iter().enumerate() {
        for host in [1, 2, 3, 4, 6, 7] {
            let mut bytes = ethernet(0, &[0x45, from as u8, host]);
            bytes[..6].copy_from_slice(&[2, 0, 0, 0x77, 9, host]);
            trial.receive(from, &frame(&bytes, 0), Instant::default(), &mut spare);
        }
    }
    let offer = |place: usize, frames: &[Departing]| {
        sent.extend(frames.iter().map(|frame| (place, frame.as_ref()[15] as usize, frame.as_ref()[16])));
        Offered::Taken(frames.len())
    };
    trial.send(Instant::default(), offer, &mut spare);
    let (report, log, taps) = trial.end(Instant::default());
    let expected = |near: bool| {
        let (from, to) = if near { (0..2, 2..5) } else { (2..5, 0..2) };
        from.flat_map(move |from| to.clone().map(move |to| (to, from, hosts[to])))
    };
    let mut all: Vec<_> = expected(true).chain(expected(false)).collect();
    all.sort_unstable();
    sent.sort_unstable();
    assert_eq!(sent, all);
    assert_eq!(report.directions.each_ref().map(|counts| (counts.received, counts.delivered)), [(6, 6); 2]);
    let log = log.unwrap().finish().unwrap();
    let ports: Vec<_> = LogReader::new(&log[..]).unwrap().map(|record| record.unwrap().0.port.0).collect();
    assert!([0, 2, 1, 3, 5].iter().all(|port| ports.contains(port)) && ports.len() == 12);
    let captures: Vec<_> = taps.unwrap().finish(Instant::default()).map(|capture| captured(&capture)).collect();
    let counts = captures.iter().map(|capture| {
        let ways = [Way::Out, Way::In];
        ways.map(|way| capture.iter().filter(|packet| packet.way == way).count())
    });
    assert_eq!(counts.collect::<Vec<_>>(), [[3, 3], [3, 3], [2, 2], [2, 2], [2, 2]]);
}
