//! The packet log: one binary record for each packet that reached a trial's link. Encoding only; the caller owns the file.
//!
//! The layout is documented at `wirelab_schema::PacketLogHeader`. The header is JSON that this crate carries as bytes and does not read. Records
//! are in the order in which fates became known, so a reader that wants arrivals sorts by `sequence`.

use std::io::{self, Read, Write};
use std::time::Duration;

use wirelab_link::{DropCause, Instant, PortId};

/// First four bytes of a packet log.
pub const MAGIC: [u8; 4] = *b"WLPL";

/// Bytes of a record before its packet bytes.
pub const RECORD_BYTES: usize = 40;

const LONGEST_HEADER: u32 = 16 << 20;

/// What happened to a packet; encoded as its position in this list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Fate {
    /// Put on the receiver's interface.
    Delivered = 0,
    /// Lost at random.
    Loss = 1,
    /// Dropped by a full queue.
    QueueFull = 2,
    /// Still inside when the trial ended.
    Held = 3,
}

impl From<DropCause> for Fate {
    fn from(cause: DropCause) -> Self {
        match cause {
            DropCause::Loss => Self::Loss,
            DropCause::QueueFull => Self::QueueFull,
        }
    }
}

/// The fixed part of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Order of arrival at the link, from 0.
    pub sequence: u64,
    /// Where the packet entered: 0 the client's side, 1 the server's.
    pub port: PortId,
    /// What happened to it.
    pub fate: Fate,
    /// IP bytes.
    pub size: u32,
    /// When it entered the link: `Packet::arrival` as the chain returned it.
    pub arrival: Instant,
    /// When the chain said that it left or was dropped; of a held packet, when the trial ended.
    pub departure: Instant,
    /// How long after `departure` it was handed to the receiver's interface; zero unless delivered.
    pub lateness: Duration,
}

/// Why a packet log cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// Reading or writing failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is something else.
    #[error("not a packet log: it begins with {0:02x?} instead of \"WLPL\"")]
    NotALog([u8; 4]),
    /// The file ends within its header.
    #[error("packet log ends within its header")]
    TornHeader,
    /// The header's length cannot be right.
    #[error("packet log header of {0} bytes is longer than {LONGEST_HEADER}")]
    LongHeader(u64),
    /// A record has a fate byte that this version does not know.
    #[error("record {record} has fate {fate}, which is none of 0 to 3")]
    UnknownFate {
        /// Position in the file, from 0.
        record: u64,
        /// The byte.
        fate: u8,
    },
}

/// Writes a packet log. Give it a buffered writer: each record is one or two small writes.
#[derive(Debug)]
pub struct LogWriter<W: Write> {
    output: W,
}

impl<W: Write> LogWriter<W> {
    /// Begin a log with `header`, JSON of a `wirelab_schema::PacketLogHeader`.
    pub fn new(mut output: W, header: &[u8]) -> Result<Self, LogError> {
        let length = u32::try_from(header.len()).ok().filter(|length| *length <= LONGEST_HEADER);
        let length = length.ok_or(LogError::LongHeader(header.len() as u64))?;
        output.write_all(&MAGIC)?;
        output.write_all(&length.to_le_bytes())?;
        output.write_all(header)?;
        Ok(Self { output })
    }

    /// Append a record with the first bytes of its packet, from the IP header on; what exceeds 255 bytes is cut off.
    pub fn write(&mut self, record: &Record, packet: &[u8]) -> io::Result<()> {
        let packet = &packet[..packet.len().min(usize::from(u8::MAX))];
        self.output.write_all(&encode(record, packet.len() as u8))?;
        self.output.write_all(packet)
    }

    /// Flush, and give the writer back.
    pub fn finish(mut self) -> io::Result<W> {
        self.output.flush()?;
        Ok(self.output)
    }
}

/// Reads a packet log: an iterator over records and their packet bytes, in file order. A torn last record is ignored.
#[derive(Debug)]
pub struct LogReader<R: Read> {
    input: R,
    header: Vec<u8>,
    records: u64,
    ended: bool,
}

impl<R: Read> LogReader<R> {
    /// Read the header of a log.
    pub fn new(mut input: R) -> Result<Self, LogError> {
        let mut magic = [0; 4];
        read_header_part(&mut input, &mut magic)?;
        if magic != MAGIC {
            return Err(LogError::NotALog(magic));
        }
        let mut length = [0; 4];
        read_header_part(&mut input, &mut length)?;
        let length = u32::from_le_bytes(length);
        if length > LONGEST_HEADER {
            return Err(LogError::LongHeader(length.into()));
        }
        let mut header = vec![0; length as usize];
        read_header_part(&mut input, &mut header)?;
        Ok(Self { input, header, records: 0, ended: false })
    }

    /// The header's JSON.
    pub fn header(&self) -> &[u8] {
        &self.header
    }

    fn read_record(&mut self) -> Result<Option<(Record, Vec<u8>)>, LogError> {
        let mut fixed = [0; RECORD_BYTES];
        if !read_whole(&mut self.input, &mut fixed)? {
            return Ok(None);
        }
        let (record, length) = decode(&fixed).map_err(|fate| LogError::UnknownFate { record: self.records, fate })?;
        let mut packet = vec![0; usize::from(length)];
        if !read_whole(&mut self.input, &mut packet)? {
            return Ok(None);
        }
        self.records += 1;
        Ok(Some((record, packet)))
    }
}

impl<R: Read> Iterator for LogReader<R> {
    type Item = Result<(Record, Vec<u8>), LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let item = self.read_record().transpose();
        self.ended = !matches!(item, Some(Ok(_)));
        item
    }
}

