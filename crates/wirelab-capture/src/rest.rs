//! The datagrams by which a client asks its link to rest, as packets: recognised, and answered in the server's name. No bytes make it panic.

use std::net::IpAddr;

use etherparse::{IpNumber, LaxIpSlice, PacketBuilder, UdpSlice};
pub use wirelab_schema::{REST_PORT, RestAnswer, RestRequest};

/// Hop limit of an answer.
const HOPS: u8 = 64;

/// The request of a packet, given from its IP header on; none of another packet.
pub fn request(packet: &[u8]) -> Option<RestRequest> {
    let (ip, _) = LaxIpSlice::from_slice(packet).ok()?;
    RestRequest::from_bytes(datagram(&ip)?.payload())
}

/// The answer to a packet that has a request, from its IP header on.
pub fn answer(packet: &[u8], answer: RestAnswer) -> Option<Vec<u8>> {
    let (ip, _) = LaxIpSlice::from_slice(packet).ok()?;
    let asked = datagram(&ip)?;
    let builder = match (ip.source_addr(), ip.destination_addr()) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            PacketBuilder::ipv4(destination.octets(), source.octets(), HOPS)
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            PacketBuilder::ipv6(destination.octets(), source.octets(), HOPS)
        }
        _ => return None,
    };
    let mut written = Vec::new();
    let payload = [asked.payload(), &[answer as u8]].concat();
    builder.udp(asked.destination_port(), asked.source_port()).write(&mut written, &payload).ok()?;
    Some(written)
}

/// The whole datagram in a packet, if it is to the port of requests. The first bytes of a fragmented one have no port that counts.
fn datagram<'a>(ip: &LaxIpSlice<'a>) -> Option<UdpSlice<'a>> {
    let payload = ip.payload();
    if payload.fragmented || payload.ip_number != IpNumber::UDP {
        return None;
    }
    let datagram = UdpSlice::from_slice(payload.payload).ok()?;
    (datagram.destination_port() == REST_PORT).then_some(datagram)
}

#[cfg(test)]
mod tests {
    use etherparse::SlicedPacket;
    use proptest::prelude::*;

    use super::*;

    const REQUEST: RestRequest = RestRequest { gap_ns: 600_000_000_000, settle_ns: 2_000_000_000 };

    fn ipv4(port: u16, payload: &[u8]) -> Vec<u8> {
        let mut packet = Vec::new();
        PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).udp(5000, port).write(&mut packet, payload).unwrap();
        packet
    }

    fn ipv6(payload: &[u8]) -> Vec<u8> {
        let mut packet = Vec::new();
        PacketBuilder::ipv6([1; 16], [2; 16], 64).udp(5000, REST_PORT).write(&mut packet, payload).unwrap();
        packet
    }

    #[test]
    fn a_request_is_known_by_its_port_and_its_bytes() {
        let bytes = REQUEST.to_bytes();
        assert_eq!(request(&ipv4(REST_PORT, &bytes)), Some(REQUEST));
        assert_eq!(request(&ipv6(&bytes)), Some(REQUEST));
        for other in [ipv4(10, &bytes), ipv4(REST_PORT, b"discard"), ipv4(REST_PORT, &[])] {
            assert_eq!(request(&other), None);
        }
        let whole = ipv4(REST_PORT, &bytes);
        assert!((0..whole.len()).all(|length| request(&whole[..length]).is_none()));
    }

    #[test]
    fn an_answer_comes_from_where_the_request_went_with_right_checksums() {
        for asked in [ipv4(REST_PORT, &REQUEST.to_bytes()), ipv6(&REQUEST.to_bytes())] {
            for verdict in [RestAnswer::Done, RestAnswer::Refused] {
                let answered = answer(&asked, verdict).unwrap();
                let packet = SlicedPacket::from_ip(&answered).unwrap();
                let Some(etherparse::TransportSlice::Udp(udp)) = &packet.transport else { panic!("{packet:?}") };
                assert_eq!((udp.source_port(), udp.destination_port()), (REST_PORT, 5000));
                assert_eq!(RestAnswer::from_bytes(udp.payload(), REQUEST), Some(verdict));
                let (header, payload) = (udp.to_header(), udp.payload());
                let checksum = match &packet.net {
                    Some(etherparse::NetSlice::Ipv4(ip)) => {
                        assert_eq!(ip.header().source_addr().octets(), [10, 0, 0, 2]);
                        assert_eq!(ip.header().destination_addr().octets(), [10, 0, 0, 1]);
                        header.calc_checksum_ipv4(&ip.header().to_header(), payload)
                    }
                    Some(etherparse::NetSlice::Ipv6(ip)) => {
                        assert_eq!(ip.header().source_addr().octets(), [2; 16]);
                        header.calc_checksum_ipv6(&ip.header().to_header(), payload)
                    }
                    other => panic!("{other:?}"),
                };
                assert_eq!(udp.checksum(), checksum.unwrap());
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = request(&bytes);
            let _ = answer(&bytes, RestAnswer::Done);
        }
    }
}
