use std::time::Duration;

use super::outlet::Outlet;
use super::settled::{Effect, Settled};
use crate::instant::nanoseconds;
use crate::{DropCause, Instant, Packet, ParameterError};

pub(super) const ABOUT: &str = "Times without a link, counted from the link's first packet: one, or one every so often. A packet that arrives meanwhile is \
    dropped. With hold-bytes it is kept instead, as a handover that forwards what it buffered (3GPP TS 36.300, section 10.1.2: data \
    forwarding), and all of them leave at the end, at once and in order; what does not fit is dropped. At the instant at which an outage ends, the link \
    is back. A packet already sent is not touched: what is on its way arrives.";

/// No link from time to time.
#[derive(Debug)]
pub struct Outage {
    start_ns: u64,
    duration_ns: u64,
    every_ns: Option<u64>,
    hold_bytes: Option<u64>,
    origin_ns: u64,
    /// The end of the outage that packets are held in, and how many bytes they are.
    held: (Instant, u64),
}

impl Outage {
    /// Outages of `duration`, the first `start` after the link's first packet, then one `every` so often; up to `hold_bytes` of IP are held until
    /// their end. Else what is wrong.
    pub fn new(
        start: Duration,
        duration: Duration,
        every: Option<Duration>,
        hold_bytes: Option<u64>,
    ) -> Result<Settled<Self>, ParameterError> {
        if let Some(every) = every.filter(|every| *every <= duration) {
            return Err(ParameterError::new(format!("outages of {duration:?} every {every:?} never end")));
        }
        Ok(Settled::new(Self {
            start_ns: nanoseconds(start),
            duration_ns: nanoseconds(duration),
            every_ns: every.map(nanoseconds),
            hold_bytes,
            origin_ns: 0,
            held: (Instant::default(), 0),
        }))
    }

    /// The end of the outage at `now`, if there is one.
    fn end(&self, now: Instant) -> Option<Instant> {
        let since_first = now.as_nanos().checked_sub(self.origin_ns)?.checked_sub(self.start_ns)?;
        let since = self.every_ns.map_or(since_first, |every| since_first % every);
        let remaining = self.duration_ns.checked_sub(since).filter(|remaining| *remaining > 0)?;
        Some(now + Duration::from_nanos(remaining))
    }

    /// Is there room for `bytes` more until `end`? Then they are counted.
    fn hold(&mut self, bytes: u64, end: Instant, limit: u64) -> bool {
        let held = if self.held.0 == end { self.held.1 } else { 0 };
        let fits = held.checked_add(bytes).is_some_and(|total| total <= limit);
        if fits {
            self.held = (end, held + bytes);
        }
        fits
    }
}

impl Effect for Outage {
    fn start(&mut self, origin: Instant) {
        self.origin_ns = origin.as_nanos();
    }

    fn apply(&mut self, packet: Packet, now: Instant, out: &mut Outlet) {
        match (self.end(now), self.hold_bytes) {
            (None, _) => out.depart(packet, now),
            (Some(_), None) => out.drop(packet, now, DropCause::Outage),
            (Some(end), Some(limit)) if self.hold(u64::from(packet.size), end, limit) => out.depart(packet, end),
            (Some(_), Some(_)) => out.drop(packet, now, DropCause::QueueFull),
        }
    }
}
