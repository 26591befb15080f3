//! Requests to the host process, its replies and its events.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ConfirmRequest, Confirmation, LinkReport, LinkSpec};

/// One line on the host's stdin: `{"id": 7, "op": "run-trial", ...}`. Every request is answered by one [`HostReply`] with its `id`; trials run
/// side by side, so replies may come in another order. When stdin ends or the host dies, every process and namespace of the campaign dies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostRequest {
    /// Chosen by the caller.
    pub id: u64,
    /// What to do.
    #[serde(flatten)]
    pub op: HostOp,
}

/// What the host can be asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "op", rename_all = "kebab-case")]
pub enum HostOp {
    /// Make the slots of the campaign, once and first, and start the link process. Answered by [`HostResult::Opened`].
    Open(OpenSlots),
    /// Run one trial in a slot that is free. Answered by [`HostResult::Trial`] when all its processes are gone.
    RunTrial(Box<TrialRequest>),
    /// End a running trial now; its `run-trial` is answered with `cancelled`.
    Cancel {
        /// The trial's id.
        trial: String,
    },
}

/// What measures a trial's time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// This machine's clock.
    #[default]
    Live,
    /// The clock of a time-travelling kernel, which jumps over idle time; computing takes none of it. Nothing polls or spins under it.
    Virtual,
}

/// Slots for parallel trials. Each slot has a namespace for every host, and links between them through the link process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenSlots {
    /// How many.
    #[serde(rename = "lanes")]
    pub slots: u32,
    /// MTU of the endpoints' interfaces.
    pub mtu: u32,
    /// Leave segmentation and checksum offload on (a sensitivity; the default is off).
    #[serde(default)]
    pub offloads: bool,
    /// Some links are run by the kernel's netem: without it the request is refused.
    #[serde(default)]
    pub netem: bool,
    /// Trials may limit the CPU time of hosts (`cpu_shares`); the setting `trial.cpu_quota` then says by what, or why the machine does not let them.
    #[serde(default)]
    pub cpu_quota: bool,
    /// The clock under which the trials run.
    #[serde(default)]
    pub clock: Clock,
    /// Another host has given the facts of the same slots: nothing is tried or read for them again, and the reply has none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub facts_known: bool,
    /// The links of each slot, and with them its hosts. An empty list means one link, `main`, between the hosts `client` and `server`.
    #[serde(default)]
    pub links: Vec<SlotLink>,
}

/// The hosts on a link. Packets go between the two sides only: hosts of one side share its queues and its air, and do not hear one another.
///
/// A host may be on several links, with an interface and an address on each; it forwards nothing between them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlotLink {
    /// Name, unique in the slot.
    pub name: String,
    /// Hosts where the uplink begins: stations, each with a transmitter of its own where the link has a medium.
    pub near: Vec<String>,
    /// Hosts where the uplink ends. On a medium they share one transmitter, the access point's.
    pub far: Vec<String>,
}

/// One trial: a link, a seed, and the processes of its endpoints in the order in which they start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrialRequest {
    /// Id for logs and `cancel`.
    pub trial: String,
    /// Which slot, from 0.
    #[serde(rename = "lane")]
    pub slot: u32,
    /// The slot's first link, to emulate.
    pub link: LinkSpec,
    /// Seed of the first link's chains.
    pub link_seed: u64,
    /// Where the first link's packet log goes; absent means none.
    pub packet_log: Option<PathBuf>,
    /// The first link's clock may be put forward while nothing is on it, at the request of an endpoint ([`RestRequest`](crate::RestRequest)).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rests: bool,
    /// The slot's other links, by name; a link that is not listed carries nothing.
    #[serde(default)]
    pub other_links: BTreeMap<String, LinkTrial>,
    /// Bytes of each packet's start (from the IP header on) to log; at most 255. If the link distinguishes flows (`fq-codel`, `nat`) at least 96
    /// are logged, since a replay needs them.
    pub header_bytes: u8,
    /// Where captures of the first link go; absent means none.
    #[serde(default)]
    pub capture: Option<CaptureFiles>,
    /// TCP congestion control of the slot's routes, for example `cubic`.
    pub congestion_control: String,
    /// Share of one CPU that all processes of a host together may use, from 0.001 to 1, by host; the others have no limit.
    #[serde(default)]
    pub cpu_shares: BTreeMap<String, f64>,
    /// The client whose exchanges the packet log is to confirm; absent if none is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm: Option<ConfirmRequest>,
    /// Processes, in start order. Each `server` must be ready before the next starts.
    pub endpoints: Vec<EndpointProcess>,
    /// The whole trial is ended after this long.
    pub timeout_ns: u64,
}

/// What one trial makes of a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkTrial {
    /// The link to emulate.
    pub link: LinkSpec,
    /// Seed of its chains.
    pub seed: u64,
    /// Where its packet log goes; absent means none.
    pub packet_log: Option<PathBuf>,
    /// Its clock may be put forward while nothing is on it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rests: bool,
}

