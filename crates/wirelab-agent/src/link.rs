//! The link process: every link of a campaign. Orders come as lines of JSON on stdin and are carried out by this thread, so that the loop's own
//! thread never parses, builds or opens anything. It ends with its stdin.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;
use std::thread;

use anyhow::{Context, bail};
use crossbeam_channel::Receiver;
use serde::{Deserialize, Serialize};
use wirelab_capture::flow::FLOW_BYTES;
use wirelab_capture::packet_log::{self, LogWriter};
use wirelab_capture::private_file;
use wirelab_net::link_loop::{Ended, LinkLoop, Waits};
use wirelab_net::slot::{Finished, TrialLink};
use wirelab_net::topology::{LinkShape, Shape, Shaped};
use wirelab_net::{DirectionCounts, Histogram, LogThread, SlotReport, link, scheduling, topology};
use wirelab_schema::{
    DirectionReport, DropCause, DropCount, ImpairmentSpec, LatenessHistogram, LinkReport, LinkSpec, PacketLogHeader,
    SCHEMA_VERSION, SlotLink,
};

use crate::{link_chain, slot_shape, taps};

#[derive(clap::Args)]
pub struct Arguments {
    /// Number of slots in this network namespace.
    #[arg(long)]
    pub slots: usize,
    /// Links of each slot: JSON, as in a request to the host.
    #[arg(long, default_value = "[]")]
    pub links: Links,
    /// MTU of the endpoints' interfaces.
    #[arg(long)]
    pub mtu: u32,
    /// Frames may be as long as segmentation offload makes them.
    #[arg(long)]
    pub offloads: bool,
    /// Sleep until each deadline, for spinning takes none of a virtual clock's time. Nor does it wait for memory, which stays unlocked.
    #[arg(long)]
    pub never_spin: bool,
}

/// The links of each slot.
#[derive(Clone, Debug)]
pub struct Links(Vec<SlotLink>);

impl FromStr for Links {
    type Err = serde_json::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        serde_json::from_str(text).map(Self)
    }
}

/// Which link of which slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct At {
    pub slot: usize,
    pub link: usize,
}

/// A line on the link process's stdin. Each is answered by one [`LinkEvent`] for its link.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "kebab-case")]
pub enum LinkOp {
    /// Begin a trial.
    Begin {
        at: At,
        link: Box<LinkSpec>,
        seed: u64,
        packet_log: Option<PathBuf>,
        header_bytes: u8,
        /// By host.
        captures: BTreeMap<String, PathBuf>,
        /// Its clock may be put forward.
        #[serde(default)]
        rests: bool,
    },
    /// End it.
    Finish { at: At },
}

/// A line on the link process's stdout.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum LinkEvent {
    /// Once, when all slots are open.
    Started { scheduling: String, cpu: Option<usize>, memory_locked: bool, cpus_awake: bool },
    /// A trial began.
    Begun { at: At },
    /// A trial ended. `log_error` says why its packet log or a capture is incomplete.
    Finished { at: At, report: LinkReport, log_error: Option<String> },
    /// An order could not be carried out.
    Failed { at: At, message: String },
}

