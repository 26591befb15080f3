//! The packet log and the captures of a trial.

use super::*;

#[test]
fn captures_say_what_the_link_did_to_a_packet() {
    let frames: Vec<_> = (0..7).map(|_| (1, ethernet(0, &[0x60; 60]))).collect();
    let [client, server] = run(&frames, 0, Offered::Taken(0)).captures;
    let words = |capture: &[Captured], way| {
        let mut packets: Vec<_> = capture.iter().filter(|packet| packet.way == way).collect();
        packets.sort_by_key(|packet| packet.at_ns);
        packets.into_iter().map(|packet| packet.comment.clone()).collect::<Vec<_>>()
    };
    let held = "still on its way when the capture ended";
    let bit = |sequence: u32| format!("bit {} of the packet inverted by the link", sequence * 37 % 480);
    let some = |text: &str| Some(text.to_owned());
    let expected = [some("down Nat"), some(held), some(held), Some(bit(3)), None, None, Some(bit(6))];
    assert_eq!(words(&server, Way::Out), expected);
    assert_eq!(words(&server, Way::In), []);
    assert_eq!(words(&client, Way::Out), []);
    let copy = format!("a copy made by the link, {}", bit(3));
    assert_eq!(words(&client, Way::In), [Some(bit(3)), Some(copy), None, None, Some(bit(6))]);
}

#[test]
fn what_a_slow_disk_leaves_no_room_for_is_left_out_of_the_capture_and_counted() {
    let backlog = Backlog::default();
    let words: DropWords = [const { [const { String::new() }; DropCause::ALL.len()] }; 2];
    let client = Writer::new(Vec::new(), "wirelab", &["client"]).ok();
    let taps = Some(Taps::new(Sides::PAIR, vec![client], words, backlog.clone()));
    let log = LogWriter::new(Vec::new(), b"{}").unwrap();
    let link = Box::new(Link::new(Chain::default(), Chain::default()));
    let mut trial = Trial::new(link, PAIR, Some(log), HEADER_BYTES, taps, None, Instant::default());
    let (bytes, mut spare) = (ethernet(0, &[0x45; 60]), Vec::new());
    for nanoseconds in 1..=5 {
        if nanoseconds == 3 {
            backlog.add(MAX_CAPTURED + 1);
        }
        let now = Instant::from_nanos(nanoseconds);
        trial.receive(0, &frame(&bytes, 0), now, &mut spare);
        trial.send(now, |_, frames| Offered::Taken(frames.len()), &mut spare);
    }
    let end = Instant::from_nanos(9);
    let (report, log, taps) = trial.end(end);
    assert_eq!((report.left_out_of_captures, report.directions[0].delivered), (3, 5));
    assert_eq!(LogReader::new(&log.unwrap().finish().unwrap()[..]).unwrap().count(), 5);
    let capture = read(&taps.unwrap().finish(end).next().unwrap());
    let packets = capture.iter().filter(|found| matches!(found, Found::Packet { .. })).count();
    assert_eq!(packets, 2);
    assert!(matches!(capture.last(), Some(Found::Statistics { interface: 0, packets: [5, 3, 2], .. })), "{capture:?}");
}

/// Takes whole writes and keeps them until it is flushed.
#[derive(Clone, Debug, Default)]
struct Buffered {
    waiting: Vec<u8>,
    file: Rc<RefCell<Vec<u8>>>,
}

impl Write for Buffered {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.waiting.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.borrow_mut().append(&mut self.waiting);
        Ok(())
    }
}

#[test]
fn a_log_and_a_capture_are_handed_to_the_disk_within_a_second_though_nothing_more_comes() {
    let [log, capture] = [(); 2].map(|()| Buffered::default());
    let [logged, captured] = [&log, &capture].map(|file| file.file.clone());
    let words: DropWords = [const { [const { String::new() }; DropCause::ALL.len()] }; 2];
    let taps = Some(Taps::new(
        Sides::PAIR,
        vec![Writer::new(capture, "wirelab", &["client"]).ok()],
        words,
        Backlog::default(),
    ));
    let log = LogWriter::new(log, b"{}").ok();
    let link = Box::new(Link::new(Chain::default(), Chain::default()));
    let start = Instant::from_nanos(0);
    let mut trial = Trial::new(link, PAIR, log, HEADER_BYTES, taps, None, start);
    let in_files = || {
        let (logged, captured) = (logged.borrow(), captured.borrow());
        let packets = read(&captured).into_iter().filter(|found| matches!(found, Found::Packet { .. }));
        (LogReader::new(&logged[..]).unwrap().count(), packets.count())
    };
    // A reader that follows the files can identify them from the start.
    assert_eq!((in_files(), trial.timeout()), ((0, 0), None));
    let (bytes, mut spare) = (ethernet(0, &[0x45; 60]), Vec::new());
    for milliseconds in [5, 300] {
        let now = start + Duration::from_millis(milliseconds);
        trial.receive(0, &frame(&bytes, 0), now, &mut spare);
        trial.send(now, |_, frames| Offered::Taken(frames.len()), &mut spare);
    }
    let due = start + Duration::from_millis(5) + FLUSH_EVERY;
    assert_eq!((in_files(), trial.timeout()), ((0, 0), Some(due)));
    trial.send(due, |_, frames| Offered::Taken(frames.len()), &mut spare);
    assert_eq!((in_files(), trial.timeout()), ((2, 2), None));
}

