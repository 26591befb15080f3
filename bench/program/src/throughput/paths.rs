//! The paths that are measured, and where each packet went on them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wirelab_net::clock;
use wirelab_net::namespace::NetNamespace;
use wirelab_net::process::{self, Confinement};
use wirelab_net::topology::{DirectVeth, IPV4};
use wirelab_schema::{
    DelaySpec, DropCause, EndpointProcess, LinkReport, LinkSpec, LossSpec, QueueSpec, RateSpec, ReadyCondition,
    TrialRequest,
};

use super::traffic::{Kind, PORT, Received, Sent};
use crate::host::{Host, own_program};

const SECOND_NS: u64 = 1_000_000_000;
/// How long a receiver may take to be ready.
const READY_WITHIN: Duration = Duration::from_secs(10);
/// How often to look whether it is.
const LOOK: Duration = Duration::from_millis(2);
const MTU: u32 = 1500;
const CONGESTION_CONTROL: &str = "reno";
/// Of each packet in the log: IPv4 and TCP headers.
const HEADER_BYTES: u8 = 40;
/// Far above what any packet source here reaches, and a loss that costs a draw for each packet and in practice none of them: what is left is what
/// the link itself can do.
const RATE_BPS: u64 = 1_000_000_000_000;
const LOSS: f64 = 1e-12;

/// What came of one flow.
#[derive(Debug, Serialize)]
pub struct Carried {
    /// Datagrams; null for a connection.
    packets_per_second: Option<f64>,
    bits_per_second: f64,
    sent: Sent,
    received: Received,
    dropped: Dropped,
    /// Datagrams that were sent, less those that were received or counted as dropped: 0, or something was lost in silence. Null for a connection,
    /// which sends again.
    unaccounted: Option<i64>,
}

/// Packets of both directions that did not arrive, by where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Dropped {
    /// Before the link: at the endpoints' interfaces, because the kernel's backlog was full, or because the link's receive ring was.
    kernel: u64,
    /// Behind the link, because the kernel would not take them.
    refused: u64,
    /// Configured losses of the link.
    loss: u64,
    /// Still in the link at the end.
    held: u64,
    /// At the receiver's socket.
    socket: u64,
}

/// A trial with one flow.
pub fn request(kind: Kind, folder: &Path, seconds: f64, delay_ms: u32) -> anyhow::Result<TrialRequest> {
    let server = SocketAddr::from((IPV4.server, PORT)).to_string();
    let program = own_program()?;
    let endpoint = |name: &str, words: &[String], ready| EndpointProcess {
        name: name.into(),
        host: name.into(),
        command: [&[program.clone(), "throughput".into()], words].concat(),
        environment: BTreeMap::new(),
        directory: folder.into(),
        stdout: folder.join(format!("{name}.json")),
        stderr: folder.join(format!("{name}.err")),
        ready,
        ends_trial: true,
        restart: None,
    };
    let timeout_ns = READY_WITHIN.as_nanos() as u64;
    let ready = ReadyCondition::Event { timeout_ns };
    let kind = format!("--kind={}", kind.name());
    let receive = ["receive".into(), kind.clone(), format!("--address={server}")];
    let send = ["send".into(), server, kind, format!("--seconds={seconds}")];
    let stages = || {
        vec![
            RateSpec {
                rate_bps: RATE_BPS,
                queue: QueueSpec::DropTail { bytes: Some(u64::MAX >> 8), packets: None },
                overhead_bytes: 0,
            }
            .into(),
            LossSpec { probability: LOSS, correlation: 0.0 }.into(),
            DelaySpec { delay_ns: u64::from(delay_ms) * 1_000_000, jitter: None, correlation: 0.0, overtaking: false }
                .into(),
        ]
    };
    Ok(TrialRequest {
        trial: "throughput".into(),
        slot: 0,
        link: LinkSpec { uplink: stages(), downlink: stages(), ..LinkSpec::default() },
        link_seed: 0,
        packet_log: Some(folder.join("packets.wlpl")),
        header_bytes: HEADER_BYTES,
        other_links: BTreeMap::new(),
        cpu_shares: BTreeMap::new(),
        capture: None,
        congestion_control: CONGESTION_CONTROL.into(),
        rests: false,
        confirm: None,
        endpoints: vec![endpoint("server", &receive, Some(ready)), endpoint("client", &send, None)],
        timeout_ns: 60 * SECOND_NS + (seconds * 2e9) as u64,
    })
}

/// The client's interface is the server's other end.
pub fn over_veth(requests: &[(Kind, TrialRequest)]) -> anyhow::Result<Vec<Carried>> {
    let veth = DirectVeth::create(MTU, CONGESTION_CONTROL)?;
    let carried = requests.iter().map(|(kind, request)| {
        let before = veth.dropped()?;
        let [server, client] = &request.endpoints[..] else { unreachable!("a flow has two ends") };
        let mut receiver = Running(start(server, &veth.server)?);
        until_ready(server, &mut receiver)?;
        let mut sender = Running(start(client, &veth.client)?);
        for (end, running) in [(client, &mut sender), (server, &mut receiver)] {
            let status = running.0.wait()?;
            ensure!(status.success(), "{}: {status}, {}", end.name, fs::read_to_string(&end.stderr)?.trim());
        }
        carried(*kind, request, Dropped { kernel: veth.dropped()? - before, ..Dropped::default() })
    });
    carried.collect()
}

