//! How late the link is on this machine: sends packets through lanes of constant delay, several at once, and prints the error of their one-way
//! delay. It judges nothing.
//!
//! `lateness` is the link's own account: when it sent a packet, minus when its chain said. `added` is what an endpoint sees: the kernel's receive
//! stamp at the server, minus when the client sent, minus the told delay, minus the median over plain veth (from the client to the link's stamp).

pub mod flow;

use std::collections::HashMap;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, ensure};
use wirelab_net::namespace;
use wirelab_net::process;
use wirelab_schema::{EndpointProcess, ImpairmentSpec, LinkSpec, OpenLanes, ReadyCondition, TrialRequest, TrialStatus};

use crate::host::lanes::Lanes;
use crate::host::{Running, run_trial};
use crate::log_file;
use flow::Role;

const SECOND_NS: u64 = 1_000_000_000;
/// IPv4 and UDP headers.
const HEADER_BYTES: usize = 28;
const SHARES: [f64; 3] = [0.5, 0.99, 0.999];

#[derive(clap::Args)]
pub struct Arguments {
    /// One-way delays to try, in milliseconds.
    #[arg(long, value_delimiter = ',', default_value = "1,10,100")]
    delays: Vec<u64>,
    /// Numbers of lanes in use at once to try.
    #[arg(long, value_delimiter = ',', default_value = "1,4,8,16,32", value_parser = clap::value_parser!(u32).range(1..))]
    lanes: Vec<u32>,
    /// Packets in each lane.
    #[arg(long, default_value_t = 5000)]
    packets: u32,
    /// Mean time between a lane's packets, in milliseconds; each is uniform from half of it to one and a half. On an idle machine a path that is
    /// seldom used is slower, the link's and plain veth's alike.
    #[arg(long, default_value_t = 1.0, value_parser = interval)]
    interval_ms: f64,
    /// What this process is; the others are started by the first.
    #[arg(long, hide = true)]
    role: Option<Role>,
}

