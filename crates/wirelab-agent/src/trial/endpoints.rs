//! The processes of one trial's endpoints: started, waited for, ended.

mod restart;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use wirelab_net::clock;
use wirelab_net::link::Instant;
use wirelab_net::process::{self, Confinement, Reaped};
use wirelab_schema::{EndpointProcess, EndpointResult, ReadyCondition, TrialStatus};

use super::tree::Tree;
use super::usage::{Sampler, Usage};
use super::{Inbox, TrialOutcome, TrialPlan, readiness, waits};
use restart::Restarts;

/// How long an endpoint has from SIGTERM to SIGKILL.
const GRACE: Duration = Duration::from_secs(2);
const PROBE_EVERY: Duration = Duration::from_millis(2);
const TAIL_CHARACTERS: usize = 2000;
/// Where programs are sought without `PATH`.
pub const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const UNSUPPORTED: i32 = 3;

/// The processes of a trial.
pub struct Endpoints<'a> {
    plan: &'a TrialPlan,
    hosts: &'a BTreeMap<String, OwnedFd>,
    inbox: &'a mut Inbox,
    running: Vec<Running>,
    /// In the same order.
    usages: Vec<Usage>,
    /// Those that are restarted, by their place.
    restarts: BTreeMap<usize, Restarts>,
    tree: Tree,
    sampler: Sampler,
    deadline: Instant,
    /// `/proc` is that of this PID namespace, so that it can be asked about its processes.
    own_proc: bool,
}

/// A started process, and how it ended.
struct Running {
    pid: u32,
    ended: Option<Reaped>,
    /// Killed on purpose, and not yet started again: its end fails no trial.
    down: bool,
    /// How long it had waited for a CPU when it was ready; 0 of one that is never waited for, `None` if unknown.
    waited_before_ns: Option<u64>,
    /// How long until it ended, or was sent SIGTERM.
    waited_ns: Option<u64>,
}

/// Why a trial stops before its endpoints are done.
enum Stop {
    Failed(String),
    Unsupported(String),
    TimedOut,
    Cancelled,
}

impl<'a> Endpoints<'a> {
    pub fn new(
        plan: &'a TrialPlan,
        hosts: &'a BTreeMap<String, OwnedFd>,
        inbox: &'a mut Inbox,
        own_proc: bool,
    ) -> Self {
        let now = clock::now();
        let deadline = now + Duration::from_nanos(plan.timeout_ns);
        let sampler = Sampler::new(now, plan.sampling_share);
        let (running, usages, restarts, tree) = (Vec::new(), Vec::new(), BTreeMap::new(), Tree::default());
        Self { plan, hosts, inbox, running, usages, restarts, tree, sampler, deadline, own_proc }
    }

    /// From the first start to the last end.
    pub fn run(mut self) -> TrialOutcome {
        let (start, start_realtime_ns) = (clock::now(), clock::realtime_ns());
        let stolen_ns = waits::steal_ns();
        let stop = self.start_all().and_then(|()| self.wait_for_the_end()).err();
        let grace = if matches!(stop, Some(Stop::Cancelled)) { Duration::ZERO } else { GRACE };
        let stubborn = self.end_all(grace);
        let (status, error) = match stop {
            None => (TrialStatus::Done, stubborn),
            Some(Stop::Failed(error)) => (TrialStatus::Failed, Some(error)),
            Some(Stop::Unsupported(error)) => (TrialStatus::Unsupported, Some(error)),
            Some(Stop::TimedOut) => {
                let limit = Duration::from_nanos(self.plan.timeout_ns);
                (TrialStatus::TimedOut, Some(format!("the trial was not over after {limit:?}")))
            }
            Some(Stop::Cancelled) => (TrialStatus::Cancelled, None),
        };
        let endpoints = (0..self.plan.endpoints.len()).map(|index| self.result(index)).collect();
        let (start_ns, end_ns) = (start.as_nanos(), clock::now().as_nanos());
        let steal_ns = stolen_ns.and_then(|before| waits::steal_ns()?.checked_sub(before));
        let steal_ns = steal_ns.filter(|_| self.plan.sampling_share.is_some());
        let own_proc = self.own_proc;
        TrialOutcome { status, error, start_ns, end_ns, start_realtime_ns, steal_ns, endpoints, own_proc }
    }

