//! Queueing disciplines on a link's interfaces for one trial.

use std::io;

use wirelab_link::DropCause;

use super::netlink;
use super::qdisc::{Netem, Qdisc, QdiscCounts, Tbf, counted_overhead};
use crate::Error;
use crate::report::{DirectionCounts, SlotReport};

/// Qdiscs on the interfaces through which a link sends, for the time of one trial. Its functions are for a thread in the link's namespace.
#[derive(Debug)]
pub struct Shaped {
    /// By direction of the packets.
    interfaces: [String; 2],
    /// Outermost first.
    qdiscs: [Vec<Qdisc>; 2],
    /// What the interfaces themselves had dropped before.
    dropped: [u64; 2],
}

/// Whether this kernel has netem and the token bucket filter, tried on the loopback interface of the current network namespace, which nothing may
/// use meanwhile. The kernel loads their modules if it may.
pub fn try_netem() -> Result<(), Error> {
    let netem = Qdisc::Netem(Box::new(Netem { limit: 1, ..Netem::default() }));
    let tbf = Qdisc::Tbf(Tbf { bytes_per_second: 1000, burst_bytes: 2000, limit_bytes: 2000, overhead_bytes: 0 });
    let added = netlink::add_qdiscs("lo", &[netem, tbf]);
    clear("lo")?;
    added
}

impl Shaped {
    /// Put them there, or none in either direction. After an error, [`clear`](Self::clear) says whether none is there indeed: here a second error
    /// would hide the first.
    pub fn install(interfaces: [String; 2], qdiscs: [Vec<Qdisc>; 2]) -> Result<Self, Error> {
        let put = |direction: usize| {
            let interface: &str = &interfaces[direction];
            let dropped = netlink::dropped(interface)?;
            clear(interface)?;
            netlink::add_qdiscs(interface, &qdiscs[direction]).map(|()| dropped)
        };
        match put(0).and_then(|uplink| Ok([uplink, put(1)?])) {
            Ok(dropped) => Ok(Self { interfaces, qdiscs, dropped }),
            Err(error) => {
                let _ = Self::clear(&interfaces);
                Err(error)
            }
        }
    }

    /// Take off both interfaces whatever is there, with every packet inside.
    pub fn clear(interfaces: &[String; 2]) -> Result<(), Error> {
        let [uplink, downlink] = interfaces.each_ref().map(|interface| clear(interface));
        uplink.and(downlink)
    }

    /// True if packets of the uplink are inside.
    pub fn is_busy(&self) -> Result<bool, Error> {
        let [interface, _] = &self.interfaces;
        Ok(netlink::qdisc_counts(interface, self.qdiscs[0].len())?.iter().any(|counts| counts.waiting > 0))
    }

    /// Read what they counted into the report of a link that passed everything on to them, and take them off, with every packet inside. They are
    /// taken off even if the counts cannot be read.
    pub fn finish(self, report: &mut SlotReport) -> Result<(), Error> {
        let counted = [0, 1].map(|direction| self.take_off(direction));
        for (direction, counts) in counted.into_iter().enumerate() {
            let counts = counts?;
            if !counts.is_empty() {
                report.kernel_drops += settle(&mut report.directions[direction], &self.qdiscs[direction], &counts);
            }
            let dropped = netlink::dropped(&self.interfaces[direction])?;
            report.kernel_drops += dropped.saturating_sub(self.dropped[direction]);
        }
        Ok(())
    }

    fn take_off(&self, direction: usize) -> Result<Vec<QdiscCounts>, Error> {
        let (interface, many) = (&self.interfaces[direction], self.qdiscs[direction].len());
        if many == 0 {
            return Ok(Vec::new());
        }
        let counts = netlink::qdisc_counts(interface, many);
        clear(interface)?;
        counts
    }
}

fn clear(interface: &str) -> Result<(), Error> {
    match netlink::remove_qdiscs(interface) {
        Err(error) if error.is(io::ErrorKind::NotFound) => Ok(()),
        result => result,
    }
}

/// Correct the counts of packets that were passed on to qdiscs by the counters of these. Returns how many packets they do not account for.
///
/// The outermost qdisc counts as dropped what it dropped or refused, and what the next one within dropped when it was given a packet, and so on
/// inwards. Only the outermost drops on purpose; whom it refused for want of room, the link knows.
fn settle(counts: &mut DirectionCounts, qdiscs: &[Qdisc], counted: &[QdiscCounts]) -> u64 {
    let (loss, queue_full) = (DropCause::Loss.index(), DropCause::QueueFull.index());
    let own = counted.iter().rev().scan(0u64, |within, counts| {
        *within = counts.dropped.saturating_sub(*within);
        Some(*within)
    });
    let mut own: Vec<u64> = own.collect();
    let outermost = own.pop().unwrap_or_default();
    counts.dropped[loss] = outermost.saturating_sub(counts.dropped[queue_full]);
    counts.dropped[queue_full] += own.iter().sum::<u64>();

    let root = counted[0];
    counts.delivered = root.packets;
    let overhead = i64::from(counted_overhead(qdiscs)) + ETHERNET_BYTES;
    counts.delivered_bytes = root.bytes.saturating_add_signed(-(overhead * root.packets as i64));
    let gone = counts.delivered + counts.dropped.iter().sum::<u64>();
    if duplicates(&qdiscs[0]) {
        // It is alone, or how many are inside would not be known: since Linux 6.13 a qdisc counts those of the next one too.
        counts.held = root.waiting;
        counts.duplicated = (gone + counts.held).saturating_sub(counts.received);
        return counts.received.saturating_sub(gone + counts.held);
    }
    counts.held = counts.received.saturating_sub(gone);
    let inside: u64 = counted.iter().map(|counts| counts.waiting).sum();
    counts.held.saturating_sub(inside) + gone.saturating_sub(counts.received)
}