pub fn run(arguments: Arguments) -> ExitCode {
    match serve(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("wirelab-agent link: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn serve(arguments: &Arguments) -> anyhow::Result<()> {
    let shape = slot_shape::shape(&arguments.links.0).map_err(anyhow::Error::msg)?;
    let at = (0..arguments.slots).flat_map(|slot| (0..shape.links().len()).map(move |link| At { slot, link }));
    let ports = |At { slot, link }| {
        topology::open_ports(slot, link, shape.links()[link].sides(), arguments.mtu, arguments.offloads)
    };
    let waits = if arguments.never_spin { Waits::Asleep } else { Waits::Spinning };
    let link_loop = LinkLoop::start(at.map(ports).collect::<Result<_, _>>()?, waits)?;
    let cpu = link_loop.cpu().filter(|cpu| scheduling::leave(*cpu));
    let logs = LogThread::start()?;
    let memory_locked = !arguments.never_spin && scheduling::lock_memory();
    let scheduling = link_loop.scheduling().to_string();
    tell(&LinkEvent::Started { scheduling, cpu, memory_locked, cpus_awake: link_loop.keeps_cpus_awake() });
    let offloads = arguments.offloads;
    let mut process = Process { shape, offloads, link_loop, logs, shaped: HashMap::new(), unclean: HashSet::new() };
    for line in io::stdin().lock().lines() {
        process.obey(serde_json::from_str(&line?).context("reading an order")?)?;
    }
    Ok(())
}

/// The process, and what netem does for it.
struct Process {
    shape: Shape,
    offloads: bool,
    link_loop: LinkLoop,
    logs: LogThread,
    /// While a trial runs whose link is netem's.
    shaped: HashMap<At, Shaped>,
    /// Where qdiscs may still be that were to be taken off.
    unclean: HashSet<At>,
}

impl Process {
    fn obey(&mut self, command: LinkOp) -> Result<(), Ended> {
        match command {
            LinkOp::Begin { at, link, seed, packet_log, header_bytes, captures, rests } => {
                let captures = captures.iter().map(|(host, path)| (host.as_str(), path.as_path())).collect();
                let files = Files { packet_log: packet_log.as_deref(), header_bytes, captures };
                let prepared = refuse_rests(&link, rests).and_then(|()| self.prepare(at, *link, seed, &files));
                match prepared {
                    Ok(link) => {
                        self.link_loop.begin(self.place(at), TrialLink { rests, ..link })?;
                        tell(&LinkEvent::Begun { at });
                    }
                    Err(error) => tell(&LinkEvent::Failed { at, message: format!("{error:#}") }),
                }
            }
            LinkOp::Finish { at } => match self.link_loop.finish(self.place(at))? {
                // The disk may take its time, and other slots' orders must not wait for it.
                Some(mut finished) => {
                    let settled = self.shaped.remove(&at).map(|shaped| shaped.finish(&mut finished.report));
                    match settled.transpose() {
                        Ok(_) => drop(thread::spawn(move || tell_finished(at, finished))),
                        Err(error) => {
                            self.unclean.insert(at);
                            tell(&LinkEvent::Failed { at, message: error.to_string() });
                        }
                    }
                }
                None => {
                    let message = format!("link {} of slot {}: no trial is running", at.link, at.slot);
                    tell(&LinkEvent::Failed { at, message });
                }
            },
        }
        Ok(())
    }

    /// Place in the loop, which knows no slots of several links.
    fn place(&self, at: At) -> usize {
        at.slot * self.shape.links().len() + at.link
    }

    fn prepare(&mut self, at: At, link: LinkSpec, seed: u64, files: &Files<'_>) -> anyhow::Result<TrialLink> {
        if self.offloads {
            refuse_offloads(&link)?;
        }
        let outgoing = || topology::outgoing(at.slot, at.link);
        if self.unclean.contains(&at) {
            Shaped::clear(&outgoing())?;
            self.unclean.remove(&at);
        }
        let qdiscs = link.is_netem().then(|| link_chain::qdiscs(&link, seed)).transpose()?;
        let built = build(link, seed, &self.shape.links()[at.link], files, &mut self.logs)?;
        if let Some(qdiscs) = qdiscs {
            let installed = Shaped::install(outgoing(), qdiscs).inspect_err(|_| {
                self.unclean.insert(at);
            });
            self.shaped.insert(at, installed?);
        }
        Ok(built)
    }
}

/// Where packets of a trial go.
#[derive(Clone, Debug, Default)]
pub struct Files<'a> {
    pub packet_log: Option<&'a Path>,
    /// Bytes of each packet's start in the log.
    pub header_bytes: u8,
    /// Of whole packets, each with the host whose interface it is of.
    pub captures: Vec<(&'a str, &'a Path)>,
}

/// The input of the loop for a trial of `link` between the hosts of `shape`; creates its files.
pub fn build(
    link: LinkSpec,
    seed: u64,
    shape: &LinkShape,
    files: &Files<'_>,
    logs: &mut LogThread,
) -> anyhow::Result<TrialLink> {
    let chain = link_chain::build(&link, seed)?;
    let shaped = link.is_netem();
    refuse_hosts(&link, shape)?;
    if shaped && !files.captures.is_empty() {
        bail!("netem tells nobody when a packet leaves or that it was dropped, so that no end's capture can be made");
    }
    let taps = taps::open(&link, shape, &files.captures, logs)?;
    let tells_flows_apart = link.tells_flows_apart();
    let minimum = if tells_flows_apart { FLOW_BYTES as u8 } else { 0 };
    let header = PacketLogHeader { schema_version: SCHEMA_VERSION, link, seed, ports: port_names(shape) };
    let log = files.packet_log.map(|path| {
        let file = private_file::create(path, &packet_log::MAGIC);
        let file = file.with_context(|| format!("creating the packet log {}", path.display()))?;
        Ok::<_, anyhow::Error>(LogWriter::new(logs.open(file), &serde_json::to_vec(&header)?)?)
    });
    let (log, header_bytes) = (log.transpose()?, files.header_bytes.max(minimum));
    Ok(TrialLink { link: Box::new(chain), log, header_bytes, tells_flows_apart, taps, shaped, rests: false })
}

/// Names of the hosts by the numbers of their ports; of a port that nobody has, an empty one.
fn port_names(shape: &LinkShape) -> Vec<String> {
    let numbered: BTreeMap<u16, &str> = shape.ports().map(|(port, host)| (port.0, host)).collect();
    let last = numbered.keys().next_back().copied().unwrap_or_default();
    (0..=last).map(|port| numbered.get(&port).copied().unwrap_or_default().to_owned()).collect()
}

/// Some links are between two hosts only.
fn refuse_hosts(link: &LinkSpec, shape: &LinkShape) -> anyhow::Result<()> {
    let hosts = shape.near.len() + shape.far.len();
    if link.is_netem() && !shape.sides().is_pair() {
        bail!("backend: netem runs links between two hosts, and {} has {hosts}", shape.name);
    }
    if link.radio.is_some() && shape.near.len() > 1 {
        bail!("radio: it is that of one host, and the near side of {} has {}", shape.name, shape.near.len());
    }
    Ok(())
}

/// The clock of netem is the kernel's.
fn refuse_rests(link: &LinkSpec, rests: bool) -> anyhow::Result<()> {
    if rests && link.is_netem() {
        bail!("backend: netem has no clock that could be put forward");
    }
    Ok(())
}

/// With offloads packets carry no checksums, so a receiver would not notice corruption and a NAT has none to change, and netem drops many packets as one.
fn refuse_offloads(link: &LinkSpec) -> anyhow::Result<()> {
    if link.is_netem() {
        bail!("backend: netem needs the option offloads off, since with offloads it counts many packets as one");
    }
    if link.nat.is_some() {
        bail!("nat: it needs the option offloads off, since with offloads packets have no checksums");
    }
    for (direction, stages) in [("uplink", &link.uplink), ("downlink", &link.downlink)] {
        let corrupts = |stage: &ImpairmentSpec| stage.facts().corrupted.is_some();
        if let Some(index) = stages.iter().position(corrupts) {
            let kind = stages[index].kind();
            bail!(
                "{direction}[{index}]: {kind} needs the option offloads off, since with offloads packets have no checksums"
            );
        }
    }
    Ok(())
}

fn tell_finished(at: At, finished: Finished) {
    let lacking = lacking(&finished.report);
    let log = finished.log.into_iter().map(|log| ("packet log", log));
    let mut files = log.chain(finished.captures.into_iter().map(|capture| ("capture", capture)));
    let log_error = files.find_map(|(name, file)| Some(format!("writing the {name}: {}", written(&file).err()?)));
    tell(&LinkEvent::Finished { at, report: link_report(&finished.report), log_error: lacking.or(log_error) });
}

/// What a packet log lacks; an incomplete log cannot be replayed.
pub fn lacking(report: &SlotReport) -> Option<String> {
    let records = report.left_out_of_log;
    (records > 0).then(|| format!("the packet log lacks {records} packets, for the disk was too slow"))
}

/// Wait until a file is on disk.
pub fn written(file: &Receiver<io::Result<()>>) -> io::Result<()> {
    file.recv().unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into()))
}

