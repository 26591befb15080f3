//! Reads a packet log from its file, for `dissect` and `replay`.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Duration;

use crate::packet_log::{LogReader, MAGIC, Outcome, Record};
use crate::pcapng;
use anyhow::{Context, Result, bail};
use wirelab_link::Instant;
use wirelab_schema::{LinkSpec, PacketLogHeader, PacketOutcome, SCHEMA_VERSION};

/// A packet log: its header, and its records with their logged bytes in order of arrival.
#[derive(Debug)]
pub struct Log {
    /// The trial's link.
    pub header: PacketLogHeader,
    /// In order of `sequence`, each packet before its copies and its reset; no `sequence` twice but for these.
    pub records: Vec<(Record, Vec<u8>)>,
    /// In order.
    pub rests: Vec<Rest>,
    /// Bytes of an incomplete record at the end: the writer was stopped.
    pub torn_bytes: usize,
}

/// The link's clock was put forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rest {
    /// Before the packet of this `sequence` arrived.
    pub before: u64,
    /// When, on the clock that did not jump.
    pub at: Instant,
    /// By how much.
    pub gap: Duration,
}

/// An IPv6 header and the most bytes that it may announce (RFC 8200, section 3).
const LARGEST_PACKET: u32 = 40 + 65_535;

/// Read a whole log.
pub fn read(path: &Path) -> Result<Log> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    parse(file).with_context(|| format!("cannot read {}", path.display()))
}

/// The link that a log is of; `None` if there is no such file.
pub fn link(path: &Path) -> Result<Option<LinkSpec>> {
    if !path.exists() {
        return Ok(None);
    }
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let reader = LogReader::new(BufReader::new(file)).with_context(|| format!("cannot read {}", path.display()))?;
    header(reader.header()).map(|header| Some(header.link)).with_context(|| path.display().to_string())
}

/// Read a whole log from `input`.
pub fn parse(input: impl std::io::Read) -> Result<Log> {
    let mut input = BufReader::new(input);
    let begins = input.fill_buf()?;
    if !begins.starts_with(&MAGIC) {
        bail!("it is {}, and no packet log", what_begins_so(begins));
    }
    let mut reader = LogReader::new(input)?;
    let header = header(reader.header()).context(
        "it was written by another build, or damaged; `dissect` and `replay` read what this build's link writes",
    )?;
    let records = reader.by_ref().collect::<Result<Vec<_>, _>>()?;
    let (rests, mut records): (Vec<_>, Vec<_>) =
        records.into_iter().partition(|(record, _)| record.outcome == Outcome::Rest);
    let mut rests: Vec<Rest> = rests.iter().map(|(record, _)| Rest::from(record)).collect();
    rests.sort_by_key(|rest| (rest.before, rest.at));
    if let Some((record, _)) = records.iter().find(|(record, _)| record.size > LARGEST_PACKET) {
        bail!("packet {} has {} bytes, more than an IP packet may have", record.sequence, record.size);
    }
    records.sort_by_key(|(record, _)| (record.sequence, record.originated, record.copy));
    let same = |pair: &&[(Record, Vec<u8>)]| {
        let [one, other] = [&pair[0].0, &pair[1].0];
        one.sequence == other.sequence && one.originated == other.originated && !other.copy
    };
    if let Some(twice) = records.windows(2).find(same) {
        bail!("it has two records of packet {}", twice[0].0.sequence);
    }
    Ok(Log { header, records, rests, torn_bytes: reader.torn_bytes() })
}

impl From<&Record> for Rest {
    fn from(record: &Record) -> Self {
        let Record { sequence, arrival, departure, .. } = *record;
        Self { before: sequence, at: arrival, gap: departure.saturating_since(arrival) }
    }
}

/// What people call a file that begins with these bytes.
fn what_begins_so(bytes: &[u8]) -> &'static str {
    const CAPTURES: [[u8; 4]; 4] =
        [[0xa1, 0xb2, 0xc3, 0xd4], [0xd4, 0xc3, 0xb2, 0xa1], [0xa1, 0xb2, 0x3c, 0x4d], [0x4d, 0x3c, 0xb2, 0xa1]];
    let is_text = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~' | 0x80..);
    match bytes {
        [] => "empty",
        _ if bytes.starts_with(&pcapng::MAGIC) => "a capture (pcapng)",
        _ if CAPTURES.iter().any(|magic| bytes.starts_with(magic)) => "a capture (pcap)",
        _ if bytes.starts_with(b"PAR1") => "a table (Parquet)",
        _ if bytes.starts_with(b"ARROW1") => "a table (Arrow)",
        _ if bytes.starts_with(&[0x1f, 0x8b]) => "compressed (gzip)",
        _ if bytes.iter().take(512).all(is_text) => "text",
        _ => "something else",
    }
}

