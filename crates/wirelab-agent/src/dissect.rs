//! `wirelab-agent dissect`: packet logs to rows, one for each packet or each transport flow.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use serde::Serialize;
use wirelab_capture::dissect::{radio, rows};

use crate::packet_log;

#[derive(clap::Args)]
pub struct Arguments {
    /// Print a line for each transport flow instead of each packet.
    #[arg(long)]
    flows: bool,
    /// Print the packets that this host of the near side sent and got, as its radio saw them.
    #[arg(long, value_name = "HOST", conflicts_with = "flows")]
    radio: Option<String>,
    /// Packet logs.
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<PathBuf>,
}

/// Print the packets of each log in order of arrival, or its flows in order of their first packet.
pub fn run(arguments: Arguments) -> ExitCode {
    let mut stdout = BufWriter::new(io::stdout().lock());
    let printed = arguments.logs.iter().try_for_each(|path| -> Result<()> {
        let log = packet_log::read(path)?;
        let name = path.display().to_string();
        if arguments.flows {
            write_lines(&mut stdout, rows::flows(&name, &log))
        } else if let Some(host) = &arguments.radio {
            write_lines(&mut stdout, radio::packets(&name, &log, host)?)
        } else {
            write_lines(&mut stdout, rows::packets(&log))
        }
    });
    ended(printed.and_then(|()| Ok(stdout.flush()?)))
}

/// Print each row as a line of JSON, up to the first that cannot be had.
pub fn print_rows<T: Serialize>(mut rows: impl Iterator<Item = Result<T>>) -> ExitCode {
    let mut stdout = BufWriter::new(io::stdout().lock());
    let printed = rows.try_for_each(|row| write_lines(&mut stdout, [row?]));
    ended(printed.and_then(|()| Ok(stdout.flush()?)))
}

fn ended(printed: Result<()>) -> ExitCode {
    match printed {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if has_no_reader(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// True if the reader of our output, such as `head`, has closed it.
pub fn has_no_reader(error: &anyhow::Error) -> bool {
    let json = || error.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
    let kind = error.downcast_ref::<io::Error>().map(io::Error::kind).or_else(json);
    kind == Some(io::ErrorKind::BrokenPipe)
}

/// Write each row as a line of JSON.
pub fn write_lines<T: Serialize>(output: &mut impl Write, rows: impl IntoIterator<Item = T>) -> Result<()> {
    for row in rows {
        serde_json::to_writer(&mut *output, &row)?;
        output.write_all(b"\n")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use wirelab_capture::link::{Instant, PortId};
    use wirelab_capture::log_file::{self, Log};
    use wirelab_capture::packet_log::{LogWriter, Outcome, Record};
    use wirelab_schema::{DissectedPacket, LinkSpec, PacketLogHeader, SCHEMA_VERSION};

    use super::*;

    /// Of a lost TCP segment and a UDP datagram that was delivered.
    fn log() -> Log {
        let segment = [195, 80, 1, 187, 0, 0, 0, 9, 0, 0, 0, 0, 0x50, 0x02, 0, 0, 0, 0, 0, 0];
        let datagram = [0, 5, 0, 7, 0, 20, 0, 0];
        let ports = vec!["client".to_owned(), "server".to_owned()];
        let header = PacketLogHeader { schema_version: SCHEMA_VERSION, link: LinkSpec::default(), seed: 1, ports };
        let mut writer = LogWriter::new(Vec::new(), &serde_json::to_vec(&header).unwrap()).unwrap();
        let payloads = [(6, Outcome::Loss, &segment[..]), (17, Outcome::Delivered, &datagram)];
        for (sequence, (protocol, outcome, payload)) in (0..).zip(payloads) {
            let mut packet = vec![0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
            packet.extend(payload);
            let [arrival, departure] = [0, 10].map(|after| Instant::from_nanos(100 * (sequence + 1) + after));
            let (port, lateness) = (PortId(0), Duration::ZERO);
            let record = Record {
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
            };
            writer.write(&record, &packet).unwrap();
        }
        log_file::parse(&writer.finish().unwrap()[..]).unwrap()
    }

    #[test]
    fn rows_are_lines_of_json() {
        let mut output = Vec::new();
        write_lines(&mut output, rows::packets(&log())).unwrap();
        let lines: Vec<DissectedPacket> = output
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect();
        assert_eq!(lines, rows::packets(&log()).collect::<Vec<_>>());
    }
}
