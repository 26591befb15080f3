//! Headers of QUIC packets, as far as they are in the clear.

/// Types of the packets in a UDP datagram that looks like QUIC (RFC 9000 section 17, RFC 9369 section 3.2), in order; empty if it does not.
///
/// A long header of version 1 or 2 identifies QUIC. A short header (`1-rtt`), a version negotiation and a packet whose fixed bit is greased
/// (RFC 9287) tell only if the flow is `known` to have shown a long header before. Coalesced packets that begin beyond the logged bytes are not
/// seen.
pub fn packet_types(datagram: &[u8], known: bool) -> Vec<&'static str> {
    let mut types = Vec::new();
    let mut rest = Some(datagram);
    while let Some(packet) = rest.take() {
        // Behind another packet, zero bytes may as well be padding of the datagram.
        let Some(kind) = packet_type(packet, known && types.is_empty()) else { break };
        if !known && types.is_empty() && !identifies_quic(kind) {
            break;
        }
        types.push(kind);
        rest = behind_long_header(packet);
    }
    types
}

/// True if `kind` cannot be mistaken for another protocol's bytes.
pub(super) fn identifies_quic(kind: &str) -> bool {
    !matches!(kind, "1-rtt" | "version-negotiation")
}

const LONG_HEADER: u8 = 0x80;
const FIXED_BIT: u8 = 0x40;
const VERSION_1: [u8; 4] = [0, 0, 0, 1];
const VERSION_2: [u8; 4] = [0x6b, 0x33, 0x43, 0xcf];

/// The type of a packet by its first bytes; `surely` QUIC, it need not have the fixed bit.
fn packet_type(packet: &[u8], surely: bool) -> Option<&'static str> {
    let first = *packet.first()?;
    let plausible = surely || first & FIXED_BIT != 0;
    if first & LONG_HEADER == 0 {
        return plausible.then_some("1-rtt");
    }
    let types = match packet.get(1..5)?.try_into().expect("four bytes") {
        VERSION_1 if plausible => ["initial", "0-rtt", "handshake", "retry"],
        VERSION_2 if plausible => ["retry", "initial", "0-rtt", "handshake"],
        [0, 0, 0, 0] if surely => return Some("version-negotiation"),
        _ => return None,
    };
    Some(types[usize::from(first >> 4 & 3)])
}

/// What follows a packet with a long header in its datagram, if its Length field (RFC 9000 section 17.2) and so much of the datagram is there.
pub fn behind_long_header(packet: &[u8]) -> Option<&[u8]> {
    let kind = packet_type(packet, true)?;
    if matches!(kind, "1-rtt" | "retry" | "version-negotiation") {
        return None;
    }
    let rest = behind_connection_id(packet.get(5..)?)?;
    let mut rest = behind_connection_id(rest)?;
    if kind == "initial" {
        let (token_bytes, behind) = variable_length_integer(rest)?;
        rest = behind.get(usize::try_from(token_bytes).ok()?..)?;
    }
    let (length, rest) = variable_length_integer(rest)?;
    rest.get(usize::try_from(length).ok()?..)
}

/// Length of the source connection id in a long header: the other side's packets with a short header begin with that id.
pub fn source_id_bytes(packet: &[u8]) -> Option<usize> {
    packet.first().filter(|first| *first & LONG_HEADER != 0)?;
    behind_connection_id(packet.get(5..)?)?.first().map(|length| usize::from(*length))
}

fn behind_connection_id(bytes: &[u8]) -> Option<&[u8]> {
    let (length, rest) = bytes.split_first()?;
    rest.get(usize::from(*length)..)
}

/// The integer (RFC 9000 section 16) that these bytes begin with, and what is behind it.
pub fn variable_length_integer(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let first = *bytes.first()?;
    let (integer, rest) = bytes.split_at_checked(1 << (first >> 6))?;
    let value = integer.iter().fold(0, |value: u64, byte| value << 8 | u64::from(*byte));
    Some((value & (u64::MAX >> (66 - 8 * integer.len() as u32)), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet with a long header: 8-byte destination and 4-byte source connection id, and `payload` bytes behind its Length field.
    fn long(first: u8, version: [u8; 4], token: Option<u8>, payload: usize) -> Vec<u8> {
        let mut packet = vec![first];
        packet.extend(version);
        packet.extend([8, 1, 2, 3, 4, 5, 6, 7, 8, 4, 1, 2, 3, 4]);
        if let Some(length) = token {
            packet.push(length);
            packet.extend(vec![0xee; length.into()]);
        }
        packet.extend((0x4000 | payload as u16).to_be_bytes());
        packet.extend(vec![0xff; payload]);
        packet
    }

    #[test]
    fn long_headers_of_version_1_and_2_have_their_own_type_bits() {
        let types =
            |version| [0xc0, 0xd0, 0xe0, 0xf0].map(|first| packet_types(&long(first, version, None, 0)[..5], false));
        assert_eq!(types(VERSION_1), [["initial"], ["0-rtt"], ["handshake"], ["retry"]]);
        assert_eq!(types(VERSION_2), [["retry"], ["initial"], ["0-rtt"], ["handshake"]]);
    }

    #[test]
    fn coalesced_packets_are_all_named() {
        let datagram = [long(0xc3, VERSION_1, Some(5), 300), long(0xe1, VERSION_1, None, 70), vec![0x41; 30]].concat();
        assert_eq!(packet_types(&datagram, false), ["initial", "handshake", "1-rtt"]);
        assert_eq!(packet_types(&datagram[..100], false), ["initial"]);
    }

    #[test]
    fn padding_behind_a_packet_is_not_a_packet() {
        assert_eq!(packet_types(&[long(0xc0, VERSION_1, Some(0), 20), vec![0; 1000]].concat(), false), ["initial"]);
    }

    #[test]
    fn a_short_header_or_a_version_negotiation_counts_only_in_a_flow_known_as_quic() {
        assert!(packet_types(&[0x41; 30], false).is_empty());
        assert_eq!(packet_types(&[0x41; 30], true), ["1-rtt"]);
        assert!(packet_types(&long(0x80, [0; 4], None, 0), false).is_empty());
        assert_eq!(packet_types(&long(0x80, [0; 4], None, 0), true), ["version-negotiation"]);
    }

    #[test]
    fn a_greased_fixed_bit_counts_only_in_a_flow_known_as_quic() {
        assert!(packet_types(&[0x01; 30], false).is_empty());
        assert_eq!(packet_types(&[0x01; 30], true), ["1-rtt"]);
        assert!(packet_types(&long(0xa0, VERSION_1, None, 4), false).is_empty());
        assert_eq!(packet_types(&long(0xa0, VERSION_1, None, 4), true), ["handshake"]);
    }

    #[test]
    fn other_datagrams_are_not_quic() {
        assert!(packet_types(b"", true).is_empty());
        assert!(packet_types(&long(0xc0, [0, 0, 0, 9], None, 4), true).is_empty());
    }

    #[test]
    fn variable_length_integers_are_those_of_rfc_9000_appendix_a_1() {
        let value = |bytes: &[u8]| variable_length_integer(bytes).unwrap().0;
        assert_eq!(value(&[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c]), 151_288_809_941_952_652);
        assert_eq!(value(&[0x9d, 0x7f, 0x3e, 0x7d]), 494_878_333);
        assert_eq!(value(&[0x7b, 0xbd]), 15_293);
        assert_eq!(value(&[0x25]), 37);
        assert_eq!(variable_length_integer(&[0x7b]), None);
    }
}