/// Captures of one trial (pcapng, whole packets, mode 0600), each of what one host's interface saw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CaptureFiles {
    /// At the client.
    pub client: PathBuf,
    /// At the server.
    pub server: PathBuf,
    /// Files to which endpoints write their TLS secrets (SSLKEYLOGFILE format). Their final content is embedded in both captures; missing
    /// files are left out.
    #[serde(default)]
    pub key_logs: Vec<PathBuf>,
}

/// One process of a trial. It runs in the trial's own PID and mount namespace, inside the network namespace of its host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndpointProcess {
    /// Name, unique in the trial: `client`, `server`.
    pub name: String,
    /// The host whose network namespace it runs in: one of the slot's hosts.
    pub host: String,
    /// Program and arguments, executed directly.
    pub command: Vec<String>,
    /// Variables added to a minimal environment (`PATH`, `HOME` = `directory`).
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Working directory; must exist.
    pub directory: PathBuf,
    /// File for its stdout.
    pub stdout: PathBuf,
    /// File for its stderr.
    pub stderr: PathBuf,
    /// When it counts as ready; absent for one that needs no waiting (a client).
    pub ready: Option<ReadyCondition>,
    /// True: the trial ends when this process (and all others so marked) has exited. False: it is sent SIGTERM then, and SIGKILL 2 s later.
    pub ends_trial: bool,
    /// When it is killed and started again; absent for one that runs on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart: Option<RestartPlan>,
}

/// An outage of one process: its process group is sent SIGKILL, and the same command is run again later. A trial that ends meanwhile is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RestartPlan {
    /// When it is killed, counted from the start of the trial's last process.
    pub after_ns: u64,
    /// How long until it is started again.
    pub down_ns: u64,
    /// From one kill to the next, longer than `down_ns`; absent means that there is one only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_ns: Option<u64>,
}

/// One restart of a process. Instants are of CLOCK_MONOTONIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Restarted {
    /// When it was sent SIGKILL.
    pub stopped_ns: u64,
    /// When it was ready again; null if the trial was over before.
    pub ready_ns: Option<u64>,
}

/// How the host knows that a server accepts connections.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ReadyCondition {
    /// It prints [`EndpointEvent::Ready`](crate::EndpointEvent::Ready) on stdout.
    Event {
        /// Give up after.
        timeout_ns: u64,
    },
    /// A TCP connection to this port of one of its host's addresses, made inside its own namespace, is accepted.
    TcpConnect {
        /// Port.
        port: u16,
        /// Give up after.
        timeout_ns: u64,
    },
    /// A UDP socket is bound to this port (read from `/proc/net/udp` and `udp6` of its namespace).
    UdpBound {
        /// Port.
        port: u16,
        /// Give up after.
        timeout_ns: u64,
    },
}

/// One line on the host's stdout.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostReply {
    /// The request's id.
    pub id: u64,
    /// The outcome.
    #[serde(flatten)]
    pub result: HostResult,
}

/// The outcome of a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "result", rename_all = "kebab-case")]
pub enum HostResult {
    /// The slots are ready.
    Opened(HostFacts),
    /// The trial is over.
    Trial(Box<TrialResult>),
    /// Cancelled, or already over.
    Cancelled,
    /// The request could not be carried out; nothing of it is left.
    Error {
        /// What went wrong, with the value.
        message: String,
        /// What to do about it.
        hint: Option<String>,
    },
}

/// The machine as the campaign ran on it; goes into the campaign and the report unchanged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostFacts {
    /// `uname -r`.
    pub kernel: String,
    /// Model name of the CPU.
    pub cpu: String,
    /// CPUs the host may use.
    pub cpus: u32,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// True if the campaign runs in a user namespace of its own.
    pub rootless: bool,
    /// Scheduling of the link process: `fifo`, `slice` (a custom EEVDF slice) or `default`.
    pub link_scheduling: String,
    /// CPU that the link has for itself; null if it has none, because its scheduling does not need one or because there is only one.
    #[serde(default)]
    pub link_cpu: Option<u32>,
    /// Kernel settings of the slots, read back after setting: `net.ipv4.tcp_no_metrics_save`, `net.ipv4.tcp_fastopen`, offloads, …
    pub settings: BTreeMap<String, String>,
    /// Links of each slot, with the addresses of the hosts on them.
    pub links: Vec<LinkAddresses>,
}

/// The addresses of the hosts on a link, the same in every slot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LinkAddresses {
    /// The link's name.
    pub name: String,
    /// Hosts of the near side.
    pub near: Vec<HostAddress>,
    /// Hosts of the far side.
    pub far: Vec<HostAddress>,
}

/// Addresses of a host on one link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostAddress {
    /// The host.
    pub host: String,
    /// Its IPv4 address.
    pub ipv4: IpAddr,
    /// Its IPv6 address; null if the slots have none; settings say why.
    #[serde(default)]
    pub ipv6: Option<IpAddr>,
}

