//! Replay: a log's arrivals, run through a new chain of the same description and seed, must give every outcome and
//! departure, every copy and every inverted bit. Where the log has a rest, the new chain rests too.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::ops::Range;

use anyhow::{Result, ensure};
use wirelab_link::{Direction, Impairment, Instant, Packet, PortId, Resting};
use wirelab_schema::{DeliveredPackets, ReplayMismatch, ReplayReport, ReplayedPacket};

use crate::flow::Flows;
use crate::log_file::{self, Log, Rest};
use crate::packet_log::{Outcome, Record};
use crate::translation::{End, outer_end, translate};

/// Which packet: its `sequence`, if it is a copy, and if it is the link's own. Several copies of one packet share it.
type Key = (u64, bool, bool);
type Passages = HashMap<Key, Vec<Passage>>;

/// How a packet passed the link.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Passage {
    outcome: Outcome,
    translated: Option<SocketAddr>,
    corrupted_bit: Option<u32>,
    /// As the link took it.
    arrival: Instant,
    departure: Instant,
}

/// Replay one log through the link of its header, built again. There is none of a link that netem ran.
pub fn replay(name: String, log: &Log) -> Result<ReplayReport> {
    let spec = &log.header.link;
    ensure!(!spec.is_netem(), "netem ran this link, and keeps no log of what it did");
    let link = Resting::new(Box::new(spec.build(log.header.seed)?));
    let ends = log.records.iter().map(|(record, _)| record.arrival.max(record.departure));
    let end = ends.chain(log.rests.iter().map(|rest| rest.at)).max().unwrap_or_default();
    let flows = spec.tells_flows_apart().then(Flows::default);
    let (mut replayed, impossible) = drive(link, flows, log, end);

    let mut mismatches = Mismatches { count: 0, first: None };
    impossible.iter().for_each(|rest| mismatches.impossible(rest));
    let mut expected = 0;
    for same in log.records.chunk_by(|(one, _), (other, _)| key(one) == key(other)) {
        let key = key(&same[0].0);
        if let (sequence, false, false) = key {
            mismatches.missing(expected..sequence);
            expected = sequence.saturating_add(1);
        }
        let logged = same.iter().map(|(record, _)| Passage::from(record)).collect();
        mismatches.compare(key, logged, replayed.remove(&key).unwrap_or_default());
    }
    let mut unlogged: Vec<_> = replayed.into_iter().collect();
    unlogged.sort_unstable_by_key(|(key, _)| *key);
    unlogged.into_iter().for_each(|(key, passages)| mismatches.compare(key, vec![], passages));

    let packets = log.records.len() as u64;
    let Mismatches { count: mismatches, first: first_mismatch } = mismatches;
    let directions = Direction::ALL.map(|direction| delivered(&log.records, direction));
    Ok(ReplayReport { log: name, packets, mismatches, first_mismatch, directions })
}

/// What befell the delivered packets of a direction.
fn delivered(records: &[(Record, Vec<u8>)], direction: Direction) -> DeliveredPackets {
    let mine = records.iter().map(|(record, _)| record).filter(|record| record.port.direction() == direction);
    let (copies, mut originals): (Vec<&Record>, Vec<&Record>) =
        mine.filter(|record| !record.originated).partition(|record| record.copy);
    let copied: HashSet<u64> = copies.iter().map(|copy| copy.sequence).collect();
    originals.retain(|record| record.outcome == Outcome::Delivered);
    originals.sort_unstable_by_key(|record| record.sequence);
    let mut found = DeliveredPackets { packets: originals.len() as u64, ..DeliveredPackets::default() };
    // Of each host by itself: a packet that is sent before another host's, which has waited longer for the air, does not overtake it.
    let mut latest: HashMap<PortId, Instant> = HashMap::new();
    for record in originals {
        let latest = latest.entry(record.port).or_default();
        found.duplicated += u64::from(copied.contains(&record.sequence));
        found.corrupted += u64::from(record.corrupted_bit.is_some());
        found.reordered += u64::from(record.departure < *latest);
        *latest = (*latest).max(record.departure);
    }
    found
}

/// What becomes of every packet by `end`, and the rests that the link was too busy for.
fn drive(link: Resting, mut flows: Option<Flows>, log: &Log, end: Instant) -> (Passages, Vec<Rest>) {
    let mut run = Run { link, passages: Passages::new(), polled: Instant::default() };
    let (mut rests, mut impossible) = (log.rests.iter().peekable(), Vec::new());
    for (record, bytes) in log.records.iter().filter(|(record, _)| !record.copy && !record.originated) {
        let Record { sequence, port, size, arrival, .. } = *record;
        while let Some(rest) = rests.next_if(|rest| rest.before <= sequence) {
            impossible.extend(run.rest(rest));
        }
        let (flow, ends) = flows.as_mut().map(|flows| flows.read(&as_it_came(bytes, record))).unwrap_or_default();
        // Not polled meanwhile: packets of directions that share nothing may come in another order than that of their instants.
        let ends = ends.map(Box::new);
        run.link.handle_packet(Packet { ends, ..Packet::new(sequence, port, size, arrival, flow) }, arrival);
    }
    impossible.extend(rests.filter_map(|rest| run.rest(rest)));
    run.collect(end);
    while let Some(packet) = run.link.poll_held() {
        run.add(&packet, Outcome::Held, end);
    }
    (run.passages, impossible)
}

