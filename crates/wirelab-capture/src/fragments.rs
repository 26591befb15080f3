//! Later fragments of IP datagrams, assigned to what the first one showed. Nothing is reassembled.

use std::collections::VecDeque;
use std::net::IpAddr;

use etherparse::{IpNumber, Ipv6ExtensionSlice, LaxIpSlice};

/// Maximum number of concurrent fragmented datagrams; later fragments of older ones are no longer recognised.
const DATAGRAMS: usize = 64;

/// What only the first fragment of a datagram tells, for those behind it: they have the same addresses, protocol and identification (RFC 791
/// section 3.2, RFC 8200 section 4.5).
#[derive(Debug)]
pub(crate) struct Fragments<T> {
    /// The latest datagrams in fragments, oldest first.
    known: VecDeque<(Datagram, T)>,
}

impl<T: Copy> Fragments<T> {
    /// What the next packet tells by itself (`read`) or, if it is a later fragment, what its datagram's first did; `None` if that is not known.
    pub(crate) fn resolve(&mut self, ip: &LaxIpSlice<'_>, read: impl FnOnce() -> T) -> Option<T> {
        let Some(Fragment { identification, is_first }) = Fragment::read(ip) else { return Some(read()) };
        let ends = [ip.source_addr(), ip.destination_addr()];
        let datagram = Datagram { ends, protocol: ip.payload_ip_number(), identification };
        if !is_first {
            return self.known.iter().rev().find(|(other, _)| *other == datagram).map(|(_, value)| *value);
        }
        if self.known.len() == DATAGRAMS {
            self.known.pop_front();
        }
        let value = read();
        self.known.push_back((datagram, value));
        Some(value)
    }
}

impl<T> Default for Fragments<T> {
    fn default() -> Self {
        Self { known: VecDeque::new() }
    }
}

/// True for every fragment of a datagram but the first.
pub(crate) fn is_later_fragment(ip: &LaxIpSlice<'_>) -> bool {
    Fragment::read(ip).is_some_and(|fragment| !fragment.is_first)
}

/// What the fragments of a datagram have in common.
#[derive(Debug, PartialEq, Eq)]
struct Datagram {
    ends: [IpAddr; 2],
    protocol: IpNumber,
    identification: u32,
}

struct Fragment {
    identification: u32,
    is_first: bool,
}

impl Fragment {
    /// `None` for a datagram in one piece.
    fn read(ip: &LaxIpSlice<'_>) -> Option<Self> {
        if !ip.is_fragmenting_payload() {
            return None;
        }
        match ip {
            LaxIpSlice::Ipv4(ip) => {
                let (identification, offset) = (ip.header().identification(), ip.header().fragments_offset());
                Some(Self { identification: identification.into(), is_first: offset.value() == 0 })
            }
            LaxIpSlice::Ipv6(ip) => ip.extensions().clone().into_iter().find_map(|extension| match extension {
                Ipv6ExtensionSlice::Fragment(header) => Some(Self {
                    identification: header.identification(),
                    is_first: header.fragment_offset().value() == 0,
                }),
                _ => None,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use etherparse::PacketBuilder;

    use super::*;

    fn fragment(identification: u8, offset: u8) -> Vec<u8> {
        let mut packet = Vec::new();
        PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).udp(5000, 53).write(&mut packet, &[7; 40]).unwrap();
        packet[5] = identification;
        (packet[6], packet[7]) = (0x20, offset);
        packet
    }

    fn resolve(fragments: &mut Fragments<u8>, packet: &[u8], known: u8) -> Option<u8> {
        fragments.resolve(&LaxIpSlice::from_slice(packet).unwrap().0, || known)
    }

    #[test]
    fn only_the_latest_fragmented_datagrams_are_remembered() {
        let mut fragments = Fragments::default();
        assert_eq!(resolve(&mut fragments, &fragment(0, 0), 77), Some(77));
        for identification in 1..=DATAGRAMS as u8 {
            assert_eq!(resolve(&mut fragments, &fragment(0, 1), 0), Some(77));
            resolve(&mut fragments, &fragment(identification, 0), identification);
        }
        assert_eq!(resolve(&mut fragments, &fragment(0, 1), 0), None);
        assert_eq!(resolve(&mut fragments, &fragment(5, 1), 0), Some(5));
        assert_eq!(fragments.known.len(), DATAGRAMS);
    }

    #[test]
    fn of_two_datagrams_with_one_identification_the_later_counts() {
        let mut fragments = Fragments::default();
        resolve(&mut fragments, &fragment(9, 0), 1);
        resolve(&mut fragments, &fragment(9, 0), 2);
        assert_eq!(resolve(&mut fragments, &fragment(9, 1), 0), Some(2));
    }
}