/// A disk that takes no more.
struct Full;

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // The header still fits.
        if bytes.len() < RECORD_BYTES { Ok(bytes.len()) } else { Err(io::ErrorKind::WouldBlock.into()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn records_that_the_log_could_not_take_are_counted_and_their_packets_carried() {
    let link = Box::new(Link::new(Chain::default(), Chain::default()));
    let log = LogWriter::new(Full, b"{}").ok();
    let mut trial = Trial::new(link, PAIR, log, HEADER_BYTES, None, None, Instant::default());
    let (bytes, mut spare) = (ethernet(0, &[0x45; 60]), Vec::new());
    for port in [0, 1, 0] {
        trial.receive(port, &frame(&bytes, 0), Instant::default(), &mut spare);
    }
    trial.send(Instant::default(), |_, frames| Offered::Taken(frames.len()), &mut spare);
    let (report, _, _) = trial.end(Instant::default());
    let [up, down] = &report.directions;
    assert_eq!((report.left_out_of_log, up.delivered, down.delivered), (3, 2, 1));
}

#[test]
fn a_receiver_is_never_said_to_have_a_packet_later_than_it_could_answer_it() {
    let words: DropWords = [const { [const { String::new() }; DropCause::ALL.len()] }; 2];
    let server = Writer::new(Vec::new(), "wirelab", &["server"]).ok();
    let taps = Taps::new(Sides::PAIR, vec![None, server], words, Backlog::default());
    let link = Box::new(Link::new(Chain::default(), Chain::default()));
    let start = clock::now();
    let (mut answerable, mut spare) = (0, Vec::new());
    let offset = taps.offset;
    let mut trial = Trial::new(link, PAIR, None, 0, Some(taps), None, start);
    for _ in 0..2 {
        trial.receive(0, &frame(&ethernet(0, &[0x45; 60]), 0), start, &mut spare);
    }
    // The kernel takes both together, and then the thread does not get the processor back for a while.
    let offer = |_, frames: &[Departing]| {
        answerable = offset.to_realtime_ns(clock::now());
        std::thread::sleep(Duration::from_millis(5));
        Offered::Taken(frames.len())
    };
    trial.send(start, offer, &mut spare);
    let taps = trial.end(start).2.unwrap();
    let packets = captured(&taps.finish(start).next().unwrap());
    assert_eq!(packets.len(), 2);
    assert!(packets.iter().all(|packet| packet.at_ns <= answerable), "{packets:?} after {answerable}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn frames_of_any_bytes_and_size_are_carried_as_configured_or_not_at_all(
        lead in prop_oneof![Just(0usize), Just(10)],
        frames in prop::collection::vec((0..2usize, any::<bool>(), prop_oneof![prop::collection::vec(any::<u8>(), 0..80), prop::collection::vec(any::<u8>(), 1000..1600)]), 0..40),
    ) {
        let frames: Vec<_> =
            frames.into_iter().map(|(port, ip, bytes)| (port, if ip { ethernet(lead, &bytes) } else { bytes })).collect();
        let carried: Vec<_> = frames.iter().filter(|(_, bytes)| frame(bytes, lead).is_unicast_ip()).collect();
        let Ran { report, records, sent, captures } = run(&frames, lead, Offered::Taken(0));

        let [up, down] = &report.directions;
        prop_assert_eq!(up.received + down.received, carried.len() as u64);
        for counts in [up, down] {
            let settled = counts.delivered + counts.dropped.iter().sum::<u64>() + counts.held;
            prop_assert_eq!(counts.received + counts.duplicated, settled);
        }
        prop_assert_eq!(records.len() as u64, up.received + up.duplicated + down.received + down.duplicated);
        let delivered = records.iter().filter(|(record, _)| record.outcome == Outcome::Delivered);
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
        for (port, capture) in captures.iter().enumerate() {
            let mut left: Vec<_> = capture.iter().filter(|packet| packet.way == Way::Out).collect();
            left.sort_by_key(|packet| packet.at_ns);
            let left: Vec<_> = left.into_iter().map(|packet| &packet.frame[..]).collect();
            let entered = carried.iter().filter(|(entered, _)| *entered == port);
            prop_assert_eq!(left, entered.map(|(_, bytes)| &bytes[lead..]).collect::<Vec<_>>());
            let came = capture.iter().filter(|packet| packet.way == Way::In).map(|packet| &packet.frame[..]);
            let reached = sent.iter().filter(|(reached, _)| *reached == port);
            prop_assert_eq!(came.collect::<Vec<_>>(), reached.map(|(_, bytes)| &bytes[lead..]).collect::<Vec<_>>());
        }
    }
}
