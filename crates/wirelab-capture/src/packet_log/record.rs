//! One record of a packet log as bytes (`docs/reference/files.md`).

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use wirelab_link::{DropCause, Instant, PortId};

/// Bytes of a record before its packet bytes.
pub const RECORD_BYTES: usize = 40;
/// Bytes of a translated end between a record and its packet bytes: a port and an address.
pub const END_BYTES: usize = 18;

/// What happened to a packet; encoded as its position in this list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Outcome {
    /// Put on the receiver's interface.
    Delivered = 0,
    /// Lost at random.
    Loss = 1,
    /// Dropped by a full queue.
    QueueFull = 2,
    /// Still inside when the trial ended.
    Held = 3,
    /// Dropped by active queue management.
    Aqm = 4,
    /// Dropped while there was no link.
    Outage = 5,
    /// Given up by the link layer.
    Retries = 6,
    /// Dropped for want of an address mapping.
    Nat = 7,
    /// Not a packet: from `arrival` on the link's clock was ahead by `departure - arrival` more.
    Rest = 8,
}

impl Outcome {
    /// All, in the order of their bytes.
    pub const ALL: [Self; 9] = [
        Self::Delivered,
        Self::Loss,
        Self::QueueFull,
        Self::Held,
        Self::Aqm,
        Self::Outage,
        Self::Retries,
        Self::Nat,
        Self::Rest,
    ];

    /// True if an impairment dropped the packet.
    pub const fn is_drop(self) -> bool {
        !matches!(self, Self::Delivered | Self::Held | Self::Rest)
    }
}

impl From<DropCause> for Outcome {
    fn from(cause: DropCause) -> Self {
        match cause {
            DropCause::Loss => Self::Loss,
            DropCause::QueueFull => Self::QueueFull,
            DropCause::Aqm => Self::Aqm,
            DropCause::Outage => Self::Outage,
            DropCause::Retries => Self::Retries,
            DropCause::Nat => Self::Nat,
        }
    }
}

/// The fixed part of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Order of arrival at the link, from 0; that of its original for a copy.
    pub sequence: u64,
    /// Where the packet entered: 0 the client's side, 1 the server's.
    pub port: PortId,
    /// What happened to it.
    pub outcome: Outcome,
    /// The client's end as the server's side knows it, if an address translation let the packet pass, or had let its like pass before. Logged bytes have the
    /// client's own end in its place, in both directions.
    pub translated: Option<SocketAddr>,
    /// The link made it: a reset in answer to the packet of the same `sequence`.
    pub originated: bool,
    /// The link made it. There may be several copies of one packet.
    pub copy: bool,
    /// The bit that the link inverted, counted from the first of the IP header. Logged bytes have it as it was.
    pub corrupted_bit: Option<u32>,
    /// IP bytes.
    pub size: u32,
    /// When it entered the link: `Packet::arrival` as the chain returned it.
    pub arrival: Instant,
    /// When the chain said that it left or was dropped; of a held packet, when the trial ended.
    pub departure: Instant,
    /// How long after `departure` it was handed to the receiver's interface; zero unless delivered.
    pub lateness: Duration,
}

impl Record {
    /// The link's clock was put forward by `gap` at this instant. `sequence` is that of the next packet to arrive.
    pub fn rest(sequence: u64, at: Instant, gap: Duration) -> Self {
        Self {
            sequence,
            port: PortId(0),
            outcome: Outcome::Rest,
            translated: None,
            originated: false,
            copy: false,
            corrupted_bit: None,
            size: 0,
            arrival: at,
            departure: at + gap,
            lateness: Duration::ZERO,
        }
    }
}

/// The outcome byte: an outcome in its lower half, flags in its upper one.
const OUTCOME: u8 = 0x0f;
const COPY: u8 = 0x80;
const CORRUPTED: u8 = 0x40;
const TRANSLATED: u8 = 0x20;
const ORIGINATED: u8 = 0x10;

/// The fixed part, with room for an end behind it, and its length.
pub(super) fn encode(record: &Record, header_len: u8) -> ([u8; RECORD_BYTES + END_BYTES], usize) {
    let mut bytes = [0; RECORD_BYTES + END_BYTES];
    bytes[0..8].copy_from_slice(&record.sequence.to_le_bytes());
    bytes[8..10].copy_from_slice(&record.port.0.to_le_bytes());
    let copy = if record.copy { COPY } else { 0 };
    let corrupted = if record.corrupted_bit.is_some() { CORRUPTED } else { 0 };
    let translated = if record.translated.is_some() { TRANSLATED } else { 0 };
    let originated = if record.originated { ORIGINATED } else { 0 };
    bytes[10] = record.outcome as u8 | copy | corrupted | translated | originated;
    bytes[11] = header_len;
    bytes[12..16].copy_from_slice(&record.size.to_le_bytes());
    bytes[16..24].copy_from_slice(&record.arrival.as_nanos().to_le_bytes());
    bytes[24..32].copy_from_slice(&record.departure.as_nanos().to_le_bytes());
    let lateness = u64::try_from(record.lateness.as_nanos()).unwrap_or(u64::MAX);
    let last = match record.corrupted_bit {
        Some(bit) => u64::from(bit) << 32 | lateness.min(u32::MAX.into()),
        None => lateness,
    };
    bytes[32..40].copy_from_slice(&last.to_le_bytes());
    let Some(end) = record.translated else { return (bytes, RECORD_BYTES) };
    bytes[40..42].copy_from_slice(&end.port().to_le_bytes());
    let address = match end.ip() {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    };
    bytes[42..58].copy_from_slice(&address.octets());
    (bytes, RECORD_BYTES + END_BYTES)
}

/// True if an end follows the fixed part.
pub(super) const fn has_end(bytes: &[u8; RECORD_BYTES]) -> bool {
    bytes[10] & TRANSLATED != 0
}

/// The end that follows a fixed part.
pub(super) fn decode_end(bytes: &[u8; END_BYTES]) -> SocketAddr {
    let [low, high, address @ ..] = bytes;
    SocketAddr::new(Ipv6Addr::from(*address).to_canonical(), u16::from_le_bytes([*low, *high]))
}

/// A record without its end, and how many packet bytes follow it; an outcome byte that makes no sense is the error.
pub(super) fn decode(bytes: &[u8; RECORD_BYTES]) -> Result<(Record, u8), u8> {
    let u64_at = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    let byte = bytes[10];
    let outcome = *Outcome::ALL.get(usize::from(byte & OUTCOME)).ok_or(byte)?;
    let last = u64_at(32);
    let (corrupted_bit, lateness) =
        if byte & CORRUPTED == 0 { (None, last) } else { (Some((last >> 32) as u32), last & u64::from(u32::MAX)) };
    let record = Record {
        sequence: u64_at(0),
        port: PortId(u16::from_le_bytes([bytes[8], bytes[9]])),
        outcome,
        translated: None,
        originated: byte & ORIGINATED != 0,
        copy: byte & COPY != 0,
        corrupted_bit,
        size: u32::from_le_bytes([bytes[12], bytes[13], bytes[14], bytes[15]]),
        arrival: Instant::from_nanos(u64_at(16)),
        departure: Instant::from_nanos(u64_at(24)),
        lateness: Duration::from_nanos(lateness),
    };
    Ok((record, bytes[11]))
}
