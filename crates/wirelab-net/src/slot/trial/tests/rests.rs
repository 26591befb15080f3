//! A trial whose link rests.

use wirelab_capture::log_file;
use wirelab_capture::replay::replay;
use wirelab_capture::rest::{REST_PORT, RestAnswer, RestRequest};
use wirelab_link::impairment::{DelaySpec, RadioSpec, SleepSpec};

use super::*;

const SECOND: u64 = 1_000_000_000;
const SETTLE: u64 = 2 * SECOND;
const REQUEST: RestRequest = RestRequest { gap_ns: 600 * SECOND, settle_ns: SETTLE };

/// A delay of 100 ms each way, and a radio that sleeps after 20 s and wakes in 2.7 s.
fn sleepy() -> LinkSpec {
    let sleep = SleepSpec { after_ns: 20 * SECOND, cycle_ns: None, wake_ns: 2_700_000_000 };
    let delay: Vec<_> =
        vec![DelaySpec { delay_ns: SECOND / 10, jitter: None, correlation: 0.0, overtaking: false }.into()];
    LinkSpec {
        uplink: delay.clone(),
        downlink: delay,
        radio: Some(RadioSpec { sleeps: vec![sleep], buffer_bytes: 10_000 }),
        ..LinkSpec::default()
    }
}

/// A UDP datagram from one end to the other in a frame, without checksums.
fn datagram(lead: usize, client: bool, port: u16, payload: &[u8]) -> Vec<u8> {
    let ends: [[u8; 4]; 2] = [[10, 0, 0, 1], [10, 0, 0, 2]];
    let (source, destination) = if client { (ends[0], ends[1]) } else { (ends[1], ends[0]) };
    let total = (28 + payload.len()) as u16;
    let mut packet = vec![0x45, 0];
    packet.extend(total.to_be_bytes());
    packet.extend([0, 0, 0x40, 0, 64, 17, 0, 0]);
    packet.extend([source, destination].concat());
    packet.extend([5000u16.to_be_bytes(), port.to_be_bytes(), (total - 20).to_be_bytes(), [0; 2]].concat());
    packet.extend(payload);
    ethernet(lead, &packet)
}

/// A trial in virtual time, whose loop is `late` each time.
struct Play {
    trial: Trial<Vec<u8>>,
    spare: Vec<Vec<u8>>,
    /// When each was put on which port, and its bytes.
    sent: Vec<(u64, usize, Vec<u8>)>,
    late: Duration,
    lead: usize,
}

impl Play {
    fn new(lead: usize, late: Duration) -> Self {
        let header =
            serde_json::json!({"schema_version": 1, "link": sleepy(), "seed": 1, "ports": ["client", "server"]});
        let log = LogWriter::new(Vec::new(), header.to_string().as_bytes()).ok();
        let link = Box::new(sleepy().build(1).unwrap());
        let carried = Carried { lead, ..PAIR };
        let trial = Trial::new(link, carried, log, HEADER_BYTES, None, None, Instant::default()).resting();
        Self { trial, spare: Vec::new(), sent: Vec::new(), late, lead }
    }

    /// Frames at these instants and ports, and then nothing until `end`, each taken in and all sent as the loop does.
    fn run(&mut self, frames: &[(u64, usize, Vec<u8>)], end: u64) {
        let mut frames = frames.iter().peekable();
        loop {
            let arrival = frames.peek().map(|(at, ..)| Instant::from_nanos(*at));
            let due = self.trial.timeout().into_iter().chain(arrival).min().filter(|due| due.as_nanos() < end);
            let Some(due) = due else { break };
            let now = due + self.late;
            while let Some((at, port, bytes)) = frames.next_if(|(at, ..)| Instant::from_nanos(*at) <= now) {
                let at = Instant::from_nanos(*at);
                self.trial.receive(*port, &frame(bytes, self.lead), at, &mut self.spare);
            }
            self.send(now);
        }
        self.send(Instant::from_nanos(end));
    }

