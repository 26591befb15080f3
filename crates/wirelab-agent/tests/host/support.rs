//! A host to talk to, and small endpoints: this test program itself, started again with the name of one of [`roles`](crate::roles).

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;
use wirelab_capture::packet_log::{LogReader, Outcome, Record};
use wirelab_net::topology::IPV6;
use wirelab_schema::{
    AddressFamily, DelaySpec, DirectionReport, EndpointProcess, EndpointResult, HostFacts, HostOp, HostReply,
    HostRequest, HostResult, ImpairmentSpec, LinkSpec, OpenSlots, PacketLogHeader, ReadyCondition, ReplayReport,
    TrialRequest, TrialResult, TrialStatus,
};

use crate::machine::{AGENT, PATIENCE, copy_program, eventually, network_namespaces, numbers_in};
use crate::roles;

const MARKER: &str = "WIRELAB_TEST_MARKER";
/// Delay of the links that these tests make.
pub const ONE_WAY: Duration = Duration::from_millis(10);

/// CPU time, user and system, of an endpoint.
pub fn cpu_ns(endpoint: &EndpointResult) -> u64 {
    endpoint.cpu_user_ns.unwrap() + endpoint.cpu_system_ns.unwrap()
}

/// A host process and a folder for what its endpoints write.
pub struct Host {
    pub child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    pub folder: TempDir,
    marker: String,
    id: u64,
}

impl Host {
    pub fn start() -> Self {
        Self::start_as(None)
    }

