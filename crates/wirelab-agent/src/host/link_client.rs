//! The host's end of the pipes to the link process: requests out, events in.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded, unbounded};
use wirelab_net::process::{self, Confinement};
use wirelab_net::scheduling;
use wirelab_net::topology::Topology;
use wirelab_schema::{Clock, LinkReport, LinkTrial, OpenSlots};

use super::{Cancel, Running, lock};
use crate::link::{At, LinkEvent, LinkOp};
use crate::{own_program, slot_shape};

/// How long the link process may take to answer. A trial's end waits until its log and captures are on disk.
const PATIENCE: Duration = Duration::from_secs(300);

/// How long it may take to end when its stdin has ended.
const END: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(5);

/// The link process, as the host sees it.
pub struct LinkClient {
    process: Process,
    scheduling: String,
    cpu: Option<usize>,
    cpus: u32,
    memory_locked: bool,
    cpus_awake: bool,
}

/// A child process that gets commands as lines and answers each by an event of its link.
struct Process {
    /// Both are gone once it is closed.
    child: Mutex<Option<Child>>,
    /// To a thread that writes them: a process that no longer reads must not block the caller.
    lines: Mutex<Option<Sender<Vec<u8>>>>,
    waiting: Arc<Mutex<Option<Waiting>>>,
    patience: Duration,
}

/// Callers that wait for the next event of a link. `None` once the process has ended.
type Waiting = HashMap<At, Sender<LinkEvent>>;

impl LinkClient {
    /// Start it in the link's namespace, and leave it the CPU that it takes for itself. The calling thread must live as long as the host: the
    /// process dies with it. Should it end before, the trials that are `running` are cancelled.
    pub fn start(topology: &Topology, open: &OpenSlots, running: &Running) -> anyhow::Result<Self> {
        let mut command = own_program();
        let links = serde_json::to_string(&slot_shape::slot_links(topology.shape()))?;
        command.args(["link", "--slots", &open.slots.to_string(), "--links", &links, "--mtu", &open.mtu.to_string()]);
        if open.offloads {
            command.arg("--offloads");
        }
        if open.clock == Clock::Virtual {
            command.arg("--never-spin");
        }
        let confinement = Confinement { network: Some(topology.link().as_fd()), ..Confinement::default() };
        let running = running.clone();
        let cancel_all = move || lock(&running).values_mut().for_each(Cancel::request);
        let (process, started) = Process::start(command, PATIENCE, cancel_all, |command| {
            process::spawn(command, &confinement).context("starting the link process")
        })?;
        let LinkEvent::Started { scheduling, cpu, memory_locked, cpus_awake } = started else {
            bail!("the link process did not start: {}", unexpected(started));
        };
        let cpus = scheduling::cpus().len() as u32;
        let cpu = cpu.filter(|cpu| scheduling::leave(*cpu));
        Ok(Self { process, scheduling, cpu, cpus, memory_locked, cpus_awake })
    }

    /// Scheduling that its loop was given.
    pub fn scheduling(&self) -> &str {
        &self.scheduling
    }

    /// CPU that its loop has for itself.
    pub fn cpu(&self) -> Option<usize> {
        self.cpu
    }

    /// How many CPUs there are for it and the endpoints together.
    pub fn cpus(&self) -> u32 {
        self.cpus
    }

    /// True if it cannot be paged out.
    pub fn memory_locked(&self) -> bool {
        self.memory_locked
    }

    /// True if it keeps the machine's CPUs from sleeping.
    pub fn cpus_awake(&self) -> bool {
        self.cpus_awake
    }

    /// Begin a trial on a link, with `captures` by host.
    pub fn begin(
        &self,
        at: At,
        trial: &LinkTrial,
        header_bytes: u8,
        captures: BTreeMap<String, PathBuf>,
    ) -> anyhow::Result<()> {
        let LinkTrial { link, seed, packet_log, rests } = trial.clone();
        let command = LinkOp::Begin { at, link: Box::new(link), seed, packet_log, header_bytes, captures, rests };
        match self.process.ask(at, &command)? {
            LinkEvent::Begun { .. } => Ok(()),
            other => bail!(unexpected(other)),
        }
    }

    /// End the trial on a link. The second value says why its packet log or a capture is incomplete.
    pub fn finish(&self, at: At) -> anyhow::Result<(LinkReport, Option<String>)> {
        match self.process.ask(at, &LinkOp::Finish { at })? {
            LinkEvent::Finished { report, log_error, .. } => Ok((report, log_error)),
            other => bail!(unexpected(other)),
        }
    }

    /// End the process.
    pub fn close(&self) {
        self.process.close();
    }
}

