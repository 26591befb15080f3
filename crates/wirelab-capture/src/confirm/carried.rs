//! What the packets of some ports can confirm: bytes by instant, and answers behind their messages.

use super::*;

/// The deliveries of some ports, by direction.
pub(super) struct Carried {
    sides: [Side; 2],
    /// Arrivals of all packets to the server, in order of departure.
    arrivals: Vec<Instant>,
    /// Arrivals of the first packet to the server from each port of the client's side.
    openings: Vec<Instant>,
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
        let mut carried = Self { sides: Default::default(), arrivals: Vec::new(), openings: Vec::new() };
        let mut ports = HashSet::new();
        for delivery in deliveries {
            if delivery.direction == Direction::Uplink {
                carried.arrivals.push(delivery.arrival);
                if ports.insert(delivery.client_port) {
                    carried.openings.push(delivery.arrival);
                }
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

    /// Why a claim is not confirmed if others have used these bytes. No other exchange runs during one that is `alone`.
    pub(super) fn lack(&self, claim: &Claim, used: [u64; 2], alone: bool) -> Option<Lack> {
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
        let Stamps::Shifted(_) = claim.stamps else { return None };
        let first = match claim.local_port {
            Some(_) => self.arrivals.iter().copied().filter(|arrival| *arrival >= earliest).min(),
            None if alone => self.opening(earliest, latest),
            None => None,
        }?;
        let (claimed, packets) = (claim.end.saturating_since(claim.start), done.saturating_since(first));
        (claimed + TOLERANCE + TOLERANCE < packets).then_some(Lack::Duration { claimed, packets })
    }

    /// The first packet of the only connection that opened between two instants: the last packets of an exchange before may come then too, but from
    /// a port that is known already.
    fn opening(&self, earliest: Instant, latest: Instant) -> Option<Instant> {
        let mut opened = self.openings.iter().copied().filter(|arrival| (earliest..=latest).contains(arrival));
        opened.next().filter(|_| opened.next().is_none())
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
        // Over a link that delays by less than its stamps are exact to, it may have left before the message had come.
        let answer = (0..downlink.departures.len())
            .skip(downlink.departures.partition_point(|departure| *departure + TOLERANCE < sent))
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