    /// Start it as another user and group.
    pub fn start_as(user: Option<u32>) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        // The build's own folder may be closed to that user.
        let agent = folder.path().join("wirelab-agent");
        copy_program(AGENT, &agent);
        copy_program(std::env::current_exe().unwrap(), folder.path().join("endpoint"));
        let marker = format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let mut command = Command::new(agent);
        command.arg("host").env(MARKER, &marker).stdin(Stdio::piped()).stdout(Stdio::piped());
        if let Some(user) = user {
            command.uid(user).gid(user);
        }
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdin, stdout, folder, marker, id: 0 }
    }

    pub fn open(&mut self, slots: u32) -> HostFacts {
        self.open_with(OpenSlots { slots, mtu: 1500, ..OpenSlots::default() })
    }

    pub fn open_with(&mut self, open: OpenSlots) -> HostFacts {
        let id = self.send(HostOp::Open(open));
        match self.receive(id) {
            HostResult::Opened(facts) => facts,
            other => panic!("{other:?}"),
        }
    }

    pub fn send(&mut self, op: HostOp) -> u64 {
        self.id += 1;
        let mut line = serde_json::to_vec(&HostRequest { id: self.id, op }).unwrap();
        line.push(b'\n');
        self.stdin.as_mut().unwrap().write_all(&line).unwrap();
        self.id
    }

    /// The next reply, which must be to request `id`.
    pub fn receive(&mut self, id: u64) -> HostResult {
        let reply = self.receive_any();
        assert_eq!(reply.id, id, "{reply:?}");
        reply.result
    }

    pub fn receive_any(&mut self) -> HostReply {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: `{line}`"))
    }

    pub fn run(&mut self, trial: TrialRequest) -> TrialResult {
        let id = self.send(HostOp::RunTrial(Box::new(trial)));
        match self.receive(id) {
            HostResult::Trial(result) => *result,
            other => panic!("{other:?}"),
        }
    }

    /// The message with which a trial is refused.
    pub fn refusal(&mut self, trial: TrialRequest) -> String {
        let id = self.send(HostOp::RunTrial(Box::new(trial)));
        match self.receive(id) {
            HostResult::Error { message, .. } => message,
            other => panic!("{other:?}"),
        }
    }

    pub fn trial(&self, name: &str, link: LinkSpec, mut endpoints: Vec<EndpointProcess>) -> TrialRequest {
        if link.family == Some(AddressFamily::Ipv6) {
            for endpoint in &mut endpoints {
                endpoint.environment.insert(roles::ADDRESS.into(), IPV6.server.to_string());
            }
        }
        TrialRequest {
            trial: name.into(),
            slot: 0,
            link,
            link_seed: 1,
            packet_log: Some(self.log(name)),
            header_bytes: 64,
            other_links: BTreeMap::new(),
            cpu_shares: BTreeMap::new(),
            capture: None,
            congestion_control: "reno".into(),
            rests: false,
            confirm: None,
            endpoints,
            timeout_ns: 20_000_000_000,
        }
    }

    pub fn log(&self, trial: &str) -> PathBuf {
        self.folder.path().join(format!("{trial}.wlpl"))
    }

    /// This program as a server: one of its [`roles`](crate::roles).
    pub fn server(&self, role: &str) -> EndpointProcess {
        let mut server = self.role("server", role);
        server.ready = Some(ReadyCondition::Event { timeout_ns: PATIENCE.as_nanos() as u64 });
        server.ends_trial = false;
        server
    }

    /// This program as a client that sends `count` datagrams of `bytes`, one every `gap`.
    pub fn sender(&self, count: u32, bytes: usize, gap: Duration) -> EndpointProcess {
        let mut sender = self.client("udp_sender");
        sender.environment.insert(roles::SEND.into(), format!("{count} {bytes} {}", gap.as_micros()));
        sender
    }

    /// This program as a client.
    pub fn client(&self, role: &str) -> EndpointProcess {
        self.role("client", role)
    }

    fn role(&self, name: &str, role: &str) -> EndpointProcess {
        self.endpoint(name, &["./endpoint", &format!("roles::{role}"), "--exact", "--nocapture", "--ignored"])
    }

    pub fn endpoint(&self, name: &str, command: &[&str]) -> EndpointProcess {
        EndpointProcess {
            name: name.into(),
            host: name.into(),
            command: command.iter().map(|word| (*word).to_owned()).collect(),
            environment: BTreeMap::from([(MARKER.into(), self.marker.clone())]),
            directory: self.folder.path().into(),
            stdout: self.folder.path().join(format!("{name}.out")),
            stderr: self.folder.path().join(format!("{name}.err")),
            ready: None,
            ends_trial: true,
            restart: None,
        }
    }

    /// Lines that an endpoint's role printed behind `key`.
    pub fn printed(&self, name: &str, key: &str) -> Vec<u64> {
        let text = fs::read_to_string(self.folder.path().join(format!("{name}.out"))).unwrap();
        text.lines().filter_map(|line| line.strip_prefix(key)?.trim().parse().ok()).collect()
    }

    /// Ids of the processes of this host: itself, its link, trials and their endpoints.
    pub fn processes(&self) -> Vec<i32> {
        let marker = format!("{MARKER}={}", self.marker);
        let has_marker = |pid: &i32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == marker.as_bytes())
        };
        numbers_in("/proc").filter(has_marker).collect()
    }

    /// The process of this host whose command line contains `word`.
    pub fn process(&self, word: &str) -> i32 {
        let runs = |pid: &i32| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(word)
        };
        eventually(|| self.processes().into_iter().find(runs))
    }

    /// Network namespaces that these processes are in or hold open, by their names. This process holds them too: the kernel would give the name of
    /// one that is gone to the next, of another test.
    pub fn namespaces(&self) -> BTreeMap<PathBuf, File> {
        let own = fs::read_link("/proc/self/ns/net").unwrap();
        let mut found = network_namespaces(self.processes().into_iter());
        found.remove(&own);
        found.into_iter().map(|(name, place)| (name, File::open(place).unwrap())).collect()
    }

    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id() as i32), signal).unwrap();
    }

    /// Nothing is left of it: no process, and nobody but this one in `namespaces`. A process that ends is without an environment, by which it is
    /// known, before it has closed what it had open, and one that another test is starting has what this one has until it is its own.
    pub fn assert_nothing_is_left(&mut self, namespaces: &BTreeMap<PathBuf, File>) {
        self.child.wait().unwrap();
        eventually(|| self.processes().is_empty().then_some(()));
        let own = std::process::id() as i32;
        eventually(|| {
            let held = network_namespaces(numbers_in("/proc").filter(|pid| *pid != own));
            namespaces.keys().all(|name| !held.contains_key(name)).then_some(())
        });
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.stdin = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A link with the same delay each way.
pub fn delay(each_way: Duration) -> LinkSpec {
    let delay_ns = each_way.as_nanos() as u64;
    let stage = ImpairmentSpec::Delay(DelaySpec { delay_ns, jitter: None, correlation: 0.0, overtaking: false });
    LinkSpec { uplink: vec![stage.clone()], downlink: vec![stage], ..LinkSpec::default() }
}

/// A trial in which a client pings an echo server.
pub fn echo(host: &Host, name: &str, link: LinkSpec) -> TrialRequest {
    let endpoints = vec![host.server("udp_echo"), host.client("udp_pinger")];
    host.trial(name, link, endpoints)
}

/// The same over a link that loses packets: its client does not wait long for an answer.
pub fn lossy_echo(host: &Host, name: &str, link: LinkSpec) -> TrialRequest {
    let mut trial = echo(host, name, link);
    for endpoint in &mut trial.endpoints {
        endpoint.environment.insert(roles::LOSSY.into(), "1".into());
    }
    trial
}

/// Every packet of a direction has its outcome.
pub fn assert_conserved(direction: &DirectionReport) {
    let dropped: u64 = direction.dropped.iter().map(|drop| drop.packets).sum();
    let settled = direction.delivered + dropped + direction.held;
    assert_eq!(direction.received + direction.originated + direction.duplicated, settled, "{direction:?}");
    assert_eq!(direction.lateness.packets.iter().sum::<u64>(), direction.delivered);
}

/// The packet log of a trial.
pub fn log(host: &Host, trial: &str) -> (PacketLogHeader, Vec<(Record, Vec<u8>)>) {
    let reader = LogReader::new(File::open(host.log(trial)).unwrap()).unwrap();
    let header = serde_json::from_slice(reader.header()).unwrap();
    (header, reader.map(Result::unwrap).collect())
}

/// The packet log of a trial, run through a new link, gives every outcome, departure, copy and inverted bit.
pub fn assert_replays(host: &Host, trial: &str) {
    let output = Command::new(AGENT).arg("replay").arg(host.log(trial)).output().unwrap();
    let report: ReplayReport = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((report.mismatches, &report.first_mismatch), (0, &None));
    assert!(report.packets > 0 && output.status.success());
}

/// A trial of the host's first slot works, to the last packet.
pub fn assert_echoes(host: &mut Host, name: &str) {
    assert_echoes_over(host, name, None);
}

/// The same over a family of addresses.
pub fn assert_echoes_over(host: &mut Host, name: &str, family: Option<AddressFamily>) {
    let (packet, first) = if family == Some(AddressFamily::Ipv6) { (148, 0x60) } else { (128, 0x45) };
    let trial = echo(host, name, LinkSpec { family, ..delay(ONE_WAY) });
    let result = host.run(trial.clone());
    assert_eq!((result.status, &result.error), (TrialStatus::Done, &None), "{result:?}");
    let round_trips = host.printed("client", "round-trip");
    assert_eq!(round_trips.len(), roles::PACKETS);
    assert!(round_trips.iter().all(|time| Duration::from_nanos(*time) >= 2 * ONE_WAY), "{round_trips:?}");
    assert_eq!((result.link.kernel_drops, result.link.oversized, result.link.clock_step), (0, 0, false));
    for direction in &result.link.directions {
        assert_conserved(direction);
        assert_eq!((direction.delivered, direction.delivered_bytes), (20, 20 * u64::from(packet)));
    }
    let (header, records) = log(host, name);
    assert_eq!((header.link, header.seed), (trial.link, trial.link_seed));
    assert_eq!(records.len(), 2 * roles::PACKETS);
    for (record, bytes) in records {
        assert_eq!((record.outcome, record.size, bytes.len()), (Outcome::Delivered, packet, 64));
        assert_eq!(record.departure, record.arrival + ONE_WAY);
        assert_eq!(bytes[0], first);
    }
}

/// A host with two slots, in the first of which a trial would never end.
pub fn host_with_a_trial_under_way() -> Host {
    let mut host = Host::start();
    host.open(2);
    let endpoints = vec![host.server("udp_echo"), host.endpoint("client", &["sleep", "1000"])];
    host.send(HostOp::RunTrial(Box::new(host.trial("endless", delay(ONE_WAY), endpoints))));
    host.process("sleep");
    host
}