    fn start_all(&mut self) -> Result<(), Stop> {
        for endpoint in &self.plan.endpoints {
            for file in [&endpoint.stdout, &endpoint.stderr] {
                create(file).map_err(|error| Stop::Failed(format!("{}: {error:#}", endpoint.name)))?;
            }
            let pid = self.start(endpoint)?;
            self.tree.plant(pid, self.running.len());
            self.usages.push(Usage::of(pid));
            self.running.push(Running { pid, ended: None, down: false, waited_before_ns: Some(0), waited_ns: None });
            if let Some(condition) = &endpoint.ready {
                self.wait_until_ready(endpoint, condition)?;
                let waited_ns = self.run_delay_ns(pid);
                self.running.last_mut().expect("it was just started").waited_before_ns = waited_ns;
                self.usages.last_mut().expect("it was just started").ready = self.cpu_time();
            }
        }
        self.plan_restarts();
        Ok(())
    }

    fn start(&self, endpoint: &EndpointProcess) -> Result<u32, Stop> {
        self.spawn(endpoint).map_err(|error| Stop::Failed(format!("{}: {error:#}", endpoint.name)))
    }

    fn spawn(&self, endpoint: &EndpointProcess) -> anyhow::Result<u32> {
        let (program, arguments) = endpoint.command.split_first().context("its command is empty")?;
        let Some(host) = self.hosts.get(&endpoint.host) else {
            bail!("there is no host `{}`", endpoint.host);
        };
        if !endpoint.directory.is_dir() {
            bail!("its directory {} does not exist", endpoint.directory.display());
        }
        let path = std::env::var("PATH").unwrap_or_else(|_| DEFAULT_PATH.into());
        let failed = |error: io::Error| anyhow!("cannot start `{program}`: {error}");
        let mut command = Command::new(find(program, &path).map_err(failed)?);
        command.arg0(program).args(arguments).env_clear().env("PATH", path).env("HOME", &endpoint.directory);
        command.envs(&endpoint.environment).current_dir(&endpoint.directory).stdin(Stdio::null());
        command.stdout(append(&endpoint.stdout)?).stderr(append(&endpoint.stderr)?);
        let group = self.plan.hosts[&endpoint.host].joined_by.as_deref().map(group).transpose()?;
        let confinement = Confinement {
            network: Some(host.as_fd()),
            group: group.as_ref().map(AsFd::as_fd),
            session: true,
            ..Confinement::default()
        };
        Ok(process::spawn(&mut command, &confinement).map_err(failed)?.id())
    }

    fn wait_until_ready(&mut self, endpoint: &EndpointProcess, condition: &ReadyCondition) -> Result<(), Stop> {
        let failed = |what: String| Stop::Failed(format!("{} {what}", endpoint.name));
        process::enter_network(self.hosts[&endpoint.host].as_fd()).map_err(|error| failed(error.to_string()))?;
        let limit = readiness::timeout(condition);
        let give_up = clock::now() + limit;
        let addresses = &self.plan.hosts[&endpoint.host].addresses;
        while !readiness::is_met(condition, &endpoint.stdout, 0, addresses) {
            if clock::now() >= give_up {
                return Err(not_ready(endpoint, condition));
            }
            self.pause(PROBE_EVERY)?;
            let last = self.running.last().expect("it was just started");
            if last.ended.is_some() {
                return Err(failed("ended before it was ready".into()));
            }
        }
        Ok(())
    }

    fn wait_for_the_end(&mut self) -> Result<(), Stop> {
        while self.unfinished() {
            let now = clock::now();
            let next = self.restart_due().map_or(self.deadline, |due| due.min(self.deadline));
            self.pause(next.saturating_since(now))?;
            self.restart()?;
        }
        Ok(())
    }

