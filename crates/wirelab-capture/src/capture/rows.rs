//! The rows of a capture: one for each IP packet.

use wirelab_link::Direction;
use wirelab_schema::CapturedPacket;

use crate::dissect::{Dissection, Dissector, addresses};
use crate::packet_log::Record;

/// The rows of the packets of a capture.
pub fn rows(packets: &[(Record, Vec<u8>)]) -> impl Iterator<Item = CapturedPacket> {
    let mut dissector = Dissector::default();
    packets.iter().map(move |(record, packet)| {
        let Dissection { flow, transport, payload_bytes, tcp, .. } = dissector.dissect(record, packet);
        let addresses = addresses(packet);
        CapturedPacket {
            at_ns: record.arrival.as_nanos(),
            source: addresses.map(|(source, _)| source.to_string()),
            destination: addresses.map(|(_, destination)| destination.to_string()),
            flow: u32::try_from(flow).unwrap_or(u32::MAX),
            uplink: record.port.direction() == Direction::Uplink,
            size_bytes: record.size,
            transport: transport.to_string(),
            payload_bytes,
            tcp_sequence: tcp.as_ref().map(|segment| segment.sequence),
            tcp_acknowledgement: tcp.as_ref().and_then(|segment| segment.acknowledgement),
            retransmission: tcp.as_ref().is_some_and(|segment| segment.retransmission),
            tcp_flags: tcp.map(|segment| segment.flags),
        }
    })
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::capture;

    /// A pcap of Ethernet frames, each with its microsecond.
    fn pcap(frames: &[(u32, Vec<u8>)]) -> Vec<u8> {
        let mut file = [0xa1b2_c3d4_u32.to_le_bytes(), [2, 0, 4, 0], [0; 4], [0; 4]].concat();
        file.extend([65535_u32.to_le_bytes(), 1_u32.to_le_bytes()].concat());
        for (at, frame) in frames {
            let length = (frame.len() as u32).to_le_bytes();
            file.extend([1_u32.to_le_bytes(), at.to_le_bytes(), length, length].concat());
            file.extend(frame);
        }
        file
    }

    /// A TCP segment without payload in an Ethernet frame: from port 50000 of 10.0.0.1 to 443 of 10.0.0.2, or back.
    fn segment(uplink: bool, flags: u8, sequence: u8, acknowledgement: u8) -> Vec<u8> {
        let ([source, destination], [from, to]) =
            if uplink { ([1, 2], [[195, 80], [1, 187]]) } else { ([2, 1], [[1, 187], [195, 80]]) };
        let mut frame = [[0; 12].as_slice(), &[8, 0], &[0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 6, 0, 0]].concat();
        frame.extend([10, 0, 0, source, 10, 0, 0, destination]);
        frame.extend([from, to].concat());
        frame.extend([0, 0, 0, sequence, 0, 0, 0, acknowledgement, 0x50, flags, 0, 0, 0, 0, 0, 0]);
        frame
    }

    #[test]
    fn the_rows_of_a_handshake_have_the_values_of_the_schema() {
        let frames =
            [(5, segment(true, 0x02, 9, 0)), (7, segment(false, 0x12, 3, 10)), (8, segment(true, 0x10, 10, 4))];
        let packets = capture::read(io::Cursor::new(pcap(&frames))).unwrap().packets;
        let rows: Vec<_> = rows(&packets).collect();
        let expected = CapturedPacket {
            at_ns: 1_000_007_000,
            source: Some("10.0.0.2".to_owned()),
            destination: Some("10.0.0.1".to_owned()),
            flow: 0,
            uplink: false,
            size_bytes: 40,
            transport: "tcp".to_owned(),
            payload_bytes: 0,
            tcp_flags: Some("SA".to_owned()),
            tcp_sequence: Some(0),
            tcp_acknowledgement: Some(1),
            retransmission: false,
        };
        assert_eq!(rows[1], expected);
        assert_eq!((rows[0].uplink, rows[2].uplink), (true, true));
        assert_eq!((rows[2].tcp_sequence, rows[2].tcp_acknowledgement), (Some(1), Some(1)));
    }
}
