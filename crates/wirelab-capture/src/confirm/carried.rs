//! What the packets of some ports can confirm: bytes by instant, and answers behind their messages.

use super::*;

/// The deliveries of some ports, by direction.
pub(super) struct Carried {
    sides: [Side; 2],
    /// Arrivals of all packets to the server, in order of departure.
    arrivals: Vec<Instant>,
}

/// Deliveries of one direction that carried new bytes, in order of departure.
#[derive(Default)]
struct Side {
    departures: Vec<Instant>,
    arrivals: Vec<Instant>,
    /// All bytes up to each packet, this one included.
    bytes: Vec<u64>,
}

impl Carried {
    pub(super) fn of<'a>(deliveries: impl Iterator<Item = &'a Delivery>) -> Self {
        let mut carried = Self { sides: Default::default(), arrivals: Vec::new() };
        for delivery in deliveries {
            if delivery.direction == Direction::Uplink {
                carried.arrivals.push(delivery.arrival);
            }
            let side = &mut carried.sides[delivery.direction.index()];
            if delivery.new_bytes > 0 {
                let before = side.bytes.last().copied().unwrap_or_default();
                side.departures.push(delivery.departure);
                side.arrivals.push(delivery.arrival);
                side.bytes.push(before + u64::from(delivery.new_bytes));
            }
        }
        carried
    }

    /// Why a claim is not confirmed if others have used these bytes.
    pub(super) fn lack(&self, claim: &Claim, used: [u64; 2]) -> Option<Lack> {
        let (earliest, latest) = (claim.earliest(), claim.latest());
        for direction in [Direction::Uplink, Direction::Downlink] {
            let (side, needed) = (&self.sides[direction.index()], claim.bytes[direction.index()]);
            let by_end = side.by(latest);
            let delivered =
                by_end.saturating_sub(side.before(earliest)).min(by_end.saturating_sub(used[direction.index()]));
            if delivered < needed {
                return Some(Lack::Bytes { direction, needed, delivered });
            }
        }
        let done = match self.done(claim, earliest) {
            Some(done) if done <= latest => done,
            _ => return Some(Lack::Answer),
        };
        // Without its port, packets of an exchange before it may be taken for its first.
        let (Stamps::Shifted(_), Some(_)) = (claim.stamps, claim.local_port) else { return None };
        let first = self.arrivals.iter().copied().filter(|arrival| *arrival >= earliest).min()?;
        let (claimed, packets) = (claim.end.saturating_since(claim.start), done.saturating_since(first));
        (claimed + TOLERANCE + TOLERANCE < packets).then_some(Lack::Duration { claimed, packets })
    }

    /// The earliest instant at which the packets could have completed a claim that began at `earliest`.
    fn done(&self, claim: &Claim, earliest: Instant) -> Option<Instant> {
        let [uplink, downlink] = &self.sides;
        if !claim.answered {
            let [sent, received] =
                [uplink.reaches(claim.bytes[0], earliest), downlink.reaches(claim.bytes[1], earliest)];
            return Some(sent?.max(received?));
        }
        let sent = uplink.reaches(claim.bytes[0].max(1), earliest)?;
        let answer = (0..downlink.departures.len())
            .skip(downlink.departures.partition_point(|departure| *departure < sent))
            .find(|place| downlink.arrivals[*place] + TOLERANCE >= sent)?;
        Some(downlink.departures[answer].max(downlink.reaches(claim.bytes[1], earliest)?))
    }
}

impl Side {
    /// Bytes delivered by `instant`.
    fn by(&self, instant: Instant) -> u64 {
        self.up_to(self.departures.partition_point(|departure| *departure <= instant))
    }

    /// Bytes delivered before `instant`.
    fn before(&self, instant: Instant) -> u64 {
        self.up_to(self.departures.partition_point(|departure| *departure < instant))
    }

    fn up_to(&self, packets: usize) -> u64 {
        packets.checked_sub(1).map_or(0, |last| self.bytes[last])
    }

    /// When so many bytes have been delivered from `earliest` on; none if they never are. Of no bytes, `earliest`.
    fn reaches(&self, bytes: u64, earliest: Instant) -> Option<Instant> {
        if bytes == 0 {
            return Some(earliest);
        }
        let needed = self.before(earliest) + bytes;
        self.departures.get(self.bytes.partition_point(|delivered| *delivered < needed)).copied()
    }
}
