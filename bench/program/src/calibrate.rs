//! The timing error of the link on this machine: sends packets through slots with a rate, a loss and a constant delay, several in parallel and logged, and
//! prints the error of their one-way delay. It judges nothing.
//!
//! `lateness` is what the link logs: when it sent a packet, minus the computed departure time. `added` is what an endpoint sees: the kernel's receive
//! stamp at the server, minus when the client sent, minus what the chain said, minus the median over plain veth (from the client to the link's
//! stamp).

use std::collections::HashMap;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;

use anyhow::{Context, ensure};
use serde::Serialize;
use wirelab_capture::log_file;
use wirelab_net::stamped::{PAYLOAD_BYTES, read_payload};
use wirelab_net::topology::IPV4;
use wirelab_schema::{
    DelaySpec, EndpointProcess, HostFacts, LinkSpec, LossSpec, QueueSpec, RateSpec, ReadyCondition, TrialRequest,
};

use crate::folder::Folder;
use crate::host::{Agent, Host, own_program};
use crate::number::number_in;

/// Where the sink listens.
const PORT: u16 = 9000;
/// A packet of the flow takes a third of a microsecond.
const RATE_BPS: u64 = 1_000_000_000;
const QUEUE_BYTES: u64 = 1_000_000;
const LOSS: f64 = 0.001;
const MTU: u32 = 1500;
const SECOND_NS: u64 = 1_000_000_000;
/// IPv4 and UDP headers.
const HEADER_BYTES: usize = 28;
const SHARES: [f64; 3] = [0.5, 0.99, 0.999];

#[derive(clap::Args)]
pub struct Arguments {
    /// One-way delays to try, in milliseconds.
    #[arg(long, value_delimiter = ',', default_value = "1,10,100")]
    delays: Vec<u64>,
    /// Numbers of parallel trials to try.
    #[arg(long, value_delimiter = ',', default_value = "1,4,8,16,32", value_parser = clap::value_parser!(u32).range(1..))]
    jobs: Vec<u32>,
    /// Packets in each trial.
    #[arg(long, default_value_t = 5000)]
    packets: u32,
    /// Mean time between a trial's packets, in milliseconds; each is uniform from half of it to one and a half. On an idle machine a path that is
    /// seldom used is slower, the link's and plain veth's alike.
    #[arg(long, default_value_t = 1.0, value_parser = number_in(0.1..=1000.0))]
    interval_ms: f64,
    /// Print a line of JSON for each row instead of the table.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    agent: Agent,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let slots = arguments.jobs.iter().copied().max().context("--jobs: at least one number is needed")?;
    let (mut host, facts) = Host::open(&arguments.agent.program, slots, MTU)?;
    if !arguments.json {
        print_head(&facts, arguments.interval_ms);
    }
    let folder = Folder::create("calibrate")?;
    for delay_ms in &arguments.delays {
        for count in &arguments.jobs {
            let errors = measure(&mut host, &folder.path, delay_ms * 1_000_000, *count, arguments)?;
            let row = Row::new(*delay_ms, *count, errors, &facts);
            if arguments.json { println!("{}", serde_json::to_string(&row)?) } else { row.print() }
        }
    }
    Ok(())
}

/// Nanoseconds, one value a packet.
#[derive(Default)]
struct Errors {
    veth: Vec<i64>,
    timing: Vec<i64>,
    end_to_end: Vec<i64>,
}

fn measure(host: &mut Host, folder: &Path, delay_ns: u64, count: u32, arguments: &Arguments) -> anyhow::Result<Errors> {
    let requests =
        (0..count).map(|slot| request(slot, folder, delay_ns, arguments)).collect::<anyhow::Result<Vec<_>>>()?;
    host.run(&requests)?;
    let mut errors = Errors::default();
    for request in &requests {
        collect(request, &mut errors)?;
    }
    let veth = quantile(&mut errors.veth, 0.5);
    errors.end_to_end.iter_mut().for_each(|error| *error -= veth);
    Ok(errors)
}

fn request(slot: u32, folder: &Path, delay_ns: u64, arguments: &Arguments) -> anyhow::Result<TrialRequest> {
    let Arguments { packets, interval_ms, .. } = arguments;
    let directory = folder.join(format!("job-{slot}"));
    fs::create_dir_all(&directory)?;
    let at = SocketAddr::new(IPV4.server, PORT).to_string();
    let interval_us = (interval_ms * 1e3).to_string();
    let packets_text = packets.to_string();
    let program = own_program()?;
    let sink = ["sink", "--at", &at];
    let source = ["source", "--to", &at, "--packets", &packets_text, "--interval-us", &interval_us, "--spread"];
    let endpoint = |name: &str, words: &[&str], ready| EndpointProcess {
        name: name.into(),
        host: name.into(),
        command: [&*program, "flow"].into_iter().chain(words.iter().copied()).map(String::from).collect(),
        environment: Default::default(),
        directory: directory.clone(),
        stdout: directory.join(format!("{name}.txt")),
        stderr: directory.join(format!("{name}.err")),
        ready,
        ends_trial: true,
        restart: None,
    };
    let ready = ReadyCondition::UdpBound { port: PORT, timeout_ns: 10 * SECOND_NS };
    Ok(TrialRequest {
        rests: false,
        trial: format!("job-{slot}"),
        slot,
        link: LinkSpec {
            uplink: vec![
                RateSpec {
                    rate_bps: RATE_BPS,
                    queue: QueueSpec::DropTail { bytes: Some(QUEUE_BYTES), packets: None },
                    overhead_bytes: 0,
                }
                .into(),
                LossSpec { probability: LOSS, correlation: 0.0 }.into(),
                DelaySpec { delay_ns, jitter: None, correlation: 0.0, overtaking: false }.into(),
            ],
            ..LinkSpec::default()
        },
        link_seed: slot.into(),
        packet_log: Some(directory.join("packets.wlpl")),
        header_bytes: (HEADER_BYTES + PAYLOAD_BYTES) as u8,
        other_links: Default::default(),
        cpu_shares: Default::default(),
        capture: None,
        congestion_control: "reno".into(),
        confirm: None,
        endpoints: vec![endpoint("server", &sink, Some(ready)), endpoint("client", &source, None)],
        timeout_ns: 60 * SECOND_NS + (f64::from(*packets) * interval_ms * 4e6) as u64,
    })
}