fn encode(record: &Record, header_len: u8) -> [u8; RECORD_BYTES] {
    let mut bytes = [0; RECORD_BYTES];
    bytes[0..8].copy_from_slice(&record.sequence.to_le_bytes());
    bytes[8..10].copy_from_slice(&record.port.0.to_le_bytes());
    bytes[10] = record.fate as u8;
    bytes[11] = header_len;
    bytes[12..16].copy_from_slice(&record.size.to_le_bytes());
    bytes[16..24].copy_from_slice(&record.arrival.as_nanos().to_le_bytes());
    bytes[24..32].copy_from_slice(&record.departure.as_nanos().to_le_bytes());
    let lateness = u64::try_from(record.lateness.as_nanos()).unwrap_or(u64::MAX);
    bytes[32..40].copy_from_slice(&lateness.to_le_bytes());
    bytes
}

fn decode(bytes: &[u8; RECORD_BYTES]) -> Result<(Record, u8), u8> {
    let u64_at = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    let fate = match bytes[10] {
        0 => Fate::Delivered,
        1 => Fate::Loss,
        2 => Fate::QueueFull,
        3 => Fate::Held,
        unknown => return Err(unknown),
    };
    let record = Record {
        sequence: u64_at(0),
        port: PortId(u16::from_le_bytes([bytes[8], bytes[9]])),
        fate,
        size: u32::from_le_bytes([bytes[12], bytes[13], bytes[14], bytes[15]]),
        arrival: Instant::from_nanos(u64_at(16)),
        departure: Instant::from_nanos(u64_at(24)),
        lateness: Duration::from_nanos(u64_at(32)),
    };
    Ok((record, bytes[11]))
}

fn read_header_part(input: &mut impl Read, buffer: &mut [u8]) -> Result<(), LogError> {
    if read_whole(input, buffer)? { Ok(()) } else { Err(LogError::TornHeader) }
}

/// Fill `buffer`; false if the input ends before.
fn read_whole(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match input.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(sequence: u64, fate: Fate) -> Record {
        Record {
            sequence,
            port: PortId(1),
            fate,
            size: 1500,
            arrival: Instant::from_nanos(5),
            departure: Instant::from_nanos(u64::MAX),
            lateness: Duration::from_nanos(7),
        }
    }

    fn log(records: &[(Record, Vec<u8>)]) -> Vec<u8> {
        let mut writer = LogWriter::new(Vec::new(), b"{}").unwrap();
        for (record, packet) in records {
            writer.write(record, packet).unwrap();
        }
        writer.finish().unwrap()
    }

    #[test]
    fn what_is_written_is_read_back() {
        let fates = [Fate::Delivered, Fate::Loss, Fate::QueueFull, Fate::Held];
        let records: Vec<_> =
            (0..).zip(fates).map(|(sequence, fate)| (record(sequence, fate), vec![0x45; sequence as usize])).collect();
        let bytes = log(&records);
        let reader = LogReader::new(&bytes[..]).unwrap();
        assert_eq!(reader.header(), b"{}");
        assert_eq!(reader.map(Result::unwrap).collect::<Vec<_>>(), records);
    }

    #[test]
    fn the_layout_is_the_documented_one() {
        let bytes = log(&[(record(3, Fate::QueueFull), vec![0xaa, 0xbb])]);
        let mut expected = b"WLPL\x02\0\0\0{}".to_vec();
        expected.extend([3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 2, 0xdc, 0x05, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0]);
        expected.extend([0xff; 8]);
        expected.extend([7, 0, 0, 0, 0, 0, 0, 0, 0xaa, 0xbb]);
        assert_eq!(bytes, expected);
    }

    #[test]
    fn a_torn_last_record_is_ignored_wherever_it_is_torn() {
        let records = vec![(record(0, Fate::Delivered), vec![1, 2, 3]), (record(1, Fate::Loss), vec![4, 5, 6])];
        let bytes = log(&records);
        for missing in 1..RECORD_BYTES + 3 {
            let reader = LogReader::new(&bytes[..bytes.len() - missing]).unwrap();
            assert_eq!(reader.map(Result::unwrap).collect::<Vec<_>>(), records[..1]);
        }
    }

    #[test]
    fn at_most_255_bytes_of_a_packet_are_kept() {
        let bytes = log(&[(record(0, Fate::Delivered), vec![9; 300])]);
        let (_, packet) = LogReader::new(&bytes[..]).unwrap().next().unwrap().unwrap();
        assert_eq!(packet, vec![9; 255]);
    }

    #[test]
    fn another_file_is_refused() {
        assert!(matches!(LogReader::new(&b"\x0a\x0d\x0d\x0a...."[..]), Err(LogError::NotALog(_))));
        assert!(matches!(LogReader::new(&b"WL"[..]), Err(LogError::TornHeader)));
        assert!(matches!(LogReader::new(&b"WLPL\xff\xff\xff\xff"[..]), Err(LogError::LongHeader(_))));
    }

    #[test]
    fn an_unknown_fate_is_an_error_that_ends_the_log() {
        let mut bytes = log(&[(record(0, Fate::Delivered), vec![]), (record(1, Fate::Delivered), vec![])]);
        bytes[10 + 10] = 9;
        let mut reader = LogReader::new(&bytes[..]).unwrap();
        assert!(matches!(reader.next(), Some(Err(LogError::UnknownFate { record: 0, fate: 9 }))));
        assert!(reader.next().is_none());
    }
}
