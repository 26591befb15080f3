//! The paths that are measured, and where each packet went on them.

use std::collections::BTreeMap;
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;
use std::path::Path;

use anyhow::{Context, bail, ensure};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wirelab_net::namespace::NetNamespace;
use wirelab_net::topology::{DirectVeth, IPV4};
use wirelab_schema::{
    DropCause, EndpointProcess, ImpairmentSpec, LinkReport, LinkSpec, OpenLanes, QueueSpec, ReadyCondition,
    TrialRequest, TrialStatus,
};

use super::traffic::{Kind, PORT, Received, Sent};
use crate::OWN_PROGRAM;
use crate::host::Running;
use crate::host::lanes::Lanes;
use crate::host::run_trial::{self, Place};

const SECOND_NS: u64 = 1_000_000_000;
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
    /// At the endpoints' interfaces, for want of room in the kernel's backlog.
    device: u64,
    /// Before the link, because its receive ring was full.
    ring: u64,
    /// Behind the link, because the kernel would not take them.
    refused: u64,
    /// Lost because the link was told to.
    loss: u64,
    /// Still in the link at the end.
    held: u64,
    /// At the receiver's socket.
    socket: u64,
}

/// A trial with one flow.
pub fn request(kind: Kind, folder: &Path, seconds: f64, delay_ms: u32) -> anyhow::Result<TrialRequest> {
    let server = SocketAddr::from((IPV4.server, PORT)).to_string();
    let endpoint = |name: &str, words: &[String], ready| EndpointProcess {
        name: name.into(),
        host: name.into(),
        command: [&[OWN_PROGRAM.into(), "throughput".into()], words].concat(),
        environment: BTreeMap::new(),
        directory: folder.into(),
        stdout: folder.join(format!("{name}.json")),
        stderr: folder.join(format!("{name}.err")),
        ready,
        ends_trial: true,
    };
    let timeout_ns = 10 * SECOND_NS;
    let ready = ReadyCondition::Event { timeout_ns };
    let kind = format!("--kind={}", kind.name());
    let receive = ["receive".into(), kind.clone(), format!("--address={server}")];
    let send = ["send".into(), server, kind, format!("--seconds={seconds}")];
    let stages = || {
        vec![
            ImpairmentSpec::Rate {
                rate_bps: RATE_BPS,
                queue: QueueSpec::DropTail { bytes: Some(u64::MAX >> 8), packets: None },
                overhead_bytes: 0,
            },
            ImpairmentSpec::Loss { probability: LOSS, correlation: 0.0 },
            ImpairmentSpec::Delay {
                delay_ns: u64::from(delay_ms) * 1_000_000,
                jitter: None,
                correlation: 0.0,
                overtaking: false,
            },
        ]
    };
    Ok(TrialRequest {
        trial: "throughput".into(),
        lane: 0,
        link: LinkSpec { uplink: stages(), downlink: stages(), ..LinkSpec::default() },
        link_seed: 0,
        packet_log: Some(folder.join("packets.wlpl")),
        header_bytes: HEADER_BYTES,
        other_links: BTreeMap::new(),
        cpu_shares: BTreeMap::new(),
        capture: None,
        congestion_control: CONGESTION_CONTROL.into(),
        endpoints: vec![endpoint("server", &receive, Some(ready)), endpoint("client", &send, None)],
        timeout_ns: 60 * SECOND_NS + (seconds * 2e9) as u64,
    })
}

/// The client's interface is the server's other end.
pub fn over_veth(requests: &[(Kind, TrialRequest)]) -> anyhow::Result<Vec<Carried>> {
    let veth = DirectVeth::create(MTU, CONGESTION_CONTROL)?;
    let hosts = [place("client", &veth.client, IPV4.client), place("server", &veth.server, IPV4.server)];
    let carried = requests.iter().map(|(kind, request)| {
        let before = veth.dropped()?;
        let outcome = run_trial::start_and_wait(&hosts, request, &Running::default(), run_trial::SAMPLING)?;
        ensure!(outcome.status == TrialStatus::Done, "{:?}", outcome.error);
        carried(*kind, request, Dropped { device: veth.dropped()? - before, ..Dropped::default() })
    });
    carried.collect()
}

/// Between the two are a link's stages and log.
pub fn over_link(requests: &[(Kind, TrialRequest)]) -> anyhow::Result<Vec<Carried>> {
    let running = Running::default();
    let open = OpenLanes { lanes: 1, mtu: MTU, offloads: false, netem: false, cpu_quota: false, links: vec![] };
    let lanes = Lanes::open(&open, &running).map_err(|refusal| anyhow::anyhow!("{refusal}"))?;
    let carried = requests.iter().map(|(kind, request)| {
        let before = lanes.lane(0).dropped(0)?;
        let result = run_trial::run(&lanes, request, &running).map_err(|refusal| anyhow::anyhow!("{refusal}"))?;
        ensure!(result.status == TrialStatus::Done, "{:?}", result.error);
        let device = lanes.lane(0).dropped(0)? - before;
        carried(*kind, request, dropped(&result.link, device)?)
    });
    let carried = carried.collect();
    lanes.close();
    carried
}

fn place<'a>(name: &'a str, namespace: &'a NetNamespace, address: IpAddr) -> Place<'a> {
    Place { name, namespace: namespace.as_fd(), addresses: vec![address], joined_by: None }
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
fn dropped(report: &LinkReport, device: u64) -> anyhow::Result<Dropped> {
    let packets = |cause| {
        let drops = report.directions.iter().flat_map(|direction| &direction.dropped);
        drops.filter(|drop| drop.cause == cause).map(|drop| drop.packets).sum::<u64>()
    };
    let refused = packets(DropCause::QueueFull);
    // The device is read before and after all that the report counts in, so that it may have dropped more meanwhile.
    let Some(ring) = report.kernel_drops.checked_sub(refused + device) else {
        bail!("of {} packets that the kernel dropped, {refused} + {device} are known elsewhere", report.kernel_drops);
    };
    let held = report.directions.iter().map(|direction| direction.held).sum();
    Ok(Dropped { device, ring, refused, loss: packets(DropCause::Loss), held, socket: 0 })
}

impl Dropped {
    fn total(&self) -> u64 {
        let Self { device, ring, refused, loss, held, socket } = self;
        device + ring + refused + loss + held + socket
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
    fn what_the_kernel_dropped_beyond_the_devices_and_refusals_was_at_the_ring() {
        let drops =
            [(DropCause::Loss, 2), (DropCause::QueueFull, 3)].map(|(cause, packets)| DropCount { cause, packets });
        let uplink = DirectionReport { dropped: drops.into(), held: 1, ..DirectionReport::default() };
        let report = LinkReport { directions: vec![uplink], kernel_drops: 10, ..LinkReport::default() };
        let told = Dropped { device: 4, ring: 3, refused: 3, loss: 2, held: 1, socket: 0 };
        assert_eq!(dropped(&report, 4).unwrap(), told);
        let error = dropped(&report, 8).unwrap_err().to_string();
        assert_eq!(error, "of 10 packets that the kernel dropped, 3 + 8 are known elsewhere");
    }
}
