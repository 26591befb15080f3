//! Facts of links, derived from their description without running them. The control plane asks for them first.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use wirelab_net::link::spec::SpecError;
use wirelab_schema::{LinkAnswer, LinkFacts, LinkRefusal, LinkSpec};

use crate::link_chain;

/// Something was refused.
const REFUSED: u8 = 2;

#[derive(clap::Args)]
pub struct Arguments {
    /// File of link descriptions, one a line; without it standard input. Empty lines are skipped.
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

/// Answers each line as soon as it is read. The exit code is 2 if a link was refused.
pub fn run(arguments: Arguments) -> ExitCode {
    match answer_all(arguments.file.as_deref(), io::stdout().lock()) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(REFUSED),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// How many links were refused.
fn answer_all(file: Option<&Path>, mut out: impl Write) -> io::Result<usize> {
    let lines: Box<dyn BufRead> = match file {
        Some(path) => Box::new(BufReader::new(File::open(path).map_err(|error| named(path, &error))?)),
        None => Box::new(io::stdin().lock()),
    };
    let mut refused = 0;
    for (number, line) in (1..).zip(lines.lines()) {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let answer = answer(&line);
        if let LinkAnswer::Refused(refusal) = &answer {
            refused += 1;
            let place = if refusal.at.is_empty() { String::new() } else { format!("{}: ", refusal.at) };
            eprintln!("error: line {number}: {place}{}", refusal.what);
            refusal.hint.iter().for_each(|hint| eprintln!("hint: {hint}"));
        }
        writeln!(out, "{}", serde_json::to_string(&answer).expect("plain data"))?;
        out.flush()?;
    }
    Ok(refused)
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

fn answer(json: &str) -> LinkAnswer {
    let link: LinkSpec = match serde_json::from_str(json) {
        Ok(link) => link,
        Err(error) => return LinkAnswer::Refused(unreadable(error.to_string())),
    };
    if let Err(error) = link.build(0) {
        return LinkAnswer::Refused(impossible(&link, error));
    }
    if link.is_netem()
        && let Err(refusal) = link_chain::qdiscs(&link, 0)
    {
        let error = SpecError { at: refusal.at, what: refusal.what };
        let hint = Some(refusal.hint).filter(|hint| !hint.is_empty());
        return LinkAnswer::Refused(LinkRefusal { key: refusal.key, hint, ..impossible(&link, error) });
    }
    LinkAnswer::Facts(Box::new(LinkFacts::of(&link)))
}

fn unreadable(what: String) -> LinkRefusal {
    LinkRefusal { at: String::new(), direction: None, stage: None, key: String::new(), what, hint: None }
}

/// Where in an experiment file it is: the kind of the stage, and of its keys those that are numbers with units without their units.
fn impossible(link: &LinkSpec, error: SpecError) -> LinkRefusal {
    let SpecError { at, what } = error;
    let (first, rest) = at.split_once('.').unwrap_or((&at, ""));
    let (way, index) = first.split_once('[').unwrap_or((first, ""));
    let stages = match way {
        "uplink" => Some(&link.uplink),
        "downlink" => Some(&link.downlink),
        _ => None,
    };
    let stage: Option<usize> = index.trim_end_matches(']').parse().ok();
    let kind = stages.zip(stage).and_then(|(stages, stage)| stages.get(stage)).map_or(way, |stage| stage.kind());
    let keys = rest.split('.').filter(|key| !key.is_empty()).map(written);
    let key = std::iter::once(kind.to_owned()).chain(keys).collect::<Vec<_>>().join(".");
    LinkRefusal { direction: stages.map(|_| way.to_owned()), stage, key, what, hint: None, at: at.clone() }
}

/// A key as an experiment file has it: without the unit, which stands in the value there.
fn written(key: &str) -> String {
    let units = ["_ns", "_bps", "_bytes", "_ms"];
    let without_unit = units.iter().find_map(|unit| key.strip_suffix(unit)).unwrap_or(key);
    without_unit.replace('_', "-")
}

#[cfg(test)]
mod tests;
