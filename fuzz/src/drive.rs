//! Packets through a link in virtual time, with its accounts checked after every step.

use std::collections::BTreeMap;
use std::time::Duration;

use arbitrary::{Result, Unstructured};
use wirelab_net::link::{Flow, Impairment, Instant, Link, Packet, PortId, Transport};

/// Packets of one train, at most.
const MAX_PACKETS: usize = 64;

/// The outcomes of each packet, by its sequence and whether it is a copy: sorted, for there may be several copies.
pub type Outcomes = BTreeMap<(u64, bool), Vec<Outcome>>;

/// When a packet came, as the link has it; when it left or was dropped, and the number of its drop's cause; the bit that was inverted.
pub type Outcome = (Instant, Option<(Instant, Option<usize>)>, Option<u32>);

/// A train of packets, and after each whether its sender polls.
pub fn train(input: &mut Unstructured<'_>) -> Result<Vec<(Packet, bool)>> {
    let mut now = Instant::from_nanos(if input.ratio(1, 16)? { input.arbitrary()? } else { 1_000_000_000 });
    let mut train = Vec::new();
    while train.len() < MAX_PACKETS && !input.is_empty() {
        let gap_ns = match input.int_in_range(0..=4u8)? {
            0 => 0,
            1 => input.int_in_range(0..=2_000)?,
            2 => 1_000 * input.int_in_range(0..=20_000u64)?,
            3 => 1_000_000 * input.int_in_range(0..=60_000u64)?,
            _ if input.ratio(1, 8)? => input.arbitrary()?,
            _ => 0,
        };
        now = now + Duration::from_nanos(gap_ns);
        let size =
            if input.ratio(1, 8)? { u32::from(input.arbitrary::<u16>()?) } else { input.int_in_range(20..=1500)? };
        let flow = Flow {
            id: u64::from(input.int_in_range(0..=3u8)?),
            transport: *input.choose(&[Transport::Tcp, Transport::Udp, Transport::Other])?,
        };
        train.push((
            packet(train.len() as u64, u16::from(input.arbitrary::<bool>()?), size, now, flow),
            input.arbitrary()?,
        ));
    }
    Ok(train)
}

/// A packet without bytes.
pub fn packet(sequence: u64, port: u16, size: u32, arrival: Instant, flow: Flow) -> Packet {
    Packet::new(sequence, PortId(port), size, arrival, flow)
}

/// Send `train` through `link` until `end`, and take out what is inside then.
pub fn drive(link: &mut Link, train: &[(Packet, bool)], end: Instant) -> Outcomes {
    let mut run = Run { link, outcomes: Outcomes::new(), handed_in: 0, taken_out: 0 };
    for (packet, polls) in train {
        run.link.handle_packet(packet.clone(), packet.arrival);
        run.handed_in += 1;
        run.check_conservation();
        if *polls {
            run.poll(packet.arrival);
        }
    }
    run.poll(end);
    while let Some(packet) = run.link.poll_held() {
        run.add(&packet, None);
        run.taken_out += 1;
        run.check_conservation();
    }
    assert_eq!(run.link.counters().held, 0);
    run.outcomes.values_mut().for_each(|outcomes| outcomes.sort_unstable());
    run.outcomes
}

/// A `train` must have the same outcomes, by its arrivals, in a `new` link of the same seed that is polled only at the `end`: as
/// `wirelab-agent replay` has it.
pub fn check_replay(outcomes: &Outcomes, new: &mut Link, train: &[(Packet, bool)], end: Instant) {
    let again = |(packet, _): &(Packet, bool)| {
        let arrival = outcomes[&(packet.sequence, false)][0].0;
        (Packet { arrival, ..packet.clone() }, false)
    };
    let replayed = drive(new, &train.iter().map(again).collect::<Vec<_>>(), end);
    assert_eq!(outcomes, &replayed, "the run and its replay differ");
}

struct Run<'a> {
    link: &'a mut Link,
    outcomes: Outcomes,
    handed_in: u64,
    taken_out: u64,
}

impl Run<'_> {
    fn poll(&mut self, now: Instant) {
        while let Some((departure, packet)) = self.link.poll_packet(now) {
            assert!(packet.arrival <= departure && departure <= now, "{packet:?} left at {departure}, polled at {now}");
            self.add(&packet, Some((departure, None)));
            self.check_conservation();
        }
        while let Some(dropped) = self.link.poll_dropped() {
            assert!(dropped.packet.arrival <= dropped.at, "{dropped:?}");
            self.add(&dropped.packet, Some((dropped.at, Some(dropped.cause.index()))));
        }
        let due = self.link.poll_timeout();
        assert!(due.is_none_or(|due| due > now || now.as_nanos() == u64::MAX), "due at {due:?}, polled at {now}");
    }

    fn add(&mut self, packet: &Packet, left: Option<(Instant, Option<usize>)>) {
        let outcomes = self.outcomes.entry((packet.sequence, packet.copy)).or_default();
        assert!(packet.copy || outcomes.is_empty(), "packet {} has two outcomes", packet.sequence);
        outcomes.push((packet.arrival, left, packet.corrupted_bit));
    }

    fn check_conservation(&self) {
        let counters = self.link.counters();
        assert_eq!(counters.received, self.handed_in);
        let leaving = counters.delivered + counters.dropped + counters.held + self.taken_out;
        assert_eq!(counters.received + counters.duplicated, leaving, "{counters:?}");
    }
}