/// A link at work, and the outcomes of the packets so far.
struct Run {
    link: Resting,
    passages: Passages,
    /// A damaged log may have an earlier instant after a later one.
    polled: Instant,
}

impl Run {
    /// Put the link's clock forward. The rest comes back if the link is too busy for it.
    fn rest(&mut self, rest: &Rest) -> Option<Rest> {
        self.collect(rest.at);
        self.link.rest(rest.gap).err().map(|_| *rest)
    }

    /// Take what has left and was dropped by `now`.
    fn collect(&mut self, now: Instant) {
        self.polled = self.polled.max(now);
        while let Some((departure, packet)) = self.link.poll_packet(self.polled) {
            self.add(&packet, Outcome::Delivered, departure);
        }
        while let Some(dropped) = self.link.poll_dropped() {
            self.add(&dropped.packet, Outcome::from(dropped.cause), dropped.at);
        }
    }

    fn add(&mut self, packet: &Packet, outcome: Outcome, departure: Instant) {
        let Packet { sequence, copy, originated, corrupted_bit, arrival, .. } = *packet;
        let passage = Passage { outcome, translated: outer_end(packet), corrupted_bit, arrival, departure };
        self.passages.entry((sequence, copy, originated)).or_default().push(passage);
    }
}

/// A packet as it reached the link: logged bytes have the client's own end.
fn as_it_came<'a>(bytes: &'a [u8], record: &Record) -> Cow<'a, [u8]> {
    match (record.translated, record.port.direction()) {
        (Some(outer), Direction::Downlink) => {
            let mut came = bytes.to_vec();
            translate(&mut came, End::Destination, outer);
            came.into()
        }
        _ => bytes.into(),
    }
}

const fn key(record: &Record) -> Key {
    (record.sequence, record.copy, record.originated)
}

impl From<&Record> for Passage {
    fn from(record: &Record) -> Self {
        let Record { outcome, corrupted_bit, arrival, departure, .. } = *record;
        // What found no mapping has the end that it was sent to.
        let translated = record.translated.filter(|_| outcome != Outcome::Nat);
        Self { outcome, translated, corrupted_bit, arrival, departure }
    }
}

impl Passage {
    /// Passages of the copies of one packet, in this order, belong together.
    fn order(&self) -> impl Ord + use<> {
        (self.departure, self.outcome as u8, self.corrupted_bit, self.translated)
    }

    fn row(&self) -> ReplayedPacket {
        ReplayedPacket {
            outcome: log_file::outcome(self.outcome),
            arrival_ns: self.arrival.as_nanos(),
            departure_ns: self.departure.as_nanos(),
            outer_end: self.translated.map(|end| end.to_string()),
            corrupted_bit: self.corrupted_bit,
        }
    }
}

/// On what a log and its replay disagree.
struct Mismatches {
    count: u64,
    first: Option<ReplayMismatch>,
}

impl Mismatches {
    /// The log has no record of the arrival of these.
    fn missing(&mut self, sequences: Range<u64>) {
        self.count = self.count.saturating_add(sequences.end.saturating_sub(sequences.start));
        if !sequences.is_empty() {
            let (sequence, copy, originated) = (sequences.start, false, false);
            let missing = ReplayMismatch { sequence, copy, originated, logged: None, replayed: None };
            self.first.get_or_insert(missing);
        }
    }

    /// The log has a rest at an instant at which the chain has packets inside.
    fn impossible(&mut self, rest: &Rest) {
        self.count = self.count.saturating_add(1);
        let logged = Passage {
            outcome: Outcome::Rest,
            translated: None,
            corrupted_bit: None,
            arrival: rest.at,
            departure: rest.at + rest.gap,
        };
        let (sequence, copy, originated, logged) = (rest.before, false, false, Some(logged.row()));
        self.first.get_or_insert(ReplayMismatch { sequence, copy, originated, logged, replayed: None });
    }

    /// What the log and the chain say of one packet, or of its copies.
    fn compare(&mut self, key: Key, mut logged: Vec<Passage>, mut replayed: Vec<Passage>) {
        logged.sort_by_key(Passage::order);
        replayed.sort_by_key(Passage::order);
        for index in 0..logged.len().max(replayed.len()) {
            let [logged, replayed] = [&logged, &replayed].map(|passages| passages.get(index));
            if logged == replayed {
                continue;
            }
            self.count = self.count.saturating_add(1);
            let (sequence, copy, originated) = key;
            let [logged, replayed] = [logged, replayed].map(|passage| passage.map(Passage::row));
            self.first.get_or_insert(ReplayMismatch { sequence, copy, originated, logged, replayed });
        }
    }
}

#[cfg(test)]
mod tests;
