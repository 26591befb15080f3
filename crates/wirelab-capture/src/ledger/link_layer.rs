//! What the emulated link's own layer adds to IP packets: headers of its frames, each sent once.

use wirelab_link::Direction;
use wirelab_link::impairment::SharedStage;
use wirelab_link::spec::ImpairmentSpec;
use wirelab_schema::LinkSpec;

/// Bytes beyond a packet's `size` IP bytes, by that size: below 0 where the layer compresses headers by more than it adds; `None` of a link without
/// frames, which neither has a rate nor shares a medium. Of several rates in a row, those of the one that adds most.
pub fn added_bytes(link: &LinkSpec, direction: Direction) -> impl Fn(u32) -> Option<i64> {
    let chain = [&link.uplink, &link.downlink][direction.index()];
    let medium = link.medium.clone().map(SharedStage::from);
    let overhead = |stage: &ImpairmentSpec| stage.facts().rate.map(|rate| i64::from(rate.overhead_bytes));
    let of_rates = chain.iter().filter_map(overhead).max();
    move |size| medium.as_ref().map_or(of_rates, |medium| medium.added_bytes(size))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn added(link: serde_json::Value, size: u32) -> [Option<i64>; 2] {
        let link: LinkSpec = serde_json::from_value(link).unwrap();
        [Direction::Uplink, Direction::Downlink].map(|direction| added_bytes(&link, direction)(size))
    }

    #[test]
    fn frames_are_those_of_the_rate_that_adds_most_and_none_without_a_rate() {
        let rate = |overhead| json!({"kind": "rate", "rate_bps": 1000, "queue": {"discipline": "drop-tail", "packets": 9}, "overhead_bytes": overhead});
        let link = json!({"uplink": [rate(38), {"kind": "delay", "delay_ns": 1}, rate(14)], "downlink": []});
        assert_eq!(added(link, 100), [Some(38), None]);
    }

    #[test]
    fn a_shared_medium_frames_packets_in_both_directions() {
        let medium = json!({"kind": "serialiser", "rate_bps": 1000, "queue_packets": 9, "overhead_bytes": 36});
        assert_eq!(added(json!({"uplink": [], "downlink": [], "medium": medium}), 100), [Some(36); 2]);
    }

    #[test]
    fn a_datagram_in_fragments_has_their_headers_and_one_with_compressed_headers_less_than_its_size() {
        let mut medium = json!({"kind": "ieee802154", "compressed_bytes": 0, "mac_bytes": 23, "frame_error": 0.0, "retries": 3,
            "max_backoffs": 4, "min_be": 3, "max_be": 5, "queue_packets": 9});
        // RFC 4944: a dispatch of 1 byte; then two fragments with 4 and 5 bytes of header, in frames with 23.
        assert_eq!(added(json!({"uplink": [], "downlink": [], "medium": medium}), 103), [Some(1 + 23); 2]);
        assert_eq!(added(json!({"uplink": [], "downlink": [], "medium": medium}), 104), [Some(1 + 4 + 5 + 2 * 23); 2]);
        medium["compressed_bytes"] = json!(40);
        assert_eq!(added(json!({"uplink": [], "downlink": [], "medium": medium}), 100), [Some(23 - 40); 2]);
    }
}