/// Between the two are a link's stages and log.
pub fn over_link(agent: &Path, requests: &[(Kind, TrialRequest)]) -> anyhow::Result<Vec<Carried>> {
    let (mut host, _) = Host::open(agent, 1, MTU)?;
    let carried = requests.iter().map(|(kind, request)| {
        let [result] = &host.run(std::slice::from_ref(request))?[..] else { unreachable!("one trial, one result") };
        carried(*kind, request, dropped(&result.link)?)
    });
    carried.collect()
}

/// An end of a flow that is killed when it is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(end: &EndpointProcess, place: &NetNamespace) -> anyhow::Result<Child> {
    let [program, words @ ..] = &end.command[..] else { bail!("{} has no command", end.name) };
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::null());
    command.stdout(File::create(&end.stdout)?).stderr(File::create(&end.stderr)?);
    let confinement = Confinement { network: Some(place.as_fd()), ..Confinement::default() };
    process::spawn(&mut command, &confinement).with_context(|| format!("starting the {}", end.name))
}

/// Waits for the first line of an end's stdout, its ready event.
fn until_ready(end: &EndpointProcess, running: &mut Running) -> anyhow::Result<()> {
    let give_up = clock::now() + READY_WITHIN;
    while !fs::read_to_string(&end.stdout)?.contains('\n') {
        if let Some(status) = running.0.try_wait()? {
            bail!("{}: {status}, {}", end.name, fs::read_to_string(&end.stderr)?.trim());
        }
        ensure!(clock::now() < give_up, "the {} was not ready within {READY_WITHIN:?}", end.name);
        thread::sleep(LOOK);
    }
    Ok(())
}

fn carried(kind: Kind, request: &TrialRequest, dropped: Dropped) -> anyhow::Result<Carried> {
    let [server, client] = &request.endpoints[..] else { unreachable!("a flow has two ends") };
    let (received, sent): (Received, Sent) = (read(&server.stdout)?, read(&client.stdout)?);
    let dropped = Dropped { socket: received.dropped_at_socket, ..dropped };
    let unaccounted = || sent.packets as i64 - received.packets as i64 - dropped.total() as i64;
    Ok(Carried {
        packets_per_second: (kind == Kind::Udp).then(|| received.packets_per_second()),
        bits_per_second: received.bits_per_second(),
        sent,
        received,
        dropped,
        unaccounted: (kind == Kind::Udp).then(unaccounted),
    })
}

/// The link's own accounts. Its queues have room for everything, so that what counts as dropped there is what the kernel would not take.
fn dropped(report: &LinkReport) -> anyhow::Result<Dropped> {
    let packets = |cause| {
        let drops = report.directions.iter().flat_map(|direction| &direction.dropped);
        drops.filter(|drop| drop.cause == cause).map(|drop| drop.packets).sum::<u64>()
    };
    let refused = packets(DropCause::QueueFull);
    let Some(kernel) = report.kernel_drops.checked_sub(refused) else {
        bail!("of {} packets that the kernel dropped, {refused} are known elsewhere", report.kernel_drops);
    };
    let held = report.directions.iter().map(|direction| direction.held).sum();
    Ok(Dropped { kernel, refused, loss: packets(DropCause::Loss), held, socket: 0 })
}

impl Dropped {
    fn total(&self) -> u64 {
        let Self { kernel, refused, loss, held, socket } = self;
        kernel + refused + loss + held + socket
    }
}

/// What an end printed last.
fn read<T: DeserializeOwned>(path: &Path) -> anyhow::Result<T> {
    let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    let line = text.lines().last().unwrap_or_default();
    serde_json::from_str(line).with_context(|| format!("reading {}", path.display()))
}

#[cfg(test)]
mod tests {
    use wirelab_schema::{DirectionReport, DropCount};

    use super::*;

    #[test]
    fn what_the_kernel_dropped_beyond_refusals_was_before_the_link() {
        let drops =
            [(DropCause::Loss, 2), (DropCause::QueueFull, 3)].map(|(cause, packets)| DropCount { cause, packets });
        let uplink = DirectionReport { dropped: drops.into(), held: 1, ..DirectionReport::default() };
        let report = LinkReport { directions: vec![uplink], kernel_drops: 10, ..LinkReport::default() };
        let expected = Dropped { kernel: 7, refused: 3, loss: 2, held: 1, socket: 0 };
        assert_eq!(dropped(&report).unwrap(), expected);
        let error = dropped(&LinkReport { kernel_drops: 2, ..report }).unwrap_err().to_string();
        assert_eq!(error, "of 2 packets that the kernel dropped, 3 are known elsewhere");
    }
}