pub fn run(arguments: Arguments) -> ExitCode {
    let result = match arguments.role {
        Some(role) => flow::play(role, arguments.packets, Duration::from_secs_f64(arguments.interval_ms / 1e3)),
        None => calibrate(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("wirelab-agent calibrate: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// A time between packets that a program can wait.
fn interval(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| format!("`{text}` is no number"))?;
    if (0.1..=1000.0).contains(&value) { Ok(value) } else { Err(format!("{value} is not from 0.1 to 1000")) }
}

fn calibrate(arguments: &Arguments) -> anyhow::Result<()> {
    process::raise_open_files()?;
    let rootless = namespace::gain_namespaces()?;
    let most = arguments.lanes.iter().copied().max().context("no number of lanes")?;
    let open = OpenLanes { lanes: most, mtu: 1500, offloads: false };
    let running = Running::default();
    let lanes = Arc::new(Lanes::open(&open, &running).map_err(|refusal| anyhow::anyhow!("{refusal}"))?);
    let cpu = lanes.link().cpu().map_or(String::new(), |cpu| format!(" and CPU {cpu} for itself"));
    let user = if rootless { "unprivileged" } else { "as root" };
    println!("scheduling {}{cpu}, {user}, {} ms between packets", lanes.link().scheduling(), arguments.interval_ms);
    println!("{:32} {:>40} {:>40}", "", "lateness/us", "added/us");
    let columns = ["p50", "p99", "p99.9", "max"].map(|name| format!("{name:>10}")).concat();
    println!("delay/ms lanes  packets  veth p50 {columns} {columns}");
    let folder = Folder::create("calibrate")?;
    for delay_ms in &arguments.delays {
        for count in &arguments.lanes {
            let errors = measure(&lanes, &running, &folder.path, delay_ms * 1_000_000, *count, arguments)?;
            print(*delay_ms, *count, errors);
        }
    }
    lanes.close();
    Ok(())
}

/// Nanoseconds, one value a packet.
#[derive(Default)]
struct Errors {
    veth: Vec<i64>,
    lateness: Vec<i64>,
    end_to_end: Vec<i64>,
}

fn measure(
    lanes: &Lanes,
    running: &Running,
    folder: &Path,
    delay_ns: u64,
    count: u32,
    arguments: &Arguments,
) -> anyhow::Result<Errors> {
    let requests =
        (0..count).map(|lane| request(lane, folder, delay_ns, arguments)).collect::<anyhow::Result<Vec<_>>>()?;
    thread::scope(|scope| {
        let trials = requests.iter().map(|request| scope.spawn(|| run_trial::run(lanes, request, running)));
        for trial in trials.collect::<Vec<_>>() {
            let result = trial.join().expect("it does not panic").map_err(|refusal| anyhow::anyhow!("{refusal}"))?;
            ensure!(result.status == TrialStatus::Done, "{}: {:?}", result.trial, result.error);
        }
        anyhow::Ok(())
    })?;
    let mut errors = Errors::default();
    for request in &requests {
        collect(request, delay_ns, &mut errors)?;
    }
    let veth = quantile(&mut errors.veth, 0.5);
    errors.end_to_end.iter_mut().for_each(|error| *error -= veth);
    Ok(errors)
}

fn request(lane: u32, folder: &Path, delay_ns: u64, arguments: &Arguments) -> anyhow::Result<TrialRequest> {
    let Arguments { packets, interval_ms, .. } = arguments;
    let directory = folder.join(format!("lane-{lane}"));
    fs::create_dir_all(&directory)?;
    let agent = std::env::current_exe()?.display().to_string();
    let endpoint = |name: &str, role: Role, ready| EndpointProcess {
        name: name.into(),
        host: name.into(),
        command: [&*agent, "calibrate", "--role", role.name()]
            .map(String::from)
            .into_iter()
            .chain([format!("--packets={packets}"), format!("--interval-ms={interval_ms}")])
            .collect(),
        environment: Default::default(),
        directory: directory.clone(),
        stdout: directory.join(format!("{name}.txt")),
        stderr: directory.join(format!("{name}.err")),
        ready,
        ends_trial: true,
    };
    let ready = ReadyCondition::UdpBound { port: flow::PORT, timeout_ns: 10 * SECOND_NS };
    Ok(TrialRequest {
        trial: format!("lane-{lane}"),
        lane,
        link: LinkSpec {
            uplink: vec![ImpairmentSpec::Delay { delay_ns, jitter: None, correlation: 0.0, overtaking: false }],
            ..LinkSpec::default()
        },
        link_seed: 0,
        packet_log: Some(directory.join("packets.wlpl")),
        header_bytes: (HEADER_BYTES + flow::PAYLOAD_BYTES) as u8,
        capture: None,
        congestion_control: "reno".into(),
        endpoints: vec![endpoint("server", Role::Sink, Some(ready)), endpoint("client", Role::Source, None)],
        timeout_ns: 60 * SECOND_NS + (f64::from(*packets) * interval_ms * 4e6) as u64,
    })
}

/// Join what the link logged with what the server received.
fn collect(request: &TrialRequest, delay_ns: u64, errors: &mut Errors) -> anyhow::Result<()> {
    let received: HashMap<u64, u64> = fs::read_to_string(&request.endpoints[0].stdout)?
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(number, stamp)| Ok((number.parse()?, stamp.parse()?)))
        .collect::<anyhow::Result<_>>()?;
    let log = log_file::read(request.packet_log.as_ref().context("it has a log")?)?;
    for (record, packet) in &log.records {
        let Some((number, sent_ns)) = flow::read_payload(&packet[HEADER_BYTES..]) else { continue };
        let Some(received_ns) = received.get(&number) else { continue };
        errors.veth.push(record.arrival.as_nanos() as i64 - sent_ns as i64);
        errors.lateness.push(record.lateness.as_nanos() as i64);
        errors.end_to_end.push(*received_ns as i64 - (sent_ns + delay_ns) as i64);
    }
    ensure!(!errors.lateness.is_empty(), "no packet arrived");
    Ok(())
}

fn print(delay_ms: u64, lanes: u32, mut errors: Errors) {
    let row = |values: &mut Vec<i64>| {
        let cells = SHARES.map(|share| quantile(values, share)).into_iter().chain(values.iter().max().copied());
        cells.map(|nanoseconds| format!("{:10.1}", nanoseconds as f64 / 1e3)).collect::<String>()
    };
    let (lateness, added) = (row(&mut errors.lateness), row(&mut errors.end_to_end));
    let veth = quantile(&mut errors.veth, 0.5) as f64 / 1e3;
    println!("{delay_ms:8} {lanes:5} {:8} {veth:9.1} {lateness} {added}", errors.veth.len());
}

/// The smallest value that at least `share` of them do not exceed.
fn quantile(values: &mut [i64], share: f64) -> i64 {
    values.sort_unstable();
    let rank = (share * values.len() as f64).ceil() as usize;
    values[rank.saturating_sub(1)]
}

/// A temporary folder. It vanishes with this process, however that ends: a shell of its own waits for it.
pub struct Folder {
    pub path: PathBuf,
    remover: Child,
}

impl Folder {
    pub fn create(purpose: &str) -> anyhow::Result<Self> {
        let path = std::env::temp_dir().join(format!("wirelab-{purpose}-{}", std::process::id()));
        fs::create_dir(&path).with_context(|| format!("creating {}", path.display()))?;
        let mut remover = Command::new("sh");
        remover.args(["-c", "cat; rm -rf -- \"$0\""]).arg(&path).stdin(Stdio::piped()).stdout(Stdio::null());
        // In a process group of its own, so that Ctrl-C does not reach it.
        let remover = remover.process_group(0).spawn().inspect_err(|_| {
            let _ = fs::remove_dir(&path);
        });
        let remover = remover.context("starting sh")?;
        Ok(Self { path, remover })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        self.remover.stdin = None;
        let _ = self.remover.wait();
    }
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
