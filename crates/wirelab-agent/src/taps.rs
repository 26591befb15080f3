//! Captures of what the hosts on a link see: opens them, says of a dropped packet which stage dropped it, and completes them in the end.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use wirelab_capture::pcapng::{self, Writer};
use wirelab_net::link::DropCause;
use wirelab_net::link::facts::{Facts, Kept, SharedFacts};
use wirelab_net::slot::{DropWords, Taps};
use wirelab_net::topology::LinkShape;
use wirelab_net::{LogSink, LogThread};
use wirelab_schema::LinkSpec;

/// Which end of a link a capture is of.
pub const ENDS: [&str; 2] = ["client", "server"];

/// A file to which programs append their TLS secrets.
#[derive(Clone, Debug)]
pub struct KeyLog {
    path: PathBuf,
    /// Bytes that others had written before.
    before: u64,
}

impl KeyLog {
    /// All of it.
    pub fn whole(path: PathBuf) -> Self {
        Self { path, before: 0 }
    }

    /// Only additions to it: secrets of other captures do not belong in this one.
    pub fn from_now_on(path: PathBuf) -> Self {
        let before = fs::metadata(&path).map_or(0, |metadata| metadata.len());
        Self { path, before }
    }

    /// A device, such as the terminal, holds nothing.
    fn read(&self) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        if fs::metadata(&self.path)?.is_file() {
            let mut file = File::open(&self.path)?;
            file.seek(SeekFrom::Start(self.before))?;
            file.read_to_end(&mut text)?;
        }
        Ok(text)
    }
}

/// Create the captures that are asked for, each of a host on the link; nothing if none is.
pub fn open(
    link: &LinkSpec,
    shape: &LinkShape,
    captures: &[(&str, &Path)],
    logs: &mut LogThread,
) -> Result<Option<Taps<LogSink>>> {
    if captures.is_empty() {
        return Ok(None);
    }
    let sides = shape.sides();
    let mut writers: Vec<_> = (0..sides.ports()).map(|_| None).collect();
    for (host, path) in captures {
        let Some(port) = shape.port_of(host) else {
            bail!("capture: the link {} has no host `{host}`", shape.name);
        };
        let file = pcapng::create(path).with_context(|| format!("creating the capture {}", path.display()))?;
        let application = concat!("wirelab ", env!("CARGO_PKG_VERSION"));
        writers[sides.index(port)] = Some(Writer::new(logs.open(file), application, &[host])?);
    }
    Ok(Some(Taps::new(sides, writers, drop_words(link), logs.backlog())))
}

/// Put captures that are closed in order, with the secrets of `key_logs` before their packets. A key log that is not there has none.
pub fn complete<'a>(files: impl IntoIterator<Item = &'a Path>, key_logs: &[KeyLog]) -> Result<()> {
    let secrets = secrets(key_logs)?;
    for path in files {
        pcapng::complete(path, &secrets).with_context(|| format!("completing the capture {}", path.display()))?;
    }
    Ok(())
}

/// Each line once: both ends of a connection know the same secrets.
fn secrets(key_logs: &[KeyLog]) -> Result<Vec<u8>> {
    let (mut seen, mut secrets) = (HashSet::new(), Vec::new());
    for key_log in key_logs {
        let text = match key_log.read() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            text => text.with_context(|| format!("reading the TLS secrets in {}", key_log.path.display()))?,
        };
        // A last line that was torn, by an endpoint that was killed, is not a secret.
        for line in text.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")) {
            if seen.insert(line.to_vec()) {
                secrets.extend_from_slice(line);
            }
        }
    }
    Ok(secrets)
}

fn drop_words(link: &LinkSpec) -> DropWords {
    let shared: Vec<(&str, SharedFacts)> =
        link.shared().iter().map(|(_, stage)| (stage.kind(), stage.facts())).collect();
    [(0, &link.uplink), (1, &link.downlink)].map(|(way, stages): (usize, _)| {
        let known: Vec<(&str, Facts)> = stages.iter().map(|stage| (stage.kind(), stage.facts())).collect();
        let by = |may_drop: fn(&Facts) -> bool| -> Vec<&str> {
            known.iter().filter(|(_, facts)| may_drop(facts)).map(|(kind, _)| *kind).collect()
        };
        let shared_by = |kept: Kept| -> Vec<&str> {
            shared.iter().rev().filter(|(_, facts)| facts.keeps[way].contains(&kept)).map(|(kind, _)| *kind).collect()
        };
        DropCause::ALL.map(|cause| match cause {
            DropCause::Loss => format!("lost by {}", one_of(&by(|facts| facts.loss.is_some()))),
            DropCause::QueueFull => {
                let own = by(|facts| facts.keeps.contains(&Kept::QueueFull));
                format!("dropped by {}: no room", one_of(&[own, shared_by(Kept::QueueFull)].concat()))
            }
            DropCause::Aqm => {
                let queues = known.iter().filter_map(|(_, facts)| facts.queue.as_ref());
                let names: Vec<&str> = queues.filter_map(|queue| queue.aqm.as_deref()).collect();
                format!("dropped by {}: it waited too long", one_of(&names))
            }
            DropCause::Outage => "lost by outage".to_owned(),
            DropCause::Retries => format!("dropped by {}: no retries left", one_of(&shared_by(Kept::Retries))),
            DropCause::Nat => format!("dropped by {}: no address mapping", one_of(&shared_by(Kept::Nat))),
        })
    })
}

