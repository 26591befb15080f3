//! The packet log: one binary record for each packet that reached a trial's link, and for each rest of the link. Encoding only; the caller owns the file.
//!
//! The layout is documented at `wirelab_schema::PacketLogHeader`. The header is JSON that this crate carries as bytes and does not read. Records
//! are in the order in which outcomes became known, so a reader that wants arrivals sorts by `sequence`.

mod record;

use std::io::{self, Read, Write};

use record::{END_BYTES, decode, decode_end, encode, has_end};
pub use record::{Outcome, RECORD_BYTES, Record};

/// First four bytes of a packet log.
pub const MAGIC: [u8; 4] = *b"WLPL";

const LONGEST_HEADER: u32 = 16 << 20;

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
    /// A record has an outcome or a flag that this version does not know.
    #[error("record {record} has the unknown outcome byte {byte:#04x}")]
    UnknownOutcome {
        /// Position in the file, from 0.
        record: u64,
        /// The byte.
        byte: u8,
    },
}

/// Writes a packet log, each record in one write: a buffer of whole writes always has whole records.
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
        output.flush()?;
        Ok(Self { output })
    }

    /// Append a record with the first bytes of its packet, from the IP header on; what exceeds 255 bytes is cut off.
    pub fn write(&mut self, record: &Record, packet: &[u8]) -> io::Result<()> {
        let packet = &packet[..packet.len().min(usize::from(u8::MAX))];
        let mut whole = [0; RECORD_BYTES + END_BYTES + u8::MAX as usize];
        let (fixed, length) = encode(record, packet.len() as u8);
        whole[..length].copy_from_slice(&fixed[..length]);
        whole[length..][..packet.len()].copy_from_slice(packet);
        self.output.write_all(&whole[..length + packet.len()])
    }

    /// Hand on what was written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }

    /// Flush, and give the writer back.
    pub fn finish(mut self) -> io::Result<W> {
        self.output.flush()?;
        Ok(self.output)
    }
}

