//! Echo requests and their replies as bytes (RFC 792; RFC 4443 section 4). It sends and receives nothing.

use etherparse::{IpNumber, LaxIpSlice};

/// Type, code, checksum, identifier, sequence number (RFC 792; RFC 4443 section 4.1).
const HEADER_BYTES: usize = 8;
const REQUEST: [u8; 2] = [8, 128];
const REPLY: [u8; 2] = [0, 129];

/// A request with so many bytes of payload, from its ICMP header on.
pub fn request(ipv6: bool, identifier: u16, sequence: u16, payload_bytes: usize) -> Vec<u8> {
    message(REQUEST[usize::from(ipv6)], identifier, sequence, payload_bytes)
}

/// The bytes of payload of a reply to this identifier's requests; `None` of any other packet. IPv4's raw sockets give the IP header too (raw(7)),
/// IPv6's do not (RFC 3542 section 3).
pub fn reply(ipv6: bool, identifier: u16, packet: &[u8]) -> Option<usize> {
    if ipv6 {
        return payload_of_reply(packet, REPLY[1], identifier);
    }
    let (ip, _) = LaxIpSlice::from_slice(packet).ok()?;
    let ours = ip.payload_ip_number() == IpNumber::ICMP;
    ours.then(|| payload_of_reply(ip.payload().payload, REPLY[0], identifier)).flatten()
}

fn payload_of_reply(message: &[u8], kind: u8, identifier: u16) -> Option<usize> {
    let [of, _, _, _, high, low, _, _] = *message.first_chunk::<HEADER_BYTES>()?;
    (of == kind && u16::from_be_bytes([high, low]) == identifier).then(|| message.len() - HEADER_BYTES)
}

/// A message with the checksum of IPv4; that of ICMPv6 is the kernel's (RFC 3542 section 3.1).
fn message(kind: u8, identifier: u16, sequence: u16, payload_bytes: usize) -> Vec<u8> {
    let mut message = vec![0; HEADER_BYTES + payload_bytes];
    message[0] = kind;
    message[4..6].copy_from_slice(&identifier.to_be_bytes());
    message[6..8].copy_from_slice(&sequence.to_be_bytes());
    let checksum = checksum(&message);
    message[2..4].copy_from_slice(&checksum.to_be_bytes());
    message
}

/// RFC 1071.
fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|word| u32::from(u16::from_be_bytes([word[0], word.get(1).copied().unwrap_or(0)])));
    let sum = words.fold(0u32, |sum, word| {
        let sum = sum + word;
        (sum & 0xffff) + (sum >> 16)
    });
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_rfc_1071s() {
        // The numerical example of its section 3: the sum is ddf2.
        assert_eq!(checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
        assert_eq!(checksum(&[0xff]), !0xff00);
        let sent = message(8, 0x1234, 7, 33);
        assert_eq!((checksum(&sent), sent.len(), &sent[4..8]), (0, 41, &[0x12, 0x34, 0, 7][..]));
    }

    #[test]
    fn only_replies_to_ones_own_requests_count() {
        let reply = message(0, 5, 1, 10);
        assert_eq!(payload_of_reply(&reply, 0, 5), Some(10));
        assert_eq!(payload_of_reply(&reply, 0, 6), None);
        assert_eq!(payload_of_reply(&message(8, 5, 1, 10), 0, 5), None);
        assert_eq!(payload_of_reply(&reply[..7], 0, 5), None);
    }
}