/// The version comes first: what else the header has depends on it.
fn header(json: &[u8]) -> Result<PacketLogHeader> {
    #[derive(serde::Deserialize)]
    struct Version {
        schema_version: u32,
    }
    let Version { schema_version } = serde_json::from_slice(json).context("its header")?;
    if schema_version != SCHEMA_VERSION {
        bail!("its schema version is {schema_version}, this build's is {SCHEMA_VERSION}");
    }
    serde_json::from_slice(json).context("its header")
}

/// The schema's value for an outcome.
pub const fn outcome(outcome: Outcome) -> PacketOutcome {
    match outcome {
        Outcome::Delivered => PacketOutcome::Delivered,
        Outcome::Loss => PacketOutcome::Loss,
        Outcome::QueueFull => PacketOutcome::QueueFull,
        Outcome::Held => PacketOutcome::Held,
        Outcome::Aqm => PacketOutcome::Aqm,
        Outcome::Outage => PacketOutcome::Outage,
        Outcome::Retries => PacketOutcome::Retries,
        Outcome::Nat => PacketOutcome::Nat,
        Outcome::Rest => PacketOutcome::Rest,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use crate::packet_log::LogWriter;
    use wirelab_link::PortId;
    use wirelab_schema::LinkSpec;

    use super::*;

    /// The bytes of a log of `link` with these records.
    pub fn written(link: &LinkSpec, seed: u64, records: &[(Record, Vec<u8>)]) -> Vec<u8> {
        let ports = vec!["client".to_owned(), "server".to_owned()];
        let header = PacketLogHeader { schema_version: SCHEMA_VERSION, link: link.clone(), seed, ports };
        let mut writer = LogWriter::new(Vec::new(), &serde_json::to_vec(&header).unwrap()).unwrap();
        records.iter().for_each(|(record, packet)| writer.write(record, packet).unwrap());
        writer.finish().unwrap()
    }

    /// A record of a 40-byte packet.
    pub fn record(sequence: u64, port: u16, outcome: Outcome, arrival: u64, departure: u64) -> Record {
        let [arrival, departure] = [arrival, departure].map(Instant::from_nanos);
        let (port, lateness) = (PortId(port), Duration::ZERO);
        Record {
            sequence,
            port,
            outcome,
            translated: None,
            originated: false,
            copy: false,
            corrupted_bit: None,
            size: 40,
            arrival,
            departure,
            lateness,
        }
    }

    #[test]
    fn records_come_in_order_of_arrival_each_before_its_copies() {
        let of = |n, copy| (Record { copy, ..record(n, 0, Outcome::Delivered, n, n) }, vec![n as u8]);
        let records = [of(2, false), of(1, true), of(0, false), of(1, true), of(1, false)];
        let log = parse(&written(&LinkSpec::default(), 5, &records)[..]).unwrap();
        assert_eq!((log.header.seed, log.header.link), (5, LinkSpec::default()));
        let order: Vec<_> =
            log.records.iter().map(|(record, _)| (record.sequence, record.originated, record.copy)).collect();
        let is = |sequence, copy| (sequence, false, copy);
        assert_eq!(order, [is(0, false), is(1, false), is(1, true), is(1, true), is(2, false)]);
    }

    #[test]
    fn rests_are_apart_from_packets_and_in_order() {
        let at = Instant::from_nanos;
        let rest = |sequence, instant, gap| (Record::rest(sequence, at(instant), Duration::from_nanos(gap)), vec![]);
        let of = |n| (record(n, 0, Outcome::Delivered, 10 * n, 10 * n), vec![7]);
        let records = [of(0), rest(2, 17, 5), rest(2, 15, 9), of(1), of(2), rest(1, 3, 4)];
        let log = parse(&written(&LinkSpec::default(), 5, &records)[..]).unwrap();
        assert_eq!(log.records, [of(0), of(1), of(2)]);
        let rest = |before, instant, gap| Rest { before, at: at(instant), gap: Duration::from_nanos(gap) };
        assert_eq!(log.rests, [rest(1, 3, 4), rest(2, 15, 9), rest(2, 17, 5)]);
    }

    #[test]
    fn the_link_of_a_log_is_read_to_the_last_bit_of_its_numbers() {
        // Many a parser of JSON reads the first of these a bit off.
        for probability in [0.231_651_140_529_758_66, 5e-324, 1.0 - f64::EPSILON] {
            let loss = wirelab_schema::LossSpec { probability, correlation: 0.0 }.into();
            let link = LinkSpec { uplink: vec![loss], ..LinkSpec::default() };
            assert_eq!(parse(&written(&link, 1, &[])[..]).unwrap().header.link, link);
        }
    }

    #[test]
    fn every_outcome_of_the_log_is_one_of_the_border_at_the_same_place() {
        let schema = serde_json::to_value(schemars::schema_for!(PacketOutcome)).unwrap();
        let names = schema["oneOf"].as_array().unwrap().iter().map(|variant| variant["const"].clone());
        let known = Outcome::ALL.map(|known| serde_json::to_value(outcome(known)).unwrap());
        assert_eq!(names.collect::<Vec<_>>(), known);
    }

    #[test]
    fn the_error_for_a_file_of_another_kind_names_its_kind() {
        let error = |bytes: &[u8]| parse(bytes).unwrap_err().to_string();
        let capture = pcapng::Writer::new(Vec::new(), "wirelab", &["client"]).unwrap().finish().unwrap();
        for (bytes, is) in [
            (&b""[..], "empty"),
            (&capture, "a capture (pcapng)"),
            (b"\xd4\xc3\xb2\xa1\x02\0\x04\0", "a capture (pcap)"),
            (b"PAR1\x15\x04", "a table (Parquet)"),
            (b"ARROW1\0\0", "a table (Arrow)"),
            (b"[links]\nlossy = \"1\xc2\xa0%\"\n", "text"),
            (b"\x7fELF\x02\x01", "something else"),
            (b"WL", "text"),
        ] {
            assert_eq!(error(bytes), format!("it is {is}, and no packet log"));
        }
    }

    #[test]
    fn a_log_whose_end_is_torn_has_its_whole_records_and_says_what_is_left_out() {
        let records = [0, 1].map(|n| (record(n, 0, Outcome::Delivered, n, n), vec![7; 20]));
        let bytes = written(&LinkSpec::default(), 5, &records);
        let torn = parse(&bytes[..bytes.len() - 9]).unwrap();
        assert_eq!((torn.records.len(), torn.torn_bytes), (1, 40 + 20 - 9));
        assert_eq!(parse(&bytes[..]).unwrap().torn_bytes, 0);
    }

    #[test]
    fn a_log_that_makes_no_sense_is_refused_with_the_reason() {
        let error = |bytes: &[u8]| format!("{:#}", parse(bytes).unwrap_err());
        let twice = vec![(record(7, 0, Outcome::Delivered, 1, 1), vec![]); 2];
        assert_eq!(error(&written(&LinkSpec::default(), 5, &twice)), "it has two records of packet 7");
        let huge = vec![(Record { size: u32::MAX, ..record(3, 0, Outcome::Delivered, 1, 1) }, vec![])];
        assert_eq!(
            error(&written(&LinkSpec::default(), 5, &huge)),
            "packet 3 has 4294967295 bytes, more than an IP packet may have"
        );
        let of_header = |json: &str| error(&LogWriter::new(Vec::new(), json.as_bytes()).unwrap().finish().unwrap());
        let another = of_header(r#"{"schema_version":99,"strange":1}"#);
        assert!(another.starts_with("it was written by another build, or damaged; "), "{another}");
        assert!(another.ends_with(": its schema version is 99, this build's is 1"), "{another}");
        let strange =
            of_header(r#"{"schema_version":1,"link":{"uplink":[{"kind":"worm"}],"downlink":[]},"seed":1,"ports":[]}"#);
        assert!(
            strange.contains("another build") && strange.contains("its header: unknown variant `worm`"),
            "{strange}"
        );
    }
}