fn duplicates(qdisc: &Qdisc) -> bool {
    matches!(qdisc, Qdisc::Netem(netem) if netem.duplicate.probability > 0.0)
}

/// Of the header that qdiscs count.
const ETHERNET_BYTES: i64 = crate::socket::ETHERNET_BYTES as i64;

#[cfg(test)]
mod tests {
    use super::super::qdisc::Chance;
    use super::*;

    fn netem(netem: Netem) -> Qdisc {
        Qdisc::Netem(Box::new(netem))
    }

    fn handed_on(packets: u64, refused: u64) -> DirectionCounts {
        let mut counts = DirectionCounts { received: packets, delivered: packets - refused, ..Default::default() };
        counts.dropped[DropCause::QueueFull.index()] = refused;
        counts
    }

    fn counted(packets: u64, dropped: u64, waiting: u64) -> QdiscCounts {
        QdiscCounts { packets, bytes: packets * 114, dropped, waiting }
    }

    /// Lost, queue full, delivered, held, duplicated, unaccounted.
    fn settled(mut counts: DirectionCounts, qdiscs: &[Qdisc], counted: &[QdiscCounts]) -> [u64; 6] {
        let unaccounted = settle(&mut counts, qdiscs, counted);
        let DirectionCounts { dropped, delivered, held, duplicated, .. } = counts;
        let [loss, queue_full] = [DropCause::Loss, DropCause::QueueFull].map(|cause| dropped[cause.index()]);
        [loss, queue_full, delivered, held, duplicated, unaccounted]
    }

    #[test]
    fn a_lone_netem_drops_on_purpose_what_the_link_did_not_see_refused() {
        let one = [netem(Netem::default())];
        assert_eq!(settled(handed_on(100, 3), &one, &[counted(80, 13, 7)]), [10, 3, 80, 7, 0, 0]);
    }

    #[test]
    fn what_an_inner_qdisc_had_no_room_for_counts_once() {
        let three = [netem(Netem::default()), netem(Netem::default()), netem(Netem::default())];
        let [outer, middle, inner] = [counted(70, 10, 6), counted(72, 8, 2), counted(75, 8, 5)];
        // Of 10, the outer lost 10 - (8 - 8); the middle refused nobody itself, and the inner refused 8.
        assert_eq!(settled(handed_on(100, 0), &three, &[outer, middle, inner]), [10, 8, 70, 12, 0, 0]);
        let two = [netem(Netem::default()), netem(Netem::default())];
        assert_eq!(settled(handed_on(100, 0), &two, &[counted(70, 18, 12), counted(75, 8, 5)]), [10, 8, 70, 12, 0, 0]);
    }

    #[test]
    fn copies_are_what_there_is_too_many() {
        let one = [netem(Netem { duplicate: Chance { probability: 0.1, correlation: 0.0 }, ..Netem::default() })];
        assert_eq!(settled(handed_on(100, 0), &one, &[counted(107, 0, 3)]), [0, 0, 107, 3, 10, 0]);
    }

    #[test]
    fn packets_that_no_qdisc_accounts_for_are_counted() {
        let one = [netem(Netem::default())];
        assert_eq!(settled(handed_on(100, 0), &one, &[counted(90, 5, 2)])[5], 3);
        assert_eq!(settled(handed_on(100, 0), &one, &[counted(101, 5, 0)])[5], 6);
    }

    #[test]
    fn delivered_bytes_are_those_of_ip() {
        let tbf = Tbf { bytes_per_second: 1, burst_bytes: 1, limit_bytes: 1, overhead_bytes: -14 };
        let around = vec![netem(Netem::default()), Qdisc::Tbf(tbf)];
        for (qdiscs, bytes_each) in [(vec![netem(Netem::default())], 114), (vec![Qdisc::Tbf(tbf)], 100), (around, 100)]
        {
            let mut counts = handed_on(10, 0);
            let counted = QdiscCounts { packets: 10, bytes: 10 * bytes_each, ..QdiscCounts::default() };
            settle(&mut counts, &qdiscs, &vec![counted; qdiscs.len()]);
            assert_eq!(counts.delivered_bytes, 1000);
        }
    }
}
