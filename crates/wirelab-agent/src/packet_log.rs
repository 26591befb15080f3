//! Packet logs for `dissect`, `replay` and `calibrate`: read from their files, with a warning for people. It parses nothing.

use std::path::Path;

use anyhow::Result;
use wirelab_capture::log_file::{self, Log};

/// Read a whole log. Warns people if its end is torn.
pub fn read(path: &Path) -> Result<Log> {
    let log = log_file::read(path)?;
    if log.torn_bytes > 0 {
        let (path, bytes) = (path.display(), log.torn_bytes);
        eprintln!("warning: {path} ends within a record, of which {bytes} bytes are left out: its link was stopped");
    }
    Ok(log)
}

#[cfg(test)]
pub mod tests {
    use std::time::Duration;

    use wirelab_capture::link::{Instant, PortId};
    use wirelab_capture::packet_log::{Fate, LogWriter, Record};
    use wirelab_schema::{LinkSpec, PacketLogHeader, SCHEMA_VERSION};

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
    pub fn record(sequence: u64, port: u16, fate: Fate, arrival: u64, departure: u64) -> Record {
        let [arrival, departure] = [arrival, departure].map(Instant::from_nanos);
        let (port, lateness) = (PortId(port), Duration::ZERO);
        Record { sequence, port, fate, copy: false, corrupted_bit: None, size: 40, arrival, departure, lateness }
    }

    /// A log of a lost TCP segment and a UDP datagram that was delivered.
    pub fn log() -> Log {
        let ports = [&[195, 80, 1, 187][..], &[0, 5, 0, 7]];
        let mut packets =
            [6, 17].map(|protocol| vec![0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        packets[0].extend([ports[0], &[0, 0, 0, 9, 0, 0, 0, 0, 0x50, 0x02, 0, 0, 0, 0, 0, 0]].concat());
        packets[1].extend([ports[1], &[0, 20, 0, 0]].concat());
        let [tcp, udp] = packets;
        let records = [(record(0, 0, Fate::Loss, 100, 110), tcp), (record(1, 0, Fate::Delivered, 200, 210), udp)];
        log_file::parse(&written(&LinkSpec::default(), 1, &records)[..]).unwrap()
    }
}