    fn unfinished(&self) -> bool {
        let mut pairs = self.plan.endpoints.iter().zip(&self.running);
        pairs.any(|(endpoint, running)| endpoint.ends_trial && running.ended.is_none())
    }

    /// Wait for at most `time` until something happens, and see what it means.
    fn pause(&mut self, time: Duration) -> Result<(), Stop> {
        let sampled = if self.own_proc { self.sampler.due_in(clock::now()) } else { time };
        let cancelled = self.inbox.wait(time.min(sampled));
        self.collect();
        if self.own_proc && self.sampler.due_in(clock::now()).is_zero() {
            self.sampler.sample(&mut self.tree, &mut self.usages);
        }
        if cancelled {
            return Err(Stop::Cancelled);
        }
        for (endpoint, running) in self.plan.endpoints.iter().zip(&self.running) {
            match running.ended {
                _ if running.down => {}
                Some(Reaped { exit_code: Some(0), .. }) | None => {}
                Some(Reaped { exit_code: Some(UNSUPPORTED), .. }) => {
                    return Err(Stop::Unsupported(self.last_words(endpoint, "does not do this".into())));
                }
                Some(Reaped { exit_code: Some(code), .. }) => {
                    return Err(Stop::Failed(self.last_words(endpoint, format!("exited with {code}"))));
                }
                Some(Reaped { signal, .. }) => {
                    let signal = signal.and_then(|number| Signal::try_from(number).ok());
                    let name = signal.map_or("a signal", Signal::as_str);
                    return Err(Stop::Failed(self.last_words(endpoint, format!("was killed by {name}"))));
                }
            }
        }
        if clock::now() >= self.deadline && self.unfinished() { Err(Stop::TimedOut) } else { Ok(()) }
    }

    fn last_words(&self, endpoint: &EndpointProcess, what: String) -> String {
        let tail = tail(&endpoint.stderr);
        match tail.lines().rev().find(|line| !line.trim().is_empty()) {
            Some(line) => format!("{} {what}: {}", endpoint.name, line.trim()),
            None => format!("{} {what}", endpoint.name),
        }
    }

    /// Collect every process that has ended, also those that endpoints left to us.
    fn collect(&mut self) {
        while let Some(pid) = process::ended() {
            let waited_ns = self.run_delay_ns(pid);
            // Without a `/proc` of its own, a number is that of another process there.
            let owner = if self.own_proc { self.tree.owner(pid) } else { self.tree.known(pid) };
            let reaped = process::reap(pid);
            self.tree.forget(pid);
            if let (Some(owner), Some(reaped)) = (owner, &reaped) {
                self.usages[owner].add(reaped);
            }
            if let Some(running) = self.running.iter_mut().find(|running| running.pid == pid) {
                running.ended = reaped;
                running.waited_ns = running.waited_ns.or(waited_ns);
            }
            if reaped.is_none() {
                break;
            }
        }
    }

    /// Of the last endpoint's processes so far.
    fn cpu_time(&mut self) -> Option<Duration> {
        let last = self.running.len() - 1;
        self.own_proc.then(|| self.tree.cpu_time(last) + self.usages[last].cpu_time())
    }

    fn run_delay_ns(&self, pid: u32) -> Option<u64> {
        if self.own_proc { waits::run_delay_ns(pid) } else { None }
    }

