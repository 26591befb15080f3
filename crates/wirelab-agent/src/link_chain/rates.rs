use std::num::NonZeroU32;
use std::time::Duration;

use wirelab_net::link::impairment::{
    DeliveryTrace, DutyCycle, Outage, Queued, Schedule, SchedulePoint, TokenBucket, Transmitter,
};
use wirelab_net::link::queue::Queue;
use wirelab_schema::{self as schema, QueueSpec};

use super::values::{Place, ascending, limit, most, overhead, probability, rate};
use super::{LinkError, Stage};

/// The most queues of FQ-CoDel, as in Linux.
const MOST_FLOWS: u32 = 1 << 16;

/// A transmitter behind the queue of the impairment at a place.
pub fn queued(transmitter: impl Transmitter + 'static, spec: &QueueSpec, overhead_bytes: u32, at: &Place) -> Stage {
    Ok(Box::new(Queued::new(transmitter, queue(spec, &at.key("queue"))?, overhead(overhead_bytes, at)?)))
}

pub fn queue(spec: &QueueSpec, at: &Place) -> Result<Queue, LinkError> {
    let interval = |interval_ns: u64| match interval_ns {
        0 => Err(at.key("interval_ns").error("an interval of 0 drops everything that waits")),
        _ => Ok(Duration::from_nanos(interval_ns)),
    };
    let above_zero = |value: u32, name, what| NonZeroU32::new(value).ok_or_else(|| at.key(name).error(what));
    Ok(match spec {
        QueueSpec::DropTail { bytes, packets } => Queue::DropTail(limit(*bytes, *packets, at)?),
        QueueSpec::Codel { target_ns, interval_ns, bytes } => {
            Queue::Codel { target: Duration::from_nanos(*target_ns), interval: interval(*interval_ns)?, bytes: *bytes }
        }
        QueueSpec::FqCodel { target_ns, interval_ns, flows, quantum_bytes, packets } => {
            most(*flows, MOST_FLOWS, "the most queues of Linux's", &at.key("flows"))?;
            Queue::FqCodel {
                target: Duration::from_nanos(*target_ns),
                interval: interval(*interval_ns)?,
                flows: above_zero(*flows, "flows", "flows cannot be hashed to 0 queues")?,
                quantum_bytes: above_zero(*quantum_bytes, "quantum_bytes", "a queue cannot send by turns of 0 bytes")?,
                packets: *packets,
            }
        }
    })
}

/// A bucket that lets a packet of `largest` bytes pass: a smaller one would drop each of them, as if a queue were full.
pub fn token_bucket(rate_bps: u64, burst_bytes: u64, largest: u64, at: &Place) -> Result<TokenBucket, LinkError> {
    let rate = rate(rate_bps, at)?;
    if burst_bytes < largest {
        let what = format!("a bucket of {burst_bytes} bytes lets no packet of {largest} pass");
        return Err(at.key("burst_bytes").error(what));
    }
    Ok(TokenBucket::new(rate, burst_bytes))
}

pub fn delivery_trace(opportunities_ms: &[u32], at: &Place) -> Result<DeliveryTrace, LinkError> {
    ascending(opportunities_ms, at)?;
    DeliveryTrace::new(opportunities_ms).map_err(|what| at.error(what))
}

pub fn duty_cycle(rate_bps: u64, share: f64, at: &Place) -> Result<DutyCycle, LinkError> {
    DutyCycle::new(rate(rate_bps, at)?, share).map_err(|what| at.key("share").error(what))
}

pub fn schedule(points: &[schema::SchedulePoint], repeat_ns: Option<u64>, at: &Place) -> Result<Schedule, LinkError> {
    let at_points = at.key("points");
    for (index, pair) in (1..).zip(points.windows(2)) {
        let [before, now] = [pair[0].at_ns, pair[1].at_ns];
        if now < before {
            return Err(at_points.index(index).key("at_ns").error(format!("{now} comes after {before}")));
        }
    }
    if !points.is_empty() && points.iter().all(|point| point.rate_bps == Some(0)) {
        return Err(at_points.error("a rate of 0 bit/s throughout sends nothing"));
    }
    let point = |(index, point): (usize, &schema::SchedulePoint)| {
        let loss = probability(point.loss.unwrap_or(0.0), &at_points.index(index).key("loss"))?;
        let (at, delay) = (Duration::from_nanos(point.at_ns), Duration::from_nanos(point.delay_ns.unwrap_or(0)));
        Ok(SchedulePoint { at, delay, rate_bps: point.rate_bps, loss })
    };
    let points = points.iter().enumerate().map(point).collect::<Result<_, _>>()?;
    Schedule::new(points, repeat_ns.map(Duration::from_nanos)).map_err(|what| at.error(what))
}

pub fn outage(start_ns: u64, duration_ns: u64, every_ns: Option<u64>, hold_bytes: Option<u64>, at: &Place) -> Stage {
    let [start, duration] = [start_ns, duration_ns].map(Duration::from_nanos);
    let outage = Outage::new(start, duration, every_ns.map(Duration::from_nanos), hold_bytes);
    Ok(Box::new(outage.map_err(|what| at.error(what))?))
}
