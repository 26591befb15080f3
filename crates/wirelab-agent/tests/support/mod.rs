//! A host to talk to, and small endpoints: this test program itself, started again with the name of one of [`roles`].

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;
use wirelab_schema::{
    EndpointProcess, HostFacts, HostOp, HostReply, HostRequest, HostResult, ImpairmentSpec, LinkSpec, OpenLanes,
    ReadyCondition, TrialRequest, TrialResult,
};

pub const AGENT: &str = env!("CARGO_BIN_EXE_wirelab-agent");
const MARKER: &str = "WIRELAB_TEST_MARKER";
const NEEDED: [&str; 5] = ["user-namespace", "network-namespace", "pid-namespace", "veth", "af-packet"];
const PATIENCE: Duration = Duration::from_secs(20);

/// True if this machine lets us make namespaces. Where it does not, says why; with WIRELAB_REQUIRE_NAMESPACES=1 that is a failure.
pub fn namespaces_work() -> bool {
    let output = Command::new(AGENT).arg("probe").output().unwrap();
    let checks: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let passed = |name: &str| checks.iter().any(|check| check["name"] == name && check["ok"] == true);
    let missing: Vec<_> = NEEDED.into_iter().filter(|name| !passed(name)).collect();
    if !missing.is_empty() {
        assert!(std::env::var("WIRELAB_REQUIRE_NAMESPACES").is_err(), "refused here: {missing:?}; {checks:#?}");
        eprintln!("not tested: this machine refuses {missing:?}");
    }
    missing.is_empty()
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
        fs::copy(AGENT, &agent).unwrap();
        fs::copy(std::env::current_exe().unwrap(), folder.path().join("endpoint")).unwrap();
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

    pub fn open(&mut self, lanes: u32) -> HostFacts {
        self.open_with(OpenLanes { lanes, mtu: 1500, offloads: false })
    }

    pub fn open_with(&mut self, open: OpenLanes) -> HostFacts {
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

    pub fn trial(&self, name: &str, link: LinkSpec, endpoints: Vec<EndpointProcess>) -> TrialRequest {
        TrialRequest {
            trial: name.into(),
            lane: 0,
            link,
            link_seed: 1,
            packet_log: Some(self.log(name)),
            header_bytes: 64,
            congestion_control: "reno".into(),
            endpoints,
            timeout_ns: 20_000_000_000,
        }
    }

    pub fn log(&self, trial: &str) -> PathBuf {
        self.folder.path().join(format!("{trial}.wlpl"))
    }

    /// This program in one of its [`roles`].
    pub fn server(&self, role: &str) -> EndpointProcess {
        let mut server = self.endpoint("server", &["./endpoint", role, "--exact", "--nocapture", "--ignored"]);
        server.ready = Some(ReadyCondition::Event { timeout_ns: PATIENCE.as_nanos() as u64 });
        server.ends_trial = false;
        server
    }

    pub fn client(&self, role: &str) -> EndpointProcess {
        self.endpoint("client", &["./endpoint", role, "--exact", "--nocapture", "--ignored"])
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

    /// Network namespaces that these processes are in or hold open.
    pub fn namespaces(&self) -> Vec<PathBuf> {
        let own = fs::read_link("/proc/self/ns/net").unwrap();
        let mut found = network_namespaces(self.processes().into_iter());
        found.retain(|namespace| *namespace != own);
        found
    }

    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id() as i32), signal).unwrap();
    }

    /// Nothing is left of it: no process, and none of `namespaces`.
    pub fn assert_nothing_is_left(&mut self, namespaces: &[PathBuf]) {
        self.child.wait().unwrap();
        eventually(|| self.processes().is_empty().then_some(()));
        let all = network_namespaces(numbers_in("/proc"));
        let left: Vec<_> = namespaces.iter().filter(|namespace| all.contains(namespace)).collect();
        assert!(left.is_empty(), "{left:?}");
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
    let stage = ImpairmentSpec::Delay { delay_ns: each_way.as_nanos() as u64, jitter: None };
    LinkSpec { uplink: vec![stage.clone()], downlink: vec![stage], medium: None }
}

