//! Block-wise transfer (RFC 7959). It sends nothing itself.

use coap_lite::{CoapOption, Packet};

use super::message::{uint, uint_option};

/// The largest block number (20 bits, RFC 7959 section 2.2).
pub const MAX_NUMBER: u32 = (1 << 20) - 1;
/// SZX of the largest block, 1024 bytes; 7 is reserved over UDP and BERT over TCP (RFC 8323, section 6).
pub const MAX_SZX: u8 = 6;

/// Value of a Block1 or Block2 option (RFC 7959, section 2.2). coap-lite's has block numbers of 12 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// NUM: which block, in units of its size.
    pub number: u32,
    /// M: more follow.
    pub more: bool,
    /// SZX: the size is 2 to the power of SZX + 4.
    pub szx: u8,
}

impl Block {
    /// Bytes of a block of this size.
    pub fn size(self) -> usize {
        size(self.szx)
    }

    /// Where in the body it begins.
    pub fn offset(self) -> usize {
        self.number as usize * self.size()
    }

    /// As the value of an option.
    pub fn value(self) -> Vec<u8> {
        uint(self.number << 4 | u32::from(self.more) << 3 | u32::from(self.szx))
    }

    /// Of a message; `Some(Err)` for a reserved size or too large a number.
    pub fn of(packet: &Packet, option: CoapOption) -> Option<Result<Self, ()>> {
        let value = match uint_option(packet, option)? {
            Ok(value) if value >> 4 <= MAX_NUMBER => value,
            _ => return Some(Err(())),
        };
        let block = Block { number: value >> 4, more: value & 8 != 0, szx: (value & 7) as u8 };
        Some(if block.szx > MAX_SZX { Err(()) } else { Ok(block) })
    }
}

/// Bytes of a block with this SZX.
pub fn size(szx: u8) -> usize {
    1 << (szx + 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_the_rfc_and_are_read_back() {
        let blocks = [(0, false, 6), (0, true, 3), (62, true, 3), (MAX_NUMBER, false, 0)];
        for (number, more, szx) in blocks {
            let block = Block { number, more, szx };
            let mut packet = Packet::new();
            packet.add_option(CoapOption::Block1, block.value());
            assert_eq!(Block::of(&packet, CoapOption::Block1), Some(Ok(block)));
        }
        assert_eq!(Block { number: 4, more: true, szx: 3 }.value(), [0x4b]);
        assert_eq!(Block { number: 0, more: false, szx: 0 }.value(), [0; 0]);
    }

    #[test]
    fn a_reserved_size_or_too_long_a_value_is_not_a_block() {
        for value in [vec![7], vec![0, 0, 0, 0, 0], vec![0x01, 0, 0, 0]] {
            let mut packet = Packet::new();
            packet.add_option(CoapOption::Block2, value);
            assert_eq!(Block::of(&packet, CoapOption::Block2), Some(Err(())));
        }
    }
}