    fn send(&mut self, now: Instant) {
        let sent = &mut self.sent;
        let offer = |port: usize, frames: &[Departing]| {
            sent.extend(frames.iter().map(|frame| (now.as_nanos(), port, frame.as_ref().to_vec())));
            Offered::Taken(frames.len())
        };
        self.trial.send(now, offer, &mut self.spare);
    }

    /// Its report, its log, and what it sent.
    fn end(self, now: u64) -> (SlotReport, Vec<u8>, Vec<(u64, usize, Vec<u8>)>) {
        let (report, log, _) = self.trial.end(Instant::from_nanos(now));
        (report, log.unwrap().finish().unwrap(), self.sent)
    }
}

/// What the link answered, if a frame is an answer to the client.
fn answered(bytes: &[u8], lead: usize, request: RestRequest) -> Option<RestAnswer> {
    let udp = bytes.get(lead + ETHERNET_BYTES + 20..)?;
    (udp[..2] == REST_PORT.to_be_bytes()).then(|| RestAnswer::from_bytes(&udp[8..], request).unwrap())
}

/// A message with its answer from this second on, and a request to rest a second later.
fn exchange(lead: usize, second: u64) -> [(u64, usize, Vec<u8>); 3] {
    let at = second * SECOND;
    [
        (at, 0, datagram(lead, true, 5683, b"reading")),
        (at + 3 * SECOND, 1, datagram(lead, false, 5000, b"ack")),
        (at + 4 * SECOND, 0, datagram(lead, true, REST_PORT, &REQUEST.to_bytes())),
    ]
}

#[test]
fn a_rest_is_logged_and_answered_once_the_link_is_silent() {
    for lead in [0, 10] {
        let mut play = Play::new(lead, Duration::ZERO);
        play.run(&[exchange(lead, 0), exchange(lead, 10)].concat(), 20 * SECOND);
        let (report, log, sent) = play.end(20 * SECOND);
        assert_eq!(report.directions.each_ref().map(|counts| (counts.received, counts.delivered)), [(2, 2), (2, 2)]);
        // The answer left at 3.1 s and at 13.1 s.
        let answers: Vec<_> =
            sent.iter().filter_map(|(at, to, bytes)| Some((*at, *to, answered(bytes, lead, REQUEST)?))).collect();
        assert_eq!(answers, [(5_100_000_000, 0, RestAnswer::Done), (15_100_000_000, 0, RestAnswer::Done)]);
        let log = log_file::parse(&log[..]).unwrap();
        let rests: Vec<_> = log.rests.iter().map(|rest| (rest.before, rest.at.as_nanos(), rest.gap)).collect();
        let gap = Duration::from_millis(598_900);
        assert_eq!(rests, [(2, 5_100_000_000, gap), (4, 15_100_000_000, gap)]);
        assert_eq!((report.rests, report.rested, report.kernel_drops), (2, 2 * gap, 0));
        // Both messages woke the radio: they left 2.8 s later.
        let uplink = log.records.iter().filter(|(record, _)| record.port == PortId(0));
        let delays = uplink.map(|(record, _)| record.departure.saturating_since(record.arrival));
        assert_eq!(delays.collect::<Vec<_>>(), [Duration::from_millis(2800); 2]);
        assert!(log.records.iter().all(|(record, _)| record.outcome == Outcome::Delivered));
    }
}

#[test]
fn a_late_loop_rests_at_the_same_instants_and_its_log_replays() {
    let frames = [exchange(0, 0), exchange(0, 10), exchange(0, 20)].concat();
    let logged = |late| {
        let mut play = Play::new(0, late);
        play.run(&frames, 40 * SECOND);
        let (report, log, _) = play.end(40 * SECOND);
        assert_eq!(report.rests, 3, "{late:?} late");
        let log = log_file::parse(&log[..]).unwrap();
        let found = replay("log".to_owned(), &log).unwrap();
        assert_eq!((found.packets, found.mismatches), (6, 0), "{late:?} late: {found:?}");
        let packets: Vec<_> = log.records.iter().map(|(record, _)| (record.sequence, record.departure)).collect();
        (log.rests, packets)
    };
    let prompt = logged(Duration::ZERO);
    // Also so late that the next message has come when the loop looks.
    for late in [1_000, 50_000_000, 700_000_000, 6 * SECOND, 30 * SECOND] {
        assert_eq!(logged(Duration::from_nanos(late)), prompt, "{late} ns late");
    }
}