/// Join what the link logged with what the server received.
fn collect(request: &TrialRequest, errors: &mut Errors) -> anyhow::Result<()> {
    let received: HashMap<u64, u64> = fs::read_to_string(&request.endpoints[0].stdout)?
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ');
            Some((words.next()?.parse().ok()?, words.nth(1)?.parse().ok()?))
        })
        .collect();
    let log = log_file::read(request.packet_log.as_ref().context("it has a log")?)?;
    for (record, packet) in &log.records {
        let Some((number, sent_ns)) = read_payload(&packet[HEADER_BYTES..]) else { continue };
        let Some(received_ns) = received.get(&number) else { continue };
        let configured_ns = record.departure.saturating_since(record.arrival).as_nanos() as i64;
        errors.veth.push(record.arrival.as_nanos() as i64 - sent_ns as i64);
        errors.timing.push(record.lateness.as_nanos() as i64);
        errors.end_to_end.push(*received_ns as i64 - sent_ns as i64 - configured_ns);
    }
    ensure!(!errors.timing.is_empty(), "no packet arrived");
    Ok(())
}

fn print_head(facts: &HostFacts, interval_ms: f64) {
    let cpu = facts.link_cpu.map_or(String::new(), |cpu| format!(" and CPU {cpu} for itself"));
    let user = if facts.rootless { "unprivileged" } else { "as root" };
    println!("scheduling {}{cpu}, {user}, {interval_ms} ms between packets", facts.link_scheduling);
    println!("{:32} {:>40} {:>40}", "", "timing error/us", "added/us");
    let columns = ["p50", "p99", "p99.9", "max"].map(|name| format!("{name:>10}")).concat();
    println!("delay/ms  jobs  packets  veth p50 {columns} {columns}");
}

/// What is printed of one delay and number of parallel trials.
#[derive(Serialize)]
struct Row {
    delay_ms: u64,
    #[serde(rename = "lanes")]
    jobs: u32,
    packets: usize,
    scheduling: String,
    unprivileged: bool,
    veth_p50_us: f64,
    #[serde(rename = "lateness_us")]
    timing_us: Quantiles,
    added_us: Quantiles,
}

#[derive(Serialize)]
struct Quantiles {
    p50: f64,
    p99: f64,
    p999: f64,
    max: f64,
}

impl Row {
    fn new(delay_ms: u64, jobs: u32, mut errors: Errors, facts: &HostFacts) -> Self {
        Self {
            delay_ms,
            jobs,
            packets: errors.veth.len(),
            scheduling: facts.link_scheduling.clone(),
            unprivileged: facts.rootless,
            veth_p50_us: microseconds(quantile(&mut errors.veth, 0.5)),
            timing_us: Quantiles::of(&mut errors.timing),
            added_us: Quantiles::of(&mut errors.end_to_end),
        }
    }

    fn print(&self) {
        let Self { delay_ms, jobs, packets, veth_p50_us, .. } = self;
        let [timing, added] = [&self.timing_us, &self.added_us].map(Quantiles::cells);
        println!("{delay_ms:8} {jobs:5} {packets:8} {veth_p50_us:9.1} {timing} {added}");
    }
}

impl Quantiles {
    fn of(values: &mut [i64]) -> Self {
        let [p50, p99, p999] = SHARES.map(|share| microseconds(quantile(values, share)));
        Self { p50, p99, p999, max: microseconds(quantile(values, 1.0)) }
    }

    fn cells(&self) -> String {
        [self.p50, self.p99, self.p999, self.max].map(|value| format!("{value:10.1}")).concat()
    }
}

fn microseconds(nanoseconds: i64) -> f64 {
    nanoseconds as f64 / 1e3
}

/// The smallest value that at least `share` of them do not exceed.
fn quantile(values: &mut [i64], share: f64) -> i64 {
    values.sort_unstable();
    let rank = (share * values.len() as f64).ceil() as usize;
    values[rank.saturating_sub(1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_one_of_the_values() {
        let mut values: Vec<i64> = (1..=1000).rev().collect();
        assert_eq!(SHARES.map(|share| quantile(&mut values, share)), [500, 990, 999]);
        assert_eq!(quantile(&mut [7], 0.5), 7);
    }
}
