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

#[cfg(test)]
mod tests {
    use super::*;

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
