//! `wirelab-agent settings-seen`: what the connections of captured trials announced of their settings, and what was made of it.

mod quic;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use wirelab_net::capture;
use wirelab_net::dissect::{Dissector, Transport};
use wirelab_net::link::Instant;
use wirelab_net::packet_log::Record;
use wirelab_schema::SettingsSeen;
use wirelab_stacks::HTTP2_PREFACE;
use wirelab_stacks::seen::{Http2Connection, add, add_side};

use crate::dissect::print_rows;
use crate::ledger::keys::Secrets;
use crate::ledger::tls::{self, Content, Records};

#[derive(clap::Args)]
pub struct Arguments {
    /// Folders of trials with captures of both ends.
    #[arg(required = true, value_name = "TRIAL")]
    trials: Vec<PathBuf>,
}

/// Print a line for each trial.
pub fn run(arguments: Arguments) -> ExitCode {
    print_rows(arguments.trials.iter().map(|folder| of_trial(folder)))
}

/// Of a trial's folder. What an end announced is judged in the order in which things passed that end.
fn of_trial(folder: &Path) -> Result<SettingsSeen> {
    let logs = ["client", "server"].map(|end| fs::read_to_string(folder.join(end).join("tls-secrets.txt")));
    let secrets = Secrets::read(&logs.into_iter().flatten().collect::<String>());
    let at = |end: &str| -> Result<SettingsSeen> {
        let path = folder.join(format!("{end}.pcapng"));
        let file = File::open(&path).with_context(|| format!("opening {}", path.display()))?;
        let captured = capture::read_whole(file).with_context(|| path.display().to_string())?;
        Ok(seen(&captured.packets, &secrets))
    };
    let (mut of_client, of_server) = (at("client")?, at("server")?);
    of_client.server.clear();
    add_side(&mut of_client.server, &of_server.server);
    Ok(SettingsSeen { trial: Some(folder.display().to_string()), ..of_client })
}

/// In packets in the order in which one place saw them.
pub fn seen(packets: &[(Record, Vec<u8>)], secrets: &Secrets) -> SettingsSeen {
    let mut dissector = Dissector::default();
    let mut flows: Vec<Flow> = Vec::new();
    for (record, packet) in packets {
        let dissection = dissector.dissect(record, packet);
        if dissection.flow == flows.len() {
            flows.push(Flow::default());
        }
        let payload = dissection.payload_bytes.min(packet.len() as u32) as usize;
        let carried = &packet[(record.size as usize).min(packet.len()) - payload..][..payload];
        let (flow, side) = (&mut flows[dissection.flow], record.port.direction().index());
        match (dissection.transport, &dissection.tcp) {
            (Transport::Tcp, Some(segment)) if payload > 0 => {
                flow.segments[side].push((segment.sequence, record.arrival, carried));
            }
            (Transport::Udp, _) if dissection.ports.is_some() && !dissection.later_fragment => {
                flow.datagrams.push((side, carried));
            }
            _ => {}
        }
    }
    let mut sum = SettingsSeen::default();
    flows.into_iter().for_each(|flow| add(&mut sum, &flow.seen(secrets)));
    sum
}

/// What the packets of a flow carried.
#[derive(Default)]
struct Flow<'a> {
    /// Of TCP, from each side: where they begin, and when they passed.
    segments: [Vec<(u32, Instant, &'a [u8])>; 2],
    /// Of UDP.
    datagrams: Vec<(usize, &'a [u8])>,
}

/// Bytes in their order, and when each part of them was there with all before it.
struct Stream {
    bytes: Vec<u8>,
    ends: Vec<(usize, Instant)>,
}

impl Flow<'_> {
    fn seen(self, secrets: &Secrets) -> SettingsSeen {
        if !self.datagrams.is_empty() {
            return quic::seen(&self.datagrams, secrets);
        }
        let streams = self.segments.map(Stream::new);
        let mut parts = Vec::new();
        let [client, server] = &streams;
        if tls::is_tls(&client.bytes) {
            let suite = tls::suite(&server.bytes);
            for (side, stream) in streams.iter().enumerate() {
                let mut end = 0;
                for (whole, content) in Records::new(&stream.bytes, side, suite, secrets) {
                    end += whole as usize;
                    match content {
                        Content::Opened(bytes) => parts.push((stream.when(end), side, bytes)),
                        Content::Handshake => {}
                        Content::Length(_) | Content::Sealed => {
                            return SettingsSeen { sealed: 1, ..SettingsSeen::default() };
                        }
                    }
                }
            }
        } else {
            for (side, stream) in streams.iter().enumerate() {
                let mut begin = 0;
                for (end, when) in &stream.ends {
                    parts.push((*when, side, stream.bytes[begin..*end].to_vec()));
                    begin = *end;
                }
            }
        }
        // Of one instant the client's come first, as in an exchange.
        parts.sort_by_key(|(when, side, _)| (*when, *side));
        http2(&parts)
    }
}

/// Nothing of another protocol.
fn http2(parts: &[(Instant, usize, Vec<u8>)]) -> SettingsSeen {
    let of_client = parts.iter().filter(|(_, side, _)| *side == 0);
    let first: Vec<u8> = of_client.flat_map(|(_, _, bytes)| bytes).take(HTTP2_PREFACE.len()).copied().collect();
    if first != HTTP2_PREFACE {
        return SettingsSeen::default();
    }
    let mut connection = Http2Connection::new();
    parts.iter().for_each(|(_, side, bytes)| connection.passed(*side, bytes));
    connection.seen()
}

impl Stream {
    /// What was captured nowhere leaves no gap.
    fn new(mut segments: Vec<(u32, Instant, &[u8])>) -> Self {
        segments.sort_by_key(|(sequence, ..)| *sequence);
        let mut stream = Self { bytes: Vec::new(), ends: Vec::new() };
        let mut next = 0;
        for (sequence, when, bytes) in segments {
            let known = (u64::saturating_sub(next, u64::from(sequence)) as usize).min(bytes.len());
            next = next.max(u64::from(sequence) + bytes.len() as u64);
            if known < bytes.len() {
                stream.bytes.extend_from_slice(&bytes[known..]);
                let before = stream.ends.last().map_or(when, |(_, before)| *before);
                stream.ends.push((stream.bytes.len(), when.max(before)));
            }
        }
        stream
    }

    /// When so many bytes of it were there.
    fn when(&self, end: usize) -> Instant {
        let at = self.ends.partition_point(|(bytes, _)| *bytes < end);
        self.ends.get(at).or(self.ends.last()).map_or(Instant::default(), |(_, when)| *when)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_there_once_all_before_them_are() {
        let at = |ns| Instant::from_nanos(ns);
        let segments = vec![(1, at(10), &b"ab"[..]), (5, at(20), b"ef"), (3, at(30), b"cd"), (5, at(40), b"ef")];
        let stream = Stream::new(segments);
        assert_eq!(stream.bytes, b"abcdef");
        assert_eq!([1, 2, 3, 4, 5, 6].map(|end| stream.when(end)), [10, 10, 30, 30, 30, 30].map(at));
    }

    #[test]
    fn what_is_not_http2_tells_nothing() {
        let parts = [(Instant::default(), 0, b"GET / HTTP/1.1\r\n\r\n".to_vec())];
        assert_eq!(http2(&parts), SettingsSeen::default());
    }
}