/// One line on stdout. If nobody reads it any more, the host is gone and this process will be.
fn tell(event: &LinkEvent) {
    let mut line = serde_json::to_vec(event).expect("events are JSON");
    line.push(b'\n');
    let mut stdout = io::stdout().lock();
    let _ = stdout.write_all(&line).and_then(|()| stdout.flush());
}

fn link_report(report: &SlotReport) -> LinkReport {
    LinkReport {
        directions: report.directions.iter().map(direction_report).collect(),
        kernel_drops: report.kernel_drops,
        oversized: report.oversized,
        clock_step: report.clock_step,
        left_out_of_captures: report.left_out_of_captures,
        rests: report.rests,
        rested_ns: u64::try_from(report.rested.as_nanos()).unwrap_or(u64::MAX),
    }
}

fn direction_report(counts: &DirectionCounts) -> DirectionReport {
    let dropped = link::DropCause::ALL.into_iter().zip(counts.dropped);
    DirectionReport {
        received: counts.received,
        originated: counts.originated,
        duplicated: counts.duplicated,
        delivered: counts.delivered,
        dropped: dropped.map(|(cause, packets)| DropCount { cause: drop_cause(cause), packets }).collect(),
        held: counts.held,
        received_bytes: counts.received_bytes,
        delivered_bytes: counts.delivered_bytes,
        lateness: lateness(&counts.lateness),
    }
}

const fn drop_cause(cause: link::DropCause) -> DropCause {
    match cause {
        link::DropCause::Loss => DropCause::Loss,
        link::DropCause::QueueFull => DropCause::QueueFull,
        link::DropCause::Aqm => DropCause::Aqm,
        link::DropCause::Outage => DropCause::Outage,
        link::DropCause::Retries => DropCause::Retries,
        link::DropCause::Nat => DropCause::Nat,
    }
}

fn lateness(histogram: &Histogram) -> LatenessHistogram {
    LatenessHistogram {
        upper_ns: histogram.upper_ns.to_vec(),
        packets: histogram.counts.to_vec(),
        max_ns: u64::try_from(histogram.max.as_nanos()).unwrap_or(u64::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_of_netem_does_not_rest() {
        let netem = LinkSpec { backend: Some(wirelab_schema::LinkBackend::Netem), ..LinkSpec::default() };
        let refusal = refuse_rests(&netem, true).unwrap_err().to_string();
        assert_eq!(refusal, "backend: netem has no clock that could be put forward");
        assert!(refuse_rests(&netem, false).is_ok() && refuse_rests(&LinkSpec::default(), true).is_ok());
    }

    #[test]
    fn a_log_that_lacks_packets_says_how_many_and_why() {
        let report = SlotReport { left_out_of_log: 7, ..SlotReport::default() };
        assert_eq!(lacking(&report).unwrap(), "the packet log lacks 7 packets, for the disk was too slow");
        assert_eq!(lacking(&SlotReport::default()), None);
    }
}
