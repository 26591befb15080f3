//! `wirelab-agent capture`: the packets of another program's capture to rows.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use wirelab_net::capture::{self, Captured};
use wirelab_net::dissect::{Dissection, Dissector, addresses};
use wirelab_net::link::Direction;
use wirelab_net::packet_log::Record;
use wirelab_schema::CapturedPacket;

use crate::dissect::{has_no_reader, write_lines};

#[derive(clap::Args)]
pub struct Arguments {
    /// A capture in the format of pcap or pcapng.
    #[arg(value_name = "CAPTURE")]
    file: PathBuf,
}

/// Print the capture's IP packets in the file's order.
pub fn run(arguments: Arguments) -> ExitCode {
    let mut stdout = BufWriter::new(io::stdout().lock());
    let printed = read(&arguments.file).and_then(|captured| {
        remarks(&captured).for_each(|words| eprintln!("{words}"));
        write_lines(&mut stdout, rows(&captured.packets))
    });
    match printed.and_then(|()| Ok(stdout.flush()?)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if has_no_reader(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn read(path: &Path) -> Result<Captured> {
    let file = File::open(path).context("cannot be opened")?;
    if file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() == 0) {
        bail!("is empty");
    }
    Ok(capture::read(file)?)
}

/// What people should know of a capture beside its packets.
fn remarks(captured: &Captured) -> impl Iterator<Item = String> {
    let Captured { in_part, short, other_frames, torn, .. } = *captured;
    let cut = format!("captured in part: {in_part}, their sizes are those of their headers");
    let whose = if short == 1 {
        "packet was captured in fewer bytes than its"
    } else {
        "packets were captured in fewer bytes than their"
    };
    let short_words = format!("{short} {whose} headers take, left out; capture with -s 100 or more");
    let other = format!("frames that are no IP packets: {other_frames}, left out");
    let torn_words = "the last packet is torn, and left out".to_owned();
    [(in_part > 0, cut), (short > 0, short_words), (other_frames > 0, other), (torn, torn_words)]
        .into_iter()
        .filter_map(|(is_so, words)| is_so.then_some(words))
}

/// What is told of packets of a capture.
pub fn rows(packets: &[(Record, Vec<u8>)]) -> impl Iterator<Item = CapturedPacket> {
    let mut dissector = Dissector::default();
    packets.iter().map(move |(record, packet)| {
        let Dissection { flow, transport, payload_bytes, tcp, .. } = dissector.dissect(record, packet);
        let addresses = addresses(packet);
        CapturedPacket {
            at_ns: record.arrival.as_nanos(),
            source: addresses.map(|(source, _)| source.to_string()),
            destination: addresses.map(|(_, destination)| destination.to_string()),
            flow: u32::try_from(flow).unwrap_or(u32::MAX),
            uplink: record.port.direction() == Direction::Uplink,
            size_bytes: record.size,
            transport: transport.to_string(),
            payload_bytes,
            tcp_sequence: tcp.as_ref().map(|segment| segment.sequence),
            tcp_acknowledgement: tcp.as_ref().and_then(|segment| segment.acknowledgement),
            retransmission: tcp.as_ref().is_some_and(|segment| segment.retransmission),
            tcp_flags: tcp.map(|segment| segment.flags),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pcap of Ethernet frames, each with its microsecond.
    fn pcap(frames: &[(u32, Vec<u8>)]) -> Vec<u8> {
        let mut file = [0xa1b2_c3d4_u32.to_le_bytes(), [2, 0, 4, 0], [0; 4], [0; 4]].concat();
        file.extend([65535_u32.to_le_bytes(), 1_u32.to_le_bytes()].concat());
        for (at, frame) in frames {
            let length = (frame.len() as u32).to_le_bytes();
            file.extend([1_u32.to_le_bytes(), at.to_le_bytes(), length, length].concat());
            file.extend(frame);
        }
        file
    }

    /// A TCP segment without payload in an Ethernet frame: from port 50000 of 10.0.0.1 to 443 of 10.0.0.2, or back.
    fn segment(uplink: bool, flags: u8, sequence: u8, acknowledgement: u8) -> Vec<u8> {
        let ([source, destination], [from, to]) =
            if uplink { ([1, 2], [[195, 80], [1, 187]]) } else { ([2, 1], [[1, 187], [195, 80]]) };
        let mut frame = [[0; 12].as_slice(), &[8, 0], &[0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 6, 0, 0]].concat();
        frame.extend([10, 0, 0, source, 10, 0, 0, destination]);
        frame.extend([from, to].concat());
        frame.extend([0, 0, 0, sequence, 0, 0, 0, acknowledgement, 0x50, flags, 0, 0, 0, 0, 0, 0]);
        frame
    }

    #[test]
    fn a_handshake_is_told_in_the_borders_words() {
        let frames =
            [(5, segment(true, 0x02, 9, 0)), (7, segment(false, 0x12, 3, 10)), (8, segment(true, 0x10, 10, 4))];
        let packets = capture::read(io::Cursor::new(pcap(&frames))).unwrap().packets;
        let rows: Vec<_> = rows(&packets).collect();
        let expected = CapturedPacket {
            at_ns: 1_000_007_000,
            source: Some("10.0.0.2".to_owned()),
            destination: Some("10.0.0.1".to_owned()),
            flow: 0,
            uplink: false,
            size_bytes: 40,
            transport: "tcp".to_owned(),
            payload_bytes: 0,
            tcp_flags: Some("SA".to_owned()),
            tcp_sequence: Some(0),
            tcp_acknowledgement: Some(1),
            retransmission: false,
        };
        assert_eq!(rows[1], expected);
        assert_eq!((rows[0].uplink, rows[2].uplink), (true, true));
        assert_eq!((rows[2].tcp_sequence, rows[2].tcp_acknowledgement), (Some(1), Some(1)));
    }

    #[test]
    fn what_people_should_know_of_a_capture_is_told_and_nothing_of_a_whole_one() {
        assert_eq!(remarks(&Captured::default()).count(), 0);
        let captured = Captured { in_part: 2, short: 12, other_frames: 3, torn: true, ..Captured::default() };
        let words: Vec<_> = remarks(&captured).collect();
        assert_eq!(words.len(), 4);
        assert_eq!(words[0], "captured in part: 2, their sizes are those of their headers");
        let short =
            "12 packets were captured in fewer bytes than their headers take, left out; capture with -s 100 or more";
        assert_eq!(words[1], short);
    }

    #[test]
    fn whatever_is_left_out_is_said_to_be() {
        let captured = Captured { short: 1, other_frames: 3, torn: true, ..Captured::default() };
        assert!(remarks(&captured).all(|words| words.contains("left out")));
        assert!(
            remarks(&captured).next().unwrap().starts_with("1 packet was captured in fewer bytes than its headers")
        );
    }
}