/// Reads a packet log: an iterator over records and their packet bytes, in file order. A torn last record is left out.
#[derive(Debug)]
pub struct LogReader<R: Read> {
    input: R,
    header: Vec<u8>,
    records: u64,
    torn_bytes: usize,
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
        Ok(Self { input, header, records: 0, torn_bytes: 0, ended: false })
    }

    /// The header's JSON.
    pub fn header(&self) -> &[u8] {
        &self.header
    }

    /// Bytes of a torn last record, once all others were read.
    pub fn torn_bytes(&self) -> usize {
        self.torn_bytes
    }

    fn read_record(&mut self) -> Result<Option<(Record, Vec<u8>)>, LogError> {
        let mut fixed = [0; RECORD_BYTES];
        let read = read_up_to(&mut self.input, &mut fixed)?;
        if read < fixed.len() {
            self.torn_bytes = read;
            return Ok(None);
        }
        let (mut record, length) =
            decode(&fixed).map_err(|byte| LogError::UnknownOutcome { record: self.records, byte })?;
        let end_bytes = if has_end(&fixed) { END_BYTES } else { 0 };
        let mut packet = vec![0; end_bytes + usize::from(length)];
        let read = read_up_to(&mut self.input, &mut packet)?;
        if read < packet.len() {
            self.torn_bytes = RECORD_BYTES + read;
            return Ok(None);
        }
        if let (true, Some((end, headers))) = (has_end(&fixed), packet.split_first_chunk()) {
            record.translated = Some(decode_end(end));
            packet = headers.to_vec();
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

fn read_header_part(input: &mut impl Read, buffer: &mut [u8]) -> Result<(), LogError> {
    if read_up_to(input, buffer)? == buffer.len() { Ok(()) } else { Err(LogError::TornHeader) }
}

/// Fill `buffer` as far as the input goes.
fn read_up_to(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match input.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use wirelab_link::{Instant, PortId};

    use super::*;

    fn record(sequence: u64, outcome: Outcome) -> Record {
        Record {
            sequence,
            port: PortId(1),
            outcome,
            translated: None,
            originated: false,
            copy: false,
            corrupted_bit: None,
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
        let marks = [(false, None), (true, None), (false, Some(0)), (true, Some(u32::MAX))];
        let kinds = Outcome::ALL
            .into_iter()
            .flat_map(|outcome| marks.map(|(copy, corrupted_bit)| (outcome, copy, corrupted_bit)));
        let records: Vec<_> = (0..)
            .zip(kinds)
            .map(|(sequence, (outcome, copy, corrupted_bit))| {
                (Record { copy, corrupted_bit, ..record(sequence, outcome) }, vec![0x45; sequence as usize])
            })
            .collect();
        assert_eq!(records.len(), 36);
        let bytes = log(&records);
        let reader = LogReader::new(&bytes[..]).unwrap();
        assert_eq!(reader.header(), b"{}");
        assert_eq!(reader.map(Result::unwrap).collect::<Vec<_>>(), records);
    }

    #[test]
    fn the_layout_is_the_documented_one() {
        let bytes = log(&[(record(3, Outcome::QueueFull), vec![0xaa, 0xbb])]);
        let mut expected = b"WLPL\x02\0\0\0{}".to_vec();
        expected.extend([3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 2, 0xdc, 0x05, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0]);
        expected.extend([0xff; 8]);
        expected.extend([7, 0, 0, 0, 0, 0, 0, 0, 0xaa, 0xbb]);
        assert_eq!(bytes, expected);
    }

    #[test]
    fn copies_and_corrupted_packets_are_flagged_next_to_the_outcome() {
        let marked = Record { copy: true, corrupted_bit: Some(0x0102), ..record(3, Outcome::Nat) };
        let bytes = log(&[(marked, vec![])]);
        assert_eq!(bytes[10 + 10], 0x80 | 0x40 | 7);
        assert_eq!(bytes[10 + 32..], [7, 0, 0, 0, 2, 1, 0, 0]);
    }

    #[test]
    fn a_translated_end_follows_the_record_and_a_packet_of_the_links_own_is_flagged() {
        let ends = ["10.77.0.1:20345", "[fd77::1]:65535"].map(|end| Some(end.parse().unwrap()));
        let records: Vec<_> = [(ends[0], false), (ends[1], true), (None, true)]
            .map(|(translated, originated)| {
                (Record { translated, originated, ..record(3, Outcome::Delivered) }, vec![0x45; 2])
            })
            .into();
        let bytes = log(&records);
        assert_eq!(bytes[10 + 10], 0x20);
        assert_eq!(bytes[10 + 40..][..18], [0x79, 0x4f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 77, 0, 1]);
        assert_eq!(bytes[10 + 60 + 10], 0x30);
        let reader = LogReader::new(&bytes[..]).unwrap();
        assert_eq!(reader.map(Result::unwrap).collect::<Vec<_>>(), records);
        for missing in 1..102 {
            let reader = LogReader::new(&bytes[..bytes.len() - missing]).unwrap();
            assert!(
                reader.map(Result::unwrap).eq(records.iter().take(2 - usize::from(missing > 42)).cloned()),
                "{missing}"
            );
        }
    }

    #[test]
    fn the_timing_error_of_a_corrupted_packet_is_recorded_up_to_four_seconds() {
        let late = Duration::from_secs(3600);
        let read = |corrupted_bit| {
            let bytes = log(&[(Record { lateness: late, corrupted_bit, ..record(0, Outcome::Delivered) }, vec![])]);
            LogReader::new(&bytes[..]).unwrap().next().unwrap().unwrap().0
        };
        assert_eq!((read(None).lateness, read(None).corrupted_bit), (late, None));
        let longest = Duration::from_nanos(u32::MAX.into());
        assert_eq!((read(Some(9)).lateness, read(Some(9)).corrupted_bit), (longest, Some(9)));
    }

    #[test]
    fn an_incomplete_last_record_is_left_out_and_reported_wherever_it_ends() {
        let records = vec![(record(0, Outcome::Delivered), vec![1, 2, 3]), (record(1, Outcome::Loss), vec![4, 5, 6])];
        let bytes = log(&records);
        for missing in 1..RECORD_BYTES + 3 {
            let mut reader = LogReader::new(&bytes[..bytes.len() - missing]).unwrap();
            assert_eq!(reader.by_ref().map(Result::unwrap).collect::<Vec<_>>(), records[..1]);
            assert_eq!(reader.torn_bytes(), RECORD_BYTES + 3 - missing);
        }
    }

    #[test]
    fn a_log_that_ends_with_a_record_is_not_torn() {
        let bytes = log(&[(record(0, Outcome::Delivered), vec![1, 2, 3])]);
        let mut reader = LogReader::new(&bytes[..]).unwrap();
        assert_eq!((reader.by_ref().count(), reader.torn_bytes()), (1, 0));
    }

    #[test]
    fn at_most_255_bytes_of_a_packet_are_kept() {
        let bytes = log(&[(record(0, Outcome::Delivered), vec![9; 300])]);
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
    fn an_unknown_outcome_or_flag_is_an_error_that_ends_the_log() {
        for unknown in [9, 10, 0x19, 0x29, 0xef] {
            let mut bytes = log(&[(record(0, Outcome::Delivered), vec![]), (record(1, Outcome::Delivered), vec![])]);
            bytes[10 + 10] = unknown;
            let mut reader = LogReader::new(&bytes[..]).unwrap();
            let Some(Err(LogError::UnknownOutcome { record: 0, byte })) = reader.next() else { panic!("{unknown}") };
            assert_eq!(byte, unknown);
            assert!(reader.next().is_none());
        }
    }
}
