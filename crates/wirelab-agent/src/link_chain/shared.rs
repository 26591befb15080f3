use std::time::Duration;

use wirelab_net::link::Seed;
use wirelab_net::link::impairment::{Ieee802154, Medium, Nat, Radio, Sleep, Wifi};
use wirelab_schema::{MediumSpec, NatSpec, RadioSpec};

use super::LinkError;
use super::values::{Place, limit, most, overhead, probability, rate};

/// The shortest exchange of frames on the air: each has to be computed.
const SHORTEST_EXCHANGE_NS: u64 = 1000;
/// The largest contention window, slots: twice that of IEEE 802.11, whose ECWmax has four bits.
const LARGEST_WINDOW: u32 = (1 << 16) - 1;
/// The largest dot11ShortRetryLimit.
const MOST_WIFI_RETRIES: u32 = 255;
/// The largest macMaxFrameRetries and macMaxCSMABackoffs of IEEE 802.15.4.
const MOST_RETRIES: u32 = 7;
const MOST_BACKOFFS: u32 = 5;
/// Headers of IPv6 and UDP.
const HEADER_BYTES: u32 = 48;

pub fn medium(spec: &MediumSpec, seed: Seed, at: &Place) -> Result<Medium, LinkError> {
    match *spec {
        MediumSpec::Serialiser { rate_bps, queue_bytes, queue_packets, overhead_bytes } => {
            let queue = limit(queue_bytes, queue_packets, at)?;
            Ok(Medium::serialiser(rate(rate_bps, at)?, queue, overhead(overhead_bytes, at)?))
        }
        MediumSpec::Wifi {
            rate_bps,
            overhead_bytes,
            preamble_ns,
            ack_ns,
            slot_ns,
            sifs_ns,
            difs_ns,
            cw_min,
            cw_max,
            retries,
            frame_error,
            queue_bytes,
            queue_packets,
        } => {
            if slot_ns == 0 {
                return Err(at
                    .key("slot_ns")
                    .error("a slot of 0 takes no time, so that stations never leave off colliding"));
            }
            let exchange_ns = [ack_ns, sifs_ns, difs_ns].into_iter().fold(preamble_ns, u64::saturating_add);
            if exchange_ns < SHORTEST_EXCHANGE_NS {
                let what = "preamble, SIFS, ACK and DIFS together take";
                return Err(at.error(format!("{what} {exchange_ns} ns, less than {SHORTEST_EXCHANGE_NS}")));
            }
            most(retries, MOST_WIFI_RETRIES, "the most of IEEE 802.11", &at.key("retries"))?;
            most(cw_max, LARGEST_WINDOW, "the largest window", &at.key("cw_max"))?;
            if cw_min > cw_max {
                return Err(at.key("cw_min").error(format!("{cw_min} is more than cw_max, {cw_max}")));
            }
            let wifi = Wifi {
                rate_bps: rate(rate_bps, at)?,
                overhead_bytes: overhead(overhead_bytes, at)?,
                preamble: Duration::from_nanos(preamble_ns),
                ack: Duration::from_nanos(ack_ns),
                slot: Duration::from_nanos(slot_ns),
                sifs: Duration::from_nanos(sifs_ns),
                difs: Duration::from_nanos(difs_ns),
                cw_min,
                cw_max,
                retries,
                frame_error: probability(frame_error, &at.key("frame_error"))?,
                queue: limit(queue_bytes, queue_packets, at)?,
            };
            Medium::wifi(wifi, seed).map_err(|what| at.error(what))
        }
        MediumSpec::Ieee802154 {
            compressed_bytes,
            mac_bytes,
            frame_error,
            retries,
            max_backoffs,
            min_be,
            max_be,
            queue_bytes,
            queue_packets,
        } => {
            most(compressed_bytes, HEADER_BYTES, "the headers of IPv6 and UDP", &at.key("compressed_bytes"))?;
            let room = Ieee802154::MOST_MAC_BYTES;
            most(mac_bytes, room, "what leaves room for a fragment in a frame", &at.key("mac_bytes"))?;
            let largest = |value, largest, name| most(value, largest, "the largest of IEEE 802.15.4", &at.key(name));
            largest(max_be, Ieee802154::LARGEST_BE, "max_be")?;
            largest(retries, MOST_RETRIES, "retries")?;
            largest(max_backoffs, MOST_BACKOFFS, "max_backoffs")?;
            most(min_be, max_be, "max_be", &at.key("min_be"))?;
            let frame_error = probability(frame_error, &at.key("frame_error"))?;
            let parameters = Ieee802154 {
                compressed_bytes,
                mac_bytes,
                frame_error,
                retries,
                max_backoffs,
                min_be,
                max_be,
                queue: limit(queue_bytes, queue_packets, at)?,
            };
            Medium::ieee802154(parameters, seed).map_err(|what| at.error(what))
        }
    }
}

pub fn radio(spec: &RadioSpec, at: &Place) -> Result<Radio, LinkError> {
    let at_sleeps = at.key("sleeps");
    for (index, pair) in (1..).zip(spec.sleeps.windows(2)) {
        let [lighter, deeper] = [pair[0].after_ns, pair[1].after_ns];
        if deeper < lighter {
            let at = at_sleeps.index(index).key("after_ns");
            return Err(at.error(format!("{deeper} comes after {lighter}: sleeps go from light to deep")));
        }
    }
    if let Some(index) = spec.sleeps.iter().position(|sleep| sleep.cycle_ns == Some(0)) {
        return Err(at_sleeps.index(index).key("cycle_ns").error("a client that listens every 0 ns does not sleep"));
    }
    let sleeps = spec.sleeps.iter().map(|sleep| Sleep {
        after: Duration::from_nanos(sleep.after_ns),
        cycle: sleep.cycle_ns.map(Duration::from_nanos),
        wake: Duration::from_nanos(sleep.wake_ns),
    });
    Radio::new(sleeps.collect(), spec.buffer_bytes).map_err(|what| at.error(what))
}

pub fn nat(spec: &NatSpec) -> Nat {
    Nat::new(Duration::from_nanos(spec.udp_timeout_ns), Duration::from_nanos(spec.tcp_timeout_ns))
}