/// What `attempt` gives once it gives something; a failure if that takes too long.
pub fn eventually<T>(mut attempt: impl FnMut() -> Option<T>) -> T {
    let give_up = Instant::now() + PATIENCE;
    loop {
        if let Some(value) = attempt() {
            return value;
        }
        assert!(Instant::now() < give_up, "it did not happen within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn network_namespaces(processes: impl Iterator<Item = i32>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for pid in processes {
        let descriptors = numbers_in(format!("/proc/{pid}/fd")).map(|fd| format!("/proc/{pid}/fd/{fd}"));
        for path in descriptors.chain([format!("/proc/{pid}/ns/net")]) {
            if let Ok(target) = fs::read_link(path)
                && target.to_string_lossy().starts_with("net:")
            {
                found.push(target);
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

fn numbers_in<P: AsRef<Path>>(folder: P) -> impl Iterator<Item = i32> + use<P> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Endpoints: ignored as tests, started by name inside a lane.
pub mod roles {
    use std::fs::File;
    use std::io::{Read, Write};
    use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
    use std::time::{Duration, Instant};

    pub const PACKETS: usize = 20;
    pub const BULK_BYTES: usize = 3_000_000;
    pub const FLOOD: u64 = 5000;
    const SERVER: SocketAddr = SocketAddr::new(wirelab_net::topology::SERVER, 9000);

    fn ready() {
        // On a line of its own: the test harness has begun one.
        println!("\n{{\"event\": \"ready\", \"ports\": {{\"main\": 9000}}}}");
        std::io::stdout().flush().unwrap();
    }

    #[test]
    #[ignore = "an endpoint of other tests"]
    fn udp_echo() {
        let socket = UdpSocket::bind(SERVER).unwrap();
        ready();
        let mut buffer = [0; 2048];
        loop {
            let (length, peer) = socket.recv_from(&mut buffer).unwrap();
            socket.send_to(&buffer[..length], peer).unwrap();
        }
    }

    /// Prints the round-trip time of each packet that came back, in nanoseconds.
    #[test]
    #[ignore = "an endpoint of other tests"]
    fn udp_pinger() {
        let socket = UdpSocket::bind(("0.0.0.0", 0)).unwrap();
        socket.connect(SERVER).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        println!();
        for number in 0..PACKETS {
            let start = Instant::now();
            socket.send(&[number as u8; 100]).unwrap();
            let mut buffer = [0; 2048];
            while let Ok(length) = socket.recv(&mut buffer) {
                if buffer[..length] == [number as u8; 100] {
                    println!("round-trip {}", start.elapsed().as_nanos());
                    break;
                }
            }
        }
    }

    #[test]
    #[ignore = "an endpoint of other tests"]
    fn tcp_sink() {
        let listener = TcpListener::bind(SERVER).unwrap();
        ready();
        let _accepted: Vec<TcpStream> = listener.incoming().map(Result::unwrap).collect();
    }

    /// Sends a byte and leaves: its connection is not over when its process is.
    #[test]
    #[ignore = "an endpoint of other tests"]
    fn tcp_deserter() {
        let mut stream = TcpStream::connect(SERVER).unwrap();
        stream.write_all(b"x").unwrap();
    }

    fn pattern() -> Vec<u8> {
        (0..BULK_BYTES as u32).map(|position| (position.wrapping_mul(0x9e37_79b9) >> 24) as u8).collect()
    }

    /// Takes one upload and checks it.
    #[test]
    #[ignore = "an endpoint of other tests"]
    fn tcp_bulk_server() {
        let listener = TcpListener::bind(SERVER).unwrap();
        ready();
        let mut received = Vec::new();
        let (mut stream, _) = listener.accept().unwrap();
        stream.read_to_end(&mut received).unwrap();
        assert!(received == pattern());
        stream.write_all(b"intact").unwrap();
    }

    #[test]
    #[ignore = "an endpoint of other tests"]
    fn tcp_bulk_client() {
        let mut stream = TcpStream::connect(SERVER).unwrap();
        stream.write_all(&pattern()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert_eq!(answer, "intact");
    }

    /// When the file `go` appears sends many packets, then makes the file `sent` and waits for `finish`.
    #[test]
    #[ignore = "an endpoint of other tests"]
    fn udp_flood() {
        super::eventually(|| File::open("go").ok());
        let socket = UdpSocket::bind(("0.0.0.0", 0)).unwrap();
        for _ in 0..FLOOD {
            socket.send_to(&[7; 100], SERVER).unwrap();
        }
        File::create("sent").unwrap();
        super::eventually(|| File::open("finish").ok());
    }
}
