//! Fragments of a datagram over IEEE 802.15.4.

use std::collections::VecDeque;

/// Header of a datagram's first fragment, bytes (RFC 4944, section 5.3).
const FRAG1_BYTES: u32 = 4;
/// Header of each further fragment, bytes (same place).
const FRAGN_BYTES: u32 = 5;
/// Dispatch of a datagram with uncompressed headers, bytes (RFC 4944, section 5.1). It is not part of the datagram.
const DISPATCH_BYTES: u32 = 1;
/// Offsets of fragments count the datagram in units of this, bytes (same place): all but the last end at a multiple.
const UNIT_BYTES: u32 = 8;

/// The smallest MAC payload that can carry a fragment, bytes.
pub(super) const MIN_ROOM: u32 = FRAGN_BYTES + UNIT_BYTES;

/// MAC payloads, in bytes, that carry a datagram of `size` IP bytes, whose headers are `compressed` bytes shorter on the air (RFC 6282), or with 0
/// not compressed.
///
/// One if it fits into `room`. Else fragments as full as they may be; what they carry is counted in bytes of the uncompressed datagram (RFC
/// 4944, section 5.3), so the first, which has the compressed headers, carries more of it than its length says.
pub(super) fn frames(size: u32, compressed: u32, room: u32) -> VecDeque<u32> {
    let dispatch = if compressed == 0 { DISPATCH_BYTES } else { 0 };
    let whole = dispatch + size.saturating_sub(compressed);
    if whole <= room {
        return VecDeque::from([whole]);
    }
    let units = |bytes| bytes / UNIT_BYTES * UNIT_BYTES;
    let mut carried = units(room - FRAG1_BYTES - dispatch + compressed);
    let mut frames = VecDeque::from([FRAG1_BYTES + dispatch + carried - compressed]);
    while carried < size {
        let part = units(room - FRAGN_BYTES).min(size - carried);
        frames.push_back(FRAGN_BYTES + part);
        carried += part;
    }
    frames
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_that_fits_is_not_fragmented() {
        assert_eq!(frames(103, 0, 104), [104]);
        assert_eq!(frames(148, 44, 104), [104]);
        assert_eq!(frames(20, 40, 104), [0]);
    }

    #[test]
    fn fragments_carry_multiples_of_eight_bytes_of_the_uncompressed_datagram() {
        // Room for 104: 99 behind the first header and the dispatch and 99 behind the others, which leaves 96 of each.
        assert_eq!(frames(104, 0, 104), [101, 13]);
        assert_eq!(frames(1280, 0, 104), [vec![101], vec![101; 12], vec![37]].concat());
        // 40 bytes are saved: the first takes 136 of the datagram, 96 on the air.
        assert_eq!(frames(148, 40, 104), [100, 17]);
        assert_eq!(frames(136 + 96, 40, 104), [100, 101]);
        assert_eq!(frames(136 + 97, 40, 104), [100, 101, 6]);
    }

    #[test]
    fn every_frame_fits_and_together_they_carry_the_datagram() {
        for room in MIN_ROOM..127 {
            for compressed in 0..48 {
                for size in 48..400 {
                    let frames = frames(size, compressed, room);
                    assert!(frames.iter().all(|frame| *frame <= room), "{size} {compressed} {room}: {frames:?}");
                    let further = frames.len() as u32 - 1;
                    let headers = if further == 0 { 0 } else { FRAG1_BYTES + FRAGN_BYTES * further };
                    let dispatch = u32::from(compressed == 0);
                    assert_eq!(frames.iter().sum::<u32>() - headers, dispatch + size - compressed);
                }
            }
        }
    }
}