#[test]
fn a_link_that_is_never_silent_refuses_after_a_minute() {
    let mut frames = vec![(SECOND, 0, datagram(0, true, REST_PORT, &REQUEST.to_bytes()))];
    frames.extend((1..70).map(|second| (second * SECOND, 1, datagram(0, false, 5000, b"update"))));
    frames.insert(0, (SECOND / 2, 0, datagram(0, true, 5683, b"subscribe")));
    frames.sort_by_key(|(at, ..)| *at);
    let mut play = Play::new(0, Duration::ZERO);
    play.run(&frames, 80 * SECOND);
    let (report, _, sent) = play.end(80 * SECOND);
    let answers = sent.iter().filter_map(|(at, _, bytes)| Some((*at, answered(bytes, 0, REQUEST)?)));
    assert_eq!(answers.collect::<Vec<_>>(), [(61 * SECOND, RestAnswer::Refused)]);
    assert_eq!((report.rests, report.rested), (0, Duration::ZERO));
}

#[test]
fn a_gap_that_ends_before_the_link_is_silent_is_waited_for() {
    let request = RestRequest { gap_ns: SECOND, settle_ns: SETTLE };
    let mut play = Play::new(0, Duration::ZERO);
    play.run(&[(SECOND, 0, datagram(0, true, REST_PORT, &request.to_bytes()))], 10 * SECOND);
    let (report, _, sent) = play.end(10 * SECOND);
    let answers = sent.iter().filter_map(|(at, _, bytes)| Some((*at, answered(bytes, 0, request)?)));
    // The trial began a second before, and has been silent since.
    assert_eq!(answers.collect::<Vec<_>>(), [(2 * SECOND, RestAnswer::Done)]);
    assert_eq!(report.rests, 0);
}

#[test]
fn a_second_request_at_once_is_refused() {
    let asked = datagram(0, true, REST_PORT, &REQUEST.to_bytes());
    let mut play = Play::new(0, Duration::ZERO);
    play.run(&[(SECOND, 0, asked.clone()), (SECOND, 0, asked)], 10 * SECOND);
    let (report, _, sent) = play.end(10 * SECOND);
    let answers: Vec<_> = sent.iter().filter_map(|(at, _, bytes)| Some((*at, answered(bytes, 0, REQUEST)?))).collect();
    assert_eq!(answers, [(SECOND, RestAnswer::Refused), (2 * SECOND, RestAnswer::Done)]);
    assert_eq!(report.rests, 1);
}

#[test]
fn a_datagram_to_port_9_is_a_packet_where_no_rest_was_agreed() {
    let log = LogWriter::new(Vec::new(), b"{}").unwrap();
    let link = Box::new(Link::new(Chain::default(), Chain::default()));
    let mut trial = Trial::new(link, PAIR, Some(log), HEADER_BYTES, None, None, Instant::default());
    let (asked, mut sent) = (datagram(0, true, REST_PORT, &REQUEST.to_bytes()), Vec::new());
    trial.receive(0, &frame(&asked, 0), Instant::default(), &mut Vec::new());
    let offer = |port: usize, frames: &[Departing]| {
        sent.extend(frames.iter().map(|frame| (port, frame.as_ref().to_vec())));
        Offered::Taken(frames.len())
    };
    trial.send(Instant::from_nanos(10 * SECOND), offer, &mut Vec::new());
    assert_eq!(sent, [(1, asked)]);
    assert_eq!(trial.end(Instant::from_nanos(10 * SECOND)).0.rests, 0);
}