    /// SIGTERM to what still runs, SIGKILL after `grace`, and to everything else in the namespace. Returns those that needed the latter.
    fn end_all(&mut self, grace: Duration) -> Option<String> {
        self.collect();
        let waits: Vec<_> = self.running.iter().map(|running| self.run_delay_ns(running.pid)).collect();
        for (running, waited_ns) in self.running.iter_mut().zip(waits).filter(|(running, _)| running.ended.is_none()) {
            running.waited_ns = waited_ns;
            let _ = kill(Pid::from_raw(running.pid as i32), Signal::SIGTERM);
        }
        let give_up = clock::now() + grace;
        while self.running.iter().any(|running| running.ended.is_none()) && clock::now() < give_up {
            if self.inbox.wait(give_up.saturating_since(clock::now())) {
                break;
            }
            self.collect();
        }
        let pairs = self.plan.endpoints.iter().zip(&self.running);
        let stubborn = pairs.filter(|(_, running)| running.ended.is_none()).map(|(endpoint, _)| endpoint.name.as_str());
        let stubborn: Vec<_> = stubborn.collect();
        let words = format!("{} did not end within {GRACE:?} of SIGTERM", stubborn.join(", "));
        let words = (!stubborn.is_empty()).then_some(words);
        // To every process but this one: it is the first of its PID namespace.
        while kill(Pid::from_raw(-1), Signal::SIGKILL).is_ok() {
            self.inbox.wait(Duration::from_millis(1));
            self.collect();
        }
        self.collect();
        words
    }

    fn result(&self, index: usize) -> EndpointResult {
        let endpoint = &self.plan.endpoints[index];
        let running = self.running.get(index);
        let reaped = running.and_then(|running| running.ended);
        // Where computing takes no time, what the kernel counts of it means nothing.
        let live = self.plan.sampling_share.is_some();
        let run_delay_ns = running.and_then(|running| running.waited_ns?.checked_sub(running.waited_before_ns?));
        let mut result = EndpointResult {
            name: endpoint.name.clone(),
            exit_code: reaped.and_then(|reaped| reaped.exit_code),
            signal: reaped.and_then(|reaped| reaped.signal),
            run_delay_ns: run_delay_ns.filter(|_| live),
            restarts: self.restarts.get(&index).map(|restarts| restarts.past().to_vec()).unwrap_or_default(),
            stderr_tail: if self.running.len() > index { tail(&endpoint.stderr) } else { String::new() },
            ..EndpointResult::default()
        };
        if let Some(usage) = self.usages.get(index).filter(|_| live) {
            usage.tell(readiness::stated_cpu_time(&endpoint.stdout), &mut result);
        }
        result
    }
}

fn not_ready(endpoint: &EndpointProcess, condition: &ReadyCondition) -> Stop {
    let (limit, waited) = (readiness::timeout(condition), readiness::describe(condition));
    Stop::Failed(format!("{} was not ready after {limit:?} (waited for {waited})", endpoint.name))
}

/// The program's file. The C library would say "permission denied" of a program that is nowhere, if a folder of `path` may not be searched.
pub fn find(program: &str, path: &str) -> io::Result<PathBuf> {
    if program.contains('/') {
        return Ok(program.into());
    }
    let candidates = std::env::split_paths(path).map(|folder| folder.join(program));
    let executable = |file: &PathBuf| file.metadata().is_ok_and(|data| data.is_file() && data.mode() & 0o111 != 0);
    candidates.into_iter().find(executable).ok_or_else(|| io::Error::from_raw_os_error(Errno::ENOENT as i32))
}

/// Where a process joins a control group.
fn group(path: &Path) -> anyhow::Result<File> {
    File::options().write(true).open(path).with_context(|| format!("opening {}", path.display()))
}

/// What an endpoint that is started again writes follows what it wrote before.
fn append(path: &Path) -> anyhow::Result<File> {
    File::options().append(true).open(path).with_context(|| format!("opening {}", path.display()))
}

fn create(path: &Path) -> anyhow::Result<File> {
    File::create(path).with_context(|| format!("creating {}", path.display()))
}

/// The last characters of a file.
pub fn tail(path: &Path) -> String {
    let read = || -> io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(4 * TAIL_CHARACTERS as u64)))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let text = String::from_utf8_lossy(&read().unwrap_or_default()).into_owned();
    let skipped = text.chars().count().saturating_sub(TAIL_CHARACTERS);
    text.chars().skip(skipped).collect()
}
