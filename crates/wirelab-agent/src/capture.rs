//! `wirelab-agent capture`: the packets of another program's capture to rows.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use wirelab_capture::capture::{self, Captured, rows};

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
        write_lines(&mut stdout, rows::rows(&captured.packets))
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

/// What users should know of a capture in addition to its packets.
fn remarks(captured: &Captured) -> impl Iterator<Item = String> {
    let Captured { in_part, short, other_frames, torn, .. } = *captured;
    let cut = format!("captured in part: {in_part}; their sizes are taken from their headers");
    let packets = if short == 1 {
        "packet left out: fewer bytes were captured than its headers"
    } else {
        "packets left out: fewer bytes were captured than their headers"
    };
    let short_words = format!("{short} {packets} take; capture with -s 100 or more");
    let other = format!("left out frames that are not IP packets: {other_frames}");
    let torn_words = "left out the last packet: it is incomplete".to_owned();
    [(in_part > 0, cut), (short > 0, short_words), (other_frames > 0, other), (torn, torn_words)]
        .into_iter()
        .filter_map(|(is_so, words)| is_so.then_some(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_incomplete_capture_has_remarks_and_a_complete_one_has_none() {
        assert_eq!(remarks(&Captured::default()).count(), 0);
        let captured = Captured { in_part: 2, short: 12, other_frames: 3, torn: true, ..Captured::default() };
        let words: Vec<_> = remarks(&captured).collect();
        assert_eq!(words.len(), 4);
        assert_eq!(words[0], "captured in part: 2; their sizes are taken from their headers");
        let short =
            "12 packets left out: fewer bytes were captured than their headers take; capture with -s 100 or more";
        assert_eq!(words[1], short);
    }

    #[test]
    fn a_remark_names_each_kind_of_packet_left_out() {
        let captured = Captured { short: 1, other_frames: 3, torn: true, ..Captured::default() };
        assert!(remarks(&captured).all(|words| words.contains("left out")));
        assert!(
            remarks(&captured)
                .next()
                .unwrap()
                .starts_with("1 packet left out: fewer bytes were captured than its headers take")
        );
    }
}