impl Process {
    /// Start `command` by `spawn`, and wait for the first thing that it says. When it ends, `ended` is called.
    fn start(
        mut command: Command,
        patience: Duration,
        ended: impl FnOnce() + Send + 'static,
        spawn: impl FnOnce(&mut Command) -> anyhow::Result<Child>,
    ) -> anyhow::Result<(Self, LinkEvent)> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = spawn(&mut command)?;
        let stdin = child.stdin.take().expect("it is piped");
        let events = BufReader::new(child.stdout.take().expect("it is piped"));
        let (lines, queue) = unbounded();
        thread::spawn(move || write(queue, stdin));
        let waiting = Arc::new(Mutex::new(Some(HashMap::new())));
        let (distributed, (started, first)) = (waiting.clone(), bounded(1));
        thread::spawn(move || {
            distribute(events, started, &distributed);
            ended();
        });
        let process = Self { child: Mutex::new(Some(child)), lines: Mutex::new(Some(lines)), waiting, patience };
        let started = process.answer(&first).context("its reason is on stderr")?;
        Ok((process, started))
    }

    fn close(&self) {
        lock(&self.lines).take();
        if let Some(mut child) = lock(&self.child).take() {
            let give_up = Instant::now() + END;
            while matches!(child.try_wait(), Ok(None)) && Instant::now() < give_up {
                thread::sleep(LOOK);
            }
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    fn ask(&self, at: At, command: &LinkOp) -> anyhow::Result<LinkEvent> {
        let answer = self.register(at)?;
        let mut line = serde_json::to_vec(command)?;
        line.push(b'\n');
        if let Some(lines) = lock(&self.lines).as_ref() {
            // The answer shows whether it arrived.
            let _ = lines.send(line);
        }
        self.answer(&answer)
    }

    /// A process that is silent for too long is ended, for its next answers would be to older questions.
    fn answer(&self, answer: &Receiver<LinkEvent>) -> anyhow::Result<LinkEvent> {
        match answer.recv_timeout(self.patience) {
            Ok(event) => Ok(event),
            Err(RecvTimeoutError::Disconnected) => bail!("the link process ended"),
            Err(RecvTimeoutError::Timeout) => {
                if let Some(child) = lock(&self.child).as_mut() {
                    let _ = child.kill();
                }
                bail!("the link process gave no answer in {:?} and was ended", self.patience)
            }
        }
    }

    fn register(&self, at: At) -> anyhow::Result<Receiver<LinkEvent>> {
        let (sender, receiver) = bounded(1);
        let mut waiting = lock(&self.waiting);
        waiting.as_mut().context("the link process ended")?.insert(at, sender);
        Ok(receiver)
    }
}

fn write(lines: Receiver<Vec<u8>>, mut stdin: ChildStdin) {
    for line in lines {
        // It fails once the process has ended. Callers that wait for an answer learn that separately.
        if stdin.write_all(&line).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

fn distribute(events: impl BufRead, started: Sender<LinkEvent>, waiting: &Mutex<Option<Waiting>>) {
    let mut started = Some(started);
    for line in events.lines() {
        let Ok(event) =
            line.map_err(anyhow::Error::from).and_then(|line| Ok(serde_json::from_str::<LinkEvent>(&line)?))
        else {
            break;
        };
        let at = match &event {
            LinkEvent::Started { .. } => {
                started.take().map(|started| started.send(event));
                continue;
            }
            LinkEvent::Begun { at } | LinkEvent::Finished { at, .. } | LinkEvent::Failed { at, .. } => *at,
        };
        if let Some(sender) = lock(waiting).as_mut().and_then(|waiting| waiting.remove(&at)) {
            let _ = sender.send(event);
        }
    }
    // Threads that still wait learn it from the closed channel.
    *lock(waiting) = None;
}

fn unexpected(event: LinkEvent) -> String {
    match event {
        LinkEvent::Failed { message, .. } => message,
        other => format!("the link process answered {other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STARTED: &str =
        r#"echo '{"event":"started","scheduling":"slice","cpu":null,"memory_locked":false,"cpus_awake":false}'"#;

    /// A shell in place of the link process.
    fn start(script: &str, patience: Duration, ended: Sender<()>) -> anyhow::Result<(Process, LinkEvent)> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Process::start(command, patience, move || drop(ended), |command| Ok(command.spawn()?))
    }

    #[test]
    fn a_link_process_without_an_answer_is_ended_and_reported() {
        let (ended, report) = bounded(0);
        // It reads nothing, and the order is longer than a pipe holds.
        let script = format!("{STARTED}; exec sleep 1000");
        let (process, started) = start(&script, Duration::from_millis(300), ended).unwrap();
        assert!(matches!(started, LinkEvent::Started { .. }));
        let packet_log = Some("x".repeat(1 << 20).into());
        let (at, captures) = (At { slot: 0, link: 0 }, BTreeMap::new());
        let (link, rests) = (Box::default(), false);
        let begin = LinkOp::Begin { at, link, seed: 1, packet_log, header_bytes: 0, captures, rests };
        let error = process.ask(at, &begin).unwrap_err();
        assert_eq!(error.to_string(), "the link process gave no answer in 300ms and was ended");
        assert_eq!(report.recv_timeout(Duration::from_secs(60)), Err(RecvTimeoutError::Disconnected));
        assert_eq!(process.ask(at, &begin).unwrap_err().to_string(), "the link process ended");
        process.close();
    }

    #[test]
    fn a_link_process_that_does_not_start_is_reported() {
        let error = start("exit 1", Duration::from_secs(60), bounded(0).0).err().unwrap();
        assert_eq!(format!("{error:#}"), "its reason is on stderr: the link process ended");
    }
}