/// How a trial went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialResult {
    /// The trial's id.
    pub trial: String,
    /// `done`, or why not.
    pub status: TrialStatus,
    /// One line on what went wrong.
    pub error: Option<String>,
    /// CLOCK_MONOTONIC when the first endpoint started.
    pub start_ns: u64,
    /// CLOCK_MONOTONIC when the last was gone.
    pub end_ns: u64,
    /// CLOCK_REALTIME at `start_ns`, nanoseconds since 1970.
    pub start_realtime_ns: u64,
    /// CPU time that the hypervisor gave to other guests meanwhile (steal time), over all CPUs; null where the kernel does not say.
    #[serde(default)]
    pub steal_ns: Option<u64>,
    /// One for each endpoint, in the order of the request.
    pub endpoints: Vec<EndpointResult>,
    /// What the slot's first link counted.
    pub link: LinkReport,
    /// What the other links of the trial counted, by name.
    #[serde(default)]
    pub other_links: BTreeMap<String, LinkReport>,
    /// The effect of `cpu_shares`, by host.
    #[serde(default)]
    pub cpu_limits: BTreeMap<String, CpuLimit>,
    /// What the packets say of the exchanges that the client calls complete; null if that was not asked.
    #[serde(default)]
    pub confirmation: Option<Confirmation>,
}

/// A limit on the CPU time of a host's processes, and what it did in one trial, their start and end included (`cpu.stat` of their control group).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CpuLimit {
    /// CPU time in each period.
    pub quota_ns: u64,
    /// Length of a period: 1 ms, the shortest for which the kernel accepts the quota.
    pub period_ns: u64,
    /// Periods in which there was something to do.
    pub periods: u64,
    /// Those in which the quota was used up.
    pub throttled_periods: u64,
    /// For how long processes were throttled, summed over CPUs.
    pub throttled_ns: u64,
}

/// How a trial ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TrialStatus {
    /// Every endpoint that ends the trial exited with 0.
    Done,
    /// An endpoint did not become ready, exited with another code than 0 or 3, or was killed.
    Failed,
    /// An endpoint exited with 3: it does not do this.
    Unsupported,
    /// The trial's own time-out passed.
    TimedOut,
    /// `cancel`.
    Cancelled,
}

/// How one endpoint went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EndpointResult {
    /// Its name.
    pub name: String,
    /// Exit code, if it exited.
    pub exit_code: Option<i32>,
    /// Signal, if one ended it.
    pub signal: Option<i32>,
    /// User CPU time of its processes: itself, its descendants, and those of them that outlived their parents. Without those that a parent let
    /// the kernel collect unseen (SIGCHLD ignored). Null under the virtual clock, as are all that follow about CPU and memory.
    #[serde(default)]
    pub cpu_user_ns: Option<u64>,
    /// System CPU time.
    #[serde(default)]
    pub cpu_system_ns: Option<u64>,
    /// How long its threads were ready to run and waited for a CPU: from when the endpoint was ready, or from its start if it needs no waiting,
    /// until it ended or was sent SIGTERM. Null if the kernel does not count it. Under a limit, throttled time may be included. Children are not
    /// counted, nor, if it ended by itself, threads after the first.
    #[serde(default)]
    pub run_delay_ns: Option<u64>,
    /// Peak resident memory of the largest process.
    #[serde(default)]
    pub peak_memory_bytes: Option<u64>,
    /// CPU time, user and system, that it and its descendants had used when it was ready: as its ready event
    /// states it (`cpu_ns`), or else as the kernel counted it when it was found ready. Null if it never becomes ready.
    #[serde(default)]
    pub cpu_ready_ns: Option<u64>,
    /// Voluntary context switches: how often its processes left a CPU to wait for something.
    #[serde(default)]
    pub voluntary_switches: Option<u64>,
    /// Involuntary context switches: how often the kernel took the CPU away.
    #[serde(default)]
    pub involuntary_switches: Option<u64>,
    /// Largest proportional memory of its processes together, over all samples (`Pss` of `smaps_rollup`: what several processes share counts in parts);
    /// null without samples.
    #[serde(default)]
    pub proportional_memory_bytes: Option<u64>,
    /// Number of these samples. Taking them uses at most 1 % of a CPU, for all slots together.
    #[serde(default)]
    pub memory_samples: u32,
    /// Instructions outside the kernel, from its first ones on; null if the machine does not count them (the setting `trial.instructions` says
    /// why).
    #[serde(default)]
    pub instructions: Option<u64>,
    /// Its restarts. `run_delay_ns`, `instructions` and `cpu_ready_ns` are null with any: each process has a count of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub restarts: Vec<Restarted>,
    /// Last lines of its stderr (at most 2000 characters).
    pub stderr_tail: String,
}
