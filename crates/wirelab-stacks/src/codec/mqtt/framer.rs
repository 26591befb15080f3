//! Cuts a byte stream into MQTT packets. It decodes none.

use mqtt_protocol_core::mqtt::common::Cursor;
use mqtt_protocol_core::mqtt::connection::{PacketBuildResult, PacketBuilder, RawPacket};

use super::Reason;

/// Cuts a stream into packets.
pub struct Framer {
    builder: PacketBuilder,
    began_ns: Option<u64>,
}

/// A packet as it came.
pub struct Frame {
    /// Its fixed header and the rest.
    pub raw: RawPacket,
    /// When its first byte came.
    pub began_ns: u64,
}

impl Framer {
    /// Refuses packets longer than `maximum_bytes`.
    pub fn new(maximum_bytes: u32) -> Self {
        Framer { builder: PacketBuilder::with_maximum_packet_size(maximum_bytes), began_ns: None }
    }

    /// Takes bytes off the front of `bytes`, which came at `now_ns`, up to the end of the next packet.
    pub fn next(&mut self, bytes: &mut &[u8], now_ns: u64) -> Result<Option<Frame>, Reason> {
        if bytes.is_empty() {
            return Ok(None);
        }
        let began_ns = *self.began_ns.get_or_insert(now_ns);
        let mut cursor = Cursor::new(*bytes);
        let built = self.builder.feed(&mut cursor);
        *bytes = &bytes[cursor.position() as usize..];
        match built {
            PacketBuildResult::Incomplete => Ok(None),
            PacketBuildResult::Error(error) => Err(error.into()),
            PacketBuildResult::Complete(raw) => {
                self.began_ns = None;
                Ok(Some(Frame { raw, began_ns }))
            }
        }
    }
}