fn one_of(names: &[&str]) -> String {
    let mut distinct: Vec<&str> = Vec::new();
    for name in names {
        if !distinct.contains(name) {
            distinct.push(name);
        }
    }
    if distinct.is_empty() { "the link".to_owned() } else { distinct.join(" or ") }
}

#[cfg(test)]
mod tests {
    use wirelab_net::link::Direction;

    use super::*;

    fn said(link: &str, direction: Direction, cause: DropCause) -> String {
        let link = serde_json::from_str(link).unwrap();
        drop_words(&link)[direction.index()][cause.index()].clone()
    }

    #[test]
    fn a_dropped_packets_comment_names_the_stages_that_may_have_dropped_it() {
        let link = r#"{
            "uplink": [
                {"kind": "gilbert-elliott", "p": 0.1, "r": 0.5, "bad_loss": 1.0, "good_loss": 0.0},
                {"kind": "rate", "rate_bps": 1000, "queue": {"discipline": "codel", "target_ns": 5, "interval_ns": 100, "bytes": 9000}},
                {"kind": "outage", "start_ns": 0, "duration_ns": 1, "hold_bytes": 100}
            ],
            "downlink": [
                {"kind": "loss", "probability": 0.1},
                {"kind": "loss-pattern", "pattern": "01", "repeat": true},
                {"kind": "loss", "probability": 0.2}
            ],
            "medium": {"kind": "serialiser", "rate_bps": 1000, "queue_bytes": 1}
        }"#;
        assert_eq!(said(link, Direction::Uplink, DropCause::Loss), "lost by gilbert-elliott");
        assert_eq!(
            said(link, Direction::Uplink, DropCause::QueueFull),
            "dropped by rate or outage or serialiser: no room"
        );
        assert_eq!(said(link, Direction::Uplink, DropCause::Aqm), "dropped by codel: it waited too long");
        assert_eq!(said(link, Direction::Uplink, DropCause::Outage), "lost by outage");
        assert_eq!(said(link, Direction::Downlink, DropCause::Loss), "lost by loss or loss-pattern");
        assert_eq!(said(link, Direction::Downlink, DropCause::QueueFull), "dropped by serialiser: no room");
        let shared = r#"{
            "uplink": [], "downlink": [], "nat": {"mapping": "endpoint-independent", "filtering": "address-dependent", "udp_timeout_ns": 1, "tcp_transitory_timeout_ns": 1, "tcp_established_timeout_ns": 1, "inbound_refresh": true, "keep_port": false, "ports": [1024, 65535], "table_size": 9, "unmapped_segment": "drop"},
            "medium": {
                "kind": "ieee802154", "compressed_bytes": 40, "mac_bytes": 23, "frame_error": 0.1, "retries": 3,
                "max_backoffs": 4, "min_be": 3, "max_be": 5, "queue_bytes": 1000
            }
        }"#;
        assert_eq!(said(shared, Direction::Downlink, DropCause::Retries), "dropped by ieee802154: no retries left");
        assert_eq!(said(shared, Direction::Downlink, DropCause::Nat), "dropped by nat: no address mapping");
        assert_eq!(said(r#"{"uplink": [], "downlink": []}"#, Direction::Uplink, DropCause::Loss), "lost by the link");
    }

    #[test]
    fn secrets_of_both_ends_are_written_once_and_incomplete_ones_not() {
        let folder = tempfile::tempdir().unwrap();
        let [client, server, none] = ["client", "server", "none"].map(|name| folder.path().join(name));
        fs::write(&client, "A 1 2\nB 1 2\n").unwrap();
        fs::write(&server, "B 1 2\nC 1 2\nD 1").unwrap();
        let key_logs = [client.clone(), none.clone(), server].map(KeyLog::whole);
        assert_eq!(secrets(&key_logs).unwrap(), b"A 1 2\nB 1 2\nC 1 2\n");

        let key_logs = [client.clone(), none.clone(), "/dev/zero".into()].map(KeyLog::from_now_on);
        fs::write(&client, "A 1 2\nB 1 2\nE 1 2\n").unwrap();
        fs::write(&none, "F 1 2\n").unwrap();
        assert_eq!(secrets(&key_logs).unwrap(), b"E 1 2\nF 1 2\n");
    }
}
